"""The largest difference of an association between two columns, in the original and in the release.

An association is Pearson's correlation of two measured columns (numbers, dates, orders), the correlation ratio (eta)
where one of them is a category, Cramer's V where both are. All three are read from the table of two columns, are at
most 1 in size, and compare original and release with the same parts. Other choices would do: these are known to most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lookalike.data.contracts import Compared
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.metrics.shared.expected import Parts, Shares, list_pairs
from lookalike.metrics.shared.metric import WrittenMetric


class Association(NamedTuple):
    """How strongly two columns go together, before and after."""

    columns: tuple[str, str]
    original: float
    release: float

    @property
    def difference(self) -> float:
        return abs(self.original - self.release)


class CorrelationDifference(WrittenMetric):
    """The largest difference of an association; not a number if there is only one column."""

    name = "correlation_difference"
    title = "largest change of a correlation"

    def measure(self, original: Microdata, release: Release) -> float:
        found = self.associations(original, release)
        return max((one.difference for one in found), default=float("nan"))

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        found = self.associations(original, release)
        if not found:
            return []
        worst = max(found, key=lambda one: one.difference)
        said = f"correlation of {worst.columns[0]} and {worst.columns[1]} (changed most)"
        return [Compared(self.name, said, worst.original, worst.release)]

    def associations(self, original: Microdata, release: Release) -> list[Association]:
        return [
            Association(
                (one.domain.name, other.domain.name), association(before, one, other), association(after, one, other)
            )
            for one, other, before, after in list_pairs(original, release)
        ]


def association(table: Shares, one: Parts, other: Parts) -> float:
    """Of two columns, from the shares of their combinations; missing counts for categories only."""
    if one.is_measured and one.domain.has_missing:
        table = table[:-1]
    if other.is_measured and other.domain.has_missing:
        table = table[:, :-1]
    table = table / max(float(table.sum()), 1e-300)
    if one.is_measured and other.is_measured:
        return _pearson(table, one.sizes[: len(table)], other.sizes[: table.shape[1]])
    if one.is_measured:
        return _eta(table.T, one.sizes[: len(table)])
    if other.is_measured:
        return _eta(table, other.sizes[: table.shape[1]])
    return _cramer(table)


def _pearson(table: Shares, one: Shares, other: Shares) -> float:
    first, second = table.sum(axis=1), table.sum(axis=0)
    one, other = one - first @ one, other - second @ other
    scale = float(np.sqrt((first @ one**2) * (second @ other**2)))
    return float(one @ table @ other) / scale if scale > 0 else 0.0


def _eta(table: Shares, sizes: Shares) -> float:
    """[categories, parts] the share of a measured column's spread that lies between categories, as a root."""
    groups, overall = table.sum(axis=1), table.sum(axis=0)
    sizes = sizes - overall @ sizes
    spread = float(overall @ sizes**2)
    means = np.divide(table @ sizes, groups, where=groups > 0, out=np.zeros(len(groups)))
    return float(np.sqrt(min(float(groups @ means**2) / spread, 1.0))) if spread > 0 else 0.0


def _cramer(table: Shares) -> float:
    first, second = table.sum(axis=1), table.sum(axis=0)
    table = table[np.ix_(first > 0, second > 0)]
    if min(table.shape, default=0) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    squared = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(min(squared / (min(table.shape) - 1), 1.0)))
