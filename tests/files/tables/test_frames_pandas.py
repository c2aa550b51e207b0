"""pandas columns of every kind, with and without gaps."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lookalike.data.microdata import texts_of
from lookalike.errors import DataError, SchemaError
from lookalike.files.tables import read_table


def cells(values: Any, **given: Any) -> tuple[str, list[str | None]]:
    table = read_table(pd.DataFrame({"c": values}), **given)
    found = table["c"]
    printed = [*texts_of(found.values, found.type), None]
    return found.type.value, [printed[code] for code in found.codes]


DAY = datetime.date(2020, 1, 2)
MOMENT = pd.Timestamp("2020-01-02 03:04:05")


@pytest.mark.parametrize(
    ("values", "type", "expected"),
    [
        (pd.Series([3, 1]), "integer", ["3", "1"]),
        (pd.Series([3, 1], dtype="uint8"), "integer", ["3", "1"]),
        (pd.Series([3.5, np.nan]), "number", ["3.5", None]),
        (pd.Series([0.1], dtype="float32"), "number", ["0.1"]),
        (pd.Series([0.5], dtype="float16"), "number", ["0.5"]),
        (pd.Series([True, False]), "boolean", ["true", "false"]),
        (pd.Series([3, None], dtype="Int64"), "integer", ["3", None]),
        (pd.Series([3, None], dtype="UInt8"), "integer", ["3", None]),
        (pd.Series([3.5, None], dtype="Float64"), "number", ["3.5", None]),
        (pd.Series([True, None], dtype="boolean"), "boolean", ["true", None]),
        (pd.Series(["b", None, "a"]), "string", ["b", None, "a"]),
        (pd.Series(["b", None, "a"], dtype="str"), "string", ["b", None, "a"]),
        (pd.Series(["b", None, "a"], dtype="string"), "string", ["b", None, "a"]),
        (pd.Series(["b", None, np.nan, pd.NA], dtype=object), "string", ["b", None, None, None]),
        (pd.Series(["b", None, "b"], dtype="category"), "string", ["b", None, "b"]),
        (pd.Series([3, None, 1], dtype="category"), "integer", ["3", None, "1"]),
        (pd.Series([MOMENT, pd.NaT]), "datetime", ["2020-01-02T03:04:05", None]),
        (pd.Series([MOMENT]).dt.as_unit("s"), "datetime", ["2020-01-02T03:04:05"]),
        (pd.Series([MOMENT, pd.NaT]).dt.tz_localize("Asia/Tokyo"), "datetime", ["2020-01-01T18:04:05", None]),
        (pd.Series([DAY, None], dtype=object), "date", ["2020-01-02", None]),
        (pd.Series([MOMENT, None], dtype=object), "datetime", ["2020-01-02T03:04:05", None]),
        (pd.Series([MOMENT.tz_localize("Asia/Tokyo")], dtype=object), "datetime", ["2020-01-01T18:04:05"]),
        (pd.Series([1, None], dtype=object), "integer", ["1", None]),
        (pd.Series([np.int64(1), np.int32(2)], dtype=object), "integer", ["1", "2"]),
        (pd.Series([2**70, 1], dtype=object), "number", ["1180591620717411300000", "1"]),
        (pd.Series([1, 2.5, Decimal("0.25")], dtype=object), "number", ["1", "2.5", "0.25"]),
        (pd.Series([True, None], dtype=object), "boolean", ["true", None]),
        (pd.Series([None, np.nan], dtype=object), "string", [None, None]),
        (pd.Series(pd.arrays.SparseArray([1, 0, 0])), "integer", ["1", "0", "0"]),
        (pd.Series([], dtype="int64"), "integer", []),
    ],
)
def test_columns_of_every_kind(values: Any, type: str, expected: list[str | None]) -> None:
    assert cells(values) == (type, expected)


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "string[pyarrow]", "date32[pyarrow]"])
def test_columns_held_by_arrow(dtype: str) -> None:
    values: list[Any] = {"i": [1, None], "s": ["x", None], "d": [DAY, None]}[dtype[0]]
    assert cells(pd.Series(values, dtype=dtype))[1] == [str(values[0]), None]


def test_zones_are_told() -> None:
    table = read_table(pd.DataFrame({"c": pd.Series([MOMENT]).dt.tz_localize("Asia/Tokyo")}))
    assert "UTC" in table.notes[0]


@pytest.mark.parametrize(
    ("values", "met"),
    [
        (pd.Series([pd.Timedelta(days=1)]), "timedelta"),
        (pd.Series([1j]), "complex"),
        (pd.Series([[1], [2]], dtype=object), "list"),
        (pd.Series([b"x"], dtype=object), "bytes"),
        (pd.Series([datetime.time(1)], dtype=object), "time"),
        (pd.Series([pd.Period("2020-01", "M")]), "Period"),
    ],
)
def test_what_cannot_be_published_is_refused_by_type(values: Any, met: str) -> None:
    with pytest.raises(DataError, match=f'column "c" holds values of type {met}'):
        cells(values)


def test_mixtures_are_refused_without_showing_a_value() -> None:
    with pytest.raises(DataError, match=r"mixes values of several types \(int, str\)") as caught:
        cells(pd.Series([1, "secret"], dtype=object))
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="with and without a time zone"):
        cells(pd.Series([MOMENT, MOMENT.tz_localize("UTC")], dtype=object))


def test_an_index_without_a_name_is_no_column_and_its_order_does_not_matter() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", None, "y"])}, index=[7, 7, 1])
    table = read_table(frame)
    assert table.names == ["a", "b"]
    assert table["a"].codes.tolist() == [0, 1, 2]
    assert table["b"].codes.tolist() == [0, 2, 1]
    assert table.source == "the data frame"


def test_names_are_texts_of_their_own() -> None:
    assert read_table(pd.DataFrame([[1, 2]])).names == ["0", "1"]
    with pytest.raises(SchemaError, match="same name"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(SchemaError, match="place 2"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", ""]))


def test_columns_left_out_may_hold_anything() -> None:
    frame = pd.DataFrame({"a": [1], "b": pd.Series([[1]], dtype=object)})
    assert read_table(frame, columns=["a"]).names == ["a"]


def test_neither_arrow_nor_anything_but_the_frame_is_needed() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd
from lookalike.files.tables.read import read_table
frame = pd.DataFrame({"s": ["x", None], "i": pd.array([1, None], dtype="Int64"), "c": pd.Categorical(["u", "v"]),
                      "t": pd.to_datetime(["2020-01-01", None]), "o": pd.Series([1, None], dtype=object)})
assert [column.type.value for column in read_table(frame).columns] == [
    "string", "integer", "string", "datetime", "integer"]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
