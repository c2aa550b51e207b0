"""k-concealment: at least k rows are possible for every person, likely or not.

It is weaker than k-anonymity: four records of which one fits all rows and the others two each keep 2-concealment and
are linked with probability 3/4. The level costs one pass over the exposure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Whole
from lookalike.data.requirement import Requirement
from lookalike.errors import counted
from lookalike.models.shared.exposures import (
    EXACT_POINTS,
    EXACT_QUASI,
    describe_reader,
    enough_records,
    smallest_size,
)
from lookalike.models.shared.model import WrittenModel


@dataclass(frozen=True)
class KConcealment(WrittenModel):
    """Every person may be behind at least k rows, likely or not.

    >>> KConcealment("3").asked
    Fraction(3, 1)
    """

    name: ClassVar[str] = "k-concealment"
    letter: ClassVar[str] = "k"
    about_identity: ClassVar[bool] = True
    by_possible: ClassVar[bool] = True
    example: ClassVar[str] = "k-concealment:5"
    whole: ClassVar[bool] = True

    k: Whole = Whole(low=1)
    """Fewest rows that a person may be behind in some complete assignment."""

    @property
    def scale(self) -> str:
        return "k"

    @property
    def rises(self) -> bool:
        return True

    def promise(self, column: str | None, form: str | None = None) -> str:
        if form == "bucketized":
            held = (
                f"any of at least {counted(self.k, 'record')} of a bucket that may hold that person's sensitive values"
            )
            return describe_reader(form, f"cannot rule out {held}{EXACT_POINTS}")
        rows = f"any of at least {counted(self.k, 'row')} that may be that person's"
        # Rows that are possible are counted over all that fit, whatever the publisher drew from.
        return describe_reader("grouped", f"cannot rule out {rows}; the rows need not be equally likely")

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        n_records = int(prior.sum())
        enough_records(self, self.k, n_records, str(replace(self, k=max(n_records, 1))))

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        return Requirement(min_size=self.k)

    def level(self, exposure: Exposure) -> Level:
        return smallest_size(exposure.sizes if exposure.concealed is None else exposure.concealed)

    def holds(self, level: Level) -> bool:
        return level.value >= self.k

    def refuses_form(self, form: str) -> str | None:
        return EXACT_QUASI if form == "perturbed" else None
