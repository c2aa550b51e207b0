"""The split of epsilon, and what a budget is worth."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.privbayes.budget import Budget, Shape, shape_for, useful_cells


@pytest.mark.parametrize("d", [2, 5, 8, 12])
@pytest.mark.parametrize("n", [50, 1000, 50_000])
@pytest.mark.parametrize("epsilon", ["0.05", "1", "4"])
def test_the_degree_of_two_valued_columns_is_the_published_one(d: int, n: int, epsilon: str) -> None:
    """The largest k with n epsilon / ((d - k) 2^(k+2)) >= theta."""
    for_tables = Fraction(epsilon) * Fraction(7, 10)
    k = max([k for k in range(d) if n * for_tables / ((d - k) * 2 ** (k + 2)) >= 4], default=0)
    found = shape_for([2] * d, n, for_tables, Fraction(4), 99)
    assert found == Shape(k, useful_cells(n, for_tables, d - k, Fraction(4)))


@given(
    st.lists(st.integers(2, 90), min_size=1, max_size=12),
    st.integers(1, 10**6),
    st.fractions(Fraction(1, 100), 10),
    st.integers(0, 5),
)
def test_tables_with_parents_are_useful_whatever_the_sizes(
    sizes: list[int], n: int, epsilon: Fraction, most_parents: int
) -> None:
    shape = shape_for(sizes, n, epsilon, Fraction(4), most_parents)
    d = len(sizes)
    assert shape.degree <= min(most_parents, d - 1)
    every_set_fits = math.prod(sorted(sizes)[-shape.degree - 1 :]) <= shape.most_cells
    n_tables = d - shape.degree if every_set_fits else d
    assert n * epsilon / (2 * n_tables) >= 4 * shape.most_cells
    if shape.degree:
        assert math.prod(sorted(sizes)[: shape.degree + 1]) <= shape.most_cells


def test_a_wide_column_does_not_take_the_parents_of_narrow_ones() -> None:
    alone = shape_for([2] * 7, 10_000, Fraction(1), Fraction(4), 10)
    beside = shape_for([2] * 7 + [5000], 10_000, Fraction(1), Fraction(4), 10)
    assert alone.degree >= beside.degree >= alone.degree - 1 > 0


def test_many_columns_lower_the_degree_instead_of_the_speed() -> None:
    assert shape_for([2] * 60, 10**9, Fraction(10), Fraction(4), 10).degree == 1
    assert shape_for([2] * 20, 10**9, Fraction(10), Fraction(4), 10).degree == 3


def test_nothing_is_useful_with_no_budget() -> None:
    assert shape_for([79, 83], 100, Fraction(1, 1000), Fraction(4), 10) == Shape(0, 0)


def test_parts_add_up_to_the_whole() -> None:
    budget = Budget(Fraction(2), Fraction(3, 5), 7, Fraction(7, 5), 5)
    assert budget.n_choices * budget.per_choice + budget.n_tables * budget.per_table == budget.epsilon
    assert 0 <= budget.noise - 2 * 5 / Fraction(7, 5) < Fraction(1, 1 << 20)
