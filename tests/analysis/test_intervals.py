"""Intervals: within the possible, as often right as they say, and no wider than they need be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.analysis.counts import Queries, estimate_counts, true_counts
from lookalike.analysis.intervals import Answers, Law
from lookalike.apps.samples import census, census_schema
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.metrics.query_error import RangeWorkload, SetWorkload
from tests.attacks.planting import FORMS, target_of
from tests.audit.making import grouped, number_table, random_groups
from tests.examples import examples
from tests.strategies import microdatas


def one(count: float, error: float, least: float, most: float, law: Law, level: float = 0.95) -> tuple[float, float]:
    answers = Answers(*(np.array([figure]) for figure in (count, error, least, most)), law)
    low, high = answers.intervals(level)
    return float(low[0]), float(high[0])


def test_an_interval_ends_where_possibility_ends() -> None:
    low, high = one(746, 145, 468, 898, Law.MODELLED)
    assert 468 <= low < 600
    assert 850 < high <= 898
    assert one(-40, 30, 0, 200, Law.EXACT) == (0, 19)
    assert one(-0.4, 3, 0, 9, Law.MODELLED)[0] == 0


def test_certain_counts_are_their_own_intervals() -> None:
    for law in Law:
        assert one(12, 0, 12, 12, law) == (12, 12)
    assert one(3.5, 0, 0, 10, Law.DEALT) == (3.5, 3.5)


def test_there_is_more_room_above_a_small_count() -> None:
    low, high = one(10, 6, 0, 1000, Law.MODELLED)
    assert 10 - low < high - 10
    low, high = one(990, 6, 0, 1000, Law.MODELLED)
    assert 990 - low > high - 990


def test_surer_intervals_are_wider() -> None:
    for law in Law:
        widths = [np.subtract(*one(50, 8, 0, 200, law, level)[::-1]) for level in (0.5, 0.8, 0.95, 0.99)]
        assert widths == sorted(set(widths))
    with pytest.raises(ValueError, match="between 0 and 1"):
        one(5, 1, 0, 9, Law.MODELLED, 95)


@pytest.mark.parametrize("form", FORMS)
@given(data=microdatas(max_rows=30), seed=st.integers(0, 99))
@settings(max_examples=examples(15), deadline=None)
def test_the_truth_is_always_possible(form: str, data: Microdata, seed: int) -> None:
    rng = np.random.default_rng(seed)
    release: Release
    if form == "grouped":
        release = grouped(data, random_groups(rng, data.n_rows, 3), rng.permutation(data.n_rows))
    else:
        values = np.arange(60) % 6
        data = number_table(rng.integers(0, 12, (60, 3)), rng.permutation(values))
        release = target_of(form, data, rng).release
    queries = Queries.everything(data.domains, 20)
    for mask in queries.quasi + queries.sensitive:
        mask[:] = rng.random(mask.shape) < rng.choice([0.3, 0.7, 1.0], 20)[:, None]
    truth, answers = true_counts(queries, data), estimate_counts(queries, release)
    assert (answers.least <= truth + 1e-9).all()
    assert (truth <= answers.most + 1e-9).all()
    low, high = answers.intervals()
    assert (answers.least - 1e-9 <= low).all()
    assert (low <= high).all()
    assert (high <= answers.most + 1e-9).all()
    exact = answers.errors == 0
    assert np.allclose(answers.counts[exact], truth[exact])


def test_rows_that_certainly_match_and_rows_that_may() -> None:
    """Groups of ages 0 to 9, 10 to 19 and 20 to 29; 5 to 19 asked for."""
    data = number_table([[age] for age in range(30)], [0] * 30)
    release = grouped(data, np.arange(30) // 10, np.arange(30))
    queries = Queries.everything(data.domains, 1)
    queries.quasi[0][0] = (np.arange(30) >= 5) & (np.arange(30) < 20)
    answers = estimate_counts(queries, release)
    assert (answers.least[0], answers.most[0]) == (10, 20)
    (low,), (high,) = answers.intervals()
    assert 10 < low <= 15 <= high < 20


METHODS = (
    ("l-diversity:4", "groups"),
    ("k-anonymity:5", "mondrian"),
    ("l-diversity:4", "heterogeneous"),
    ("l-diversity:4", "anatomy"),
    ("beta-likeness:3", "perturbation"),
)


@pytest.fixture(scope="module", params=METHODS, ids=[algorithm for _, algorithm in METHODS])
def made(request: pytest.FixtureRequest) -> Any:
    """Census-shaped records that no constant was fitted to."""
    model, algorithm = request.param
    return la.publish(census(2000, seed=11), schema=census_schema(), model=model, algorithm=algorithm, seed=3).made


@pytest.mark.parametrize("workload", [RangeWorkload, SetWorkload])
def test_intervals_hold_about_as_often_as_they_say(made: Any, workload: Any) -> None:
    held, widths = [], []
    for columns in (1, 2, 3):
        for selectivity in (0.1, 0.01):
            for about_values in (True, False):
                rng = np.random.default_rng([columns, round(100 * selectivity), about_values])
                asked = workload(columns, selectivity).draw(made.data.domains, 60, rng)
                if not about_values:
                    asked = Queries(asked.quasi, tuple(np.ones_like(mask) for mask in asked.sensitive))
                truth, answers = true_counts(asked, made.data), estimate_counts(asked, made.release)
                low, high = answers.intervals()
                estimated = answers.errors > 0
                held.append(((low <= truth) & (truth <= high))[estimated])
                widths.append((high - low)[estimated] / (answers.most - answers.least)[estimated])
    assert 0.88 <= np.concatenate(held).mean() <= 1
    if made.release.form != "perturbed":
        assert np.median(np.concatenate(widths)) < 0.6, "of what is possible"
