"""Upward (rho1, rho2)-privacy: a property that is at most rho1 likely in the table is at most rho2 likely to a reader.

A property is any set of values, so the level of a unit is a knapsack: the most certainty that fits into sets whose
share
of the table is at most rho1. It is found exactly: a relaxation that may take parts of a value bounds every unit (one
sort of the entries), and only units whose bound exceeds the best so far are solved, over lists of undominated sets.
Persons with several values would have a share in several properties at once, so shares of properties would not be sums
of shares of values: by persons the level is read from distributions mixed by person.
Groups are asked for something simpler and stronger: each value that is at most rho1 likely stays within rho2 / rho1
times its share; such probabilities add up to at most rho2 for every property.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Exact, number_text
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import RecipeError
from lookalike.models.shared.exposures import (
    find_shares,
    in_blocks,
    least_size,
    sensitive_column,
)
from lookalike.models.shared.model import WrittenModel

_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class RhoPrivacy(WrittenModel):
    """What is unlikely in the table does not become likely to a reader.

    >>> model = RhoPrivacy(rho1="0.1", rho2="0.5")
    >>> model.requirement(np.array([1, 19]), None, 0).ceilings
    (Fraction(1, 4), Fraction(1, 1))
    """

    name: ClassVar[str] = "rho-privacy"
    letter: ClassVar[str] = "rho2"
    example: ClassVar[str] = "rho-privacy:0.1,rho2=0.5"

    rho1: Exact = Exact(above=0, below=1)
    """Share in the table up to which a property counts as unlikely."""
    rho2: Exact = Exact(above=0, high=1)
    """highest certainty in such a property."""

    def __post_init__(self) -> None:
        if self.rho2 <= self.rho1:
            raise RecipeError(
                f"rho-privacy: rho2 is {number_text(self.rho2)}. It must be above rho1, {number_text(self.rho1)}."
            )

    by_distribution = True

    @property
    def asked(self) -> Fraction:
        return self.rho2

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        return wording.sentence(
            wording.say(
                "rho-privacy.promise",
                rho1=wording.percent(self.rho1),
                rho2=wording.percent(self.rho2),
                column=wording.name(column),
                whole=wording.say("share.all_rows" if wording.unit is None else "share.all_units"),
            )
        )

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        """Always: the whole table as one group changes no certainty, and rho2 is above rho1."""
        sensitive_column(self, column)

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        growth = self.rho2 / self.rho1
        ceilings = tuple(Fraction(1) if share > self.rho1 else growth * share for share in find_shares(prior))
        return Requirement(column=index, min_size=least_size(ceilings, prior), ceilings=ceilings, stricter=True)

    def level(self, exposure: Exposure) -> Level:
        sensitive_column(self, exposure.column)
        capacity = self.rho1.numerator * exposure.n_records // self.rho1.denominator
        bounds = in_blocks(exposure, lambda block: _relax_beliefs(block, capacity))
        best, unit = Fraction(0), None
        solved: dict[tuple[bytes, bytes], Fraction] = {}
        for place in np.argsort(-bounds).tolist():
            if bounds[place] <= best:
                break
            size = int(exposure.sizes[place])
            # Weights are whole, so a bound between two of them means the lower one.
            if math.floor(float(bounds[place]) * size) * best.denominator <= best.numerator * size:
                continue
            values, weights, _ = exposure.unit(place)
            key = (values.tobytes(), weights.tobytes())
            if key not in solved:
                pairs = zip(exposure.prior[values].tolist(), weights.tolist(), strict=True)
                solved[key] = Fraction(find_most_within(capacity, pairs), size)
            if solved[key] > best:
                best, unit = solved[key], place
        return Level(best, unit, f"highest certainty in a property of at most {number_text(self.rho1)} of the table")

    def holds(self, level: Level) -> bool:
        return level.value <= self.rho2


def find_most_within(capacity: int, items: Iterable[tuple[int, int]]) -> int:
    """The largest sum of gains of items (cost, gain) whose costs add up to at most the capacity.

    >>> find_most_within(5, [(3, 4), (2, 3), (4, 5)])
    7
    """
    # Undominated (cost, gain) of all sets so far, both rising: never longer than the capacity or the gains allow.
    frontier = [(0, 0)]
    for cost, gain in items:
        if cost > capacity:
            continue
        grown = [(spent + cost, gained + gain) for spent, gained in frontier if spent + cost <= capacity]
        merged: list[tuple[int, int]] = []
        for spent, gained in sorted(frontier + grown, key=lambda state: (state[0], -state[1])):
            if not merged or gained > merged[-1][1]:
                merged.append((spent, gained))
        frontier = merged
    return frontier[-1][1]


def _relax_beliefs(exposure: Exposure, capacity: int) -> NDArray[np.float64]:
    """For each unit a bound on the certainty in any property that fits, when a part of a value may be taken."""
    all_costs = exposure.prior[exposure.values]
    usable = np.flatnonzero(all_costs <= capacity)
    units, costs = exposure.unit_of_entry[usable], all_costs[usable]
    gains = exposure.weights[usable] / exposure.sizes[units]
    free = costs == 0
    worth = np.where(free, np.inf, gains / np.maximum(costs, 1))
    order = np.lexsort((-worth, units))
    units, costs, gains, free = units[order], costs[order], gains[order], free[order]
    starts = np.searchsorted(units, np.arange(exposure.n_units))
    spent = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(costs)))
    before = spent[:-1] - spent[starts][units]
    taken = np.where(free, 1.0, np.clip((capacity - before) / np.maximum(costs, 1), 0.0, 1.0))
    sums = np.bincount(units, weights=gains * taken, minlength=exposure.n_units)
    return np.asarray(sums * _ROUNDING, dtype=np.float64)
