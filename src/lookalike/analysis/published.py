"""A release folder in an analyst's hands. The original is not needed, and would not be there.

release = lookalike.load("release")
release.counts("diagnosis", where={"age": (30, 40)})
release.count({"diagnosis": "HIV", "sex": "F"}).interval()
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.analysis.conditions import Where, rows_where, satisfies
from lookalike.analysis.estimates import LEVEL, Estimate, spread
from lookalike.analysis.reconstruction import Numbers, Reconstruction, baseline
from lookalike.errors import DataError, RecipeError, Unsupported, quoted, unknown_name
from lookalike.packages.folder import published_matrix, read_frames
from lookalike.packages.manifest import PublishedManifest
from lookalike.packages.reading import release_folder
from lookalike.release import Perturbed
from lookalike.schema import Role

METHODS = ("reconstruction", "baseline")
_MOST_CELLS = 50_000_000


def load(folder: str | Path) -> PublishedRelease:
    """A release folder, to be analysed."""
    found = release_folder(Path(folder))
    if found is None:
        raise DataError(f"{folder} is not a release folder of lookalike. Name the folder with datapackage.json.")
    manifest, tables = read_frames(found)
    if manifest.form != Perturbed.form:
        raise Unsupported(
            f"{folder} is a {manifest.form} release; counts are reconstructed from perturbed ones. Read its table as "
            "any other: release.parquet has the ends of every range."
        )
    names = [field.name for field in manifest.tables["release"] if field.role == Role.SENSITIVE]
    frame = tables["release"]
    return PublishedRelease(manifest, frame, {name: _column(frame, name, manifest) for name in names})


@dataclass(frozen=True)
class Redrawn:
    """A perturbed column: its values in the order of the matrix, the code of each row, and the way back."""

    values: pl.Series
    codes: NDArray[np.int64]
    way_back: Reconstruction

    def observed(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(self.codes[rows], minlength=len(self.values)).astype(np.int64)

    def chosen(self, wanted: Any) -> NDArray[np.bool_]:
        return satisfies(self.values, wanted).to_numpy().astype(bool)


def _column(frame: pl.DataFrame, name: str, manifest: PublishedManifest) -> Redrawn:
    values, randomizer = published_matrix(name, manifest)
    known = values.is_not_null()
    places = pl.Series(np.arange(len(values), dtype=np.int64))
    codes = frame[name].replace_strict(values.filter(known), places.filter(known), default=None, return_dtype=pl.Int64)
    if not known.all():
        codes = codes.fill_null(int((~known).arg_max() or 0))
    if codes.null_count():
        raise DataError(
            f"Column {quoted(name)} holds values that its matrix does not have. The release was changed: get it again."
        )
    return Redrawn(values, codes.to_numpy(), Reconstruction(randomizer))


@dataclass(frozen=True)
class PublishedRelease:
    """A perturbed release: exact columns are counted, redrawn ones reconstructed."""

    manifest: PublishedManifest
    frame: pl.DataFrame
    """The published table as it is. Sensitive values are redrawn: a single one means little."""
    redrawn: dict[str, Redrawn]

    def __repr__(self) -> str:
        columns = ", ".join(self.redrawn)
        return f"<{self.manifest.title}: {len(self.frame):,} rows, {columns} redrawn by {self.manifest.algorithm}>"

    def count(self, where: Where, *, method: str = "reconstruction") -> Estimate:
        """How many people satisfy every condition. O(rows that match + values), once the rows are found.

        `baseline` takes sensitive values to be independent of everything else: the rows that match, times the share
        that the sensitive values have in the whole table. It does not look at the sensitive values of those rows.
        """
        if method not in METHODS:
            raise RecipeError(unknown_name("method", method, METHODS))
        rows = self._rows(where)
        if method == "baseline":
            shares = [self._share(name, wanted) for name, wanted in where.items() if name in self.redrawn]
            return Estimate(len(rows) * math.prod(shares), math.nan, len(rows), method)
        if len(self.redrawn) == 1:
            return self._count_by_value(where, rows)
        weights = self._weights(where, rows)
        estimate = float(weights.sum())
        return Estimate(estimate, math.sqrt(max((weights**2).sum() - estimate, 0.0)), len(rows), method)

    def counts(
        self, column: str, where: Where | None = None, *, clip: bool = False, level: float = LEVEL
    ) -> pl.DataFrame:
        """How many people have each value of a column, among those that satisfy the conditions; see `crosstab`."""
        return self.crosstab((), column, where, clip=clip, level=level)

    def crosstab(
        self,
        rows: str | Iterable[str],
        column: str,
        where: Where | None = None,
        *,
        clip: bool = False,
        level: float = LEVEL,
    ) -> pl.DataFrame:
        """How many people have each combination of values, among those that satisfy the conditions.

        `published` is how many rows show the combination. `estimate` has no bias and may be negative where few rows
        were counted; with `clip` it is called `clipped`: negative numbers are set to 0 and the rest scaled to the rows.
        `error` is the standard error, and the true count lies from `low` to `high` with about the probability `level`.
        """
        names = [rows, column] if isinstance(rows, str) else [*rows, column]
        if len(set(names)) != len(names):
            raise RecipeError("A column is named twice. Cross different columns.")
        for name in names:
            self._check_column(name)
        where = where or {}
        for name in names:
            if name in self.redrawn and name in where:
                raise RecipeError(f"{quoted(name)} is counted here, so it cannot be a condition as well. Use count().")
        hidden = [name for name in names if name in self.redrawn]
        exact = [name for name in names if name not in self.redrawn]
        matching = self._rows(where)
        groups, group_of_row = _groups(self.frame[matching], exact)
        shape = (len(groups), *(len(self.redrawn[name].values) for name in hidden))
        if math.prod(shape) > _MOST_CELLS:
            raise RecipeError(f"That is {math.prod(shape):,} cells. Cross fewer columns, or add conditions.")
        place = np.ravel_multi_index((group_of_row, *(self.redrawn[name].codes[matching] for name in hidden)), shape)
        weights = self._weights(where, matching)
        published, found, squares = (
            _summed(place, numbers, shape) for numbers in (np.ones(len(matching)), weights, weights**2)
        )
        for axis, name in enumerate(hidden, start=1):
            inverse = self.redrawn[name].way_back.inverse
            found, squares = _along(inverse, found, axis), _along(inverse**2, squares, axis)
        table = _CrossTable(published, found, np.sqrt(np.maximum(squares - found, 0.0)))
        return table.frame(names, groups, {name: self.redrawn[name] for name in hidden}, clip=clip, level=level)

    def _check_column(self, name: str) -> None:
        if name not in self.frame.columns:
            raise RecipeError(unknown_name("column", name, self.frame.columns))

    def _rows(self, where: Where) -> NDArray[np.int64]:
        """The rows that satisfy the conditions on exact columns."""
        for name in where:
            self._check_column(name)
        exact = {name: wanted for name, wanted in where.items() if name not in self.redrawn}
        return np.flatnonzero(rows_where(self.frame, exact).to_numpy())

    def _weights(self, where: Where, rows: NDArray[np.int64]) -> Numbers:
        """What each row adds to the count of those who also satisfy the conditions on redrawn columns."""
        weights = np.ones(len(rows))
        for name, wanted in where.items():
            if name in self.redrawn:
                column = self.redrawn[name]
                weights *= column.way_back.weights_of(column.chosen(wanted))[column.codes[rows]]
        return weights

    def _count_by_value(self, where: Where, rows: NDArray[np.int64]) -> Estimate:
        ((name, column),) = self.redrawn.items()
        chosen = column.chosen(where[name]) if name in where else np.ones(len(column.values), dtype=bool)
        estimate, error = column.way_back.count(column.observed(rows), chosen)
        return Estimate(estimate, error, len(rows), "reconstruction")

    def _share(self, name: str, wanted: Any) -> float:
        column, everybody = self.redrawn[name], np.arange(len(self.frame))
        shares = column.way_back.counts(column.observed(everybody), clip=True) / len(everybody)
        return baseline(1, shares, column.chosen(wanted))


def _groups(frame: pl.DataFrame, names: list[str]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The combinations of exact columns that occur, in order, and which of them each row has."""
    if not names:
        return pl.DataFrame({"": [0]}), np.zeros(len(frame), dtype=np.int64)
    # Under names of our own: Polars takes some names for patterns.
    plain = [f"column {place}" for place in range(len(names))]
    cells = pl.DataFrame([frame[name].alias(own) for name, own in zip(names, plain, strict=True)])
    combinations = cells.unique().sort(plain)
    found = cells.join(
        combinations.with_row_index("group"), on=plain, how="left", nulls_equal=True, maintain_order="left"
    )
    combinations.columns = names
    return combinations, found["group"].to_numpy().astype(np.int64)


def _summed(place: NDArray[np.intp], numbers: Numbers, shape: tuple[int, ...]) -> Numbers:
    sums = np.bincount(place, weights=numbers, minlength=math.prod(shape))
    return sums.reshape(shape).astype(np.float64)


def _along(matrix: Numbers, table: Numbers, axis: int) -> Numbers:
    """A matrix applied to one axis of a table."""
    return np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)


@dataclass(frozen=True)
class _CrossTable:
    """Counts by group (first axis) and by redrawn columns (the others)."""

    published: Numbers
    found: Numbers
    errors: Numbers

    def frame(
        self, names: list[str], groups: pl.DataFrame, hidden: dict[str, Redrawn], *, clip: bool, level: float
    ) -> pl.DataFrame:
        inner = tuple(range(1, self.found.ndim))
        rows = self.published.sum(axis=inner, keepdims=True)
        estimates = self.found
        if clip:
            estimates = np.maximum(estimates, 0.0)
            sums = estimates.sum(axis=inner, keepdims=True)
            estimates = estimates * np.divide(self.found.sum(axis=inner, keepdims=True), sums, where=sums > 0, out=sums)
        reach = spread(level) * self.errors
        # Values that are never drawn occur nowhere.
        shown = np.ix_(np.arange(len(groups)), *(column.way_back.drawn for column in hidden.values()))
        places = np.meshgrid(*(axis.ravel() for axis in shown), indexing="ij")
        columns = {name: groups[name].gather(places[0].ravel()) for name in names if name not in hidden}
        for place, (name, column) in zip(places[1:], hidden.items(), strict=True):
            columns[name] = column.values.gather(place.ravel())
        figures = {
            "published": self.published.astype(np.int64),
            "clipped" if clip else "estimate": estimates,
            "error": self.errors,
            "low": np.clip(self.found - reach, 0, rows),
            "high": np.clip(self.found + reach, 0, rows),
        }
        for name, numbers in figures.items():
            free = name
            while free in names:
                free += "_"
            columns[free] = pl.Series(np.broadcast_to(numbers, self.found.shape)[shown].ravel())
        return pl.DataFrame({**{name: columns.pop(name) for name in names}, **columns})
