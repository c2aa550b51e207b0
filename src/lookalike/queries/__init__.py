"""Count queries by the thousand: workloads, the true counts, and what each form of release answers."""

from __future__ import annotations

from lookalike.queries.answers import Answers, estimated, independent, true_counts
from lookalike.queries.asked import Queries
from lookalike.queries.errors import QueryError, drawn, query_error
from lookalike.queries.workloads import CorrelatedWorkload, PrefixWorkload, RangeWorkload, SetWorkload, SubsetWorkload

__all__ = [
    "Answers",
    "CorrelatedWorkload",
    "PrefixWorkload",
    "Queries",
    "QueryError",
    "RangeWorkload",
    "SetWorkload",
    "SubsetWorkload",
    "drawn",
    "estimated",
    "independent",
    "query_error",
    "true_counts",
]
