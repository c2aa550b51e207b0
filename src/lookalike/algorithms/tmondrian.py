"""tmondrian: Mondrian as the paper on BUREL adapted it to t-closeness, to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.algorithms.mondrian import MedianCuts


@dataclass(frozen=True)
class TMondrian(MedianCuts):
    """Mondrian's median cuts while both halves keep t-closeness; to compare with."""

    name: ClassVar[str] = "tmondrian"
    model: ClassVar[str] = "t-closeness"
