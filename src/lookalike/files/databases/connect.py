"""A connection to a database, given back whatever happens, and errors in our words.

What a driver says may quote the URL, the query or a value. So its words are looked at for the kind of trouble and
then dropped, and no error that leaves here has the driver's behind it.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from lookalike.errors import DataError, MissingPart, quoted
from lookalike.files.databases.address import Address, Database

_SHOWN = {Database.POSTGRESQL: "PostgreSQL", Database.SQLITE: "SQLite", Database.DUCKDB: "DuckDB"}

_TROUBLES = (
    ("no password supplied", "asks for a password. Give it by ~/.pgpass, PGPASSFILE, PGSERVICE or PGPASSWORD"),
    ("authentication failed", "does not accept that user or password. Check both"),
    ("no pg_hba.conf entry", "does not let that user in from this machine. Ask who runs it"),
    ("could not translate host name", "is not found: there is no host of that name. Check the URL"),
    ("connection refused", "does not answer at that host and port. Check the URL, and whether it runs"),
    ("no such file or directory", "does not answer at that place. Check the URL, and whether it runs"),
    ("timeout expired", "does not answer in time. Check the URL, and whether it can be reached from here"),
    ("definition of service", "is not known under that name of a service. Check the file of services"),
    ("ssl", "and this machine do not agree on encryption. Check sslmode and the certificates"),
    ("does not exist", "has no such database, user or schema. Check the URL"),
    ("disabled by configuration", "has a view there that reads other files, which is not allowed. Make it a table"),
    ("permission denied", "does not allow that to this user. Ask for the right to it, or use another user"),
    ("read-?only", "allows reading only. Name a database that may be written"),
    ("is locked|conflicting lock", "is in use by another program. Wait until that is done, then try again"),
    ("depend on it", "has views or other objects that need the table to be replaced. Remove those first"),
    ("already exists", "has a table of that name by now. Name another, or replace it (--overwrite)"),
    ("not a database|not a valid duckdb", "does not recognise the file as one of its own. Check the path"),
    ("invalid byte sequence", "cannot keep a character of a value or a name (NUL?). Fix it in the original"),
    ("no space left|is full", "has no space left. Make room, then try again"),
    ("unable to open", "cannot open the file. Check the path and who may read it"),
)


class Connection:
    """A connection with the two things that are done on it: to ask, and to fill a table."""

    def __init__(self, database: Database, adbc: Any) -> None:
        self.database = database
        self._adbc = adbc

    def execute(self, sql: str) -> None:
        """A statement that gives nothing back."""
        with self._adbc.cursor() as cursor:
            cursor.execute(sql)

    def ask(self, sql: str, values: Sequence[str] = (), known_as: Mapping[str, str] | None = None) -> pl.DataFrame:
        """The rows of a query, taken over batch by batch; values are in it as $1, $2 ...

        `known_as` has the names of columns that people know, for messages.
        """
        with self._adbc.cursor() as cursor:
            cursor.execute(sql, tuple(values) or None)
            frame = pl.DataFrame(cursor.fetch_arrow())
        if self.database is Database.SQLITE:
            _refuse_other_bytes(frame, known_as or {})
        return frame

    def fill(self, table: str, schema: str | None, frame: pl.DataFrame) -> None:
        """Append rows to a table that is there."""
        with self._adbc.cursor() as cursor:
            cursor.adbc_ingest(table, frame, mode="append", db_schema_name=schema)

    def commit(self) -> None:
        self._adbc.commit()


def _refuse_other_bytes(frame: pl.DataFrame, known_as: Mapping[str, str]) -> None:
    """SQLite keeps any bytes as text, and its driver hands them on unchecked."""
    for cells in frame.get_columns():
        if cells.dtype != pl.String:
            continue
        try:
            cells.cast(pl.Binary).cast(pl.String)
        except pl.exceptions.PolarsError:
            name = known_as.get(cells.name, cells.name)
            raise DataError(
                f"Column {quoted(name)} has text that is not UTF-8: SQLite keeps whatever bytes it is given. Write it "
                "anew in UTF-8, or leave the column out."
            ) from None


@contextmanager
def connect(address: Address, *, write: bool = False) -> Iterator[Connection]:
    """A connection inside one transaction, which is undone unless the block commits it."""
    shown = _SHOWN[address.database]
    _require_drivers(shown)
    if address.database is not Database.POSTGRESQL:
        _check_file(Path(address.target), shown, write)
    try:
        adbc = _open(address, write)
        try:
            connection = Connection(address.database, adbc)
            if address.database is Database.POSTGRESQL and not write:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection
        finally:
            _give_back(adbc)
    except _failures() as error:
        raise _reword_error(error, shown) from None


def _failures() -> tuple[type[BaseException], ...]:
    """What comes out of a driver, or out of its batches while they are taken over."""
    from adbc_driver_manager import Error

    return (Error, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def _give_back(adbc: Any) -> None:
    """Close it, and with that undo what was not committed. A connection that broke is gone anyway."""
    from adbc_driver_manager import Error

    for step in (adbc.rollback, adbc.close):
        with suppress(Error, RuntimeError):
            step()


def _check_file(path: Path, shown: str, write: bool) -> None:
    if write and not path.exists():
        if not path.parent.is_dir():
            raise DataError(f"There is no folder {path.parent} for a {shown} file. Make it first, or check the path.")
    elif not path.is_file():
        raise DataError(f"There is no {shown} file {path}. Check the path.")
    elif not os.access(path, os.R_OK):
        raise DataError(f"The {shown} file {path} may not be read by this user. Check who may read it.")


def _require_drivers(shown: str) -> None:
    try:
        for driver in ("manager", "postgresql", "sqlite", "duckdb"):
            importlib.import_module(f"adbc_driver_{driver}")
    except ImportError:
        raise MissingPart(
            f"{shown} needs a driver that is not installed. Install it: pip install 'lookalike[databases]'."
        ) from None


def _open(address: Address, write: bool) -> Any:
    if address.database is Database.POSTGRESQL:
        import adbc_driver_postgresql.dbapi

        return adbc_driver_postgresql.dbapi.connect(address.target)
    if address.database is Database.SQLITE:
        import adbc_driver_sqlite.dbapi

        path = quote(os.path.abspath(address.target))
        return adbc_driver_sqlite.dbapi.connect(f"file:{path}?mode={'rwc' if write else 'ro'}")
    import adbc_driver_duckdb
    import adbc_driver_manager.dbapi

    # A view in a file from a stranger could read other files, or fetch them from a network.
    settings = {"access_mode": "READ_WRITE" if write else "READ_ONLY", "enable_external_access": "false"}
    return adbc_driver_manager.dbapi.connect(
        driver=adbc_driver_duckdb.driver_path(),
        entrypoint="duckdb_adbc_init",
        db_kwargs={"path": os.path.abspath(address.target), **settings},
    )


def _reword_error(error: BaseException, shown: str) -> DataError:
    """The trouble in our words; the driver's are not kept, since they may quote the URL or a value."""
    said = str(error).casefold()
    for sign, sentence in _TROUBLES:
        if re.search(sign, said):
            return DataError(f"{shown} {sentence}.")
    code = getattr(error, "sqlstate", None)
    hint = f" (its code is {code})" if isinstance(code, str) and code.isalnum() else ""
    return DataError(
        f"{shown} failed{hint}. What it said may hold values and is not shown; try the same table with a program of "
        "its own to see it."
    )
