"""How many of a population fall into a class that shows f persons in the table: two models for the same posterior.

    Ewens-Pitman   the table is the first n of N draws of an Ewens-Pitman sequence, whose alpha and theta are fitted to
                   the sizes of the table's classes. Then F - f is beta-binomial (N - n; f - alpha, n - f + theta +
                   alpha), because a further draw falls into a class of size f with (f - alpha) / (n + theta).
    mu-Argus       F - f is negative binomial (f, n / N), after Benedetti, Franconi and Capobianchi. It is the case
                   alpha = theta = 0 up to the finite n: no more rare classes than others. Where many classes are rare
                   it gives risks that are far too low.

Both take the table as a simple random sample. With N = n all give F = f. Cost: some thousand terms per different size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from lookalike.attacks.shared.uniques import ClassSizes, fit_pitman

Ints = NDArray[np.int64]
Numbers = NDArray[np.float64]
PITMAN, MU_ARGUS, WHOLE = "Ewens-Pitman", "mu-Argus", "whole population"
_EXACTLY_UP_TO = 400
"""mu-Argus: sizes above are so large that two terms of a series do."""
_TERMS = 4096
"""Ewens-Pitman: so many terms are added one by one, those beyond are integrated."""
_SUMMED_UP_TO = 1000
"""Ewens-Pitman: for sizes above, mean and variance of F do, to about one in a million."""
_PANEL = 0.04
"""Width of a panel of the integral, as the logarithm of its ends' ratio."""


class Posterior(Protocol):
    """What is believed of F, the number of persons of the population in a class, by the f that the table shows."""

    @property
    def name(self) -> str:
        """As it is printed beside its figures."""

    def risks(self, sizes: Ints) -> Numbers:
        """The expected 1 / F for each f."""

    def sizes(self, sizes: Ints) -> Numbers:
        """The expected F for each f."""


@dataclass(frozen=True)
class EwensPitman:
    """The posterior of a fitted Ewens-Pitman sequence."""

    alpha: float
    theta: float
    n_persons: int
    """Persons in the classes of the table."""
    n_unseen: int
    """Persons of the population who are not in the table."""

    @property
    def name(self) -> str:
        return PITMAN

    def risks(self, sizes: Ints) -> Numbers:
        distinct, places = np.unique(sizes, return_inverse=True)
        found = np.array([self._risk(int(size)) for size in distinct], dtype=np.float64)
        return found[places.reshape(-1)]

    def sizes(self, sizes: Ints) -> Numbers:
        return np.asarray(sizes + self.n_unseen * (sizes - self.alpha) / (self.n_persons + self.theta))

    def _risk(self, size: int) -> float:
        if not self.n_unseen:
            return 1 / size
        if size > _SUMMED_UP_TO and self.n_unseen >= _TERMS:
            return self._risk_of_large(size)
        numbers, widths = _list_numbers(self.n_unseen)
        logs = self._log_weights(size, numbers)
        weights = widths * np.exp(logs - logs.max())
        # Divided by their own sum, so that what all logarithms of gamma lose alike is not lost.
        return float((weights / (size + numbers)).sum() / weights.sum())

    def _log_weights(self, size: int, numbers: Numbers) -> Numbers:
        """Logarithms of Pr(F - f = number), up to a constant."""
        most, first = self.n_unseen, size - self.alpha
        second = self.n_persons - size + self.theta + self.alpha
        rest = most - numbers
        return np.asarray(
            (gammaln(numbers + first) - gammaln(numbers + 1)) + (gammaln(rest + second) - gammaln(rest + 1))
        )

    def _risk_of_large(self, size: int) -> float:
        first, both = size - self.alpha, self.n_persons + self.theta
        share = first / both
        mean = size + self.n_unseen * share
        variance = self.n_unseen * share * (1 - share) * (both + self.n_unseen) / (both + 1)
        return float((1 + variance / mean**2) / mean)


def _list_numbers(most: int) -> tuple[Numbers, Numbers]:
    """Numbers from 0 to `most` and how many each stands for: each by itself, then those of Gauss and Legendre."""
    few = np.arange(min(most + 1, _TERMS), dtype=np.float64)
    if most < _TERMS:
        return few, np.ones(len(few))
    low, high = math.log(_TERMS - 0.5), math.log(most + 0.5)
    ends = np.linspace(low, high, math.ceil((high - low) / _PANEL) + 1)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(ends)[:, None] / 2
    numbers = np.exp((ends[:-1, None] + half) + half * nodes).ravel()
    widths = (half * weights).ravel() * numbers
    return np.concatenate((few, np.minimum(numbers, most))), np.concatenate((np.ones(len(few)), widths))


@dataclass(frozen=True)
class MuArgus:
    """The negative binomial posterior."""

    fraction: float
    """Which share of the population the table is."""

    @property
    def name(self) -> str:
        return MU_ARGUS

    def risks(self, sizes: Ints) -> Numbers:
        """
        I_f = int_0^1 w^(f-1) * fraction / (fraction + (1 - fraction) w) dw, with I_f + I_(f+1) * (1 - fraction) /
        fraction = 1 / f. Large classes by the first terms of a series.

        >>> round(float(MuArgus(0.5).risks(np.array([1]))[0]), 4), round(math.log(2), 4)
        (0.6931, 0.6931)
        """
        fraction, rest = self.fraction, 1 - self.fraction
        risks: Numbers = self._of_large(sizes.astype(np.float64))
        exactly = np.empty(_EXACTLY_UP_TO + 1)
        # The recurrence is run in the direction in which errors shrink.
        if fraction <= rest:
            exactly[1] = fraction / rest * math.log(1 / fraction)
            for size in range(1, _EXACTLY_UP_TO):
                exactly[size + 1] = fraction / rest * (1 / size - exactly[size])
        else:
            exactly[-1] = self._of_large(np.float64(_EXACTLY_UP_TO))
            for size in range(_EXACTLY_UP_TO - 1, 0, -1):
                exactly[size] = 1 / size - rest / fraction * exactly[size + 1]
        small = sizes <= _EXACTLY_UP_TO
        risks[small] = exactly[sizes[small]]
        return risks

    def sizes(self, sizes: Ints) -> Numbers:
        return np.asarray(sizes / self.fraction)

    def _of_large(self, sizes: Any) -> Any:
        return self.fraction / sizes * (1 + (1 - self.fraction) / sizes)


@dataclass(frozen=True)
class Everybody:
    """The table is the population: F = f."""

    @property
    def name(self) -> str:
        return WHOLE

    def risks(self, sizes: Ints) -> Numbers:
        return np.asarray(1 / sizes)

    def sizes(self, sizes: Ints) -> Numbers:
        return sizes.astype(np.float64)


def estimate_population(
    sizes: Ints | None, n_persons: int, n_population: int, estimator: str
) -> tuple[Posterior, str | None]:
    """The posterior for a table of so many persons out of so many, and why it is another one than was asked for.

    `sizes` are those of the classes, without persons who are left out; None where rows form no classes.
    """
    if n_population == n_persons:
        return Everybody(), None
    if estimator == MU_ARGUS:
        return MuArgus(n_persons / n_population), None
    reason = "the rows form no classes whose sizes could be fitted"
    if sizes is not None:
        sample = ClassSizes.of(sizes)
        fitted = fit_pitman(sample)
        if fitted is not None:
            return EwensPitman(*fitted, sample.n_persons, n_population - n_persons), None
        if sample.n_classes == sample.n_persons:
            reason = "every class has a single person"
        elif sample.n_classes == 1:
            reason = "all are in one class"
        else:
            reason = "the fit to the sizes of the classes did not settle"
    return MuArgus(n_persons / n_population), reason
