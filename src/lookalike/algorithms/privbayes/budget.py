"""What PrivBayes may spend on each part of its work, and what that is worth.

epsilon = structure + tables. The structure is found in d - 1 choices of equal budget, and the tables share the rest
evenly. Budgets add up (sequential composition): every part looks at all records. A table is useful if its average count
is at least `theta` times the average noise, 2 * tables / epsilon, that a cell gets. So it may have
n * epsilon / (2 * tables * theta) cells. The budget looks at no record: sizes of domains and the number of records are
all it knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any

from lookalike.algorithms.shared.mechanisms import noise_scale

_COUNTS_SENSITIVITY = 2
"""Replacing one record takes one from a cell and gives one to another: counts of a table change by 2 in sum."""
_MOST_CELLS = 1 << 18
"""No table is larger, however generous the budget: it must fit the machine."""
_MOST_CANDIDATES = 20_000
"""More pairs of a column and parents are not scored; the degree is lowered instead."""


@dataclass(frozen=True)
class Shape:
    """What may be built with a budget: parents for each column up to `degree`, tables up to `most_cells`."""

    degree: int
    most_cells: int


@dataclass(frozen=True)
class Budget:
    """What each part of the work spends."""

    epsilon: Fraction
    """The whole, for one record."""
    structure: Fraction
    """For the structure; 0 where there is nothing to choose."""
    n_choices: int
    tables: Fraction
    """For the tables of counts."""
    n_tables: int

    @property
    def per_choice(self) -> Fraction:
        return self.structure / self.n_choices if self.n_choices else Fraction(0)

    @property
    def per_table(self) -> Fraction:
        return self.tables / self.n_tables if self.n_tables else Fraction(0)

    @property
    def noise(self) -> Fraction:
        """The scale of the noise on each count."""
        return noise_scale(self.per_table, _COUNTS_SENSITIVITY) if self.n_tables else Fraction(0)

    def to_plain(self) -> dict[str, Any]:
        return {
            "epsilon_per_record": float(self.epsilon),
            "structure": float(self.structure),
            "choices": self.n_choices,
            "tables": float(self.tables),
            "noise_scale": float(self.noise),
        }


def useful_cells(n_rows: int, epsilon: Fraction, n_tables: int, theta: Fraction) -> int:
    """How many cells a table may have to be useful."""
    return min(int(n_rows * epsilon / (_COUNTS_SENSITIVITY * n_tables * theta)), _MOST_CELLS)


def shape_for(sizes: Sequence[int], n_rows: int, epsilon: Fraction, theta: Fraction, most_parents: int) -> Shape:
    """The degree and the size of tables that `epsilon`, the budget of the tables, is worth.

    The published rule is for two values per column: the largest k for which all d - k tables of 2^(k+1) cells are
    useful.
    Here it holds with the k + 1 largest domains in place of 2^(k+1). Where one wide column would forbid what narrow
    ones can have, each column gets the parents that it has room for, up to the k of the narrowest; then no table need
    be part of another, and the budget is planned for d of them.
    """
    d = len(sizes)
    narrow, wide = sorted(sizes), sorted(sizes, reverse=True)
    degrees = range(min(d - 1, most_parents) + 1)
    allowed = list(takewhile(lambda k: k <= 1 or d * math.comb(d - 1, k) <= _MOST_CANDIDATES, degrees))
    even = max(
        (k for k in allowed if math.prod(wide[: k + 1]) <= useful_cells(n_rows, epsilon, d - k, theta)), default=0
    )
    room = useful_cells(n_rows, epsilon, d, theta)
    mixed = max((k for k in allowed if math.prod(narrow[: k + 1]) <= room), default=0)
    if mixed > even:
        return Shape(mixed, room)
    return Shape(even, useful_cells(n_rows, epsilon, d - even, theta))
