"""Which counts to ask for: the workloads of the papers. Each draws so many queries over the domains of a table.

    range      intervals on some quasi-identifiers and on the sensitive column, sized for a selectivity (BUREL, HG)
    set        any of so many random values of a column, sized for a selectivity (after Anatomy; GB)
    subset     random subsets of random sizes, on so many columns (MA)
    prefix     all values up to one of an ordered column, and single values of the others (HG)
    correlated the queries of another workload whose true counts differ most from independence (MA)

The last quasi-identifiers and first sensitive column are nothing special: which columns a query asks about is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.counts import Queries
from lookalike.analysis.spreading import Masks
from lookalike.data.microdata import Domain, Domains, Microdata
from lookalike.data.schema import Kind, ValueType
from lookalike.errors import RecipeError, counted


class Workload(Protocol):
    """Draws queries."""

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries: ...


def range_length(size: int, selectivity: float, n_columns: int) -> int:
    """How many values of a domain an interval holds so that `n_columns` of them have the selectivity together.

    >>> range_length(79, 0.1, 4), range_length(2, 0.1, 4)
    (44, 1)
    """
    return min(max(1, round(size * float(selectivity ** (1 / n_columns)))), size)


@dataclass(frozen=True)
class RangeWorkload:
    """Intervals on `columns` random quasi-identifiers and on the sensitive column."""

    columns: int = 3
    selectivity: float = 0.1

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries:
        queries, asked = _started(domains, n_queries, self.columns, rng)
        parts = self.columns + len(queries.sensitive[:1])
        for domain, mask, rows in _asked(domains, queries, asked):
            points = _points(domain)
            size = int(points[-1] - points[0]) + 1
            length = range_length(size, self.selectivity, parts)
            starts = points[0] + rng.integers(0, size - length + 1, len(rows))
            inside = (points >= starts[:, None]) & (points < starts[:, None] + length)
            mask[rows] = False
            mask[rows, : len(points)] = inside
        return queries


@dataclass(frozen=True)
class SetWorkload:
    """Any of ceil(size x selectivity^(1 / (columns + 1))) random values of each column asked about."""

    columns: int = 3
    selectivity: float = 0.1

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries:
        queries, asked = _started(domains, n_queries, self.columns, rng)
        share = self.selectivity ** (1 / (self.columns + 1))
        for domain, mask, rows in _asked(domains, queries, asked):
            n_values = domain.missing_code
            mask[rows] = _subsets(mask.shape[1], n_values, np.full(len(rows), math.ceil(n_values * share)), rng)
        return queries


@dataclass(frozen=True)
class SubsetWorkload:
    """Random subsets of up to `selectivity` of a column's values, at least one."""

    columns: int = 3
    selectivity: float = 0.3

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries:
        queries, asked = _started(domains, n_queries, self.columns, rng)
        for domain, mask, rows in _asked(domains, queries, asked):
            most = max(1, math.floor(Fraction(str(self.selectivity)) * domain.missing_code))
            mask[rows] = _subsets(mask.shape[1], domain.missing_code, rng.integers(1, most + 1, len(rows)), rng)
        return queries


@dataclass(frozen=True)
class PrefixWorkload:
    """All values up to a random one of the column `upto`, and one value each of the columns `single`."""

    upto: str
    single: tuple[str, ...]

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries:
        queries = Queries.everything(domains, n_queries)
        names = [domain.name for domain in domains.quasi + domains.sensitive]
        for name in (self.upto, *self.single):
            if name not in names:
                raise RecipeError(f"The prefix workload needs a column {name}. The columns are {', '.join(names)}.")
            index = names.index(name)
            domain, mask = (domains.quasi + domains.sensitive)[index], (queries.quasi + queries.sensitive)[index]
            drawn = rng.integers(0, domain.missing_code, n_queries)[:, None]
            codes = np.arange(mask.shape[1])
            mask[:] = (codes <= drawn) & (codes < domain.missing_code) if name == self.upto else codes == drawn
        return queries


@dataclass(frozen=True)
class CorrelatedWorkload:
    """Of another workload's queries, those with the highest (or lowest) true count over the independent estimate."""

    base: Workload
    data: Microdata
    highest: bool = True
    out_of: int = 5000

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries:
        from lookalike.analysis.counts import independent, true_counts

        queries = self.base.draw(domains, max(self.out_of, n_queries), rng)
        truth, alone = true_counts(queries, self.data), independent(queries, self.data)
        usable = np.flatnonzero((truth > 0) & (alone > 0))
        ratio = truth[usable] / alone[usable]
        order = np.argsort(-ratio if self.highest else ratio, kind="stable")[:n_queries]
        return queries[usable[order]]


def _started(
    domains: Domains, n_queries: int, n_columns: int, rng: np.random.Generator
) -> tuple[Queries, NDArray[np.bool_]]:
    """Queries about nothing yet, and which quasi-identifiers each will ask about."""
    if not 1 <= n_columns <= len(domains.quasi):
        raise RecipeError(
            f"A workload over {counted(n_columns, 'column')} needs as many quasi-identifiers; there are "
            f"{len(domains.quasi)}."
        )
    places = np.argsort(rng.random((n_queries, len(domains.quasi))), axis=1)
    return Queries.everything(domains, n_queries), places < n_columns


def _asked(
    domains: Domains, queries: Queries, asked: NDArray[np.bool_]
) -> list[tuple[Domain, Masks, NDArray[np.int64]]]:
    """Each column with its masks and the queries that ask about it: the first sensitive one is always asked about."""
    found = [
        (domain, mask, np.flatnonzero(asked[:, index]))
        for index, (domain, mask) in enumerate(zip(domains.quasi, queries.quasi, strict=True))
    ]
    if domains.sensitive:
        found.append((domains.sensitive[0], queries.sensitive[0], np.arange(len(queries))))
    return [one for one in found if one[0].missing_code]


def _points(domain: Domain) -> NDArray[np.float64]:
    """Where the values lie on the axis that intervals are drawn on: whole numbers themselves, others by their rank."""
    if domain.kind is Kind.NUMERIC and domain.taxonomy is None and domain.type is ValueType.INTEGER:
        return domain.points
    return np.arange(domain.missing_code, dtype=np.float64)


def _subsets(width: int, n_values: int, sizes: NDArray[np.int64], rng: np.random.Generator) -> Masks:
    """[sizes, width] a random subset of the first n_values codes of each size."""
    ranks = np.argsort(np.argsort(rng.random((len(sizes), n_values)), axis=1), axis=1)
    masks = np.zeros((len(sizes), width), dtype=bool)
    masks[:, :n_values] = ranks < sizes[:, None]
    return masks
