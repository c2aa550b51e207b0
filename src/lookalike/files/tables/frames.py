"""A column that already has a type (from Parquet, Arrow or a data frame) as codes.

The source's type is kept: texts stay texts, whole numbers stay whole unless they leave 64 bits. NaN is missing,
infinities are refused, times with a zone become UTC. Types with no order or no print (lists, durations, bytes) are
refused by name. Cost: one sort of the column.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.date_formats import AS_TEXT
from lookalike.data.microdata import Column, parse_number, texts_of
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, SchemaError, counted, quoted
from lookalike.files.tables.csv.dates import FIRST_DAY, LAST_DAY
from lookalike.files.tables.csv.inference import (
    MOST_PLACES,
    UTC_NOTE,
    distinct_texts,
    finish_column,
    place_codes,
    settle,
)
from lookalike.files.tables.formats import LONGEST_FIELD, refuse_bad_names

_MOMENTS = (ValueType.DATE, ValueType.DATETIME)
_MICROS_A_DAY = 86_400_000_000


def column_of(
    name: str,
    series: pl.Series,
    asked: ValueType | None,
    missing: Collection[str],
    source: str,
    times: NDArray[np.int64] | None = None,
    date_format: str | None = None,
) -> tuple[Column, tuple[str, ...]]:
    """The column and what is to be said about it. `times`: how often each cell occurs, where it stands for several.

    `date_format`: how dates are written that are texts or whole numbers.
    """
    # Under a plain name: polars takes some names for patterns.
    series = series.rechunk().alias("cells")
    notes: list[str] = []
    column = _encode_column(name, series, source, notes)
    spelled = None if column.type in _MOMENTS else date_format
    if spelled is not None or (asked is not None and asked is not column.type):
        column = _as_asked(column, asked, missing, source, notes, times, spelled)
    elif missing:
        column = _without(column, missing)
    return column, tuple(notes)


def respell_column(
    column: Column, date_format: str | None, missing: Collection[str], source: str
) -> tuple[Column, tuple[str, ...]]:
    """A column that was read already, with dates written in that format, and without texts that mean nothing."""
    notes: list[str] = []
    if date_format is not None and date_format != AS_TEXT and column.type not in _MOMENTS:
        return _as_asked(column, None, missing, source, notes, None, date_format), tuple(notes)
    if date_format == AS_TEXT:
        column = replace(column, question="")
    return _without(column, missing) if missing else column, ()


def refuse_type(name: str, met: str, source: str) -> DataError:
    return DataError(
        f"{source}: column {quoted(name)} holds values of type {met}, which cannot be published. Convert it to "
        "numbers, dates, booleans or text, or leave it out."
    )


def _encode_column(name: str, series: pl.Series, source: str, notes: list[str]) -> Column:
    dtype = series.dtype
    if dtype == pl.Null or isinstance(dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    elif dtype.is_decimal():
        series = series.cast(pl.Float64)
    elif dtype.is_integer():
        series = _narrow_integers(name, series, notes)
    dtype = series.dtype
    if dtype == pl.String:
        return _encode_text(name, series, source, notes)
    if dtype.is_integer():
        return _rank_values(name, ValueType.INTEGER, series)
    if dtype.is_float():
        return _encode_floats(name, series, source)
    if dtype == pl.Boolean:
        return _rank_values(name, ValueType.BOOLEAN, series.cast(pl.Int64))
    if dtype == pl.Date:
        return _within_years(_rank_values(name, ValueType.DATE, series.cast(pl.Int32).cast(pl.Int64)), 1, source)
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            notes.append(f"Column {quoted(name)}: {UTC_NOTE}")
        moments = _rank_values(name, ValueType.DATETIME, series.dt.timestamp("us"))
        return _within_years(moments, _MICROS_A_DAY, source)
    raise refuse_type(name, str(dtype), source)


def _narrow_integers(name: str, series: pl.Series, notes: list[str]) -> pl.Series:
    narrow = series.cast(pl.Int64, strict=False)
    if narrow.null_count() == series.null_count():
        return narrow
    notes.append(f"Column {quoted(name)}: whole numbers beyond 64 bits were rounded to 16 digits.")
    return series.cast(pl.Float64)


def _encode_text(name: str, series: pl.Series, source: str, notes: list[str]) -> Column:
    longest = series.str.len_bytes().max()
    if isinstance(longest, int) and longest > LONGEST_FIELD:
        raise DataError(
            f"{source}: column {quoted(name)} holds a text of more than {LONGEST_FIELD >> 20} MB. "
            "Leave that column out."
        )
    empty = series == ""
    if n_empty := int(empty.sum()):
        notes.append(f"Column {quoted(name)}: {counted(n_empty, 'empty text')} read as missing.")
    nothing = (empty | series.is_null()).fill_null(True)
    # Distinct first: ranking a million copies of ten texts would sort them all.
    present = series.filter(~nothing)
    distinct = present.unique()
    if 2 * len(distinct) > len(present):
        values, known = distinct_texts(present)
    else:
        values, order = distinct_texts(distinct)
        known = order[present.cast(pl.Enum(distinct)).to_physical().to_numpy()]
    return Column(name, ValueType.STRING, place_codes(known, ~nothing.to_numpy(), len(values)), values)


def _rank_values(name: str, type: ValueType, series: pl.Series) -> Column:
    values, known = np.unique(series.drop_nulls().to_numpy(), return_inverse=True)
    return Column(name, type, place_codes(known, series.is_not_null().to_numpy(), len(values)), values)


def _encode_floats(name: str, series: pl.Series, source: str) -> Column:
    if n_infinite := int(series.is_infinite().sum()):
        raise DataError(
            f"{source}: column {quoted(name)} holds {counted(n_infinite, 'infinite value')}. Replace infinity by a "
            "number or by a missing value."
        )
    column = _rank_values(name, ValueType.NUMBER, series.fill_nan(None))
    values = column.values
    if series.dtype != pl.Float64:
        # 0.1 in 32 bits is to be 0.1, not 0.10000000149: go through the shortest digits.
        values = values.astype(np.str_).astype(np.float64)
    return Column(name, ValueType.NUMBER, column.codes, values + 0.0)  # no negative zero


def _within_years(column: Column, a_day: int, source: str) -> Column:
    values = column.values
    if len(values) and (values[0] < FIRST_DAY * a_day or values[-1] >= (LAST_DAY + 1) * a_day):
        raise DataError(
            f"{source}: column {quoted(column.name)} holds dates outside the years 1 to 9999. Fix them or make them "
            "missing."
        )
    return column


def _as_asked(
    column: Column,
    asked: ValueType | None,
    missing: Collection[str],
    source: str,
    notes: list[str],
    times: NDArray[np.int64] | None,
    date_format: str | None,
) -> Column:
    """The column under another type, by way of how its values print. `times`: how many rows each cell stands for."""
    texts = pl.Series(texts_of(column.values, column.type), dtype=pl.String)
    settled = settle(column.name, texts, asked, missing, date_format)
    rows = np.flatnonzero(np.append(settled.misfits, False)[column.codes])
    # Where a cell stands for several rows, nobody knows which.
    n_misfits, where = (len(rows), rows[:MOST_PLACES] + 1) if times is None else (int(times[rows].sum()), rows[:0])
    found, said = finish_column(column.name, settled, asked, column.codes, where.tolist(), "row", source, n_misfits)
    notes += said
    return found


def _without(column: Column, missing: Collection[str]) -> Column:
    """The column with the values that mean nothing made missing."""
    gone = np.isin(column.values, _in_type(missing, column.type)) if len(column.values) else np.empty(0, np.bool_)
    if not gone.any():
        return column
    values = column.values[~gone]
    code_of = np.append(np.where(gone, len(values), np.cumsum(~gone) - 1), len(values)).astype(np.int32)
    return replace(column, codes=code_of[column.codes], values=values)


def _in_type(texts: Collection[str], type: ValueType) -> NDArray[Any]:
    """The texts that are values of the type, as such values."""
    if type is ValueType.STRING:
        return np.array(list(texts), dtype=object)
    if type is ValueType.BOOLEAN:
        return np.array([text.lower() == "true" for text in texts if text.lower() in ("true", "false")], np.int64)
    values = []
    for text in texts:
        with suppress(ValueError, TypeError):  # a marker of another column
            values.append(parse_number(text, type))
    return np.array(values, dtype=np.float64)


def is_pandas(source: object) -> bool:
    """Whether it is a data frame of pandas, or derived from one; told by its name, so that nobody loads pandas."""
    return any(
        kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "DataFrame" for kind in type(source).__mro__
    )


def pandas_columns(source: Any, where: str) -> tuple[dict[str, Any], list[str]]:
    """The columns by name, those of an index with a name first, and sentences about them.

    An index without a name numbers rows, and is no column.
    """
    if source.columns.nlevels > 1:
        raise SchemaError(
            f"{where} has {source.columns.nlevels} names per column. Join them first: "
            'frame.columns = ["_".join(map(str, names)) for names in frame.columns].'
        )
    names = [str(name) for name in source.columns]
    refuse_bad_names(names, where)
    levels = {
        str(name): level for level, name in enumerate(source.index.names) if name is not None and str(name) not in names
    }
    found = {name: source.index.get_level_values(level).to_series() for name, level in levels.items()}
    said = [f"The index {quoted(name)} of {where} was read as a column." for name in levels]
    return {**found, **{name: source.iloc[:, place] for place, name in enumerate(names)}}, said


def pandas_series(column: Any, name: str, source: str) -> pl.Series:
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        categories = pandas_series(column.cat.categories.to_series(), name, source)
        places = pl.Series(column.cat.codes.to_numpy().astype(np.int64))
        return categories.gather(places.set(places < 0, None))
    if kind == "DatetimeTZDtype":
        moments = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return pandas_series(moments, name, source).dt.replace_time_zone("UTC")
    if kind == "SparseDtype":
        return pandas_series(column.sparse.to_dense(), name, source)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        values = column.to_numpy()
        return pl.Series(values.astype(np.float32) if dtype == np.float16 else values)
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        return pl.Series(column.to_numpy().astype("datetime64[us]"))
    if kind.startswith(("Int", "UInt", "Float", "Boolean")) and hasattr(dtype, "numpy_dtype"):
        missing = column.isna().to_numpy()
        values = pl.Series(column.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0)))
        return values.set(pl.Series(missing), None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        raise refuse_type(name, str(dtype), source)
    return type_objects(column.to_numpy(dtype=object).tolist(), column.isna().to_numpy(), name, source)


def type_objects(objects: list[Any], missing: NDArray[np.bool_], name: str, source: str) -> pl.Series:
    """Cells of Python's own types as a column of one type."""
    cells = [None if gone else _unwrap_cell(cell) for cell, gone in zip(objects, missing.tolist(), strict=True)]
    sorts = {type(cell) for cell in cells} - {type(None)}
    if not sorts:
        return pl.Series(cells, dtype=pl.Null)
    for sort, dtype in ((str, pl.String), (bool, pl.Boolean), (datetime.date, pl.Date)):
        if sorts == {sort}:
            return pl.Series(cells, dtype=dtype)
    if sorts == {int}:
        whole = all(cell is None or -(2**63) <= cell < 2**63 for cell in cells)
        return pl.Series(cells if whole else _floats(cells), dtype=pl.Int64 if whole else pl.Float64)
    if sorts <= {int, float, decimal.Decimal}:
        return pl.Series(_floats(cells), dtype=pl.Float64)
    if sorts == {datetime.datetime}:
        return _moments(cells, name, source)
    listing = ", ".join(sorted(sort.__name__ for sort in sorts))
    if len(sorts) == 1:
        raise refuse_type(name, listing, source)
    raise DataError(
        f"{source}: column {quoted(name)} mixes values of several types ({listing}). Convert it to one of them first, "
        'for instance with astype("string").'
    )


def _unwrap_cell(cell: Any) -> Any:
    """A cell as Python's own object: NumPy's scalars and the subclasses that pandas brings are unwrapped."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, datetime.datetime):
        zoned = cell if cell.tzinfo is None else cell.astimezone(datetime.UTC)
        return datetime.datetime.combine(zoned.date(), zoned.time(), zoned.tzinfo)
    return cell


def _floats(cells: list[Any]) -> list[float | None]:
    return [None if cell is None else float(cell) for cell in cells]


def _moments(cells: list[Any], name: str, source: str) -> pl.Series:
    zoned = {cell.tzinfo is not None for cell in cells if cell is not None}
    if len(zoned) > 1:
        raise DataError(
            f"{source}: column {quoted(name)} mixes times with and without a time zone. Give all of them one."
        )
    plain = [None if cell is None else cell.replace(tzinfo=None) for cell in cells]
    moments = pl.Series(plain, dtype=pl.Datetime("us"))
    return moments.dt.replace_time_zone("UTC") if True in zoned else moments


def observe_column(
    name: str,
    values: pl.Series,
    times: NDArray[np.int64],
    *,
    asked: ValueType | None,
    missing: Collection[str],
    guess: bool,
    source: str,
    date_format: str | None = None,
) -> tuple[Column, tuple[str, ...]]:
    """The column with one cell for each different value, and what is to be said about it.

    `guess`: the values are the texts of a file without types, and are typed as those of any CSV file.
    """
    if not guess:
        return column_of(name, values, asked, missing, source, times, date_format)
    settled = settle(name, values, asked, missing, date_format)
    n_misfits = int(times[settled.misfits].sum())
    places = np.arange(len(values), dtype=np.int32)
    return finish_column(name, settled, asked, places, (), "row", source, n_misfits)
