"""What is said of numbers of persons that are spelled in two ways, or that two persons share."""

from __future__ import annotations

import pytest

import lookalike as la
from lookalike.data.microdata import Table
from lookalike.data.person_doubts import find_doubt, find_spellings
from tests.data.test_person_columns import column


def test_spellings_of_one_number_are_said() -> None:
    said = find_spellings(column("pid", ["p1", "P1 ", "p2", "p1"]))
    assert "1 value" in said
    assert "p1" not in said
    assert not find_spellings(column("pid", ["p1", "p2", "p1"]))
    assert not find_spellings(column("pid", [1, 2, 1]))


def visits_of_two_centres() -> Table:
    """30 patients of each centre, numbered from 1 on; three visits each, with one sex and year of birth per patient."""
    patients = [(centre, number) for centre in ("north", "south") for number in range(1, 31) for _ in range(3)]
    sexes = {key: "mf"[(key[1] * 7 + len(key[0]) * key[1] // 5 + (key[0] == "south")) % 2] for key in patients}
    born = {key: 1940 + (key[1] * 13 + 29 * (key[0] == "south")) % 50 for key in patients}
    return Table(
        (
            column("patient", [number for _, number in patients]),
            column("centre", [centre for centre, _ in patients]),
            column("sex", [sexes[key] for key in patients]),
            column("year of birth", [born[key] for key in patients]),
            column("diagnosis", ["flu", "cold", "HIV", "gout"] * (len(patients) // 4)),
        )
    )


def test_two_persons_under_one_number_are_doubted() -> None:
    table = visits_of_two_centres()
    said = find_doubt(table, table["patient"])
    assert "differs between rows with the same" in said
    assert 'may number the persons of each "centre" from 1 on' in said


def test_publish_says_that_a_number_seems_to_be_shared_by_persons() -> None:
    asked = {"qi": ["sex", "year of birth", "centre"], "sensitive": "diagnosis", "model": "k-anonymity:3"}
    made = la.publish(visits_of_two_centres(), person="patient", rows="one", **asked)
    assert any('may number the persons of each "centre"' in note for note in made.notes)


@pytest.mark.parametrize("rows", ["apart", "one"])
def test_persons_who_keep_their_sex_and_year_of_birth_are_not_doubted(rows: str) -> None:
    table = visits_of_two_centres()
    person = column("patient", [place // 3 for place in range(180)])
    asked = {"qi": ["sex", "year of birth"], "sensitive": "diagnosis", "model": "k-anonymity:3"}
    made = la.publish(Table((person, *table.columns[1:])), person="patient", rows=rows, **asked)
    assert not any("differs between rows" in note for note in made.notes)
