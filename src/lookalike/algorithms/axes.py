"""Microdata as the kernels see it: quasi-identifiers laid out as `Axes`, requirements as a `GroupRule`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lookalike.kernels.partition import INTERVAL, NODE, ORDERED, SET, Axes
from lookalike.microdata import Domain, Microdata
from lookalike.requirement import GroupRule, Requirement, pack
from lookalike.schema import Kind

# A numeric column with one value and missing ones can still lose: it needs a length to be cut by.
_LEAST_SPAN = 1e-9


def axes_of(data: Microdata) -> Axes:
    """The quasi-identifiers for the kernels."""
    domains = data.domains.quasi
    trees = [domain.taxonomy for domain in domains]
    points = [domain.points for domain in domains]
    return Axes(
        codes=data.quasi,
        kinds=np.array([_kind(domain) for domain in domains], dtype=np.int64),
        spans=np.array([_span(domain) for domain in domains]),
        weights=np.array([domain.attribute.weight for domain in domains]),
        missing=np.array([domain.missing_code for domain in domains], dtype=np.int64),
        point_starts=_starts([len(part) for part in points]),
        points=np.concatenate([*points, np.zeros(1)]),
        tree_starts=_starts([0 if tree is None else len(tree.labels) for tree in trees]),
        parents=_joined([tree.parents for tree in trees if tree is not None]),
        firsts=_joined([tree.firsts for tree in trees if tree is not None]),
        lasts=_joined([tree.lasts for tree in trees if tree is not None]),
        leaf_starts=_starts([0 if tree is None else tree.n_leaves for tree in trees]),
        leaf_nodes=_joined([tree.leaf_nodes for tree in trees if tree is not None]),
    )


def rule_of(data: Microdata, requirements: Sequence[Requirement]) -> GroupRule:
    """The requirements for the kernels."""
    priors = [data.counts(index) for index in range(len(data.domains.sensitive))]
    return pack(requirements, priors, data.n_rows)


def _kind(domain: Domain) -> int:
    if domain.taxonomy is not None:
        return NODE
    return {Kind.NUMERIC: INTERVAL, Kind.ORDERED: ORDERED, Kind.CATEGORICAL: SET}[domain.kind]


def _span(domain: Domain) -> float:
    if domain.kind is Kind.NUMERIC and domain.taxonomy is None:
        span = domain.high - domain.low
        return max(span, _LEAST_SPAN) if domain.has_missing else span
    if domain.kind is Kind.ORDERED:
        return max(float(domain.size - domain.has_missing - 1), _LEAST_SPAN if domain.has_missing else 0.0)
    return float(domain.size - 1)


def _starts(lengths: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64) if lengths else np.zeros(0, dtype=np.int64)


def _joined(parts: Sequence[np.ndarray[tuple[int], np.dtype[np.int32]]]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.concatenate([*parts, np.zeros(1, dtype=np.int32)])
