"""Text columns with a long tail of rare values as quasi-identifiers: what to do with them, in words one can copy.

Without groups per cell lists values, and a group of rows from a long tail lists dozens: cells that nobody reads, or,
above the limit (`longest_set`), cells that say nothing (`*`). Free text is worse: nearly every value is one person's,
and is printed. So such a column gets a caution with the ways out that suit it: leave it out, keep the first
characters of codes, or keep the names of frequent values and publish all others as (other).

Only counts are looked at and said, never a value. Cost: one look at each different value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import LONGEST_SET, Column, Table, texts_of
from lookalike.data.release import Grouped, Matched, Release, Sets
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.data.suspect_codes import count_values
from lookalike.errors import counted, quoted

_FREE_SHARE, _FREE_LENGTH = 0.5, 25
"""Of free text: so many of the rows have their own value, or values have so many characters on average."""
_FEW_VALUES = 50
_SHORTEST, _LONGEST_CODE = 3, 12
_LEAST_FREQUENT, _MOST_FREQUENT = 5, 20
_LEAST_COVERED = 0.2
_ENOUGH_ROWS = 50
_TIME_OF_DAY = re.compile(r"[0-2][0-9]:[0-5][0-9](?::[0-5][0-9])?")


@dataclass(frozen=True)
class LongTail:
    """A quasi-identifier whose values are many and mostly rare."""

    column: str
    n_values: int
    alone: float
    """Share of the rows whose value no other row has."""
    is_free_text: bool
    prefixes: tuple[int, ...]
    """First characters that group the values; empty: these do not group them."""
    frequent: int
    """Values of so many rows would keep their names; 0: too few rows have such a value."""
    n_kept: int
    covered: float
    """Share of the rows that have one of those."""

    @property
    def sentence(self) -> str:
        flag = self.column if self.column.isidentifier() else quoted(self.column)
        what = "is free text" if self.is_free_text else "has a long tail"
        said = (
            f"The quasi-identifier {quoted(self.column)} {what}: {counted(self.n_values, 'value')}, and "
            f"{self.alone:.0%} of the rows have one of their own. Cells list values, and those that would list more "
            f"than {LONGEST_SET} become *."
        )
        ways = ["leave the column out, unless readers need it"] if self.is_free_text else []
        if self.prefixes:
            ways.append(f"keep first characters: taxonomy: {{prefixes: {list(self.prefixes)}}} in a schema")
        if self.frequent:
            ways.append(
                f"keep frequent values and publish all others as (other): --frequent {flag}={self.frequent} keeps "
                f"{counted(self.n_kept, 'value')}, which {self.covered:.0%} of the rows have"
            )
        if not ways:
            ways.append("leave the column out, or group its values in a schema (taxonomy: {tree: ...})")
        return f"{said} Better: {'; or '.join(ways)}."


def find_long_tail(column: Column, counts: NDArray[np.int64], attribute: Attribute | None) -> LongTail | None:
    """The column as one with a long tail, or None; `attribute`: what a schema says of it."""
    is_plain = attribute is None or (
        attribute.taxonomy is None
        and attribute.order is None
        and attribute.values is None
        and attribute.kind in (None, Kind.CATEGORICAL)
    )
    is_categorical = column.type is ValueType.STRING or (attribute is not None and attribute.kind is Kind.CATEGORICAL)
    n_rows = int(counts.sum())
    if not is_plain or not is_categorical or len(column.values) <= _FEW_VALUES or n_rows < _ENOUGH_ROWS:
        return None
    texts = texts_of(column.values, column.type)
    alone = float(counts[counts == 1].sum() / n_rows)
    prefixes = _find_prefixes(texts)
    length = float(np.mean([len(text) for text in texts]))
    is_free = not prefixes and (alone >= _FREE_SHARE or length >= _FREE_LENGTH)
    least = max(_LEAST_FREQUENT, min(_MOST_FREQUENT, n_rows // 100))
    kept = counts >= least
    covered = float(counts[kept].sum() / n_rows)
    is_enough = covered >= _LEAST_COVERED and int(kept.sum()) > 1
    if not is_free and not prefixes and alone == 0 and not is_enough:
        return None
    return LongTail(
        column=column.name,
        n_values=len(texts),
        alone=alone,
        is_free_text=is_free,
        prefixes=prefixes,
        frequent=least if is_enough else 0,
        n_kept=int(kept.sum()) if is_enough else 0,
        covered=covered if is_enough else 0.0,
    )


def _find_prefixes(texts: list[str]) -> tuple[int, ...]:
    """Numbers of first characters that group codes of one length into fewer and fewer groups; fewest last.

    The first two of a time of day (08:15) are its hour.

    >>> _find_prefixes([f"{number:05d}" for number in range(80000, 80999, 3)])
    (4, 3)
    """
    if all(map(_TIME_OF_DAY.fullmatch, texts)):
        return (2,) if len(texts) > 2 * len({text[:2] for text in texts}) > 2 else ()
    length = len(texts[0])
    is_code = all(len(text) == length and text.isascii() and text.isalnum() for text in texts)
    if not is_code or not _SHORTEST <= length <= _LONGEST_CODE or not any(map(str.isdigit, "".join(texts))):
        return ()
    found: list[int] = []
    before = len(texts)
    for level in range(length - 1, 0, -1):
        n_groups = len({text[:level] for text in texts})
        if n_groups <= before / 2 and n_groups > 1:
            found.append(level)
            before = n_groups
        if len(found) == 2:
            break
    return tuple(found)


def note_long_tails(table: Table, schema: Schema) -> tuple[str, ...]:
    """A sentence per quasi-identifier with a long tail."""
    quasi = {attribute.name: attribute for attribute in schema.quasi}
    columns = ((column, count_values(column), quasi[column.name]) for column in table.columns if column.name in quasi)
    return note_tails(columns)


def note_tails(columns: Iterable[tuple[Column, NDArray[np.int64], Attribute]]) -> tuple[str, ...]:
    """The same of columns with the rows that have each value, and what a schema says of them."""
    found = (
        find_long_tail(column, counts, attribute)
        for column, counts, attribute in columns
        if attribute.role is Role.QUASI
    )
    return tuple(tail.sentence for tail in found if tail is not None)


def describe_wide_cells(release: Release) -> tuple[str, ...]:
    """How many rows have a cell that says nothing because it would list too many values, a sentence per column."""
    if not isinstance(release, Grouped | Matched):
        return ()
    said = []
    rows = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
    for domain, extents in zip(release.domains.quasi, release.extents, strict=True):
        if not isinstance(extents, Sets) or domain.longest_set >= domain.n_codes:
            continue
        wide = int(rows[extents.sizes == domain.n_codes].sum())
        if wide:
            said.append(
                f"Column {quoted(domain.name)}: {wide / max(release.n_rows, 1):.0%} of the rows show *, since their "
                f"cell would list more than {counted(domain.longest_set, 'value')} (--longest-set). Groups of values "
                "lose less: a taxonomy by first characters, by frequency, or a tree."
            )
    return tuple(said)
