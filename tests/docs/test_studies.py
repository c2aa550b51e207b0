"""The studies under docs/studies run, and say of the smallest cases what they must."""

from __future__ import annotations

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from unittest import mock

import numpy as np
import pytest

from lookalike.apps.samples import census
from lookalike.data.release import Ranges, Sets

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
PLACES, ELL = [0, 1, 3, 7], 2


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"study_of_{name}", STUDIES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    # Data classes look up the module that they are defined in.
    sys.modules[spec.name] = found
    # Studies import one another as scripts do.
    with mock.patch.object(sys, "path", [str(STUDIES), *sys.path]):
        spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def exact() -> ModuleType:
    return script("exact_bayes")


@pytest.fixture(scope="module")
def learning() -> ModuleType:
    return script("learning")


def test_both_parts_are_shown_by_one_script() -> None:
    study = script("adversaries")
    with pytest.raises(SystemExit), mock.patch.object(sys, "argv", ["adversaries.py", "--help"]):
        study.main()


@pytest.mark.parametrize(("values", "places"), [("aabb", [0, 1, 3, 7]), ("aabbc", [0, 1, 3, 7, 20])])
def test_strict_tells_whoever_knows_the_method_one_in_the_size_of_the_group(
    exact: ModuleType, values: str, places: list[int]
) -> None:
    beliefs = exact.Beliefs.after(exact.strict_runs(values, ELL, places))
    for release in beliefs.weights:
        for record, posterior in enumerate(beliefs.posteriors(release)):
            members = next(members for members, _ in release if record in members)
            assert set(posterior.values()) == {Fraction(1, len(members))}
    learnt = beliefs.learn(ELL)
    assert learnt.worst == Fraction(1, ELL)
    assert learnt.above == 0


def test_beliefs_about_free_are_proper(exact: ModuleType) -> None:
    beliefs = exact.Beliefs.after(exact.seeded_runs("free", "aabc", ELL, PLACES, seeds=2))
    assert sum(beliefs.weights.values()) == 2 * len(exact.worlds_of("aabc"))
    for release in beliefs.weights:
        posteriors = beliefs.posteriors(release)
        assert [sum(posterior.values()) for posterior in posteriors] == [1] * len(PLACES)
        for members, values in release:
            assert all(set(posteriors[record]) <= set(values) for record in members)
    learnt = beliefs.learn(ELL)
    assert Fraction(1, ELL) <= learnt.guessed <= learnt.worst <= 1


def test_few_seeds_tell_more_than_all_choices(exact: ModuleType) -> None:
    """Anyone who knows the seed of strict knows who is in which column."""
    beliefs = exact.Beliefs.after(exact.seeded_runs("strict", "aabbcc", ELL, [0, 1, 3, 7, 8, 20], seeds=1))
    assert beliefs.learn(ELL).worst > Fraction(1, ELL)


def test_cells_spread_their_weight_evenly(learning: ModuleType) -> None:
    low, high = np.array([0, 2], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    points = np.zeros(2)
    ranges = Ranges(low, high, np.array([True, False]), points, points)
    third = 1 / 3
    assert learning.spread_over_codes(ranges, 4, 3).tolist() == [[third, third, 0, third], [0, 0, 1, 0]]
    sets = Sets(np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.int32))
    assert learning.spread_over_codes(sets, 3, 3).tolist() == [[0.5, 0, 0.5], [0, 1, 0]]


def test_a_reader_of_the_exact_table_has_learnt_it_all(learning: ModuleType) -> None:
    """Groups of one record each: the reader is the one who learns from the original."""
    data = learning.coded_table(census(300, seed=3))
    release, group_of_record = learning.released(data, "free", 1, seed=1)
    found = learning.attack(data, release, group_of_record)
    assert len(np.unique(group_of_record)) == 300
    assert found.any_value == pytest.approx(learning.from_original(data))
    assert found.in_group == 1


@pytest.mark.parametrize("mode", ["free", "strict"])
def test_learning_attackers_guess_within_reason(learning: ModuleType, mode: str) -> None:
    data = learning.coded_table(census(400, seed=2))
    release, group_of_record = learning.released(data, mode, 4, seed=1)
    found = learning.attack(data, release, group_of_record)
    assert all(0 <= share <= 1 for share in vars(found).values())
    assert learning.most_frequent(data) <= learning.from_original(data) <= 1
    assert found.in_group_knowing >= Fraction(1, 5)


def test_intervals_hold_the_share(learning: ModuleType) -> None:
    low, high = learning.interval(0.1, 10_000)
    assert low < 0.1 < high
    assert high - low == pytest.approx(2 * 1.96 * (0.09 / 10_000) ** 0.5, rel=1e-3)


def test_knowing_burel_helps_and_random_draws_from_everybody_do_not() -> None:
    study = script("burel")
    places = [0, 1, 3, 7, 8, 20]
    curve, cuts, shuffled = (study.learn("aaaabb", way, places, 400) for way in ("curve", "cuts", "random:3"))
    assert curve.worst == 1
    assert curve.above > 0.1
    assert cuts.worst > 1 / 3
    assert shuffled.guessed == pytest.approx(2 / 3, abs=0.01)


def test_similar_buckets_teach_more_than_independent_columns() -> None:
    pytest.importorskip("sklearn")
    study = script("plain_tables")
    found = study.results(800, 2, [("anatomy:assign=similar", "l-diversity:3")])
    assert [one.name for one in found] == ["the original", "anatomy:assign=similar", "independent columns"]
    original, release, independent = found
    assert original.right > independent.right
    assert release.right > independent.right
    assert abs(release.odds[0] - original.odds[0]) < abs(independent.odds[0] - original.odds[0])
    assert release.low[0] < original.odds[0] < release.high[0]
    assert len(study.markdown(found).splitlines()) == 5
