"""How far the answers of a release are from the truth, over a workload."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.counts import Answers, Queries, estimated, true_counts
from lookalike.analysis.spreading import Numbers
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import Unsupported
from lookalike.metrics.shared.workloads import Workload

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


def drawn(workload: Workload, data: Microdata, n_queries: int, rng: np.random.Generator) -> Drawn:
    """So many queries of a workload that somebody satisfies; fewer if they are hard to find."""
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
    return Drawn(Queries.joined(parts), np.concatenate(truths), n_tried - n_found, data.n_rows)


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
    def coverage(self) -> float:
        return float(self.covered.mean())


def query_error(asked: Drawn, release: Release) -> QueryError:
    """How the release answers them."""
    return judged(asked, estimated(asked.queries, release))


def judged(asked: Drawn, answers: Answers) -> QueryError:
    # Half a record: whole counts are compared with estimates that are none.
    covered = np.abs(answers.counts - asked.truth) <= 1.96 * answers.errors + 0.5
    return QueryError(np.abs(answers.counts - asked.truth) / asked.truth, covered, asked.n_dropped)
