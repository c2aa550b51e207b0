"""A lower bound on the loss of any grouping that keeps a promise, so that a result can be held against the optimum.

Take a record r and any group G of g records that it may be in. The sum of pair losses of G is at most g^2/4 times the
loss of its extents (a range of length 1 is longest in sum when half the records sit at either end; sets likewise), so
the loss of G, added up over its members, is at least the sum over r in G of twice the mean pair loss from r to the
members of G. It is also at least the largest pair loss from r. Neither can be less than if r could choose: its nearest
records, none with more weight than 1/g, no value with more than its ceiling (which says nothing about rows where
persons with several are counted). Where pair losses can add up to more than g^2/4 (taxonomies: to g^2/2; missing
values: to g^2/3) they are scaled down accordingly.

The mean over all records bounds the loss of the table; over a sample it is an estimate, given with two standard errors
taken off. It is no more than a bound: the optimum itself is usually well above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import combine_ceilings, least_size
from lookalike.data.microdata import Microdata, rank_within
from lookalike.data.requirement import Distance, Requirement
from lookalike.randomness import Randomness

# So many records, such that this many pairs are looked at.
_LEAST_SAMPLE, _MOST_SAMPLE, _PAIRS = 100, 500, 30_000_000
_FIRST_LOOK = 2000


@dataclass(frozen=True)
class LossBound:
    """No grouping that keeps the promise has less loss (GCP)."""

    value: float
    n_sampled: int | None
    """Records that it was estimated from, less two standard errors; None: from all records."""

    def above(self, loss: float) -> float | None:
        """By which share of the optimum a loss exceeds it at most; None where nothing can be said."""
        return loss / self.value - 1 if self.value > 0 else None

    def to_plain(self, loss: float) -> dict[str, Any]:
        """For JSON."""
        return {"gcp": self.value, "sampled": self.n_sampled, "above_optimum_at_most": self.above(loss)}

    def sentence(self, loss: float) -> str:
        """For the user.

        >>> LossBound(0.02, None).sentence(0.05)
        'No grouping with this promise can lose less than 0.0200: this one is at most 2.5 times the optimum.'
        """
        share = self.above(loss)
        if share is None:
            return "How far this is from the optimum is not known: the lower bound is 0."
        estimated = "" if self.n_sampled is None else f" (estimated from {self.n_sampled:,} records)"
        at_most = f"{100 * max(share, 0.0):.0f} % above" if share < 1 else f"{share + 1:.1f} times"
        return (
            f"No grouping with this promise can lose less than {self.value:.4f}{estimated}: this one is at most "
            f"{at_most} the optimum."
        )


def loss_bound(data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> LossBound:
    """The bound for this table and promise."""
    from lookalike.algorithms.shared.axes import axes_of
    from lookalike.kernels.axes import NODE, SET, pair_distances

    axes = axes_of(data)
    attributes = axes.attributes.copy()
    attributes["weight"] = 1.0
    # A cell with "(other)" loses more than its values do: the bound counts values.
    is_set = attributes["kind"] == SET
    attributes["span"][is_set] = np.array([domain.size - 1.0 for domain in data.domains.quasi])[is_set]
    axes = axes._replace(attributes=attributes)
    factors = np.where(attributes["kind"] == NODE, 0.5, np.where(attributes["lacks"] == 1, 0.75, 1.0))
    uniform = bool((factors == 1.0).all())
    caps = [_Caps.of(data, column, requirements) for column in range(data.sensitive.shape[1])]
    # A person with a value in many rows counts once: of persons only the sizes of groups say something about rows.
    held = caps if data.persons is None else []
    fewest = max([least_size(requirements), *(_distinct_values(requirement) for requirement in requirements)])
    n_sampled = max(_LEAST_SAMPLE, min(_MOST_SAMPLE, _PAIRS // max(data.n_rows, 1)))
    sampled = data.n_rows > n_sampled
    records = rng.child("bound").permutation(data.n_rows)[:n_sampled] if sampled else np.arange(data.n_rows)
    plain, scaled = np.empty(data.n_rows), np.empty(data.n_rows)
    bounds = np.zeros((2, len(records)))
    for place, record in enumerate(records):
        pair_distances(axes, record, factors, plain, scaled)
        size = max([fewest, *(cap.least_size(data.sensitive[record, cap.column]) for cap in caps)])
        for cap in held or [_Caps(0, ())]:
            mean, farthest = _measure_nearest(plain, size, cap, data)
            if not uniform:
                mean, _ = _measure_nearest(scaled, size, cap, data)
            bounds[:, place] = np.maximum(bounds[:, place], (farthest, 2.0 * mean))
    bounds /= max(data.quasi.shape[1], 1)
    means = bounds.mean(axis=1)
    if sampled:
        means -= 2 * bounds.std(axis=1, ddof=1) / math.sqrt(len(records))
    return LossBound(max(float(means.max()), 0.0), len(records) if sampled else None)


@dataclass(frozen=True)
class _Caps:
    """The largest share of a group that each value of a column may have."""

    column: int
    shares: tuple[Fraction, ...]
    """Empty where there is no column."""

    @classmethod
    def of(cls, data: Microdata, column: int, requirements: Sequence[Requirement]) -> _Caps:
        prior = data.counts(column)
        shares = combine_ceilings(data, requirements, column)
        for requirement in requirements:
            if requirement.column == column and requirement.distance is Distance.EQUAL:
                # Half the sum of the differences is at least what one value has too much.
                allowed = [Fraction(int(count), data.n_rows) + requirement.bound for count in prior]
                shares = [min(pair) for pair in zip(shares, allowed, strict=True)]
        return cls(column, tuple(shares))

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        return np.array([float(share) for share in self.shares])

    def least_size(self, value: int) -> int:
        """Of a group that may hold the value at all."""
        return math.ceil(1 / self.shares[value]) if self.shares[value] > 0 else 1


def _distinct_values(requirement: Requirement) -> int:
    """Different values, and so records, that a group must have at least."""
    entropy = math.ceil(requirement.entropy) if requirement.entropy is not None else 1
    recursive = requirement.recursive[1] if requirement.recursive is not None else 1
    return max(requirement.distinct, entropy, recursive)


def _measure_nearest(distances: NDArray[np.float64], size: int, caps: _Caps, data: Microdata) -> tuple[float, float]:
    """Mean and largest distance of the nearest records with weight 1 in all, none above 1/size, under caps."""
    n_rows = len(distances)
    looked_at = min(n_rows, max(_FIRST_LOOK, 20 * size))
    while True:
        near = np.argpartition(distances, looked_at - 1)[:looked_at] if looked_at < n_rows else np.arange(n_rows)
        near = near[np.argsort(distances[near], kind="stable")]
        weights = np.full(len(near), 1.0 / size)
        if caps.shares:
            _cap(weights, data.sensitive[near, caps.column], caps.numbers)
        total = np.cumsum(weights)
        enough = int(np.searchsorted(total, 1.0 - 1e-9))
        if enough < len(near):
            break
        if looked_at == n_rows:
            # Rounding: all there is.
            enough = len(near) - 1
            break
        looked_at = min(n_rows, 4 * looked_at)
    weights[enough] -= max(total[enough] - 1.0, 0.0)
    return float(weights[: enough + 1] @ distances[near[: enough + 1]]), float(distances[near[enough]])


def _cap(weights: NDArray[np.float64], values: NDArray[np.int32], shares: NDArray[np.float64]) -> None:
    """Lower the weights, nearest first, so that those of a value add up to at most its share."""
    before = rank_within(values) * weights[0] if len(weights) else weights
    np.clip(shares[values] - before, 0.0, weights, out=weights)
