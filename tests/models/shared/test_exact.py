from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.parameters import as_fraction, number_text
from lookalike.models.shared.exact import (
    enclosure,
    exp_of_negative,
    grid_down,
    grid_up,
    just_above,
    just_below,
    percent_at_most,
    sign_of,
)

positive = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


def test_text_of_decimals_has_no_exponent() -> None:
    assert number_text(Fraction(1, 10**12)) == "0.000000000001"
    assert number_text(Fraction(-5, 2)) == "-2.5"


@given(positive)
def test_percent_never_understates(share: Fraction) -> None:
    assert as_fraction(percent_at_most(share).removesuffix(" %")) / 100 >= share


@given(st.fractions(-5, 5, max_denominator=100), st.lists(st.tuples(positive, positive), max_size=4))
def test_enclosures_hold_the_value_and_are_narrow(constant: Fraction, terms: list[tuple[Fraction, Fraction]]) -> None:
    low, high = enclosure(constant, terms)
    value = float(constant) + sum(float(factor) * math.log(argument) for factor, argument in terms)
    assert float(low) == pytest.approx(value, rel=1e-9, abs=1e-6)
    assert 0 < high - low < Fraction(1, 10**45)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 40)), min_size=1, max_size=5))
def test_signs_of_whole_powers_agree_with_big_integers(powers: list[tuple[int, int]]) -> None:
    above = math.prod(argument**factor for factor, argument in powers if factor > 0)
    below = math.prod(argument**-factor for factor, argument in powers if factor < 0)
    terms = [(Fraction(factor), Fraction(argument)) for factor, argument in powers]
    assert sign_of(Fraction(0), terms) == (above > below) - (above < below)


def test_ties_are_found_among_large_numbers_without_factoring() -> None:
    first, second = 2**61 - 1, 2**31 - 1
    terms = [(Fraction(1), Fraction(first * second)), (Fraction(-1), Fraction(first)), (Fraction(-1), Fraction(second))]
    assert sign_of(Fraction(0), terms) == 0
    assert sign_of(Fraction(1, 10**90), terms) == 1


def test_near_ties_take_the_digits_they_need() -> None:
    low, high = enclosure(Fraction(0), [(Fraction(1), Fraction(2))], digits=200)
    assert sign_of(-low, [(Fraction(1), Fraction(2))]) == 1
    assert sign_of(-high, [(Fraction(1), Fraction(2))]) == -1


@given(st.fractions(Fraction(1, 100), 30, max_denominator=100))
def test_powers_of_e_are_enclosed(exponent: Fraction) -> None:
    low, high = exp_of_negative(exponent)
    assert low < high
    # ln(low) < -exponent < ln(high), decided by the other function
    assert sign_of(exponent, [(Fraction(1), low)]) < 0 < sign_of(exponent, [(Fraction(1), high)])


def test_huge_exponents_cost_nothing() -> None:
    low, high = exp_of_negative(Fraction(10**200))
    assert low == 0 < high < Fraction(1, 2**100)


@given(positive)
def test_grid_and_floats_round_to_the_side_they_say(value: Fraction) -> None:
    assert grid_down(value) <= value <= grid_up(value)
    assert grid_up(value) - grid_down(value) <= Fraction(1, 2**60)
    assert just_below(value) < value < just_above(value)
