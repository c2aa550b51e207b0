"""Corruption: posteriors by hand and by enumeration, for every form."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.corruption import free_rows, sharpener
from lookalike.attacks.whereabouts import Whereabouts
from lookalike.contracts import Target
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, in_groups, promised, table
from tests.audit.making import bucketized, matched, mixing_matrix, number_table, perturbed
from tests.oracles.containment import fit_table


def sharpened(target: Target, known: list[int], unknown: list[int]) -> Any:
    return sharpener(Whereabouts(target), 0)(np.array(known), np.array(unknown)).toarray()


def by_enumeration(target: Target, known: list[int], unknown: int) -> Any:
    """The posterior of one record when every complete assignment that gives the known their values is as likely."""
    release, data = target.release, target.original
    fits = fit_table(release, data)
    votes = np.zeros(data.domains.sensitive[0].n_codes)
    for rows in itertools.permutations(range(data.n_rows)):
        values = release.sensitive[list(rows), 0]
        if all(fits[record, row] for record, row in enumerate(rows)) and all(
            values[record] == data.sensitive[record, 0] for record in known
        ):
            votes[values[unknown]] += 1
    return votes / votes.sum()


@pytest.mark.parametrize("form", ["grouped", "bucketized"])
def test_known_values_are_taken_out_of_their_group(form: str) -> None:
    data = table(range(7), [0, 0, 1, 2, 1, 1, 2])
    groups = [0, 0, 0, 0, 1, 1, 1]
    target = in_groups(data, groups)
    if form == "bucketized":
        target = Target(release=bucketized(data, groups, np.arange(7)[::-1], np.arange(7)), original=data)
    beliefs = sharpened(target, [0, 4], [1, 2, 3, 5])
    assert beliefs[:3] == pytest.approx(np.array([[1 / 3, 1 / 3, 1 / 3]] * 3))
    assert beliefs[3] == pytest.approx([0, 1 / 2, 1 / 2])


def test_grouped_agrees_with_enumeration() -> None:
    data = table(range(6), [0, 0, 1, 2, 1, 2])
    target = in_groups(data, [0, 0, 0, 0, 1, 1])
    for known in ([0], [2, 4], [0, 1, 3]):
        for unknown in set(range(6)) - set(known):
            assert sharpened(target, known, [unknown])[0] == pytest.approx(by_enumeration(target, known, unknown))


def test_twins_in_two_buckets_are_told_apart_by_the_known_one() -> None:
    """Records 0 and 1 look the same and are in different buckets; knowing the value of one places both."""
    data = table([5, 5, 6, 7], [0, 1, 2, 3])
    target = Target(release=bucketized(data, [0, 1, 0, 1], [0, 1, 2, 3], [3, 2, 1, 0]), original=data)
    honest = Whereabouts(target).beliefs(0).toarray()
    assert honest[1] == pytest.approx([1 / 4] * 4)
    beliefs = sharpened(target, [0], [1, 2, 3])
    assert beliefs[0] == pytest.approx([0, 1 / 2, 0, 1 / 2])
    assert beliefs[1] == pytest.approx([0, 0, 1, 0])
    assert beliefs[2] == pytest.approx([0, 1 / 2, 0, 1 / 2])


def test_a_forced_row_of_a_matched_release_is_taken_from_the_others() -> None:
    data = table([1, 2, 3], [0, 1, 2])
    release, _ = matched(data, [[0, 1], [1, 2], [0, 2]], [0, 1, 2], [0, 1, 2])
    target = Target(release=release, original=data)
    # Record 0 fits rows 0 and 2 and has the value of row 0, so records 1 and 2 (who both fit row 2) have rows 1 and 2.
    assert sharpened(target, [0], [1])[0] == pytest.approx([0, 1 / 2, 1 / 2])


def test_free_rows_agree_with_enumeration_where_pairs_have_no_cycle() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        # A random tree over owners and rows: each owner hangs two or three new rows on one old row.
        owners, rows, n_rows = [], [], 1
        for owner in range(4):
            old, new = int(rng.integers(n_rows)), int(rng.integers(1, 3))
            members = [old, *range(n_rows, n_rows + new)]
            owners += [owner] * len(members)
            rows += members
            n_rows += new
        choices = [[row for person, row in zip(owners, rows, strict=True) if person == owner] for owner in range(4)]
        free, n_ways = np.zeros(n_rows), 0
        for taken in itertools.product(*choices):
            if len(set(taken)) == 4:
                n_ways += 1
                free += ~np.isin(np.arange(n_rows), taken)
        assert free_rows(np.array(owners), np.array(rows), 4, n_rows) == pytest.approx(free / n_ways, abs=1e-6)


def test_rows_that_as_many_owners_share_are_gone() -> None:
    free = free_rows(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), 2, 3)
    assert free == pytest.approx([0, 0, 1], abs=0.02)


def test_forced_rows_settle_the_next_owner() -> None:
    free = free_rows(np.array([0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2]), 3, 4)
    assert free.tolist() == [0, 0, 0, 1]


def test_it_beats_honest_guessing_on_pairs() -> None:
    """In groups of two every known record tells the other one's value."""
    n_pairs = 200
    values = np.column_stack((np.arange(n_pairs) % 5, (np.arange(n_pairs) + 1) % 5)).reshape(-1)
    data = table(np.arange(2 * n_pairs), values)
    finding = attacked("corruption:0.4", in_groups(data, np.arange(2 * n_pairs) // 2, "l-diversity:2"))
    assert finding.succeeds is True
    assert finding.n_affected is not None
    # Four of ten partners of an unknown record are known.
    assert finding.n_affected == pytest.approx(0.4 * 0.6 * 2 * n_pairs, rel=0.25)
    assert finding.score is not None
    assert finding.score.n_guesses == 240
    assert finding.exposure is not None
    assert parse_model("l-diversity:2").level(finding.exposure).value == 1


def test_large_groups_bear_it() -> None:
    data = table(np.arange(1000), np.arange(1000) % 4)
    finding = attacked("corruption:5", in_groups(data, np.arange(1000) // 500))
    assert finding.succeeds is False
    assert finding.figures["known records"] == 5
    assert finding.n_affected is None


def test_perturbed_values_are_not_touched() -> None:
    rng = np.random.default_rng(4)
    data = number_table(rng.integers(0, 50, (300, 2)), rng.integers(0, 3, 300))
    release = perturbed(rng, data, [mixing_matrix(3, 6, 10)], rng.permutation(300))
    finding = attacked("corruption:0.5", Target(release=release, original=data, promises=promised("l-diversity:1")))
    assert finding.score is not None
    assert finding.score.share == pytest.approx(finding.baselines["values of the group"], abs=0.01)
    assert finding.succeeds is False
    assert "do not help" in finding.sentence


@pytest.mark.parametrize(("text", "reason"), [("corruption:6", "everybody"), ("corruption:1.5", "whole number")])
def test_what_it_refuses(text: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        parse_attack(text).run(in_groups(table(range(6), [0, 1] * 3), [0] * 6), Randomness(1), silent)
