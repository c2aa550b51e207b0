"""Exact decisions about logarithms, with as many digits as it takes, and rounding that stays on the safe side.

Sums of logarithms are irrational nearly always. `enclosure` brackets such a sum between two fractions, `sign_of`
doubles the digits until the bracket leaves zero out. The sum is zero only if its constant is zero and the product of
the arguments, raised to their coefficients, is one (Lindemann); that is decided first by splitting the arguments into
coprime factors, so the search for digits always ends. Fifty digits cost some microseconds a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction

from lookalike.data.parameters import number_text
from lookalike.data.requirement import GRID

LogTerm = tuple[Fraction, Fraction]
"""(coefficient, argument): coefficient times the natural logarithm of a positive argument."""

_DIGITS = 60
_PRACTICALLY_NOTHING = 10_000
"""Beyond this, e to its negative is far below any grid."""


def three_decimals_down(value: Fraction) -> Fraction:
    return Fraction(math.floor(value * 1000), 1000)


def three_decimals_up(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * 1000), 1000)


def percent_at_most(share: Fraction) -> str:
    """A share as percent with at most two decimals, rounded up, so that "at most" stays true.

    >>> percent_at_most(Fraction(1, 3)), percent_at_most(Fraction(1, 5))
    ('33.34 %', '20 %')
    """
    return f"{number_text(Fraction(math.ceil(share * 10_000), 100))} %"


def enclosure(constant: Fraction, terms: Iterable[LogTerm], digits: int = _DIGITS) -> tuple[Fraction, Fraction]:
    """Two fractions that bracket constant + sum of coefficient * ln(argument)."""
    context = _context(digits)
    total, weight = constant, abs(constant) + 1
    steps = 4
    for coefficient, argument in terms:
        # The operands are exact and each logarithm is correctly rounded; the rest of the sum is in fractions.
        above = Fraction(context.ln(Decimal(argument.numerator)))
        below = Fraction(context.ln(Decimal(argument.denominator)))
        total += coefficient * (above - below)
        weight += abs(coefficient) * (above + below)
        steps += 2
    slack = weight * steps / 10 ** (digits - 1)
    return total - slack, total + slack


def sign_of(constant: Fraction, terms: Sequence[LogTerm]) -> int:
    """The sign of constant + sum of coefficient * ln(argument), exact.

    >>> sign_of(Fraction(0), [(Fraction(2), Fraction(2)), (Fraction(-1), Fraction(4))])
    0
    >>> sign_of(Fraction(-693147, 10**6), [(Fraction(1), Fraction(2))])
    1
    """
    digits, tie_excluded = _DIGITS, constant != 0
    while True:
        low, high = enclosure(constant, terms, digits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        if not tie_excluded:
            if _product_is_one(terms):
                return 0
            tie_excluded = True
        digits *= 2


def exp_of_negative(exponent: Fraction, digits: int = _DIGITS) -> tuple[Fraction, Fraction]:
    """Two fractions that bracket e to the power of minus `exponent` (positive)."""
    if exponent > _PRACTICALLY_NOTHING:
        return Fraction(0), Fraction(1, GRID * GRID)
    context = _context(digits)
    power = context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))
    value = Fraction(context.exp(power))
    slack = value * (exponent + 2) / 10 ** (digits - 1)
    return value - slack, value + slack


def grid_down(value: Fraction) -> Fraction:
    """The next fraction below on the grid that requirements use."""
    return Fraction(math.floor(value * GRID), GRID)


def grid_up(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * GRID), GRID)


def just_below(bound: Fraction) -> float:
    """A float that is truly below the bound: how a float level says that it stays under."""
    return math.nextafter(float(bound), -math.inf)


def just_above(bound: Fraction) -> float:
    return math.nextafter(float(bound), math.inf)


def find_largest(holds: Callable[[Fraction], bool], near: float, least: Fraction) -> Fraction:
    """The largest number of three decimals, from `least` on, that still holds, looked for around a float."""
    thousandths = max(math.floor(near * 1000) + 1, math.ceil(least * 1000))
    while Fraction(thousandths, 1000) > least and not holds(Fraction(thousandths, 1000)):
        thousandths -= 1
    return Fraction(thousandths, 1000)


def _context(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation])


def _product_is_one(terms: Sequence[LogTerm]) -> bool:
    """Whether the product of argument ** coefficient is one.

    Numbers over pairwise coprime factors have a product of one only if every factor's exponents add up to zero.
    """
    powers: list[tuple[int, Fraction]] = []
    for coefficient, argument in terms:
        powers += [(argument.numerator, coefficient), (argument.denominator, -coefficient)]
    factors = _coprime_factors({number for number, _ in powers})
    return all(sum(_multiplicity(number, factor) * power for number, power in powers) == 0 for factor in factors)


def _coprime_factors(positive: Iterable[int]) -> list[int]:
    factors: list[int] = []
    waiting = [number for number in positive if number > 1]
    while waiting:
        number = waiting.pop()
        for place, factor in enumerate(factors):
            shared = math.gcd(number, factor)
            if shared > 1:
                # Split both along what they share and look at the parts again.
                del factors[place]
                waiting += [part for part in (shared, number // shared, factor // shared) if part > 1]
                break
        else:
            factors.append(number)
    return factors


def _multiplicity(number: int, factor: int) -> int:
    times = 0
    while number % factor == 0:
        number, times = number // factor, times + 1
    return times
