"""What a group of records must satisfy, in exact integers: the language that models and algorithms share.

A model turns itself into a `Requirement` once the counts of the sensitive column are known. Most models are ceilings
("value v may have at most this share of a group"); the rest are group tests. `pack` lays requirements out as arrays
for the kernels. Shares are `Fraction`s; where a bound is irrational (logarithms) it is rounded to the safe side on a
grid of 2^-60, so a group that passes here passes the audit, which decides such bounds with as many digits as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.data.taxonomy import Taxonomy

GRID = 1 << 60


class Distance(IntEnum):
    """How far a group's distribution is from the table's."""

    NONE = 0
    EQUAL = 1
    ORDERED = 2
    HIERARCHICAL = 3
    KL = 4
    JS = 5


@dataclass(frozen=True, eq=False)
class Windows:
    """Values that are near each other count as one: no window of them may hold more than a share of a group."""

    reach: NDArray[np.int64]
    """The last code of the window that begins with each code; codes are in the order of their values."""
    share: Fraction
    """The largest share of a group in any window."""


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
    windows: Windows | None = None
    """A limit on every stretch of near values."""
    stricter: bool = False
    """Whether a group may keep the promise and not this: it is enough for the promise, but more than it asks."""

    @property
    def only_ceilings(self) -> bool:
        """Whether size and ceilings are all that is asked."""
        return (
            self.floors is None
            and self.distinct <= 1
            and self.entropy is None
            and self.recursive is None
            and self.windows is None
            and self.distance is Distance.NONE
        )


def _pack_ratio(value: Fraction, rounded: Callable[[Fraction], int]) -> tuple[int, int]:
    """A ratio of two 62-bit integers, equal to the value or just on the side of it that `rounded` goes to."""
    if value.numerator < 1 << 62 and value.denominator < 1 << 62:
        return value.numerator, value.denominator
    return rounded(value * GRID), GRID


SETTINGS = np.dtype(
    [
        ("column", np.int64),
        ("n_codes", np.int64),
        ("has_ceilings", np.int64),
        ("has_floors", np.int64),
        ("n_floors", np.int64),
        ("n_held", np.int64),
        ("has_windows", np.int64),
        ("window_num", np.int64),
        ("window_den", np.int64),
        ("distinct", np.int64),
        ("entropy", np.float64),
        ("recursive_num", np.int64),
        ("recursive_den", np.int64),
        ("recursive_ell", np.int64),
        ("distance", np.int64),
        ("bound_num", np.int64),
        ("bound_den", np.int64),
    ]
)
"""One requirement: n_floors codes have a floor above 0 and n_held occur; entropy is a natural logarithm (negative:
none), recursive_ell 0 means none."""
VALUE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "prior",
            "running",
            "below",
            "ceiling_num",
            "ceiling_den",
            "floor_num",
            "floor_den",
            "node",
            "reach",
        )
    ]
)
"""One code under one requirement: its count in the table, the counts up to and with it, the sum of those before it,
its bounds, its leaf in the taxonomy, the last code that is near it."""
NODE = np.dtype([("parent", np.int64), ("height", np.int64), ("prior", np.int64)])
"""One taxonomy node with the count of its leaves in the table; nodes in pre-order, parent -1 above the root, -2 where a
tree has ended."""


class GroupRule(NamedTuple):
    """Requirements as arrays for kernels; R requirements, M the largest number of codes, T the largest tree.

    Comparisons read `count * den <= num * size` and so on, in 128 bits. Few arrays with named fields rather than many
    plain ones: kernels compile several times faster.
    """

    min_size: int
    total: int
    """Rows of the whole table."""
    settings: NDArray[np.void]
    """[R] SETTINGS"""
    values: NDArray[np.void]
    """[R, M] VALUE"""
    nodes: NDArray[np.void]
    """[R, T] NODE"""
    persons: int = -1
    """The column of codes that says whose record it is; -1: every record is a person. By persons, column
    `persons` + 1 + r has for requirement r a number per person and value."""
    number_known: bool = False
    """By persons: whether ceilings also hold for someone who knows how many records of the group are a person's."""


def pack(requirements: Sequence[Requirement], priors: Sequence[NDArray[np.int64]], n_rows: int) -> GroupRule:
    """Requirements on the sensitive columns whose counts are `priors`, for the kernels."""
    about_values = [requirement for requirement in requirements if requirement.column is not None]
    widest = max((len(priors[requirement.column or 0]) for requirement in about_values), default=1)
    deepest = max((len(rule.tree.labels) for rule in about_values if rule.tree is not None), default=1)
    rule = GroupRule(
        min_size=max([1, *(requirement.min_size for requirement in requirements)]),
        total=n_rows,
        settings=np.zeros(len(about_values), dtype=SETTINGS),
        values=np.zeros((len(about_values), widest), dtype=VALUE),
        nodes=np.zeros((len(about_values), deepest), dtype=NODE),
    )
    rule.nodes["parent"] = -2
    for index, requirement in enumerate(about_values):
        prior = priors[requirement.column or 0]
        rule.settings[index] = _settings(requirement, prior)
        _fill_values(rule.values[index, : len(prior)], requirement, prior)
        if requirement.distance is Distance.HIERARCHICAL and requirement.tree is not None:
            nodes = rule.nodes[index, : len(requirement.tree.labels)]
            nodes["parent"], nodes["height"] = requirement.tree.parents, requirement.tree.heights
            running = np.concatenate(([0], np.cumsum(prior)))
            nodes["prior"] = running[requirement.tree.lasts + 1] - running[requirement.tree.firsts]
    return rule


def _settings(requirement: Requirement, prior: NDArray[np.int64]) -> tuple[int | float, ...]:
    factor, ell = requirement.recursive or (Fraction(0), 0)
    return (
        requirement.column or 0,
        len(prior),
        requirement.ceilings is not None,
        requirement.floors is not None,
        sum(floor > 0 for floor in requirement.floors or ()),
        int(np.count_nonzero(prior)),
        requirement.windows is not None,
        *_pack_ratio(Fraction(0) if requirement.windows is None else requirement.windows.share, math.floor),
        requirement.distinct,
        -1.0 if requirement.entropy is None else math.log(requirement.entropy),
        *_pack_ratio(factor, math.floor),
        ell,
        requirement.distance,
        *_pack_ratio(requirement.bound, math.floor),
    )


def _fill_values(values: NDArray[np.void], requirement: Requirement, prior: NDArray[np.int64]) -> None:
    values["prior"] = prior
    values["running"] = np.cumsum(prior)
    values["below"][1:] = np.cumsum(values["running"])[:-1]
    values["ceiling_den"] = values["floor_den"] = 1
    if requirement.ceilings is not None:
        packed = [_pack_ratio(min(share, Fraction(1)), math.floor) for share in requirement.ceilings]
        values["ceiling_num"], values["ceiling_den"] = np.array(packed, dtype=np.int64).reshape(-1, 2).T
    if requirement.floors is not None:
        packed = [_pack_ratio(share, math.ceil) for share in requirement.floors]
        values["floor_num"], values["floor_den"] = np.array(packed, dtype=np.int64).reshape(-1, 2).T
    if requirement.distance is Distance.HIERARCHICAL and requirement.tree is not None:
        values["node"] = requirement.tree.leaf_nodes
    if requirement.windows is not None:
        values["reach"] = requirement.windows.reach
