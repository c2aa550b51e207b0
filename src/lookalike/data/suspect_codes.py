"""Values that may mean "no value" although nobody said so: NA, -, ., -9, 999, 9999-12-31 ...

A column of text is searched for the usual words. In a column of numbers such a code is a number like any other, and is
noticed only where it stands apart: it is the least or the greatest value, in several rows, and farther from all others
than these are from each other (99, 999, ...), or the only negative one (-1, -9, -99, ...). Reading it as a number makes
ranges wide and promises about values weak, so a note names it with the option that declares it. Nothing is decided.

Only known codes are looked for, so a note shows none of a record's values. Cost: one look at each different value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Column, Table, texts_of
from lookalike.data.schema import ValueType
from lookalike.errors import counted, quoted

_TEXTS = """
na n/a n.a. #n/a nan null nil - -- --- . .. ? ?? * unknown unk missing not_available not_known not_stated not_reported
no_answer no_data k.a. keine_angabe unbekannt inconnu desconocido sconosciuto onbekend
"""
_WORDS = frozenset(_TEXTS.split())
"""In small letters; a line below stands for a space."""
_IN_TEXT = frozenset(map(str, (-9, -99, -999, -9999, 99, 999, 9999, 99999, -1, -8, -88)))
_NUMBERS = (-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999, 9999999)
_LEAST_ROWS = 3
_LEAST_OTHERS = 10
"""Different values besides the code: with fewer, a number is a category."""
_MOST_SHARE = 0.6
"""Of the rows: a value of more is no gap in the answers."""
_DATES = ("9999-12-31", "1900-01-01", "1111-11-11")
_NUMERIC_SHARE = 0.9
_MOST_NAMED = 5


@dataclass(frozen=True)
class SuspectCode:
    """A value of a column that may mean that there is none."""

    column: str
    text: str
    n_rows: int
    why: str

    @property
    def sentence(self) -> str:
        name = self.column if self.column.isidentifier() else quoted(self.column)
        code = self.text if self.text.lstrip("-").isalnum() else f"'{self.text}'"
        return (
            f"Column {quoted(self.column)}: {counted(self.n_rows, 'row')} {'has' if self.n_rows == 1 else 'have'} "
            f"{quoted(self.text)}, {self.why}. If it means that there is no value, say so: --missing {name}={code} "
            f"(missing={{{quoted(self.column)}: [{quoted(self.text)}]}} in Python, missing_codes in a schema)."
        )


def find_codes(column: Column, counts: NDArray[np.int64]) -> list[SuspectCode]:
    """The codes among a column's values; `counts`: how many rows have each value.

    >>> ages = Column("age", ValueType.INTEGER, np.zeros(0, np.int32), np.array([-9, *range(20, 60)]))
    >>> [code.text for code in find_codes(ages, np.full(41, 5))]
    ['-9']
    """
    if column.type is ValueType.STRING:
        return _find_words(column, counts)
    if column.type in (ValueType.INTEGER, ValueType.NUMBER):
        return _find_numbers(column, counts)
    if column.type is ValueType.DATE:
        return _find_dates(column, counts)
    return []


def _find_words(column: Column, counts: NDArray[np.int64]) -> list[SuspectCode]:
    plain = [str(text).strip().casefold() for text in column.values]
    words = [place for place, text in enumerate(plain) if text.replace(" ", "_") in _WORDS]
    numbers = {place for place, text in enumerate(plain) if _is_number(text)}
    others = len(plain) - len(words)
    if others < 1:
        return []
    why = "where others have text"
    if words and len(numbers) >= max(_NUMERIC_SHARE * others, _LEAST_OTHERS):
        # One word makes text of a column of numbers.
        why = "and nearly all others are numbers: without it the column is one of numbers"
    found = [SuspectCode(column.name, str(column.values[place]), int(counts[place]), why) for place in words]
    if not numbers or len(numbers) > 0.2 * others:
        return found
    coded = [place for place in sorted(numbers) if plain[place] in _IN_TEXT and len(numbers) <= 2]
    why = "a number among texts"
    return [*found, *(SuspectCode(column.name, str(column.values[at]), int(counts[at]), why) for at in coded)]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "", 1).lstrip("+-").isdigit()


def _find_numbers(column: Column, counts: NDArray[np.int64]) -> list[SuspectCode]:
    values = column.values.astype(np.float64)
    left, n_rows = np.ones(len(values), dtype=bool), int(counts.sum())
    found = []
    # 9999 and 999 may both be codes: what stands apart is taken away, and the rest is looked at again.
    for code in sorted(_NUMBERS, key=lambda one: -abs(one)):
        place = int(np.searchsorted(values, code))
        if place >= len(values) or values[place] != code:
            continue
        others = left & (np.arange(len(values)) != place)
        if not _LEAST_ROWS <= counts[place] <= _MOST_SHARE * n_rows or others.sum() < _LEAST_OTHERS:
            continue
        why = _stand_apart(code, values[others], counts[others], int(counts[place]))
        if why:
            left[place] = False
            found.append(SuspectCode(column.name, str(code), int(counts[place]), why))
    return found[::-1]


def _stand_apart(code: int, others: NDArray[np.float64], counts: NDArray[np.int64], n_rows: int) -> str:
    """Why a number is no value like the others; empty if it may be one. The others rise."""
    if code < 0:
        if others[0] < 0:
            return ""
        # Next to 0, -1 may be a difference or a rank: a code is met far oftener than its neighbours.
        often = n_rows > 2 * float(np.median(counts[:5]))
        is_far = others[0] - code > np.diff(others).max()
        return "the only negative number" if is_far or (often and code == -1) or (often and code == -9) else ""
    gaps = np.diff(others)
    if code < others[-1] or n_rows < max(_LEAST_ROWS, float(counts.mean())):
        return ""
    span = others[-1] - others[0]
    gap = code - others[-1]
    is_far = gap > 2 * gaps.max() or gap > span / 2
    # A value in the tail of a skewed column is rare; one that many share, far from all others, is no measurement.
    return "far above all other values" if is_far and n_rows > 3 * float(np.median(counts[-5:])) else ""


def _find_dates(column: Column, counts: NDArray[np.int64]) -> list[SuspectCode]:
    if len(column.values) <= _LEAST_OTHERS:
        return []
    ends = {0, len(column.values) - 1}
    gaps = np.diff(column.values.astype(np.float64))
    found = []
    for place in sorted(ends):
        (text,) = texts_of(column.values[place : place + 1], column.type)
        gap, others = (gaps[0], gaps[1:]) if place == 0 else (gaps[-1], gaps[:-1])
        if text in _DATES and counts[place] >= _LEAST_ROWS and gap > others.max():
            found.append(SuspectCode(column.name, text, int(counts[place]), "far from all other dates"))
    return found


def count_values(column: Column) -> NDArray[np.int64]:
    """How many rows have each value."""
    return np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)].astype(np.int64)


def note_codes(columns: Iterable[tuple[Column, NDArray[np.int64]]]) -> tuple[str, ...]:
    """A sentence per code of these columns, each given with the rows that have each value."""
    found = [code for column, counts in columns for code in find_codes(column, counts)]
    alike: dict[tuple[str, str], list[SuspectCode]] = {}
    for code in found:
        alike.setdefault((code.text, code.why), []).append(code)
    return tuple(codes[0].sentence if len(codes) == 1 else _describe_alike(codes) for codes in alike.values())


def _describe_alike(codes: Sequence[SuspectCode]) -> str:
    """A sentence about the same code in several columns."""
    text, why = codes[0].text, codes[0].why
    names = [quoted(code.column) for code in codes]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    written = text if text.lstrip("-").isalnum() else f"'{text}'"
    return (
        f"Columns {', '.join(names[:_MOST_NAMED])}{more} have {quoted(text)}, {why}. If it means that there is no "
        f"value, say so: --missing {written} for all columns, or --missing COLUMN={written} for one (missing_codes in "
        "a schema)."
    )


def note_codes_of(table: Table, names: Iterable[str]) -> tuple[str, ...]:
    """The same for columns of a table."""
    by_name: Mapping[str, Column] = {column.name: column for column in table.columns}
    return note_codes((by_name[name], count_values(by_name[name])) for name in names if name in by_name)
