"""k-anonymity: the chance of linking a person to one row is at most 1/k.

It is read from the number of rows that a person can be narrowed down to, so releases with exact quasi-identifiers and
no groups (perturbed) have none. The level costs one pass over the exposure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level, PrivacyModel, Slider
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Whole
from lookalike.data.requirement import Requirement
from lookalike.models.shared.exposures import (
    EXACT_POINTS,
    EXACT_QUASI,
    describe_hiding,
    describe_reader,
    enough_records,
    smallest_size,
)
from lookalike.models.shared.model import WrittenModel


@dataclass(frozen=True)
class KAnonymity(WrittenModel):
    """Every person is one of at least k that the release does not tell apart.

    >>> str(KAnonymity(10))
    'k-anonymity:10'
    """

    name: ClassVar[str] = "k-anonymity"
    letter: ClassVar[str] = "k"
    about_identity: ClassVar[bool] = True
    slider: ClassVar[Slider | None] = Slider("Nobody is found among fewer than k rows", 2, 100, 1, 5)
    whole: ClassVar[bool] = True

    k: Whole = Whole(low=1)
    """Fewest rows that a person can be narrowed down to."""

    @property
    def scale(self) -> str:
        return "k"

    @property
    def rises(self) -> bool:
        return True

    def promise(self, column: str | None, form: str | None = None) -> str:
        return describe_reader(form, f"{describe_hiding(self.k, form)}{EXACT_POINTS if form == 'bucketized' else ''}")

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        n_records = int(prior.sum())
        enough_records(self, self.k, n_records, str(replace(self, k=max(n_records, 1))))

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        return Requirement(min_size=self.k)

    def level(self, exposure: Exposure) -> Level:
        level = smallest_size(exposure.sizes)
        if exposure.concealed is None:
            return level
        # A row that no complete assignment gives to a person is no lookalike of theirs.
        possible = smallest_size(exposure.concealed)
        return possible if possible.value < level.value else level

    def holds(self, level: Level) -> bool:
        return level.value >= self.k

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return (cls(1),)

    def refuses_form(self, form: str) -> str | None:
        return EXACT_QUASI if form == "perturbed" else None
