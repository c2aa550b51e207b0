"""Average group size: rows per group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.metrics.shared.group_sizes import OfGroups


@dataclass(frozen=True)
class AverageGroupSize(OfGroups):
    """Records by groups."""

    name: ClassVar[str] = "average_group_size"
    title: ClassVar[str] = "Average group size"

    def of_sums(self, n_groups: int, n_rows: int, squares: int) -> float:
        return n_rows / n_groups
