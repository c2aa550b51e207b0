from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.models.exact import (
    as_fraction,
    enclosure,
    exp_of_negative,
    grid_down,
    grid_up,
    just_above,
    just_below,
    number_text,
    percent_at_most,
    sign_of,
)

positive = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (" 2 ", Fraction(2)),
        ("1/3", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.int64(4), Fraction(4)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
    ],
)
def test_numbers_are_read_as_they_are_written(given_: object, kept: Fraction) -> None:
    assert as_fraction(given_) == kept
    assert type(as_fraction(given_).numerator) is int


@pytest.mark.parametrize(
    "wrong", ["", "x", "nan", "inf", "1/0", "1/-2", "1.5/2", True, None, [], math.nan, "1e999999999"]
)
def test_what_is_no_number_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is the parameter's
        as_fraction(wrong)


@given(st.fractions())
def test_text_of_a_number_reads_back(value: Fraction) -> None:
    assert as_fraction(number_text(value)) == value


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
