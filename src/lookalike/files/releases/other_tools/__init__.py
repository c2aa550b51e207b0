"""A table that another tool made, as a `Grouped` release over the original's domains.

Columns are found by the names in the original's schema. Every distinct quasi-identifier cell is read once, in any
notation of `notations`; sensitive and carried cells must be plain values that the original has. Rows that the tool
blanked out altogether (a star in every column) count as suppressed. What is published may be quoted in an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Microdata, Table, texts_of
from lookalike.data.release import Extents, Grouped, Withheld
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, SchemaError, counted, quoted, unknown_name
from lookalike.files.releases.assembly import Note, count_suppressed, group_rows, reject_unknown, stack_columns, unheard
from lookalike.files.releases.other_tools.holdings import DomainIndex, assemble_extents
from lookalike.files.releases.other_tools.notations import UNDERSTOOD, read_cell, read_value
from lookalike.files.tables.read import read_table


def read_foreign_table(
    path: Path, original: Microdata, *, suppressed: int = 0, note: Note = unheard
) -> tuple[Grouped, Table]:
    """A CSV or Parquet file of any tool as a release, and its cells as they were read."""
    # All as text: a column of 01234 and 0123* keeps its zeros.
    table = read_table(path, types={domain.name: ValueType.STRING for domain in original.domains.all})
    for sentence in table.notes:
        note(sentence)
    return from_table(table, original, suppressed=suppressed, note=note), table


def from_table(table: Table, original: Microdata, *, suppressed: int = 0, note: Note = unheard) -> Grouped:
    """The same for a table that is already read."""
    domains = original.domains
    for domain in domains.all:
        if domain.name not in table.names:
            raise SchemaError(f"{unknown_name('column', domain.name, table.names)} (read from {table.source})")
    ignored = [name for name in table.names if name not in {domain.name for domain in domains.all}]
    if ignored:
        shown = ", ".join(quoted(name) for name in ignored[:5]) + (" ..." if len(ignored) > 5 else "")
        note(
            f"{counted(len(ignored), 'column')} of {table.source} have no role in the schema and were ignored: {shown}."
        )
    cells = {domain.name: _Cells(table, domain) for domain in domains.all}
    kept = ~_find_starred(cells[domain.name] for domain in (*domains.quasi, *domains.sensitive))
    blanked = int(np.count_nonzero(~kept))
    if blanked:
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
    return replace(release, withheld=count_suppressed(release, original))


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
        stars = np.array([text is not None and text.strip() == "*" for text in self.texts])
        if "*" in self.index.code_of:
            stars[:] = False
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
                f"Understood are {UNDERSTOOD}."
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
