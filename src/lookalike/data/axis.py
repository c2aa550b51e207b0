"""One quasi-identifier of a scheme: its domain as a row of slots, and what a run of slots publishes.

    numbers, dates      slot i begins at the i-th cut point; the first begins at low, the last ends at high
    other kinds         one slot per declared value, in the declared order (leaves of a taxonomy in the tree's order)
    missing             one more slot, the last, where the column may lack values

Values that the domain lacks lie in no slot. They are in one of four outer places: below, above, other, and missing
where no missing value was foreseen. Where a cell holds every value of a column that is no number, all these are inside.

What a cell publishes follows from the scheme alone. It never depends on which values a table has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data import taxonomy as taxonomies
from lookalike.data.microdata import Codes, Domain, parse_number
from lookalike.data.release import Extents, Ranges, Sets
from lookalike.data.schema import NUMBER_LIKE, Attribute, Kind, ValueType
from lookalike.data.taxonomy import MISSING, Taxonomy
from lookalike.errors import SchemaError, quoted

INSIDE, _BELOW, _ABOVE, _OTHERS, _LACKING = range(5)
PLACE_NAMES = ("inside", "below", "above", "other", "missing")

_WHOLE_STEPS = (ValueType.INTEGER, ValueType.DATE)
Start = int | float | str


@dataclass(frozen=True, eq=False)
class Axis:
    """One quasi-identifier; `points` are where slots of a column of numbers begin, after the first."""

    attribute: Attribute
    points: NDArray[Any]

    @classmethod
    def of(cls, attribute: Attribute, starts: Sequence[Start] = ()) -> Axis:
        """The axis of a declared column that is cut at `starts`; SchemaError if the domain is not declared."""
        where = f"Column {quoted(attribute.name)} of the scheme"
        if attribute.kind is None:
            raise SchemaError(f"{where} has no kind. Write kind: numeric, ordered or categorical.")
        axis = cls(attribute, np.zeros(0))
        if not axis.is_numeric:
            if axis._listed is None and attribute.taxonomy is None:
                raise SchemaError(f"{where} has no declared values. Write domain: {{values: [..]}}, order or taxonomy.")
            return axis
        if attribute.type not in NUMBER_LIKE:
            raise SchemaError(f"{where} is numeric. Write its type: integer, number, date or datetime.")
        if attribute.low is None or attribute.high is None:
            raise SchemaError(f"{where} has no declared domain. Write domain: {{low: .., high: ..}}.")
        low, high = axis.ends
        cut = sorted({axis.read_point(start) for start in starts if start != MISSING})
        if not low <= high or any(not low < point <= high for point in cut):
            raise SchemaError(f"{where} is cut outside its domain. Cut above its low value and up to its high value.")
        return cls(attribute, np.array(cut, dtype=np.int64 if attribute.type is not ValueType.NUMBER else np.float64))

    @property
    def name(self) -> str:
        return self.attribute.name

    @property
    def is_numeric(self) -> bool:
        return self.attribute.kind is Kind.NUMERIC and self.attribute.taxonomy is None

    @property
    def has_steps(self) -> bool:
        """Whether neighbouring values differ by 1: whole numbers and days."""
        return self.attribute.type in _WHOLE_STEPS

    @cached_property
    def tree(self) -> Taxonomy | None:
        if self.attribute.taxonomy is None:
            return None
        return taxonomies.build(self.attribute.taxonomy, [], [], column=self.name, with_missing=False)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The declared values of a column that is no number, in their order."""
        return self.tree.leaves if self.tree is not None else self._listed or ()

    @property
    def _listed(self) -> tuple[str, ...] | None:
        return self.attribute.order if self.attribute.kind is Kind.ORDERED else self.attribute.values

    @cached_property
    def ends(self) -> tuple[int | float, int | float]:
        assert self.attribute.low is not None
        assert self.attribute.high is not None
        return self.read_point(self.attribute.low), self.read_point(self.attribute.high)

    @property
    def n_slots(self) -> int:
        """Slots of values; a slot for missing ones comes after them."""
        return len(self.points) + 1 if self.is_numeric else len(self.values)

    @property
    def n_all(self) -> int:
        return self.n_slots + self.attribute.missing

    def read_point(self, written: Start) -> int | float:
        """A number or date as written in a scheme, on the column's axis; SchemaError if it is none."""
        type = self.attribute.type
        try:
            if type is ValueType.INTEGER and float(written) != int(written):
                raise ValueError
            number = int(written) if type is ValueType.INTEGER else parse_number(str(written), type or ValueType.NUMBER)
            if not np.isfinite(number) or abs(number) > 2.0**53:
                raise ValueError
        except (ValueError, TypeError, OverflowError):
            raise SchemaError(
                f"Column {quoted(self.name)} of the scheme: {quoted(str(written))} is no value of type {type}."
            ) from None
        return number if type is ValueType.NUMBER else int(number)

    def find_slot(self, start: Start) -> int:
        """The slot that begins at a value (of a taxonomy also: at a node)."""
        if start == MISSING and self.attribute.missing:
            return self.n_slots
        if self.is_numeric:
            return int(np.searchsorted(self.points, self.read_point(start))) + 1
        if self.tree is not None and (node := self.tree.node(str(start))) is not None:
            return int(self.tree.firsts[node])
        if self.tree is None and str(start) in self._slot_of:
            return self._slot_of[str(start)]
        raise SchemaError(f"Column {quoted(self.name)} of the scheme is cut at a value that its domain does not list.")

    @cached_property
    def _slot_of(self) -> dict[str, int]:
        return {text: slot for slot, text in enumerate(self.values)}

    def place(self, domain: Domain, codes: Codes) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The slot of each record, and its outer place; a record outside is in a slot all the same."""
        slots = np.zeros(domain.missing_code + 1, dtype=np.int32)
        places = np.zeros(domain.missing_code + 1, dtype=np.uint8)
        if self.is_numeric:
            low, high = self.ends
            slots[:-1] = np.searchsorted(self.points, domain.values, side="right")
            places[:-1] = np.where(domain.values < low, _BELOW, np.where(domain.values > high, _ABOVE, INSIDE))
        else:
            # The first code stands for all values that the domain lacks.
            others = int(self.attribute.others)
            slots[others:-1] = np.arange(len(self.values))
            places[:others] = _OTHERS
        slots[-1] = self.n_slots if self.attribute.missing else 0
        places[-1] = INSIDE if self.attribute.missing else _LACKING
        return slots[codes], places[codes]

    def holds_all(self, lows: NDArray[Any], highs: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether runs of slots hold every value, also those that the domain lacks. Never true of numbers."""
        if self.is_numeric or self.attribute.kind is Kind.ORDERED:
            return np.zeros(len(lows), dtype=bool)
        return np.asarray((lows == 0) & (highs == self.n_all))

    def extents(self, domain: Domain, lows: NDArray[Any], highs: NDArray[Any], places: NDArray[np.uint8]) -> Extents:
        """What cells publish: runs of slots [low, high), or an outer place."""
        lacking = (places == _LACKING) | ((places == INSIDE) & (highs > self.n_slots))
        highs = np.minimum(highs, self.n_slots)
        if self.is_numeric:
            return self._intervals(domain, lows, highs, places, lacking)
        others = int(self.attribute.others)
        firsts = np.where(places == _OTHERS, 0, lows + others)
        lasts = np.where(places == _OTHERS, 0, highs + others - 1)
        firsts, lasts = np.where(places == _LACKING, 1, firsts), np.where(places == _LACKING, 0, lasts)
        everything = (places == INSIDE) & self.holds_all(lows, highs + (lacking & self.attribute.missing))
        if domain.taxonomy is not None:
            firsts = np.where(lacking & (lasts < firsts), domain.missing_code, firsts)
            lasts = np.where(lacking, domain.missing_code, lasts)
            firsts = np.where(everything, 0, firsts)
            lasts = np.where(everything, domain.n_codes - 1, lasts)
            return Ranges.of(domain, firsts.astype(np.int32), lasts.astype(np.int32))
        if domain.in_ranges:
            empty = lasts < firsts
            firsts, lasts = np.where(empty, 0, firsts), np.where(empty, -1, lasts)
            return Ranges.of(domain, firsts.astype(np.int32), lasts.astype(np.int32), lacking)
        every_code = np.arange(domain.n_codes, dtype=np.int32)
        members = [
            every_code if whole else np.append(every_code[first : last + 1], every_code[domain.missing_code :][:lacks])
            for first, last, lacks, whole in zip(firsts, lasts, lacking.astype(int), everything, strict=True)
        ]
        starts = np.cumsum([0, *map(len, members)]).astype(np.int64)
        return Sets(starts, np.concatenate([*members, every_code[:0]]).astype(np.int32))

    def _intervals(
        self,
        domain: Domain,
        lows: NDArray[Any],
        highs: NDArray[Any],
        places: NDArray[np.uint8],
        lacking: NDArray[np.bool_],
    ) -> Ranges:
        """Both ends included. Where values have no steps, neighbouring cells share the end that parts them."""
        low, high = self.ends
        step = 1 if self.has_steps else 0
        begins, ends = np.array([low, *self.points.tolist()]), np.array([*(self.points - step).tolist(), high])
        empty = (lows >= self.n_slots) | (places == _LACKING)
        from_point = begins[np.where(empty, 0, lows)].astype(np.float64)
        to_point = ends[np.where(empty, 0, highs - 1)].astype(np.float64)
        from_point = np.where(places == _BELOW, -np.inf, np.where(places == _ABOVE, float(high) + step, from_point))
        to_point = np.where(places == _ABOVE, np.inf, np.where(places == _BELOW, float(low) - step, to_point))
        firsts = np.searchsorted(domain.values, from_point, side="left")
        lasts = np.searchsorted(domain.values, to_point, side="right") - 1
        return Ranges(
            np.where(empty, 0, firsts).astype(np.int32),
            np.where(empty, -1, lasts).astype(np.int32),
            lacking,
            np.where(empty, np.nan, from_point),
            np.where(empty, np.nan, to_point),
        )

    def describe_place(self, place: int) -> str:
        """An outer place in words: "below 18"."""
        if place == _BELOW:
            return f"below {self.attribute.low}"
        if place == _ABOVE:
            return f"above {self.attribute.high}"
        return "other than the declared values" if place == _OTHERS else "missing"
