"""The files of published tables, read: CSV and Parquet that say the same.

    release.csv, release.parquet                                         a table in one file of each kind, or
    release.csv/part-00000.csv, release.parquet/part-00000.parquet, ...  in parts, which are the table in their order

The manifest lists the parts with a digest of each file, so a part that is missing, added or changed is noticed before
anything is read from it. Paths follow from a table's plain name and a part's place and are never taken from the
manifest: a folder from elsewhere cannot make a reader open other files.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars import selectors

from lookalike.errors import DataError, counted, explain_change, explain_damage, quoted
from lookalike.files.releases.cells import MISSING, Field, dtype_of, print_cells
from lookalike.untrusted import check_plain_file

CSV, PARQUET = "csv", "parquet"
ENDINGS = (CSV, PARQUET)


@dataclass(frozen=True)
class Part:
    """One part of a published table: its rows, and the SHA-256 of its CSV and its Parquet file."""

    n_rows: int
    digests: Mapping[str, str]

    def to_plain(self, table: str, place: int) -> dict[str, Any]:
        files = {
            ending: {"path": part_path(table, ending, place), "sha256": self.digests[ending]} for ending in ENDINGS
        }
        return {"rows": self.n_rows, **files}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], table: str, place: int) -> Part:
        """ValueError if the part lies elsewhere than parts do."""
        if any(plain[ending]["path"] != part_path(table, ending, place) for ending in ENDINGS):
            raise ValueError(plain)
        return cls(int(plain["rows"]), {ending: str(plain[ending]["sha256"]) for ending in ENDINGS})


Parts = Mapping[str, tuple[Part, ...]]
"""By table; empty where every table is one file of each kind."""


def part_path(table: str, ending: str, place: int) -> str:
    """Where a part is in the release folder.

    >>> part_path("release", "csv", 7)
    'release.csv/part-00007.csv'
    """
    return f"{table}.{ending}/part-{place:05d}.{ending}"


def table_paths(table: str, parts: Sequence[Part]) -> list[str]:
    """Every file of a table, relative to the release folder."""
    if not parts:
        return [f"{table}.{ending}" for ending in ENDINGS]
    return [part_path(table, ending, place) for ending in ENDINGS for place in range(len(parts))]


def digest_of(path: Path) -> str:
    check_plain_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_part(tables: Iterable[Part]) -> str:
    """Of all files of one part, table by table."""
    digests = (table.digests[ending] for table in tables for ending in ENDINGS)
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def text_frame(
    folder: Path, table: str, typed: pl.DataFrame, fields: Sequence[Field], parts: Sequence[Part]
) -> pl.DataFrame:
    """A table of a release folder as text, its CSV held against what its Parquet says (`typed`)."""
    lengths = [part.n_rows for part in parts] or [len(typed)]
    starts = itertools.accumulate(lengths, initial=0)
    frames = [
        check_text(path, typed[start : start + length], fields)
        for path, start, length in zip(_paths(folder, table, CSV, parts), starts, lengths, strict=False)
    ]
    _check_lengths(folder / f"{table}.csv", frames, parts)
    return pl.concat(frames)


def read_frame(folder: Path, table: str, fields: Sequence[Field], parts: Sequence[Part]) -> pl.DataFrame:
    """A table of a release folder with types, from its Parquet alone."""
    frames = [read_typed(path, fields) for path in _paths(folder, table, PARQUET, parts)]
    _check_lengths(folder / f"{table}.parquet", frames, parts)
    return pl.concat(frames)


def _paths(folder: Path, table: str, ending: str, parts: Sequence[Part]) -> list[Path]:
    """The files of one kind in their order; of parts, exactly those that the manifest lists."""
    within = folder / f"{table}.{ending}"
    if not parts:
        return [within]
    paths = [folder / part_path(table, ending, place) for place in range(len(parts))]
    # What begins with a dot is no part to anybody: desktops leave such files behind.
    present = {path.name for path in within.iterdir() if path.name[0] != "."} if within.is_dir() else set()
    listed = {path.name for path in paths}
    if missing := sorted(listed - present):
        raise explain_damage(f"{within} lacks {counted(len(missing), 'part')}, the first of them {missing[0]}")
    if extra := sorted(present - listed):
        listing = f"{counted(len(extra), 'entry', 'entries')} that the release does not list"
        raise explain_change(f"{within} holds {listing}, the first of them {quoted(extra[0])}")
    for path, part in zip(paths, parts, strict=True):
        _check_digest(path, part.digests[ending])
    return paths


def _check_digest(path: Path, digest: str) -> None:
    try:
        same = digest_of(path) == digest
    except OSError as error:
        raise _unreadable(path, error) from None
    if not same:
        raise explain_change(f"{path} is not the part that was published")


def part_frame(folder: Path, table: str, fields: Sequence[Field], part: Part, place: int) -> pl.DataFrame:
    """One part of a table as text, its CSV held against its Parquet and both against what the manifest lists."""
    paths = {ending: folder / part_path(table, ending, place) for ending in ENDINGS}
    for ending, path in paths.items():
        _check_digest(path, part.digests[ending])
    frame = check_text(paths[CSV], read_typed(paths[PARQUET], fields), fields)
    _check_lengths(paths[CSV], [frame], [part])
    return frame


def _check_lengths(source: Path, frames: Sequence[pl.DataFrame], parts: Sequence[Part]) -> None:
    for place, (frame, part) in enumerate(zip(frames, parts, strict=False)):
        if len(frame) != part.n_rows:
            raise explain_change(f"Part {place} of {source} has another number of rows than is listed")


def check_text(csv_path: Path, typed: pl.DataFrame, fields: Sequence[Field]) -> pl.DataFrame:
    """A CSV file as text; it must have the columns given, some rows, and say what its Parquet twin says (`typed`)."""
    frame = _read_text(csv_path)
    if not len(frame):
        raise explain_damage(f"{csv_path} has no rows")
    names = [field.name for field in fields]
    # A safe CSV file has its cells and names as in the Parquet file only once they are given back.
    if frame.columns != names:
        frame = restore_texts(frame)
    if frame.columns != names:
        raise explain_change(f"{csv_path} has other columns than its description says")
    parquet = csv_path.with_suffix(f".{PARQUET}")
    printed = _print_frame(typed, fields, parquet)
    if not frame.equals(printed, null_equal=True):
        frame = restore_texts(frame)
    if frame.columns != names or not frame.equals(printed, null_equal=True):
        raise explain_change(f"{parquet.name} and {csv_path.name} disagree")
    return frame


def _read_text(path: Path) -> pl.DataFrame:
    """A CSV file of ours as text; empty cells are null."""
    try:
        check_plain_file(path)
        with path.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
        # Polars leaves doubled quotes in a header as they are, so the names come from the csv module.
        frame = pl.read_csv(path, infer_schema=False, glob=False)
        frame.columns = header
    except (OSError, ValueError, csv.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(path, error, "it is not a CSV file as releases have them") from None
    return frame


def read_typed(path: Path, fields: Sequence[Field]) -> pl.DataFrame:
    """The columns of a Parquet file of ours; others that it may have are left out."""
    try:
        check_plain_file(path)
        frame = pl.read_parquet(path, glob=False)
        # One by one: a name that looks like a pattern is only a name.
        columns = [frame[field.name] for field in fields]
        if any(column.dtype != dtype_of(field) for column, field in zip(columns, fields, strict=True)):
            raise pl.exceptions.SchemaError("a column of another type")
        return pl.DataFrame(columns)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(path, error) from None


def _print_frame(frame: pl.DataFrame, fields: Sequence[Field], path: Path) -> pl.DataFrame:
    try:
        printed = {field.name: print_cells(field, frame[field.name]).alias(field.name) for field in fields}
        return blanks_spelled_out(pl.DataFrame(printed), fields)
    except (ValueError, pl.exceptions.PolarsError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception, reason: str = "its columns are not those of the release") -> DataError:
    return explain_damage(f"Cannot read {path}: {getattr(error, 'strerror', None) or reason}")


def blanks_spelled_out(frame: pl.DataFrame, fields: Sequence[Field]) -> pl.DataFrame:
    """A row without any text would read as no row: its first generalised cell says (missing)."""
    name = next((field.name for field in fields if not field.is_plain), None)
    if name is None:
        return frame
    blank = pl.all_horizontal(pl.all().is_null())
    return frame.with_columns(pl.when(blank).then(pl.lit(MISSING)).otherwise(frame[name]).alias(name))


_RISKY = r"^'*[=+\-@\t\r\n]"
_MARKED = r"^'('*[=+\-@\t\r\n])"
_NUMBERS = r"^[+-]?[0-9][0-9.]*( to [+-]?[0-9][0-9.]*)?(\|\(missing\))?$"

SAFE_CSV_SENTENCE = (
    "In the CSV files a cell that a spreadsheet would compute (it begins with =, +, - or @) has an apostrophe in "
    "front. Take it off to get the value; the Parquet files have the values as they are."
)


def safe_name(name: str) -> str:
    """
    >>> safe_name("=age"), safe_name("-5"), safe_name("age")
    ("'=age", '-5', 'age')
    """
    return f"'{name}" if re.match(_RISKY, name) and not re.fullmatch(_NUMBERS[1:-1], name) else name


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose texts and names no spreadsheet computes."""
    texts = selectors.string(include_categorical=True).cast(pl.String)
    risky = texts.str.contains(_RISKY) & ~texts.str.contains(_NUMBERS)
    made = frame.with_columns(pl.when(risky).then(texts.str.replace("^", "'")).otherwise(texts))
    made.columns = [safe_name(name) for name in frame.columns]
    return made


def restore_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """What a safe frame of texts was made from."""
    made = frame.with_columns(selectors.string().str.replace(_MARKED, "${1}"))
    made.columns = [re.sub(_MARKED, r"\1", name) for name in frame.columns]
    return made
