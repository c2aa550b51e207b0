"""`lookalike synthesize`: records, the stated promise, JSON, refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from lookalike.apps.cli import main
from tests.apps.cli.running import QI, lookalike


def test_the_command_writes_records_and_states_the_promise(patients: Path, tmp_path: Path) -> None:
    result = lookalike("synthesize", patients, *QI, "--beta", "3", "--rows", "50", "--out", "made.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "differential privacy with epsilon = 1.386294361119" in result.stdout
    assert "Taken as public: that there are 400 records" in result.stdout
    assert 'Not covered: which values occur in "age", "sex", "zip code", "diagnosis"' in result.stdout
    assert "note: Declare the values" in result.stderr
    with (tmp_path / "made.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["age", "sex", "zip code", "diagnosis"]
    assert len(rows) == 51


def test_the_command_as_json(patients: Path, tmp_path: Path) -> None:
    words = ["--epsilon", "8", "--degree", "1", "--out", "made.parquet", "--json"]
    result = lookalike("synthesize", patients, *QI, *words, cwd=tmp_path)
    said = json.loads(result.stdout)
    assert (said["rows"], said["method"], said["promise"]) == (400, "privbayes:8,degree=1", "differential privacy")
    assert said["budget"]["structure"] + said["budget"]["tables"] == said["epsilon"] == 8
    assert {link["column"] for link in said["network"]} == {"age", "sex", "zip code", "diagnosis"}
    assert said["read_from_table"]["values"] == ["age", "sex", "zip code", "diagnosis"]
    assert pl.read_parquet(tmp_path / "made.parquet").height == 400


def test_the_command_takes_another_synthesizer(patients: Path, tmp_path: Path) -> None:
    pytest.importorskip("mbi")
    words = [
        "--qi",
        "sex",
        "--algorithm",
        "mst:delta=1e-7",
        "--epsilon",
        "2",
        "--bins",
        "9",
        "--out",
        "made.csv",
        "--json",
    ]
    result = lookalike("synthesize", patients, *words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    assert (said["method"], said["epsilon"], said["delta"]) == ("mst:2,delta=0.0000001,bins=9", 2, 1e-7)
    assert 0.99 * said["budget"]["rho"] < said["budget"]["spent"] <= said["budget"]["rho"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Give --epsilon or --beta"),
        (["--epsilon", "1", "--beta", "1"], "Give --epsilon or --beta"),
        (["--epsilon", "0"], "privbayes: epsilon is 0"),
        (["--beta", "-2"], "beta is -2"),
        (["--algorithm", "mst"], "Give --epsilon or --beta"),
        (["--algorithm", "mst:1", "--epsilon", "1"], "epsilon is given twice"),
        (["--algorithm", "mst", "--epsilon", "1", "--theta", "3"], "theta"),
        (["--epsilon", "1", "--domains", "declared"], "does not declare the values"),
        (["--epsilon", "1", "--out", "taken.csv"], "exists already"),
    ],
)
def test_the_command_refuses(
    patients: Path,
    tmp_path: Path,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.csv").write_text("mine")
    out = [] if "--out" in words else ["--out", "made.csv"]
    with pytest.raises(SystemExit) as exited:
        main(["synthesize", str(patients), *QI, *words, *out])
    assert exited.value.code == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["taken.csv"]
    assert (tmp_path / "taken.csv").read_text() == "mine"


def visits_of(folder: Path) -> Path:
    """Ten persons with one to ten visits each."""
    rows = [
        (person, 20 + person, "flu" if visit % 2 else "cold") for person in range(10) for visit in range(person + 1)
    ]
    file = folder / "visits.csv"
    pl.DataFrame(rows, schema=["patient", "age", "diagnosis"], orient="row").write_csv(file)
    return file


def test_a_person_with_several_records_is_refused_with_two_ways_out(tmp_path: Path) -> None:
    words = [visits_of(tmp_path), "--qi", "age", "--sensitive", "diagnosis", "--epsilon", "2", "--out", "made.csv"]
    refused = lookalike("synthesize", *words, "--person", "patient", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--contribution C" in refused.stderr
    assert "--rows-are-persons" in refused.stderr
    unnamed = lookalike("synthesize", *words, "--contribution", "3", cwd=tmp_path)
    assert unnamed.returncode == 2
    assert "--person patient" in unnamed.stderr
    stated = lookalike("synthesize", *words, "--person", "patient", "--rows-are-persons", cwd=tmp_path)
    assert stated.returncode == 0, stated.stderr
    assert "Had any one record been another one" in stated.stdout


def test_epsilon_per_person(tmp_path: Path) -> None:
    words = [visits_of(tmp_path), "--qi", "age", "--sensitive", "diagnosis", "--epsilon", "2", "--out", "made.csv"]
    made = lookalike("synthesize", *words, "--person", "patient", "--contribution", "3", "--json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "28 rows of 7 persons are left out: at most 3 rows per person." in made.stderr
    said = json.loads(made.stdout)
    assert (said["records"], said["records_per_person"], said["epsilon"]) == (27, 3, 2)
    assert said["neighbours"] == "the records of one person replaced"
    assert said["budget"]["epsilon_per_record"] == pytest.approx(2 / 3)
    assert said["budget"]["structure"] + said["budget"]["tables"] == pytest.approx(2 / 3)
