"""pandas in, pandas out; Polars in, Polars out; Arrow alike."""

from __future__ import annotations

import datetime
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import MissingPart, RecipeError
from lookalike.files.tables.handing_back import check_library, hand_back, library_of, to_pandas

DAY, MOMENT = datetime.date(2024, 1, 5), datetime.datetime(2024, 1, 5, 10, 30)
FRAME = pl.DataFrame(
    {
        "text": ["a", None],
        "whole": [1, 2],
        "whole or none": [2**60 + 1, None],
        "number": [0.5, None],
        "flag": [True, False],
        "flag or none": [True, None],
        "day": [DAY, None],
        "moment": [MOMENT, None],
        "several": [["a", "b"], []],
    }
)


def test_each_column_has_the_type_that_pandas_users_expect() -> None:
    made = to_pandas(FRAME)
    assert list(made.columns) == FRAME.columns
    assert list(made.index) == [0, 1]
    assert made["text"].dtype == ("str" if int(pd.__version__.split(".")[0]) >= 3 else object)
    assert made["text"][0] == "a"
    assert pd.isna(made["text"][1])
    assert {name: str(made[name].dtype) for name in FRAME.columns[1:]} == {
        "whole": "int64",
        "whole or none": "Int64",
        "number": "float64",
        "flag": "bool",
        "flag or none": "boolean",
        "day": "datetime64[s]",
        "moment": "datetime64[us]",
        "several": "object",
    }
    assert made["whole or none"][0] == 2**60 + 1
    assert made["number"].mean() == 0.5
    assert made["day"][0] == pd.Timestamp(DAY)
    assert made["moment"][0] == pd.Timestamp(MOMENT)
    assert made.isna().sum().to_dict() == {name: int(FRAME[name].null_count()) for name in FRAME.columns}
    assert list(made["several"][0]) == ["a", "b"]


def test_columns_of_nothing_and_frames_of_nothing() -> None:
    empty = pl.DataFrame({"a": pl.Series([], dtype=pl.Int64), "b": pl.Series([], dtype=pl.String)})
    made = to_pandas(empty)
    assert (list(made.columns), len(made)) == (["a", "b"], 0)
    assert to_pandas(pl.DataFrame({"a": pl.Series([None, None], dtype=pl.String)}))["a"].isna().all()
    assert to_pandas(pl.DataFrame()).shape == (0, 0)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1), st.lists(st.none() | st.text()))
def test_values_survive(numbers: list[int | None], texts: list[str | None]) -> None:
    for values, dtype in ((numbers, pl.Int64), (texts, pl.String)):
        made = to_pandas(pl.DataFrame({"c": pl.Series(values, dtype=dtype)}))["c"]
        assert [None if pd.isna(one) else one for one in made.tolist()] == values


def test_the_library_of_a_table() -> None:
    class Derived(pd.DataFrame):
        pass

    frame = pl.DataFrame({"a": [1]})
    assert [library_of(one) for one in (frame, frame.lazy(), "a.csv", [{"a": 1}])] == ["polars"] * 4
    assert [library_of(one) for one in (pd.DataFrame({"a": [1]}), Derived({"a": [1]}))] == ["pandas"] * 2
    assert library_of(frame.to_arrow()) == "arrow"
    assert isinstance(hand_back(frame, "arrow"), pa.Table)
    assert hand_back(frame, "polars") is frame
    with pytest.raises(RecipeError, match='Did you mean "pandas"'):
        check_library("panda")


@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_what_is_not_installed_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "pandas" if library == "pandas" else "pyarrow"
    monkeypatch.setitem(sys.modules, missing, None)
    if library == "arrow":
        monkeypatch.setattr(pl.DataFrame, "to_arrow", lambda frame: __import__("pyarrow"))
    with pytest.raises(MissingPart, match=f"pip install {missing}"):
        hand_back(FRAME, library)


def test_no_pyarrow_is_needed_for_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the plain installation with pandas."""

    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("pyarrow was used")

    monkeypatch.setattr(pl.DataFrame, "to_arrow", refuse)
    monkeypatch.setattr(pl.DataFrame, "to_pandas", refuse)
    monkeypatch.setattr(pl.Series, "to_pandas", refuse)
    assert len(to_pandas(FRAME)) == 2
