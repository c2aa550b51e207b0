"""Values that may mean "no value" although nobody said so: NA, -, ., -9, 999, 9999-12-31 ...

A column of text is searched for the usual words. In a column of numbers such a code is a number like any other, and
is noticed only where it is apart: one or several codes in a row are the greatest values, in several rows, and
farther from all others than these are from each other (99, or 97, 98 and 99, or 999.9), or the only negative ones
(-1, or -9 and -8, ...). Reading them as numbers makes ranges wide and promises about values weak, so a note names
them with the option that declares them. Nothing is decided.

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
_HIGH = frozenset(
    [99.9, 99.99, 999.9, 999.99, 9999.9, 9999.99]
    + [float(str(digit) * length) for digit in (7, 8, 9) for length in range(2, 8)]
    + [float("9" * length + str(digit)) for digit in (6, 7, 8) for length in range(1, 5)]
)
"""99 and 9999, with 77 (unknown), 88 (refused) and the like, 96 to 98 and 996 to 998."""
_LOW = frozenset(
    [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0, -99.9, -999.9]
    + [float("-" + str(digit) * length) for digit in (7, 8, 9) for length in range(2, 6)]
)
_OFTEN_ALONE = (-1.0, -9.0)
"""Next to 0 these are codes if many rows have them; other small negative numbers only if they are far from 0."""
_MOST_CODES = 5
"""A column has at most so many codes on each side."""
_FEWEST_OTHERS = 4
"""Different values that are enough where a code is three times as far from them as they are from each other."""
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
    present = counts > 0
    values, counts = values[present], counts[present]
    # Codes at one end must not hide those at the other, whose distance is measured by how far other values are apart.
    first = int(np.searchsorted(values, 0.0))
    first = first if _LOW.issuperset(values[:first].tolist()) else 0
    high, why_high = _find_high(values[first:], counts[first:])
    last = len(values) - high
    low, why_low = _find_low(values[:last], counts[:last])
    codes = [(place, why_low) for place in range(low)]
    codes += [(place, why_high) for place in range(last, len(values))]
    if sum(int(counts[place]) for place, _ in codes) > _MOST_SHARE * int(counts.sum()):
        return []
    return [
        SuspectCode(column.name, _write_number(values[place]), int(counts[place]), why)
        for place, why in codes
        if counts[place] >= _LEAST_ROWS
    ]


def _write_number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(float(value))


def _find_low(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[int, str]:
    """How many of the least values are codes, and why: all that are negative, or none."""
    n_low = int(np.searchsorted(values, 0.0))
    others = values[n_low:]
    if not 0 < n_low <= _MOST_CODES or len(others) < _LEAST_OTHERS or not _LOW.issuperset(values[:n_low].tolist()):
        return 0, ""
    # Next to 0, -1 may be a difference or a rank: a code is met far oftener than its neighbours.
    usual = 2 * float(np.median(counts[n_low : n_low + 5]))
    is_far = others[0] - values[n_low - 1] > np.diff(others).max() and int(counts[:n_low].max()) >= _LEAST_ROWS
    is_often = n_low == 1 and values[0] in _OFTEN_ALONE and counts[0] > usual
    if not (is_far or is_often):
        return 0, ""
    return n_low, "the only negative number" if n_low == 1 else f"one of the only {n_low} negative numbers"


def _find_high(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[int, str]:
    """How many of the greatest values are codes, and why: as many as are apart together."""
    most = 0
    while most < min(_MOST_CODES, len(values)) and values[len(values) - 1 - most] in _HIGH:
        most += 1
    # 9 and 99 may both be codes of ages up to 90: the most that are apart are taken.
    for n_high in range(most, 0, -1):
        others, many = values[:-n_high], int(counts[-n_high:].max())
        if len(others) < _FEWEST_OTHERS or many < _LEAST_ROWS:
            continue
        span, gap = others[-1] - others[0], values[-n_high] - others[-1]
        if gap > 3 * span:
            return n_high, "far above all other values"
        if len(others) < _LEAST_OTHERS or many < float(counts[:-n_high].mean()):
            continue
        # A value in the tail of a skewed column is rare; one that many share, far from all others, is no measurement.
        is_far = gap > 2 * np.diff(others).max() or gap > span / 2
        if is_far and many > 3 * float(np.median(counts[-n_high - 5 : -n_high])):
            return n_high, "far above all other values"
    return 0, ""


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
