"""What names of columns say about persons and households."""

from __future__ import annotations

import pytest

from lookalike.data.column_names import may_number_persons, numbers_households, numbers_persons, numbers_records


@pytest.mark.parametrize(
    "name",
    [
        "patient_id",
        "PatientID",
        "patient no",
        "PATNO",
        "patid",
        "ptid",
        "subject_id",
        "USUBJID",
        "SubjID",
        "person_key",
        "participant nr",
        "customer number",
        "client-id",
        "id_patient",
        "patient study id",
        "Patientennummer",
        "MRN",
        "ssn",
        "personnummer",
        "pseudonym patient id",
        "member code",
        "paciente_id",
        "user_id",
    ],
)
def test_numbers_of_persons(name: str) -> None:
    assert numbers_persons(name)
    assert may_number_persons(name)


@pytest.mark.parametrize(
    "name",
    [
        "number of patients",
        "patients",
        "customer type code",
        "age",
        "diagnosis code",
        "visit_id",
        "ward no",
        "patient age",
        "staff id",
        "member",
        "household_id",
        "zip code id",
        "person count",
    ],
)
def test_names_that_number_no_persons(name: str) -> None:
    assert numbers_persons(name) is None


@pytest.mark.parametrize("name", ["id", "pid", "case_no", "record number", "subject", "staff id", "key"])
def test_names_that_are_worth_a_look(name: str) -> None:
    assert may_number_persons(name)
    assert numbers_persons(name) is None


@pytest.mark.parametrize("name", ["visit_id", "zip code id", "diagnosis code", "household_id", "age", "number of ids"])
def test_names_that_are_not(name: str) -> None:
    assert not may_number_persons(name)


def test_counts_number_nothing() -> None:
    assert numbers_records("number of children") is None
    assert numbers_records("row_id") is not None


@pytest.mark.parametrize("name", ["household_id", "HHID", "haushaltsnummer", "family no", "foyer_id"])
def test_numbers_of_households(name: str) -> None:
    assert numbers_households(name)


@pytest.mark.parametrize("name", ["household", "household size", "family status code", "familienstand", "patient_id"])
def test_no_numbers_of_households(name: str) -> None:
    assert numbers_households(name) is None
