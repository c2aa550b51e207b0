"""`lookalike sample`: tables of plain records in a file, and files that are never replaced."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from lookalike.files.releases.write import write_release
from tests.apps.cli.running import Done
from tests.apps.cli.running import lookalike as command
from tests.files.releases.release_forms import MANIFEST, clinic_release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _, release = clinic_release("grouped")
    write_release(tmp_path / "grouped", release, documents={}, manifest=MANIFEST)
    return tmp_path / "grouped"


def test_the_command(folder: Path, tmp_path: Path) -> None:
    def run(*words: str) -> Done:
        return command("sample", folder, *words, cwd=tmp_path)

    done = run("--worlds", "2", "--seed", "1", "--out", "w.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 tables of 12 rows in w.csv.\n"
    assert "drawn from their cells by what the whole release makes likely" in done.stderr
    assert pl.read_csv(tmp_path / "w.csv")["world"].n_unique() == 2
    again = run("--worlds", "2", "--out", "w.csv")
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_one_file_for_each_table(folder: Path, tmp_path: Path) -> None:
    done = command("sample", folder, "--worlds", "3", "--out", "w{world}.parquet", cwd=tmp_path)
    assert done.stdout == "3 tables of 12 rows in w1.parquet to w3.parquet.\n"
    assert [len(pl.read_parquet(tmp_path / f"w{world}.parquet")) for world in (1, 2, 3)] == [12] * 3


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    refused = command("sample", tmp_path, "--out", "w.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "not a release folder" in refused.stderr
    assert list(tmp_path.iterdir()) == []
