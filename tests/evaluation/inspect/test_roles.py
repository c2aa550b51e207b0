"""Suggested roles: by name in several languages, by the look of the values, and the safe choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.column_names import words_of
from lookalike.data.microdata import Column, Table
from lookalike.data.schema import Role, ValueType
from lookalike.evaluation.inspect.roles import suggest_role, suggest_roles


def column(name: str, cells: Sequence[Any], type: ValueType = ValueType.STRING) -> Column:
    present = sorted({cell for cell in cells if cell is not None})
    codes = np.array([len(present) if cell is None else present.index(cell) for cell in cells], dtype=np.int32)
    return Column(name, type, codes, np.array(present, dtype=object if type is ValueType.STRING else None))


FEW = ["a", "b", "c", None] * 30


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


def roles_of(*columns: Column) -> dict[str, Role]:
    return {name: role for name, (role, _) in suggest_roles(Table(columns)).by_column.items()}


def numbers(name: str, *, n_rows: int = 200, n_values: int = 100, seed: int = 0, low: int = 1) -> Column:
    drawn = np.random.default_rng(seed).integers(low, low + n_values, n_rows)
    return column(name, drawn.tolist(), ValueType.INTEGER)


@pytest.mark.parametrize(
    "name", ["id", "ID", "idno", "idcode", "caseid", "patno", "pat_no", "Subject", "patient", "respondent"]
)
def test_a_number_of_persons_is_never_a_quasi_identifier_however_often_it_repeats(name: str) -> None:
    for n_values in (6, 50, 190):
        assert suggest_role(numbers(name, n_values=n_values))[0] is Role.IDENTIFIER, n_values


def test_numbers_of_persons_are_known_as_floats_too() -> None:
    """A data frame holds whole numbers as floats where some are missing."""
    cells = [float(number % 40) for number in range(118)] + [None, None]
    assert suggest_role(column("id", cells, ValueType.NUMBER))[0] is Role.IDENTIFIER
    cells[0] = 0.5
    assert suggest_role(column("id", cells, ValueType.NUMBER))[0] is Role.QUASI


def test_subjects_of_a_school_and_numbers_of_patients_are_no_persons() -> None:
    assert suggest_role(column("subject", ["maths", "music", "arts", "sports"] * 30))[0] is Role.QUASI
    assert suggest_role(numbers("patients", n_values=9))[0] is Role.QUASI


@pytest.mark.parametrize(
    "name",
    [
        "hepatitis",
        "diabetes",
        "dx",
        "dx1",
        "Dx",
        "icd10_2",
        "highbp",
        "asthma",
        "hypertension",
        "cancer",
        "chronic_cough",
        "depression",
        "alcohol",
        "hiv2004",
        "coronary_artery_disease",
        "bronchitis",
        "anaemia",
        "melanoma",
        "lwage",
        "MonthlyIncome",
        "hourly_rate",
        "taxes",
        "total_debt",
        "arrests",
        "citationIssued",
        "partyid",
        "JobSatisfaction",
    ],
)
def test_diseases_money_conduct_and_opinions_are_sensitive(name: str) -> None:
    assert suggest_role(numbers(name, n_values=3))[0] is Role.SENSITIVE


@pytest.mark.parametrize(
    "name", ["province", "rash decision"[-8:], "condominium", "skills", "hospital_region", "paint"]
)
def test_parts_of_words_are_no_diseases(name: str) -> None:
    assert suggest_role(numbers(name, n_values=9))[0] is Role.QUASI


@pytest.mark.parametrize("name", ["creatinine", "sbp", "hdl", "platelet", "alk.phos", "ph.ecog", "baseline_esr", "trt"])
def test_what_is_examined_is_carried(name: str) -> None:
    assert suggest_role(numbers(name))[0] is Role.CARRIED


@pytest.mark.parametrize("name", ["baseline_age", "age at treatment start"[:15]])
def test_what_others_know_stays_a_quasi_identifier_also_at_the_start_of_a_study(name: str) -> None:
    assert suggest_role(numbers(name))[0] is Role.QUASI


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("clinic_name", Role.QUASI),
        ("school name", Role.QUASI),
        ("product_name", Role.QUASI),
        ("name", Role.IDENTIFIER),
        ("clinic_patient_name", Role.IDENTIFIER),
        ("forename", Role.IDENTIFIER),
        ("fake_last_name", Role.IDENTIFIER),
        ("street_address", Role.IDENTIFIER),
        ("addr_state", Role.QUASI),
    ],
)
def test_names_are_of_persons_unless_they_say_of_what(name: str, role: Role) -> None:
    assert suggest_role(column(name, [f"value {number}" for number in range(12)] * 10))[0] is role


def test_two_values_name_nobody_in_a_table_of_some_size() -> None:
    assert suggest_role(column("mobile_phone", ["yes", "no"] * 40))[0] is Role.QUASI
    assert suggest_role(numbers("cpr", n_values=2, low=0))[0] is Role.QUASI
    assert suggest_role(column("mobile_phone", ["5550101", "5550102"]))[0] is Role.IDENTIFIER


def test_survey_weights_are_told_from_bodies() -> None:
    rng = np.random.default_rng(1)
    spread = column("weight", np.exp(rng.normal(6, 1.2, 300)).tolist(), ValueType.NUMBER)
    relative = column("weight", rng.uniform(0.3, 1.7, 300).round(4).tolist(), ValueType.NUMBER)
    bodies = column("weight", rng.uniform(3, 140, 300).round(1).tolist(), ValueType.NUMBER)
    newborns = column("birth_weight", rng.integers(450, 5200, 300).tolist(), ValueType.INTEGER)
    grams = column("weight", rng.integers(450, 5200, 300).tolist(), ValueType.INTEGER)
    for survey in (spread, relative):
        role, reason = suggest_role(survey)
        assert role is Role.IDENTIFIER
        assert "survey weight" in reason
        assert "leave it out" in reason
    for body in (bodies, newborns, grams):
        assert suggest_role(body)[0] is Role.QUASI
    for name in ("pspwght", "design weight", "fnlwgt", "finalWgt"):
        assert "survey weight" in suggest_role(column(name, rng.uniform(5, 9, 300).tolist(), ValueType.NUMBER))[1]
    # Next to heights a mean of about one could be a body's in some unit.
    tall = numbers("height", n_rows=300)
    assert roles_of(tall, relative)["weight"] is Role.QUASI


def test_times_and_outcomes_belong_to_a_table_about_health_only() -> None:
    status, stage = numbers("status", n_values=3), numbers("stage", n_values=4, seed=1)
    assert roles_of(status, stage, numbers("age")) == {
        "status": Role.QUASI,
        "stage": Role.QUASI,
        "age": Role.QUASI,
    }
    found = roles_of(status, stage, numbers("diabetes", n_values=2), numbers("hdl", seed=2), numbers("age", seed=3))
    assert (found["status"], found["stage"], found["age"]) == (Role.CARRIED, Role.CARRIED, Role.QUASI)


def test_answers_in_a_row_and_series_are_carried_with_their_number() -> None:
    items = [numbers(f"nat{letter}", n_values=5, seed=place + 1) for place, letter in enumerate("abcdefg")]
    roles = suggest_roles(Table((numbers("age"), *items)))
    assert roles["nata"][0] is Role.CARRIED
    assert "one of 7 columns in a row with the same 5 values" in roles["natc"][1]
    assert roles["age"][0] is Role.QUASI
    weeks = [numbers(f"wk{week}", n_values=2, seed=week, low=0) for week in range(9)]
    assert "one of 9 columns that are numbered alike" in suggest_roles(Table(tuple(weeks)))["wk4"][1]
    # Two values in a row are anything, and so are numbers of which each has its own values.
    flags = [numbers(f"owns_{letter}", n_values=2, seed=place) for place, letter in enumerate("abcdefg")]
    assert set(roles_of(*flags).values()) == {Role.QUASI}
    mixed = [numbers(f"z{place}", n_values=place + 2, seed=place) for place in range(10)]
    assert set(roles_of(*mixed).values()) == {Role.QUASI}


def test_what_follows_from_a_quasi_identifier_is_one_with_the_reason() -> None:
    province = numbers("province", n_values=8, n_rows=400)
    population = column("population", [int(code) ** 2 * 1000 for code in province.codes], ValueType.INTEGER)
    size = column("creatinine", [int(code) // 3 for code in province.codes], ValueType.INTEGER)
    roles = suggest_roles(Table((province, population, size, numbers("age", n_rows=400))))
    assert [found.column for found in roles.follows] == ["population", "creatinine"]
    assert roles["population"][0] is Role.QUASI
    assert 'says the same as "province"' in roles["population"][1]
    # Carried, it would show what the province's range hides.
    assert roles["creatinine"][0] is Role.QUASI
    assert 'follows from "province"' in roles["creatinine"][1]
    assert roles["age"][1].startswith('"age" in its name')


def test_dates_that_fit_two_formats_are_dates_and_no_identifiers() -> None:
    texts = column(
        "x", [f"{day:02}/{month:02}/20{year}" for day in range(1, 13) for month, year in ((1, 10), (2, 11))] * 3
    )
    unclear = Column(texts.name, texts.type, np.arange(24, dtype=np.int32), texts.values, question="Which is it?")
    role, reason = suggest_role(unclear)
    assert role is Role.QUASI
    assert "say first how they are written" in reason


def test_a_column_that_publishing_would_refuse_is_left_out() -> None:
    notes = [f"seen {row} times" for row in range(200)] + ["card 4111 1111 1111 1111"]
    role, reason = suggest_role(column("remark", notes))
    assert role is Role.IDENTIFIER
    assert "1 of its 201 values holds payment card numbers" in reason
    assert suggest_role(column("remark", [f"b{row % 90}" for row in range(200)]))[0] is Role.QUASI


def test_sentences_that_hardly_repeat_are_left_out_and_times_of_day_are_not() -> None:
    sentences = [f"came back after {row} days and felt much better" for row in range(90)] + ["none"] * 60
    assert "free text" in suggest_role(column("remark", sentences))[1]
    labels = [f"a rather long label of the category {row % 60}" for row in range(300)]
    assert suggest_role(column("remark", labels))[0] is Role.QUASI
    clock = [f"{row // 60:02d}:{row % 60:02d}" for row in range(200)]
    assert suggest_role(column("begin", clock))[0] is Role.QUASI


def test_numbers_of_cases_are_left_out_and_those_of_places_are_not() -> None:
    many, few = [f"{row // 3:04d}" for row in range(900)], [f"{row % 20}" for row in range(900)]
    assert suggest_role(column("job_ad_id", many))[0] is Role.IDENTIFIER
    assert suggest_role(column("region_id", few))[0] is Role.QUASI


def test_a_study_that_follows_people_is_known_by_its_times_and_outcomes() -> None:
    others = (
        numbers("age"),
        numbers("laser", n_values=2, low=0, seed=3),
        column("wed", ["married", "not married"] * 100),
    )
    study = (numbers("rfstime", n_values=60, seed=5), numbers("rfsstat", n_values=2, low=0, seed=4))
    roles = suggest_roles(Table((*others, *study)))
    assert {name: role for name, (role, _) in roles.by_column.items()} == {
        "age": Role.QUASI,
        "laser": Role.SENSITIVE,
        "wed": Role.QUASI,
        "rfstime": Role.CARRIED,
        "rfsstat": Role.CARRIED,
    }
    assert suggest_roles(Table((*others, study[0])))["laser"][0] is Role.QUASI
