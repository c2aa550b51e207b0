"""Discernibility: the sum of squared group sizes."""

from __future__ import annotations

from lookalike.metrics.shared.group_sizes import OfGroups


class Discernibility(OfGroups):
    """The sum of squared group sizes: each record is charged the number of records it looks like."""

    name = "discernibility"
    title = "Discernibility (sum of squared group sizes)"

    def of_sums(self, n_groups: int, n_rows: int, squares: int) -> float:
        return float(squares)
