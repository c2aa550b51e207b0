"""How many records share each combination of quasi-identifiers, and what each column adds to that.

Codes are combined into one whole number a record and sorted; wide products are renumbered on the way, so nothing
overflows. One sort of n numbers, and one for each column over the distinct combinations: a second or two for a
million rows of eight columns.
"""

from __future__ import annotations

import math
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

    @classmethod
    def of(cls, columns: Sequence[Column], n_rows: int) -> Combinations:
        codes = [column.codes for column in columns]
        widths = tuple(len(column.values) + 1 for column in columns)
        order, starts = _runs(_keys(codes, widths, n_rows))
        firsts = order[starts]
        sizes = np.diff(starts, append=n_rows).astype(np.int64)
        return cls(sizes, tuple(column[firsts] for column in codes), widths)

    @property
    def n_unique(self) -> int:
        """Records that nobody shares their combination with."""
        return int(np.count_nonzero(self.sizes == 1))

    def n_unique_without(self, attr: int) -> int:
        """The same if that column were not known."""
        return self.n_unique_by([other for other in range(len(self.codes)) if other != attr])

    def n_unique_by(self, attrs: Sequence[int]) -> int:
        """The same if only those columns were known."""
        codes, widths = [self.codes[attr] for attr in attrs], [self.widths[attr] for attr in attrs]
        keys = _keys(codes, widths, len(self.sizes))
        if math.prod(widths) <= _COUNTED_AT_ONCE:
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
    """One whole number a row, equal exactly where all codes are equal."""
    keys = np.zeros(n_rows, dtype=np.int64)
    span = 1
    for column, width in zip(codes, widths, strict=True):
        if span > _LARGEST_KEY // width:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            span = int(keys.max(initial=0)) + 1
        keys *= width
        keys += column
        span *= width
    return keys


def _runs(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows ordered by key, and where each new key starts in that order."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    return order, starts
