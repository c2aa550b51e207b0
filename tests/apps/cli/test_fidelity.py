"""`lookalike fidelity`: a table of figures, and the same as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.cli.running import lookalike


@pytest.fixture(scope="module")
def written(patients: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In buckets, which change no column by itself."""
    out = tmp_path_factory.mktemp("compared") / "release"
    words = ["--qi", "age,sex", "--sensitive", "diagnosis", "--model", "l-diversity:3", "--algorithm", "anatomy"]
    done = lookalike("publish", patients, *words, "--seed", "1", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
def test_the_command_fidelity(written: Path, patients: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    words = ["fidelity", written, "--original", patients]
    table = lookalike(*words, "--picture", tmp_path / "trust.svg")
    assert table.returncode == 0, table.stderr
    head, first = (line.split() for line in table.stdout.splitlines()[:2])
    assert head == ["original", "release", "lost"]
    assert first == ["distance", "of", "single", "columns", "0.000", "0.000", "0.000"]
    lines = [line.split() for line in table.stdout.splitlines()]
    assert ["column", "trust", "value", "original", "release"] in lines
    assert ["age,", "sex", "ok", "0.0", "%"] in [line[:5] for line in lines], "both are published exactly"
    assert ">ok<" in (tmp_path / "trust.svg").read_text()
    plain = json.loads(lookalike(*words, "--json").stdout)
    assert {"metric", "what", "original", "release", "lost"} == set(plain["lines"][0])
    assert {pair["word"] for pair in plain["pairs"]} <= {"ok", "blurred", "gone"}
    assert {column["column"] for column in plain["columns"]} == {"age", "sex", "diagnosis"}


def test_it_needs_the_original(release: Path) -> None:
    refused = lookalike("fidelity", release)
    assert refused.returncode == 2
    assert "--original" in refused.stderr
