"""Frames as the user works with them: pandas in, pandas out; Polars in, Polars out; Arrow alike.

Polars hands frames to pandas by way of pyarrow, which a plain installation lacks. Here columns go through NumPy.
Types of pandas:

    text                     str (object before pandas 3)
    whole numbers, booleans  int64, bool; with missing values Int64, boolean
    numbers                  float64
    dates, moments           datetime64[s], datetime64[us]
    lists                    object
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import polars as pl

from lookalike.errors import MissingPart, RecipeError, unknown_name
from lookalike.files.tables.frames import is_pandas

POLARS, PANDAS, ARROW = "polars", "pandas", "arrow"
_LIBRARIES = (POLARS, PANDAS, ARROW)


def library_of(source: object) -> str:
    """The library whose frames a user who gives this table works with: Polars for everything that is no frame."""
    if is_pandas(source):
        return PANDAS
    kind = type(source)
    return ARROW if kind.__module__.partition(".")[0] == "pyarrow" else POLARS


def check_library(name: str) -> str:
    if name not in _LIBRARIES:
        raise RecipeError(unknown_name("library of frames", str(name), _LIBRARIES))
    return name


def hand_back(frame: pl.DataFrame, library: str) -> Any:
    """The frame as one of that library."""
    if library == PANDAS:
        return to_pandas(frame)
    return _to_arrow(frame) if library == ARROW else frame


def _to_arrow(frame: pl.DataFrame) -> Any:
    try:
        return frame.to_arrow()
    except ImportError:
        raise MissingPart("Arrow tables need pyarrow. Install it: pip install pyarrow.") from None


def to_pandas(frame: pl.DataFrame) -> Any:
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingPart("Frames of pandas need pandas. Install it: pip install pandas.") from None
    columns = [_pandas_column(series, pandas) for series in frame.get_columns()]
    made = pandas.concat(columns, axis=1) if columns else pandas.DataFrame()
    made.columns = pandas.Index(frame.columns, dtype=object) if not columns else frame.columns
    return made


def _pandas_column(series: pl.Series, pandas: Any) -> Any:
    dtype, gone = series.dtype, series.is_null().to_numpy()
    if dtype == pl.String:
        # Until version 3 pandas keeps texts as objects.
        kind = "str" if int(pandas.__version__.partition(".")[0]) >= 3 else object
        return pandas.Series(series.to_list(), dtype=kind)
    if dtype.is_integer():
        values = series.fill_null(0).to_numpy()
        return pandas.Series(pandas.arrays.IntegerArray(values.copy(), gone) if gone.any() else values)
    if dtype == pl.Boolean:
        values = series.fill_null(False).to_numpy()
        return pandas.Series(pandas.arrays.BooleanArray(values.copy(), gone) if gone.any() else values)
    if dtype.is_float():
        return pandas.Series(series.cast(pl.Float64).fill_null(np.nan).to_numpy())
    if dtype == pl.Date or isinstance(dtype, pl.Datetime):
        unit, whole = ("D", pl.Int32) if dtype == pl.Date else ("us", pl.Int64)
        moments = series.cast(whole).cast(pl.Int64).fill_null(0).to_numpy().astype(f"datetime64[{unit}]")
        moments = np.where(gone, np.datetime64("NaT"), moments)
        return pandas.Series(moments.astype("datetime64[s]") if unit == "D" else moments)
    return pandas.Series(series.to_list(), dtype=object)
