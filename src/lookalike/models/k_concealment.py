"""k-concealment: at least k rows are possible for every person, likely or not.

It is weaker than k-anonymity: four records of which one fits all rows and the others two each keep 2-concealment and
are linked with probability 3/4. The level costs one pass over the exposure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lookalike.data.contracts import Level
from lookalike.data.exposure import Exposure
from lookalike.data.parameters import Whole
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.models.shared.exposures import (
    smallest_size,
)
from lookalike.models.shared.model import SizeModel


@dataclass(frozen=True)
class KConcealment(SizeModel):
    """Every person may be behind at least k rows, likely or not.

    >>> KConcealment("3").asked
    Fraction(3, 1)
    """

    name: ClassVar[str] = "k-concealment"
    letter: ClassVar[str] = "k"
    by_possible: ClassVar[bool] = True
    example: ClassVar[str] = "k-concealment:5"

    k: Whole = Whole(low=1)
    """Fewest rows that a person may be behind in some complete assignment."""

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        if wording.unit is not None:
            return wording.sentence(wording.with_exact_points(wording.say("possible.units", self.k)))
        if wording.form == "bucketized":
            return wording.sentence(wording.with_exact_points(wording.say("possible.bucketized", self.k)))
        # Rows that are possible are counted over all that fit, whatever the publisher drew from.
        return replace(wording, form="grouped").sentence(wording.say("possible.any", self.k))

    def level(self, exposure: Exposure) -> Level:
        return smallest_size(exposure.sizes if exposure.concealed is None else exposure.concealed)
