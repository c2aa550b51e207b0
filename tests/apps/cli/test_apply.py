"""`lookalike apply`, and the scheme that `publish --scheme-out` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.cli.running import lookalike
from tests.pipeline.test_schemes import patients

QI = ["--qi", "age,sex,zip", "--categorical", "zip", "--sensitive", "diagnosis"]


@pytest.fixture
def january(tmp_path: Path) -> Path:
    patients(800).write_csv(tmp_path / "january.csv")
    patients(700, seed=9).write_csv(tmp_path / "february.csv")
    words = [*QI, "--model", "k-anonymity:20", "--report", "brief", "--out", "january", "--scheme-out", "scheme.yaml"]
    done = lookalike("publish", "january.csv", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Scheme:   scheme.yaml" in done.stdout
    return tmp_path


def test_next_months_table_is_published_in_the_same_cells(january: Path) -> None:
    words = [
        "apply",
        "scheme.yaml",
        "february.csv",
        "--model",
        "k-anonymity:10",
        "--suppress",
        "0.5",
        "--report",
        "brief",
    ]
    done = lookalike(*words, "--out", "february", "--json", cwd=january)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["audit"]["passed"]
    assert told["algorithm"] == "fixed-cells:suppress=0.5"
    assert told["rows"] + told["suppressed"] == 700
    audit = lookalike("audit", "february.csv", "february", cwd=january)
    assert audit.returncode == 0, audit.stdout
    report = json.loads((january / "february" / "report.json").read_text())
    assert "lookalike apply SCHEME YOUR-TABLE --model k-anonymity:10 --suppress 0.5" in json.dumps(report)
    table = lookalike(*words, "--out", "-", cwd=january)
    assert table.stdout.splitlines()[0] == "age,sex,zip,diagnosis"


def test_cells_that_do_not_keep_the_promise_stop_it(january: Path) -> None:
    done = lookalike("apply", "scheme.yaml", "february.csv", "--out", "february", cwd=january)
    assert done.returncode == 3
    assert "do not keep the promise in the cells of this scheme" in done.stderr
    assert not (january / "february").exists()


def test_what_is_wrong_is_said(january: Path) -> None:
    (january / "bad.yaml").write_text("lookalike scheme: 1\n")
    for words, word in (
        (["apply", "bad.yaml", "february.csv", "--out", "x"], "bad.yaml"),
        (["apply", "missing.yaml", "february.csv", "--out", "x"], "Cannot read the scheme missing.yaml"),
        (["apply", "scheme.yaml", "february.csv", "--suppress", "half", "--out", "x"], "suppress"),
        (["apply", "scheme.yaml", "february.csv", "--out", "-", "--json"], "both write to standard output"),
        (
            [
                "publish",
                "january.csv",
                *QI,
                "--model",
                "k-anonymity:5",
                "--algorithm",
                "groups",
                "--scheme-out",
                "s.yaml",
            ],
            "mondrian-strict",
        ),
        (["publish", "january.csv", *QI, "--model", "k-anonymity:5", "--scheme-out", "scheme.yaml"], "exists already"),
        (
            ["publish", "january.csv", *QI, "--model", "k-anonymity:5", "--scheme-out", "s.csv"],
            "depends on the other columns",
        ),
    ):
        words = words if "--out" in words else [*words, "--out", "x"]
        done = lookalike(*words, cwd=january)
        assert done.returncode == 2, done.stderr
        assert word in done.stderr
        assert not (january / "x").exists()
    parts = lookalike(
        "publish",
        "january.csv",
        *QI,
        "--model",
        "k-anonymity:5",
        "--part-rows",
        "2000",
        "--scheme-out",
        "s.yaml",
        "--out",
        "x",
        cwd=january,
    )
    assert parts.returncode == 2
    assert "all groups at once" in parts.stderr


def test_one_column_is_also_written_as_a_mapping(january: Path) -> None:
    words = [
        "--qi",
        "age",
        "--model",
        "k-anonymity:100",
        "--report",
        "brief",
        "--out",
        "ages",
        "--scheme-out",
        "ages.csv",
    ]
    done = lookalike("publish", "january.csv", *words, cwd=january)
    assert done.returncode == 0, done.stderr
    assert (january / "ages.csv").read_text().startswith("column,from,to\nage,18,18..")
    again = lookalike("publish", "january.csv", *words, "--overwrite", cwd=january)
    assert again.returncode == 0, again.stderr
