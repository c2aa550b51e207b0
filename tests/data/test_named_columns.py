"""Names of columns in every way that Python users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lookalike.data.named_columns import list_columns, name_column
from lookalike.data.schema import Role, Schema
from lookalike.errors import SchemaError

FRAME = pd.DataFrame({"age": [1], "sex": ["F"]})


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("age", ["age"]),
        (["age", "sex"], ["age", "sex"]),
        (("age", "sex"), ["age", "sex"]),
        (FRAME.columns, ["age", "sex"]),
        (FRAME[["sex", "age"]], ["sex", "age"]),
        (np.array(["age", "sex"]), ["age", "sex"]),
        ([0, 1], ["0", "1"]),
        (0, ["0"]),
        (np.int64(3), ["3"]),
        (pl.DataFrame({"age": [1]}), ["age"]),
        (None, []),
        ([], []),
    ],
)
def test_names_are_read(given: Any, names: list[str]) -> None:
    assert list_columns(given, "qi") == names


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (FRAME["age"], 'Write qi="age"'),
        (pl.Series("sex", ["F"]), 'Write qi="sex"'),
        ({"age": 1}, 'qi=["age", "sex"]'),
        (b"age", 'qi=["age", "sex"]'),
        (2.5, 'qi=["age", "sex"]'),
        ([["age", "sex"]], "Write one list"),
    ],
)
def test_what_names_no_columns_is_refused_with_what_to_write(given: Any, said: str) -> None:
    with pytest.raises(SchemaError) as refusal:
        list_columns(given, "qi")
    assert said in str(refusal.value)


def test_a_column_in_place_of_its_name_shows_none_of_its_values() -> None:
    with pytest.raises(SchemaError) as refusal:
        list_columns(pd.Series(["secret one", "secret two"], name="diagnosis"), "sensitive")
    assert "secret" not in str(refusal.value)


def test_one_name_and_no_more() -> None:
    assert name_column(["patient"], "person") == "patient"
    with pytest.raises(SchemaError, match="person names 2 columns"):
        name_column(["patient", "house"], "person")


def test_a_schema_takes_them_all() -> None:
    schema = Schema.of(qi="age", sensitive=np.array(["ill"]), carry=None, numeric="age", person=["patient"])  # type: ignore[arg-type]
    assert [(one.name, one.role) for one in schema.attributes] == [
        ("age", Role.QUASI),
        ("ill", Role.SENSITIVE),
        ("patient", Role.PERSON),
    ]
    with pytest.raises(SchemaError, match="schema is of type dict"):
        Schema.of({"age": "qi"}, qi="age")  # type: ignore[arg-type]
