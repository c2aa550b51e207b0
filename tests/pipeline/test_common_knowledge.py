"""Releases under rules that everybody knows: refused, reported, and audited again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import main, sample_knowledge, sample_schema, sample_table
from lookalike.data.frequent_values import set_cells
from lookalike.data.knowledge import Knowledge
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError

ASKED: dict[str, Any] = {
    "qi": ["age", "sex", "zip code"],
    "sensitive": "diagnosis",
    "model": ["k-anonymity:5", "l-diversity:3"],
    "algorithm": "mondrian",
    "seed": 1,
}
REPORT = {"knowledge": sample_knowledge(), "knowledge_report_only": True}


def test_the_sample_is_refused_with_the_number_of_persons_and_the_figures_are_right() -> None:
    made = la.publish(sample_table(), **ASKED, **REPORT)
    frame, table = made.to_polars(bounds=True), pl.read_csv(sample_table(), schema_overrides={"zip code": pl.String})
    lines = {(str(one.promise), one.way): one for one in made.made.conditioned}
    by_rows = lines["k-anonymity:5", "impossible rows removed"]
    cells = ["age_low", "age_high", "sex", "zip code"]
    found = 0
    groups = frame.group_by(cells).agg(pl.col("diagnosis"))
    for person in table.iter_rows(named=True):
        cannot = set()
        if person["sex"] == "male" or not 15 <= person["age"] <= 50:
            cannot.add("childbirth")
        if person["sex"] == "female" or person["age"] <= 45:
            cannot.add("prostate disorder")
        for low, high, sex, zips, ills in groups.iter_rows():
            fits = low <= person["age"] <= high and (sex == "*" or person["sex"] in sex.split("|"))
            listed = zips.split("|")
            fits &= zips == "*" or (person["zip code"] or "(missing)") in listed
            left = [ill for ill in ills if ill not in cannot]
            if fits and 0 < len(left) < 5:
                found += 1
                break
    assert by_rows.n_broken == found > 0
    with pytest.raises(RecipeError, match=f"breaks k-anonymity:5 for {found} of 1,000 persons") as refused:
        la.publish(sample_table(), **ASKED, knowledge=str(sample_knowledge()))
    assert "--knowledge-report-only" in str(refused.value)
    assert any(f"for {found} of 1,000 persons" in note for note in made.notes)
    assert made.summary()["with_rules"][0]["broken_for"] == found


def test_a_release_that_withstands_the_rules_is_published(tmp_path: Path) -> None:
    """Sex apart: no group has men and women, and ages are in the rules' ranges only where nobody is concerned."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n- who: {sex: male}\n  never: {diagnosis: childbirth}\n")
    table = pl.DataFrame(
        {
            "sex": ["male"] * 8 + ["female"] * 8,
            "age": [*range(30, 38), *range(60, 68)],
            "diagnosis": ["flu", "gout", "asthma", "burn"] * 2 + ["childbirth", "gout", "asthma", "burn"] * 2,
        }
    )
    made = la.publish(
        table, qi=["sex", "age"], sensitive="diagnosis", model=["k-anonymity:4", "l-diversity:4"], algorithm="mondrian",
        knowledge=rules,
    )  # fmt: skip
    assert [one.n_broken for one in made.made.conditioned] == [0, 0, 0, 0]
    made.write(tmp_path / "release", private=True, pdf=False)
    table.write_csv(tmp_path / "table.csv")
    audit = la.verify(
        tmp_path / "table.csv", tmp_path / "release", knowledge=rules, private=tmp_path / "release PRIVATE"
    )
    assert audit.passed
    assert [verdict.model for verdict in audit.verdicts[2:]] == [
        "k-anonymity:4 (impossible rows removed)",
        "l-diversity:4 (impossible rows removed)",
    ]
    report = made.owners_report()
    assert report.rules == ("sex male: never diagnosis childbirth",)
    assert [(line.knows_group, line.n_broken, line.promised) for line in report.with_rules] == [
        (False, 0, True),
        (True, 0, False),
        (False, 0, True),
        (True, 0, False),
    ]
    assert "Common knowledge" in report.page
    assert "with_rules" not in (tmp_path / "release" / "report.json").read_text()


def test_an_attacker_who_knows_who_is_in_a_group_is_judged_where_the_release_is_made_for_one() -> None:
    """The one woman among four men has the childbirth: by rows 1 in 5, by assignments certain."""
    table = pl.DataFrame(
        {"sex": ["female", *["male"] * 4], "diagnosis": ["childbirth", "flu", "gout", "asthma", "burn"]}
    )
    asked: dict[str, Any] = {"qi": "sex", "sensitive": "diagnosis", "model": "l-diversity:2", "algorithm": "mondrian"}
    rules = la_rules()
    made = la.publish(table, **asked, knowledge=rules)
    by_rows, by_assignments = made.made.conditioned
    assert (by_rows.n_broken, by_assignments.n_broken) == (0, 1)
    assert by_assignments.verdict.passed is None
    assert any("knows who is in each group breaks" in note for note in made.notes)
    # All five are in one bucket, and its readers see that there is one woman.
    buckets = {**asked, "model": "l-diversity:3", "algorithm": "anatomy"}
    with pytest.raises(RecipeError, match="for 1 of 5 persons"):
        la.publish(table, **buckets, knowledge=rules)


def la_rules() -> Knowledge:
    return Knowledge.from_yaml("rules:\n- who: {sex: male}\n  never: {diagnosis: childbirth}\n")


def test_what_rules_do_not_serve_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="release in one piece"):
        la.publish(sample_table(), **ASKED, **REPORT, part_rows=1000, out=tmp_path / "out")
    with pytest.raises(RecipeError, match="no rules to report on"):
        la.publish(sample_table(), **ASKED, knowledge_report_only=True)


def test_examples_follow_the_rules(tmp_path: Path) -> None:
    schema = set_cells(Schema.load(sample_schema()), carry_anyway="length_of_stay")
    made = la.publish(sample_table(), schema=schema, model="k-anonymity:5", algorithm="mondrian", seed=1, **REPORT)
    made.write(tmp_path / "release", report="full", pdf=False)
    assert la.verify(sample_table(), tmp_path / "release").passed
    drawn = made.owners_report().examples
    assert drawn is not None
    for row in drawn.before if drawn.drawn else ():
        assert row[5] != "childbirth" or row[1] == "female"


def test_the_sample_writes_its_rules(tmp_path: Path) -> None:
    words = ["hospital", "--rows", "10", "--out", str(tmp_path / "t.csv"), "--knowledge", str(tmp_path / "rules.yaml")]
    assert main(words) == 0
    assert (tmp_path / "rules.yaml").read_text() == sample_knowledge().read_text()
    assert main(["census", *words[1:4], str(tmp_path / "c.csv"), *words[5:]]) == 2
