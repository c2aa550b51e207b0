"""How much of each value is lost: NCP by cell, GCP over the table, and AIL, the measure of the beta-likeness paper.

    NCP   interval: (high - low) / (U - L);  set: (values - 1) / (domain size - 1);  in [0, 1]
    GCP   the mean of NCP over all published cells of quasi-identifiers, every column alike
    AIL   as GCP, but a set or taxonomy node of more than one value counts values / domain size

U, L and domain sizes come from the schema where it declares them, else from the original table; `Domain.declared` says
which. A cell that holds only missing values loses nothing: it says that the value was missing. An interval that may
also hide a missing value loses everything. In sets, missing is one more value. Exact quasi-identifiers lose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import DOMAINS
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Release
from lookalike.data.schema import Kind
from lookalike.metrics.shared.metric import MeanOverRows, WrittenMetric

Losses = NDArray[np.float64]


def _value_counts(domain: Domain, extents: Extents) -> Losses:
    """How many values each unit's cell allows (sets, orders and taxonomy nodes)."""
    if isinstance(extents, Ranges):
        return np.asarray(np.maximum(extents.highs - extents.lows + 1, 0) + extents.missing, dtype=np.float64)
    return extents.sizes.astype(np.float64)


def certainty_penalty(domain: Domain, extents: Extents) -> Losses:
    """NCP of each unit's cell."""
    if isinstance(extents, Ranges) and domain.taxonomy is None:
        lost = _interval_loss(domain, extents)
        mixed = extents.missing & (extents.highs >= extents.lows)
        return np.where(mixed, 1.0, lost)
    if domain.size <= 1:
        return np.zeros(len(extents))
    return np.maximum(_value_counts(domain, extents) - 1.0, 0.0) / (domain.size - 1)


def information_loss(domain: Domain, extents: Extents) -> Losses:
    """IL of each unit's cell: NCP for intervals; otherwise 0 for one value, else the share of the domain's values."""
    if isinstance(extents, Ranges) and domain.taxonomy is None:
        return certainty_penalty(domain, extents)
    counts = _value_counts(domain, extents)
    return np.where(counts <= 1, 0.0, counts / domain.size)


def _interval_loss(domain: Domain, extents: Ranges) -> Losses:
    span = domain.high - domain.low
    if domain.kind is Kind.ORDERED:
        span = float(domain.size - domain.has_missing - 1)
    if span <= 0:
        return np.zeros(len(extents))
    lengths = np.nan_to_num(extents.high_points - extents.low_points, nan=0.0)
    return np.clip(lengths / span, 0.0, 1.0)


def loss_by_column(release: Release, lost: Callable[[Domain, Extents], Losses] = certainty_penalty) -> dict[str, float]:
    """The mean loss of each quasi-identifier, by default NCP."""
    if not isinstance(release, Grouped | Matched):
        return {domain.name: 0.0 for domain in release.domains.quasi}
    sizes = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
    return {
        domain.name: float((lost(domain, extents) * sizes).sum() / max(release.n_rows, 1))
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
    }


def _mean(losses: dict[str, float]) -> float:
    return sum(losses.values()) / len(losses)


class ColumnLosses(NamedTuple):
    """The mean NCP of each quasi-identifier of one part, times its rows."""

    n_rows: int
    sums: dict[str, float]

    @classmethod
    def of(cls, release: Release) -> ColumnLosses:
        return cls(release.n_rows, {name: loss * release.n_rows for name, loss in loss_by_column(release).items()})


def join_columns(parts: Sequence[ColumnLosses]) -> dict[str, float]:
    """The mean NCP of each quasi-identifier of the whole."""
    n_rows = max(sum(part.n_rows for part in parts), 1)
    return {name: math.fsum(part.sums[name] for part in parts) / n_rows for name in parts[0].sums}


@dataclass(frozen=True)
class GlobalCertaintyPenalty(WrittenMetric):
    """The mean share of a quasi-identifier's domain that a published cell spans."""

    name: ClassVar[str] = "gcp"
    needs: ClassVar[str] = DOMAINS
    title: ClassVar[str] = "Mean loss over all quasi-identifier cells (GCP, 0 to 1)"
    axis: ClassVar[str | None] = "loss (GCP)"
    forms: ClassVar[frozenset[str] | None] = frozenset({Grouped.form, Matched.form})

    joins: ClassVar[bool] = True

    def measure(self, original: Microdata, release: Release) -> float:
        return _mean(loss_by_column(release))

    def of_part(self, original: Microdata, release: Release) -> ColumnLosses:
        return ColumnLosses.of(release)

    def join(self, parts: Sequence[ColumnLosses]) -> float:
        return _mean(join_columns(parts))


@dataclass(frozen=True)
class AverageInformationLoss(MeanOverRows):
    """The loss measure used with BUREL: taxonomy nodes count their leaves."""

    name: ClassVar[str] = "ail"
    needs: ClassVar[str] = DOMAINS
    title: ClassVar[str] = "Average information loss (AIL, 0 to 1)"
    axis: ClassVar[str | None] = "loss (AIL)"
    forms: ClassVar[frozenset[str] | None] = frozenset({Grouped.form, Matched.form})

    def measure(self, original: Microdata, release: Release) -> float:
        return _mean(loss_by_column(release, information_loss))
