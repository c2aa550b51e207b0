"""Suggested roles: by name in several languages, by the look of the values, and the safe choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.column_names import words_of
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.evaluation.inspect.suggestions import (
    code_reason,
    suggest_role,
    taxonomy_hint,
)


def column(name: str, cells: Sequence[Any], type: ValueType = ValueType.STRING) -> Column:
    present = sorted({cell for cell in cells if cell is not None})
    codes = np.array([len(present) if cell is None else present.index(cell) for cell in cells], dtype=np.int32)
    return Column(name, type, codes, np.array(present, dtype=object if type is ValueType.STRING else None))


FEW = ["a", "b", "b", None] * 30


@pytest.mark.parametrize(
    ("role", "names"),
    [
        (
            Role.IDENTIFIER,
            "name|Name|email|E-Mail|phone|Telefonnummer|ssn|IBAN|first_name|lastName|Vorname|Nachname|patient_id|"
            "PatientID|patient name|customer number|Adresse|prénom|apellidos|mrn|user id|birth name|member code",
        ),
        (
            Role.QUASI,
            "age|Age|patient_age|date of birth|dob|birthdate|Geburtsdatum|sex|gender|Geschlecht|sexe|zip|zipCode|"
            "zip code|PLZ|postal_code|Postleitzahl|city|city name|state|country|Race|ethnicity|Marital|marital-status|"
            "Familienstand|education|job|occupation|Beruf|profession|admission_date|visit date|nationality|"
            "Nationalität|religion|country_id|number of children|height|work class|edad|âge",
        ),
        (
            Role.SENSITIVE,
            "diagnosis|Diagnose|diagnosis_code|diagnosis name|disease|ICD10|icd_code|hiv|HIVStatus|condition|drug|"
            "drug_name|medication|Medikament|salary|Salary class|income|wage|Gehalt|result|test result|treatment|"
            "Therapie|maladie|enfermedad|sexual orientation|Grundkrankheit",
        ),
    ],
)
def test_names_speak_in_several_languages(role: Role, names: str) -> None:
    for name in names.split("|"):
        suggested, reason = suggest_role(column(name, FEW))
        assert suggested is role, name
        assert "in its name says" in reason


def test_short_words_are_not_found_inside_others() -> None:
    for name in ("stage", "language family of origin", "Wage", "sussex", "hidden", "username"):
        assert "age" not in words_of(name)
    assert suggest_role(column("stage", FEW))[0] is Role.QUASI
    assert "nothing tells" in suggest_role(column("stage", FEW))[1]


def test_the_date_of_something_sensitive_is_a_date() -> None:
    dates = column("diagnosis date", [1, 2, 3], ValueType.DATE)
    assert suggest_role(dates)[0] is Role.QUASI


@pytest.mark.parametrize(
    ("what", "cells"),
    [
        ("e-mail addresses", ["ann@example.org", "b.c@mail.example.com"]),
        ("UUIDs", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("social security numbers", ["078-05-1120", "219-09-9999"]),
        ("bank account numbers", ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"]),
        ("network addresses", ["192.168.0.1", "10.0.0.255"]),
        ("phone numbers", ["+49 30 1234567", "(030) 123 4567", "555-123-4567"]),
    ],
)
def test_values_betray_identifiers_whatever_the_name(what: str, cells: list[str]) -> None:
    role, reason = suggest_role(column("city", cells * 2))
    assert role is Role.IDENTIFIER
    assert what in reason
    assert not any(cell in reason for cell in cells)


@pytest.mark.parametrize("cell", ["2023-05-17", "17/05/2023", "02138-1234", "02138", "1000-2000", "3.14", "12 mg"])
def test_dates_zips_and_ranges_are_no_phone_numbers(cell: str) -> None:
    assert suggest_role(column("x", [cell, cell, "other"]))[0] is Role.QUASI


def test_distinct_values_make_identifiers_only_in_tables_of_some_size() -> None:
    texts = [f"w{number}x" for number in range(60)]
    assert suggest_role(column("thing", texts))[0] is Role.IDENTIFIER
    assert suggest_role(column("thing", texts[:50]))[0] is Role.QUASI
    assert suggest_role(column("thing", list(range(60)), ValueType.INTEGER))[0] is Role.IDENTIFIER
    assert suggest_role(column("thing", [*range(59), 58], ValueType.INTEGER))[0] is Role.QUASI
    assert suggest_role(column("zip code", texts))[0] is Role.QUASI


def test_numbering_words_count_only_if_values_hardly_repeat() -> None:
    assert suggest_role(column("id", ["a", "b", "c", "c"]))[0] is Role.IDENTIFIER
    assert suggest_role(column("ward id", ["a", "b"] * 20))[0] is Role.QUASI
    assert suggest_role(column("patient_id", ["a", "b"] * 20))[0] is Role.IDENTIFIER


def test_measurements_are_carried_only_by_name() -> None:
    floats = [number / 7 for number in range(100)]
    role, reason = suggest_role(column("x1", floats, ValueType.NUMBER))
    assert role is Role.QUASI
    assert "make it carried only if nobody outside can know it" in reason
    role, reason = suggest_role(column("blood_pressure", floats, ValueType.NUMBER))
    assert role is Role.CARRIED
    assert "bloodpressure" in reason
    assert suggest_role(column("length_of_stay", [1, 2, 2], ValueType.INTEGER))[0] is Role.CARRIED
    assert suggest_role(column("score", ["low", "high"]))[0] is Role.QUASI


def test_empty_and_constant_columns_tell_nobody_apart() -> None:
    assert suggest_role(column("x", [None, None])) == (Role.CARRIED, "it is empty")
    assert suggest_role(column("x", ["a", "a"]))[0] is Role.CARRIED
    assert suggest_role(column("x", ["a", None]))[0] is Role.QUASI


@given(st.text(max_size=30), st.lists(st.none() | st.text(max_size=12), max_size=60))
def test_any_name_and_any_text_gets_a_role_and_a_reason(name: str, cells: list[str | None]) -> None:
    role, reason = suggest_role(column(name, cells))
    assert role in Role
    assert reason


def distinct(name: str, values: Any, type: ValueType) -> Column:
    array = np.array(values, dtype=object if type is ValueType.STRING else None)
    return Column(name, type, np.arange(len(array), dtype=np.int32), array)


def whole(name: str, values: Any) -> Column:
    return distinct(name, list(values), ValueType.INTEGER)


@pytest.mark.parametrize("name", ["Country", "zip code", "marital status", "Work class", "age group", "diagnosis code"])
def test_names_of_categories_make_codes(name: str) -> None:
    assert code_reason(whole(name, range(9))) == "its name speaks of a category"


@pytest.mark.parametrize("name", ["age", "year", "birth year", "number of days", "Education", "children", "income"])
def test_quantities_are_never_codes_however_sparse(name: str) -> None:
    assert code_reason(whole(name, [1, 100, 9000])) == ""


def test_few_values_strewn_over_a_wide_range_make_codes() -> None:
    assert code_reason(whole("x", [101, 250, 999])) == "3 values lie strewn over a range of 899"
    assert code_reason(whole("x", range(30))) == ""
    assert code_reason(whole("x", [0, 1000])) == ""
    assert code_reason(distinct("country", ["a", "b", "c"], ValueType.STRING)) == ""


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        (distinct("zip", [f"021{town:02d}" for town in range(30)], ValueType.STRING), {"prefixes": [3, 2]}),
        (distinct("plz", [f"{town:04d}" for town in range(1200, 1300)], ValueType.STRING), {"prefixes": [2, 1]}),
        (distinct("zip", ["02138", "02139"], ValueType.STRING), None),
        (distinct("city", [f"town{letter}" for letter in "abcdefghijklmn"], ValueType.STRING), None),
        (distinct("post", [*(f"021{town:02d}" for town in range(30)), "12"], ValueType.STRING), None),
        (whole("age", range(100)), {"intervals": [10, 50]}),
        (whole("age", range(20)), None),
        (whole("income", range(0, 90_000, 1000)), {"intervals": [10_000, 50_000]}),
        (whole("country", range(100)), None),
        (distinct("visit", [19_000, 19_010], ValueType.DATE), {"dates": ["week"]}),
        (distinct("visit", [19_000, 19_700], ValueType.DATE), {"dates": ["month", "quarter", "year"]}),
        (distinct("visit", [15_000, 19_000], ValueType.DATE), {"dates": ["month", "year"]}),
        (distinct("birth", [-20_000, 19_000], ValueType.DATE), {"dates": ["year", "decade"]}),
        (distinct("seen", [0, 900 * 86_400_000_000], ValueType.DATETIME), {"dates": ["month", "quarter", "year"]}),
        (distinct("x", [0.5, 1.5], ValueType.NUMBER), None),
        (distinct("x", [], ValueType.STRING), None),
    ],
)
def test_hints(column: Column, hint: Mapping[str, Any] | None) -> None:
    assert taxonomy_hint(column) == hint


_INTEGERS = st.sets(st.integers(-(10**9), 10**9), min_size=1, max_size=60)
_DATES = st.sets(st.integers(-30_000, 30_000), min_size=1, max_size=60)
_CODES = st.sets(st.text("0123456789AB", min_size=5, max_size=5), min_size=1, max_size=60)


@given(
    st.one_of(
        _INTEGERS.map(lambda values: distinct("x", sorted(values), ValueType.INTEGER)),
        _DATES.map(lambda values: distinct("x", sorted(values), ValueType.DATE)),
        _CODES.map(lambda values: distinct("x", sorted(values), ValueType.STRING)),
    )
)
def test_every_hint_builds_a_tree_over_the_values(column: Column) -> None:
    hint = taxonomy_hint(column)
    if hint is None:
        return
    schema = Schema((Attribute(name="x", role=Role.QUASI, taxonomy=hint),))
    tree = Microdata.encode(Table((column,)), schema).domains.quasi[0].taxonomy
    assert tree is not None
    assert tree.n_leaves == len(column.values)
