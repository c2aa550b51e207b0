"""Which rows are meant: conditions on columns, as an analyst writes them.

    {"age": (30, 40), "sex": "F", "diagnosis": ["flu", "HIV"], "ward": None}

A pair is a range with both ends included (None: open), a list is any of its values, None is missing, everything else
is equality. All must hold.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import polars as pl

from lookalike.errors import RecipeError, quoted, unknown_name

Where = Mapping[str, Any]


def rows_where(frame: pl.DataFrame, where: Where) -> pl.Series:
    """Whether each row satisfies every condition."""
    mask = pl.Series([True]).new_from_index(0, len(frame))
    for name, wanted in where.items():
        if name not in frame.columns:
            raise RecipeError(unknown_name("column", name, frame.columns))
        mask &= satisfies(frame[name], wanted)
    return mask


def satisfies(column: pl.Series, wanted: Any) -> pl.Series:
    """Whether each value of a column is one that is wanted."""
    if wanted is None:
        return column.is_null()
    if isinstance(wanted, tuple):
        if len(wanted) != 2:
            raise RecipeError(
                f"{quoted(column.name)}: a range is a pair, such as (30, 40); this has {len(wanted)} parts. Write a "
                "list for one of several values."
            )
        mask = column.is_not_null()
        low, high = (None if end is None else _typed(column, end) for end in wanted)
        if low is not None:
            mask &= (column >= low).fill_null(False)
        if high is not None:
            mask &= (column <= high).fill_null(False)
        return mask
    values = list(wanted) if isinstance(wanted, list | set | frozenset) else [wanted]
    typed = [_typed(column, value) for value in values if value is not None]
    if column.dtype.is_integer():
        # No whole number equals one that is not.
        typed = [value for value in typed if isinstance(value, int)]
    mask = column.is_in(pl.Series(typed, dtype=column.dtype).implode()).fill_null(False)
    return mask | column.is_null() if None in values else mask


def _typed(column: pl.Series, value: Any) -> Any:
    """A value with the column's type; numbers and dates may be written as text."""
    try:
        if column.dtype == pl.String:
            return str(value)
        if column.dtype == pl.Boolean and isinstance(value, bool):
            return value
        if column.dtype == pl.Date:
            return value if isinstance(value, datetime.date) else datetime.date.fromisoformat(value)
        if column.dtype == pl.Datetime:
            return value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(value)
        if column.dtype.is_integer() and not isinstance(value, bool):
            whole = float(value)
            return int(value) if whole.is_integer() else whole
        if column.dtype.is_numeric() and not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise RecipeError(f"{quoted(column.name)} holds {str(column.dtype).casefold()} values, and {value!r} is none.")
