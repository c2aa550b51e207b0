"""How much of each published cell is lost: NCP, by cell and by column.

    interval: (high - low) / (U - L);  set: (values - 1) / (domain size - 1);  in [0, 1]

U, L and domain sizes come from the schema where it declares them, else from the original table; `Domain.declared` says
which. "(other)" counts as all the values that it stands for. A cell that holds only missing values loses nothing: it
says that the value was missing. An interval that may also hide a missing value loses everything. In sets, missing is
one more value. Exact quasi-identifiers lose nothing. A suppressed row loses everything, in every column.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Release
from lookalike.data.schema import Kind

Losses = NDArray[np.float64]


def count_values(domain: Domain, extents: Extents) -> Losses:
    """How many values each unit's cell allows (sets, orders and taxonomy nodes)."""
    if isinstance(extents, Ranges):
        return np.asarray(np.maximum(extents.highs - extents.lows + 1, 0) + extents.missing, dtype=np.float64)
    sizes = extents.sizes.astype(np.float64)
    if domain.n_outside > 1:
        # "(other)", the first value, stands for all those that the domain does not name.
        unit = np.repeat(np.arange(len(sizes)), extents.sizes)
        sizes[unit[extents.members == 0]] += domain.n_outside - 1
    return sizes


def certainty_penalty(domain: Domain, extents: Extents) -> Losses:
    """NCP of each unit's cell."""
    if isinstance(extents, Ranges) and domain.taxonomy is None:
        lost = _interval_loss(domain, extents)
        mixed = extents.missing & (extents.highs >= extents.lows)
        return np.where(mixed, 1.0, lost)
    if domain.size <= 1:
        return np.zeros(len(extents))
    return np.maximum(count_values(domain, extents) - 1.0, 0.0) / (domain.size - 1)


def _interval_loss(domain: Domain, extents: Ranges) -> Losses:
    span = domain.high - domain.low
    if domain.kind is Kind.ORDERED:
        span = float(domain.size - domain.has_missing - 1)
    if span <= 0:
        return np.zeros(len(extents))
    lengths = np.nan_to_num(extents.high_points - extents.low_points, nan=0.0)
    return np.clip(lengths / span, 0.0, 1.0)


def loss_by_column(release: Release, lost: Callable[[Domain, Extents], Losses] = certainty_penalty) -> dict[str, float]:
    """The mean loss of each quasi-identifier, by default NCP, over all rows, published and suppressed."""
    if not isinstance(release, Grouped | Matched):
        return {domain.name: with_suppressed(0.0, release) for domain in release.domains.quasi}
    sizes = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
    return {
        domain.name: with_suppressed(float((lost(domain, extents) * sizes).sum() / max(release.n_rows, 1)), release)
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
    }


def count_records(release: Release) -> int:
    """Rows that losses are means over: those that are published, and those that are suppressed."""
    return release.n_rows + release.withheld.n_suppressed


def with_suppressed(mean: float, release: Release) -> float:
    """A mean loss over published rows as one over all rows, in which each suppressed row has lost 1."""
    n_suppressed = release.withheld.n_suppressed
    if not n_suppressed:
        return mean
    return (mean * release.n_rows + n_suppressed) / count_records(release)


def mean_loss(losses: dict[str, float]) -> float:
    return sum(losses.values()) / len(losses)
