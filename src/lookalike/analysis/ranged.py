"""Counts from a grouped or matched release: exact columns are counted, ranges and sets are read by their shares.

A row counts with the share of its cells that a question wants, column by column (`queries`). Inside cells values are
weighted by what narrow cells make certain, or taken to be alike (`uniform`, as in the papers).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.analysis.conditions import Where, satisfies
from lookalike.analysis.counts import Answers, Queries, estimated
from lookalike.analysis.crosstables import check_size, framed
from lookalike.analysis.estimate import Estimate, spread
from lookalike.analysis.plain import value_series
from lookalike.analysis.release import PublishedRelease
from lookalike.data.microdata import Domain
from lookalike.data.release import Grouped, Matched
from lookalike.errors import RecipeError, counted, quoted
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.describe import PublishedManifest
from lookalike.files.releases.read import ReleaseFolder

_MOST_COMBINATIONS = 100_000


@dataclass(frozen=True)
class RangedRelease(PublishedRelease):
    """One table of ranges, sets and exact columns."""

    methods: ClassVar[tuple[str, ...]] = ("weighted", "uniform", "baseline")

    frame: pl.DataFrame
    """The published table as it is."""

    def __repr__(self) -> str:
        generalised = ", ".join(domain.name for domain in self._release.domains.quasi)
        return (
            f"<{self.manifest.title}: {counted(len(self.frame), 'row')}, {generalised} generalised by "
            f"{self.manifest.algorithm}>"
        )

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        return {"release": self.frame}

    @property
    def columns(self) -> list[str]:
        return [domain.name for domain in self._release.domains.all]

    @cached_property
    def _release(self) -> Grouped | Matched:
        """Read over what the release says itself; carried columns stand with the sensitive ones, being as exact."""
        assert self.folder is not None
        release = read_alone(ReleaseFolder(self.folder))
        assert isinstance(release, Grouped | Matched)
        domains = release.domains
        return replace(
            release,
            domains=replace(domains, sensitive=domains.sensitive + domains.carried, carried=()),
            sensitive=np.hstack((release.sensitive, release.carried)),
            carried=np.zeros((release.n_rows, 0), dtype=np.int32),
        )

    @cached_property
    def _values(self) -> dict[str, pl.Series]:
        """The values of each column in the order of their codes, missing last where it occurs."""
        return {
            domain.name: value_series(domain, np.arange(domain.n_codes, dtype=np.int32))
            for domain in self._release.domains.all
        }

    def _wanted(self, where: Where) -> dict[str, NDArray[np.bool_]]:
        return {name: satisfies(self._values[name], wanted).to_numpy().astype(bool) for name, wanted in where.items()}

    def _queries(self, masks: Mapping[str, NDArray[np.bool_]], n_queries: int) -> Queries:
        """Queries with these masks; of a mask for all of them, one row is enough."""
        domains = self._release.domains

        def of(domain: Domain) -> NDArray[np.bool_]:
            mask = masks.get(domain.name, np.ones(domain.n_codes, dtype=bool))
            return np.ascontiguousarray(np.broadcast_to(mask, (n_queries, domain.n_codes)))

        return Queries(tuple(map(of, domains.quasi)), tuple(map(of, domains.sensitive)))

    def _n_rows(self, masks: Mapping[str, NDArray[np.bool_]]) -> int:
        """Rows that satisfy the conditions on exact columns."""
        kept = np.ones(self._release.n_rows, dtype=bool)
        for place, domain in enumerate(self._release.domains.sensitive):
            if domain.name in masks:
                kept &= masks[domain.name][self._release.sensitive[:, place]]
        return int(kept.sum())

    def _count(self, where: Where, method: str) -> Estimate:
        masks = self._wanted(where)
        n_rows = self._n_rows(masks)
        if method == "baseline":
            known = {domain.name for domain in self._release.domains.quasi}
            alone = {name: mask for name, mask in masks.items() if name in known}
            about_quasi = estimated(self._queries(alone, 1), self._release).counts[0]
            share = n_rows / max(self._release.n_rows, 1)
            return Estimate(float(about_quasi * share), math.nan, self._release.n_rows, method)
        answers = estimated(self._queries(masks, 1), self._release, method)
        return Estimate(float(answers.counts[0]), float(answers.errors[0]), n_rows, method)

    def _crosstab(self, names: Sequence[str], where: Where, *, clip: bool, level: float) -> pl.DataFrame:
        masks = self._wanted(where)
        listed = [np.flatnonzero(masks.get(name, np.ones(len(self._values[name]), dtype=bool))) for name in names]
        n_queries = math.prod(len(codes) for codes in listed)
        check_size((n_queries,))
        if n_queries > _MOST_COMBINATIONS:
            raise RecipeError(
                f"That is {n_queries:,} combinations of values, each to be estimated. Cross fewer columns, or ask for "
                f"a range of {quoted(max(names, key=lambda name: len(self._values[name])))}."
            )
        combinations = np.stack([axis.ravel() for axis in np.meshgrid(*listed, indexing="ij")], axis=1)
        crossed: dict[str, Any] = {name: mask for name, mask in masks.items() if name not in names}
        for place, name in enumerate(names):
            crossed[name] = np.arange(len(self._values[name])) == combinations[:, place, None]
        answers: Answers = estimated(self._queries(crossed, n_queries), self._release)
        n_rows = self._n_rows({name: mask for name, mask in crossed.items() if mask.ndim == 1})
        reach = spread(level) * answers.errors
        columns = {name: self._values[name].gather(combinations[:, place]) for place, name in enumerate(names)}
        figures = {
            "clipped" if clip else "estimate": answers.counts,
            "error": answers.errors,
            "low": np.clip(answers.counts - reach, 0, n_rows),
            "high": np.clip(answers.counts + reach, 0, n_rows),
        }
        return framed(names, columns, figures)

    @classmethod
    def of(cls, manifest: PublishedManifest, frame: pl.DataFrame) -> RangedRelease:
        return cls(manifest=manifest, frame=frame)
