"""Publishing the same people again from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.cli.running import lookalike

ASKED = ["--qi", "age,sex,zip code", "--sensitive", "diagnosis", "--person", "patient_id", "--model", "l-diversity:3"]


def test_a_second_release_that_breaks_the_first_is_refused_with_exit_code_1(patients: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    anatomy = [*ASKED, "--algorithm", "anatomy"]
    assert lookalike("publish", patients, *anatomy, "--seed", "1", "--out", first).returncode == 0
    for after in (first, f"{first}={patients}"):
        done = lookalike("publish", patients, *anatomy, "--seed", "2", "--out", second, "--after", after)
        assert done.returncode == 1
        assert "broken for" in done.stderr
        assert not second.exists()
    assert lookalike("publish", patients, *anatomy, "--out", second, "--after", tmp_path / "none").returncode == 2


def test_an_m_invariant_series_says_what_it_is(patients: Path, tmp_path: Path) -> None:
    kept = ["--series", "stays", "--mode", "m-invariant"]
    assert lookalike("publish", patients, *ASKED, *kept, "--out", tmp_path / "first").returncode == 0
    fewer = tmp_path / "fewer.csv"
    lines = patients.read_text(encoding="utf-8").splitlines(keepends=True)
    fewer.write_text("".join(lines[:300]), encoding="utf-8")
    done = lookalike("publish", fewer, *ASKED, "--series", "stays", "--out", tmp_path / "second", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["series"]["mode"] == "m-invariant"
    assert "3-invariant in 2 releases" in done.stderr
    assert "m-invariant series" in (tmp_path / "second" / "README.txt").read_text(encoding="utf-8")
    assert lookalike("audit", fewer, tmp_path / "second").returncode == 0
    again = lookalike("publish", fewer, *ASKED, "--out", tmp_path / "third")
    assert "WARNING: 299 of 299 persons" in again.stderr


def test_a_series_needs_a_folder_and_one_piece(patients: Path, tmp_path: Path) -> None:
    assert lookalike("publish", patients, *ASKED, "--series", "stays", "--out", "-").returncode == 2
    in_parts = lookalike(
        "publish", patients, *ASKED, "--series", "stays", "--out", tmp_path / "out", "--part-rows", "1000"
    )
    assert in_parts.returncode == 2
    assert "in parts" in in_parts.stderr
    assert not list(tmp_path.iterdir())
