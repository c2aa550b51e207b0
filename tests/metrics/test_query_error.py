"""Workloads: sizes of ranges and sets, which columns are asked about, and queries that nobody satisfies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.analysis.counts import Queries, independent, true_counts
from lookalike.data.microdata import Microdata
from lookalike.errors import RecipeError, Unsupported
from lookalike.metrics.query_error import (
    CorrelatedWorkload,
    MedianQueryError,
    PrefixWorkload,
    RangeWorkload,
    SetWorkload,
    SubsetWorkload,
    draw_queries,
    query_error,
    range_length,
)
from tests.audit.making import number_table
from tests.files.releases.release_forms import make_release


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(1)
    age, sex, level = rng.integers(17, 96, 4000), rng.integers(0, 2, 4000), rng.integers(0, 17, 4000)
    age[:2], level[:17] = (17, 95), np.arange(17)
    value = (level + rng.integers(0, 30, 4000)) % 50
    value[:50] = np.arange(50)
    return number_table(np.stack((age, sex, level, rng.integers(0, 5, 4000)), axis=1), value)


def asked(queries: Queries) -> NDArray[np.bool_]:
    """[queries, quasi-identifiers] whether a query asks about a column at all."""
    return np.stack([~mask.all(axis=1) for mask in queries.quasi], axis=1)


def test_lengths_of_ranges() -> None:
    assert range_length(79, 0.1, 4) == 44
    assert range_length(2, 0.1, 4) == 1
    assert range_length(5, 1.0, 2) == 5


def test_ranges_are_runs_of_the_right_length(data: Microdata) -> None:
    queries = RangeWorkload(columns=3, selectivity=0.1).draw(data.domains, 500, np.random.default_rng(2))
    assert (asked(queries).sum(axis=1) == 3).all()
    ages = queries.quasi[0][asked(queries)[:, 0]]
    values = data.domains.quasi[0].values
    assert {int(values[row][-1] - values[row][0]) + 1 for row in ages} == {44}
    assert set(queries.quasi[1][asked(queries)[:, 1]].sum(axis=1).tolist()) == {1}
    assert set(queries.sensitive[0].sum(axis=1).tolist()) == {range_length(50, 0.1, 4)}
    starts = {int(values[row][0]) for row in ages}
    assert min(starts) == 17
    assert max(starts) == 95 - 43


def test_sets_have_the_right_size(data: Microdata) -> None:
    queries = SetWorkload(columns=2, selectivity=0.1).draw(data.domains, 300, np.random.default_rng(3))
    share = 0.1 ** (1 / 3)
    assert set(queries.quasi[2][asked(queries)[:, 2]].sum(axis=1).tolist()) == {int(np.ceil(17 * share))}
    assert set(queries.sensitive[0].sum(axis=1).tolist()) == {int(np.ceil(50 * share))}


def test_subsets_have_one_value_at_least(data: Microdata) -> None:
    queries = SubsetWorkload(columns=4, selectivity=0.3).draw(data.domains, 400, np.random.default_rng(4))
    sizes = queries.quasi[2].sum(axis=1)
    assert sizes.min() == 1
    assert sizes.max() == 5
    assert set(queries.quasi[1].sum(axis=1).tolist()) == {1}


def test_prefixes(data: Microdata) -> None:
    workload = PrefixWorkload(upto="q2", single=("q0", "q1"))
    queries = workload.draw(data.domains, 200, np.random.default_rng(5))
    assert all(row[: row.sum()].all() for row in queries.quasi[2])
    assert (queries.quasi[0].sum(axis=1) == 1).all()
    assert queries.quasi[3].all()
    with pytest.raises(RecipeError, match="needs a column tall"):
        PrefixWorkload(upto="tall", single=()).draw(data.domains, 1, np.random.default_rng(5))


def test_correlated_queries_are_those_furthest_from_independence(data: Microdata) -> None:
    rng = np.random.default_rng(6)
    base = SubsetWorkload(columns=2, selectivity=0.4)
    high, low = (
        CorrelatedWorkload(base, data, highest=highest, out_of=600).draw(data.domains, 50, rng)
        for highest in (True, False)
    )
    ratios = [true_counts(queries, data) / independent(queries, data) for queries in (high, low)]
    assert ratios[0].min() > 1 > ratios[1].max()


def test_queries_that_nobody_satisfies_are_dropped_and_counted(data: Microdata) -> None:
    asked = draw_queries(SubsetWorkload(columns=4, selectivity=0.1), data, 100, np.random.default_rng(7))
    assert len(asked.queries) == len(asked.truth) <= 100
    assert (asked.truth > 0).all()
    assert asked.n_dropped > 0
    assert 0 < asked.selectivity < 0.1


def test_too_many_columns_and_hopeless_workloads_are_refused(data: Microdata) -> None:
    rng = np.random.default_rng(8)
    with pytest.raises(RecipeError, match="there are 4"):
        RangeWorkload(columns=5).draw(data.domains, 1, rng)
    tiny = number_table([[0, 0], [9, 9]], [0, 1])
    with pytest.raises(Unsupported, match="wider"):
        draw_queries(CrossedWorkload(columns=2), tiny, 3, rng)


class CrossedWorkload(SubsetWorkload):
    """Asks for the first value of one column and the last of the other, which nobody has."""

    def draw(self, domains, n_queries, rng):  # type: ignore[no-untyped-def]
        queries = super().draw(domains, n_queries, rng)
        queries.quasi[0][:], queries.quasi[1][:] = [True, False], [False, True]
        return queries


def test_the_metric_asks_the_same_queries_every_time(data: Microdata) -> None:
    release = make_release("grouped", data, np.arange(data.n_rows) // 10, np.arange(data.n_rows))
    asked = draw_queries(RangeWorkload(columns=2), data, 50, np.random.default_rng(9))
    metric = MedianQueryError(columns=2, n_queries=50, seed=9)
    assert metric.measure(data, release) == metric.measure(data, release) == query_error(asked, release).median


def test_the_metric_is_no_number_where_nobody_satisfies_a_query(
    data: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.metrics.query_error._MOST_TRIED", 0)
    release = make_release("grouped", data, np.zeros(data.n_rows, dtype=int), np.arange(data.n_rows))
    assert np.isnan(MedianQueryError().measure(data, release))
