"""Average group size: rows (or different persons) per group."""

from __future__ import annotations

from lookalike.metrics.shared.group_sizes import OfGroups


class AverageGroupSize(OfGroups):
    """Records by groups."""

    name = "average_group_size"
    title = "Average group size"

    def of_sums(self, n_groups: int, n_rows: int, squares: int) -> float:
        return n_rows / n_groups
