"""Rows that are no person's: a last line "Total" that adds up others, and empty rows, as spreadsheets have them.

A row is noticed if a text says so (Total, Sum, All, Gesamt ...) and one of its numbers is the sum of the rows that do
not say so, of the whole table or of the rows that share a value with it; or if it is the last row and the word can mean
little else; or if it is the last row and most of its numbers are the sums of all rows above. Published, it would
count as a person, and its numbers would stretch every range. Cost: one pass over the numbers of the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Column, Table
from lookalike.data.schema import ValueType
from lookalike.errors import quoted

_TOTALS = """
total totals grand_total subtotal sub-total sum_total gesamt insgesamt gesamtsumme totale totaal somme_totale
total_general
"""
_SUMS = "sum all overall summe alle ensemble tous somma suma todos som alles"
_SURE = frozenset(_TOTALS.split())
_WORDS = _SURE.union(_SUMS.split())
"""In small letters; a line below stands for a space."""
_NUMBERS = (ValueType.INTEGER, ValueType.NUMBER)
_MOST_SHARE = 0.05
"""Of the rows: a word in more of them is a category."""
_LEAST_ROWS = 5
_MOST_LISTED = 3


@dataclass(frozen=True)
class TotalRows:
    """Rows that seem to be totals."""

    rows: tuple[int, ...]
    """From 1 on, the header not counted."""
    n_rows: int
    """Of the table."""
    label: str
    """The column whose text says so; empty: none does."""
    sums: tuple[str, ...]
    """Columns whose numbers are sums of other rows."""

    @property
    def sentence(self) -> str:
        listed = ", ".join(f"{row:,}" for row in self.rows[:_MOST_LISTED])
        more = f" and {len(self.rows) - _MOST_LISTED:,} more" if len(self.rows) > _MOST_LISTED else ""
        is_last = self.rows == (self.n_rows,)
        which = f"Row {listed}, the last one," if is_last else f"Row{'s' if len(self.rows) > 1 else ''} {listed}{more}"
        said = [f"column {quoted(self.label)} says so"] if self.label else []
        if self.sums:
            named = ", ".join(map(quoted, self.sums[:_MOST_LISTED]))
            said.append(f"{named} {'is' if len(self.sums) == 1 else 'are'} the sum of other rows")
        seem = "seem to be totals" if len(self.rows) > 1 else "seems to be a total"
        return f"{which} {seem}: {' and '.join(said)}. A total is nobody's row and would count as a person: remove it."


def find_totals(table: Table) -> TotalRows | None:
    """The rows that seem to be totals; None if none do."""
    if table.n_rows < _LEAST_ROWS:
        return None
    numbers = [column for column in table.columns if column.type in _NUMBERS and len(column.values) > 1]
    best: TotalRows | None = None
    for column in table.columns:
        rows, is_sure = _find_labelled(column)
        if not len(rows) or len(rows) > max(1, _MOST_SHARE * table.n_rows):
            continue
        sums = tuple(one.name for one in numbers if _add_up(one, rows, table, column))
        if sums or (is_sure and rows.tolist() == [table.n_rows - 1]):
            found = TotalRows(tuple((rows + 1).tolist()), table.n_rows, column.name, sums)
            if best is None or len(found.sums) > len(best.sums):
                best = found
    return best or _find_last(table, numbers)


def _find_labelled(column: Column) -> tuple[NDArray[np.int64], bool]:
    """The rows whose text is a word for totals, and whether it can mean little else."""
    if column.type is not ValueType.STRING:
        return np.zeros(0, dtype=np.int64), False
    plain = [str(text).strip(" :.*").casefold().replace(" ", "_") for text in column.values]
    codes = [code for code, text in enumerate(plain) if text in _WORDS]
    if not codes or len(codes) == len(plain):
        return np.zeros(0, dtype=np.int64), False
    is_sure = all(plain[code] in _SURE for code in codes)
    return np.flatnonzero(np.isin(column.codes, codes)), is_sure


def _read_numbers(column: Column) -> NDArray[np.float64]:
    return np.append(column.values.astype(np.float64), 0.0)[column.codes]


def _add_up(column: Column, rows: NDArray[np.int64], table: Table, label: Column) -> bool:
    """Whether the number of each of these rows is the sum of others: of all, or of those that share a value with it."""
    numbers = _read_numbers(column)
    rest = np.ones(table.n_rows, dtype=bool)
    rest[rows] = False
    if len(rows) == 1:
        return _is_sum(numbers[rows[0]], numbers[rest])
    for other in table.columns:
        if 1 < len(other.values) <= table.n_rows / 2 and other.name not in (label.name, column.name):
            within = np.bincount(other.codes[rest], weights=numbers[rest], minlength=len(other.values) + 1)
            if np.all([_is_close(numbers[row], within[other.codes[row]]) for row in rows.tolist()]):
                return True
    return False


def _is_sum(total: float, parts: NDArray[np.float64]) -> bool:
    return int(np.count_nonzero(parts)) > 1 and _is_close(total, float(parts.sum()))


def _is_close(total: float, added: float) -> bool:
    return total != 0 and abs(total - added) <= 1e-6 * abs(total)


def _find_last(table: Table, numbers: Iterable[Column]) -> TotalRows | None:
    """The last row, if several of its numbers, and most, are the sums of all rows above."""
    sums, n_numbers = [], 0
    for column in numbers:
        values = _read_numbers(column)
        n_numbers += 1
        # Sums of a few numbers, or of some that take each other away, come about by chance.
        is_dense = 2 * np.count_nonzero(values[:-1]) >= table.n_rows and values.min() >= 0
        if is_dense and _is_sum(float(values[-1]), values[:-1]):
            sums.append(column.name)
    is_total = len(sums) > 1 and 2 * len(sums) >= n_numbers
    return TotalRows((table.n_rows,), table.n_rows, "", tuple(sums)) if is_total else None


def note_totals(table: Table) -> tuple[str, ...]:
    """Sentences about rows that seem to be totals and about empty rows, if there are any."""
    found = find_totals(table)
    return (*(() if found is None else (found.sentence,)), *_note_empty(table))


def _note_empty(table: Table) -> tuple[str, ...]:
    """A sentence about rows without any value, which spreadsheets leave at the end."""
    if not table.columns or not table.n_rows:
        return ()
    empty = np.flatnonzero(np.all([column.codes == len(column.values) for column in table.columns], axis=0)) + 1
    if not len(empty):
        return ()
    listed = ", ".join(f"{row:,}" for row in empty[:_MOST_LISTED].tolist())
    more = f" and {len(empty) - _MOST_LISTED:,} more" if len(empty) > _MOST_LISTED else ""
    is_one = len(empty) == 1
    return (
        f"Row{'' if is_one else 's'} {listed}{more} {'has' if is_one else 'have'} no value in any column. "
        f"{'It' if is_one else 'Each'} would count as a person: remove {'it' if is_one else 'them'}.",
    )
