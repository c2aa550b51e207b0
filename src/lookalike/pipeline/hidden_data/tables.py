"""Are the table files of a release exactly what lookalike writes for the cells that were read from them?

Every cell must be as it is written from what it means, and every file as it is written from its cells. Parquet files of
another version of Polars have other bytes. Of those the content, the columns, the row groups and the metadata are
compared, and that every byte belongs to something.
"""

from __future__ import annotations

import csv
import filecmp
import itertools
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from lookalike.data.release import PublishedTable, Release
from lookalike.errors import counted, quoted
from lookalike.files.releases.cells import Encoding, Field, negative_zeros, print_cells, without_negative_zeros
from lookalike.files.releases.describe import PublishedManifest
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.tablefiles import CSV, ENDINGS, PARQUET, blanks_spelled_out, part_path, read_typed
from lookalike.files.releases.write import lay_out_table, write_csv, write_parquet
from lookalike.pipeline.hidden_data.parquet import BadFooter, read_footer

_POLARS = re.compile(r"Polars( \(python\) version [0-9.]{1,20} \(build [0-9a-f]{1,64}\))?")


@dataclass(frozen=True)
class TableFindings:
    """The same of the table files of a release, or of one part of it."""

    problem: str | None = None
    written_otherwise: tuple[str, ...] = ()
    """Parquet files of another version of Polars."""
    n_files: int = 0


def examine_tables(
    opened: ReleaseFolder, place: int | None, release: Release, ignored: Collection[str] = ()
) -> TableFindings:
    """The table files of a part (of the whole release where `place` is None) against what was read from them."""
    folder, manifest = opened.path, opened.manifest
    otherwise: list[str] = []
    tables = {table.name: table for table in release.tables()}
    for name, table in tables.items():
        paths = {
            ending: folder / (f"{name}.{ending}" if place is None else part_path(name, ending, place))
            for ending in ENDINGS
        }
        fields = [field for field in manifest.tables[name] if field.name not in ignored]
        typed = opened.frames[name] if place is None else read_typed(paths[PARQUET], manifest.tables[name])
        problem = _table_problem(paths, table, typed, fields, manifest, place, otherwise)
        if problem is not None:
            return TableFindings(problem)
    return TableFindings(None, tuple(otherwise), len(tables) * len(ENDINGS))


def _table_problem(
    paths: dict[str, Path],
    table: PublishedTable,
    typed: pl.DataFrame,
    fields: Sequence[Field],
    manifest: PublishedManifest,
    place: int | None,
    otherwise: list[str],
) -> str | None:
    own_fields, own, _ = lay_out_table(table, old=manifest.is_old)
    all_fields = manifest.tables[table.name]
    for field, own_field in itertools.zip_longest(fields, own_fields):
        # Another type of the same values is how the verifier's copy of the original was read.
        if field is None or own_field is None or replace(own_field, type=field.type) != field:
            name = (field or own_field).name
            return f"column {quoted(name)} of {table.name} is not written as the columns of the release are"
        found, wanted = typed[field.name], own[field.name]
        if field.is_number and field.encoding is not Encoding.COUNT:
            if (problem := _numbering_problem(field.encoding, found, place)) is not None:
                return f"{paths[PARQUET].name}: {problem}"
        elif (row := _first_other_cell(field, found, own_field, wanted)) is not None:
            return (
                f"{paths[PARQUET].name}, row {row + 1:,}, column {quoted(field.name)}: the cell says what it means in "
                "another way than lookalike writes it (order, repetition or spelling)"
            )
    with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
        again = {ending: Path(here) / f"table.{ending}" for ending in ENDINGS}
        own_types = {field.name: field.type for field in own_fields if not field.is_number}
        clean = pl.DataFrame(
            [
                own[field.name]
                if own_types.get(field.name) is field.type
                else without_negative_zeros(typed[field.name])
                for field in all_fields
            ]
        )
        write_parquet(clean, again[PARQUET])
        texts = pl.DataFrame([print_cells(field, clean[field.name]).alias(field.name) for field in all_fields])
        write_csv(blanks_spelled_out(texts, all_fields), again[CSV], safe=manifest.safe_csv)
        if differ(paths[CSV], again[CSV]):
            return _line_problem(paths[CSV], again[CSV])
        if differ(paths[PARQUET], again[PARQUET]):
            return _parquet_problem(paths[PARQUET], again[PARQUET], otherwise)
    return None


def _first_other_cell(field: Field, found: pl.Series, own_field: Field, wanted: pl.Series) -> int | None:
    negative = negative_zeros(found)
    if negative.any():
        return int(np.flatnonzero(negative)[0])
    if field.type is own_field.type and found.equals(wanted, null_equal=True):
        return None
    texts, own_texts = print_cells(field, found), print_cells(own_field, wanted)
    for row, (one, other) in enumerate(zip(texts, own_texts, strict=True)):
        if one != other:
            return row
    if field.type is not own_field.type:
        return None
    rows = range(len(found))
    return next(row for row in rows if not found[row : row + 1].equals(wanted[row : row + 1], null_equal=True))


def _numbering_problem(encoding: Encoding, numbers: pl.Series, place: int | None) -> str | None:
    """Numbers may say which rows belong together, and no more: they leave no gaps.

    Bucket numbers of a part are as far apart as there are parts.
    """
    distinct = np.unique(numbers.to_numpy())
    if encoding is not Encoding.BUCKET:
        even = len(distinct) and distinct[0] == 1 and distinct[-1] == len(distinct)
        return None if even else f"{encoding} numbers are not numbered one after the other"
    steps = np.unique(np.diff(distinct))
    even = len(steps) <= 1 and (len(steps) == 0 or distinct[0] < steps[0])
    if distinct[0] < 0 or not even or (place is None and (distinct[0] != 0 or (len(steps) and steps[0] != 1))):
        return "bucket numbers are not numbered one after the other"
    return None


def differ(one: Path, other: Path) -> bool:
    return not filecmp.cmp(one, other, shallow=False)


def _line_problem(found: Path, wanted: Path) -> str:
    """Where a CSV file is not as it is written."""
    with found.open("rb") as one, wanted.open("rb") as other:
        for line, (have, want) in enumerate(itertools.zip_longest(one, other, fillvalue=b""), 1):
            if have == want:
                continue
            cells = [next(csv.reader([text.decode(errors="replace")]), []) for text in (have, want)]
            for column, (cell, own_cell) in enumerate(itertools.zip_longest(*cells), 1):
                if cell != own_cell:
                    return f"{found.name}, line {line:,}, cell {column}: not as lookalike writes it"
            return f"{found.name}, line {line:,}: quotes, spaces or the line's end are not as lookalike writes them"
    return f"{found.name} is not as lookalike writes it"


def _parquet_problem(found: Path, wanted: Path, otherwise: list[str]) -> str | None:
    """Why the bytes are others; None if another version of Polars wrote the same."""
    try:
        have, want = read_footer(found), read_footer(wanted)
    except (BadFooter, OSError):
        return f"{found.name} does not end as Parquet files do"
    if have.columns != want.columns:
        return f"{found.name} has other columns than its description says"
    if have.metadata != want.metadata:
        keys = sorted({key for key, _ in {*have.metadata} ^ {*want.metadata}})
        return f"{found.name} has metadata that lookalike does not write: {quoted(', '.join(keys))}"
    if have.unknown:
        return f"{found.name} has {have.unknown[0]}"
    if have.n_unclaimed:
        return f"{found.name} has {counted(have.n_unclaimed, 'byte')} that belong to no column"
    if have.written_by == want.written_by or not _POLARS.fullmatch(have.written_by):
        return f"{found.name} is not the file that lookalike writes for these cells"
    if not have.even_groups or not have.large_groups:
        return f"{found.name} has row groups that are small or of uneven sizes"
    otherwise.append(found.name)
    return None
