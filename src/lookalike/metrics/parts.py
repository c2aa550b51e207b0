"""The losses of a release that was made in parts, from sums that each part hands on; no part sees another.

Means over cells and rows are sums by rows; group sizes enter as numbers, sums and sums of squares, in whole numbers. So
the figures are those of the whole release, up to the rounding of floats, where no group has rows in two parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import RecipeError
from lookalike.metrics.group_sizes import AverageGroupSize, Discernibility, MeanSquaredBucketSize, group_sizes
from lookalike.metrics.loss import AverageInformationLoss, GlobalCertaintyPenalty, loss_by_column
from lookalike.metrics.values_changed import ValuesChanged


@dataclass(frozen=True)
class PartLosses:
    """What the losses of the whole need of one part: a few sums."""

    n_rows: int
    n_records: int
    by_column: Mapping[str, float]
    """The loss of each quasi-identifier, summed over rows."""
    information: float
    """AIL, summed over rows."""
    n_groups: int
    n_in_groups: int
    squares: int
    """The sum of squared group sizes."""
    changed: float | None
    """Expected number of changed values, the mean over redrawn columns; None if no column was redrawn."""

    @classmethod
    def of(cls, release: Release, original: Microdata) -> PartLosses:
        sizes = group_sizes(release).astype(np.int64)
        changed = ValuesChanged().measure(release, original) if original.n_rows else math.nan
        return cls(
            n_rows=release.n_rows,
            n_records=original.n_rows,
            by_column={name: loss * release.n_rows for name, loss in loss_by_column(release).items()},
            information=AverageInformationLoss().measure(release, original) * release.n_rows,
            n_groups=len(sizes),
            n_in_groups=int(sizes.sum()),
            squares=int((sizes**2).sum()),
            changed=None if math.isnan(changed) else changed * original.n_rows,
        )


def joined_losses(parts: Sequence[PartLosses]) -> tuple[dict[str, float], dict[str, float]]:
    """Every metric that applies, by name, and the loss of each column: what `pipeline.measure` says of one release."""
    if not parts:
        raise RecipeError("There is no part to join. A release has at least one.")
    n_rows = max(sum(part.n_rows for part in parts), 1)
    by_column = {name: math.fsum(part.by_column[name] for part in parts) / n_rows for name in parts[0].by_column}
    losses = {
        GlobalCertaintyPenalty.name: sum(by_column.values()) / len(by_column),
        AverageInformationLoss.name: math.fsum(part.information for part in parts) / n_rows,
    }
    n_groups = sum(part.n_groups for part in parts)
    if n_groups:
        n_in_groups, squares = sum(part.n_in_groups for part in parts), sum(part.squares for part in parts)
        losses[Discernibility.name] = float(squares)
        losses[AverageGroupSize.name] = n_in_groups / n_groups
        # The sum of (size - 1)^2 over the groups.
        losses[MeanSquaredBucketSize.name] = (squares - 2 * n_in_groups + n_groups) / max(n_in_groups - 1, 1)
    changed = [part.changed for part in parts if part.changed is not None]
    if changed:
        losses[ValuesChanged.name] = math.fsum(changed) / max(sum(part.n_records for part in parts), 1)
    return losses, by_column
