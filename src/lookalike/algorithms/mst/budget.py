"""From (epsilon, delta) to zero-concentrated differential privacy (zCDP), and what each part of MST spends of it.

A mechanism is rho-zCDP if, for any two neighbouring tables and every alpha > 1, the Renyi divergence of order alpha
between its outputs is at most rho * alpha (Bun and Steinke, TCC 2016). Used here:

- rhos of parts that are run one after the other add up, also if a part depends on what earlier ones gave.
- Counts that change by whole numbers, of which the squares add up to at most s, with discrete Gaussian noise of
  variance v: s / (2 v)-zCDP. Replacing one record takes one from a cell and gives one to another: s is 2 per table.
- A choice by the exponential mechanism with epsilon e: e^2 / 8-zCDP, since the logarithm of the ratio of probabilities
  stays in an interval of length e (bounded range: Cesar and Rogers, ALT 2021).
- rho-zCDP gives (epsilon, delta)-differential privacy if, for some alpha > 1,

      delta >= exp((alpha - 1) (alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)^alpha

  (Canonne, Kamath and Steinke, NeurIPS 2020; arXiv 2004.00010v3, page 13). It is tighter than the first conversion,
  epsilon = rho + 2 sqrt(rho ln(1/delta)). Solved for rho, every alpha gives a rho that is allowed. So alpha may be
  found with floats, and only the formula at that alpha must be right: it is computed with 60 digits and rounded down.

Where a person has up to c records, epsilon and delta are those of the person. Replacing c records moves the counts of
a table by c times as much (their squares: c^2 times), and the exponents of a choice stay in an interval c times as
long: a mechanism that is rho-zCDP for a record is c^2 rho-zCDP for a person. So a record gets rho / c^2.

All rhos, variances and epsilons are exact fractions, rounded so that the parts never spend more than the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from lookalike.algorithms.shared.mechanisms import DiscreteGaussian

TABLE_SENSITIVITY = 2
"""Squared: replacing one record changes one count of a table by -1 and another by +1."""
_DIGITS = 60
_KEPT = 10**15
"""Digits of rho that are kept: it is rounded down to so many."""
_ROOT_GRID = 1 << 64


def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, rounded down, for which rho-zCDP gives (epsilon, delta)-differential privacy."""
    with localcontext() as context:
        context.prec = _DIGITS
        rho = _allowed_rho(_best_order(float(epsilon), math.log(delta)), epsilon, delta)
        scale = _KEPT * Decimal(10) ** -rho.adjusted()
        # The last of 15 digits is taken off as well: the error of 60 digits is far below.
        return Fraction(math.floor(rho * scale) - 1) / Fraction(scale)


def delta_of(rho: Fraction, epsilon: Fraction) -> float:
    """The least delta, to the precision of floats: for tests and tables, not for decisions."""
    low, high = -40.0, 40.0
    for _ in range(200):
        third = (high - low) / 3
        if _log_delta(low + third, float(rho), float(epsilon)) < _log_delta(high - third, float(rho), float(epsilon)):
            high -= third
        else:
            low += third
    return min(math.exp(_log_delta(low, float(rho), float(epsilon))), 1.0)


def _log_delta(log_excess: float, rho: float, epsilon: float) -> float:
    """By alpha = 1 + exp(log_excess)."""
    excess = math.exp(log_excess)
    order = 1 + excess
    return excess * (order * rho - epsilon) - log_excess - order * math.log1p(1 / excess)


def _best_order(epsilon: float, log_delta: float) -> Decimal:
    """An alpha that allows nearly the largest rho, found by halving an interval of its logarithm in three."""

    def allowed(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        return (epsilon + (log_delta + log_excess + order * math.log1p(1 / excess)) / excess) / order

    low, high = -40.0, 40.0
    for _ in range(200):
        third = (high - low) / 3
        if allowed(low + third) > allowed(high - third):
            high -= third
        else:
            low += third
    return 1 + Decimal(math.exp(low))


def _allowed_rho(order: Decimal, epsilon: Fraction, delta: Fraction) -> Decimal:
    excess = order - 1
    wanted = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    log_delta = (Decimal(delta.numerator) / Decimal(delta.denominator)).ln()
    return (wanted + (log_delta + excess.ln() - order * (1 - 1 / order).ln()) / excess) / order


@dataclass(frozen=True)
class ZcdpBudget:
    """What each part spends. Parts that there is nothing to do for get nothing, and the others share it evenly."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    """The whole, for one record."""
    n_columns: int
    most_records: int = 1
    """The most records of a person; epsilon and delta are the person's."""

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction, n_columns: int, most_records: int = 1) -> ZcdpBudget:
        return cls(epsilon, delta, rho_of(epsilon, delta) / most_records**2, n_columns, most_records)

    @property
    def n_choices(self) -> int:
        """Of two columns there is one pair, and nothing to choose."""
        return self.n_columns - 1 if self.n_columns > 2 else 0

    @property
    def _part(self) -> Fraction:
        return self.rho / (1 + (self.n_columns > 1) + (self.n_columns > 2))

    @property
    def column_noise(self) -> DiscreteGaussian:
        """On each count of the tables of one column, d of them."""
        return _noise(self.n_columns, self._part)

    @property
    def pair_noise(self) -> DiscreteGaussian:
        """On each count of the tables of two columns, at most d - 1."""
        return _noise(self.n_columns - 1, self._part)

    @property
    def per_choice(self) -> Fraction:
        """The epsilon of each choice: the root of 8 rho / choices, rounded down."""
        if not self.n_choices:
            return Fraction(0)
        return _root_below(8 * self._part / self.n_choices)

    @property
    def spent(self) -> Fraction:
        """The rho that all parts spend together, as they are run; never above `rho`."""
        tables = [(self.n_columns, self.column_noise)] if self.n_columns else []
        tables += [(self.n_columns - 1, self.pair_noise)] if self.n_columns > 1 else []
        measured = sum((Fraction(TABLE_SENSITIVITY * n) / (2 * noise.variance) for n, noise in tables), Fraction(0))
        return measured + self.n_choices * self.per_choice**2 / 8

    def to_plain(self) -> dict[str, Any]:
        d = self.n_columns
        return {
            "rho": float(self.rho),
            "rho_per_person": float(self.rho * self.most_records**2),
            "spent": float(self.spent),
            "choices": self.n_choices,
            "epsilon_per_choice": float(self.per_choice),
            "column_noise_deviation": math.sqrt(self.column_noise.variance) if d else 0.0,
            "pair_noise_deviation": math.sqrt(self.pair_noise.variance) if d > 1 else 0.0,
        }


def _noise(n_tables: int, rho: Fraction) -> DiscreteGaussian:
    return DiscreteGaussian.at_least(TABLE_SENSITIVITY * n_tables / (2 * rho))


def _root_below(square: Fraction) -> Fraction:
    return Fraction(math.isqrt(int(square * _ROOT_GRID**2)), _ROOT_GRID)
