"""The cheapest assignment against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from lookalike.kernels.assignment import assign_cheapest, assign_cheapest_in_each
from tests.examples import examples


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0, 25), st.integers(0, 2**32 - 1), st.sampled_from(["ties", "plain", "mixed", "negative"]))
def test_it_is_as_cheap_as_any(size: int, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    costs = {
        "ties": rng.integers(0, 3, (size, size)).astype(float),
        "plain": rng.random((size, size)),
        "mixed": rng.integers(0, 4, (size, size)) / 7 + rng.integers(0, 3, (size, size)) / 3,
        "negative": rng.normal(size=(size, size)),
    }[kind]
    columns = assign_cheapest(costs)
    assert sorted(columns.tolist()) == list(range(size))
    rows, expected = linear_sum_assignment(costs)
    assert costs[np.arange(size), columns].sum() == pytest.approx(costs[rows, expected].sum(), abs=1e-9)


def test_forbidden_cells_are_left_out_where_they_can_be() -> None:
    costs = np.array([[1e6, 1.0, 1e6], [2.0, 1e6, 1e6], [1e6, 3.0, 0.5]])
    assert assign_cheapest(costs).tolist() == [1, 0, 2]


def test_many_tables_at_once() -> None:
    costs = np.random.default_rng(1).random((7, 5, 5))
    assert assign_cheapest_in_each(costs).tolist() == [assign_cheapest(table).tolist() for table in costs]
    assert assign_cheapest_in_each(costs[:0]).shape == (0, 5)
