"""Columns that come with a type: what each type becomes, and what is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column, texts_of
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, SchemaError
from lookalike.files.tables import frames, read_table
from lookalike.files.tables.frames import column_of, observe_column


def column(
    values: list[Any], dtype: Any = None, asked: ValueType | None = None, missing: tuple[str, ...] = ()
) -> Column:
    return column_of("c", pl.Series(values, dtype=dtype, strict=False), asked, missing, "the frame")[0]


def notes(values: list[Any], dtype: Any = None) -> tuple[str, ...]:
    return column_of("c", pl.Series(values, dtype=dtype), None, (), "the frame")[1]


def cells(found: Column) -> list[str | None]:
    printed = [*texts_of(found.values, found.type), None]
    return [printed[code] for code in found.codes]


MOMENT = datetime.datetime(2020, 1, 1, 10, 0, 0, 5)


@pytest.mark.parametrize(
    ("values", "dtype", "type", "expected"),
    [
        ([3, None, -1, 3], pl.Int64, ValueType.INTEGER, [-1, 3]),
        ([3, 1], pl.UInt8, ValueType.INTEGER, [1, 3]),
        ([2**63, 1], pl.UInt64, ValueType.NUMBER, [1.0, 2.0**63]),
        ([2.5, None, float("nan"), -0.0, 0.0], pl.Float64, ValueType.NUMBER, [0.0, 2.5]),
        ([0.1, 2.5], pl.Float32, ValueType.NUMBER, [0.1, 2.5]),
        ([Decimal("1.25"), None], pl.Decimal(10, 2), ValueType.NUMBER, [1.25]),
        ([True, None, False], pl.Boolean, ValueType.BOOLEAN, [0, 1]),
        (["b", None, "a", ""], pl.String, ValueType.STRING, ["a", "b"]),
        (["123", "NA"], pl.String, ValueType.STRING, ["123", "NA"]),
        (["b", "a", None], pl.Categorical, ValueType.STRING, ["a", "b"]),
        (["b", "a", None], pl.Enum(["b", "a", "unused"]), ValueType.STRING, ["a", "b"]),
        ([datetime.date(1970, 1, 2), None], pl.Date, ValueType.DATE, [1]),
        ([datetime.datetime(1970, 1, 1, 0, 0, 1), None], pl.Datetime("ns"), ValueType.DATETIME, [1_000_000]),
        ([datetime.datetime(1970, 1, 1, 0, 0, 1), None], pl.Datetime("ms"), ValueType.DATETIME, [1_000_000]),
        ([None, None], pl.Null, ValueType.STRING, []),
        ([None, None], pl.Int32, ValueType.INTEGER, []),
        ([], pl.Float64, ValueType.NUMBER, []),
    ],
)
def test_types_become_ours(values: list[Any], dtype: Any, type: ValueType, expected: list[Any]) -> None:
    found = column(values, dtype)
    assert found.type is type
    assert found.values.tolist() == expected
    assert found.codes.dtype == np.int32
    wanted = {ValueType.NUMBER: np.float64, ValueType.STRING: object}.get(type, np.int64)
    assert found.values.dtype == wanted
    lost = [value is None or value != value or value == "" for value in values]
    assert (found.codes == len(found.values)).tolist() == lost


def test_negative_zero_is_zero() -> None:
    assert not np.signbit(column([-0.0]).values[0])


def test_zones_become_utc_and_are_told() -> None:
    zoned = pl.Series([MOMENT]).dt.replace_time_zone("Europe/Berlin")
    found, said = column_of("c", zoned, None, (), "the frame")
    assert cells(found) == ["2020-01-01T09:00:00.000005"]
    assert "UTC" in said[0]


def test_what_is_changed_is_told() -> None:
    assert "1 empty text" in notes(["", "a"])[0]
    assert "64 bits" in notes([2**63], pl.UInt64)[0]
    assert notes([1, 2]) == ()


def test_infinity_is_refused() -> None:
    with pytest.raises(DataError, match='column "c" holds 2 infinite values'):
        column([1.0, float("inf"), float("-inf")])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([datetime.time(1, 2)], pl.Time),
        ([datetime.timedelta(1)], pl.Duration),
        ([[1, 2]], pl.List(pl.Int64)),
        ([{"a": 1}], pl.Struct({"a": pl.Int64})),
        ([b"x"], pl.Binary),
        ([object()], pl.Object),
    ],
)
def test_types_that_cannot_be_published_are_named(values: list[Any], dtype: Any) -> None:
    with pytest.raises(DataError, match='column "c" holds values of type .* Convert it') as caught:
        column(values, dtype)
    assert dtype.base_type().__name__ in str(caught.value)


def test_dates_beyond_the_calendar_are_refused() -> None:
    days = pl.Series([4_000_000], dtype=pl.Int32).cast(pl.Date)
    with pytest.raises(DataError, match="years 1 to 9999"):
        column_of("c", days, None, (), "the frame")


@pytest.mark.parametrize(
    ("values", "asked", "expected"),
    [
        ([1, None, 20], ValueType.STRING, ["1", None, "20"]),
        ([1.0, None, 20.0], ValueType.INTEGER, ["1", None, "20"]),
        (["01", "2"], ValueType.INTEGER, ["1", "2"]),
        (["2020-01-01", None], ValueType.DATE, ["2020-01-01", None]),
        ([datetime.date(2020, 1, 1)], ValueType.DATETIME, ["2020-01-01T00:00:00"]),
        ([True, False], ValueType.STRING, ["true", "false"]),
    ],
)
def test_another_type_can_be_asked_for(values: list[Any], asked: ValueType, expected: list[str | None]) -> None:
    found = column(values, asked=asked)
    assert found.type is asked
    assert cells(found) == expected


def test_a_type_that_does_not_fit_names_the_row_and_no_value() -> None:
    with pytest.raises(DataError) as caught:
        column(["1", "secret", None, "secret"], asked=ValueType.INTEGER)
    assert "2 values do not fit" in str(caught.value)
    assert "(rows 2, 4)" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "gone", "expected"),
    [
        ([1, -99, 2], "-99", ["1", None, "2"]),
        ([1.5, -99.0], "-99", ["1.5", None]),
        (["x", "unknown", "y"], "unknown", ["x", None, "y"]),
        ([datetime.date(1900, 1, 1), datetime.date(2000, 1, 1)], "1900-01-01", [None, "2000-01-01"]),
        ([True, False], "false", ["true", None]),
        ([1, 2], "unknown", ["1", "2"]),
    ],
)
def test_what_the_user_calls_missing_is_missing(values: list[Any], gone: str, expected: list[str | None]) -> None:
    found = column(values, missing=(gone, "another"))
    assert cells(found) == expected
    assert len(found.values) == len({cell for cell in expected if cell is not None})


@given(st.lists(st.none() | st.sampled_from(["a", "b", "é", "😀", "a b"]) | st.text("xyz", min_size=1), max_size=30))
def test_texts_keep_their_place(values: list[str | None]) -> None:
    found = column(values, pl.String)
    assert found.values.tolist() == sorted({value for value in values if value is not None})
    assert [None if code == len(found.values) else found.values[code] for code in found.codes] == values


@pytest.mark.parametrize("asked", [None, ValueType.STRING])
def test_missing_markers_are_missing_in_parts_too_whether_or_not_the_type_is_declared(asked: ValueType | None) -> None:
    different, times = pl.Series(["asthma", "NA", "flu"]), np.array([4, 2, 3])
    found, _ = observe_column(
        "diagnosis", different, times, asked=asked, missing=("NA",), guess=False, source="patients"
    )
    assert cells(found) == ["asthma", None, "flu"]
    assert found.values.tolist() == ["asthma", "flu"]


def test_endless_cells_and_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "LONGEST_FIELD", 5)
    with pytest.raises(DataError, match='column "a" holds a text of more than'):
        read_table(pl.DataFrame({"a": ["x", "yyyyyy"]}))
    with pytest.raises(SchemaError, match="the name of column 2 is longer than 10,000 characters"):
        read_table(pl.DataFrame({"a": [1], "b" * 10_001: [2]}))
