"""The whole inspection: concrete numbers on small tables, notes, plain data, and schemas that can be used."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.apps.samples import census, hospital
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Kind, Role, Schema, ValueType
from lookalike.errors import DataError, SchemaError
from lookalike.evaluation.inspect import Leverage, inspect, suggest_schema


def column(name: str, cells: Sequence[Any]) -> Column:
    present = sorted({cell for cell in cells if cell is not None})
    codes = np.array([len(present) if cell is None else present.index(cell) for cell in cells], dtype=np.int32)
    if present and isinstance(present[0], str):
        return Column(name, ValueType.STRING, codes, np.array(present, dtype=object))
    return Column(name, ValueType.INTEGER, codes, np.array(present, dtype=np.int64))


def ward() -> Table:
    return Table(
        (
            column("name", ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay"]),
            column("age", [30, 30, 30, 40, 40, 50]),
            column("sex", ["f", "f", "m", "m", "m", None]),
            column("diagnosis", ["flu", "flu", "flu", "flu", "hiv", "flu"]),
        ),
        source="ward.csv",
        notes=("Read with commas.",),
    )


def test_numbers_of_a_small_table() -> None:
    found = inspect(ward())
    assert found.quasi == ("age", "sex")
    assert (found.n_rows, found.n_combinations, found.n_unique) == (6, 4, 2)
    assert (found.smallest_group, found.median_group) == (1, 2)
    assert found.share_in_groups_below == {2: 2 / 6, 5: 1.0, 10: 1.0}
    # Without age: f 2, m 3, missing 1. Without sex: 30 3, 40 2, 50 1. Either way only the last record stays alone.
    assert found.worst_columns == (Leverage("age", 2, 1), Leverage("sex", 2, 1))
    assert found.worst_columns[0].drop == 1
    assert found.unique_share == 2 / 6
    assert found.n_duplicates == 0


def test_profile_of_a_column() -> None:
    found = inspect(ward())
    sex = found["sex"]
    assert (sex.type, sex.n_distinct, sex.n_missing) == (ValueType.STRING, 2, 1)
    assert (sex.unique_share, sex.least_share, sex.most_share) == (1 / 6, 1 / 6, 3 / 6)
    assert (sex.role, sex.suggested_role, sex.suggested_kind) == (Role.QUASI, Role.QUASI, Kind.CATEGORICAL)
    diagnosis = found["diagnosis"]
    assert diagnosis.role is Role.SENSITIVE
    assert (diagnosis.least_share, diagnosis.most_share) == (1 / 6, 5 / 6)
    assert found["name"].role is Role.IDENTIFIER
    assert found["name"].taxonomy_hint is None
    with pytest.raises(SchemaError, match='Did you mean "sex"'):
        found["sexx"]


def test_columns_are_ordered_by_how_many_records_they_set_apart() -> None:
    table = Table((column("sex", ["f", "f", "f", "m"]), column("age", [1, 2, 3, 3]), column("city", ["a"] * 4)))
    found = inspect(table)
    assert found.n_unique == 4
    assert [(leverage.name, leverage.drop) for leverage in found.worst_columns] == [("age", 3), ("sex", 2), ("city", 0)]


def test_a_schema_s_roles_are_used() -> None:
    found = inspect(ward(), schema=Schema.of(qi=["sex"], sensitive=["age"]))
    assert found.quasi == ("sex",)
    assert found.n_unique == 1
    assert found["age"].role is Role.SENSITIVE
    assert found["age"].suggested_role is Role.QUASI
    assert found["name"].role is None
    assert any('leaves out 2 columns: "name", "diagnosis"' in note for note in found.notes)
    with pytest.raises(SchemaError, match='Did you mean "age"'):
        inspect(ward(), schema=Schema.of(qi=["agee"]))


def test_notes_about_sensitive_columns() -> None:
    assert inspect(ward()).notes == ("Read with commas.",)
    none = inspect(Table((column("age", [1, 2]),)))
    assert any(note.startswith("No column is taken as sensitive") for note in none.notes)
    both = inspect(Table((column("age", [1, 1]), column("salary", [5, 5]), column("disease", ["a", "b"]))))
    assert any('2 columns are taken as sensitive: "salary", "disease"' in note for note in both.notes)
    assert any('"disease" is sensitive, and nearly every row' in note for note in both.notes)
    lone = inspect(Table((column("disease", ["a", "a"]),)))
    assert any(note.startswith("No column is taken as a quasi-identifier") for note in lone.notes)
    assert (lone.n_combinations, lone.n_unique, lone.smallest_group) == (1, 0, 2)


def test_codes_are_noted_while_their_kind_is_open() -> None:
    table = Table((column("age", [1, 2, 3]), column("country", [1, 2, 3]), column("disease", ["a", "a", "b"])))
    found = inspect(table)
    assert found["country"].suggested_kind is Kind.NUMERIC
    assert any('"country" (its name speaks of a category)' in note and "--categorical" in note for note in found.notes)
    schema = Schema.of(qi=["age", "country"], sensitive=["disease"])
    assert any('"country"' in note for note in inspect(table, schema=schema).notes)
    settled = Schema.of(qi=["age", "country"], sensitive=["disease"], categorical=["country"])
    assert inspect(table, schema=settled).notes == ()


def test_repeated_rows_and_persons_are_counted() -> None:
    table = Table((column("patient_id", ["a", "a", "a", "b"]), column("disease", ["x", "x", "y", "x"])))
    found = inspect(table)
    assert found.n_duplicates == 1
    assert any('4 rows of 2 persons by "patient_id", at most 3 of one' in note for note in found.notes)
    assert found["patient_id"].suggested_role is Role.PERSON


def test_a_header_without_rows_is_refused() -> None:
    with pytest.raises(DataError, match=r"^wards\.csv has columns but no rows\. There is nothing to publish\.$"):
        inspect(Table((column("age", []), column("sex", [])), source="wards.csv"))


def test_notes_of_wide_tables_name_a_few_columns_and_count_the_others() -> None:
    columns = [column(f"disease_{letter}", list(range(60))) for letter in "abcdefghijklmnopqrstuvwxyz"]
    notes = inspect(Table((column("age", [*range(30)] * 2), *columns))).notes
    assert any("26 columns are taken as sensitive" in note and '"disease_j" and 16 more' in note for note in notes)
    assert all("disease_k" not in note for note in notes)
    assert any("60 rows are few for 26 promises" in note for note in notes)


def test_columns_that_follow_from_another_are_named() -> None:
    province = column("province", ["a", "b", "c", "d"] * 30)
    population = column("population", [100, 200, 300, 300] * 30)
    found = inspect(Table((province, population, column("disease", ["x", "y", "y"] * 40))))
    assert [(one.column, one.of, one.both_ways) for one in found.follows] == [("population", "province", False)]
    assert any('"population" follows from "province"' in note for note in found.notes)
    assert found.to_plain()["follows"] == [{"column": "population", "of": "province", "both_ways": False}]


def test_plain_data_survives_json_and_shows_no_values() -> None:
    table = replace(ward(), columns=(*ward().columns, column("zip code", ["01234", "01235"] * 3)))
    plain = inspect(table).to_plain()
    text = json.dumps(plain)
    assert json.loads(text) == plain
    assert plain["share_in_groups_below"]["5"] == 1.0
    assert plain["worst_columns"][0]["drop"] == plain["n_unique"] - plain["worst_columns"][0]["unique_without"]
    assert plain["columns"][1]["role"] == "quasi-identifier"
    for value in ("Ann", "Eve", "flu", "hiv", "01234"):
        assert value not in text


def test_suggested_schema_is_complete_and_encodes_the_samples() -> None:
    table = hospital(400, 3)
    schema = suggest_schema(table)
    assert [attribute.name for attribute in schema.attributes] == table.names
    assert schema["patient_id"].role is Role.IDENTIFIER
    assert [attribute.name for attribute in schema.quasi] == ["age", "sex", "zip code", "admission_date", "occupation"]
    assert [attribute.name for attribute in schema.sensitive] == ["diagnosis"]
    assert [attribute.name for attribute in schema.carried] == ["length_of_stay"]
    assert schema["zip code"].taxonomy == {"prefixes": [3, 2]}
    assert schema["age"].taxonomy is None
    assert Schema.from_yaml(schema.to_yaml()) == schema
    assert Microdata.encode(table, schema).n_rows == 400
    assert len(suggest_schema(census(300)).quasi) == 8


_CELLS = {
    "age": st.none() | st.integers(0, 3),
    "sex": st.none() | st.sampled_from(["f", "m"]),
    "zip code": st.sampled_from(["01", "02", "03"]),
    "disease": st.sampled_from(["a", "b"]),
}


@given(st.lists(st.tuples(*_CELLS.values()), min_size=1, max_size=30))
def test_numbers_are_those_of_a_counter(rows: list[tuple[Any, ...]]) -> None:
    columns = tuple(column(name, cells) for name, cells in zip(_CELLS, zip(*rows, strict=True), strict=True))
    found = inspect(Table(columns))
    counter = Counter(row[:3] for row in rows)
    assert found.quasi == ("age", "sex", "zip code")
    assert found.n_combinations == len(counter)
    assert found.n_unique == sum(count == 1 for count in counter.values())
    assert found.smallest_group == min(counter.values())
    assert found.n_duplicates == len(rows) - len(set(rows))
    for leverage in found.worst_columns:
        attr = found.quasi.index(leverage.name)
        merged = Counter(row[:attr] + row[attr + 1 : 3] for row in rows)
        assert leverage.unique_without == sum(count == 1 for count in merged.values())
    drops = [leverage.drop for leverage in found.worst_columns]
    assert drops == sorted(drops, reverse=True)
    for size, share in found.share_in_groups_below.items():
        assert share == sum(counter[row[:3]] < size for row in rows) / len(rows)
    for profile, cells in zip(found.columns, zip(*rows, strict=True), strict=True):
        counts = Counter(cells)
        assert profile.unique_share == sum(counts[cell] == 1 for cell in cells) / len(rows)
        assert profile.most_share == max(counts.values()) / len(rows)
        assert profile.least_share == min(counts.values()) / len(rows)
    assert Microdata.encode(Table(columns), suggest_schema(Table(columns))).n_rows == len(rows)
