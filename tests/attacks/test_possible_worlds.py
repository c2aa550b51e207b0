"""Possible worlds against all of them listed, releases planted to be weak or safe, chains that cannot have mixed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.possible_worlds import PossibleWorlds
from lookalike.data.contracts import Finding, Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import Matched, MatchGraph, Withheld
from lookalike.errors import DataError, RecipeError, Unsupported
from lookalike.models.l_diversity import LDiversity
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.audit.making import grouped, matched, moved, number_table, random_groups, ring

LONG = {"sweeps": 30_000}
ERROR = 0.02
"""Five standard errors of a certainty of 1/2 on a small graph, with that many sweeps."""


def attacked(attack: PossibleWorlds, target: Target, seed: int = 1) -> Finding:
    assert attack.refuses(target) is None
    (finding,) = attack.run(target, Randomness(seed), silent)
    return finding


def line(n_records: int, n_values: int, seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    return number_table(rng.permutation(n_records).reshape(-1, 1), rng.permutation(np.arange(n_records) % n_values))


def fitting(release: Matched, data: Microdata) -> np.ndarray:
    """[records, rows] read from numeric ranges, one by one."""
    held = np.ones((data.n_rows, release.n_rows), dtype=bool)
    for attr, extents in enumerate(release.extents):
        codes = data.quasi[:, attr][:, None]
        held &= (extents.lows <= codes) & (codes <= extents.highs)  # type: ignore[union-attr]
    return held


def exact_beliefs(pairs: np.ndarray, values: Sequence[int], n_codes: int, n_persons: int) -> np.ndarray:
    """Every complete assignment of records to rows, each as likely; only the first records are persons."""
    counts, n_worlds = np.zeros((n_persons, n_codes)), 0
    for rows in itertools.permutations(range(len(pairs))):
        if all(pairs[record, row] for record, row in enumerate(rows)):
            n_worlds += 1
            for person in range(n_persons):
                if values[rows[person]] >= 0:
                    counts[person, values[rows[person]]] += 1
    return counts / n_worlds


def believed(finding: Finding, n_codes: int) -> np.ndarray:
    exposure = finding.exposure
    assert exposure is not None
    found = np.zeros((exposure.n_units, n_codes))
    found[exposure.unit_of_entry, exposure.values] = exposure.weights / (1 << 30)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_beliefs_are_those_of_all_worlds_listed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = line(7, 3, seed)
    slots = [sorted({slot, *rng.choice(7, 2).tolist()}) for slot in range(7)]
    release, _ = matched(data, slots, range(7), rng.permutation(7))
    finding = attacked(PossibleWorlds(**LONG), Target(release=release, original=data))
    expected = exact_beliefs(fitting(release, data), release.sensitive[:, 0].tolist(), 3, 7)
    assert believed(finding, 3) == pytest.approx(expected, abs=ERROR)


def test_beliefs_err_no_more_than_the_worth_of_the_chains_says() -> None:
    """Sixty runs of one small release: errors in units of the standard error that each run claims."""
    data = line(7, 3, 3)
    release, _ = matched(data, [[slot, (slot * 3 + 1) % 7, 6] for slot in range(7)], range(7), range(7))
    target = Target(release=release, original=data)
    expected = exact_beliefs(fitting(release, data), release.sensitive[:, 0].tolist(), 3, 7)
    is_open = (expected > 0.01) & (expected < 0.99)
    errors = []
    for seed in range(60):
        finding = attacked(PossibleWorlds(sweeps=2000), target, seed)
        claimed = np.sqrt(expected * (1 - expected) / finding.figures["ess least"])
        errors.append((believed(finding, 3) - expected)[is_open] / claimed[is_open])
    assert is_open.any()
    assert (np.abs(errors) > 3).mean() < 0.02
    assert np.abs(np.mean(errors, axis=0)).max() < 4 / np.sqrt(60)


def test_a_leaked_graph_takes_the_place_of_the_ranges() -> None:
    data = line(6, 3, 4)
    release, _ = matched(data, [range(6)] * 6, range(6), range(6))
    pairs = (
        np.eye(6, dtype=bool) | np.roll(np.eye(6, dtype=bool), 1, axis=1) | np.roll(np.eye(6, dtype=bool), 3, axis=1)
    )
    target = Target(release=release, original=data, graph=graph_of(pairs))
    values = release.sensitive[:, 0].tolist()
    leaked = attacked(PossibleWorlds(graph="yes", **LONG), target)
    assert believed(leaked, 3) == pytest.approx(exact_beliefs(pairs, values, 3, 6), abs=ERROR)
    assert "leaked graph" in leaked.sentence
    assert believed(attacked(PossibleWorlds(**LONG), target), 3) == pytest.approx(1 / 3, abs=ERROR)


def graph_of(pairs: np.ndarray) -> MatchGraph:
    starts = np.concatenate(([0], np.cumsum(pairs.sum(axis=1)))).astype(np.int64)
    return MatchGraph(starts, np.nonzero(pairs)[1].astype(np.int32))


def test_records_left_out_may_be_anybody() -> None:
    """Two of six rows are left out; their values are declared."""
    data = line(6, 3, 2)
    release, _ = ring(np.random.default_rng(2), data, 3)
    gone = [1, 4]
    left = moved(release, [row for row in range(6) if row not in gone])
    counts = np.bincount(release.sensitive[gone, 0], minlength=3)
    left = replace(left, withheld=Withheld(suppressed=(counts,), n_suppressed=2))
    pairs = np.ones((6, 6), dtype=bool)
    pairs[:, :4] = fitting(left, data)
    values = [*left.sensitive[:, 0].tolist(), *release.sensitive[gone, 0].tolist()]
    finding = attacked(PossibleWorlds(**LONG), Target(release=left, original=data))
    assert believed(finding, 3) == pytest.approx(exact_beliefs(pairs, values, 3, 6), abs=ERROR)


def test_rows_made_up_may_be_any() -> None:
    data = line(5, 3, 3)
    release, _ = ring(np.random.default_rng(3), data, 3)
    more = moved(release, [0, 1, 2, 3, 4, 2])
    counts = np.bincount(more.sensitive[[5], 0], minlength=3)
    more = replace(more, withheld=Withheld(dummies=(counts,), n_dummies=1, indistinguishable=True))
    pairs = np.ones((6, 6), dtype=bool)
    pairs[:5] = fitting(more, data)
    finding = attacked(PossibleWorlds(**LONG), Target(release=more, original=data))
    assert believed(finding, 3) == pytest.approx(exact_beliefs(pairs, more.sensitive[:, 0].tolist(), 3, 5), abs=ERROR)


def test_ranges_that_force_the_assignment_are_broken() -> None:
    data = line(200, 5, 1)
    release, _ = matched(data, [[slot] for slot in range(200)], range(200), np.random.default_rng(1).permutation(200))
    promises = (Promise(LDiversity(5), "s"),)
    finding = attacked(PossibleWorlds(), Target(release=release, original=data, promises=promises))
    assert finding.score is not None
    assert finding.score.share == 1
    assert finding.n_affected == 200


def test_ranges_that_force_it_only_together_are_broken() -> None:
    """All records but one fit several rows, so who only counts rows is left in doubt; a staircase has one world."""
    data = number_table(np.arange(60).reshape(-1, 1), np.random.default_rng(2).permutation(60) % 6)
    release, _ = matched(data, [range(slot, 60) for slot in range(60)], range(60), range(60))
    promises = (Promise(LDiversity(3), "s"),)
    finding = attacked(PossibleWorlds(), Target(release=release, original=data, promises=promises))
    assert finding.score is not None
    assert finding.score.share == 1
    assert finding.succeeds
    assert finding.baselines["rows that fit"] < 0.6
    assert finding.n_affected == 60


def safe(ell: int, seed: int) -> Target:
    """A hundred records in groups of l different values; all rows of a group have the same ranges."""
    data = number_table(np.arange(100).reshape(-1, 1), np.arange(100) % ell)
    slots = [range(first, first + ell) for first in range(0, 100, ell) for _ in range(ell)]
    release, _ = matched(data, slots, range(100), np.random.default_rng(seed).permutation(100))
    return Target(release=release, original=data, promises=(Promise(LDiversity(ell), "s"),))


@pytest.mark.parametrize("ell", [2, 5])
def test_equal_ranges_in_groups_leave_equal_beliefs(ell: int) -> None:
    finding = attacked(PossibleWorlds(**LONG), safe(ell, 1))
    assert believed(finding, ell) == pytest.approx(1 / ell, abs=ERROR)
    assert finding.n_affected == 0
    assert finding.figures["rhat"] < 1.05
    assert finding.figures["components"] == 100 / ell


@pytest.mark.parametrize("ell", [2, 5])
def test_equal_ranges_in_groups_give_nothing_away(ell: int) -> None:
    """Guesses are then lots: any one run may be lucky (in 1 of 40 it seems to succeed), all together are not."""
    findings = [attacked(PossibleWorlds(sweeps=1000), safe(ell, seed), seed) for seed in range(40)]
    shares = np.array([finding.score.share for finding in findings if finding.score is not None])
    assert len(shares) == 40
    assert abs(shares.mean() - 1 / ell) < 4 * np.sqrt((1 - 1 / ell) / ell / (40 * 100))
    assert sum(bool(finding.succeeds) for finding in findings) <= 5
    assert sum(bool(finding.n_affected) for finding in findings) <= 7


def cycle(n_records: int) -> Target:
    """Two worlds, and a long way from one to the other: all records must move together."""
    data = number_table(np.arange(n_records).reshape(-1, 1), np.arange(n_records) % 7)
    release, _ = matched(data, [range(n_records)] * n_records, range(n_records), range(n_records))
    pairs = np.eye(n_records, dtype=bool) | np.roll(np.eye(n_records, dtype=bool), 1, axis=1)
    return Target(release=release, original=data, graph=graph_of(pairs))


def test_chains_that_cannot_have_mixed_make_no_claim() -> None:
    finding = attacked(PossibleWorlds(graph="yes", sweeps=40), cycle(300))
    assert finding.score is None
    assert finding.exposure is None
    assert finding.n_affected is None
    assert finding.succeeds is None
    assert "not converged" in finding.sentence
    assert finding.figures["rhat"] > 2
    assert finding.figures["rhat above 1.05"] > 0.9


def test_the_same_chains_converge_with_more_sweeps() -> None:
    finding = attacked(PossibleWorlds(graph="yes", sweeps=200_000), cycle(12))
    assert finding.figures["rhat"] < 1.05
    assert believed(finding, 7).max() == pytest.approx(0.5, abs=ERROR)


def test_chains_that_disagree_are_run_again_with_more_sweeps() -> None:
    finding = attacked(PossibleWorlds(graph="yes"), cycle(60))
    assert finding.figures["sweeps"] > 3000
    assert finding.score is not None


def test_few_worlds_make_no_claim_even_if_chains_agree() -> None:
    data = line(60, 3, 5)
    release, _ = ring(np.random.default_rng(5), data, 5)
    finding = attacked(PossibleWorlds(sweeps=20, chains=2), Target(release=release, original=data))
    assert finding.score is None
    assert finding.figures["ess"] < 100


def test_larger_releases_are_attacked_by_components() -> None:
    data = number_table(np.arange(100).reshape(-1, 1), np.arange(100) % 5)
    slots = [range(first, first + 5) for first in range(0, 100, 5) for _ in range(5)]
    release, _ = matched(data, slots, range(100), range(100))
    target = Target(release=release, original=data)
    finding = attacked(PossibleWorlds(most=23, **LONG), target)
    assert finding.score is not None
    assert finding.score.n_guesses == finding.figures["records"] == 20
    assert believed(finding, 5) == pytest.approx(1 / 5, abs=ERROR)
    mixed = number_table(np.array([[0], [1], [0], [1]]), [0, 1, 2, 3])
    halves, _ = matched(mixed, [[0, 2], [1, 3], [0, 2], [1, 3]], range(4), range(4))
    one = attacked(PossibleWorlds(most=2), Target(release=halves, original=mixed))
    assert (believed(one, 4) > 0).sum() == 4
    with pytest.raises(Unsupported, match="larger most"):
        PossibleWorlds(most=4).run(target, Randomness(1), silent)


def test_a_release_of_another_table_is_refused() -> None:
    data = line(20, 3, 1)
    release, _ = ring(np.random.default_rng(1), data, 3)
    narrow, _ = matched(data, [[slot // 2] for slot in range(20)], range(20), range(20))
    with pytest.raises(DataError, match="does not belong"):
        PossibleWorlds().run(Target(release=narrow, original=data), Randomness(1), silent)
    with pytest.raises(DataError, match="does not belong"):
        PossibleWorlds().run(Target(release=moved(release, range(18)), original=data), Randomness(1), silent)


def test_what_it_cannot_attack() -> None:
    data = line(20, 3, 1)
    rng = np.random.default_rng(1)
    group = Target(release=grouped(data, random_groups(rng, 20, 4), rng.permutation(20)), original=data)
    assert "matched" in str(PossibleWorlds().refuses(group))
    release, graph = ring(rng, data, 3)
    target = Target(release=release, original=data)
    assert "private graph" in str(PossibleWorlds(graph="yes").refuses(target))
    unknown = replace(release, sensitive=release.sensitive + 3)
    assert "does not know" in str(PossibleWorlds().refuses(replace(target, release=unknown)))
    short: Any = MatchGraph(graph.starts[:-1], graph.rows[: graph.starts[-2]])
    assert "19 records" in str(PossibleWorlds(graph="yes").refuses(replace(target, graph=short)))


def test_how_it_is_written() -> None:
    attack = parse_attack("possible-worlds:sweeps=500,graph=yes")
    assert attack == PossibleWorlds(sweeps=500, graph="yes")
    assert str(attack) == "possible-worlds:sweeps=500,graph=yes"
    assert str(PossibleWorlds()) == "possible-worlds"
    with pytest.raises(RecipeError, match="burn"):
        parse_attack("possible-worlds:burn=0.9")


def test_the_same_seed_finds_the_same() -> None:
    data = line(60, 3, 5)
    release, _ = ring(np.random.default_rng(5), data, 4)
    target = Target(release=release, original=data)
    first, second = (attacked(PossibleWorlds(), target, seed=9) for _ in range(2))
    assert first.sentence == second.sentence
    assert (believed(first, 3) == believed(second, 3)).all()


def test_it_looks_at_no_sensitive_value_of_the_original() -> None:
    data = line(40, 4, 6)
    release, _ = ring(np.random.default_rng(6), data, 4)
    values = data.sensitive[np.random.default_rng(7).permutation(40)]
    seen, unseen = (
        attacked(PossibleWorlds(), Target(release=release, original=original), seed=3)
        for original in (data, replace(data, sensitive=values))
    )
    assert (believed(seen, 4) == believed(unseen, 4)).all()
