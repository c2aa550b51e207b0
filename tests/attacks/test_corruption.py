"""Corruption: posteriors by hand and by enumeration, for every form."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.attacks import parse_attack
from lookalike.attacks.corruption import likely_pairs, sharpener
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Target
from lookalike.data.release import Sets
from lookalike.errors import Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, in_groups, promised, table
from tests.audit.making import bucketized, matched, mixing_matrix, number_table, perturbed, ring
from tests.oracles.containment import fit_table


def sharpened(target: Target, known: list[int], unknown: list[int]) -> Any:
    return sharpener(Whereabouts(target), 0)(np.array(known, dtype=np.int64), np.array(unknown)).toarray()


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


def test_a_known_match_settles_a_ring() -> None:
    """Slots 01, 12, 20: two complete assignments; the value of one record tells which."""
    data = table([1, 2, 3], [0, 1, 2])
    release, _ = matched(data, [[0, 1], [1, 2], [2, 0]], [0, 1, 2], [0, 1, 2])
    sets = Sets(np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 2], dtype=np.int32))
    target = Target(release=replace(release, extents=(sets,)), original=data)
    assert fit_table(target.release, data).sum() == 6
    assert sharpened(target, [], [0])[0] == pytest.approx([1 / 2, 0, 1 / 2])
    assert sharpened(target, [0], [1, 2]) == pytest.approx(np.array([[0, 1, 0], [0, 0, 1]]), abs=1e-6)


def test_pairs_without_a_cycle_are_exact() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        # A random tree: each owner hangs one or two new rows on an old one.
        pairs, n_rows = [], 1
        for owner in range(4):
            members = [int(rng.integers(n_rows)), *range(n_rows, n_rows + int(rng.integers(1, 3)))]
            pairs += [(owner, row) for row in members]
            n_rows = members[-1] + 1
        assert likely(pairs, n_rows) == pytest.approx(enumerated(pairs), abs=1e-6)


def test_pairs_with_cycles_are_close() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        pairs = [(owner, row) for owner in range(5) for row in range(5) if row == owner or rng.random() < 0.6]
        assert likely(pairs, 5) == pytest.approx(enumerated(pairs), abs=0.12)


def likely(pairs: list[tuple[int, int]], n_rows: int) -> Any:
    owners, rows = np.array(pairs).T
    return likely_pairs(owners, rows, int(owners.max()) + 1, n_rows)


def enumerated(pairs: list[tuple[int, int]]) -> Any:
    owners = sorted({owner for owner, _ in pairs})
    choices = [[row for other, row in pairs if other == owner] for owner in owners]
    ways = [rows for rows in itertools.product(*choices) if len(set(rows)) == len(rows)]
    return [np.mean([rows[owner] == row for rows in ways]) for owner, row in pairs]


def test_known_records_of_a_ring_release_help() -> None:
    rng = np.random.default_rng(6)
    data = number_table(rng.permutation(300).reshape(-1, 1), rng.integers(0, 10, 300))
    release, _ = ring(rng, data, 3)
    target = Target(release=release, original=data)
    few, many = (attacked(f"corruption:{share}", target) for share in ("0.05", "0.6"))
    assert few.score is not None
    assert many.score is not None
    assert many.score.share > few.score.share + 0.1
    assert many.succeeds is True


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


@pytest.mark.parametrize("seed", range(8))
def test_known_persons_who_were_all_suppressed_are_no_fault(seed: int) -> None:
    data = table(range(1, 8), [0, 1, 2, 0, 1, 2, 0])
    promises, method = promised("l-diversity:2"), parse_algorithm("greedy-grouping:tail=suppress")
    release, _ = method.anonymize(data, require(promises, data), Randomness(seed), silent)
    assert release.withheld.n_suppressed
    target = Target(release=release, original=data, promises=promises, algorithm=method)
    known = {attacked("corruption:1", target, turn).sentence for turn in range(20)}
    assert len(known) > 1
