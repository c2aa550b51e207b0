"""`lookalike export`: a folder into a database, and tables that are never replaced."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import lookalike as la
from tests.apps.cli.running import lookalike


@pytest.fixture
def folder(patients: Path, tmp_path: Path) -> Path:
    made = la.publish(patients, qi=["age"], sensitive="diagnosis", model="l-diversity:2", algorithm="anatomy", seed=1)
    made.write(tmp_path / "out", report="brief")
    return tmp_path / "out"


def test_a_folder_in_buckets_becomes_two_tables(folder: Path, tmp_path: Path) -> None:
    words = ["export", folder, "--to", f"sqlite:///{tmp_path}/new.db?table=r"]
    done = lookalike(*words)
    assert (done.returncode, done.stdout) == (0, "Database: r_qit, r_sat\n"), done.stderr
    with closing(sqlite3.connect(tmp_path / "new.db")) as database:
        assert database.execute("SELECT count(*) FROM r_qit").fetchall() == [(400,)]
    again = lookalike(*words)
    assert again.returncode == 2
    assert 'There is a table "r_qit" already' in again.stderr
    assert lookalike(*words, "--overwrite").returncode == 0


def test_a_table_of_somebody_else_is_never_replaced(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mine.db")) as database:
        database.execute("CREATE TABLE r_qit (thesis TEXT)")
        database.commit()
    done = lookalike("export", folder, "--to", f"sqlite:///{tmp_path}/mine.db?table=r", "--overwrite")
    assert done.returncode == 2
    assert "not made by lookalike" in done.stderr


def test_what_is_no_release_folder_is_refused(tmp_path: Path) -> None:
    refused = lookalike("export", tmp_path, "--to", f"sqlite:///{tmp_path}/new.db?table=r")
    assert refused.returncode == 2
    assert "not a release folder" in refused.stderr
    assert list(tmp_path.iterdir()) == []
