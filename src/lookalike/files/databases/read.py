"""A table of a database as a frame: only the columns asked for, in one query, with the types they have there.

PostgreSQL, SQLite and DuckDB each say in their own way which columns a table has. Columns are asked for in a type that
Arrow has: decimals as numbers, identifiers and enumerations as text. What has no such type (intervals, arrays, bytes)
has no expression, and is refused if it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from lookalike.errors import DataError, quoted, unknown_name
from lookalike.files.databases.address import Address, Database, TableName, identifier
from lookalike.files.databases.connect import Connection, connect
from lookalike.files.tables.formats import Asked, refuse_bad_names
from lookalike.files.tables.frames import refuse_type


def read_database(address: Address, asked: Asked) -> tuple[list[str], pl.DataFrame]:
    """The names of all columns of the table, and a frame of those that are wanted."""
    with connect(address) as connection:
        there = columns_of(connection, address.table)
        if not there:
            raise DataError(unknown_name("table", str(address.table), _tables_of(connection)))
        names = [column.name for column in there]
        refuse_bad_names(names, str(address))
        wanted = asked.choose(names, str(address))
        extra = {name for name in wanted if asked.is_extra(name)}
        chosen = [column for column in there if column.name in wanted]
        frame = fetch_columns(connection, address.table, chosen, extra)
        return [name for name in names if name not in extra or name in frame.columns], frame


def fetch_columns(
    connection: Connection, table: TableName, columns: list[SourceColumn], extra: Collection[str] = ()
) -> pl.DataFrame:
    """The columns of the table, with their types; `extra` ones only if they have a type that can be read."""
    columns = _settle_types(connection, table, columns)
    columns = [column for column in columns if column.expression is not None or column.name not in extra]
    for column in columns:
        if column.expression is None:
            raise refuse_type(column.name, column.type, f"table {quoted(str(table))}")
    if not columns:
        return pl.DataFrame()
    known_as = {f"c{place}": column.name for place, column in enumerate(columns)}
    frame = connection.ask(_query(table, columns, connection.database), known_as=known_as)
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


@dataclass(frozen=True)
class SourceColumn:
    """A column of a table in a database."""

    name: str
    type: str
    """As the database calls it."""
    expression: str | None
    """How it is asked for; None if its type cannot be published."""


def columns_of(connection: Connection, table: TableName) -> list[SourceColumn]:
    """The columns in the table's order; none if there is no such table or view."""
    described = connection.ask(_COLUMNS[connection.database], locate_table(connection.database, table))
    database = connection.database
    return [SourceColumn(name, type, _expression(database, identifier(name), type)) for name, type in described.rows()]


def _tables_of(connection: Connection) -> list[str]:
    return [str(row[0]) for row in connection.ask(_TABLES[connection.database]).rows()]


def _query(table: TableName, columns: Sequence[SourceColumn], database: Database) -> str:
    """A query for columns c0, c1 ... in that order; of SQLite after one row of examples, by `example` 1."""
    asked = ", ".join(f"{column.expression} AS c{place}" for place, column in enumerate(columns))
    if database is not Database.SQLITE:
        return f"SELECT {asked} FROM {table.sql}"
    # The driver takes a column's type from its first thousand rows, which may all be missing.
    casts = [str(column.expression).rpartition(" AS ")[2].rstrip(")") for column in columns]
    examples = ", ".join(f"{_EXAMPLES[cast]} AS c{place}" for place, cast in enumerate(casts))
    return f"SELECT 1 AS example, {examples} UNION ALL SELECT 0 AS example, {asked} FROM {table.sql}"


def locate_table(database: Database, table: TableName) -> tuple[str, ...]:
    """The table as the queries of the catalogue want it."""
    if database is Database.POSTGRESQL:
        return (table.sql,)
    return (table.name,) if database is Database.SQLITE else (table.name, table.schema or "")


_COLUMNS = {
    Database.POSTGRESQL: """
        SELECT a.attname::text, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE format_type(t.oid, CASE WHEN declared.typtype
            = 'd' THEN declared.typtypmod ELSE a.atttypmod END) END
        FROM pg_catalog.pg_attribute a
        JOIN pg_catalog.pg_type declared ON declared.oid = a.atttypid
        JOIN pg_catalog.pg_type t
            ON t.oid = CASE WHEN declared.typtype = 'd' THEN declared.typbasetype ELSE declared.oid END
        WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""",
    Database.SQLITE: "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid",
    Database.DUCKDB: """
        SELECT column_name, data_type FROM duckdb_columns()
        WHERE table_name = $1 AND schema_name = coalesce(nullif($2, ''), current_schema())
            AND database_name = current_database()
        ORDER BY column_index""",
}

_TABLES = {
    Database.POSTGRESQL: """
        SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
            AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
        ORDER BY 1""",
    Database.SQLITE: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY 1",
    Database.DUCKDB: """
        SELECT CASE WHEN table_schema = current_schema() THEN table_name ELSE table_schema || '.' || table_name END
        FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY 1""",
}

_CASTS = {
    Database.POSTGRESQL: {
        r"smallint|integer|bigint|real|double precision|boolean|date|text|timestamp.*": "",
        r"character.*|enum|uuid|name|citext|jsonb?|xml|inet|cidr|macaddr8?|\"char\"": "::text",
        r"numeric\(([1-9]|1[0-8]),(0|-\d+)\)": "::bigint",
        r"numeric(\(\d+,-?\d+\))?": "::double precision",
    },
    Database.DUCKDB: {
        r"U?(TINY|SMALL|BIG)?INT(EGER)?|UINTEGER|FLOAT|DOUBLE|BOOLEAN|DATE|VARCHAR|TIMESTAMP.*": "",
        r"(?s:UUID|ENUM\(.*\)|JSON)": "::VARCHAR",
        r"DECIMAL\(\d+,\d+\)|U?HUGEINT": "::DOUBLE",
    },
}
"""What makes each type one that Arrow has."""


def _expression(database: Database, column: str, type: str) -> str | None:
    """How a column is asked for: of SQLite as it is, until `_settle_types` has seen what is in it."""
    if database is Database.SQLITE or type.endswith("]"):
        return column if database is Database.SQLITE else None
    return next((column + cast for types, cast in _CASTS[database].items() if re.fullmatch(types, type)), None)


_EXAMPLES = {"TEXT": "''", "REAL": "0.5", "INTEGER": "0"}


def _settle_types(connection: Connection, table: TableName, columns: Sequence[SourceColumn]) -> list[SourceColumn]:
    """The columns with one type each. In SQLite every cell has its own: text if any is, else numbers."""
    if connection.database is not Database.SQLITE:
        return list(columns)
    made = []
    for column in columns:
        met = connection.ask(f"SELECT DISTINCT typeof({column.expression}) AS met FROM {table.sql}")["met"].to_list()
        if "blob" in met:
            made.append(SourceColumn(column.name, "blob", None))
            continue
        # Text where there is nothing but missing values.
        cast = next((kind for kind in ("text", "real", "integer") if kind in met), "text").upper()
        made.append(SourceColumn(column.name, column.type, f"CAST({column.expression} AS {cast})"))
    return made
