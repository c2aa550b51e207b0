"""From (epsilon, delta) to zCDP against known values, and parts that never spend more than the whole."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.mst.budget import TABLE_SENSITIVITY, ZcdpBudget, delta_of, rho_of


def least_delta(rho: float, epsilon: float) -> float:
    """The published conversion, by trying many orders."""
    excess = np.exp(np.linspace(-12, 16, 400_001))
    order = 1 + excess
    return math.exp((excess * (order * rho - epsilon) - np.log(excess) - order * np.log1p(1 / excess)).min())


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"),
    # As printed by cdp_rho of Thomas Steinke's cdp2adp.py (IBM/discrete-gaussian-differential-privacy), which MST uses.
    [
        ("1", "1e-9", 0.01497305767),
        ("0.1", "1e-9", 0.0001771384472),
        ("10", "1e-9", 1.090785704),
        ("1", "1e-5", 0.0305565952),
        ("2", "1e-6", 0.08815268838),
        ("0.5", "1e-12", 0.002793277348),
    ],
)
def test_rho_is_the_published_one(epsilon: str, delta: str, rho: float) -> None:
    found = rho_of(Fraction(epsilon), Fraction(delta))
    assert float(found) == pytest.approx(rho, rel=1e-9)
    assert least_delta(float(found), float(epsilon)) == pytest.approx(float(delta), rel=1e-6)


@given(st.fractions(Fraction(1, 1000), 10_000), st.integers(2, 100))
def test_rho_keeps_the_promise_and_wastes_next_to_nothing(epsilon: Fraction, places: int) -> None:
    delta = Fraction(1, 10**places)
    rho = rho_of(epsilon, delta)
    assert 0 < rho < epsilon
    assert delta_of(rho, epsilon) <= float(delta) * (1 + 1e-6)
    assert delta_of(rho * Fraction(1001, 1000), epsilon) > float(delta) * (1 + 1e-6)
    # It beats the older conversion of Bun and Steinke: rho + 2 sqrt(rho ln(1/delta)).
    assert float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta))) > float(epsilon)


def test_the_gaussian_mechanism_needs_no_more_noise_than_zcdp_says() -> None:
    """The exact delta of Gaussian noise (Balle and Wang 2018) is below what its rho promises, and not far below."""
    for epsilon, delta in ((0.5, 1e-6), (1.0, 1e-9), (4.0, 1e-5)):
        deviation = 1 / math.sqrt(2 * float(rho_of(Fraction(str(epsilon)), Fraction(str(delta)))))

        def normal(x: float) -> float:
            return math.erfc(-x / math.sqrt(2)) / 2

        shift, scaled = 1 / (2 * deviation), epsilon * deviation
        exact = normal(shift - scaled) - math.exp(epsilon) * normal(-shift - scaled)
        assert delta / 20 < exact <= delta


@given(st.fractions(Fraction(1, 100), 1000), st.integers(1, 60))
def test_the_parts_never_spend_more_than_the_whole(epsilon: Fraction, n_columns: int) -> None:
    budget = ZcdpBudget.of(epsilon, Fraction(1, 10**9), n_columns)
    columns = Fraction(n_columns * TABLE_SENSITIVITY) / (2 * budget.column_noise.variance)
    pairs = (
        Fraction((n_columns - 1) * TABLE_SENSITIVITY) / (2 * budget.pair_noise.variance)
        if n_columns > 1
        else Fraction(0)
    )
    choices = (n_columns - 1) * budget.per_choice**2 / 8 if n_columns > 2 else Fraction(0)
    assert columns + pairs + choices == budget.spent <= budget.rho
    assert budget.spent > budget.rho * Fraction(99, 100)
    assert delta_of(budget.spent, epsilon) <= 1e-9 * (1 + 1e-6)


def test_what_there_is_nothing_to_do_for_gets_nothing() -> None:
    one, two, three = (ZcdpBudget.of(Fraction(1), Fraction(1, 10**9), n) for n in (1, 2, 3))
    assert one.column_noise.variance == pytest.approx(float(1 / one.rho), rel=1e-5)
    assert (one.n_choices, two.n_choices, three.n_choices) == (0, 0, 2)
    assert (one.per_choice, two.per_choice) == (0, 0)
    assert float(three.per_choice) == pytest.approx(math.sqrt(8 * float(three.rho) / 3 / 2))
    assert two.column_noise.variance == pytest.approx(float(2 * 2 / two.rho), rel=1e-5)


@given(st.fractions(Fraction(1, 100), 1000), st.integers(1, 20), st.integers(1, 12))
def test_a_person_with_several_records_spends_rho_and_no_more(
    epsilon: Fraction, n_columns: int, most_records: int
) -> None:
    delta = Fraction(1, 10**9)
    budget = ZcdpBudget.of(epsilon, delta, n_columns, most_records)
    assert budget.rho * most_records**2 == rho_of(epsilon, delta)
    # Counts move by as many ones as records are replaced, and the exponents of a choice by as many times as much.
    tables = [(n_columns, budget.column_noise)] + ([(n_columns - 1, budget.pair_noise)] if n_columns > 1 else [])
    moved = sum(Fraction(n * 2 * most_records**2) / (2 * noise.variance) for n, noise in tables)
    choices = budget.n_choices * (most_records * budget.per_choice) ** 2 / 8
    assert moved + choices == budget.spent * most_records**2 <= rho_of(epsilon, delta)
    assert delta_of(moved + choices, epsilon) <= float(delta) * (1 + 1e-6)


@pytest.mark.parametrize("most_records", [1, 2, 5])
def test_the_divergence_of_a_persons_counts_stays_within_rho(most_records: int) -> None:
    """Renyi divergences summed over all outcomes: the one column of a table, a person's records all moved."""
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    budget = ZcdpBudget.of(epsilon, delta, 1, most_records)
    variance = float(budget.column_noise.variance)
    outcomes = np.arange(-8000, 8001, dtype=np.float64)
    here = -(outcomes**2) / (2 * variance)
    here -= np.log(np.exp(here - here.max()).sum()) + here.max()
    there = -((outcomes - most_records) ** 2) / (2 * variance)
    there -= np.log(np.exp(there - there.max()).sum()) + there.max()
    for order in (1.5, 2.0, 10.0, 40.0):
        powers = order * here + (1 - order) * there
        divergence = (np.log(np.exp(powers - powers.max()).sum()) + powers.max()) / (order - 1)
        # Two cells: one falls, the other rises.
        assert 2 * divergence <= order * float(rho_of(epsilon, delta)) * (1 + 1e-9)
        assert 2 * divergence > order * float(rho_of(epsilon, delta)) * 0.99
