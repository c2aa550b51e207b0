"""mondrian-strict: Mondrian's cuts, with all records of one value on the same side."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from lookalike.algorithms.mondrian import Mondrian


@dataclass(frozen=True)
class StrictMondrian(Mondrian):
    """Multidimensional cuts that keep records of one value together, so that groups do not overlap."""

    name: ClassVar[str] = "mondrian-strict"
    suits: ClassVar[Collection[str]] = ()
    strict: ClassVar[bool] = True
    cells_apart: ClassVar[bool] = True
