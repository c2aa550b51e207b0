"""What a group of records must satisfy, in exact integers: the language that models and algorithms share.

A model turns itself into a `Requirement` once the counts of the sensitive column are known. Most models are ceilings
("value v may have at most this share of a group"); the rest are group tests. `pack` lays requirements out as arrays
for the kernels. Shares are `Fraction`s; where a bound is irrational (logarithms) it is rounded to the safe side on a
grid of 2^-60, so a group that passes here passes the audit, which decides such bounds with as many digits as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.taxonomy import Taxonomy

GRID = 1 << 60


class Distance(IntEnum):
    """How far a group's distribution is from the table's."""

    NONE = 0
    EQUAL = 1
    ORDERED = 2
    HIERARCHICAL = 3
    KL = 4
    JS = 5


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """What one model asks of every group, about one sensitive column (`column` None: about size alone)."""

    column: int | None = None
    min_size: int = 1
    ceilings: tuple[Fraction, ...] | None = None
    """Largest share of each value."""
    floors: tuple[Fraction, ...] | None = None
    """Least share of each value."""
    distinct: int = 1
    """Least number of different values."""
    entropy: Fraction | None = None
    """Entropy at least the logarithm of this."""
    recursive: tuple[Fraction, int] | None = None
    """(c, l): the most frequent value stays below c times the sum of the counts from the l-th on."""
    distance: Distance = Distance.NONE
    bound: Fraction = Fraction(1)
    """Largest distance from the table's distribution."""
    tree: Taxonomy | None = None
    """The taxonomy of the sensitive column, for the hierarchical distance."""

    @property
    def only_ceilings(self) -> bool:
        """Whether size and ceilings are all that is asked."""
        return (
            self.floors is None
            and self.distinct <= 1
            and self.entropy is None
            and self.recursive is None
            and self.distance is Distance.NONE
        )


def rounded_down(value: Fraction) -> tuple[int, int]:
    """A ratio of two 62-bit integers, equal to the value or just below it."""
    if value.numerator < 1 << 62 and value.denominator < 1 << 62:
        return value.numerator, value.denominator
    return math.floor(value * GRID), GRID


def rounded_up(value: Fraction) -> tuple[int, int]:
    """A ratio of two 62-bit integers, equal to the value or just above it."""
    if value.numerator < 1 << 62 and value.denominator < 1 << 62:
        return value.numerator, value.denominator
    return math.ceil(value * GRID), GRID


class GroupRule(NamedTuple):
    """Requirements as arrays for kernels; R requirements, M the largest number of codes, T the largest tree.

    Comparisons read `count * den <= num * size` and so on, in 128 bits.
    """

    min_size: int
    columns: NDArray[np.int64]
    """[R] sensitive column of each requirement."""
    n_codes: NDArray[np.int64]
    """[R]"""
    prior: NDArray[np.int64]
    """[R, M] counts in the whole table."""
    total: int
    """Rows of the whole table."""
    has_ceilings: NDArray[np.bool_]
    ceiling_nums: NDArray[np.int64]
    """[R, M]"""
    ceiling_dens: NDArray[np.int64]
    has_floors: NDArray[np.bool_]
    floor_nums: NDArray[np.int64]
    floor_dens: NDArray[np.int64]
    distinct: NDArray[np.int64]
    """[R]"""
    entropy: NDArray[np.float64]
    """[R] natural logarithm; negative: none."""
    recursive_nums: NDArray[np.int64]
    """[R] 0: none."""
    recursive_dens: NDArray[np.int64]
    recursive_ells: NDArray[np.int64]
    distances: NDArray[np.int64]
    """[R] a `Distance`."""
    bound_nums: NDArray[np.int64]
    bound_dens: NDArray[np.int64]
    tree_parents: NDArray[np.int64]
    """[R, T] nodes in pre-order, -1 above the root; unused nodes -2."""
    tree_heights: NDArray[np.int64]
    """[R, T]"""
    tree_leaves: NDArray[np.int64]
    """[R, M] node of each code."""


def pack(requirements: Sequence[Requirement], priors: Sequence[NDArray[np.int64]], n_rows: int) -> GroupRule:
    """Requirements on the sensitive columns whose counts are `priors`, for the kernels."""
    about_values = [requirement for requirement in requirements if requirement.column is not None]
    n_rules = len(about_values)
    widest = max((len(priors[requirement.column or 0]) for requirement in about_values), default=1)
    deepest = max((len(rule.tree.labels) for rule in about_values if rule.tree is not None), default=1)

    def zeros(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    rule = GroupRule(
        min_size=max([1, *(requirement.min_size for requirement in requirements)]),
        columns=zeros(n_rules),
        n_codes=zeros(n_rules),
        prior=zeros(n_rules, widest),
        total=n_rows,
        has_ceilings=np.zeros(n_rules, dtype=bool),
        ceiling_nums=zeros(n_rules, widest),
        ceiling_dens=zeros(n_rules, widest) + 1,
        has_floors=np.zeros(n_rules, dtype=bool),
        floor_nums=zeros(n_rules, widest),
        floor_dens=zeros(n_rules, widest) + 1,
        distinct=zeros(n_rules),
        entropy=np.full(n_rules, -1.0),
        recursive_nums=zeros(n_rules),
        recursive_dens=zeros(n_rules) + 1,
        recursive_ells=zeros(n_rules),
        distances=zeros(n_rules),
        bound_nums=zeros(n_rules),
        bound_dens=zeros(n_rules) + 1,
        tree_parents=zeros(n_rules, deepest) - 2,
        tree_heights=zeros(n_rules, deepest),
        tree_leaves=zeros(n_rules, widest),
    )
    for index, requirement in enumerate(about_values):
        _fill(rule, index, requirement, priors[requirement.column or 0])
    return rule


def _fill(rule: GroupRule, index: int, requirement: Requirement, prior: NDArray[np.int64]) -> None:
    rule.columns[index] = requirement.column or 0
    rule.n_codes[index] = len(prior)
    rule.prior[index, : len(prior)] = prior
    if requirement.ceilings is not None:
        rule.has_ceilings[index] = True
        for code, share in enumerate(requirement.ceilings):
            rule.ceiling_nums[index, code], rule.ceiling_dens[index, code] = rounded_down(min(share, Fraction(1)))
    if requirement.floors is not None:
        rule.has_floors[index] = True
        for code, share in enumerate(requirement.floors):
            rule.floor_nums[index, code], rule.floor_dens[index, code] = rounded_up(share)
    rule.distinct[index] = requirement.distinct
    if requirement.entropy is not None:
        rule.entropy[index] = math.log(requirement.entropy)
    if requirement.recursive is not None:
        factor, ell = requirement.recursive
        rule.recursive_nums[index], rule.recursive_dens[index] = rounded_down(factor)
        rule.recursive_ells[index] = ell
    rule.distances[index] = requirement.distance
    rule.bound_nums[index], rule.bound_dens[index] = rounded_down(requirement.bound)
    if requirement.distance is Distance.HIERARCHICAL and requirement.tree is not None:
        n_nodes = len(requirement.tree.labels)
        rule.tree_parents[index, :n_nodes] = requirement.tree.parents
        rule.tree_heights[index, :n_nodes] = requirement.tree.heights
        rule.tree_leaves[index, : len(prior)] = requirement.tree.leaf_nodes
