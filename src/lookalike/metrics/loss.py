"""How much of each value is lost: NCP by cell, GCP over the table, and AIL, the measure of the beta-likeness paper.

    NCP   interval: (high - low) / (U - L);  set: (values - 1) / (domain size - 1);  in [0, 1]
    GCP   the mean of NCP over all published cells of quasi-identifiers, every column alike
    AIL   as GCP, but a set or taxonomy node of more than one value counts values / domain size

U, L and domain sizes come from the schema where it declares them, else from the original table; `Domain.declared` says
which. A cell that holds only missing values loses nothing: it says that the value was missing. An interval that may
also hide a missing value loses everything. In sets, missing is one more value. Exact quasi-identifiers lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import DOMAINS
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Release
from lookalike.data.schema import Kind

Losses = NDArray[np.float64]


def value_counts(domain: Domain, extents: Extents) -> Losses:
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
    return np.maximum(value_counts(domain, extents) - 1.0, 0.0) / (domain.size - 1)


def information_loss(domain: Domain, extents: Extents) -> Losses:
    """IL of each unit's cell: NCP for intervals; otherwise 0 for one value, else the share of the domain's values."""
    if isinstance(extents, Ranges) and domain.taxonomy is None:
        return certainty_penalty(domain, extents)
    counts = value_counts(domain, extents)
    return np.where(counts <= 1, 0.0, counts / domain.size)


def _interval_loss(domain: Domain, extents: Ranges) -> Losses:
    span = domain.high - domain.low
    if domain.kind is Kind.ORDERED:
        span = float(domain.size - domain.has_missing - 1)
    if span <= 0:
        return np.zeros(len(extents))
    lengths = np.nan_to_num(extents.high_points - extents.low_points, nan=0.0)
    return np.clip(lengths / span, 0.0, 1.0)


def _mean_over_rows(release: Grouped | Matched, by_unit: Losses) -> float:
    sizes = np.bincount(release.unit_of_row, minlength=len(by_unit))
    return float((by_unit * sizes).sum() / max(release.n_rows, 1))


def loss_by_column(release: Release) -> dict[str, float]:
    """The mean NCP of each quasi-identifier."""
    if not isinstance(release, Grouped | Matched):
        return {domain.name: 0.0 for domain in release.domains.quasi}
    return {
        domain.name: _mean_over_rows(release, certainty_penalty(domain, extents))
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
    }


@dataclass(frozen=True)
class GlobalCertaintyPenalty:
    """The mean share of a quasi-identifier's domain that a published cell spans."""

    name: ClassVar[str] = "gcp"
    needs: ClassVar[str] = DOMAINS

    def measure(self, release: Release, original: Microdata) -> float:
        losses = loss_by_column(release)
        return sum(losses.values()) / len(losses)


@dataclass(frozen=True)
class AverageInformationLoss:
    """The loss measure used with BUREL: taxonomy nodes count their leaves."""

    name: ClassVar[str] = "ail"
    needs: ClassVar[str] = DOMAINS

    def measure(self, release: Release, original: Microdata) -> float:
        if not isinstance(release, Grouped | Matched):
            return 0.0
        losses = [
            _mean_over_rows(release, information_loss(domain, extents))
            for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
        ]
        return sum(losses) / len(losses)
