"""k-concealment: at least k rows are possible for every person, likely or not.

It is weaker than k-anonymity: four records of which one fits all rows and the others two each keep 2-concealment and
are linked with probability 3/4. The level costs one pass over the exposure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.data.contracts import Level
from lookalike.data.exposure import Exposure
from lookalike.data.parameters import Whole
from lookalike.data.person_settings import Unit
from lookalike.errors import counted
from lookalike.models.shared.exposures import (
    EXACT_POINTS,
    describe_reader,
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

    def promise(self, column: str | None, form: str | None = None, unit: Unit | None = None) -> str:
        if unit is not None:
            owners = f"any of at least {counted(self.k, f'different {unit.noun}')}"
            return describe_reader(form, f"cannot rule out {owners}{EXACT_POINTS * (form == 'bucketized')}", unit)
        if form == "bucketized":
            held = (
                f"any of at least {counted(self.k, 'record')} of a bucket that may hold that person's sensitive values"
            )
            return describe_reader(form, f"cannot rule out {held}{EXACT_POINTS}")
        rows = f"any of at least {counted(self.k, 'row')} that may be that person's"
        # Rows that are possible are counted over all that fit, whatever the publisher drew from.
        return describe_reader("grouped", f"cannot rule out {rows}; the rows need not be equally likely")

    def level(self, exposure: Exposure) -> Level:
        return smallest_size(exposure.sizes if exposure.concealed is None else exposure.concealed)
