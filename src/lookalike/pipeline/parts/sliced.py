"""Cells of which some are dealt out further: where no cut leaves both sides able to keep the promise by themselves.

A cell that keeps its promise by a hair cannot be cut between values, however many records it has. It is dealt out in
slices instead, each with every sensitive value in the cell's own proportion, near records together. The slices of a
cell share its box, so rows of one may look like rows of another: then there are more people to hide among than each
slice knows of, and the audit in parts errs on the side of caution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes
from lookalike.data.release import Release
from lookalike.pipeline.parts.boxes import Cells
from lookalike.pipeline.parts.slices import Slices


@dataclass(frozen=True, eq=False)
class SlicedCells:
    """Fits `contracts.Fragments`."""

    cells: Cells
    slices: Mapping[int, Slices]
    """By the number of the cell."""

    is_ranked = True

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first part of each cell, and the number of all parts."""
        each = [self.slices[cell].n_parts if cell in self.slices else 1 for cell in range(self.cells.n_parts)]
        return np.cumsum([0, *each])

    @property
    def n_parts(self) -> int:
        return int(self.firsts[-1])

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(
            size
            for cell, whole in enumerate(self.cells.sizes)
            for size in (self.slices[cell].sizes if cell in self.slices else (whole,))
        )

    def order(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        some = next(iter(self.slices.values()))
        strata, keys = some.order(codes)
        return self.cells.part_of(codes).astype(np.int64) * some.n_strata + strata, keys

    def part_of(self, codes: Codes, ranks: NDArray[np.int64] | None) -> NDArray[np.int32]:
        assert ranks is not None
        cell_of_record = self.cells.part_of(codes)
        parts = self.firsts[cell_of_record].astype(np.int32)
        for cell, slices in self.slices.items():
            here = np.flatnonzero(cell_of_record == cell)
            if len(here):
                parts[here] += slices.part_of(codes[here], ranks[here])
        return parts

    def strays(self, number: int, codes: Codes, release: Release) -> int:
        """How many records and groups do not lie in the box of the part's cell."""
        return self.cells.strays(int(np.searchsorted(self.firsts, number, side="right")) - 1, codes, release)
