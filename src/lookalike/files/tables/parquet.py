"""A folder of Parquet files as one table: all files in it and below it, in the order of their paths.

Folders called column=value (as Hive, Spark and Polars write them) give every row below them that column. All files must
have the same columns of the same types, and lie below folders of the same columns: a table that was put together from
two would be read as one without a word. Names that begin with a dot or an underscore are no part of a table.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from lookalike.errors import DataError, quoted
from lookalike.files.tables.formats import PARQUET

_NOTHING = "__HIVE_DEFAULT_PARTITION__"
_MOST_FILES = 10_000
_MOST_HELD = 1 << 30
"""Files of up to so many bytes are taken into memory; larger ones are mapped."""


def scan_file(path: Path) -> pl.LazyFrame:
    """The rows of a file, as it is now."""
    return _scan(path, held=path.stat().st_size <= _MOST_HELD)


def _scan(path: Path, *, held: bool) -> pl.LazyFrame:
    # A file that is mapped into memory ends the process if someone cuts it off meanwhile.
    return pl.scan_parquet(path.read_bytes() if held else path, glob=False, hive_partitioning=False)


def scan_folder(folder: Path) -> pl.LazyFrame:
    """The rows of all files, with the columns that folders name at the end."""
    files = _parquet_files(folder)
    held = sum(path.stat().st_size for path in files) <= _MOST_HELD
    frames = [_scan(path, held=held) for path in files]
    schemas = [_schema_of(path, frame) for path, frame in zip(files, frames, strict=True)]
    schema = schemas[0]
    keys = [_keys(path.relative_to(folder)) for path in files]
    for path, found, other in zip(files, keys, schemas, strict=True):
        if list(found) != list(keys[0]):
            raise _disagree(folder, files[0], path, "lie below folders of other columns")
        if other.names() != schema.names():
            raise _disagree(folder, files[0], path, "have other columns, or in another order")
        for name, type in other.items():
            if type != schema[name]:
                raise _disagree(folder, files[0], path, f"have other types in column {quoted(name)}")
    for name in keys[0]:
        if name in schema:
            raise DataError(f"{folder.name}: column {quoted(name)} is in the files and in the names of folders.")
    columns = {name: _parse_texts([found[name] for found in keys]) for name in keys[0]}
    return pl.concat(
        [
            frame.with_columns(
                pl.lit(column[place], dtype=column.dtype).alias(name) for name, column in columns.items()
            )
            for place, frame in enumerate(frames)
        ]
    )


def _parquet_files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        for name in names:
            if name[0] in "._":
                continue
            if not name.endswith(PARQUET.endings):
                raise DataError(
                    f"{folder} is a folder that holds {quoted(name)}. Give one file in it, or a folder of nothing but "
                    "Parquet files."
                )
            found.append(Path(parent) / name)
            if len(found) > _MOST_FILES:
                raise DataError(f"{folder} holds more than {_MOST_FILES:,} files. Write the table in larger ones.")
    if not found:
        raise DataError(f"{folder} is a folder without a Parquet file. Give one file in it.")
    return sorted(found)


def _schema_of(path: Path, frame: pl.LazyFrame) -> pl.Schema:
    try:
        return frame.collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise DataError(f"{path.name} in {path.parent.name} is damaged, or no Parquet file. Write it anew.") from None


def _keys(path: Path) -> Mapping[str, str]:
    """What the folders above a file say: column=value."""
    pairs = [part.partition("=") for part in path.parts[:-1]]
    return {unquote(name): unquote(value) for name, sign, value in pairs if sign}


def _parse_texts(texts: Sequence[str]) -> pl.Series:
    """Whole numbers and dates where every text is one and prints so; else texts. Hive's word for nothing is missing."""
    known = [None if text == _NOTHING else text for text in texts]
    for parse in (int, datetime.date.fromisoformat):
        try:
            values = [None if text is None else parse(text) for text in known]
            same = all(text is None or str(value) == text for text, value in zip(known, values, strict=True))
            if same and any(text is not None for text in known):
                return pl.Series(values)
        except (ValueError, OverflowError):
            continue
    return pl.Series(known, dtype=pl.String)


def _disagree(folder: Path, first: Path, other: Path, how: str) -> DataError:
    names = [quoted(path.relative_to(folder).as_posix()) for path in (first, other)]
    return DataError(f"{folder.name}: {names[0]} and {names[1]} {how}. Give files that belong to one table.")
