"""What cross tables of every form share: combinations of exact columns, and the frame that is handed out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.errors import RecipeError

_MOST_CELLS = 50_000_000


def check_size(shape: tuple[int, ...]) -> None:
    """Refuse a table that would not fit."""
    if math.prod(shape) > _MOST_CELLS:
        raise RecipeError(f"That is {math.prod(shape):,} cells. Cross fewer columns, or add conditions.")


def combinations(frame: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The combinations of exact columns that occur, in order, and which of them each row has."""
    if not names:
        return pl.DataFrame({"": [0]}), np.zeros(len(frame), dtype=np.int64)
    # Under names of our own: Polars takes some names for patterns.
    plain = [f"column {place}" for place in range(len(names))]
    cells = pl.DataFrame([frame[name].alias(own) for name, own in zip(names, plain, strict=True)])
    occurring = cells.unique().sort(plain)
    found = cells.join(occurring.with_row_index("group"), on=plain, how="left", nulls_equal=True, maintain_order="left")
    occurring.columns = list(names)
    return occurring, found["group"].to_numpy().astype(np.int64)


def framed(names: Sequence[str], columns: Mapping[str, pl.Series], figures: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """The columns that were asked for, then the figures, under names that no column has."""
    frame = {name: columns[name] for name in names}
    for name, numbers in figures.items():
        free = name
        while free in frame:
            free += "_"
        frame[free] = pl.Series(numbers.ravel())
    return pl.DataFrame(frame)
