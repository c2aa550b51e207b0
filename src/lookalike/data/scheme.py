"""A scheme: the domain of the quasi-identifiers cut into cells that do not overlap and leave nothing out.

Cells are fixed before a table is seen, so that several tables can be published in the same ones. Two kinds:

    full-domain    every column is cut at its own points; a cell is one part of each column
    cuts           parts are cut in two, again and again, each by one column (a k-d tree)

`parts` lists a tree of cuts in pre-order: a cut, then all of its first part, then all of its second part, which begins
at `start`. So no list of parts can overlap or leave a gap: a list that ends too early or too late is refused.

A record with values outside the declared domain is in an outer cell: the cell of its other values, with the column's
part replaced by below, above, other or missing (`axis`). Outer cells do not overlap any other cell either.

Locating n records costs O(n * depth).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.axis import INSIDE, PLACE_NAMES, Axis, Start
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Extents
from lookalike.data.schema import Schema
from lookalike.errors import SchemaError, counted, quoted, unknown_name

MOST_CELLS = 500_000
Slots = NDArray[np.int32]


@dataclass(frozen=True)
class Cut:
    """Cuts a part in two: the second part begins at `start`, in the order of the column's values."""

    column: str
    start: Start


@dataclass(frozen=True)
class Cell:
    """A part that is not cut any further."""

    records: int | None = None
    """At least so many records were in it when the scheme was made; rounded down."""


@dataclass(frozen=True, eq=False)
class Located:
    """The cells that a table's records lie in; cells without a record are not listed."""

    cell_of_record: NDArray[np.int32]
    names: tuple[str, ...]
    """One per cell, the same for every table."""
    lows: Slots
    """[cells, columns] the run of slots [low, high) of each column"""
    highs: Slots
    places: NDArray[np.uint8]
    """[cells, columns] an outer place, or inside"""
    n_outside: Mapping[tuple[str, int], int]
    """How many records lie outside the domain, by column and outer place."""

    @property
    def n_cells(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False, kw_only=True)
class Scheme:
    """Disjoint cells, the columns that they are about, and what is promised of what is published in them."""

    schema: Schema
    """Every quasi-identifier with its declared domain; sensitive and carried columns with their roles."""
    promises: tuple[str, ...] = ()
    adversary: str = READS_RELEASE
    parts: tuple[Cut | Cell, ...] = ()
    starts: Mapping[str, tuple[Start, ...]] | None = None
    """Full-domain: where each column is cut; columns that are not named are left whole."""
    made_by: str = ""
    """The method whose groups the cells come from; empty: written by hand."""
    axes: tuple[Axis, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.schema.quasi]
        if not names:
            raise SchemaError("The scheme names no quasi-identifier. Give some column the role quasi-identifier.")
        by_column: dict[str, list[Start]] = {name: [] for name in names}
        cuts = [part for part in self.parts if isinstance(part, Cut)]
        listed = [(name, start) for name, starts in (self.starts or {}).items() for start in starts]
        for name, start in (*((cut.column, cut.start) for cut in cuts), *listed):
            if name not in by_column:
                raise SchemaError(f"The scheme is cut by a column that it lacks. {unknown_name('column', name, names)}")
            by_column[name].append(start)
        axes = tuple(Axis.of(attribute, by_column[attribute.name]) for attribute in self.schema.quasi)
        object.__setattr__(self, "axes", axes)
        if self.starts is None:
            self._boxes  # noqa: B018  a scheme whose parts do not fit together is refused at once
        elif self.parts:
            raise SchemaError("A scheme has either cells or cuts of whole columns, not both. Leave out one of them.")
        else:
            self._grid  # noqa: B018

    @property
    def is_full_domain(self) -> bool:
        return self.starts is not None

    @property
    def n_cells(self) -> int:
        """How many cells there are without outer ones."""
        if self.starts is None:
            return len(self._boxes[0])
        return int(np.prod([len(starts) - 1 for starts in self._grid], dtype=object))

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {axis.name: place for place, axis in enumerate(self.axes)}

    @cached_property
    def _slot_cuts(self) -> list[tuple[int, int] | None]:
        """Each part as (column, slot at which its second part begins); None for cells."""
        return [
            (self._place_of[part.column], self.axes[self._place_of[part.column]].find_slot(part.start))
            if isinstance(part, Cut)
            else None
            for part in self.parts
        ]

    @cached_property
    def _boxes(self) -> tuple[Slots, Slots]:
        """[cells, columns] lows and highs of cells, in their order."""
        whole = [axis.n_all for axis in self.axes]
        open_parts = [([0] * len(whole), whole)]
        lows: list[list[int]] = []
        highs: list[list[int]] = []
        for cut in self._slot_cuts:
            if not open_parts:
                raise SchemaError("The cells of the scheme go on after its last part. Get the scheme again.")
            low, high = open_parts.pop()
            if cut is None:
                lows.append(low)
                highs.append(high)
                continue
            column, slot = cut
            if not low[column] < slot < high[column]:
                name = quoted(self.axes[column].name)
                raise SchemaError(f"The scheme cuts a part by column {name} where that part does not reach.")
            first, second = [*high], [*low]
            first[column] = second[column] = slot
            open_parts += [(second, high), (low, first)]
        if open_parts:
            raise SchemaError(f"The scheme lacks {counted(len(open_parts), 'part')} at its end. Get the scheme again.")
        return np.array(lows, dtype=np.int32), np.array(highs, dtype=np.int32)

    @cached_property
    def _grid(self) -> list[Slots]:
        """Full-domain: for each column the slots at which parts begin, and the end."""
        grid = []
        for axis in self.axes:
            slots = {axis.find_slot(start) for start in (self.starts or {}).get(axis.name, ())} - {0}
            grid.append(np.array(sorted({0, *slots, axis.n_all}), dtype=np.int32))
        return grid

    @property
    def records(self) -> tuple[int | None, ...]:
        """At least how many records each cell had, in the order of cells; empty for full-domain schemes."""
        return tuple(part.records for part in self.parts if isinstance(part, Cell))

    def locate(self, data: Microdata) -> Located:
        """The cell of each record of a table that was encoded under the scheme's columns."""
        placed = [
            axis.place(domain, data.quasi[:, column])
            for column, (axis, domain) in enumerate(zip(self.axes, data.domains.quasi, strict=True))
        ]
        slots = np.column_stack([slot for slot, _ in placed])
        places = np.column_stack([place for _, place in placed])
        if self.starts is None:
            base = self._descend(slots)
            lows, highs = self._boxes
            base_lows, base_highs = lows[base], highs[base]
            keys = base[:, None].astype(np.int32)
        else:
            keys = np.column_stack(
                [np.searchsorted(starts, slots[:, c], side="right") - 1 for c, starts in enumerate(self._grid)]
            ).astype(np.int32)
            base_lows = np.column_stack([starts[keys[:, c]] for c, starts in enumerate(self._grid)])
            base_highs = np.column_stack([starts[keys[:, c] + 1] for c, starts in enumerate(self._grid)])
        for column, axis in enumerate(self.axes):
            places[axis.holds_all(base_lows[:, column], base_highs[:, column]), column] = INSIDE
        rows = np.column_stack((keys, places.astype(np.int32)))
        distinct, firsts, cells = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        n_keys = keys.shape[1]
        outside = {
            (axis.name, place): int(count)
            for column, axis in enumerate(self.axes)
            for place, count in enumerate(np.bincount(places[:, column], minlength=len(PLACE_NAMES)))
            if place != INSIDE and count
        }
        return Located(
            cells.reshape(-1).astype(np.int32),
            tuple(self._name_cell(line[:n_keys], line[n_keys:]) for line in distinct.tolist()),
            np.ascontiguousarray(base_lows[firsts]),
            np.ascontiguousarray(base_highs[firsts]),
            np.ascontiguousarray(places[firsts]),
            outside,
        )

    def _descend(self, slots: Slots) -> NDArray[np.int64]:
        """The cell that each record falls into."""
        cell_of_record = np.zeros(len(slots), dtype=np.int64)
        open_parts = [np.arange(len(slots))]
        n_cells = 0
        for cut in self._slot_cuts:
            records = open_parts.pop()
            if cut is None:
                cell_of_record[records] = n_cells
                n_cells += 1
                continue
            column, slot = cut
            is_second = slots[records, column] >= slot
            open_parts += [records[is_second], records[~is_second]]
        return cell_of_record

    def _name_cell(self, keys: Sequence[int], places: Sequence[int]) -> str:
        outer = [f"{axis.name} {PLACE_NAMES[at]}" for axis, at in zip(self.axes, places, strict=True) if at != INSIDE]
        return ", ".join([".".join(map(str, keys)), *outer])

    def extents(self, domains: Sequence[Domain], located: Located) -> tuple[Extents, ...]:
        """What cells publish of each quasi-identifier, over a table's domains."""
        return tuple(
            axis.extents(domain, located.lows[:, c], located.highs[:, c], located.places[:, c])
            for c, (axis, domain) in enumerate(zip(self.axes, domains, strict=True))
        )

    def describe_outside(self, located: Located) -> tuple[str, ...]:
        """How many records lie outside the domain, in one sentence per column and place."""
        return tuple(
            f"{counted(count, 'record')} outside the scheme: {quoted(name)} {axis.describe_place(place)}."
            for (name, place), count in sorted(located.n_outside.items())
            for axis in [self.axes[self._place_of[name]]]
        )
