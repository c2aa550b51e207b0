"""Average group size: rows (or different persons) per group."""

from __future__ import annotations

from lookalike.metrics.shared.group_sizes import OfGroups


class AverageGroupSize(OfGroups):
    """Records by groups. Suppressed records are in no group, and do not count: this is a size, not a loss."""

    name = "average_group_size"
    title = "Average group size"

    def of_sums(self, n_groups: int, n_rows: int, squares: int, n_suppressed: int) -> float:
        return n_rows / n_groups
