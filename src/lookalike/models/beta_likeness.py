"""beta-likeness: probabilities rise above the table's shares by at most beta times the share.

Basic: certainty <= (1 + beta) * share. It says nothing about a value whose share is 1 / (1 + beta) or more.
Enhanced (the default): certainty <= share * (1 + min(beta, -ln share)), which stays below certainty for every value
that
not everybody has. Which branch a value takes never ties (the logarithm of a fraction other than 1 is irrational).
A bound on falling probabilities is optional and derived, the literature only says that it can be added:

    ratio      certainty >= share / (1 + negative)
    relative   certainty >= share * (1 - negative), where negative = 1 asks nothing

Levels cost one pass over the exposure for the extreme certainty in each value, then one comparison a value.
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
from lookalike.data.parameters import Choice, Exact, OptionalExact, number_text
from lookalike.data.persons import total_of
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import RecipeError
from lookalike.models.shared.exact import enclosure, grid_down, sign_of
from lookalike.models.shared.exposures import (
    Extremes,
    find_shares,
    highest_beliefs,
    least_size,
    lowest_beliefs,
    sensitive_column,
    unit_lacking,
)
from lookalike.models.shared.model import MANY_VALUES, WrittenModel

USUAL_BETAS = (3, 2, 1)
"""Betas to recommend, the usual one first; the smaller ones where it would leave a value more likely than not."""


@dataclass(frozen=True)
class BetaLikeness(WrittenModel):
    """No certainty gains more than beta times the table's share.

    >>> model = BetaLikeness(2, bound="basic")
    >>> model.requirement(np.array([1, 9]), None, 0).ceilings
    (Fraction(3, 10), Fraction(1, 1))
    """

    name: ClassVar[str] = "beta-likeness"
    letter: ClassVar[str] = "beta"
    scale = "beta"
    value_by_value = True
    slider: ClassVar[Slider | None] = Slider(
        "No certainty grows by more than beta times a value's share", 0.1, 10, 0.1, 3
    )

    beta: Exact = Exact(low=0)
    """Largest relative gain of a certainty over the table's share."""
    bound: Choice = Choice("enhanced", "basic", default="enhanced")
    """enhanced: never to certainty; basic: the gain alone."""
    negative: OptionalExact = OptionalExact(low=0)
    """Bound on falling probabilities; none if left out."""
    negative_form: Choice = Choice("ratio", "relative", default="ratio")
    """ratio: certainty >= share / (1 + negative); relative: certainty >= share * (1 - negative)."""

    def __post_init__(self) -> None:
        if self.negative is None and self.negative_form != "ratio":
            raise RecipeError("beta-likeness: negative_form is given without negative. Give negative, or neither.")
        if self.negative is not None and self.negative_form == "relative" and not 0 < self.negative <= 1:
            raise RecipeError(
                f"beta-likeness: negative is {number_text(self.negative)}. In the relative form it must be a number "
                "above 0 and at most 1."
            )

    @property
    def level_name(self) -> str:
        """Comparisons have the gain alone."""
        return self.letter if self.bound == "basic" else ""

    @property
    def level_title(self) -> str:
        return f"{self.level_name} reached: largest gain of certainty"

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        lowered = ""
        if self.negative is not None:
            kept = 1 / (1 + self.negative) if self.negative_form == "ratio" else 1 - self.negative
            lowered = wording.say("beta-likeness.lowered", kept=wording.percent(kept, at_least=True))
        return wording.sentence(
            wording.say(
                "beta-likeness.promise",
                values=wording.values(column),
                gain=wording.percent(self.beta),
                times=wording.number(1 + self.beta),
                share=wording.share,
                never_certain=wording.say("beta-likeness.never_certain") if self.bound == "enhanced" else "",
                lowered=lowered,
            )
        )

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        """Always: the whole table as one group changes no certainty."""
        sensitive_column(self, column)

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        shares = find_shares(prior)
        ceilings = tuple(min(Fraction(1), self._ceiling(share)) for share in shares)
        floors = None if self.negative is None else tuple(self._floor(share) for share in shares)
        return Requirement(column=index, min_size=least_size(ceilings, prior), ceilings=ceilings, floors=floors)

    def _ceiling(self, share: Fraction) -> Fraction:
        if self.bound == "basic" or share == 0 or sign_of(self.beta, [(Fraction(1), share)]) <= 0:
            return (1 + self.beta) * share
        low, _ = enclosure(share, [(-share, share)])
        # The share itself is always within the bound, so rounding never has to go below it.
        return max(share, grid_down(low))

    def _floor(self, share: Fraction) -> Fraction:
        assert self.negative is not None
        return share / (1 + self.negative) if self.negative_form == "ratio" else share * (1 - self.negative)

    def level(self, exposure: Exposure) -> Level:
        """The smallest beta that is kept; infinite if none is, or if the negative bound is broken."""
        sensitive_column(self, exposure.column)
        highest = highest_beliefs(exposure)
        detail = ""
        if self.negative is not None:
            fallen = self._measure_fall(exposure, lowest_beliefs(exposure))
            detail = fallen.detail
            if fallen.value > self.negative:
                return Level(math.inf, fallen.unit, detail)
        worst, unit, plain = Fraction(0), None, Fraction(0)
        for code, number in enumerate(exposure.prior.tolist()):
            belief = highest.beliefs[code]
            if belief == 0:
                continue
            if number == 0:
                return Level(math.inf, highest.units[code], "a value that the table does not have")
            gain = belief * exposure.n_records / number - 1
            plain = max(plain, gain)
            if self.bound == "enhanced" and gain > 0:
                # certainty <= share * (1 - ln share), that is gain + ln share <= 0
                log_share = (Fraction(1), Fraction(number, exposure.n_records))
                if sign_of(gain, [log_share]) > 0:
                    return Level(math.inf, highest.units[code], "beyond the enhanced bound for every beta")
            if gain > worst or unit is None:
                worst, unit = max(gain, Fraction(0)), highest.units[code]
        return Level(worst, unit, detail)

    def _measure_fall(self, exposure: Exposure, lowest: Extremes) -> Level:
        """The negative bound that is reached, in its own form."""
        worst, unit = Fraction(0), None
        for code, number in enumerate(exposure.prior.tolist() if exposure.n_units else []):
            if number == 0:
                continue
            kept = lowest.beliefs[code] * exposure.n_records / number
            if kept == 0 and self.negative_form == "ratio":
                return Level(math.inf, unit_lacking(exposure, code), "negative bound reached: none, a value is absent")
            fall = 1 / kept - 1 if self.negative_form == "ratio" else 1 - kept
            if fall > worst:
                worst, unit = fall, lowest.units[code] if kept else unit_lacking(exposure, code)
        return Level(worst, unit, f"negative bound reached: {float(worst):.4g}")

    @classmethod
    def proposals(cls, prior: NDArray[np.int64], column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        is_short = np.count_nonzero(prior) <= MANY_VALUES
        return [(sensible_beta(prior, column), "a sensible beta")] if is_short else ()

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return (cls(1, bound="basic"), cls(1, bound="enhanced"))

    def holds(self, level: Level) -> bool:
        return level.value <= self.beta


def sensible_beta(prior: NDArray[np.int64], column: Domain) -> BetaLikeness:
    """The first beta under which no value becomes more likely than not that was not so before; else the smallest."""
    named = [BetaLikeness(beta) for beta in USUAL_BETAS]
    return next((model for model in named if keeps_minor(model, prior, column)), named[-1])


def keeps_minor(model: PrivacyModel, prior: NDArray[np.int64], column: Domain) -> bool:
    """Whether no value that at most half of the records have can come to be believed by more than one half."""
    n_records = total_of(prior)
    ceilings = model.requirement(prior, column, 0).ceilings or ()
    bounds = zip(ceilings, prior.tolist(), strict=True)
    return all(2 * ceiling <= 1 for ceiling, number in bounds if 0 < 2 * number <= n_records)
