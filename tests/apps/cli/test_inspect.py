"""`lookalike inspect`: roles, how identifying the table is, and the schema that it writes."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path

from tests.apps.cli.running import lookalike


def test_inspect_shows_roles_and_how_identifying_the_table_is(patients: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.yaml"
    result = lookalike("inspect", patients, "--json", "--write-schema", schema)
    found = json.loads(result.stdout)
    roles = {column["name"]: column["suggested_role"] for column in found["columns"]}
    assert roles["patient_id"] == "identifier"
    assert roles["age"] == "quasi-identifier"
    assert roles["diagnosis"] == "sensitive"
    assert found["n_unique"] > 100
    text = lookalike("inspect", patients)
    assert "stand alone" in text.stdout
    assert text.returncode == 0
    again = lookalike("publish", patients, "--schema", schema, "--model", "k-anonymity:5", "--out", tmp_path / "out")
    assert again.returncode == 0, again.stderr
    assert "length_of_stay" not in (tmp_path / "out" / "release.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "exists already" in lookalike("inspect", patients, "--write-schema", schema).stderr


def _write(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    path.write_text("\n".join(",".join(map(str, row)) for row in [header, *rows]) + "\n")
    return path


def test_a_header_without_rows_is_refused(tmp_path: Path) -> None:
    empty = _write(tmp_path / "empty.csv", ["age", "sex"], [])
    result = lookalike("inspect", empty)
    assert result.returncode == lookalike("publish", empty, "--qi", "age", "--model", "k-anonymity:2").returncode
    assert "empty.csv has columns but no rows. There is nothing to publish." in result.stderr


def test_wide_tables_are_shown_on_one_page_and_whole_on_request(tmp_path: Path) -> None:
    header = [
        "age",
        *[f"wk{week}" for week in range(1, 301)],
        *[f"item_{number}_{number % 7}" for number in range(200)],
    ]
    draw = random.Random(1)
    rows: list[list[object]] = [
        [row % 50, *[draw.randrange(2) for _ in range(300)], *[draw.randrange(5 + n % 9) for n in range(200)]]
        for row in range(80)
    ]
    wide = _write(tmp_path / "wide.csv", header, rows)
    shown = lookalike("inspect", wide).stdout
    assert "wk1 ... wk300 (300)" in shown
    assert len(shown.splitlines()) < 150
    assert "--all" in shown
    whole = lookalike("inspect", wide, "--all").stdout
    assert all(f"\nwk{week} " in whole for week in (1, 150, 300))
    assert len(json.loads(lookalike("inspect", wide, "--json").stdout)["columns"]) == len(header)


def test_the_printed_command_publishes_the_table_as_advised(tmp_path: Path) -> None:
    header = ["zip code", "age", "salary", "reading"]
    rows: list[list[object]] = [[f"0{row % 7}123", 20 + row % 41, 1000 + 13 * row, row % 5] for row in range(120)]
    table = _write(tmp_path / "staff, all.csv", header, rows)
    shown = lookalike("inspect", table, "--missing", "salary=-1", "--delimiter", ",").stdout
    (command,) = [line.strip() for line in shown.splitlines() if line.strip().startswith("lookalike publish")]
    words = shlex.split(command)
    assert words[words.index("--missing") : words.index("--missing") + 2] == ["--missing", "salary=-1"]
    assert "salary=t-closeness:0.2,distance=ordered" in words
    result = lookalike(*words[1:-1], tmp_path / "release")
    assert result.returncode == 0, result.stderr
    schema = tmp_path / "schema.yaml"
    written = lookalike("inspect", table, "--write-schema", schema).stdout
    assert f"--schema {schema}" in written
    found = json.loads(lookalike("inspect", table, "--json").stdout)
    assert found["advice"]["commands"][0].startswith("lookalike publish")


def test_dates_that_fit_two_formats_are_asked_about_before_a_command_is_printed(tmp_path: Path) -> None:
    header = ["age", "visit", "diagnosis"]
    rows: list[list[object]] = [
        [20 + row % 41, f"{1 + row % 12:02d}/{1 + row // 12:02d}/2021", "abc"[row % 3]] for row in range(120)
    ]
    table = _write(tmp_path / "visits.csv", header, rows)
    for words in ((), ("--advise",)):
        asked = lookalike("inspect", table, *words)
        assert asked.returncode == 0, asked.stderr
        assert 'answer what is asked above about "visit"' in asked.stdout
        assert "lookalike publish" not in asked.stdout
        assert ("No trial run was made" in asked.stdout) is bool(words)
    assert json.loads(lookalike("inspect", table, "--json").stdout)["advice"]["commands"] == []
    answered = lookalike("inspect", table, "--date-format", "visit=DD/MM/YYYY").stdout
    (command,) = [line.strip() for line in answered.splitlines() if line.strip().startswith("lookalike publish")]
    result = lookalike(*shlex.split(command)[1:-1], tmp_path / "release")
    assert result.returncode == 0, result.stderr


def test_the_printed_command_leaves_out_what_publishing_refuses(tmp_path: Path) -> None:
    header = ["age", "remark", "diagnosis"]
    rows: list[list[object]] = [
        [20 + row % 41, f"call +41 44 668 18 {row % 90:02d}" if row % 9 == 0 else f"b{row % 7}", "abc"[row % 3]]
        for row in range(180)
    ]
    table = _write(tmp_path / "remarks.csv", header, rows)
    shown = lookalike("inspect", table).stdout
    assert "hold phone numbers, and publishing is refused while they do" in " ".join(shown.split())
    (command,) = [line.strip() for line in shown.splitlines() if line.strip().startswith("lookalike publish")]
    assert "remark" not in shlex.split(command)[4]
    result = lookalike(*shlex.split(command)[1:-1], tmp_path / "release")
    assert result.returncode == 0, result.stderr
