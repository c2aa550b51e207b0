"""`lookalike audit`: folders, stricter questions and tables of other tools."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

from tests.apps.cli.running import QI, lookalike


def test_audit_of_a_folder_needs_nothing_else(patients: Path, release: Path) -> None:
    result = lookalike("audit", patients, release, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["passed"]
    assert [verdict["model"] for verdict in found["verdicts"]] == ["k-anonymity:4", "beta-likeness:4"]


def test_audit_answers_a_stricter_question_with_exit_1(patients: Path, release: Path) -> None:
    result = lookalike("audit", patients, release, "--model", "k-anonymity:399")
    assert result.returncode == 1
    assert "FAILED" in result.stdout


def test_audit_of_another_tools_table(patients: Path, tmp_path: Path, patient_rows: list[dict[str, str]]) -> None:
    """Ranges, stars and masks, in the order of a shuffle."""
    rows = [
        {
            "age": f"[{int(row['age']) // 50 * 50}, {int(row['age']) // 50 * 50 + 50})",
            "sex": "*",
            "zip code": row["zip code"][:1] + "****" if row["zip code"] else "",
            "diagnosis": row["diagnosis"],
        }
        for row in patient_rows
    ]
    rows.sort(key=lambda row: hash((row["diagnosis"], row["age"], row["zip code"], "shuffled")))
    other = tmp_path / "other.csv"
    with other.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    result = lookalike("audit", patients, other, *QI, "--model", "k-anonymity:2", "--json")
    found = json.loads(result.stdout)
    classes = Counter((row["age"], row["sex"], row["zip code"]) for row in rows)
    smallest = min(classes.values())
    assert found["verdicts"][0]["reached"] == str(smallest)
    assert result.returncode == (0 if found["passed"] else 1)
    measured = json.loads(lookalike("measure", patients, other, *QI, "--json").stdout)
    assert 0 < measured["loss"]["gcp"] < 1
