"""Counts from a perturbed release: exact columns are counted, redrawn ones reconstructed through their matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.analysis.conditions import Where, rows_where, satisfies
from lookalike.analysis.crosstables import check_size, combinations, framed
from lookalike.analysis.estimate import Estimate, spread
from lookalike.analysis.release import PublishedRelease
from lookalike.data.reconstruct import Numbers, Reconstruction, baseline
from lookalike.data.schema import Role
from lookalike.errors import DataError, RecipeError, quoted
from lookalike.files.releases.describe import PublishedManifest
from lookalike.files.releases.read import published_matrix


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
class PerturbedRelease(PublishedRelease):
    """One table: exact columns are counted, redrawn ones reconstructed."""

    methods: ClassVar[tuple[str, ...]] = ("reconstruction", "baseline")

    frame: pl.DataFrame
    """The published table as it is. Sensitive values are redrawn: a single one means little."""
    redrawn: dict[str, Redrawn]

    @classmethod
    def of(cls, manifest: PublishedManifest, frame: pl.DataFrame) -> PerturbedRelease:
        names = [field.name for field in manifest.tables["release"] if field.role == Role.SENSITIVE]
        return cls(manifest, frame, {name: _column(frame, name, manifest) for name in names})

    def __repr__(self) -> str:
        columns = ", ".join(self.redrawn)
        return f"<{self.manifest.title}: {len(self.frame):,} rows, {columns} redrawn by {self.manifest.algorithm}>"

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        return {"release": self.frame}

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    def _count(self, where: Where, method: str) -> Estimate:
        """O(rows that match + values), once the rows are found."""
        rows = self._rows(where)
        if method == "baseline":
            shares = [self._share(name, wanted) for name, wanted in where.items() if name in self.redrawn]
            return Estimate(len(rows) * math.prod(shares), math.nan, len(rows), method)
        if not any(name in self.redrawn for name in where):
            return Estimate(len(rows), 0.0, len(rows), method)
        if len(self.redrawn) == 1:
            return self._count_by_value(where, rows)
        weights = self._weights(where, rows)
        estimate = float(weights.sum())
        return Estimate(estimate, math.sqrt(max((weights**2).sum() - estimate, 0.0)), len(rows), method)

    def _crosstab(self, names: Sequence[str], where: Where, *, clip: bool, level: float) -> pl.DataFrame:
        for name in names:
            if name in self.redrawn and name in where:
                raise RecipeError(f"{quoted(name)} is counted here, so it cannot be a condition as well. Use count().")
        hidden = [name for name in names if name in self.redrawn]
        exact = [name for name in names if name not in self.redrawn]
        matching = self._rows(where)
        groups, group_of_row = combinations(self.frame[matching], exact)
        shape = (len(groups), *(len(self.redrawn[name].values) for name in hidden))
        check_size(shape)
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

    def _rows(self, where: Where) -> NDArray[np.int64]:
        """The rows that satisfy the conditions on exact columns."""
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
        estimate, error = column.way_back.count(column.observed(rows), column.chosen(where[name]))
        return Estimate(estimate, error, len(rows), "reconstruction")

    def _share(self, name: str, wanted: Any) -> float:
        column, everybody = self.redrawn[name], np.arange(len(self.frame))
        shares = column.way_back.counts(column.observed(everybody), clip=True) / len(everybody)
        return baseline(1, shares, column.chosen(wanted))


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
        self, names: Sequence[str], groups: pl.DataFrame, hidden: dict[str, Redrawn], *, clip: bool, level: float
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
        return framed(
            names,
            columns,
            {name: np.broadcast_to(numbers, self.found.shape)[shown] for name, numbers in figures.items()},
        )
