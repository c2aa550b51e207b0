"""Which rows are meant: conditions on columns, as an analyst writes them.

    {"age": (30, 40), "sex": "F", "diagnosis": ["flu", "HIV"], "ward": None}

A pair is a range with both ends included (None: open), a list is any of its values, None is missing, everything else
is equality. All must hold. `Range`, `StartsWith`, `Except`, `AllOf` and `AnyOf` say what this notation cannot; missing
is in no range and in no `Except`, as in SQL.

A value that equality names must be one that the column can have, or the question is refused with the nearest value: a
misspelled name would otherwise be answered by 0, without error. Numbers and dates must lie between the least and the
greatest of the column; ranges may lie anywhere.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import polars as pl

from lookalike.data.taxonomy import OTHER
from lookalike.errors import RecipeError, quoted, unknown_name

Where = Mapping[str, Any]
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Range:
    """The values from `low` to `high`; None is an open end."""

    low: Any = None
    high: Any = None
    low_included: bool = True
    high_included: bool = True


@dataclass(frozen=True)
class StartsWith:
    """The texts that begin with these characters."""

    prefix: str


@dataclass(frozen=True)
class Except:
    """Every value but these."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class AllOf:
    """Conditions on one column that must hold together."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class AnyOf:
    """Conditions on one column of which one must hold."""

    parts: tuple[Any, ...]


def check_values(column: pl.Series, wanted: Any) -> None:
    """RecipeError if a condition names a value that the column cannot have; `column` holds all that it can."""
    if isinstance(wanted, AllOf | AnyOf):
        for part in wanted.parts:
            check_values(column, part)
    if wanted is None or isinstance(wanted, AllOf | AnyOf | StartsWith | Range | tuple) or column.dtype == pl.Boolean:
        return
    if isinstance(wanted, Except):
        named = list(wanted.values)
    else:
        named = list(wanted) if isinstance(wanted, list | set | frozenset) else [wanted]
    typed = [_convert_value(column, value) for value in named if value is not None]
    known = column.drop_nulls()
    if column.dtype == pl.String:
        possible = known.to_list()
        unknown = sorted(set(typed) - set(possible))
        if unknown:
            problem = f"{quoted(column.name)} has no value {quoted(unknown[0])} in this release."
            near = unknown_name("value", unknown[0], possible).removeprefix(f"There is no value {quoted(unknown[0])}.")
            rare = f' Rare values are published together, as "{OTHER}".' if OTHER in possible else ""
            raise RecipeError(f"{problem}{near}{rare}")
    elif len(known):
        low, high = sorted(known)[0], sorted(known)[-1]
        for value in typed:
            if not low <= value <= high:
                raise RecipeError(
                    f"{quoted(column.name)} lies between {low} and {high} in this release, and {value} is outside. Ask "
                    "for a value between them, or for a range (<, >, BETWEEN)."
                )


def satisfies(column: pl.Series, wanted: Any) -> pl.Series:
    """Whether each value of a column is one that is wanted."""
    if wanted is None:
        return column.is_null()
    if isinstance(wanted, AllOf | AnyOf):
        join = operator.and_ if isinstance(wanted, AllOf) else operator.or_
        return reduce(join, (satisfies(column, part) for part in wanted.parts))
    if isinstance(wanted, Except):
        return column.is_not_null() & ~_one_of(column, [value for value in wanted.values if value is not None])
    if isinstance(wanted, StartsWith):
        return _start_with(column, wanted.prefix)
    if isinstance(wanted, tuple):
        if len(wanted) != 2:
            raise RecipeError(
                f"{quoted(column.name)}: a range is a pair, such as (30, 40); this has {len(wanted)} parts. Write a "
                "list for one of several values."
            )
        wanted = Range(*wanted)
    if isinstance(wanted, Range):
        return _within(column, wanted)
    values = list(wanted) if isinstance(wanted, list | set | frozenset) else [wanted]
    mask = _one_of(column, [value for value in values if value is not None])
    return mask | column.is_null() if None in values else mask


def _start_with(column: pl.Series, prefix: str) -> pl.Series:
    if column.dtype != pl.String:
        raise RecipeError(
            f"{quoted(column.name)} holds {str(column.dtype).casefold()} values, and LIKE asks about text. "
            "Ask for a range: BETWEEN ... AND ..., < or >=."
        )
    # Below a node such as 80*** a published code may go on in any way: whether it does as asked is not known.
    for value in column.drop_nulls().unique().sort():
        shown = value.rstrip("*")
        if shown and shown != value and len(shown) < len(prefix) and prefix.startswith(shown):
            raise RecipeError(
                f"{quoted(column.name)} is published as {quoted(value)} for some records, so the release does not say "
                f"which of them start with {quoted(prefix)}. Ask for {quoted(shown + '%')} or less."
            )
    return column.str.starts_with(prefix).fill_null(False)


def _one_of(column: pl.Series, values: list[Any]) -> pl.Series:
    typed = [_convert_value(column, value) for value in values]
    if column.dtype.is_integer():
        # No whole number of the column equals one that is not whole, or one beyond 64 bits.
        typed = [value for value in typed if isinstance(value, int) and _LEAST <= value <= _MOST]
    return column.is_in(pl.Series(typed, dtype=column.dtype).implode()).fill_null(False)


def _within(column: pl.Series, wanted: Range) -> pl.Series:
    low, high = (None if end is None else _convert_value(column, end) for end in (wanted.low, wanted.high))
    low_included, high_included = wanted.low_included, wanted.high_included
    if column.dtype.is_integer():
        # Ends become whole numbers: a comparison with a fraction would go through floats, which round beyond 2^53.
        low, high = _find_first_whole(low, low_included), _find_last_whole(high, high_included)
        low_included = high_included = True
        if (low is not None and low > _MOST) or (high is not None and high < _LEAST):
            return pl.Series([False]).new_from_index(0, len(column))
        low, high = (None if end is None or not _LEAST <= end <= _MOST else end for end in (low, high))
    mask = column.is_not_null()
    if low is not None:
        mask &= (column >= low if low_included else column > low).fill_null(False)
    if high is not None:
        mask &= (column <= high if high_included else column < high).fill_null(False)
    return mask


def _find_first_whole(low: int | Fraction | float | None, included: bool) -> int | None:
    if low is None or low in (math.inf, -math.inf):
        return _MOST + 1 if low == math.inf else None
    return math.ceil(low) if included else math.floor(low) + 1


def _find_last_whole(high: int | Fraction | float | None, included: bool) -> int | None:
    if high is None or high in (math.inf, -math.inf):
        return _LEAST - 1 if high == -math.inf else None
    return math.floor(high) if included else math.ceil(high) - 1


def _convert_value(column: pl.Series, value: Any) -> Any:
    """A value with the column's type; numbers, dates and truths may be written as text."""
    try:
        if column.dtype == pl.String:
            return str(value)
        if column.dtype == pl.Boolean and (isinstance(value, bool) or value in ("true", "false")):
            return value in (True, "true")
        if column.dtype == pl.Date:
            return value if isinstance(value, datetime.date) else datetime.date.fromisoformat(value)
        if column.dtype == pl.Datetime:
            return value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(value)
        if column.dtype.is_numeric() and not isinstance(value, bool) and not math.isnan(float(value)):
            return _exactly(value) if column.dtype.is_integer() else float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise RecipeError(f"{quoted(column.name)} holds {str(column.dtype).casefold()} values, and {value!r} is none.")


def _exactly(value: Any) -> int | Fraction | float:
    """A number as it was written, without the rounding of floats; infinite ones stay floats."""
    if math.isinf(float(value)):
        return float(value)
    exact = Fraction(value if isinstance(value, str | int | float | Decimal | Fraction) else float(value))
    return exact.numerator if exact.denominator == 1 else exact
