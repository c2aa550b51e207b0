"""Frames of polars, pandas and Arrow, put together from odd names, types and values as the bytes say."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from fuzz.judging import SECRET, tried
from lookalike.files.tables import read_table

_NAMES = ("age", "", " age", "*", "^.*$", "a\nb", "\0", "\u202eage", "e\u0301", "a" * 500, 7, None, ("a", "b"), 1.5)
_VALUES = (None, 0, -1, 2**63, -(2**70), 10**400, 1.5, float("nan"), float("inf"), 5e-324, True, "", SECRET, "\0",
           "\u202e", "\ud800", b"x", decimal.Decimal("1e999"), decimal.Decimal("NaN"), datetime.date.max,
           datetime.datetime.min, datetime.datetime.max.replace(tzinfo=datetime.UTC), datetime.time(1),
           datetime.timedelta(days=3), [1, [2]], {"a": SECRET}, 1j, object(), pd.NaT, pd.NA, pd.Interval(0, 1),
           pd.Timestamp.max, np.datetime64("NaT"), np.float16(1e4), np.uint64(2**64 - 1))  # fmt: skip
_TYPES = (pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.String, pl.Boolean, pl.Date, pl.Datetime("ns"), pl.Time,
          pl.Datetime("ms", "Asia/Tokyo"), pl.Decimal(38, 37), pl.Categorical, pl.List(pl.Int8), pl.Null, pl.Binary,
          pl.Duration, pl.Object)  # fmt: skip
SEEDS = (bytes(range(40)), bytes([2, 0, 1, 5, 12, 12, 0, 3, 4]), bytes([1, 3, 9, 12, 0, 12]), bytes([0, 2, 4, 2, 1, 6]))
WORDS = ()


def run(data: bytes) -> None:
    frame = _frame(iter(data))
    if frame is not None:
        tried(lambda: read_table(frame), named=SECRET if _named_so(frame) else "")


def _frame(byte: Iterator[int]) -> Any:
    """A frame, or None where its own library refuses to make it."""
    how, n_columns, n_rows = next(byte, 0) % 5, next(byte, 1) % 4, next(byte, 1) % 5
    columns: dict[Any, list[Any]] = {}
    types = {}
    for _ in range(n_columns):
        name = _NAMES[next(byte, 0) % len(_NAMES)]
        types[name] = _TYPES[next(byte, 0) % len(_TYPES)]
        columns[name] = [_VALUES[next(byte, 0) % len(_VALUES)] for _ in range(n_rows)]
    try:
        if how == 0:
            return pd.DataFrame(columns)
        if how == 1:
            return pd.DataFrame(columns).convert_dtypes()
        if how == 2:
            return pd.DataFrame(columns).astype("category")
        series = [pl.Series(str(name), cells, types[name], strict=False) for name, cells in columns.items()]
        made = pl.DataFrame(series)
        return made if how == 3 else made.to_arrow()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # whatever another library does not take; Rust's panics are no plain exceptions
        return None


def _named_so(frame: Any) -> bool:
    return any(SECRET in str(name) for name in getattr(frame, "columns", ()) if isinstance(name, str | tuple))
