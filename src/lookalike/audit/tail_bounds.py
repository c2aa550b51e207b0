"""How unlikely a count is under chance alone: bounds that hold for any number of rows.

All bounds are Chernoff's: P(S >= s) is at most E exp(r S) exp(-r s) for every r > 0, and likewise below for r < 0.
The logarithm of E exp(r S) is kept on a fixed grid of rates, so that counts of independent parts are added up by adding
arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SELDOM = 1e-9
"""A check fails only where chance alone does the same less often than this."""
_AT_ONCE = 20_000
_STEPS = np.geomspace(1e-4, 40.0, 60)
RATES: Floats = np.concatenate((-_STEPS[::-1], _STEPS))


@dataclass(frozen=True, eq=False)
class Chance:
    """A count, and what chance alone would make of it."""

    seen: float
    log_moments: Floats
    """log E exp(rate * count), for every rate."""

    @classmethod
    def nothing(cls) -> Chance:
        return cls(0.0, np.zeros(len(RATES)))

    def __add__(self, other: Chance) -> Chance:
        """The sum of two independent counts."""
        return Chance(self.seen + other.seen, self.log_moments + other.log_moments)

    @property
    def at_least(self) -> float:
        """A bound on the probability of so many or more."""
        return self._bound(RATES > 0)

    @property
    def at_most(self) -> float:
        """A bound on the probability of so many or fewer."""
        return self._bound(RATES < 0)

    def _bound(self, side: NDArray[np.bool_]) -> float:
        exponent = float((self.log_moments[side] - RATES[side] * self.seen).min())
        return math.exp(min(exponent, 0.0))


def independent_events(seen: float, shares: Floats) -> Chance:
    """A number of events that happen independently, each with its own probability."""
    moments = np.zeros(len(RATES))
    for begin in range(0, len(shares), _AT_ONCE):
        moments += np.log1p(shares[begin : begin + _AT_ONCE, None] * np.expm1(RATES)[None, :]).sum(axis=0)
    return Chance(seen, moments)


def cap_counts(seen: float, shares: Floats) -> Chance:
    """A sum of negatively associated counts; `shares[count, j]` is the probability that one of them is j."""
    return Chance(seen, count_moments(shares, RATES).sum(axis=0))


def count_moments(shares: Floats, rates: Floats) -> Floats:
    """log E exp(rate * count) of each count, for every rate; `shares[count, j]` is the probability that it is j."""
    most = shares.shape[1] - 1
    places = np.arange(most + 1)
    # Powers are taken from the largest count down where the rate is positive, so that none overflows.
    shifts = np.where(rates > 0, most, 0)
    powers = np.exp(rates[None, :] * (places[:, None] - shifts[None, :]))
    with np.errstate(divide="ignore"):
        moments: Floats = np.log(shares @ powers) + (rates * shifts)[None, :]
    return moments


def bound_sum_tail(seen: Floats, mean: Floats, n_terms: Floats) -> Floats:
    """Hoeffding (1963): a sum of n independent terms in [0, 1] lies so far from its mean, on that side."""
    some = np.maximum(n_terms, 1.0)
    one, two = np.clip(seen / some, 0.0, 1.0), np.clip(mean / some, 0.0, 1.0)
    divergence = np.zeros(np.broadcast(one, two).shape)
    for share, wanted in ((one, two), (1 - one, 1 - two)):
        with np.errstate(divide="ignore", invalid="ignore"):
            divergence = divergence + np.where(share > 1e-12, share * np.log(share / wanted), 0.0)
    return np.exp(-n_terms * np.maximum(divergence, 0.0))
