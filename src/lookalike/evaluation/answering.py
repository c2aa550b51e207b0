"""How near a release answers count queries that were drawn at random: what share of the answers is how far off.

Nothing is kept of a single query. The workloads ask for ranges of one, two and three columns and of the first sensitive
column, wide enough that a tenth of the records satisfies one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import Unsupported
from lookalike.metrics.query_error import QueryError, drawn, query_error
from lookalike.metrics.shared.workloads import RangeWorkload
from lookalike.progress import Progress, silent

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Relative errors up to which answers are counted together."""
N_QUERIES = 500
MOST_COLUMNS = 3
SELECTIVITY = 0.1


@dataclass(frozen=True)
class Answered:
    """Queries over so many columns: how they were answered."""

    columns: int
    median: float
    """Median of |estimate - truth| / truth."""
    coverage: float
    """Share of the queries whose truth lies in the interval of 95 % that comes with the answer."""
    shares: tuple[float, ...]
    """Share of the queries with an error up to each of `BOUNDS` (and above the one before); the last: above all."""

    @classmethod
    def of(cls, columns: int, error: QueryError) -> Answered:
        places = np.searchsorted(BOUNDS, error.relative)
        counts = np.bincount(places, minlength=len(BOUNDS) + 1)
        return cls(columns, error.median, error.coverage, tuple((counts / max(len(places), 1)).tolist()))

    def to_plain(self) -> dict[str, Any]:
        return {
            "columns": self.columns,
            "median_error": self.median,
            "interval_holds": self.coverage,
            "shares": list(self.shares),
        }


def answered(
    release: Release, original: Microdata, rng: np.random.Generator, progress: Progress = silent
) -> list[Answered]:
    """A line each for queries of one column, two and three, as far as there are such columns and queries."""
    found = []
    for columns in range(1, min(MOST_COLUMNS, len(original.domains.quasi)) + 1):
        progress("queries", (columns - 1) / MOST_COLUMNS)
        try:
            asked = drawn(RangeWorkload(columns, SELECTIVITY), original, N_QUERIES, rng)
        except Unsupported:
            continue
        found.append(Answered.of(columns, query_error(asked, release)))
    progress("queries", 1.0)
    return found


def bound_names(bounds: Sequence[float] = BOUNDS) -> list[str]:
    """What the shares are called.

    >>> bound_names()
    ['up to 5 %', '5 to 10 %', '10 to 25 %', '25 to 50 %', '50 to 100 %', 'more']
    """
    ends = [f"{100 * bound:.0f}" for bound in bounds]
    between = [f"{low} to {high} %" for low, high in zip(ends, ends[1:], strict=False)]
    return [f"up to {ends[0]} %", *between, "more"]
