"""`lookalike publish`: text, JSON, exit codes, and what is left when it is refused or interrupted."""

from __future__ import annotations

import csv
import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from lookalike.apps.cli import main
from tests.apps.cli.running import CLI, QI, as_process, lookalike, published


def test_publish_leaves_a_complete_folder(release: Path, patient_rows: list[dict[str, str]]) -> None:
    assert {path.name for path in release.iterdir()} == {
        "README.txt",
        "audit.json",
        "datapackage.json",
        "release.csv",
        "release.parquet",
        "report.html",
        "report.json",
        "schema.yaml",
    }
    with (release / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["age", "sex", "zip code", "diagnosis"]
    assert len(rows) == len(patient_rows)
    assert sorted(row["diagnosis"] for row in rows) == sorted(row["diagnosis"] for row in patient_rows)
    assert (release.parent / "release PRIVATE").is_dir()


@pytest.mark.slow
def test_json_is_exact_and_alone_on_standard_output(patients: Path, tmp_path: Path) -> None:
    result = as_process("publish", patients, *QI, "--model", "k-anonymity:4", "--out", tmp_path / "out", "--json")
    summary = json.loads(result.stdout)
    assert {"rows", "suppressed", "model", "algorithm", "form", "audit", "loss", "seconds", "peak_mb", "files"} <= set(
        summary
    )
    assert summary["rows"] == 400
    assert summary["suppressed"] == 0
    assert summary["model"] == ["k-anonymity:4"]
    assert summary["algorithm"] == "groups:mode=free"
    assert summary["form"] == "grouped"
    assert summary["audit"]["passed"] is True
    assert summary["audit"]["verdicts"][0]["passed"] is True
    assert 0 < summary["loss"]["gcp"] < 1
    assert {"read", "anonymize", "audit", "write"} <= set(summary["seconds"])
    assert sorted(summary["files"]) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert "groups:mode=free was chosen" in result.stderr


def test_steps_of_ends_are_set_by_column_and_repeated_by_the_report(patients: Path, tmp_path: Path) -> None:
    done = published(patients, tmp_path / "out", "--ends", "age=10", "--json", "--report", "brief")
    summary = json.loads(done.stdout)
    assert summary["ends"]["age"]["step"] == "10"
    assert summary["ends"]["age"]["exact_loss"] < summary["ends"]["age"]["loss"] == summary["loss_by_column"]["age"]
    assert "--ends exact keeps them as they are" in " ".join(done.stderr.split())
    with (tmp_path / "out" / "release.csv").open(encoding="utf-8", newline="") as file:
        ages = {row["age"].removesuffix("|(missing)") for row in csv.DictReader(file)}
    ends = [cell.split("..") for cell in ages if ".." in cell]
    assert ends
    assert all(int(low) % 10 == 0 and int(high) % 10 == 9 for low, high in ends)
    assert lookalike("audit", patients, tmp_path / "out").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--qi", "agee", "--sensitive", "diagnosis", "--model", "k-anonymity:4"], 2, 'Did you mean "age"'),
        ([*QI, "--model", "k-anonimity:4"], 2, 'Did you mean "k-anonymity"'),
        ([*QI, "--model", "k-anonymity:zero"], 2, "whole number"),
        ([*QI, "--model", "l-diversity:26"], 3, "The nearest that can: l-diversity:"),
        ([*QI, "--model", "k-anonymity:401"], 3, "k-anonymity:400"),
        ([*QI, "--model", "k-anonymity:4", "--algorithm", "mondrain"], 2, 'Did you mean "mondrian"'),
        ([*QI, "--model", "k-anonymity:4", "--categorical", "ages"], 2, 'Did you mean "age"'),
        ([*QI, "--qi", "diagnosis", "--model", "k-anonymity:4"], 2, "named twice"),
        (["--model", "k-anonymity:4"], 2, "No quasi-identifier"),
        ([*QI, "--model", "k-anonymity:4", "--frobnicate"], 2, "No such option"),
        ([*QI, "--model", "k-anonymity:4", "--ends", "precise"], 2, "Write exact, rounded or COLUMN=STEP"),
        ([*QI, "--model", "k-anonymity:4", "--ends", "sex=5"], 2, "it has no ends"),
        ([*QI], 2, "--model"),
    ],
)
def test_bad_recipes_are_explained_and_leave_nothing(
    patients: Path, tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    result = lookalike("publish", patients, *words, "--out", tmp_path / "out")
    assert (result.returncode, said in result.stderr) == (code, True), result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--qi", "age,sex", "--sensitive", "diagnosis"], "--model k-anonymity:5 --model beta-likeness:3"),
        (["--qi", "age,zip", "code", "--sensitive", "diagnosis", "--model", "k-anonymity:4"], '"zip code"'),
    ],
)
def test_usage_errors_say_what_to_write(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["publish", "patients.csv", *words, "--out", "out"])
    assert done.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_bad_files_are_explained(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.csv").write_text("age,sex\n1,f\n2\n3,m\n")
    (tmp_path / "open.csv").write_text('age,sex\n1,f\n2,"m\n3,m\n')
    (tmp_path / "twice.csv").write_text("age,age\n1,2\n")
    (tmp_path / "header.csv").write_text("age,sex\n")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 20)
    for name, said in {
        "empty.csv": "empty",
        "broken.csv": "line 3",
        "open.csv": "line 3",
        "twice.csv": "age",
        "header.csv": "no rows",
        "binary.csv": "binary.csv",
        "nowhere.csv": "nowhere.csv",
        ".": "folder",
    }.items():
        result = lookalike(
            "publish", name, "--qi", "age", "--model", "k-anonymity:1", "--out", "out", "--json", cwd=tmp_path
        )
        assert result.returncode == 2, (name, result.stderr)
        assert said in result.stderr, (name, result.stderr)
        assert "Traceback" not in result.stderr
        assert json.loads(result.stdout)["error"]["message"]
        assert not (tmp_path / "out").exists()


def test_an_existing_folder_is_never_overwritten_unless_asked(patients: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for words in ([], ["--overwrite"]):
        result = published(patients, mine, *words)
        assert result.returncode == 2
        assert (mine / "thesis.txt").read_text() == "years of work"
    assert published(patients, tmp_path / "out").returncode == 0
    before = (tmp_path / "out" / "release.csv").read_bytes()
    assert published(patients, tmp_path / "out").returncode == 2
    assert (tmp_path / "out" / "release.csv").read_bytes() == before
    assert published(patients, tmp_path / "out", "--overwrite").returncode == 0
    assert (tmp_path / "out" / "release.csv").read_bytes() != before


def test_names_with_commas_and_unicode(tmp_path: Path) -> None:
    table = tmp_path / "odd.csv"
    table.write_text('"name, first",größe,"was ""fehlt"""\n' + "".join(f"{row % 3},{row},x\n" for row in range(12)))
    result = lookalike(
        "publish", table, "--qi", '"name, first",größe', "--sensitive", '"was ""fehlt"""', "--model", "k-anonymity:3",
        "--out", tmp_path / "out", "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert set(json.loads(result.stdout)["loss_by_column"]) == {"name, first", "größe"}


def test_missing_values_are_kept_and_protected(tmp_path: Path) -> None:
    table = tmp_path / "gaps.csv"
    ages = ["", "", "", *map(str, range(20, 29))]
    table.write_text(
        "age,city,s\n" + "".join(f"{age},{'' if row % 4 else 'Rome'},{row % 2}\n" for row, age in enumerate(ages))
    )
    result = lookalike("publish", table, "--qi", "age,city", "--sensitive", "s", "--model", "k-anonymity:3",
                       "--out", tmp_path / "out")  # fmt: skip
    assert result.returncode == 0, result.stderr
    with (tmp_path / "out" / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert sum(row["age"] == "" or "(missing)" in row["age"] for row in rows) >= 3
    assert lookalike("audit", table, tmp_path / "out").returncode == 0


@pytest.mark.slow
def test_interrupting_leaves_no_release(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a large run: exit 130, nothing at the target, no leftovers beside it."""
    from lookalike.apps.samples import census, to_csv

    to_csv(census(60_000, seed=1), tmp_path / "census.csv")
    folder = tmp_path / "work"
    folder.mkdir()
    words = ["publish", "../census.csv", "--qi", "Age,Gender,Education,Marital,Race,Work class,Country", "--sensitive",
             "Occupation", "--model", "k-anonymity:2", "--out", "out"]  # fmt: skip
    for delay in (0.6, 1.5, 2.5):
        running = subprocess.Popen([*CLI, *words], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=120)
        if running.returncode == 0:
            assert (folder / "out" / "datapackage.json").exists()
            return
        assert running.returncode == 130, said.decode()
        assert b"Traceback" not in said
        assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 130)])
def test_ctrl_c_at_a_terminal_offers_the_best_so_far(tmp_path: Path, answer: str, code: int) -> None:
    from lookalike.apps.samples import census, to_csv

    to_csv(census(20_000, seed=1), tmp_path / "census.csv")
    words = ["publish", "census.csv", "--qi", "Age,Gender,Education,Marital,Race,Work class,Country", "--sensitive",
             "Occupation", "--model", "k-anonymity:4", "--algorithm", "groups:effort=300", "--out", "out"]  # fmt: skip
    ours, theirs = pty.openpty()
    running = subprocess.Popen([*CLI, *words], cwd=tmp_path, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    said = b""

    def read_until(words: bytes) -> None:
        nonlocal said
        while words not in said:
            said += os.read(ours, 4096)

    read_until(b"loss 0.")
    running.send_signal(signal.SIGINT)
    read_until(b"Write it?")
    os.write(ours, f"{answer}\n".encode())
    assert running.wait(timeout=120) == code
    os.close(ours)
    assert (tmp_path / "out" / "datapackage.json").exists() == (code == 0)
    assert b"passed its audit" in said


def test_the_adversary_is_named_and_chooses_the_mode(tmp_path: Path) -> None:
    from lookalike.apps.samples import census, to_csv

    to_csv(census(600, seed=1), tmp_path / "census.csv")
    words = ["publish", tmp_path / "census.csv", "--qi", "Age,Gender,Education", "--sensitive", "Occupation",
             "--model", "l-diversity:4", "--adversary", "knows-method"]  # fmt: skip
    result = lookalike(*words, "--out", tmp_path / "out", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["adversary"] == found["audit"]["adversary"] == "knows-method"
    assert found["algorithm"] == "groups:mode=strict"
    assert found["loss_bound"]["gcp"] <= found["loss"]["gcp"]
    report = (tmp_path / "out" / "report.html").read_text()
    assert "knows-method" in report
    assert "No grouping with this promise can lose less" not in report
    refused = lookalike(*words, "--out", tmp_path / "other", "--algorithm", "groups:mode=free")
    assert refused.returncode == 2
    assert "adversary" in refused.stderr


@pytest.mark.slow
def test_scores_stay_with_the_owner_unless_asked_for(patients: Path, tmp_path: Path) -> None:
    columns = ["--qi", "age,sex", "--sensitive", "diagnosis", "--model", "l-diversity:3", "--algorithm", "mondrian"]
    kept = lookalike("publish", patients, *columns, "--report", "full", "--out", tmp_path / "kept")
    assert kept.returncode == 0, kept.stderr
    assert f"Report:   {tmp_path / 'kept'}/report.html" in kept.stdout
    assert f"Private:  {tmp_path / 'kept PRIVATE'}/report.html  (for internal use only" in kept.stdout
    assert "scored on the original" not in kept.stderr
    told = lookalike(
        "publish", patients, *columns, "--report", "full", "--publish-scores", "--out", tmp_path / "told", "--json"
    )
    assert told.returncode == 0, told.stderr
    assert "may become surer of a person's value than is promised" in told.stderr
    assert json.loads(told.stdout)["private"] == str(tmp_path / "told PRIVATE")
    for name, with_scores in (("kept", False), ("told", True)):
        report = json.loads((tmp_path / name / "report.json").read_text(encoding="utf-8"))
        owners = json.loads((tmp_path / f"{name} PRIVATE" / "report.json").read_text(encoding="utf-8"))
        assert bool(report["attacks"]) == with_scores
        assert owners["attacks"]
        assert "For internal use only" in (tmp_path / f"{name} PRIVATE" / "README.txt").read_text(encoding="utf-8")
    again = lookalike("publish", patients, *columns, "--report", "brief", "--publish-scores", "--out", tmp_path / "no")
    assert again.returncode == 2
    assert "brief report scores nothing" in again.stderr
    (tmp_path / "new PRIVATE").mkdir()
    (tmp_path / "new PRIVATE" / "mine.txt").write_text("mine")
    taken = lookalike("publish", patients, *columns, "--report", "full", "--out", tmp_path / "new", "--overwrite")
    assert taken.returncode == 2
    assert "was not written by lookalike" in taken.stderr
    assert not (tmp_path / "new").exists()


def test_numbers_are_published_in_ranges(tmp_path: Path) -> None:
    """--round and --coarsen on the command line; the release says it, and what cannot be is refused."""
    table = tmp_path / "pay.csv"
    rows = [f"{20 + row % 40},{1000 + 37 * row}.25,z{10 + row % 30}" for row in range(200)]
    table.write_text("\n".join(["age,pay,zip", *rows]) + "\n")
    out = tmp_path / "release"
    words = ["publish", str(table), "--qi", "age", "--sensitive", "pay", "--carry", "zip", "--model", "l-diversity:2"]
    words += ["--carry-anyway", "zip", "--algorithm", "mondrian", "--report", "brief", "--no-pdf"]
    exact = lookalike(*words, "--out", str(tmp_path / "exact"))
    assert "200 different values in 200 rows" in exact.stderr
    assert "--round pay=" in exact.stderr
    assert "l-diversity:2,band=" in exact.stderr
    made = lookalike(
        *words, "--round", "pay=1000", "--coarsen", "pay=top:7000", "--coarsen", "zip=prefix:2", "--out", str(out)
    )
    assert made.returncode == 0, made.stderr
    assert "different values" not in made.stderr
    shown = pl.read_csv(out / "release.csv", infer_schema=False)
    assert set(shown["zip"]) == {"z1*", "z2*", "z3*"}
    assert {"[500, 1500)", ">=7000"} <= set(shown["pay"])
    assert lookalike("audit", str(table), str(out)).returncode == 0
    for wrong, said in ((["--round", "pay"], "--round takes"), (["--coarsen", "pay=rund:3"], "is written as")):
        refused = lookalike(*words, *wrong, "--out", str(tmp_path / "no"))
        assert refused.returncode == 2
        assert said in refused.stderr
    refused = lookalike(*words, "--round", "age=10", "--out", str(tmp_path / "no"))
    assert "only a sensitive or a carried column" in refused.stderr
