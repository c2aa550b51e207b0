"""delta-disclosure: no certainty changes by a factor of e^delta or more, up or down.

For every value of the table and every unit |ln(certainty / share)| < delta, strictly. So every value must occur in
every
unit, and the model never ties: for a rational delta above 0, e^delta is irrational. It does not keep a certainty from
certainty where a share is at least e^-delta. Requirements round the two bounds to the safe side of the 2^-60 grid; the
level looks at the extreme probabilities of each value and decides by digits only where a float is within 1e-9 of delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level, PrivacyModel, Slider
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Exact
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.models.beta_likeness import sensible_beta
from lookalike.models.shared.exact import exp_of_negative, grid_down, grid_up, just_above, just_below, sign_of
from lookalike.models.shared.exposures import (
    find_shares,
    highest_beliefs,
    lowest_beliefs,
    sensitive_column,
    unit_lacking,
)
from lookalike.models.shared.model import MANY_VALUES, WrittenModel

_GUARD = 1e-9


@dataclass(frozen=True)
class DeltaDisclosure(WrittenModel):
    """Beliefs stay strictly within a factor of e^delta of the table's shares.

    >>> prior = np.array([20, 30, 50])
    >>> ceilings = DeltaDisclosure("1.0").requirement(prior, None, 0).ceilings
    >>> [round(float(share), 4) for share in ceilings]
    [0.5437, 0.8155, 1.0]
    """

    name: ClassVar[str] = "delta-disclosure"
    letter: ClassVar[str] = "delta"
    scale = "delta"
    value_by_value = True
    slider: ClassVar[Slider | None] = Slider(
        "Beliefs change by a factor of e to the delta at most, up or down", 0.1, 5, 0.1, 1.4
    )

    delta: Exact = Exact(above=0)
    """Bound on the natural logarithm of certainty over share, either way; not reached."""

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        return wording.sentence(
            wording.say(
                "delta-disclosure.promise",
                column=wording.name(column),
                delta=wording.number(self.delta),
                factor=wording.rounded(math.exp(min(float(self.delta), 700.0))),
                share=wording.share,
            )
        )

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        """Always: the whole table as one group changes no certainty."""
        sensitive_column(self, column)

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        _, high = exp_of_negative(self.delta)
        ceilings, floors = [], []
        for share in find_shares(prior):
            # The share itself satisfies both bounds, so rounding never has to go beyond it.
            ceilings.append(Fraction(1) if high <= share else max(share, grid_down(share / high)))
            floors.append(min(share, grid_up(share * high)))
        n_values = int(np.count_nonzero(prior))
        return Requirement(column=index, min_size=max(n_values, 1), ceilings=tuple(ceilings), floors=tuple(floors))

    def level(self, exposure: Exposure) -> Level:
        sensitive_column(self, exposure.column)
        highest, lowest = highest_beliefs(exposure), lowest_beliefs(exposure)
        worst, unit = 0.0, None
        near: list[tuple[int, Fraction]] = []
        n_records = exposure.n_records
        for code, number in enumerate(exposure.prior.tolist() if exposure.n_units else []):
            if number == 0:
                if highest.beliefs[code] > 0:
                    return Level(math.inf, highest.units[code], "a value that the table does not have")
                continue
            if lowest.beliefs[code] == 0:
                return Level(math.inf, unit_lacking(exposure, code), "a value of the table is absent")
            for beliefs, units in ((highest.beliefs, highest.units), (lowest.beliefs, lowest.units)):
                factor = beliefs[code] * n_records / number
                change = abs(_log(factor))
                if abs(change - float(self.delta)) <= _GUARD * (1 + change):
                    near.append((units[code], factor))
                if change > worst:
                    worst, unit = change, units[code]
        return self._decide_level(worst, unit, near)

    def _decide_level(self, worst: float, unit: int | None, near: list[tuple[int, Fraction]]) -> Level:
        if worst > float(self.delta) + _GUARD * (1 + worst) or not near:
            return Level(worst, unit)
        for place, factor in near:
            direction = Fraction(1 if factor > 1 else -1)
            if sign_of(-self.delta, [(direction, factor)]) >= 0:
                return Level(max(worst, just_above(self.delta)), place)
        return Level(min(worst, just_below(self.delta)), unit)

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return (cls(1),)

    @classmethod
    def proposals(cls, prior: NDArray[np.int64], column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        if np.count_nonzero(prior) > MANY_VALUES:
            return ()
        # A certainty that grows to 1 + beta times its share has grown by a factor of e^delta.
        delta = Fraction(math.floor(100 * math.log(1 + sensible_beta(prior, column).beta)), 100)
        return [(cls(delta), "the same factor, up and down")]

    def holds(self, level: Level) -> bool:
        return level.value < self.delta


def _log(factor: Fraction) -> float:
    return math.log(factor.numerator) - math.log(factor.denominator)
