"""A pandas frame's columns as polars series, without pandas or pyarrow being asked for.

pandas is recognised by its module's name and never imported: whoever hands over a frame has it. The index is no
column. What a column holds is decided by its type, and for columns of Python objects by the objects: they must be of
one sort, because a guess about a mixture would change values silently. Cost: one pass a column.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import polars as pl

from lookalike.errors import DataError, quoted
from lookalike.files.tables.frames import refuse_type


def is_pandas(source: object) -> bool:
    kind = type(source)
    return kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def pandas_names(frame: Any) -> list[str]:
    return [str(name) for name in frame.columns]


def pandas_series(frame: Any, attr: int, name: str, source: str) -> pl.Series:
    """One column, by its place."""
    return _converted(frame.iloc[:, attr], name, source)


def _converted(column: Any, name: str, source: str) -> pl.Series:
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        categories = _converted(column.cat.categories.to_series(), name, source)
        places = pl.Series(column.cat.codes.to_numpy().astype(np.int64))
        return categories.gather(places.set(places < 0, None))
    if kind == "DatetimeTZDtype":
        return _converted(column.dt.tz_convert("UTC").dt.tz_localize(None), name, source).dt.replace_time_zone("UTC")
    if kind == "SparseDtype":
        return _converted(column.sparse.to_dense(), name, source)
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
    return _from_objects(column.to_numpy(dtype=object).tolist(), column.isna().to_numpy(), name, source)


def _from_objects(objects: list[Any], missing: Any, name: str, source: str) -> pl.Series:
    cells = [None if gone else _plain(cell) for cell, gone in zip(objects, missing.tolist(), strict=True)]
    sorts = {type(cell) for cell in cells} - {type(None)}
    if not sorts:
        return pl.Series(cells, dtype=pl.Null)
    if sorts == {str}:
        return pl.Series(cells, dtype=pl.String)
    if sorts == {bool}:
        return pl.Series(cells, dtype=pl.Boolean)
    if sorts == {datetime.date}:
        return pl.Series(cells, dtype=pl.Date)
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


def _plain(cell: Any) -> Any:
    """A cell as Python's own object: NumPy's scalars and the subclasses that pandas brings are unwrapped."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, datetime.datetime):
        zoned = cell if cell.tzinfo is None else cell.astimezone(datetime.UTC)
        return datetime.datetime(
            zoned.year, zoned.month, zoned.day, zoned.hour, zoned.minute, zoned.second, zoned.microsecond, zoned.tzinfo
        )
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
