"""A table that another tool made, as a `Grouped` release over the original's domains.

Columns are found by the names in the original's schema. Every distinct quasi-identifier cell is read once, in any of
these notations; sensitive and carried cells must be plain values that the original has. Rows that the tool blanked
out altogether (a star in every column) count as suppressed. What is published may be quoted in an error.

    value            28    female                 any value        *
    interval         20..30   [-5..-2]   20-30   20 to 30    [20, 30]   [20, 30)   [20, 30[   (20,30]   ]20, 30]
    one end          >=30   >30   <30   <=30      30+
    dates            2024-01-05..2024-02-10       2024-01-05 to 2024-02-10   2024-03   2024-M03   2024
    set              {A, B}   A|B   A;B   [A, B]
    mask             130**  (one character a star)          13*  (any ending)
    taxonomy         a node's label

Plain intervals include both ends, brackets say which end is left out. A cell is tried as a value first, so a column
whose values look like intervals keeps them. What a cell holds is taken exactly: never rounded up to a taxonomy node.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Microdata, Table, texts_of
from lookalike.data.release import Extents, Grouped, Withheld
from lookalike.data.schema import Kind, ValueType
from lookalike.errors import DataError, SchemaError, counted, quoted, unknown_name
from lookalike.files.releases.assemble import (
    DomainIndex,
    Holding,
    Note,
    assemble_extents,
    count_suppressed,
    group_rows,
    list_codes,
    reject_unknown,
    stack_columns,
)
from lookalike.files.tables.read import read_table

_Notation = Callable[[DomainIndex, str], Holding | None]
_UNDERSTOOD = (
    "a value, * for any, intervals (20..30, 20-30, 20 to 30, [20, 30), ]20, 30], >=30, <30, 30+), "
    "dates (2024-01-05..2024-02-10, 2024-03, 2024), sets ({A, B}, A|B, A;B, [A, B]), masks (130**, 13*), "
    "and the labels of the column's taxonomy"
)
_NO_VALUE = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>", "(missing)"})

_NUMBER = r"[-+]?(?:inf|(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)"
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"
_DASHES = "-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"
_PLAIN = {
    "number": re.compile(rf"({_NUMBER})\s*(?:[{_DASHES}]|\.\.\.?|\bto\b)\s*({_NUMBER})", re.IGNORECASE),
    "date": re.compile(rf"({_DATE})\s*(?:[/{_DASHES}]|\.\.\.?|\bto\b)\s*({_DATE})", re.IGNORECASE),
}
# Between brackets the ends may also are apart by a comma; outside, a comma would rather make a list.
_WITHIN = {
    "number": re.compile(rf"({_NUMBER})\s*[,;:]\s*({_NUMBER})", re.IGNORECASE),
    "date": re.compile(rf"({_DATE})\s*[,;]\s*({_DATE})", re.IGNORECASE),
}
# Spaces are stripped apart: a pattern that leaves them to choice tries every division of a long run of them.
_BRACKETED = re.compile(r"([\[\](])(.*)([\[\])])", re.DOTALL)
_ONE_END = {
    "number": re.compile(rf"(>=|<=|>|<|\u2265|\u2264)\s*({_NUMBER})", re.IGNORECASE),
    "date": re.compile(rf"(>=|<=|>|<|\u2265|\u2264)\s*({_DATE})"),
}
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")
_PART_OF_DATE = re.compile(r"(\d{4})(?:-M?(\d\d))?")
_QUOTED = re.compile(r"\A(['\"])(.*)\1\Z", re.DOTALL)


def read_cell(index: DomainIndex, cell: str | None) -> Holding | None:
    """What another tool's cell may hide, or None if nobody can tell."""
    text, code = _look_up(index, cell)
    if code is not None:
        return _of_code(index, code)
    if text.casefold() in _NO_VALUE:
        # In a column without missing values an empty cell is one that the tool blanked out.
        return index.missing() if index.domain.has_missing else index.any()
    if set(text) == {"*"}:
        return index.any()
    return _read_by((*_OF_ONE, _set, _mask), index, text)


def _read_by(notations: Iterable[_Notation], index: DomainIndex, text: str) -> Holding | None:
    """What the first notation says that the text can be read in."""
    for read in notations:
        with suppress(KeyError, ValueError, OverflowError):
            if (holding := read(index, text)) is not None:
                return holding
    return None


def read_members(index: DomainIndex, cell: str | None) -> list[list[int]] | None:
    """The codes of each member of a set in the order in which the cell names them; None if the cell is no set."""
    text, code = _look_up(index, cell)
    if code is not None or text.casefold() in _NO_VALUE or set(text) == {"*"}:
        return None
    return None if _read_by(_OF_ONE, index, text) else _parse_members(index, text)


def read_value(index: DomainIndex, cell: str | None) -> int:
    """The code of a plain value; -1 if the original does not have it."""
    text, code = _look_up(index, cell)
    if code is not None:
        return code
    if text.casefold() in _NO_VALUE:
        return index.missing_code if index.domain.has_missing else -1
    return index.find(text)


def _look_up(index: DomainIndex, cell: str | None) -> tuple[str, int | None]:
    """The cell without spaces around it, and its code if it is the text of a value with them or without."""
    text = "" if cell is None else cell.strip()
    return text, index.code_of.get(text if cell is None else cell, index.code_of.get(text))


def _of_code(index: DomainIndex, code: int) -> Holding:
    return index.run(code, code) if index.domain.in_ranges else index.members([code])


def _axis(index: DomainIndex) -> str | None:
    if not index.number_like:
        return None
    return "date" if index.domain.type in (ValueType.DATE, ValueType.DATETIME) else "number"


def _interval(index: DomainIndex, text: str) -> Holding | None:
    axis = _axis(index)
    if axis is None:
        return None
    brackets = _BRACKETED.fullmatch(text)
    inner = brackets[2].strip() if brackets else text
    between = _PLAIN[axis].fullmatch(inner)
    # Where numbers are mere codes, [1, 4] lists two of them.
    unordered = index.domain.kind is Kind.CATEGORICAL and index.domain.taxonomy is None
    if brackets and not between and not (unordered and brackets[1] + brackets[3] == "[]"):
        between = _WITHIN[axis].fullmatch(inner)
    if between:
        low_open = brackets is not None and brackets[1] in "(]"
        high_open = brackets is not None and brackets[3] in ")["
        return _between(index, between[1], between[2], low_open, high_open)
    if one_end := _ONE_END[axis].fullmatch(text):
        sign, end = one_end.groups()
        if sign in (">", ">=", "\u2265"):
            return index.interval(end, None, low_open=sign == ">")
        return index.interval(None, end, high_open=sign == "<")
    and_more = _AND_MORE.fullmatch(text) if axis == "number" else None
    return index.interval(and_more[1], None) if and_more else None


def _between(index: DomainIndex, low: str, high: str, low_open: bool, high_open: bool) -> Holding:
    """An interval; a bare day at the upper end of moments means the whole day."""
    if index.domain.type is ValueType.DATETIME and len(high) == 10 and not high_open:
        high = f"{high}T23:59:59.999999"
    return index.interval(low, high, low_open=low_open, high_open=high_open)


def _point(index: DomainIndex, text: str) -> Holding | None:
    """A number that is written differently, or that no record has; a month or a year of dates."""
    if _axis(index) == "date" and (part := _PART_OF_DATE.fullmatch(text)):
        year, month = int(part[1]), int(part[2] or 0)
        last_day = calendar.monthrange(year, month)[1] if month else 31
        first, last = f"{year:04d}-{month or 1:02d}-01", f"{year:04d}-{month or 12:02d}-{last_day}"
        return _between(index, first, last, False, False)
    if index.is_numeric:
        return index.interval(text, text)
    return _of_code(index, index.code(text))


def _span(index: DomainIndex, text: str) -> Holding | None:
    """From one value to another, where values have an order."""
    if index.domain.kind is not Kind.ORDERED:
        return None
    inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    for separator in (" to ", "..", *(f" {dash} " for dash in _DASHES), *_DASHES):
        low, found, high = inner.partition(separator)
        if found and low.strip() in index.code_of and high.strip() in index.code_of:
            return index.run(index.code_of[low.strip()], index.code_of[high.strip()])
    return None


_OF_ONE: tuple[_Notation, ...] = (DomainIndex.node, _interval, _point, _span)
"""All but lists and masks."""


def _set(index: DomainIndex, text: str) -> Holding | None:
    listed = _parse_members(index, text)
    return None if listed is None else index.members([code for codes in listed for code in codes])


def _parse_members(index: DomainIndex, text: str) -> list[list[int]] | None:
    """The codes of each member of a set, as they are there."""
    enclosed = text[:1] + text[-1:] in ("{}", "[]", "()")
    inner = text[1:-1] if enclosed else text
    for separator in ("|", ";", ","):
        members = [_QUOTED.sub(r"\2", member.strip()) for member in inner.split(separator)]
        if len(members) == 1 and not enclosed:
            continue
        known = [codes for member in members if (codes := _member_codes(index, member)) is not None]
        if len(known) == len(members):
            return known
    return None


def _member_codes(index: DomainIndex, member: str) -> list[int] | None:
    if member in index.code_of:
        return [index.code_of[member]]
    tree = index.domain.taxonomy
    if tree is not None and (node := tree.node(member)) is not None:
        return list(range(int(tree.firsts[node]), int(tree.lasts[node]) + 1))
    if member.casefold() in _NO_VALUE and member and index.domain.has_missing:
        return [index.missing_code]
    if (code := index.find(member)) >= 0:
        return [code]
    # Our own cells next to a missing value: 28..39|(missing).
    interval = _interval(index, member)
    return None if interval is None else [*list_codes(index, interval)]


def _mask(index: DomainIndex, text: str) -> Holding | None:
    if "*" not in text:
        return None
    any_ending = [_pattern(text.rstrip("*")) + ".*"] if text.endswith("*") else []
    for pattern in (_pattern(text), *any_ending):
        codes = [code for value, code in index.code_of.items() if re.fullmatch(pattern, value, re.DOTALL)]
        if codes:
            return index.members(codes)
    return None


def _pattern(text: str) -> str:
    return "".join("." if letter == "*" else re.escape(letter) for letter in text)


def read_foreign_table(path: Path, original: Microdata, *, suppressed: int, note: Note) -> tuple[Grouped, Table]:
    """A CSV or Parquet file of any tool as a release, and its cells as they were read."""
    # All as text: a column of 01234 and 0123* keeps its zeros.
    table = read_table(path, types={domain.name: ValueType.STRING for domain in original.domains.all})
    for sentence in table.notes:
        note(sentence)
    return from_table(table, original, suppressed=suppressed, note=note), table


def from_table(table: Table, original: Microdata, *, suppressed: int, note: Note) -> Grouped:
    """The same for a table that is already read."""
    domains = original.domains
    for domain in domains.all:
        if domain.name not in table.names:
            raise SchemaError(f"{unknown_name('column', domain.name, table.names)} (read from {table.source})")
    if ignored := [name for name in table.names if name not in {domain.name for domain in domains.all}]:
        shown = ", ".join(quoted(name) for name in ignored[:5]) + (" ..." if len(ignored) > 5 else "")
        note(
            f"{counted(len(ignored), 'column')} of {table.source} have no role in the schema and were ignored: {shown}."
        )
    cells = {domain.name: _Cells(table, domain) for domain in domains.all}
    kept = ~_find_starred(cells[domain.name] for domain in (*domains.quasi, *domains.sensitive))
    if blanked := int(np.count_nonzero(~kept)):
        note(f"{counted(blanked, 'row')} of {table.source} have a star in every column and count as suppressed.")
    if not kept.any():
        raise DataError(f"{table.source} holds no row with a value. There is nothing to read.")
    columns = [cells[domain.name].extents(kept, note) for domain in domains.quasi]
    n_rows = int(np.count_nonzero(kept))
    release = group_rows(
        domains,
        columns,
        stack_columns([cells[domain.name].codes(kept) for domain in domains.sensitive], n_rows),
        stack_columns([cells[domain.name].codes(kept) for domain in domains.carried], n_rows),
        Withheld(n_suppressed=suppressed + blanked),
    )
    return replace(release, withheld=count_suppressed(original, release))


def find_suppressed(table: Table, original: Microdata) -> NDArray[np.bool_]:
    """Which rows count as suppressed: those with a star in every quasi-identifier and sensitive column."""
    domains = original.domains
    return _find_starred(_Cells(table, domain) for domain in (*domains.quasi, *domains.sensitive))


def _find_starred(columns: Iterable[_Cells]) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce([column.is_star for column in columns]), dtype=bool)


class _Cells:
    """One column as distinct texts (None: empty) and a code a row."""

    def __init__(self, table: Table, domain: Domain) -> None:
        column = table[domain.name]
        self.source = table.source
        self.domain = domain
        self.index = DomainIndex(domain)
        self.texts: list[str | None] = [*texts_of(column.values, column.type), None]
        self.unit_of_row: Codes = column.codes

    @property
    def is_star(self) -> NDArray[np.bool_]:
        is_value = "*" in self.index.code_of
        stars = np.array([not is_value and text is not None and text.strip() == "*" for text in self.texts])
        return np.asarray(stars[self.unit_of_row], dtype=bool)

    def _find_used(self, kept: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        used, unit_of_row = np.unique(self.unit_of_row[kept], return_inverse=True)
        return used.astype(np.int64), unit_of_row.astype(np.int32)

    def extents(self, kept: NDArray[np.bool_], note: Note) -> tuple[Extents, NDArray[np.int32]]:
        used, unit_of_row = self._find_used(kept)
        holdings = [read_cell(self.index, self.texts[unit]) for unit in used]
        unread = [int(unit) for unit, holding in zip(used, holdings, strict=True) if holding is None]
        if unread:
            rows = np.flatnonzero(np.isin(self.unit_of_row, unread) & kept)
            text = self.texts[int(self.unit_of_row[rows[0]])] or ""
            raise DataError(
                f"{self.source}: column {quoted(self.domain.name)} has {counted(len(unread), 'cell')} that cannot be "
                f"read over the original's values, the first on line {rows[0] + 2}: {quoted(text[:40])}. "
                f"Understood are {_UNDERSTOOD}."
            )
        if len(self.texts) - 1 in used and not self.domain.has_missing:
            note(
                f"Column {quoted(self.domain.name)} has empty cells though the original has no missing values there: "
                "they were read as any value."
            )
        return assemble_extents(self.index, [holding for holding in holdings if holding is not None]), unit_of_row

    def codes(self, kept: NDArray[np.bool_]) -> Codes:
        used, unit_of_row = self._find_used(kept)
        codes = np.array([read_value(self.index, self.texts[unit]) for unit in used], dtype=np.int32)
        reject_unknown(self.source, self.domain, int(np.count_nonzero(codes < 0)))
        return codes[unit_of_row]
