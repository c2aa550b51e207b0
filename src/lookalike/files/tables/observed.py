"""A column of which only the different values are at hand, with how often each occurs: a table that lies elsewhere."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.microdata import Column, texts_of
from lookalike.data.schema import ValueType
from lookalike.errors import DataError
from lookalike.files.tables.csv.inference import settle
from lookalike.files.tables.frames import column_of
from lookalike.files.tables.selection import misfit_message


def observed_column(
    name: str,
    values: pl.Series,
    times: NDArray[np.int64],
    *,
    asked: ValueType | None,
    missing: Collection[str],
    guess: bool,
    source: str,
) -> tuple[Column, tuple[str, ...]]:
    """The column with one cell for each different value, and what is to be said about it.

    `guess`: the values are the texts of a file without types, and are typed as those of any CSV file.
    """
    if guess:
        return _settled(name, values, times, asked, missing, source)
    column, notes = column_of(name, values, None, () if asked else missing, source)
    if asked is None or asked is column.type:
        return column, notes
    texts = pl.Series([*texts_of(column.values, column.type), None], dtype=pl.String).gather(column.codes)
    settled, said = _settled(name, texts, times, asked, missing, source)
    return settled, (*notes, *said)


def _settled(
    name: str,
    texts: pl.Series,
    times: NDArray[np.int64],
    asked: ValueType | None,
    missing: Collection[str],
    source: str,
) -> tuple[Column, tuple[str, ...]]:
    settled = settle(name, texts, asked, missing)
    if settled.misfits.any():
        n_misfits = int(times[settled.misfits].sum())
        raise DataError(f"{source}: {misfit_message(name, asked or settled.type, n_misfits)}")
    return Column(name, settled.type, settled.codes, settled.values), settled.notes
