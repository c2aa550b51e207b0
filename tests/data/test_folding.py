"""Folding against a plain reading of the rules, person by person."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.data.folding import Fold, fold_table, parse_folds
from lookalike.data.microdata import Table, texts_of
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import ValueType
from lookalike.errors import RecipeError, Unsupported
from lookalike.files.tables import read_table
from tests.strategies import column_of

RULES = ("first", "last", "least", "greatest", "most-frequent", "number", "any:2")


def by_hand(values: list[int | None], rule: str) -> object:
    """What a person's values, in order, become."""
    known = [value for value in values if value is not None]
    if rule == "number":
        return len(values)
    if rule in ("first", "last"):
        return values[0 if rule == "first" else -1]
    if rule in ("least", "greatest"):
        return (min if rule == "least" else max)(known, default=None)
    if rule.startswith("any:"):
        return "2" if 2 in known else "not 2"
    most = max(values.count(value) for value in values)
    return next(value for value in values if values.count(value) == most)


def cells_of(table: Table, name: str) -> list[object]:
    column = table[name]
    printed = [*texts_of(column.values, column.type), None]
    cells = [printed[code] for code in column.codes]
    return cells if column.type is ValueType.STRING else [None if cell is None else int(str(cell)) for cell in cells]


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(0, 3)), st.integers(0, 9)),
        min_size=1,
        max_size=30,
    ),
    rule=st.sampled_from(RULES),
    by_column=st.booleans(),
)
def test_every_rule_person_by_person(rows: list[tuple[int, int | None, int]], rule: str, by_column: bool) -> None:
    # Someone has a 2, so that it can be asked for.
    rows = [*rows, (9, 2, 0)]
    table = Table(
        (
            column_of("p", [row[0] for row in rows], ValueType.INTEGER),
            column_of("x", [row[1] for row in rows], ValueType.INTEGER),
            column_of("day", [row[2] for row in rows], ValueType.INTEGER),
        )
    )
    name = "rows" if rule == "number" else "x"
    folded = fold_table(table, "p", (Fold(name, rule),), "day" if by_column else None)
    assert folded.n_rows == table.n_rows
    found = cells_of(folded, name)
    for row, (person, _, _) in enumerate(rows):
        own = [(day, at, value) for at, (other, value, day) in enumerate(rows) if other == person]
        in_order = sorted(own, key=lambda each: each[:2]) if by_column else own
        assert found[row] == by_hand([value for _, _, value in in_order], rule)
    # No value is left that nobody has.
    column = folded[name]
    assert {*range(len(column.values))} == {int(code) for code in column.codes if code < len(column.values)}


STAYS = pl.DataFrame(
    {
        "patient": ["a", "a", "a", "b", "c", "c", "d"],
        "age": [40, 41, 41, 70, 20, 20, 75],
        "ward": ["n", "s", "s", "n", "s", "n", "n"],
        "diagnosis": ["flu", "HIV", "flu", "cold", "cold", "cold", "asthma"],
    }
)
ASKED = {"qi": ["age", "ward", "stays"], "sensitive": "diagnosis", "person": "patient", "rows": "one", "seed": 3}


def test_one_row_per_person_with_what_varies_folded() -> None:
    folds = ["age=greatest", "ward=most-frequent", "diagnosis=any:HIV", "stays=number"]
    made = la.publish(STAYS, fold=folds, model="k-anonymity:1", **ASKED)
    assert sorted(made.frame().rows()) == [
        ("20", "s", "2", "not HIV"),
        ("41", "s", "3", "HIV"),
        ("70", "n", "1", "not HIV"),
        ("75", "n", "1", "not HIV"),
    ]
    assert made.audit.passed


def test_columns_without_a_rule_come_from_the_row_that_is_kept() -> None:
    made = la.publish(STAYS, fold="stays=number", keep="last", model="k-anonymity:1", **ASKED)
    assert sorted(made.frame().rows()) == [
        ("20", "n", "2", "cold"),
        ("41", "s", "3", "flu"),
        ("70", "n", "1", "cold"),
        ("75", "n", "1", "asthma"),
    ]


def test_folded_quasi_identifiers_with_all_sensitive_values_as_rows() -> None:
    """What varies among the quasi-identifiers is folded, and every value stays: the way to keep sets of values."""
    made = la.publish(
        STAYS,
        fold=["age=last", "ward=first", "stays=number"],
        model="k-anonymity:2",
        **(ASKED | {"rows": "linked"}),
    )
    frame = made.frame()
    for cells in frame.group_by("person").agg(pl.col("age", "ward", "stays").n_unique()).rows():
        assert cells[1:] == (1, 1, 1)
    assert made.audit.passed


@pytest.mark.parametrize(
    ("fold", "error", "said"),
    [
        ("diagnosis=set", Unsupported, "--rows linked"),
        ("diagnosis=median", RecipeError, "most-frequent"),
        ("diagnosis", RecipeError, "COLUMN=RULE"),
        ("diagnosis=any:", RecipeError, "COLUMN=RULE"),
        ("diagnosis=any:plague", RecipeError, "Name a value that occurs"),
        ("ward=least", RecipeError, "numbers or dates"),
        ("patient=first", RecipeError, "has no role"),
        ("age=number", RecipeError, "already"),
    ],
)
def test_folds_that_mean_nothing_are_refused(fold: str, error: type[Exception], said: str) -> None:
    asked = ASKED | {"qi": ["age", "ward"]}
    with pytest.raises(error, match=said):
        la.publish(read_table(STAYS), fold=fold, model="k-anonymity:1", **asked)


def test_the_number_of_rows_takes_no_name_of_the_table() -> None:
    """Also where the column is read for nothing else: an audit reads every column of the original."""
    for table in (STAYS, STAYS.to_dict(as_series=False)):
        with pytest.raises(RecipeError, match="already"):
            la.publish(table, fold="age=number", model="k-anonymity:1", **ASKED | {"qi": ["age", "ward"]})


def test_a_column_takes_one_rule_and_needs_persons() -> None:
    with pytest.raises(RecipeError, match="folded twice"):
        parse_folds(["age=first", "age=last"])
    with pytest.raises(RecipeError, match="--person COLUMN"):
        la.publish(STAYS, qi=["age"], sensitive="diagnosis", model="k-anonymity:1", fold="age=first")
    assert PersonSettings(fold=("age=first",)).fold == ("age=first",)


def test_names_and_values_may_have_signs_of_their_own() -> None:
    assert Fold.parse("a=b=last") == Fold("a=b", "last")
    assert Fold.parse("diagnosis=any:a=b") == Fold("diagnosis", "any:a=b")
    assert str(Fold.parse("diagnosis=any:flu")) == "diagnosis=any:flu"


def test_a_folded_release_is_audited_against_the_original_folded_again(tmp_path: Path) -> None:
    STAYS.write_csv(tmp_path / "stays.csv")
    folds = ["age=greatest", "ward=most-frequent", "diagnosis=any:HIV", "stays=number"]
    asked = ASKED | {"seed": None}
    made = la.publish(tmp_path / "stays.csv", fold=folds, keep="first", model="k-anonymity:2", **asked)
    made.write(tmp_path / "release", report="brief")
    assert la.verify(tmp_path / "stays.csv", tmp_path / "release").passed
    changed = STAYS.with_columns(age=pl.when(pl.col("age") == 41).then(60).otherwise("age"))
    changed.write_csv(tmp_path / "changed.csv")
    assert not la.verify(tmp_path / "changed.csv", tmp_path / "release").passed


def test_a_table_without_repeated_persons_still_says_what_was_folded(tmp_path: Path) -> None:
    table = STAYS.unique("patient", keep="first", maintain_order=True)
    table.write_csv(tmp_path / "stays.csv")
    asked = ASKED | {"seed": None}
    made = la.publish(
        tmp_path / "stays.csv", fold=["diagnosis=any:cold", "stays=number"], model="k-anonymity:2", **asked
    )
    made.write(tmp_path / "release", report="brief")
    assert la.verify(tmp_path / "stays.csv", tmp_path / "release").passed


def test_folding_is_for_tables_in_one_piece(tmp_path: Path) -> None:
    for asked in ({"fold": "age=first"}, {"order": "age"}):
        with pytest.raises(Unsupported, match="in one piece"):
            la.publish(
                STAYS,
                qi=["age"],
                sensitive="diagnosis",
                person="patient",
                model="k-anonymity:2",
                part_rows=1000,
                out=tmp_path / "release",
                **asked,
            )


def test_folds_by_the_order_of_the_table_are_refused_against_who_knows_the_method() -> None:
    asked = ASKED | {"qi": ["age", "ward"], "model": "k-anonymity:2", "adversary": "knows-method"}
    for fold in ("age=first", "ward=most-frequent"):
        with pytest.raises(Unsupported, match="folds rows by the order of the table"):
            la.publish(STAYS, fold=fold, **asked)
    assert la.publish(STAYS, fold=["age=greatest", "diagnosis=any:HIV"], **asked).audit.passed
