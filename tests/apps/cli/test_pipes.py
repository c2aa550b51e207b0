"""Commands in pipelines: tables from standard input, published tables on standard output, nothing else there."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import fsspec
import polars as pl
import pytest

import lookalike as la
from lookalike.apps.cli import output
from tests.apps.cli.running import CLI, Done, lookalike

SECRET = "hunter2secret"
ROWS = "age,job,diagnosis\n" + "".join(f"{age},=job{age % 3},{'=cold' if age % 2 else 'flu'}\n" for age in range(24))
ASKED = ["--qi", "age,job", "--sensitive", "diagnosis", "--model", "k-anonymity:4"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    return path


def piped(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> Done:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    return lookalike(*words)


def test_from_standard_input_to_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = piped(monkeypatch, "publish", "-", *ASKED, "--out", "-", "--safe-csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["age", "job", "diagnosis"]
    assert len(rows) == 25
    assert {row[2] for row in rows[1:]} == {"'=cold", "flu"}
    assert "24 rows that keep k-anonymity:4" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_other_commands_read_standard_input(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "release"
    assert piped(monkeypatch, "publish", "-", *ASKED, "--out", folder).returncode == 0
    audited = piped(monkeypatch, "audit", "-", folder)
    assert audited.returncode == 0, audited.stderr
    assert "24 rows, 3 columns" in piped(monkeypatch, "inspect", "-").stdout
    assert "both come from standard input" in piped(monkeypatch, "audit", "-", "-", *ASKED[:4]).stderr
    drawn = lookalike("sample", folder, "--worlds", "2", "--out", "-", "--safe-csv", "--seed", "1")
    lines = list(csv.DictReader(io.StringIO(drawn.stdout)))
    assert (len(lines), {line["world"] for line in lines}) == (48, {"1", "2"})
    assert {line["job"][0] for line in lines} == {"'"}


def test_synthetic_records_on_standard_output(table: Path) -> None:
    done = lookalike("synthesize", table, *ASKED[:4], "--epsilon", "1", "--out", "-", "--safe-csv", "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert len(list(csv.reader(io.StringIO(done.stdout)))) == 25
    assert "\n=" not in done.stdout
    assert ",=" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--json"], "both write to standard output"),
        (["--private"], "--private is about a release folder"),
        (["--overwrite"], "--overwrite is about a release folder"),
        (["--to", "sqlite:///x.db?table=t"], "--to is about a release folder"),
        (["--algorithm", "anatomy", "--model", "l-diversity:2"], "more than one table"),
    ],
)
def test_what_has_no_place_on_standard_output(table: Path, words: list[str], said: str) -> None:
    asked = ASKED[:4] if "--model" in words else ASKED
    done = lookalike("publish", table, *asked, *words, "--out", "-")
    assert done.returncode == 2
    assert said in done.stderr
    if "--json" not in words:
        assert done.stdout == ""


def test_nothing_is_sent_where_no_release_keeps_the_promise(table: Path) -> None:
    done = lookalike("publish", table, *ASKED[:4], "--model", "l-diversity:9", "--out", "-")
    assert (done.returncode, done.stdout) == (3, "")


def test_secrets_in_urls_are_nowhere(table: Path, tmp_path: Path) -> None:
    url = f"s3://key:{SECRET}@bucket/t.csv"
    for words in (
        ["publish", url, *ASKED, "--out", tmp_path / "out"],
        ["publish", table, *ASKED, "--out", url],
        ["inspect", url, "--json"],
        ["audit", table, url],
        ["audit", url, table, *ASKED[:4]],
        ["query", url, "SELECT COUNT(*)"],
        ["sample", url, "--out", tmp_path / "worlds.csv"],
        ["synthesize", table, *ASKED[:4], "--epsilon", "1", "--out", url],
    ):
        done = lookalike(*words)
        assert done.returncode == 2, words
        assert SECRET not in done.stdout + done.stderr, words
    assert not any(SECRET in str(path) for path in tmp_path.rglob("*"))


def test_publish_to_a_url(table: Path) -> None:
    try:
        done = lookalike("publish", table, *ASKED, "--out", "memory://out/release")
        assert done.returncode == 0, done.stderr
        assert "Release:  memory://out/release\n" in done.stdout
        assert la.verify(pl.read_csv(table), "memory://out/release").passed
    finally:
        fsspec.filesystem("memory").store.clear()


@pytest.mark.slow
def test_a_closed_pipe_does_not_change_the_verdict(table: Path, tmp_path: Path) -> None:
    """`audit ... | true` must not turn "does not hold" into success."""
    weak = tmp_path / "weak.csv"
    weak.write_text(ROWS)
    read, write = os.pipe()
    os.close(read)
    words = ["audit", str(table), str(weak), *ASKED]
    done = subprocess.run([*CLI, *words], stdout=write, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(write)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_published_table_that_nobody_reads_to_its_end(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(output.shutil, "copyfileobj", closed)
    monkeypatch.setattr(output, "leave_stdout", lambda: None)
    done = lookalike("publish", table, *ASKED, "--out", "-")
    assert (done.returncode, done.stdout) == (141, "")
    assert "Error" not in done.stderr
