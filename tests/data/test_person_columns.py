"""Which columns say that persons have several rows: names, roles, and what is constant within a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import explain_repeated, find_repeated, refuse_repeated
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.errors import RecipeError

QI = ("age", "sex", "zip")
SCHEMA = Schema.of(qi=QI, sensitive="diagnosis")


def column(name: str, cells: Sequence[Any]) -> Column:
    present = sorted({cell for cell in cells if cell is not None})
    codes = np.array([len(present) if cell is None else present.index(cell) for cell in cells], dtype=np.int32)
    if present and isinstance(present[0], str):
        return Column(name, ValueType.STRING, codes, np.array(present, dtype=object))
    return Column(name, ValueType.INTEGER, codes, np.array(present, dtype=np.int64))


def visits(name: str = "patient_id", *, n_persons: int = 20, n_each: int = 5, mixed: bool = False) -> Table:
    """Rows of persons with their own age, sex and zip code; `mixed`: the column says nothing about these."""
    rng = np.random.default_rng(3)
    owners = np.repeat(np.arange(n_persons), n_each)
    ages, sexes, places = rng.integers(0, 90, n_persons), rng.integers(0, 2, n_persons), rng.integers(0, 30, n_persons)
    ids = rng.permutation(owners) if mixed else owners
    return Table(
        (
            column(name, [f"{number:04d}" for number in ids]),
            column("age", ages[owners].tolist()),
            column("sex", ["fm"[code] for code in sexes[owners]]),
            column("zip", [f"{code:05d}" for code in places[owners]]),
            column("diagnosis", [f"d{number % n_each}" for number in range(len(owners))]),
        )
    )


def test_twenty_persons_with_five_rows_are_found() -> None:
    found = find_repeated(visits(), SCHEMA)
    assert found is not None
    assert (found.name, found.n_rows, found.n_values, found.most) == ("patient_id", 100, 20, 5)
    assert found.constant == QI
    with pytest.raises(RecipeError, match=r"100 rows, 20 different values.*--person patient_id.*--rows-are-persons"):
        refuse_repeated(visits(), SCHEMA, PersonSettings())


def test_one_row_per_person_is_no_fault() -> None:
    assert find_repeated(visits(n_persons=50, n_each=1), SCHEMA) is None


def test_who_said_it_is_not_asked_again() -> None:
    refuse_repeated(visits(), SCHEMA, PersonSettings(rows_are_persons=True))
    refuse_repeated(visits(), Schema.of(SCHEMA, person="patient_id"), PersonSettings())
    refuse_repeated(visits(), Schema.of(SCHEMA, household="patient_id"), PersonSettings())


@pytest.mark.parametrize("name", ["patient_id", "PATNO", "subject_id", "customer number", "id", "Subject"])
def test_a_number_of_persons_is_enough_by_its_name(name: str) -> None:
    """Where every quasi-identifier is about the visit, nothing is constant within a person."""
    found = find_repeated(visits(name, mixed=True), SCHEMA)
    assert found is not None
    assert found.constant == ()


@pytest.mark.parametrize("name", ["subj", "PTID", "Patient"])
def test_a_short_name_of_persons_is_enough_where_its_values_are_numbers(name: str) -> None:
    assert find_repeated(visits(name, mixed=True), SCHEMA) is not None


@pytest.mark.parametrize("name", ["case_no", "key", "record nr", "RID", "SEQN", "studyid", "e-mail", "child", "token"])
def test_a_mere_number_needs_what_is_constant(name: str) -> None:
    assert find_repeated(visits(name), SCHEMA) is not None
    assert find_repeated(visits(name, mixed=True), SCHEMA) is None


def test_a_school_subject_is_no_person() -> None:
    table = visits("subject", mixed=True)
    names = ["".join("abcdefghij"[int(digit)] for digit in value) for value in table["subject"].values.tolist()]
    subjects = Column("subject", ValueType.STRING, table["subject"].codes, np.array(names, dtype=object))
    assert find_repeated(Table((subjects, *table.columns[1:])), SCHEMA) is None


@pytest.mark.parametrize("name", ["marks", "kundig", "x"])
def test_a_name_that_says_nothing_is_found_where_it_is_declared_an_identifier(name: str) -> None:
    assert find_repeated(visits(name), SCHEMA) is None
    declared = Schema((*SCHEMA.attributes, Attribute(name=name, role=Role.IDENTIFIER)))
    assert find_repeated(visits(name), declared) is not None
    # Also where every quasi-identifier is about the visit, as the date and the ward are.
    assert find_repeated(visits(name, mixed=True), declared) is not None


@pytest.mark.parametrize("name", ["zip code", "fnlwgt", "street", "diagnosis code", "household_id"])
def test_an_identifier_whose_name_says_what_it_is_needs_what_is_constant(name: str) -> None:
    """It is left out for another reason, and repeats as any such column does."""
    declared = Schema((*SCHEMA.attributes, Attribute(name=name, role=Role.IDENTIFIER)))
    assert find_repeated(visits(name, mixed=True), declared) is None
    assert find_repeated(visits(name), declared) is not None


def test_names_of_persons_may_be_shared() -> None:
    table = visits("surname", mixed=True)
    names = ["".join("abcdefghij"[int(digit)] for digit in value) for value in table["surname"].values.tolist()]
    surnames = Column("surname", ValueType.STRING, table["surname"].codes, np.array(names, dtype=object))
    declared = Schema((*SCHEMA.attributes, Attribute(name="surname", role=Role.IDENTIFIER)))
    assert find_repeated(Table((surnames, *table.columns[1:])), declared) is None


def test_decimals_number_nobody() -> None:
    """The staff of a school in full-time posts, where other columns are constant per school."""
    posts = visits("staff")["staff"]
    measured = Column("staff", ValueType.NUMBER, posts.codes, np.arange(len(posts.values)) + 0.5)
    assert find_repeated(visits("staff"), SCHEMA) is not None
    assert find_repeated(Table((measured, *visits("staff").columns[1:])), SCHEMA) is None


def test_an_identifier_that_numbers_something_is_refused_whatever_is_constant() -> None:
    declared = Schema((*SCHEMA.attributes, Attribute(name="id", role=Role.IDENTIFIER)))
    assert find_repeated(visits("id", mixed=True), declared) is not None


def test_the_number_of_a_person_is_no_quasi_identifier() -> None:
    """Published in sets, it would still be counted by rows."""
    named = Schema.of(SCHEMA, qi=["patient_id"])
    assert find_repeated(visits(), named) is not None
    # Another published column with a number in its name is taken as it was declared.
    assert find_repeated(visits("case_no"), Schema.of(SCHEMA, qi=["case_no"])) is None


def test_a_code_of_one_column_is_no_person() -> None:
    table = visits(n_persons=600, n_each=1)
    places = table["zip"]
    coded = Table((*table.columns[1:], Column("zone no", places.type, places.codes, places.values)))
    assert find_repeated(coded, SCHEMA) is None


def test_nearly_constant_is_constant() -> None:
    """Ages of visits in three years, and a wrong sex now and then."""
    rng = np.random.default_rng(0)
    owners = np.repeat(np.arange(100), 4)
    ages, sexes = rng.integers(0, 90, 100), rng.integers(0, 2, 100)
    wrong = rng.random(400) < 0.02
    table = Table(
        (
            column("id", owners.tolist()),
            column("age", (ages[owners] + rng.integers(0, 3, 400)).tolist()),
            column("sex", ["fm"[code] for code in np.where(wrong, 1 - sexes[owners], sexes[owners])]),
            column("ward", [f"w{code}" for code in rng.integers(0, 5, 400)]),
        )
    )
    found = find_repeated(table, Schema.of(qi=["age", "sex", "ward"]))
    assert found is not None
    assert found.constant == ("age", "sex")


def test_missing_identifiers_repeat_nothing() -> None:
    cells = [f"{number:03d}" for number in range(40)] + [None] * 60
    table = visits()
    assert find_repeated(Table((column("patient_id", cells), *table.columns[1:])), SCHEMA) is None


def test_of_several_columns_the_number_of_persons_is_named() -> None:
    table = visits()
    more = Table((column("id", [number // 2 for number in range(100)]), *table.columns))
    found = find_repeated(more, SCHEMA)
    assert found is not None
    assert found.name == "patient_id"


@given(st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=40), st.text(max_size=12), st.booleans())
def test_messages_show_no_value(cells: list[str | None], name: str, declared: bool) -> None:
    cells = [None if cell is None else f"~secret{cell}" for cell in cells]
    role = [Attribute(name=name or "id", role=Role.IDENTIFIER)] if declared else []
    schema = Schema((Attribute(name="~q", role=Role.QUASI), *role))
    table = Table((column(name or "id", cells), column("~q", cells)))
    found = find_repeated(table, schema)
    assert found is None or "~secret" not in explain_repeated(found)
