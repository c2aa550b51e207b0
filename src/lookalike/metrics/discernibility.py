"""Discernibility: the sum of squared group sizes, and the size of the table for every suppressed row."""

from __future__ import annotations

from lookalike.metrics.shared.group_sizes import OfGroups


class Discernibility(OfGroups):
    """The sum of squared group sizes: each record is charged the number of records it looks like.

    A suppressed record is charged the size of the table, as in the paper.
    """

    name = "discernibility"
    title = "Discernibility (sum of squared group sizes)"

    def of_sums(self, n_groups: int, n_rows: int, squares: int, n_suppressed: int) -> float:
        return float(squares + n_suppressed * (n_rows + n_suppressed))
