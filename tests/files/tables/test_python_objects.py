"""Tables in Python's own objects and NumPy's."""

from __future__ import annotations

import datetime
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import texts_of
from lookalike.errors import DataError, LookalikeError, SchemaError
from lookalike.files.tables import read_table


def cells(source: Any) -> dict[str, tuple[str, list[str | None]]]:
    found = {}
    for column in read_table(source).columns:
        printed = [*texts_of(column.values, column.type), None]
        found[column.name] = (column.type.value, [printed[code] for code in column.codes])
    return found


DAY = datetime.date(2024, 1, 5)
WANTED = {"age": ("integer", ["30", None]), "sex": ("string", ["F", "M"])}


@pytest.mark.parametrize(
    "source",
    [
        [{"age": 30, "sex": "F"}, {"sex": "M"}],
        ({"age": 30, "sex": "F"}, {"age": None, "sex": "M"}),
        {"age": [30, None], "sex": ["F", "M"]},
        {"age": pd.Series([30, None], dtype="Int64"), "sex": np.array(["F", "M"])},
        {"age": pl.Series([30, None]), "sex": ("F", "M")},
        {"age": [30, float("nan")], "sex": pd.Series(["F", "M"])},
    ],
)
def test_records_and_columns_are_tables(source: Any) -> None:
    found = cells(source)
    assert found.pop("age")[1] in (["30", None], ["30.0", None])
    assert found == {"sex": WANTED["sex"]}


def test_arrays_with_fields_are_tables() -> None:
    dtype = [("age", "i4"), ("score", "f8"), ("sex", "U1"), ("day", "datetime64[D]"), ("then", "datetime64[s]")]
    array = np.array([(30, 1.5, "F", "2024-01-05", "2024-01-05T10:00"), (40, np.nan, "M", "NaT", "NaT")], dtype=dtype)
    for source in (array, array.view(np.recarray)):
        assert cells(source) == {
            "age": ("integer", ["30", "40"]),
            "score": ("number", ["1.5", None]),
            "sex": ("string", ["F", "M"]),
            "day": ("date", ["2024-01-05", None]),
            "then": ("datetime", ["2024-01-05T10:00:00", None]),
        }


def test_types_are_kept() -> None:
    found = cells([{"day": DAY, "ok": True, 0: 1.5}, {"day": None, "ok": False, 0: 2}])
    assert found == {
        "day": ("date", [str(DAY), None]),
        "ok": ("boolean", ["true", "false"]),
        "0": ("number", ["1.5", "2"]),
    }


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (np.zeros((3, 2)), "has no names of columns"),
        (np.zeros(3), "has no names of columns"),
        ([(30, "F")], "A list of tuple has no names"),
        ([], "empty list"),
        ({}, "has no columns"),
        ({"age": [1, 2], "sex": ["F"]}, 'different length: "age" 2 values, "sex" 1 value'),
        ({"age": 30}, 'column "age" is of type int'),
        ({"age": "30"}, 'column "age" is of type str'),
        ({"age": np.zeros((2, 2))}, 'column "age" has 2 dimensions'),
        ([{"age": [1]}], "values of type list"),
        ([{"age": 1}, {"age": "x"}], "mixes values of several types"),
        (pd.Series([1, 2]), "not a single column"),
        (pl.Series([1, 2]), "not a single column"),
        (None, "No table is given"),
        (b"age\n1\n", "The bytes of a file"),
        (io.StringIO("age\n1\n"), "An open file cannot be read"),
        (iter([{"age": 1}]), "Give list(...)"),
        ("age,sex\n30,secret\n", "taken for the path of a file"),
        (42, "A table cannot be read from a int"),
    ],
)
def test_what_is_no_table_says_what_to_give(source: Any, said: str) -> None:
    with pytest.raises(LookalikeError) as refusal:
        read_table(source)
    assert said in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_an_open_file_names_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n1\n")
    with Path("people.csv").open() as file, pytest.raises(DataError, match="people.csv"):
        read_table(file)


def test_the_index_of_a_frame_is_a_column_where_it_has_a_name() -> None:
    frame = pd.DataFrame({"patient": [7, 8], "age": [30, 31]})
    table = read_table(frame.set_index("patient"))
    assert table.names == ["patient", "age"]
    assert table.notes == ('The index "patient" of the data frame was read as a column.',)
    assert list(read_table(frame.set_index(["patient", "age"])).names) == ["patient", "age"]
    assert list(read_table(frame.iloc[::-1]).names) == ["patient", "age"]
    # An index that repeats the name of a column is left out, as it would be two columns of one name.
    assert list(read_table(frame.set_index("patient", drop=False)).names) == ["patient", "age"]


def test_frames_derived_from_pandas_are_read() -> None:
    class Derived(pd.DataFrame):
        pass

    assert list(read_table(Derived({"age": [30]})).names) == ["age"]


def test_two_names_per_column_are_refused() -> None:
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    with pytest.raises(SchemaError, match="2 names per column. Join them first"):
        read_table(frame)


columns = st.dictionaries(
    st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=4),
    st.sampled_from([st.integers(-(2**40), 2**40), st.text(min_size=1, max_size=3), st.booleans(), st.dates()]),
    min_size=1,
    max_size=3,
)


@given(st.data(), columns, st.integers(1, 5))
def test_records_say_what_columns_say(data: st.DataObject, kinds: dict[str, Any], n_rows: int) -> None:
    table = {
        name: data.draw(st.lists(st.none() | kind, min_size=n_rows, max_size=n_rows)) for name, kind in kinds.items()
    }
    records = [{name: values[row] for name, values in table.items()} for row in range(n_rows)]
    assert cells(records) == cells(table)
