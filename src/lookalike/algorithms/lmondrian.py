"""lmondrian: Mondrian as the paper on BUREL adapted it to beta-likeness, to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.algorithms.mondrian import MedianCuts


@dataclass(frozen=True)
class LMondrian(MedianCuts):
    """Mondrian's median cuts while both halves keep beta-likeness; to compare with."""

    name: ClassVar[str] = "lmondrian"
    model: ClassVar[str] = "beta-likeness"
