"""How spread a unit's sensitive values are: how many there are, their entropy, and the most frequent against the rest.

Counts are integers throughout. Entropies are floats that are right to 1e-12; whether an entropy reaches ln l is decided
exactly by `entropy_reaches`: l^w * product of c^c <= w^w, taken as a sum of logarithms, so that large counts cost no
large powers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.exposure import Exposure
from lookalike.models.shared.exact import LogTerm, sign_of
from lookalike.models.shared.extremes import unit_sums


def distinct_values(exposure: Exposure) -> NDArray[np.int64]:
    """How many different values each unit holds."""
    return unit_sums((exposure.weights > 0).astype(np.int64), exposure.starts)


def entropies(counts: NDArray[np.int64], unit_of_entry: NDArray[np.int64], n_units: int) -> NDArray[np.float64]:
    """The natural entropy of each unit; minus infinity for a unit without entries, which offers no uncertainty."""
    numbers = counts.astype(np.float64)
    sizes = np.bincount(unit_of_entry, weights=numbers, minlength=n_units)
    beliefs = numbers / sizes[unit_of_entry]
    sums = np.asarray(np.bincount(unit_of_entry, -beliefs * np.log(beliefs), n_units), dtype=np.float64)
    sums[sizes == 0] = -np.inf
    return sums


def entropy_reaches(counts: Iterable[int], ell: Fraction) -> bool:
    """Whether the entropy of the counts is at least ln l, exact.

    >>> entropy_reaches([5, 5, 5], Fraction(3)), entropy_reaches([5, 5, 6], Fraction(3))
    (True, False)
    """
    times = Counter(count for count in counts if count)
    size = sum(count * number for count, number in times.items())
    if size == 0:
        return False
    terms: list[LogTerm] = [(Fraction(-count * number), Fraction(count)) for count, number in times.items()]
    terms += [(Fraction(size), Fraction(size)), (Fraction(-size), ell)]
    return sign_of(Fraction(0), terms) >= 0


def most_frequent_and_rest(exposure: Exposure, ell: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each unit its largest count, and the sum of its counts from the l-th largest on."""
    starts = exposure.starts
    falling = _falling_in_units(exposure)
    running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(falling)))
    before_rest = np.minimum(starts[:-1] + ell - 1, starts[1:])
    # A running sum that wraps around still has the right differences.
    rests = running[starts[1:]] - running[before_rest]
    tops = running[np.minimum(starts[:-1] + 1, starts[1:])] - running[starts[:-1]]
    return tops, rests


def _falling_in_units(exposure: Exposure) -> NDArray[np.int64]:
    """Weights, each unit's in falling order."""
    weights, units = exposure.weights, exposure.unit_of_entry
    span = int(weights.max(initial=0)) + 1
    if span * max(exposure.n_units, 1) < 2**63:
        # One sort of one key is several times as fast as a sort by two.
        keys = np.sort(units * span + (span - 1 - weights))
        return span - 1 - keys % span
    return weights[np.lexsort((-weights, units))]
