"""`lookalike query`: sentences, tables, JSON, refusals."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lookalike.apps.cli import main
from tests.analysis.release_folders import bucketized
from tests.apps.cli.running import QI, lookalike


@pytest.fixture(scope="module")
def noisy(patients: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "noisy"
    result = lookalike(
        "publish", patients, *QI, "--model", "beta-likeness:4", "--algorithm", "perturbation", "--out", out
    )
    assert result.returncode == 0, result.stderr
    return out


def test_query_counts_in_one_sentence(noisy: Path, patient_rows: list[dict[str, str]]) -> None:
    result = lookalike(
        "query", noisy, "SELECT COUNT(*) WHERE age BETWEEN 20 AND 60 AND diagnosis IN ('asthma', 'HIV infection')"
    )
    assert result.returncode == 0, result.stderr
    rows = sum(bool(row["age"]) and 20 <= int(row["age"]) <= 60 for row in patient_rows)
    assert result.stdout.startswith("About ")
    assert result.stdout.endswith(f"(reconstruction over {rows} rows).\n")
    assert "with 95 % confidence from" in result.stdout
    exact = lookalike("query", noisy, "SELECT COUNT(*) WHERE age >= 20 AND age <= 60")
    assert exact.stdout == f"{rows}, without error (reconstruction over {rows} rows).\n"


def test_query_as_json(noisy: Path) -> None:
    result = lookalike("query", noisy, "SELECT COUNT(*) WHERE diagnosis = 'influenza'", "--json", "--level", "0.8")
    found = json.loads(result.stdout)
    assert list(found) == ["value", "error", "low", "high", "level", "rows", "method"]
    assert found["low"] <= found["value"] <= found["high"]
    assert (found["level"], found["rows"], found["method"]) == (0.8, 400, "reconstruction")
    grouped = 'SELECT COUNT(*), sex, "ZIP code" WHERE diagnosis <> \'influenza\' GROUP BY sex, "zip code"'
    lines = json.loads(lookalike("query", noisy, grouped, "--json").stdout)["lines"]
    assert list(lines[0]) == ["sex", "zip code", "published", "estimate", "error", "low", "high"]
    assert len({(line["sex"], line["zip code"]) for line in lines}) == len(lines) > 2


def test_query_prints_a_table(noisy: Path, patient_rows: list[dict[str, str]]) -> None:
    result = lookalike("query", noisy, "SELECT COUNT(*), sex GROUP BY sex")
    assert result.stdout.split()[:6] == ["sex", "published", "estimate", "error", "low", "high"]
    for sex, count in Counter(row["sex"] for row in patient_rows).items():
        assert [sex or "(missing)", f"{count}", f"{count}", "0"] in [
            line.split()[:4] for line in result.stdout.splitlines()
        ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["SELECT COUNT(*) WHERE"], "not SQL that can be read"),
        (["SELECT COUNT(*) LIMIT 3"], "What is understood: SELECT figures"),
        (["SELECT COUNT(*) WHERE agee = 3"], 'There is no column "agee". Did you mean "age"?'),
        (["SELECT COUNT(*)", "--level", "95"], "0<x<1"),
    ],
)
def test_query_refuses_with_exit_2(noisy: Path, words: list[str], message: str) -> None:
    result = lookalike("query", noisy, *words, "--json")
    assert result.returncode == 2
    assert message in result.stderr
    assert message in json.loads(result.stdout)["error"]["message"]


def test_query_of_a_bucketized_release(tmp_path: Path) -> None:
    folder = bucketized(tmp_path / "out", [0, 0, 1, 1], {"age": [30, 40, 50, None]}, {"s": ["a", "b", "a", "a"]})
    result = lookalike("query", folder, "SELECT COUNT(*) WHERE age < 50 AND s = 'a'", "--level", "0.5")
    assert result.stdout == "1, without error (buckets over 2 rows).\n"
    result = lookalike("query", folder, "SELECT COUNT(*) WHERE age > 30 AND s = 'a'", "--level", "0.5")
    assert result.stdout == "About 1.5, with 50 % confidence from 1 to 2 (buckets over 2 rows).\n"
    result = lookalike("query", folder, "SELECT COUNT(*), age WHERE s = 'a' GROUP BY age")
    assert [line.split()[:3] for line in result.stdout.splitlines()] == [
        ["age", "estimate", "error"],
        ["30", "0.5", "0.5"],
        ["40", "0.5", "0.5"],
        ["50", "1", "0"],
        ["(missing)", "1", "0"],
    ]


def test_query_of_a_grouped_release(release: Path) -> None:
    result = lookalike("query", release, "SELECT COUNT(*) WHERE age BETWEEN 30 AND 60", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert 0 < found["low"] < found["value"] < found["high"]
    assert found["method"] == "weighted"


def test_query_of_what_cannot_be_counted(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        result = lookalike("query", folder, "SELECT COUNT(*)")
        assert result.returncode == 2
        assert "is not a release folder" in result.stderr


def test_a_value_that_no_record_has_is_refused(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["query", str(release), "SELECT COUNT(*) WHERE diagnosis = 'influensa'"])
    said = capsys.readouterr()
    assert said.out == ""
    assert 'Did you mean "influenza"?' in " ".join(said.err.split())
    with pytest.raises(SystemExit):
        main(["query", str(release), "SELECT COUNT(*) WHERE alter > 50"])
    assert "words of SQL themselves" in " ".join(capsys.readouterr().err.split())
