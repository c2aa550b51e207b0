"""MSBS: how large buckets are, where large ones count more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.metrics.shared.group_sizes import OfGroups


@dataclass(frozen=True)
class MeanSquaredBucketSize(OfGroups):
    """MSBS: the sum of (size - 1)^2 over the groups, divided by n - 1; 0 if every record stands alone."""

    name: ClassVar[str] = "msbs"
    title: ClassVar[str] = "Mean squared bucket size (MSBS)"
    axis: ClassVar[str | None] = "mean squared bucket size"

    def of_sums(self, n_groups: int, n_rows: int, squares: int) -> float:
        return (squares - 2 * n_rows + n_groups) / max(n_rows - 1, 1)
