"""What `inspect` says about whose rows it sees: proposed columns, and persons who repeat unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.apps.samples import census, hospital
from lookalike.data.microdata import Column, Table
from lookalike.data.schema import Role, Schema, ValueType
from lookalike.evaluation.inspect import inspect, suggest_schema
from lookalike.files.tables import read_table
from tests.visits import longitudinal, twenty_by_five, write_rows


def test_the_person_column_is_proposed_with_its_reason(tmp_path: Path) -> None:
    found = inspect(write_rows(tmp_path / "stays.csv", twenty_by_five()))
    (persons,) = found.persons
    assert (persons.column, persons.role, persons.declared) == ("patient_id", Role.PERSON, False)
    assert (persons.n_persons, persons.n_rows, persons.most_rows) == (20, 100, 5)
    assert '"patientid" in its name' in persons.reason
    assert '"age", "sex" and "zip" are constant' in persons.reason
    assert found["patient_id"].role is Role.PERSON
    assert found.unsaid is None
    assert persons.sentence in found.notes
    assert json.loads(json.dumps(found.to_plain()))["persons"][0]["n_persons"] == 20


def test_nothing_follows_from_a_column_that_numbers_persons_under_any_name(tmp_path: Path) -> None:
    rows = [{"nr": row.pop("patient_id"), **row} for row in twenty_by_five()]
    path = write_rows(tmp_path / "stays.csv", rows)
    found = inspect(path)
    assert found["nr"].role is Role.PERSON
    assert found.follows == ()
    assert not any("follows from" in profile.role_reason for profile in found.columns)
    assert not any("can be worked out" in note for note in found.notes)
    assert suggest_schema(read_table(path))["age"].role is Role.QUASI


def test_household_and_person_are_proposed_and_saved(tmp_path: Path) -> None:
    table = read_table(write_rows(tmp_path / "visits.csv", longitudinal()))
    found = inspect(table)
    assert [(one.column, one.role) for one in found.persons] == [
        ("patient_id", Role.PERSON),
        ("household_id", Role.HOUSEHOLD),
    ]
    assert [one.n_persons for one in found.persons] == [120, 60]
    schema = Schema.from_yaml(suggest_schema(table).to_yaml())
    assert schema.person is not None
    assert (schema.person.name, schema.person.type) == ("patient_id", ValueType.STRING)
    assert schema.household is not None
    assert schema.household.name == "household_id"
    declared = inspect(table, schema=schema)
    assert all(one.declared for one in declared.persons)
    assert not any("proposed" in note for note in declared.notes)


def test_persons_without_a_number_still_show(tmp_path: Path) -> None:
    rows = [{name: row[name] for name in row if not name.endswith("_id")} for row in longitudinal()]
    found = inspect(write_rows(tmp_path / "visits.csv", rows))
    assert found.persons == ()
    assert found.unsaid is not None
    assert "birth date" in (*found.unsaid.columns, found.unsaid.third)
    assert found.unsaid.agree >= 0.9
    assert found.unsaid.by_chance < 0.7
    assert found.unsaid.sentence in found.notes
    assert "--person COLUMN" in found.unsaid.sentence
    assert json.loads(json.dumps(found.to_plain()))["unsaid"]["third"] == found.unsaid.third


@pytest.mark.parametrize("table", [hospital(1000), hospital(3000, seed=2), census(5000)])
def test_different_persons_are_not_taken_for_the_same(table: Table) -> None:
    found = inspect(table)
    assert found.persons == ()
    assert found.unsaid is None


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(3, 40), st.integers(2, 6))
def test_columns_that_decide_each_other_are_no_persons(seed: int, n_places: int, n_regions: int) -> None:
    """A zip code decides its city and its region; rows of one zip code are not of one person."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, n_places, 400).astype(np.int32)
    ages, sexes = rng.integers(0, 70, 400).astype(np.int32), rng.integers(0, 2, 400).astype(np.int32)
    columns = {
        "zip": (places, n_places),
        "city": ((places // 2).astype(np.int32), n_places // 2 + 1),
        "region": ((places % n_regions).astype(np.int32), n_regions),
        "age": (ages, 70),
        "sex": (sexes, 2),
    }
    table = Table(
        tuple(
            Column(name, ValueType.STRING, codes, np.array([f"v{code:03d}" for code in range(size)], dtype=object))
            for name, (codes, size) in columns.items()
        )
    )
    assert inspect(table).unsaid is None


def test_numbers_that_begin_anew_in_every_centre_are_doubted(tmp_path: Path) -> None:
    """Two centres number their patients from 1 on: by the number alone two patients would be one person."""
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for centre in ("north", "south"):
        for number in range(40):
            fixed = {"centre": centre, "id": number, "sex": rng.choice(["f", "m"]), "age": int(rng.integers(20, 80))}
            rows += [fixed | {"visit": visit, "outcome": rng.choice(["good", "poor"])} for visit in range(4)]
    found = inspect(write_rows(tmp_path / "visits.csv", rows))
    (persons,) = found.persons
    assert (persons.column, persons.n_persons) == ("id", 40)
    assert '"sex" differs' in persons.doubt
    assert 'each "centre"' in persons.doubt
    assert persons.doubt in persons.sentence
    joined = [
        {"id": f"{row['centre']}-{row['id']}"} | {n: row[n] for n in row if n not in ("centre", "id")} for row in rows
    ]
    (persons,) = inspect(write_rows(tmp_path / "joined.csv", joined)).persons
    assert (persons.n_persons, persons.doubt) == (80, "")


def test_a_person_with_a_large_part_of_a_large_table_is_doubted(tmp_path: Path) -> None:
    """Numbers of children within a family: the first child of every family would be one person."""
    rows = [{"person no": child, "age": 20 + row % 50} for row in range(500) for child in range(row % 4 + 1)]
    (persons,) = inspect(write_rows(tmp_path / "children.csv", rows)).persons
    assert "40% of all rows" in persons.doubt
    (small,) = inspect(write_rows(tmp_path / "few.csv", rows[:100])).persons
    assert small.doubt == ""


def test_rows_sorted_by_another_column_do_not_make_a_column_look_constant(tmp_path: Path) -> None:
    """A room is no person, though rows of one room that are close to each other in a sorted table agree."""
    rng = np.random.default_rng(4)
    rows = [
        {"room key": int(rng.integers(0, 12)), "sex": "fm"[place % 2], "age": place, "zip": 100 + place}
        for place in np.sort(rng.integers(0, 60, 600)).tolist()
    ]
    assert inspect(write_rows(tmp_path / "rooms.csv", rows)).persons == ()


def test_rows_without_a_person_are_counted_and_what_to_do_is_said(tmp_path: Path) -> None:
    rows = [{**row, "patient_id": row["patient_id"] if place > 2 else ""} for place, row in enumerate(twenty_by_five())]
    (persons,) = inspect(write_rows(tmp_path / "stays.csv", rows)).persons
    assert persons.n_missing == 3
    assert "3 rows more have no value there" in persons.sentence
    assert "--rows-are-persons" in persons.sentence


def test_one_column_that_rows_share_is_offered_as_the_person(tmp_path: Path) -> None:
    rows = [{"tag" if name == "patient_id" else name: row[name] for name in row} for row in longitudinal()]
    rows = [{name: row[name] for name in row if name not in ("household_id", "birth date")} for row in rows]
    found = inspect(write_rows(tmp_path / "visits.csv", rows))
    assert found.persons == ()
    assert found.unsaid is not None
    assert found.unsaid.columns == ("tag",)
    assert 'If "tag" numbers the persons, name it: --person tag.' in found.unsaid.sentence


def test_a_column_named_family_is_one_of_households_if_it_numbers_many() -> None:
    rows = [{"family": f"{row // 4:03d}", "age": 20 + row % 40, "ill": "ab"[row % 2]} for row in range(400)]
    (found,) = inspect(rows).persons
    assert (found.column, found.role, found.n_persons) == ("family", Role.HOUSEHOLD, 100)
    sizes = [{**row, "family": 1 + place % 9} for place, row in enumerate(rows)]
    assert inspect(sizes).persons == ()
