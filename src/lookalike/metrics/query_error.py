"""How far the answers of a release are from the truth, over a workload of many queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.counts import Queries, estimate_counts, independent, true_counts
from lookalike.analysis.intervals import LEVEL, Answers
from lookalike.analysis.spreading import Masks, Numbers
from lookalike.data.microdata import Domain, Domains, Microdata
from lookalike.data.release import Release
from lookalike.data.schema import Kind, ValueType
from lookalike.errors import RecipeError, Unsupported, counted
from lookalike.metrics.shared.metric import WrittenMetric


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
class _RandomColumns:
    """Asks about `columns` random quasi-identifiers, and always about the first sensitive column."""

    columns: int = 3
    selectivity: float = 0.1

    def draw(self, domains: Domains, n_queries: int, rng: np.random.Generator) -> Queries:
        if not 1 <= self.columns <= len(domains.quasi):
            raise RecipeError(
                f"A workload over {counted(self.columns, 'column')} needs as many quasi-identifiers; there are "
                f"{len(domains.quasi)}."
            )
        asked = np.argsort(rng.random((n_queries, len(domains.quasi))), axis=1) < self.columns
        asked = np.column_stack([asked, *(np.ones(n_queries, dtype=bool) for _ in domains.sensitive[:1])])
        queries = Queries.everything(domains, n_queries)
        n_asked = self.columns + len(domains.sensitive[:1])
        masks, columns = queries.quasi + queries.sensitive[:1], domains.quasi + domains.sensitive[:1]
        for domain, mask, is_asked in zip(columns, masks, asked.T, strict=True):
            if domain.missing_code:
                rows = np.flatnonzero(is_asked)
                mask[rows] = False
                mask[rows, : domain.missing_code] = self.choose(domain, len(rows), n_asked, rng)
        return queries

    def choose(self, domain: Domain, n_queries: int, n_asked: int, rng: np.random.Generator) -> Masks:
        """[queries, values without missing] the values of a column that are asked for, one of `n_asked` columns."""
        raise NotImplementedError


@dataclass(frozen=True)
class RangeWorkload(_RandomColumns):
    """Intervals on `columns` random quasi-identifiers and on the sensitive column."""

    def choose(self, domain: Domain, n_queries: int, n_asked: int, rng: np.random.Generator) -> Masks:
        points = _points(domain)
        size = int(points[-1] - points[0]) + 1
        length = range_length(size, self.selectivity, n_asked)
        starts = points[0] + rng.integers(0, size - length + 1, n_queries)[:, None]
        inside: Masks = (points >= starts) & (points < starts + length)
        return inside


@dataclass(frozen=True)
class SetWorkload(_RandomColumns):
    """Any of ceil(size x selectivity^(1 / (columns + 1))) random values of each column asked about."""

    def choose(self, domain: Domain, n_queries: int, n_asked: int, rng: np.random.Generator) -> Masks:
        size = math.ceil(domain.missing_code * self.selectivity ** (1 / (self.columns + 1)))
        return _subsets(domain.missing_code, np.full(n_queries, size), rng)


@dataclass(frozen=True)
class SubsetWorkload(_RandomColumns):
    """Random subsets of up to `selectivity` of a column's values, at least one."""

    selectivity: float = 0.3

    def choose(self, domain: Domain, n_queries: int, n_asked: int, rng: np.random.Generator) -> Masks:
        most = max(1, math.floor(Fraction(str(self.selectivity)) * domain.missing_code))
        return _subsets(domain.missing_code, rng.integers(1, most + 1, n_queries), rng)


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
        queries = self.base.draw(domains, max(self.out_of, n_queries), rng)
        truth, alone = true_counts(queries, self.data), independent(queries, self.data)
        usable = np.flatnonzero((truth > 0) & (alone > 0))
        ratio = truth[usable] / alone[usable]
        order = np.argsort(-ratio if self.highest else ratio, kind="stable")[:n_queries]
        return queries[usable[order]]


def _points(domain: Domain) -> NDArray[np.float64]:
    """Where the values lie on the axis that intervals are drawn on: whole numbers themselves, others by their rank."""
    if domain.kind is Kind.NUMERIC and domain.taxonomy is None and domain.type is ValueType.INTEGER:
        return domain.points
    return np.arange(domain.missing_code, dtype=np.float64)


def _subsets(n_values: int, sizes: NDArray[np.int64], rng: np.random.Generator) -> Masks:
    """[sizes, values] a random subset of each size."""
    return np.argsort(np.argsort(rng.random((len(sizes), n_values)), axis=1), axis=1) < sizes[:, None]


_HALF = 0.5
"""Half a record: whole counts are compared with ends of intervals that need not be."""
_MOST_TRIED = 20
"""So many times the queries asked for are drawn at most until enough have a true count above 0."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Queries with a true count above 0, and how many had none."""

    queries: Queries
    truth: NDArray[np.int64]
    n_dropped: int
    n_records: int

    @property
    def selectivity(self) -> float:
        """The mean share of the records that satisfies a query, as it came out."""
        return float(self.truth.mean() / self.n_records)


def draw_queries(workload: Workload, data: Microdata, n_queries: int, rng: np.random.Generator) -> Drawn:
    """So many queries of a workload that someone satisfies; fewer if they are hard to find."""
    parts: list[Queries] = []
    truths: list[NDArray[np.int64]] = []
    n_found, n_tried = 0, 0
    while n_found < n_queries and n_tried < _MOST_TRIED * n_queries:
        queries = workload.draw(data.domains, n_queries, rng)
        truth = true_counts(queries, data)
        n_tried += len(queries)
        usable = np.flatnonzero(truth > 0)[: n_queries - n_found]
        n_found += len(usable)
        parts.append(queries[usable])
        truths.append(truth[usable])
    if not n_found:
        raise Unsupported("No query of this workload has an answer above 0 on this table. Ask for a wider one.")
    return Drawn(Queries.join(parts), np.concatenate(truths), n_tried - n_found, data.n_rows)


@dataclass(frozen=True, eq=False)
class QueryError:
    """Relative errors |estimate - truth| / truth, one a query."""

    relative: Numbers
    covered: NDArray[np.bool_]
    """Whether the truth lies within the printed interval of 95 %."""
    n_dropped: int

    @property
    def median(self) -> float:
        return float(np.median(self.relative))

    @property
    def mean(self) -> float:
        return float(self.relative.mean())

    @property
    def n_queries(self) -> int:
        return len(self.relative)

    @property
    def coverage(self) -> float:
        return float(self.covered.mean())


def query_error(asked: Drawn, release: Release) -> QueryError:
    """How the release answers them."""
    return judge_answers(asked, estimate_counts(asked.queries, release))


def judge_answers(asked: Drawn, answers: Answers) -> QueryError:
    low, high = answers.intervals(LEVEL)
    covered = (low - _HALF <= asked.truth) & (asked.truth <= high + _HALF)
    return QueryError(np.abs(answers.counts - asked.truth) / asked.truth, covered, asked.n_dropped)


@dataclass(frozen=True)
class MedianQueryError(WrittenMetric):
    """The median error of random counts over ranges, the same for every release of a table so that releases compare."""

    name = "query_error"
    title = "error of count queries"
    axis = "median error of count queries"

    columns: int = 3
    n_queries: int = 500
    seed: int = 500

    def measure(self, original: Microdata, release: Release) -> float:
        found = self.errors(original, release)
        return math.nan if found is None else found.median

    def errors(self, original: Microdata, release: Release) -> QueryError | None:
        workload = RangeWorkload(min(self.columns, len(original.domains.quasi)))
        rng = np.random.default_rng(self.seed)
        try:
            return query_error(draw_queries(workload, original, self.n_queries, rng), release)
        except Unsupported:
            return None
