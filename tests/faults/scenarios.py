"""Commands that faults are tried on, what each leaves, and whether that is whole.

A trial has a folder: people.csv (the original), earlier (a release of it), job (what a studio's run made), out (where
the command writes) and tmp.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.injection import answer_of_fork

QI = ["--qi", "age,sex", "--sensitive", "diagnosis"]
ASKED = [*QI, "--model", "k-anonymity:3", "--algorithm", "mondrian"]


def content_of(path: Path) -> Any:
    """All bytes of a file or folder; None if there is none."""
    if not path.exists():
        return None
    files = [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
    return {str(file.relative_to(path.parent)): file.read_bytes() for file in files}


def _whole_release(home: Path, target: Path) -> None:
    listed = json.loads((target / "datapackage.json").read_text())["lookalike"]["files"]
    found = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    assert found == sorted(listed)
    assert answer_of_fork(lambda: run(["audit", str(home / "people.csv"), str(target)], home)) == 0


def _whole_tables(home: Path, target: Path) -> None:
    files = [target] if target.is_file() else sorted(target.glob("*.csv"))
    assert files
    assert all(len(path.read_bytes().splitlines()) == _n_lines(home) for path in files)


def _whole_comparison(home: Path, target: Path) -> None:
    """Its runs come one by one, each whole; the same command goes on."""
    kept = [path for path in target.rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert all(json.loads(path.read_text()) for path in kept if path.suffix == ".json")


def _n_lines(home: Path) -> int:
    return len((home / "people.csv").read_bytes().splitlines())


@dataclass(frozen=True)
class Scenario:
    """A command and what it makes, both in the folder of a trial."""

    words: Callable[[Path], list[str]]
    target: str
    earlier: str | None = None
    """What is at the target before: a name in the trial's folder. The command replaces it."""
    content: Callable[[Path], Any] = content_of
    whole: Callable[[Path, Path], None] = _whole_release
    """Fails for a target that is neither as it was nor whole."""
    goes_on: bool = False
    """The next run takes up what is there."""
    beside: tuple[str, ...] = ()
    """What a database leaves beside its file until it is opened again."""


def _publish(*more: str) -> Callable[[Path], list[str]]:
    return lambda home: ["publish", str(home / "people.csv"), *ASKED, "--out", str(home / "out" / "release"), *more]


def _load(kind: str) -> Callable[[Path], list[str]]:
    def words(home: Path) -> list[str]:
        url = f"{kind}:///{home / 'out' / 'people.db'}?table=stays"
        return ["load", str(home / "earlier"), "--to", url, "--overwrite"]

    return words


def _rows_of(kind: str) -> Callable[[Path], Any]:
    """The tables of a database with their rows. Opening it puts right what a killed process left."""

    def rows(path: Path) -> Any:
        if not path.exists():
            return None
        if kind == "sqlite":
            import sqlite3

            with sqlite3.connect(path) as database:
                return _listed(database, "SELECT name FROM sqlite_master WHERE type = 'table'")
        import duckdb

        with duckdb.connect(str(path)) as database:
            return _listed(database, "SELECT table_name FROM information_schema.tables")

    return lambda path: answer_of_fork(lambda: rows(path))


def _listed(database: Any, tables: str) -> dict[str, list[list[str]]]:
    return {
        name: sorted([str(cell) for cell in row] for row in database.execute(f'SELECT * FROM "{name}"').fetchall())
        for (name,) in database.execute(tables).fetchall()
    }


def _whole_database(kind: str) -> Callable[[Path, Path], None]:
    def whole(home: Path, target: Path) -> None:
        tables = _rows_of(kind)(target)
        # A file that was just made may have no table yet; tables under a passing name must never be seen.
        assert tables is None or set(tables) <= {"stays"}
        assert not tables or len(tables["stays"]) == _n_lines(home) - 1

    return whole


SCENARIOS = {
    "publish": Scenario(_publish(), "release"),
    "publish --overwrite": Scenario(_publish("--overwrite"), "release", earlier="earlier"),
    "publish --private --overwrite": Scenario(_publish("--private", "--overwrite"), "release", earlier="earlier"),
    "publish in parts": Scenario(lambda home: ["(parts)"], "release", earlier="earlier"),
    "studio export": Scenario(lambda home: ["(export)"], "release", earlier="earlier"),
    "sample": Scenario(
        lambda home: ["sample", str(home / "earlier"), "--worlds", "1", "--out", str(home / "out" / "drawn.csv")],
        "drawn.csv",
        whole=_whole_tables,
    ),
    "synthesize": Scenario(
        lambda home: [
            "synthesize", str(home / "people.csv"), *QI, "--epsilon", "2", "--out", str(home / "out" / "made.csv"),
        ],
        "made.csv",
        whole=_whole_tables,
    ),
    "compare": Scenario(
        lambda home: [
            "compare", str(home / "people.csv"), *QI, "--model", "k-anonymity:3", "--algorithm", "mondrian",
            "--attack", "none", "--out", str(home / "out" / "comparison"),
        ],
        "comparison",
        whole=_whole_comparison,
        goes_on=True,
    ),
    **{
        f"load into {name}": Scenario(
            _load(kind),
            "people.db",
            content=_rows_of(kind),
            whole=_whole_database(kind),
            goes_on=True,
            beside=("people.db-journal", "people.db-wal", "people.db-shm", "people.db.wal"),
        )
        for name, kind in (("SQLite", "sqlite"), ("DuckDB", "duckdb"))
    },
}  # fmt: skip


def run(words: list[str], home: Path) -> int:
    """The command, or what has no command."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(home / "tmp")
    if words[0].startswith("("):
        return _without_command(words[0], home)
    from lookalike.apps.cli import main

    try:
        main(words, "lookalike")
    except SystemExit as done:
        return int(done.code or 0)


def _without_command(what: str, home: Path) -> int:
    from lookalike.errors import LookalikeError
    from lookalike.memory import address_space_left

    try:
        if what == "(export)":
            from lookalike.apps.studio.jobs import Job
            from lookalike.apps.studio.results import export_to

            job = Job(1, "people", "publish", {}, home / "job", state="done")
            export_to(job, home / "out" / "release", overwrite=True)
        else:
            import polars as pl

            from lookalike.data.contracts import Promise
            from lookalike.data.schema import Schema
            from lookalike.models.k_anonymity import KAnonymity
            from lookalike.pipeline.backends.local import LocalBackend
            from lookalike.pipeline.recipe import Recipe
            from lookalike.publication.in_parts import publish_in_parts

            recipe = Recipe(
                schema=Schema.of(qi=["age", "sex"], sensitive=["diagnosis"]), promises=(Promise(KAnonymity(3)),)
            )
            frame = pl.read_csv(home / "people.csv")
            publish_in_parts(LocalBackend(frame), recipe, home / "out" / "release", overwrite=True, part_rows=1000)
    except LookalikeError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except BaseException as error:  # panics of libraries in Rust are no plain exceptions
        # Without memory a caller in Python gets whatever the library that wanted some raises.
        if address_space_left() is None and not isinstance(error, MemoryError):
            raise
        print(f"Error: {type(error).__name__}", file=sys.stderr)
        return 2
    return 0
