"""Synthetic records from a table to a file, and what is said about the promise."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lookalike as la
from lookalike.apps import samples
from lookalike.errors import MissingPart, RecipeError, Unsupported


def test_records_have_the_columns_and_types_of_the_schema(patients: Path) -> None:
    made = la.synthesize(patients, schema=samples.sample_schema(), epsilon=2, seed=1)
    frame = made.frame()
    assert frame.columns == [attribute.name for attribute in la.Schema.load(samples.sample_schema()).published]
    assert frame.height == 400
    assert (frame["age"].dtype, frame["admission_date"].dtype, frame["sex"].dtype) == (pl.Int64, pl.Date, pl.String)
    assert frame["age"].is_between(0, 99).all()
    assert set(frame["sex"]) <= {"female", "male", None}
    assert "patient_id" not in frame.columns


def test_the_promise_says_epsilon_neighbours_and_what_was_public(patients: Path) -> None:
    made = la.synthesize(patients, schema=samples.sample_schema(), beta=3)
    assert made.epsilon == la.PrivBayes("1.386294361119").epsilon
    said = " ".join(str(made).split())
    assert "differential privacy with epsilon = 1.386294361119" in said
    assert "Had any one record been another one, no output would be more than 4 times as likely" in said
    assert "not a promise of any model" in said
    assert "Taken as public: that there are 400 records" in said
    assert 'Not covered: which values occur in "zip code", ' in said
    assert "age" not in said.partition("Not covered")[2].partition(".")[0]
    assert any("Declare the values" in note for note in made.notes)


def test_declared_domains_leave_nothing_uncovered(patients: Path) -> None:
    schema = la.Schema.load(samples.sample_schema())
    only = la.Schema(tuple(schema[name] for name in ("age", "sex", "diagnosis")))
    made = la.synthesize(patients, schema=only, method=la.PrivBayes(1, domains="declared"))
    assert "Not covered" not in made.promise
    assert "missing" not in made.promise
    assert not any("Declare" in note for note in made.notes)


def test_types_that_were_read_from_the_table_are_not_covered(tmp_path: Path) -> None:
    """One person's 4.5 makes a column of whole numbers one of decimals, although the domain is declared."""
    columns = "[{name: stay, role: quasi-identifier, domain: {low: 0, high: 9}%s}]"
    (tmp_path / "guessed.yaml").write_text(f"lookalike: 1\ncolumns: {columns % ''}\n")
    (tmp_path / "declared.yaml").write_text(f"lookalike: 1\ncolumns: {columns % ', type: number, kind: numeric'}\n")
    method, types, notes = la.PrivBayes(1, domains="declared"), {}, {}
    for name, cell in (("whole", "4"), ("decimal", "4.5")):
        (tmp_path / f"{name}.csv").write_text("stay\n" + "3\n" * 40 + cell + "\n")
        for schema in ("guessed", "declared"):
            made = la.synthesize(tmp_path / f"{name}.csv", schema=tmp_path / f"{schema}.yaml", method=method)
            types[schema, name] = made.frame()["stay"].dtype
            notes[schema] = made
    assert types["guessed", "whole"] != types["guessed", "decimal"]
    assert types["declared", "whole"] == types["declared", "decimal"]
    assert 'Not covered: the types of "stay".' in notes["guessed"].promise
    assert any('Declare type and kind of "stay"' in note for note in notes["guessed"].notes)
    assert notes["guessed"].to_plain()["read_from_table"]["types"] == ["stay"]
    assert "Not covered" not in notes["declared"].promise
    assert not any("Declare" in note for note in notes["declared"].notes)
    assert notes["declared"].to_plain()["read_from_table"]["types"] == []


def test_a_seed_and_lost_dependence_are_pointed_out(patients: Path) -> None:
    made = la.synthesize(patients, qi=["age", "zip code"], epsilon="0.01", seed=3)
    assert any("anyone who knows it can take the noise off" in note for note in made.notes)
    assert any("How columns go together is lost" in note for note in made.notes)
    assert not la.synthesize(patients, qi=["sex"], epsilon=1).notes[-1].startswith("A seed")


@pytest.mark.parametrize("given", [{}, {"epsilon": 1, "beta": 1}, {"epsilon": 1, "method": la.PrivBayes(1)}])
def test_exactly_one_budget_is_given(patients: Path, given: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="Give one of epsilon, beta and method with its own epsilon"):
        la.synthesize(patients, qi=["age"], **given)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_says_what_the_frame_says_and_is_never_replaced(patients: Path, tmp_path: Path, ending: str) -> None:
    made = la.synthesize(patients, schema=samples.sample_schema(), epsilon=1)
    file = tmp_path / "new" / f"synthetic.{ending}"
    made.write(file)
    again = pl.read_parquet(file) if ending == "parquet" else pl.read_csv(file, schema=made.frame().schema)
    assert again.equals(made.frame())
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    before = file.read_bytes()
    with pytest.raises(RecipeError, match="exists already"):
        made.write(file)
    assert file.read_bytes() == before


def test_a_file_without_a_known_ending_is_refused(patients: Path, tmp_path: Path) -> None:
    made = la.synthesize(patients, qi=["age"], epsilon=1)
    with pytest.raises(RecipeError, match=r"End the name in .csv or .parquet"):
        made.write(tmp_path / "synthetic.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(RecipeError, match="Cannot write"):
        made.write(tmp_path / "file" / "synthetic.csv")


@pytest.mark.parametrize("algorithm", ["privbayes", "privbayes:epsilon=1", la.PrivBayes(1), "mst:1", la.MST(1)])
@pytest.mark.parametrize("part_rows", [None, 1000])
def test_publish_sends_synthesizers_elsewhere(patients: Path, tmp_path: Path, algorithm: Any, part_rows: Any) -> None:
    with pytest.raises(Unsupported, match="differential privacy, not a model of releases.*lookalike synthesize"):
        la.publish(
            patients, qi=["age"], model="k-anonymity:2", algorithm=algorithm, part_rows=part_rows, out=tmp_path / "out"
        )


def test_another_synthesizer_says_its_own_promise(patients: Path) -> None:
    pytest.importorskip("mbi")
    made = la.synthesize(patients, qi=["sex"], epsilon=1, method="mst:delta=1e-6", seed=1)
    assert made.method == la.MST(1, delta="1e-6")
    assert (made.epsilon, made.delta) == (1, Fraction(1, 10**6))
    assert "differential privacy with epsilon = 1 and delta = 1e-06" in made.promise
    assert "no set of outputs would be more than 2.718 times as likely, plus 1e-06" in made.promise
    assert (made.to_plain()["epsilon"], made.to_plain()["delta"]) == (1, 1e-6)
    again = la.synthesize(patients, qi=["sex"], method="mst:1,delta=1e-6", seed=1)
    assert again.frame().equals(made.frame())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "mst"}, "Give one of epsilon"),
        ({"method": "mst:1", "epsilon": 1}, "epsilon is given twice"),
        ({"method": "mst:bins=3"}, "mst needs epsilon"),
        ({"method": "mts", "epsilon": 1}, "mst"),
    ],
)
def test_a_named_synthesizer_has_one_epsilon(patients: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        la.synthesize(patients, qi=["age"], **given)


def test_a_missing_package_is_named_before_the_table_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(MissingPart, match=r"lookalike\[pgm\]"):
        la.synthesize("nowhere.csv", qi=["age"], epsilon=1, method="mst")
