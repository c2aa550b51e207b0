"""Cells that a spreadsheet would take for a formula, made harmless on request, and read back.

A spreadsheet computes whatever begins with one of = + - @ (or a tab or a line end before them). In a safe CSV file such
a cell gets an apostrophe in front, which spreadsheets take for: this is text. Numbers and intervals of numbers keep
their minus. A cell that already has apostrophes before such a sign gets one more, so that taking one off always gives
the cell back: nothing is lost, and the reader of a release notices no difference.
"""

from __future__ import annotations

import re

import polars as pl

MARK = "'"
_RISKY = r"^'*[=+\-@\t\r\n]"
_MARKED = r"^'+[=+\-@\t\r\n]"
_NUMBERS = r"^[+-]?[0-9][0-9.]*( to [+-]?[0-9][0-9.]*)?(\|\(missing\))?$"

SAFE_CSV_SENTENCE = (
    "In the CSV files a cell that a spreadsheet would compute (it begins with =, +, - or @) has an apostrophe in "
    "front. Take it off to get the value; the Parquet files have the values as they are."
)


def safe_name(name: str) -> str:
    """
    >>> safe_name("=age"), safe_name("-5"), safe_name("age")
    ("'=age", '-5', 'age')
    """
    risky = re.match(_RISKY, name) and not re.fullmatch(_NUMBERS[1:-1], name)
    return MARK + name if risky else name


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose texts and names no spreadsheet computes."""
    made = pl.DataFrame([_safe(column) for column in frame.get_columns()])
    made.columns = [safe_name(name) for name in frame.columns]
    return made


def restored(frame: pl.DataFrame) -> pl.DataFrame:
    """What a safe frame of texts was made from."""
    made = pl.DataFrame([_restored(column) for column in frame.get_columns()])
    made.columns = [name[1:] if re.match(_MARKED, name) else name for name in frame.columns]
    return made


def _safe(cells: pl.Series) -> pl.Series:
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype != pl.String:
        return cells
    risky = cells.str.contains(_RISKY) & ~cells.str.contains(_NUMBERS)
    return _where(risky, pl.select(pl.lit(MARK) + pl.lit(cells)).to_series(), cells)


def _restored(cells: pl.Series) -> pl.Series:
    return _where(cells.str.contains(_MARKED), cells.str.slice(1), cells) if cells.dtype == pl.String else cells


def _where(chosen: pl.Series, then: pl.Series, otherwise: pl.Series) -> pl.Series:
    picked = pl.select(pl.when(chosen).then(then).otherwise(otherwise)).to_series()
    return picked.alias(otherwise.name)
