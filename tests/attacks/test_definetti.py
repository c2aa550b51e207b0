"""The deFinetti attack: dealing held to going through all permutations, planted weak releases, and safe ones."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lookalike.attacks import definetti, parse_attack
from lookalike.attacks.definetti import DeFinettiAttack
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Promise, Target
from lookalike.data.release import Bucketized
from lookalike.models.l_diversity import LDiversity
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.planting import coded, people, target_of
from tests.audit.making import bucketized, grouped, moved

FORMS = ("grouped", "bucketized")


def run(target: Target, seed: int = 1, **parameters: Any) -> Finding:
    (finding,) = DeFinettiAttack(**parameters).run(target, Randomness(seed), silent)
    return finding


def dealt(target: Target, seed: int = 1) -> definetti.Dealing:
    return definetti._deal_at_random(Whereabouts(target), 0, Randomness(seed))


def by_unit(dealing: definetti.Dealing, listed: Any) -> list[list[int]]:
    return [sorted(part.tolist()) for part in np.split(listed, dealing.starts[1:-1])]


@pytest.mark.parametrize("form", FORMS)
def test_dealing_is_the_best_of_all_permutations(form: str) -> None:
    rng = np.random.default_rng(2)
    dealing = dealt(target_of(form, people(rng, 60, determined=False), rng, size=3))
    before = by_unit(dealing, dealing.value_of_seat)
    learnt = dealing.learn()
    scores = learnt.log_likelihood(dealing.quasi[dealing.record_of_seat])
    dealing.deal_again(learnt, Randomness(1))
    assert by_unit(dealing, dealing.value_of_seat) == before
    for unit, values in enumerate(before):
        seats = np.arange(dealing.starts[unit], dealing.starts[unit + 1])
        best = max(scores[seats, list(order)].sum() for order in itertools.permutations(values))
        assert scores[seats, dealing.value_of_seat[seats]].sum() == pytest.approx(best)


@pytest.mark.parametrize("form", FORMS)
def test_swaps_never_make_a_dealing_less_likely(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definetti, "EXACT_UP_TO", 1)
    rng = np.random.default_rng(3)
    dealing = dealt(target_of(form, people(rng, 120, determined=False), rng, size=6))
    before, learnt = dealing.value_of_seat.copy(), dealing.learn()
    dealing.deal_again(learnt, Randomness(1))
    assert by_unit(dealing, dealing.value_of_seat) == by_unit(dealing, before)
    scores = learnt.log_likelihood(dealing.quasi[dealing.record_of_seat])
    each = np.arange(len(before))
    gains = scores[each, dealing.value_of_seat] - scores[each, before]
    assert all(part.sum() >= 0 for part in np.split(gains, dealing.starts[1:-1]))
    assert gains.sum() > 0


@pytest.mark.parametrize("exact_up_to", [1, 32])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_finds_out_who_has_what_where_a_quasi_identifier_gives_it_away(
    form: str, size: int, exact_up_to: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(definetti, "EXACT_UP_TO", exact_up_to)
    rng = np.random.default_rng(4)
    target = target_of(form, people(rng, 600, determined=True), rng, size=size)
    target = Target(release=target.release, original=target.original, promises=(Promise(LDiversity(size), "s"),))
    finding = run(target)
    assert finding.succeeds
    assert finding.baselines["values of the group"] == pytest.approx(1 / size, abs=0.05)
    assert finding.n_affected
    assert finding.figures["affected by what the evidence is worth"] > 0
    assert finding.exposure is not None
    assert finding.exposure.n_units == 600


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_guesses_no_better_where_values_have_nothing_to_do_with_quasi_identifiers(form: str, size: int) -> None:
    rng = np.random.default_rng(5)
    finding = run(target_of(form, people(rng, 1200, determined=False), rng, size=size))
    assert finding.succeeds is False
    assert finding.figures["worth of the evidence"] == 0


def test_matched_and_perturbed_releases_are_refused() -> None:
    rng = np.random.default_rng(6)
    data = people(rng, 60, determined=False)
    assert "no groups" in (DeFinettiAttack().refuses(target_of("matched", data, rng)) or "")
    assert "no groups" in (DeFinettiAttack().refuses(target_of("perturbed", data, rng)) or "")
    assert DeFinettiAttack().refuses(target_of("grouped", data, rng)) is None


def test_people_who_cannot_be_told_apart_take_their_rows_in_turn() -> None:
    first, second = definetti._in_turn(np.array([5, 7, 5, 5]), np.array([7, 5, 9, 5]))
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (1, 0), (2, 3)]
    data = coded([[0], [0], [0], [0]], [0, 1, 2, 3])
    target = Target(release=bucketized(data, [0, 0, 0, 0], np.arange(4), np.arange(4)), original=data)
    dealing = dealt(target)
    guesses = definetti._guesses_about_people(Whereabouts(target), dealing, np.full(4, -1))
    assert sorted(guesses.tolist()) == [0, 1, 2, 3]


def test_records_left_out_get_a_guess_all_the_same() -> None:
    rng = np.random.default_rng(7)
    data = people(rng, 60, determined=False)
    in_groups = moved(target_of("grouped", data, rng).release, np.arange(50))
    in_buckets = target_of("bucketized", data, rng).release
    assert isinstance(in_buckets, Bucketized)
    fewer_rows = replace(in_buckets, quasi=in_buckets.quasi[:50], bucket_of_quasi=in_buckets.bucket_of_quasi[:50])
    fewer_values = replace(
        in_buckets,
        sensitive=in_buckets.sensitive[:50],
        carried=in_buckets.carried[:50],
        bucket_of_sensitive=in_buckets.bucket_of_sensitive[:50],
    )
    for release in (in_groups, fewer_rows, fewer_values):
        finding = run(Target(release=release, original=data))
        assert finding.score is not None
        assert finding.score.n_guesses == 60


def test_more_values_than_records_leave_some_to_nobody() -> None:
    data = coded([[0], [0], [1], [1]], [0, 1, 0, 1])
    release = moved(grouped(data, [0, 0, 1, 1], np.arange(4)), [0, 1, 1, 2, 3])
    dealing = dealt(Target(release=release, original=data))
    assert np.diff(dealing.starts).tolist() == [3, 2]
    assert np.count_nonzero(dealing.is_real) == 4
    dealing.deal_again(dealing.learn(), Randomness(1))
    assert by_unit(dealing, dealing.value_of_seat) == [[0, 1, 1], [0, 1]]


def test_a_million_seats_go_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    target = target_of("grouped", people(rng, 300, determined=True), rng)
    whole = run(target)
    monkeypatch.setattr(definetti, "_BLOCK", 200)
    assert run(target).score == whole.score


def test_same_seed_same_guesses_and_rounds_are_kept() -> None:
    rng = np.random.default_rng(9)
    target = target_of("grouped", people(rng, 300, determined=False), rng)
    assert run(target, seed=3).score == run(target, seed=3).score
    finding = run(target, rounds=1)
    assert finding.figures["rounds"] == 1
    assert finding.attack == "definetti:rounds=1"
    assert str(parse_attack("definetti:7")) == "definetti:rounds=7"
