"""When a release may carry its columns: what is said, what is refused, and what the release repeats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import hospital, sample_table, to_csv
from lookalike.audit import CarriedRisk
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError, SchemaError
from lookalike.files.tables import read_columns
from lookalike.pipeline.carried import describe_risk, is_much, refuse_carried

ASKED: dict[str, Any] = {
    "qi": ["age", "sex", "zip code"],
    "sensitive": "diagnosis",
    "model": ["k-anonymity:5", "l-diversity:3"],
    "algorithm": "mondrian",
}
STAY = {"carry": "length_of_stay"}


def domains(*stated: str, names: tuple[str, ...] = ("ward", "bill")) -> Any:
    table = {"age": [1, 2], **dict.fromkeys(names, [1, 2])}
    listed: list[dict[str, Any]] = [{"name": "age", "role": "quasi-identifier"}]
    listed += [{"name": one, "role": "carried", "carry_anyway": one in stated} for one in names]
    schema = Schema.from_yaml(json.dumps({"lookalike": 1, "columns": listed}))
    return Microdata.encode(read_columns(pl.DataFrame(table), schema), schema).domains


def risk(*columns: str, n_persons: int = 1000, **known: Any) -> CarriedRisk:
    return CarriedRisk(columns=columns, n_persons=n_persons, **known)


class TestThreshold:
    @pytest.mark.parametrize(
        ("n_broken", "n_single", "much"),
        [(0, 0, False), (50, 10, False), (51, 0, True), (0, 11, True), (None, 0, True)],
    )
    def test_shares(self, n_broken: int | None, n_single: int, much: bool) -> None:
        assert is_much(risk("ward", n_broken=n_broken, n_single_candidate=n_single, n_alone=999)) is much

    def test_by_classes_where_candidates_are_not_counted(self) -> None:
        assert is_much(risk("ward", n_broken=0, n_alone=11))
        assert not is_much(risk("ward", n_broken=0, n_alone=10))

    @pytest.mark.parametrize(
        ("before", "after", "much"), [(0, 50, False), (0, 51, True), (30, 80, False), (30, 81, True)]
    )
    def test_certainty_that_breaks_nothing(self, before: int, after: int, much: bool) -> None:
        """A ward that gives the diagnosis away, in large groups: what was certain before does not count."""
        base, known = risk(n_certain={"diagnosis": before}), risk("ward", n_certain={"diagnosis": after}, n_alone=0)
        assert is_much(known, base) is much
        if much:
            with pytest.raises(RecipeError, match="carry-anyway ward"):
                refuse_carried([base, known], domains())
        else:
            (said,) = refuse_carried([base, known], domains())
            assert f'certain of "diagnosis" for {after}' in said

    def test_a_harmless_column_passes_without_a_word(self) -> None:
        assert refuse_carried([risk(), risk("ward", n_broken=0, n_alone=0, n_single_candidate=0)], domains()) == ()

    def test_a_little_is_said(self) -> None:
        (said,) = refuse_carried([risk(), risk("ward", n_broken=7, broken={"k-anonymity:5": 7}, n_alone=3)], domains())
        assert "finds exactly one row for 3 of 1,000 persons (it breaks k-anonymity:5 for 7 persons)" in said

    def test_all_together_are_refused_though_each_passes(self) -> None:
        each = [risk(), risk("ward", n_alone=0), risk("bill", n_alone=0)]
        with pytest.raises(RecipeError, match="--carry-anyway ward,bill"):
            refuse_carried([*each, risk("ward", "bill", n_broken=500, n_alone=400)], domains())

    def test_what_nobody_knows_is_not_counted_with_the_rest(self) -> None:
        found = [risk(), risk("ward", n_alone=0), risk("bill", n_alone=900), risk("ward", "bill", n_alone=950)]
        said = refuse_carried(found, domains("bill"))
        assert any("You state that nobody outside knows it" in one for one in said)
        with pytest.raises(RecipeError, match="--carry-anyway bill"):
            refuse_carried(found, domains("ward"))

    def test_what_is_not_decided_is_refused(self) -> None:
        undecided = risk("ward", n_broken=None, broken={"k-anonymity:5": None})
        with pytest.raises(RecipeError, match="is not decided"):
            refuse_carried([undecided], domains())

    def test_sentences_name_several_columns(self) -> None:
        said = describe_risk(risk("ward", "bill", n_alone=1, n_persons=1), risk(least=5))
        assert said.startswith('The carried columns "ward" and "bill": someone who also knows them finds')


def test_the_sample_is_refused_and_the_figures_are_right() -> None:
    """Someone who knows the length of stay finds the row, and the diagnosis, of most patients."""
    with pytest.raises(RecipeError, match="--carry-anyway length_of_stay") as refused:
        la.publish(sample_table(), **ASKED, **STAY)
    made = la.publish(sample_table(), **ASKED, **STAY, carry_anyway="length_of_stay")
    without, known = made.made.carried
    frame = made.to_polars()
    cells = ["age", "sex", "zip code"]
    split = frame.group_by([*cells, "length_of_stay"]).agg(
        rows=pl.len(),
        values=pl.col("diagnosis").n_unique(),
        most=pl.col("diagnosis").value_counts().struct.field("count").max(),
    )
    assert known.n_alone == split.filter(pl.col("rows") == 1).height
    assert known.n_certain["diagnosis"] == split.filter(pl.col("values") == 1)["rows"].sum()
    assert known.least == split["rows"].min() == 1
    assert float(known.highest["diagnosis"]) == (split["most"] / split["rows"]).max() == 1
    assert without.least == frame.group_by(cells).len()["len"].min()
    small = split.filter(pl.col("rows") < 5)["rows"].sum()
    assert known.broken["k-anonymity:5"] == small
    high = split.filter(3 * pl.col("most") > pl.col("rows"))["rows"].sum()
    assert known.broken["diagnosis=l-diversity:3"] == high
    # Cells of mondrian overlap where it cuts between equal values: a reader then has more candidates.
    assert 300 < known.n_single_candidate <= known.n_alone
    assert f"for {known.n_single_candidate:,} of 1,000 persons" in " ".join(made.notes)
    assert "smallest group 1 instead of" in str(refused.value)
    assert "diagnosis" in made.summary()["carried"][1]["certain_of_candidates"]


def test_a_statement_is_repeated_and_listed(tmp_path: Path) -> None:
    made = la.publish(sample_table(), **ASKED, **STAY, carry_anyway=["length_of_stay"])
    made.write(tmp_path / "release", pdf=False)
    said = "The publisher states that nobody outside knows it."
    assert said in (tmp_path / "release" / "README.txt").read_text()
    public = json.loads((tmp_path / "release" / "report.json").read_text())
    assert said in public["states_carried"]
    assert said in (tmp_path / "release" / "report.html").read_text()
    assert "carry_anyway: true" in (tmp_path / "release" / "schema.yaml").read_text()
    risks = made.made.carried[1]
    (_, line) = public["carried"]
    assert (line["single"], line["broken"]) == (risks.n_alone / 1000, None)
    owners = made.owners_report().carried[1]
    assert (owners.single, owners.broken) == (risks.n_single_candidate / 1000, risks.n_broken / 1000)
    audit = la.verify(sample_table(), tmp_path / "release")
    assert audit.passed
    assert 'that nobody outside knows the values in "length_of_stay"' in audit.grounds.stated
    knowing = la.verify(sample_table(), tmp_path / "release", knows_carried="length_of_stay")
    assert not knowing.passed
    assert knowing.to_plain()["knows_carried"] == ["length_of_stay"]
    assert [verdict.failing_records for verdict in knowing.verdicts] == [*risks.broken.values()]
    assert "who also knows length_of_stay" in str(knowing)


def test_a_column_that_follows_from_the_quasi_identifiers_passes_without_a_word() -> None:
    table = hospital(300)
    frame = pl.DataFrame(
        {
            name: [table[name].values[code] if code < len(table[name].values) else None for code in table[name].codes]
            for name in ("age", "sex", "diagnosis")
        }
    ).with_columns(country=pl.lit("US"))
    made = la.publish(
        frame, qi=["age", "sex"], sensitive="diagnosis", carry="country", model="k-anonymity:4", algorithm="mondrian"
    )
    assert made.made.carried[1].n_broken == 0
    assert not any("country" in note for note in made.notes)


def test_only_carried_columns_are_carried_anyway() -> None:
    with pytest.raises(RecipeError, match="carry_anyway is for carried columns"):
        la.publish(sample_table(), **ASKED, carry_anyway="age")
    with pytest.raises(SchemaError, match="carry_anyway is for carried columns"):
        Schema.from_yaml("lookalike: 1\ncolumns:\n- {name: age, role: quasi-identifier, carry_anyway: true}\n")
    with pytest.raises(SchemaError, match="carry_anyway must be true or false"):
        Schema.from_yaml("lookalike: 1\ncolumns:\n- {name: stay, role: carried, carry_anyway: 1}\n")


def test_parts_count_their_own_groups(tmp_path: Path) -> None:
    table = tmp_path / "patients.csv"
    to_csv(hospital(2000), table)
    with pytest.raises(RecipeError, match="--carry-anyway length_of_stay"):
        la.publish(table, **ASKED, **STAY, part_rows=1000, out=tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
    made = la.publish(table, **ASKED, **STAY, carry_anyway="length_of_stay", part_rows=1000, out=tmp_path / "release")
    assert made.n_parts > 1
    frame = pl.concat(pl.read_csv(file) for file in (tmp_path / "release" / "release.csv").iterdir())
    split = frame.group_by(["age", "sex", "zip code", "length_of_stay"]).len()
    assert made.made.carried[1].n_alone == split.filter(pl.col("len") == 1).height
    assert made.made.carried[1].n_persons == 2000


def test_a_column_that_is_the_sensitive_one_under_another_name_is_refused() -> None:
    """Under k-anonymity alone and in large groups it breaks no promise and finds nobody's row."""
    n = 1000
    table = pl.DataFrame(
        {
            "sex": ["f", "m"] * (n // 2),
            "diagnosis": [f"d{(place // 2) % 5}" for place in range(n)],
            "ward": [f"w{(place // 2) % 5}" for place in range(n)],
        }
    )
    asked: dict[str, Any] = {"qi": "sex", "sensitive": "diagnosis", "carry": "ward", "model": "k-anonymity:5"}
    with pytest.raises(RecipeError, match='certain of "diagnosis" for 1,000'):
        la.publish(table, **asked)
    assert la.publish(table, carry_anyway=["ward"], **asked).n_rows == n
