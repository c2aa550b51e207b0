"""`lookalike compare`: what it prints, what it keeps, how it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lookalike.apps.cli import main
from lookalike.apps.cli.compare import _code
from lookalike.evaluation.compare import Comparison, Run


@pytest.fixture
def command(patients: Path) -> Any:
    def run(*words: object) -> Any:
        columns = ("--qi", "age,sex", "--sensitive", "diagnosis", "--jobs", "1", "--seed", "1")
        return CliRunner().invoke(main, ["compare", str(patients), *columns, *map(str, words)])

    return run


def test_a_table_and_a_folder(command: Any, tmp_path: Path) -> None:
    words = ("--model", "l-diversity:2,3", "--algorithm", "mondrian,anatomy", "--out", tmp_path / "kept")
    shown = command(*words)
    assert shown.exit_code == 0, shown.output
    for part in ("l-diversity:3", "mondrian", "anatomy", "GCP", "MSBS", "passed", "are not equal", "*"):
        assert part in shown.output
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        "comparison.csv",
        "comparison.json",
        "frontier.svg",
        "runs",
    }
    rows = list(csv.DictReader(io.StringIO((tmp_path / "kept" / "comparison.csv").read_text())))
    assert [row["algorithm"] for row in rows] == ["mondrian", "anatomy"] * 2
    assert float(rows[2]["l"]) >= 3
    again = command(*words, "--json")
    plain = json.loads(again.stdout)
    assert (plain["made"], plain["reused"], len(plain["runs"])) == (0, 4, 4)
    assert "4 runs" in again.stderr
    assert [run["frontier"] for run in plain["runs"]] == [row["frontier"] == "yes" for row in rows]
    assert plain["runs"][0]["meaning"][0].startswith("Someone who")


def test_axes_and_attacks(command: Any) -> None:
    words = ("--model", "l-diversity:2", "--algorithm", "mondrian", "--json")
    plain = json.loads(command(*words, "--x", "ail", "--y", "attack", "--attack", "naive-bayes,homogeneity").stdout)
    assert (plain["x"], plain["y"]) == ("ail", "attack")
    assert [one["attack"] for one in plain["runs"][0]["attacks"]] == ["naive-bayes", "homogeneity"]
    assert json.loads(command(*words, "--attack", "none").stdout)["runs"][0]["attacks"] == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--model", "l-diversty:2"), 2, "Did you mean"),
        (("--model", "l-diversity:2", "--algorithm", "mondrain"), 2, "Did you mean"),
        (("--model", "l-diversity:2", "--attack", "naive-bays"), 2, "Did you mean"),
        (("--model", "l-diversity:9..2"), 2, "leads nowhere"),
        (("--model", "l-diversity:2", "--x", "beta"), 2, "--x"),
        (("--model", "l-diversity:500"), 3, "The nearest that can"),
        (("--model", "t-closeness:0.3", "--algorithm", "anatomy"), 2, "unfit"),
        ((), 2, "--model"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_how_it_ends(command: Any, words: tuple[str, ...], code: int, said: str) -> None:
    ended = command(*words)
    assert ended.exit_code == code, ended.output
    assert said in ended.output


def test_wrong_folders_are_refused_and_left_alone(command: Any, tmp_path: Path) -> None:
    words = ("--model", "l-diversity:2", "--algorithm", "mondrian")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "comparison.json").write_text('{"kind": "something else"}')
    (tmp_path / "file").write_text("mine")
    for name, said in (("notes", "something else"), ("other", "something else"), ("file", "is a file")):
        refused = command(*words, "--out", tmp_path / name)
        assert refused.exit_code == 2, refused.output
        assert said in " ".join(refused.output.split())
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert command(*words, "--out", tmp_path / "empty").exit_code == 0


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (("done", "unfit", "infeasible"), 0),
        (("done", "audit failed"), 1),
        (("done", "fault"), 70),
        (("infeasible", "unfit"), 3),
        (("unfit",), 2),
    ],
)
def test_exit_codes(status: tuple[str, ...], code: int) -> None:
    runs = tuple(Run(promise="p", algorithm="a", adversary="reads-release", status=one) for one in status)
    found = Comparison(runs=runs, made=frozenset(), reused=frozenset(), x="gcp", y="beta", sensitive=("s",), notes=())
    assert _code(found) == code


def test_the_axes_offered_are_those_there_are() -> None:
    shown = CliRunner().invoke(main, ["compare", "--help"]).output
    assert "gcp|ail|msbs|query-error|values-changed" in "".join(shown.split())
    assert "beta|delta|t|largest-belief|attack|k|l|" in "".join(shown.split())
