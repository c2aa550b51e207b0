"""The losses of a release that was made in parts, from sums that each part hands on; no part sees another.

What is handed on, and how it is joined, each metric says itself. The figures are those of the whole release, up to the
rounding of floats, where no group has rows in two parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookalike.data.contracts import Metric
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import RecipeError
from lookalike.metrics.loss import ColumnLosses, join_columns


@dataclass(frozen=True)
class PartLosses:
    """What the losses of the whole need of one part: a few sums."""

    columns: ColumnLosses
    metrics: Mapping[str, Any]
    """For each metric that joins, what its `of_part` says."""

    @classmethod
    def of(cls, release: Release, original: Microdata, kinds: Iterable[type[Metric]]) -> PartLosses:
        handed_on = {kind.name: kind().of_part(release, original) for kind in kinds if kind.joins}
        return cls(ColumnLosses.of(release), handed_on)


def join_losses(
    parts: Sequence[PartLosses], kinds: Iterable[type[Metric]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Every metric that applies, by name, and the loss of each column: what `pipeline.measure` says of one release."""
    if not parts:
        raise RecipeError("There is no part to join. A release has at least one.")
    losses = {kind.name: kind().join([part.metrics[kind.name] for part in parts]) for kind in kinds if kind.joins}
    known = {name: loss for name, loss in losses.items() if not math.isnan(loss)}
    return known, join_columns([part.columns for part in parts])
