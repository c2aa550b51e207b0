"""Discernibility: the sum of squared group sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.metrics.shared.group_sizes import OfGroups


@dataclass(frozen=True)
class Discernibility(OfGroups):
    """The sum of squared group sizes: each record is charged the number of records it looks like."""

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility (sum of squared group sizes)"

    def of_sums(self, n_groups: int, n_rows: int, squares: int) -> float:
        return float(squares)
