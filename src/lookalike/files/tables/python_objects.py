"""Tables in Python's own objects and NumPy's: records, columns by name, arrays with named fields.

    [{"age": 30, "sex": "F"}, ...]      records: a key that one lacks is missing there
    {"age": [30, ...], "sex": [...]}    columns
    a structured array                  its fields are the columns

What has no names of columns is refused with what to write. A cell is typed as in a column of objects of pandas.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lookalike.errors import DataError, counted, quoted
from lookalike.files.tables.formats import list_names
from lookalike.files.tables.frames import type_objects

SOURCE = "the table"
Columns = tuple[list[str], Callable[[str], pl.Series]]
_GIVE = "or a data frame of pandas, Polars or Arrow"


def find_columns(source: Any) -> Columns | None:
    """The names of the columns, and what gives one of them; None where the object is none of these."""
    if isinstance(source, Mapping):
        return _of_columns({str(name): values for name, values in source.items()})
    if isinstance(source, np.ndarray) and source.dtype.names:
        fields = {name: source[name] for name in source.dtype.names}
        if source.ndim != 1 or any(field.ndim != 1 for field in fields.values()):
            raise DataError(f"{SOURCE} is an array of more than one dimension. Give one record per entry.")
        return _of_columns(fields)
    if isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray):
        return _of_records(source)
    return None


def _of_records(records: Sequence[Any]) -> Columns:
    if not records:
        raise DataError(f"{SOURCE} is an empty list. Give the records: one dictionary per row.")
    if not all(isinstance(record, Mapping) for record in records):
        met = next(type(record).__name__ for record in records if not isinstance(record, Mapping))
        raise DataError(
            f"A list of {met} has no names of columns. Give one dictionary per row, {{column: value}}, {_GIVE}."
        )
    keys: dict[Any, None] = {}
    for record in records:
        keys.update(dict.fromkeys(record))
    return _of_columns({str(key): [record.get(key) for record in records] for key in keys})


def _of_columns(columns: Mapping[str, Any]) -> Columns:
    """Columns by name, each a list, an array or a series."""
    held: dict[str, pl.Series] = {}
    for name, values in columns.items():
        held[name] = _type_column(name, values)
    lengths = {len(series) for series in held.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"{quoted(name)} {counted(len(series), 'value')}" for name, series in held.items())
        raise DataError(f"{SOURCE} has columns of different length: {listed}. Give every column as many values.")
    return list(held), held.__getitem__


def _type_column(name: str, values: Any) -> pl.Series:
    if isinstance(values, pl.Series):
        return values
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise DataError(f"{SOURCE}: column {quoted(name)} has {values.ndim} dimensions. Give one value per row.")
        if values.dtype.kind == "M":
            return pl.Series(values.astype("datetime64[D]" if values.dtype == "datetime64[D]" else "datetime64[us]"))
        if values.dtype.kind in "biuf":
            return pl.Series(values.astype(np.float32) if values.dtype == np.float16 else values)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | np.ndarray | range):
        raise DataError(
            f"{SOURCE}: column {quoted(name)} is of type {type(values).__name__}. Give a list with one value per row."
        )
    return type_objects(list(values), np.array([_is_missing(cell) for cell in values], dtype=bool), name, SOURCE)


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating | np.datetime64) and bool(cell != cell)


def explain_source(source: Any) -> DataError:
    """What to write instead of something that is no table, or has no names of columns."""
    kind, module = type(source).__name__, type(source).__module__.partition(".")[0]
    if kind == "Series" and module in ("pandas", "polars"):
        return DataError("A table is needed, not a single column. Give the data frame: frame, not frame[column].")
    if isinstance(source, np.ndarray):
        return DataError(
            f"An array of {counted(source.ndim, 'dimension')} has no names of columns. Give them: "
            'pandas.DataFrame(array, columns=["age", ...]), or a dictionary {"age": array[:, 0], ...}.'
        )
    if isinstance(source, bytes | bytearray | io.BytesIO):
        return DataError("The bytes of a file cannot be read. Write them to a file, and give its path.")
    if isinstance(source, io.IOBase):
        named = getattr(source, "name", None)
        path = f" {quoted(named)}" if isinstance(named, str) else ""
        return DataError(f"An open file cannot be read. Give its path{path} instead.")
    if isinstance(source, Iterator):
        return DataError(f"A {kind} can be read once only, and a table is read several times. Give list(...) of it.")
    if source is None:
        return DataError(f"No table is given (None). Give the path of a file ({list_names()}), {_GIVE}.")
    return DataError(f"A table cannot be read from a {kind}. Give the path of a file ({list_names()}), {_GIVE}.")


def check_path(source: str | Path) -> None:
    """Raise `DataError` for a text that is the table itself; it is not shown."""
    if isinstance(source, str) and "\n" in source:
        raise DataError(
            "A text is taken for the path of a file, and this one has several lines. Write it to a file, or read it "
            "first: pandas.read_csv(io.StringIO(text))."
        )
