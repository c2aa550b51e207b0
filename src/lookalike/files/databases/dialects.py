"""What PostgreSQL, SQLite and DuckDB do each in their own way: which columns a table has, how each is asked for, how
a table is made, and how one is known as made here.

Columns are asked for in a type that Arrow has: decimals as numbers, identifiers and enumerations as text. What has no
such type (intervals, arrays, bytes) has no expression, and is refused if it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from lookalike.files.databases.address import Database, TableName, identifier
from lookalike.files.databases.connecting import Connection

_MARK = "Release made by lookalike"
"""Stands with every table that is written, so that no other is ever replaced."""


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
    described = connection.ask(_COLUMNS[connection.database], _locate(connection.database, table))
    # A column of SQLite as it is, until `settle_types` has seen what is in it.
    asked_for = {Database.POSTGRESQL: _postgresql, Database.DUCKDB: _duckdb}.get(
        connection.database, lambda column, _: column
    )
    return [SourceColumn(name, type, asked_for(identifier(name), type)) for name, type in described.rows()]


def tables_of(connection: Connection) -> list[str]:
    """What tables and views there are."""
    return [str(row[0]) for row in connection.ask(_TABLES[connection.database]).rows()]


def is_there(connection: Connection, table: TableName) -> tuple[bool, bool]:
    """Whether there is a table (or view) of that name, and whether it was made here."""
    rows = connection.ask(_MARKS[connection.database], _locate(connection.database, table)).rows()
    return bool(rows), any(_MARK in (row[0] or "") for row in rows)


def create(connection: Connection, table: TableName, types: Mapping[str, Any]) -> None:
    """Make an empty table, marked as ours."""
    own = list(Database).index(connection.database)
    listed = ", ".join(f"{identifier(name)} {_TYPES[dtype.base_type()][own]}" for name, dtype in types.items())
    if connection.database is Database.SQLITE:
        connection.execute(f"CREATE TABLE {table.sql} (/* {_MARK} */ {listed})")
        return
    connection.execute(f"CREATE TABLE {table.sql} ({listed})")
    connection.execute(f"COMMENT ON TABLE {table.sql} IS '{_MARK}'")


def drop(connection: Connection, table: TableName) -> None:
    connection.execute(f"DROP TABLE {table.sql}")


def rename(connection: Connection, table: TableName, name: str) -> None:
    connection.execute(f"ALTER TABLE {table.sql} RENAME TO {identifier(name)}")


def query(table: TableName, columns: Sequence[SourceColumn], database: Database) -> str:
    """A query for columns c0, c1 ... in that order; of SQLite after one row of examples, by `example` 1."""
    asked = ", ".join(f"{column.expression} AS c{place}" for place, column in enumerate(columns))
    if database is not Database.SQLITE:
        return f"SELECT {asked} FROM {table.sql}"
    # The driver takes a column's type from its first thousand rows, which may all be missing.
    examples = ", ".join(f"{_EXAMPLES[_cast_of(column)]} AS c{place}" for place, column in enumerate(columns))
    return f"SELECT 1 AS example, {examples} UNION ALL SELECT 0 AS example, {asked} FROM {table.sql}"


def _locate(database: Database, table: TableName) -> tuple[str, ...]:
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

_MARKS = {
    Database.POSTGRESQL: """
        SELECT obj_description(to_regclass($1::text), 'pg_class') WHERE to_regclass($1::text) IS NOT NULL""",
    Database.SQLITE: "SELECT sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE",
    Database.DUCKDB: """
        SELECT comment FROM duckdb_tables()
        WHERE lower(table_name) = lower($1) AND schema_name = coalesce(nullif($2, ''), current_schema())
            AND database_name = current_database()
        UNION ALL SELECT NULL FROM duckdb_views()
        WHERE lower(view_name) = lower($1) AND schema_name = coalesce(nullif($2, ''), current_schema())
            AND database_name = current_database()""",
}

_TYPES: dict[Any, tuple[str, str, str]] = {
    pl.Int64: ("bigint", "INTEGER", "BIGINT"),
    pl.Float64: ("double precision", "REAL", "DOUBLE"),
    pl.String: ("text", "TEXT", "VARCHAR"),
    pl.Boolean: ("boolean", "BOOLEAN", "BOOLEAN"),
    pl.Date: ("date", "DATE", "DATE"),
    pl.Datetime: ("timestamp", "TIMESTAMP", "TIMESTAMP"),
}
"""What each type is called, in the order of `Database`."""


_AS_IS = re.compile(r"smallint|integer|bigint|real|double precision|boolean|date|text|timestamp.*")
_AS_TEXT = re.compile(r"character.*|enum|uuid|name|citext|jsonb?|xml|inet|cidr|macaddr8?|\"char\"")
_NUMERIC = re.compile(r"numeric(?:\((\d+),(-?\d+)\))?")


def _postgresql(column: str, type: str) -> str | None:
    if type.endswith("[]"):
        return None
    if _AS_IS.fullmatch(type):
        return column
    if _AS_TEXT.fullmatch(type):
        return f"{column}::text"
    if number := _NUMERIC.fullmatch(type):
        whole = number[1] is not None and int(number[1]) <= 18 and int(number[2]) <= 0
        return f"{column}::{'bigint' if whole else 'double precision'}"
    return None


_DUCK_AS_IS = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|UINTEGER|FLOAT|DOUBLE|BOOLEAN|DATE|VARCHAR|TIMESTAMP.*")
_DUCK_AS_TEXT = re.compile(r"UUID|ENUM\(.*\)|JSON", re.DOTALL)
_DUCK_NUMBERS = re.compile(r"DECIMAL\(\d+,\d+\)|U?HUGEINT")


def _duckdb(column: str, type: str) -> str | None:
    if type.endswith("]"):
        return None
    if _DUCK_AS_IS.fullmatch(type):
        return column
    if _DUCK_AS_TEXT.fullmatch(type):
        return f"{column}::VARCHAR"
    return f"{column}::DOUBLE" if _DUCK_NUMBERS.fullmatch(type) else None


_EXAMPLES = {"TEXT": "''", "REAL": "0.5", "INTEGER": "0"}


def settle_types(connection: Connection, table: TableName, columns: Sequence[SourceColumn]) -> list[SourceColumn]:
    """The columns with one type each. In SQLite every cell has its own: text if any is, else numbers."""
    if connection.database is not Database.SQLITE:
        return list(columns)
    made = []
    for column in columns:
        met = connection.ask(f"SELECT DISTINCT typeof({column.expression}) AS met FROM {table.sql}")["met"].to_list()
        if "blob" in met:
            made.append(SourceColumn(column.name, "blob", None))
            continue
        cast = "TEXT" if "text" in met else "REAL" if "real" in met else "INTEGER"
        if "integer" not in met and cast == "INTEGER":
            cast = "TEXT"  # nothing but missing values
        made.append(SourceColumn(column.name, column.type, f"CAST({column.expression} AS {cast})"))
    return made


def _cast_of(column: SourceColumn) -> str:
    assert column.expression is not None
    return column.expression.rpartition(" AS ")[2].rstrip(")")
