"""A release in an analyst's hands, whatever its form. The original is not needed, and would not be there.

release = lookalike.load("release")
release.counts("diagnosis", where={"age": (30, 40)})
release.count({"diagnosis": "HIV", "sex": "F"}).interval()
release.query("SELECT COUNT(*) WHERE age > 40 AND diagnosis = 'HIV'")
release.sample(worlds=5)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from lookalike.analysis.conditions import Where
from lookalike.analysis.estimate import LEVEL, Estimate
from lookalike.errors import RecipeError, counted, unknown_name
from lookalike.files.releases.describe import PublishedManifest


@dataclass(frozen=True)
class PublishedRelease(ABC):
    """A release that was loaded: exact columns are counted, the rest is estimated."""

    methods: ClassVar[tuple[str, ...]]
    """How counts can be estimated; the first is the form's own."""

    manifest: PublishedManifest
    folder: Path | None = field(default=None, kw_only=True)
    """Where it was loaded from."""

    @property
    @abstractmethod
    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables as published."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The columns that can be counted or be a condition."""

    @property
    def notes(self) -> list[str]:
        """What to keep in mind about counts, in sentences."""
        notes = []
        if made_up := self.manifest.n_dummies:
            verb = "is" if made_up == 1 else "are"
            notes.append(f"{counted(made_up, 'record')} in this release {verb} made up; counts include them.")
        if left_out := self.manifest.n_suppressed:
            verb = "was" if left_out == 1 else "were"
            notes.append(f"{counted(left_out, 'record')} of the original {verb} left out of this release.")
        return notes

    def count(self, where: Where, *, method: str | None = None) -> Estimate:
        """How many people satisfy every condition.

        `baseline` takes sensitive values to be independent of everything else: the rows that match, times the share
        that the sensitive values have in the whole table. It does not look at the sensitive values of those rows.
        """
        method = method or self.methods[0]
        if method not in self.methods:
            raise RecipeError(unknown_name("method", method, self.methods))
        self._check_columns(where)
        return self._count(where, method)

    @abstractmethod
    def _count(self, where: Where, method: str) -> Estimate: ...

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

        `published` is how many rows show the combination; it is left out where no row of the release does.
        `estimate` has no bias. That of a perturbed release may be negative where few rows were counted; with `clip` it
        is called `clipped`: negative numbers are set to 0 and the rest scaled to the rows.
        `error` is the standard error, and the true count lies from `low` to `high` with about the probability `level`.
        """
        names = [rows, column] if isinstance(rows, str) else [*rows, column]
        if len(set(names)) != len(names):
            raise RecipeError("A column is named twice. Cross different columns.")
        where = where or {}
        self._check_columns([*names, *where])
        return self._crosstab(names, where, clip=clip, level=level)

    @abstractmethod
    def _crosstab(self, names: Sequence[str], where: Where, *, clip: bool, level: float) -> pl.DataFrame: ...

    def query(self, sql: str, *, level: float = LEVEL) -> Estimate | pl.DataFrame:
        """A count in SQL: an estimate, or with GROUP BY a frame as `crosstab` gives it.

        SELECT COUNT(*) [, columns] [WHERE conditions joined by AND; OR between conditions on one column]
        [GROUP BY columns]
        """
        # The parser is loaded by those who use it.
        from lookalike.analysis.sql import answer

        return answer(self, sql, level)

    def sample(self, worlds: int = 5, seed: int | None = None) -> list[pl.DataFrame]:
        """Plain tables that the release may come from, with the columns and types of the original; see `pool`."""
        from lookalike.analysis.plain import sample

        if self.folder is None:
            raise RecipeError("Only a release that was loaded from its folder can be drawn from. Use load(folder).")
        return sample(self.folder, worlds=worlds, seed=seed)

    def _check_columns(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.columns:
                raise RecipeError(unknown_name("column", name, self.columns))
