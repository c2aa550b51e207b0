"""Microdata as the kernels see it: quasi-identifiers laid out as `Axes`, requirements as a `GroupRule`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import least_room
from lookalike.data.microdata import Codes, Domain, Microdata, read_only
from lookalike.data.persons import number_pairs, renumber
from lookalike.data.requirement import GroupRule, Requirement, pack
from lookalike.data.schema import Kind
from lookalike.kernels.axes import ATTRIBUTE, INTERVAL, NODE, ORDERED, SET, TREE_NODE, Axes
from lookalike.kernels.partition import Cutting

# A numeric column with one value and missing ones can still lose: it needs a length to be cut by.
_LEAST_SPAN = 1e-9


def axes_of(data: Microdata) -> Axes:
    """The quasi-identifiers for the kernels."""
    domains = data.domains.quasi
    trees = [domain.taxonomy for domain in domains]
    attributes = np.zeros(len(domains), dtype=ATTRIBUTE)
    attributes["kind"] = [_kind(domain) for domain in domains]
    attributes["span"] = [_span(domain) for domain in domains]
    attributes["weight"] = [domain.attribute.weight for domain in domains]
    attributes["missing"] = [domain.missing_code for domain in domains]
    attributes["lacks"] = [domain.has_missing and _kind(domain) in (INTERVAL, ORDERED) for domain in domains]
    attributes["points"] = _starts([len(domain.points) for domain in domains])
    attributes["tree"] = _starts([0 if tree is None else len(tree.labels) for tree in trees])
    attributes["leaves"] = _starts([0 if tree is None else tree.n_leaves for tree in trees])
    nodes, leaf_nodes = [], []
    for tree in trees:
        if tree is not None:
            nodes.append(np.zeros(len(tree.labels), dtype=TREE_NODE))
            nodes[-1]["parent"], nodes[-1]["first"], nodes[-1]["last"] = tree.parents, tree.firsts, tree.lasts
            leaf_nodes.append(tree.leaf_nodes)
    # One entry at least, so that kernels see the same types with and without trees.
    return Axes(
        codes=data.quasi,
        attributes=attributes,
        points=np.concatenate([*(domain.points for domain in domains), np.zeros(1)]),
        nodes=np.concatenate([*nodes, np.zeros(1, dtype=TREE_NODE)]),
        leaf_nodes=np.concatenate([*leaf_nodes, np.zeros(1, dtype=np.int32)]),
    )


def axes_at(axes: Axes, records: NDArray[np.int64]) -> Axes:
    """The same quasi-identifiers, of some records only."""
    return axes._replace(codes=read_only(axes.codes[records]))


def cutting_of(data: Microdata, *, strict: bool, by_gain: bool, shares: NDArray[np.float64]) -> Cutting:
    """How to cut, with scratch space that fits the table; the share nearest to one half is tried first."""
    widest = max(domain.n_codes if _kind(domain) == SET else 0 for domain in data.domains.quasi)
    return Cutting(
        strict=strict,
        by_gain=by_gain,
        shares=np.sort(shares),
        preference=np.argsort(np.abs(np.sort(shares) - 0.5).round(9), kind="stable"),
        marks=np.zeros((len(data.domains.quasi), widest + 1), dtype=np.int64),
        stamp=np.zeros(1, dtype=np.int64),
    )


def rule_of(data: Microdata, requirements: Sequence[Requirement]) -> GroupRule:
    """The requirements for the kernels."""
    priors = [data.prior(index) for index in range(len(data.domains.sensitive))]
    rule = pack(requirements, priors, int(data.prior(None)[0]))
    if data.persons is None:
        return rule
    return rule._replace(persons=len(priors), number_known=data.number_known)


def codes_for(data: Microdata, rule: GroupRule) -> Codes:
    """What the rule looks at, for each record: sensitive codes; by persons also whose record it is and, for each
    requirement, a number per person and value."""
    if data.persons is None:
        return data.sensitive
    owners = renumber(data.persons)
    pairs = (renumber(number_pairs(owners, data.sensitive[:, column])) for column in rule.settings["column"])
    return read_only(np.column_stack((data.sensitive, owners, *pairs)).astype(np.int32))


def roomy_rule_of(data: Microdata, requirements: Sequence[Requirement]) -> GroupRule:
    """The same for methods that cut or grow: no group is smaller than `least_room`."""
    rule = rule_of(data, requirements)
    return rule._replace(min_size=max(rule.min_size, least_room(data, requirements)))


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
    # To a search, values that became "(other)" are one value.
    return float(domain.size - max(domain.n_outside - 1, 0) - 1)


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths[:-1]])
