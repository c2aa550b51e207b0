"""(alpha, k)-anonymity: groups of at least k, and a ceiling on the certainty in sensitive values.

The level costs one pass over the exposure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Exact, Values, Whole
from lookalike.data.persons import total_of
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import Infeasible, quoted
from lookalike.models.shared.exact import percent_at_most, three_decimals_up
from lookalike.models.shared.exposures import (
    EXACT_QUASI,
    enough_records,
    find_designated,
    highest_beliefs,
    sensitive_column,
    smallest_size,
)
from lookalike.models.shared.model import WrittenModel


@dataclass(frozen=True)
class AlphaK(WrittenModel):
    """Groups of at least k in which no (designated) sensitive value has more than a share alpha.

    >>> model = AlphaK(alpha="0.5", k=5)
    >>> str(model), model.holds(Level(Fraction(1, 2)))
    ('alpha-k:alpha=0.5,k=5', True)
    """

    name: ClassVar[str] = "alpha-k"
    letter: ClassVar[str] = "alpha"
    example: ClassVar[str] = "alpha-k:0.5,k=5"

    alpha: Exact = Exact(above=0, high=1)
    """highest certainty in a value."""
    k: Whole = Whole(low=1)
    """Fewest rows that a person can be narrowed down to."""
    subset: Values = Values()
    """The values that alpha bounds, separated by bars; all if left out."""

    scale = "alpha"
    by_share = False

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        sure = wording.say(
            "alpha-k.sure", share=wording.percent(self.alpha), values=wording.values(column, self.subset)
        )
        key = "alpha-k.promise_exact_points" if wording.form == "bucketized" else "alpha-k.promise"
        known = wording.describe_known(unnamed="names.the_unnamed")
        return wording.sentence(wording.say(key, hidden=wording.hiding(self.k), sure=sure, known=known))

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        column = sensitive_column(self, column)
        n_records = total_of(prior)
        codes = find_designated(self, self.subset, column)
        top = Fraction(max((int(prior[code]) for code in codes), default=0), max(n_records, 1))
        near = replace(self, alpha=max(self.alpha, three_decimals_up(top)), k=min(self.k, max(n_records, 1)))
        enough_records(str(self), self.k, prior, str(near))
        if top > self.alpha:
            raise Infeasible(
                f"{self} allows a share of {percent_at_most(self.alpha)} in any group, and the most frequent value of "
                f"{quoted(column.name)} that it bounds has {percent_at_most(top)} of the whole table.",
                str(near),
            )

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        column = sensitive_column(self, column)
        bounded = set(find_designated(self, self.subset, column))
        ceilings = tuple(self.alpha if code in bounded else Fraction(1) for code in range(len(prior)))
        return Requirement(column=index, min_size=self.k, ceilings=ceilings)

    def level(self, exposure: Exposure) -> Level:
        """The highest certainty; infinite if some group is smaller than k, so that it cannot hold."""
        column = sensitive_column(self, exposure.column)
        smallest = smallest_size(exposure.sizes[: exposure.n_classes])
        detail = f"smallest group {smallest.value}"
        if smallest.value < self.k:
            return Level(math.inf, smallest.unit, detail)
        tops = highest_beliefs(exposure)
        codes = find_designated(self, self.subset, column)
        decisive = max(codes, key=lambda code: tops.beliefs[code])
        unit = tops.units[decisive]
        return Level(tops.beliefs[decisive], unit if unit >= 0 else None, detail)

    def holds(self, level: Level) -> bool:
        return level.value <= self.alpha

    def refuses_form(self, form: str) -> str | None:
        return EXACT_QUASI if form == "perturbed" else None
