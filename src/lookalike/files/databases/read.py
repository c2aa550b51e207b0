"""A table of a database as a frame: only the columns asked for, in one query, with the types they have there."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from lookalike.data.schema import ValueType
from lookalike.errors import DataError, quoted, unknown_name
from lookalike.files.databases.address import Address, Database, TableName
from lookalike.files.databases.connecting import Connection, connect
from lookalike.files.databases.dialects import SourceColumn, columns_of, query, settle_types, tables_of
from lookalike.files.tables.frames import refuse_type
from lookalike.files.tables.selection import choose_names, refuse_bad_names


def read_database(
    address: Address, columns: Collection[str] | None, types: Mapping[str, ValueType]
) -> tuple[list[str], pl.DataFrame]:
    """The names of all columns of the table, and a frame of those that are wanted."""
    with connect(address) as connection:
        there = columns_of(connection, address.table)
        if not there:
            raise DataError(unknown_name("table", str(address.table), tables_of(connection)))
        names = [column.name for column in there]
        refuse_bad_names(names, str(address))
        wanted = choose_names(names, columns, types, str(address))
        return names, fetch_columns(connection, address.table, [column for column in there if column.name in wanted])


def fetch_columns(connection: Connection, table: TableName, columns: list[SourceColumn]) -> pl.DataFrame:
    """The columns of the table, with their types."""
    columns = settle_types(connection, table, columns)
    for column in columns:
        if column.expression is None:
            raise refuse_type(column.name, column.type, f"table {quoted(str(table))}")
    if not columns:
        return pl.DataFrame()
    known_as = {f"c{place}": column.name for place, column in enumerate(columns)}
    frame = connection.ask(query(table, columns, connection.database), known_as=known_as)
    if connection.database is Database.SQLITE:
        frame = frame.filter(pl.col("example") == 0).drop("example")
        declared = [column.type.upper() for column in columns]
        series = [_as_declared(cells, type) for cells, type in zip(frame.get_columns(), declared, strict=True)]
        frame = pl.DataFrame(series)
    frame.columns = [column.name for column in columns]
    return frame


def _as_declared(cells: pl.Series, declared: str) -> pl.Series:
    """Dates, times and truth values, which SQLite keeps as text and numbers, if all cells are what was declared."""
    if declared.startswith("BOOL") and cells.dtype == pl.Int64:
        return cells.cast(pl.Boolean) if cells.drop_nulls().is_in([0, 1]).all() else cells
    if cells.dtype != pl.String:
        return cells
    if declared == "DATE":
        read = cells.str.to_date("%Y-%m-%d", strict=False)
    elif declared.startswith(("TIMESTAMP", "DATETIME")):
        texts = cells.str.replace("T", " ", literal=True)
        read = texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    else:
        return cells
    return read if read.null_count() == cells.null_count() else cells
