"""k-anonymity: the chance of linking a person to one row is at most 1/k.

It is read from the number of rows that a person can be narrowed down to, so releases with exact quasi-identifiers and
no groups (perturbed) have none. The level costs one pass over the exposure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lookalike.data.contracts import Level, PrivacyModel, Slider
from lookalike.data.exposure import Exposure
from lookalike.data.parameters import Whole
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.models.shared.exposures import (
    smallest_size,
)
from lookalike.models.shared.model import SizeModel


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Every person is one of at least k that the release does not tell apart.

    >>> str(KAnonymity(10))
    'k-anonymity:10'
    """

    name: ClassVar[str] = "k-anonymity"
    letter: ClassVar[str] = "k"
    slider: ClassVar[Slider | None] = Slider("Nobody is found among fewer than k rows", 2, 100, 1, 5)

    k: Whole = Whole(low=1)
    """Fewest rows that a person can be narrowed down to."""

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        return wording.sentence(wording.with_exact_points(wording.hiding(self.k)))

    def level(self, exposure: Exposure) -> Level:
        level = smallest_size(exposure.sizes)
        if exposure.concealed is None:
            return level
        # A row that no complete assignment gives to a person is no lookalike of theirs.
        possible = smallest_size(exposure.concealed)
        return possible if possible.value < level.value else level

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return (cls(1),)
