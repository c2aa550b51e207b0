"""Columns that follow from a quasi-identifier: anyone who knows the province knows its population.

Such a column hides nothing that the quasi-identifier shows, and published exactly it would show what the
quasi-identifier hides. A column follows from another where each of its values has one value of the column, in so many
repeats that chance does not do it.

Cost: of so many quasi-identifiers at most, those of the fewest values, pairs of rows that agree in one are looked at in
every column; what differs in a pair is out, and what is left is checked on all rows. Linear in columns and in rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Column
from lookalike.errors import quoted

MOST_ASKED = 64
"""So many quasi-identifiers are asked whether other columns follow from them."""
_PAIRS = 32
_ROWS_FOR_PAIRS = 20_000
_CHANCE = 1e-9
"""By chance columns would agree as they do with at most this probability."""


@dataclass(frozen=True)
class Follows:
    """A column, and the quasi-identifier that it follows from."""

    column: str
    of: str
    both_ways: bool
    """Whether the quasi-identifier follows from the column too: two spellings of one thing."""

    @property
    def relation(self) -> str:
        return f"says the same as {quoted(self.of)}" if self.both_ways else f"follows from {quoted(self.of)}"

    @property
    def sentence(self) -> str:
        return f"{quoted(self.column)} {self.relation}"

    def to_plain(self) -> dict[str, Any]:
        return dict(vars(self))


def find_followers(columns: Sequence[Column], quasi: Sequence[str], names: Sequence[str]) -> tuple[Follows, ...]:
    """Of `names` the columns that follow from one of the quasi-identifiers, each from that of the fewest values."""
    by_name = {column.name: column for column in columns}
    asked = sorted((by_name[name] for name in quasi), key=lambda column: len(column.values))
    asked = [column for column in asked if 2 <= len(column.values) < len(column.codes)][:MOST_ASKED]
    open_columns = [column for column in map(by_name.__getitem__, names) if len(column.values) >= 2]
    if not asked or not open_columns:
        return ()
    pairs = [_pair_rows(column) for column in asked]
    # codes[column, 0 or 1, pair]: what the rows of each pair have in each column that may follow.
    rows = np.concatenate(pairs)
    codes = np.array([column.codes[rows.T] for column in open_columns], dtype=np.int32)
    agree, ends = codes[:, 0] == codes[:, 1], np.cumsum([len(each) for each in pairs])
    found: dict[str, Follows] = {}
    for column, first, last in zip(asked, [0, *ends[:-1]], ends, strict=True):
        if first == last:
            continue
        for place in np.flatnonzero(agree[:, first:last].all(axis=1)):
            other = open_columns[place]
            if other is column or other.name in found or not _follows(other, column):
                continue
            mutual = _follows(column, other)
            # Of two spellings of one thing the later one is named.
            if not (mutual and column.name in found):
                found[other.name] = Follows(other.name, column.name, mutual)
    return tuple(found[name] for name in names if name in found)


def _pair_rows(column: Column) -> NDArray[np.int64]:
    """Pairs of rows [pairs, 2] that agree in a column, of as many of its values as there are pairs."""
    known = np.flatnonzero(column.codes < len(column.values))
    known = known[:: -(-len(known) // _ROWS_FOR_PAIRS) or 1]
    order = known[np.argsort(column.codes[known], kind="stable")]
    same = np.flatnonzero(np.diff(column.codes[order]) == 0)
    same = same[:: -(-len(same) // _PAIRS) or 1]
    return np.column_stack((order[same], order[same + 1])).astype(np.int64)


def _follows(other: Column, column: Column) -> bool:
    """Whether each value of `column` has one value of `other`, more often than by chance."""
    known = column.codes < len(column.values)
    codes, values = column.codes[known], other.codes[known]
    first = np.full(len(column.values), -1, dtype=np.int64)
    first[codes] = values
    if not np.array_equal(first[codes], values):
        return False
    # A further row of a value agrees by chance with at most the share of the most frequent value.
    by_chance = int(np.bincount(values).max()) / len(values)
    n_further = len(codes) - len(np.unique(codes))
    return by_chance < 1 and n_further * math.log(by_chance) <= math.log(_CHANCE)
