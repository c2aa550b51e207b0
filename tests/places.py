"""Databases for tests: files of SQLite and DuckDB, and a PostgreSQL that is started from its package and ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

PASSWORD = "pa55-w0rd/of:the@steward"
DATABASES = ("postgresql", "sqlite", "duckdb")


@dataclass(frozen=True)
class Place:
    """A database that a test may fill."""

    kind: str
    url: str
    """Without a table and without a password."""
    whole: str
    """The same with the password that is in the environment."""

    def table(self, name: str) -> str:
        return f"{self.url}?table={quote(name, safe='')}"

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run SQL by the database's own means, not by ours; the rows of the last statement."""
        found: list[tuple[Any, ...]] = []
        if self.kind == "postgresql":
            import adbc_driver_postgresql.dbapi

            opened = adbc_driver_postgresql.dbapi.connect(self.whole, autocommit=True)
            with opened, opened.cursor() as cursor:
                for sql in statements:
                    cursor.execute(sql)
                return list(cursor.fetchall()) if cursor.description else []
        path = self.url.removeprefix(f"{self.kind}:///")
        if self.kind == "sqlite":
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                for sql in statements:
                    found = file.execute(sql).fetchall()
            return found
        import duckdb

        with duckdb.connect(path) as there:
            for sql in statements:
                found = there.execute(sql).fetchall()
        return found

    def tables(self) -> set[str]:
        if self.kind == "sqlite":
            return {row[0] for row in self.run("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        schemas = "('public', 'main', 'odd schema')"
        return {
            row[0]
            for row in self.run(f"SELECT table_name FROM information_schema.tables WHERE table_schema IN {schemas}")
        }


def _binaries() -> Path | None:
    found = shutil.which("postgres")
    if found:
        return Path(os.path.realpath(found)).parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@pytest.fixture
def postgres(server: Place) -> Place:
    """PostgreSQL, empty."""
    server.run('DROP SCHEMA IF EXISTS "odd schema" CASCADE', "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return server


@pytest.fixture(scope="session")
def server() -> Iterator[Place]:
    """Its own server on a free port of this machine, with a password; gone when the tests are done."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server here (on Debian: apt-get install postgresql)")
    # It refuses to be run by root.
    user: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if os.getuid() == 0:
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run(
        [binaries / "initdb", "-D", folder / "data", "-U", "steward", "-A", "scram-sha-256", "--locale=C", "-E", "UTF8"]
        + ["--no-sync", f"--pwfile={folder / 'password'}"],
        check=True,
        **quiet,
        **user,
    )
    settings = {"listen_addresses": "127.0.0.1", "port": port, "fsync": "off", "unix_socket_directories": folder}
    process = subprocess.Popen(
        [binaries / "postgres", "-D", folder / "data", *(f"--{name}={value}" for name, value in settings.items())],
        **quiet,
        **user,
    )
    here = f"127.0.0.1:{port}/postgres"
    place = Place(
        "postgresql", f"postgresql://steward@{here}", f"postgresql://steward:{quote(PASSWORD, safe='')}@{here}"
    )
    try:
        state = folder / "data" / "postmaster.pid"
        for _ in range(200):
            if state.exists() and "ready" in state.read_text():
                break
            time.sleep(0.05)
        yield place
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing is to be kept
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=DATABASES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Each database in turn, empty."""
    if request.param != "postgresql":
        url = f"{request.param}:///{tmp_path / 'people.db'}"
        return Place(request.param, url, url)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    server: Place = request.getfixturevalue("postgres")
    return server
