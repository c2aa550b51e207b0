"""A release as tables of a database, all or nothing.

A generalised cell is text, as in the release's CSV. Beside a column of ranges stand its ends, with their type, as
NAME_low and NAME_high, so that SQL can compare them. A release of one table takes the name given; of several, each
has its own name behind it: stays_qit, stays_sat.

Everything happens in one transaction: tables are filled under a passing name, read back and held against the release
cell by cell, and only then take their names. Whatever goes wrong before leaves the database as it was. A table that
was not made here is never replaced.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from lookalike.data.release import Release
from lookalike.errors import DataError, RecipeError, quoted
from lookalike.files.databases.address import Address, Database, TableName, find_free_name, identifier, parse_address
from lookalike.files.databases.connect import Connection, connect
from lookalike.files.databases.read import columns_of, fetch_columns, locate_table
from lookalike.files.releases.cells import Field, print_cells
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import lay_out_table
from lookalike.progress import Progress, silent

_LONGEST = 63
"""Bytes of a name in PostgreSQL, which cuts off the rest."""

_MARK = "Release made by lookalike"
"""Stands with every table that is written, so that no other is ever replaced."""


def write_database(
    url: str, release: Release | Path, *, overwrite: bool = False, progress: Progress = silent
) -> tuple[str, ...]:
    """Write the tables of a release, or of a release folder, into the database; their names."""
    address = parse_address(url)
    frames = _frames_of(release) if isinstance(release, Path) else database_frames(release)
    for table, frame in frames.items():
        _check_names(address.database, _target(address, table, len(frames)).name, frame.columns)
    is_new = _is_new(address)
    try:
        with connect(address, write=True) as connection:
            names = _write_all(connection, address, frames, overwrite, progress)
            connection.commit()
    except BaseException:
        if is_new:
            _remove(Path(address.target))
        raise
    progress("write", 1.0)
    return names


def _is_new(address: Address) -> bool:
    return address.database is not Database.POSTGRESQL and not Path(address.target).exists()


def check_database(url: str, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a database that cannot be reached or a name that is taken."""
    address = parse_address(url)
    if _is_new(address) and Path(address.target).parent.is_dir():
        return  # it is made when the release is written
    with connect(address) as connection:
        for table in (address.table, *(_target(address, name, 2) for name in ("qit", "sat"))):
            _check_free(connection, table, overwrite)


def database_frames(release: Release) -> dict[str, pl.DataFrame]:
    """The published tables as they are in a database."""
    return {table.name: _frame(*lay_out_table(table)) for table in release.tables()}


def _frames_of(folder: Path) -> dict[str, pl.DataFrame]:
    """The same from a release folder."""
    release = ReleaseFolder(folder)
    made = {}
    for name, typed in release.frames.items():
        fields = release.manifest.tables[name]
        texts = [print_cells(field, typed.get_column(field.name)).alias(field.name) for field in fields]
        made[name] = _frame(fields, typed, pl.DataFrame(texts))
    return made


def _frame(fields: Sequence[Field], typed: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    taken = [field.name for field in fields]
    columns = []
    for field in fields:
        cells = typed.get_column(field.name)
        if field.is_plain:
            columns.append(cells)
            continue
        columns.append(texts.get_column(field.name))
        if field.is_range:
            for end in ("low", "high"):
                name = find_free_name(f"{field.name}_{end}", taken)
                taken.append(name)
                columns.append(cells.struct.field(end).alias(name))
    return pl.DataFrame(columns)


def _write_all(
    connection: Connection, address: Address, frames: dict[str, pl.DataFrame], overwrite: bool, progress: Progress
) -> tuple[str, ...]:
    targets = []
    for place, (table, frame) in enumerate(frames.items()):
        target = _target(address, table, len(frames))
        progress("write", place / len(frames), str(replace(address, table=target)))
        replaces = _check_free(connection, target, overwrite)
        passing = target.beside(f"lookalike_{secrets.token_hex(8)}")
        _create(connection, passing, frame.schema)
        connection.fill(passing.name, passing.schema, frame)
        _check_same(connection, passing, frame, target)
        if replaces:
            connection.execute(f"DROP TABLE {target.sql}")
        _rename(connection, passing, target.name)
        targets.append(str(target))
    return tuple(targets)


def _target(address: Address, table: str, n_tables: int) -> TableName:
    return address.table if n_tables == 1 else address.table.beside(f"{address.table.name}_{table}")


def _check_free(connection: Connection, table: TableName, overwrite: bool) -> bool:
    """Whether a table of ours is to be replaced; refuses one that must not be."""
    there, ours = _is_there(connection, table)
    if there and not ours:
        raise RecipeError(
            f"There is a table {quoted(str(table))} that was not made by lookalike. It is not replaced; name another."
        )
    if there and not overwrite:
        raise RecipeError(
            f"There is a table {quoted(str(table))} already. Name another, or replace it (--overwrite; in Python "
            "overwrite=True)."
        )
    return there


def _check_names(database: Database, table: str, columns: Iterable[str]) -> None:
    names = [table, *columns]
    if any("\0" in name for name in names):
        raise DataError("A column's name holds a NUL character, which no database takes. Rename it in the original.")
    if database is Database.POSTGRESQL:
        for name in names:
            if len(name.encode()) > _LONGEST:
                raise DataError(
                    f"The name {quoted(name)} is longer than the {_LONGEST} bytes that PostgreSQL keeps. Shorten it."
                )
        return
    seen: set[str] = set()
    for name in names[1:]:
        if name.casefold() in seen:
            raise DataError(
                f"Two columns are called {quoted(name)} but for capitals, which {database} does not tell apart. "
                "Rename one in the original."
            )
        seen.add(name.casefold())


def _check_same(connection: Connection, table: TableName, frame: pl.DataFrame, target: TableName) -> None:
    """Read the table back and hold it against the frame, in whatever order its rows come."""
    written = fetch_columns(connection, table, columns_of(connection, table))
    if written.columns == frame.columns and len(written) == len(frame):
        plain = [f"c{place}" for place in range(frame.width)]
        first, second = (
            side.rename(dict(zip(frame.columns, plain, strict=True))).cast(dict(zip(plain, frame.dtypes, strict=True)))
            for side in (frame, written)
        )
        if first.sort(plain).equals(second.sort(plain)):
            return
    raise DataError(
        f"Table {quoted(str(target))} does not read back as it was written: the database changes a value of it. "
        "Nothing is left in the database."
    )


def _remove(path: Path) -> None:
    """A file that was made for a table which did not come about."""
    for one in (path, *(path.with_name(path.name + ending) for ending in ("-journal", "-wal", ".wal"))):
        one.unlink(missing_ok=True)


def _is_there(connection: Connection, table: TableName) -> tuple[bool, bool]:
    """Whether there is a table (or view) of that name, and whether it was made here."""
    rows = connection.ask(_MARKS[connection.database], locate_table(connection.database, table)).rows()
    return bool(rows), any(_MARK in (row[0] or "") for row in rows)


def _create(connection: Connection, table: TableName, types: Mapping[str, Any]) -> None:
    """Make an empty table, marked as ours."""
    own = list(Database).index(connection.database)
    listed = ", ".join(f"{identifier(name)} {_TYPES[dtype.base_type()][own]}" for name, dtype in types.items())
    if connection.database is Database.SQLITE:
        connection.execute(f"CREATE TABLE {table.sql} (/* {_MARK} */ {listed})")
        return
    connection.execute(f"CREATE TABLE {table.sql} ({listed})")
    connection.execute(f"COMMENT ON TABLE {table.sql} IS '{_MARK}'")


def _rename(connection: Connection, table: TableName, name: str) -> None:
    connection.execute(f"ALTER TABLE {table.sql} RENAME TO {identifier(name)}")


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
