"""How many records share each combination of quasi-identifiers, and what each column adds to that.

Codes are combined into one whole number per record and sorted; wide products are renumbered on the way, so nothing
overflows. One sort of n numbers, and one for each column over the distinct combinations: a second or two for a
million rows of eight columns. What is left without each single column is found by halves (without the right half, then
without a quarter ...), so m columns are combined m log m times, and not m * m times; where the others already tell all
combinations apart, the columns of a half are not looked at one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Column

_LARGEST_KEY = 1 << 62
_COUNTED_AT_ONCE = 1 << 22
"""Combinations of so many are counted in one array; sorting takes longer."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """The distinct combinations of some columns."""

    sizes: NDArray[np.int64]
    """How many records have each."""
    codes: tuple[Codes, ...]
    """For each column its code in each combination."""
    widths: tuple[int, ...]
    """For each column how many codes it can have."""
    numbers: NDArray[np.int64]
    """For each record the number of its combination."""

    @classmethod
    def of(cls, columns: Sequence[Column], n_rows: int) -> Combinations:
        codes = [column.codes for column in columns]
        widths = tuple(len(column.values) + 1 for column in columns)
        order, starts = _runs(_keys(codes, widths, n_rows))
        firsts = order[starts]
        sizes = np.diff(starts, append=n_rows).astype(np.int64)
        numbers = np.empty(n_rows, dtype=np.int64)
        numbers[order] = np.repeat(np.arange(len(sizes)), sizes)
        return cls(sizes, tuple(column[firsts] for column in codes), widths, numbers)

    @property
    def n_unique(self) -> int:
        """Records that nobody shares their combination with."""
        return int(np.count_nonzero(self.sizes == 1))

    def count_unique_without_each(self) -> list[int]:
        """For each column the same if it were not known."""
        found = [self.n_unique] * len(self.codes)
        # Columns from first to before last, and the combinations of all others.
        open_parts = [(0, len(self.codes), np.zeros(len(self.sizes), dtype=np.int64), 1)]
        while open_parts:
            first, last, keys, span = open_parts.pop()
            if last - first == 1:
                found[first] = self._count_unique(keys, span)
            elif last > first:
                middle = (first + last) // 2
                for kept, left_out in (((middle, last), (first, middle)), ((first, middle), (middle, last))):
                    part, width = keys, span
                    for attr in range(*kept):
                        part, width = _combine(part, width, self.codes[attr], self.widths[attr])
                    if width < len(self.sizes) or len(np.unique(part)) < len(self.sizes):
                        open_parts.append((*left_out, part, width))
        return found

    def n_unique_by(self, attrs: Sequence[int]) -> int:
        """The same if only those columns were known."""
        keys, span = np.zeros(len(self.sizes), dtype=np.int64), 1
        for attr in attrs:
            keys, span = _combine(keys, span, self.codes[attr], self.widths[attr])
        return self._count_unique(keys, span)

    def n_unique_with(self, column: Column) -> int:
        """The same if another column were known too."""
        shared = self.sizes[self.numbers] > 1
        keys, span = _combine(self.numbers[shared], len(self.sizes) or 1, column.codes[shared], len(column.values) + 1)
        return self.n_unique + int(np.count_nonzero(np.diff(_runs(keys)[1], append=len(keys)) == 1))

    def _count_unique(self, keys: NDArray[np.int64], span: int) -> int:
        if span <= _COUNTED_AT_ONCE:
            merged = np.bincount(keys, weights=self.sizes)
        else:
            order, starts = _runs(keys)
            merged = np.add.reduceat(self.sizes[order], starts) if len(starts) else self.sizes
        return int(np.count_nonzero(merged == 1))

    def n_records_below(self, size: int) -> int:
        """Records that share their combination with fewer than `size` records, themselves included."""
        return int(self.sizes[self.sizes < size].sum())

    def median_size(self) -> int:
        """Half of all records share their combination with at most so many, themselves included."""
        if not len(self.sizes):
            return 0
        ordered = np.sort(self.sizes)
        return int(ordered[np.searchsorted(2 * np.cumsum(ordered), ordered.sum())])


def _keys(codes: Sequence[Codes], widths: Sequence[int], n_rows: int) -> NDArray[np.int64]:
    """One whole number per row, equal exactly where all codes are equal."""
    keys, span = np.zeros(n_rows, dtype=np.int64), 1
    for column, width in zip(codes, widths, strict=True):
        keys, span = _combine(keys, span, column, width)
    return keys


def _combine(keys: NDArray[np.int64], span: int, codes: Codes, width: int) -> tuple[NDArray[np.int64], int]:
    """Keys below `span` and codes below `width` as one key each, and what these are below."""
    if span > _LARGEST_KEY // width:
        keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        span = int(keys.max(initial=0)) + 1
        if span == len(keys):
            # All differ already.
            return keys, span
    return keys * width + codes, span * width


def _runs(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows ordered by key, and where each new key starts in that order."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    return order, starts
