"""One door for every table: a file, a folder, a pipe, a URL, a database or a data frame becomes a `Table` of codes.

A file is recognised by its first bytes and only then by its name. Columns that are not asked for are not read, except
that
every record of a CSV file is checked. Whatever goes wrong comes out as an error of this library that names the
column or the line and shows no value. Cost: one pass over the file and one sort a column.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from lookalike import memory
from lookalike.data.date_formats import AS_TEXT, check_date_format
from lookalike.data.microdata import Column, Table
from lookalike.data.missing_codes import check_missing, codes_of, list_missing, missing_in
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, RecipeError, SchemaError, counted, quoted, unknown_name
from lookalike.files.databases.address import is_address, parse_address
from lookalike.files.databases.read import read_database
from lookalike.files.tables.compressed import check_limit, packing_of
from lookalike.files.tables.csv import delimited
from lookalike.files.tables.csv.delimited import Spelling
from lookalike.files.tables.formats import TEXT, Asked, Hints, format_of, list_names, refuse_bad_names
from lookalike.files.tables.frames import column_of, is_pandas, pandas_columns, pandas_series, respell_column
from lookalike.files.tables.parquet import scan_folder
from lookalike.files.tables.python_objects import SOURCE, check_path, explain_source, find_columns
from lookalike.files.urls import at_hand
from lookalike.memory import TO_READ, check_addresses
from lookalike.progress import Progress, silent


@contextmanager
def _check_unchanged(path: Path) -> Iterator[None]:
    """Raise `DataError` if the file at `path` is another one after the block, or has other content or size."""
    before = _state(path)
    try:
        yield
    finally:
        if before is not None and _state(path) != before:
            raise DataError(
                f"{path} was changed while it was read. Nothing is made of it. Wait until it is written, and run again."
            ) from None


def _state(path: Path) -> tuple[int, ...] | None:
    """What a file cannot keep when it is written to or replaced; None if there is no regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_LOOKED_AT = 1 << 18
_BYTES_PER_CELL = 4


def check_text_size(path: Path, n_columns: int) -> None:
    """Raise `DataError` if so many columns would not fit: records counted by the length of the first ones."""
    size = path.stat().st_size
    if size <= _LOOKED_AT or packing_of(path) is not None:
        return
    with path.open("rb") as file:
        n_lines = file.read(_LOOKED_AT).count(b"\n")
    n_records = size * n_lines // _LOOKED_AT
    _check_size(f"{path.name} has about {n_records:,} records", n_records, n_columns)


def _check_size(what: str, n_records: int, n_columns: int) -> None:
    """Raise `DataError` if the codes of so many columns would not fit. A small Parquet file can have endless rows."""
    memory.require(
        n_records * n_columns * _BYTES_PER_CELL,
        f"{what}; to read {n_columns:,} of its columns",
        "Name fewer columns, or use a machine with more, or let Spark read it (--backend spark).",
    )


_Read = TypeVar("_Read")


def read_table(
    source: Any,
    *,
    columns: Collection[str] | None = None,
    also: Callable[[str], bool] | None = None,
    types: Mapping[str, ValueType] | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Collection[str] | Mapping[str, Collection[object]] | None = None,
    date_format: Mapping[str, str] | None = None,
    sheet: str | int | None = None,
    unpack_limit: int | None = None,
    progress: Progress = silent,
) -> Table:
    """The table at a path, a URL, in a database, on standard input (-), or in a frame of pandas, polars or Arrow.

    `columns` are read and no others (in the order of the table), except those whose name fits `also` and that can be
    read; `types` are taken instead of guessed; `missing` are texts that mean "nothing" in every column, or such texts
    by column; `date_format` says by column how dates are written ("DD/MM/YYYY", "YYYYMMDD"). `delimiter`,
    `quote` ("" for none), `encoding` and `header` are for CSV files and guessed where None; what was guessed is in
    the table's notes. `sheet` (a name, or a place from 1) is for workbooks; `unpack_limit` is the most bytes that a
    compressed file may unpack to.

    >>> import polars
    >>> read_table(polars.DataFrame({"age": [30, None, 20]}))["age"].codes.tolist()
    [1, 2, 0]
    """
    check_addresses(TO_READ)
    if isinstance(columns, str):
        raise RecipeError(f"columns must be a list of texts, not the text {quoted(columns)}. Put it in brackets.")
    hints = Hints(delimiter=delimiter, quote=quote, encoding=encoding, header=header, unpack_limit=unpack_limit)
    formats = {name: check_date_format(format, name) for name, format in (date_format or {}).items()}
    wanted = {name: type for name, type in _check_types(types).items() if formats.get(name) != AS_TEXT}
    asked = Asked(columns, also, wanted, list_missing(missing), formats, hints, sheet, progress)
    return _with_codes(_read_source(source, asked, unpack_limit), asked.missing)


def _with_codes(table: Table, entries: Collection[str]) -> Table:
    """The table with each column knowing the texts that mean nothing in it by its name."""
    if not any("=" in entry for entry in entries):
        return table
    columns = (replace(column, missing_codes=codes_of(entries, column.name)) for column in table.columns)
    return replace(table, columns=tuple(columns))


def respell(table: Table, missing: Collection[str], date_formats: Mapping[str, str]) -> Table:
    """A table that was read already, with further texts that mean nothing, and dates written in these formats."""
    if not missing and not date_formats:
        return table
    check_missing(missing, table.names, table.source)
    columns: list[Column] = []
    notes: list[str] = []
    for column in table.columns:
        format = date_formats.get(column.name)
        if format == column.date_format:
            format = None
        column, said = respell_column(column, format, missing_in(missing, column.name), table.source)
        columns.append(column)
        notes += said
    return _with_codes(replace(table, columns=tuple(columns), notes=(*table.notes, *notes)), missing)


def _read_source(source: Any, asked: Asked, unpack_limit: int | None) -> Table:
    if isinstance(source, str) and is_address(source):
        address = parse_address(source)
        asked.progress("reading", 0.0, str(address))
        names, fetched = read_database(address, asked)
        return _type_table(names, fetched.get_column, str(address), asked)
    if isinstance(source, str | Path):
        check_path(source)
        check_limit(unpack_limit)
        try:
            with at_hand(source) as path, _check_unchanged(path):
                return _read_file(path, asked)
        except OSError as error:
            raise DataError(
                f"{source}: {error.strerror or 'the file cannot be read'}. Check the path and who may read it."
            ) from None
    if is_pandas(source):
        where = "the data frame"
        columns, said = pandas_columns(source, where)
        table = _type_table([*columns], lambda name: pandas_series(columns[name], name, where), where, asked)
        return replace(table, notes=(*said, *table.notes))
    return _read_frame(source, asked)


def _check_types(types: Mapping[str, ValueType] | None) -> dict[str, ValueType]:
    """Types as asked for, given as `ValueType` or by name."""
    known = [type.value for type in ValueType]
    for name, type in (types or {}).items():
        if type not in known:
            raise SchemaError(f"Column {quoted(name)}: {unknown_name('type', str(type), known)}")
    return {name: ValueType(type) for name, type in (types or {}).items()}


def _read_file(path: Path, asked: Asked) -> Table:
    if not path.exists():
        raise DataError(f"There is no file {path}. Check the path.")
    format = None if path.is_dir() else format_of(path)
    if asked.sheet is not None and not (format and format.has_sheets):
        raise RecipeError(f"{path.name} is no Excel workbook, so it has no sheets. Leave out which sheet to read.")
    if format is None:
        return read_scanned(lambda: (scan_folder(path), []), path.name, asked)
    return format.read(path, asked)


def read_scanned(scan: Callable[[], tuple[pl.LazyFrame | pl.DataFrame, list[str]]], where: str, asked: Asked) -> Table:
    """The table in rows that have types, and the sentences about them."""
    frame, notes = _safely(scan, _explain_damage(where))
    table = _polars_table(frame.lazy(), where, asked)
    return replace(table, notes=(*notes, *table.notes))


def spelling_of(path: Path) -> Spelling | None:
    """How a file spells its cells, if it is text; None for files that hold values and no spellings."""
    return delimited.spelling_of(path) if format_of(path) is TEXT else None


def _read_frame(source: Any, asked: Asked) -> Table:
    if isinstance(source, pl.LazyFrame):
        # Collected once: a query run anew for each column need not give its rows in the same order.
        where = "the lazy frame"
        failed = f"{where} cannot be collected: its query fails"
        names = _safely(lambda: source.collect_schema().names(), failed)
        wanted = asked.choose(names, where)
        picked = source.select(pl.nth([names.index(name) for name in wanted])) if names else source
        collected = _safely(picked.collect, failed)
        types = {name: type for name, type in asked.types.items() if name in wanted}
        formats = {name: format for name, format in asked.date_formats.items() if name in wanted}
        table = _polars_table(collected.lazy(), where, replace(asked, types=types, date_formats=formats))
        return replace(table, header=tuple(names))
    if isinstance(source, pl.DataFrame):
        return _polars_table(source.lazy(), "the data frame", asked)
    if (found := find_columns(source)) is not None:
        return _type_table(*found, SOURCE, asked)
    if not hasattr(source, "__arrow_c_stream__") or type(source).__name__ == "Series":
        raise explain_source(source)
    names = [str(name) for name in getattr(source, "column_names", ())]
    refuse_bad_names(names, "the Arrow table")
    frame = _safely(lambda: pl.DataFrame(source).lazy(), "the Arrow table holds a type that cannot be read")
    return _polars_table(frame, "the Arrow table", asked)


def _polars_table(frame: pl.LazyFrame, where: str, asked: Asked) -> Table:
    damaged = _explain_damage(where)
    names = _safely(lambda: frame.collect_schema().names(), damaged)

    def series_of(name: str) -> pl.Series:
        return _safely(lambda: frame.select(pl.nth(names.index(name))).collect().to_series(), damaged)

    n_records = _safely(lambda: int(frame.select(pl.len()).collect().item()), damaged)
    _check_size(f"{where} has {n_records:,} records", n_records, len(asked.columns or names))
    return _type_table(names, series_of, where, asked)


def _type_table(names: list[str], series_of: Callable[[str], pl.Series], where: str, asked: Asked) -> Table:
    """One column after the other, so that only one of them is held as values."""
    if not names:
        raise DataError(f"{where} has no columns. Give a table with columns.")
    refuse_bad_names(names, where)
    wanted = asked.choose(names, where)
    read: list[Column] = []
    notes: list[str] = []
    for attr, name in enumerate(wanted):
        asked.progress("reading", attr / len(wanted), f"column {quoted(name)}")
        with suppress(DataError) if asked.is_extra(name) else nullcontext():
            series = _safely(partial(series_of, name), f"{where}: column {quoted(name)} cannot be read")
            column, said = column_of(
                name,
                series,
                asked.types.get(name),
                missing_in(asked.missing, name),
                where,
                date_format=asked.date_formats.get(name),
            )
            read.append(column)
            notes += [] if asked.is_extra(name) else said
    asked.progress("reading", 1.0, counted(len(read[0].codes) if read else 0, "row"))
    return Table(tuple(read), where, tuple(notes), tuple(names))


def _explain_damage(where: str) -> str:
    return f"{where} is damaged, or made with a feature that cannot be read here"


def _safely(read: Callable[[], _Read], failed: str) -> _Read:
    """What `read` gives; whatever polars raises is left out, because its words may quote the data."""
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError, OverflowError):
        raise DataError(f"{failed}. Write it again as {list_names()}.") from None
