"""Mondrian as BUREL's paper adapted it, to compare with: medians of the widest attribute, and one test for the halves.

    lmondrian   beta-likeness: both halves keep it
    dmondrian   beta-likeness by delta-disclosure with delta = ln(1 + min(beta, -ln p_max)), which implies it
    tmondrian   t-closeness: both halves keep it

`mondrian` itself tests any promise and weighs more cuts; these have the paper's choices and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.mondrian import Leaf, Mondrian
from lookalike.algorithms.shared.method import Grouping
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import GRID, Requirement
from lookalike.progress import Progress
from lookalike.randomness import Randomness

# Smaller than what a count in a table of any size can tell apart.
_HAIR = Fraction(1, GRID)
_MEDIANS = Mondrian(cuts=1, choose="widest")


class _Adapted(Grouping):
    model: ClassVar[str]
    name: ClassVar[str]

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if promise.model.name == self.model else f"it serves {self.model} only"

    def tested(self, data: Microdata, requirement: Requirement) -> Requirement:
        """What halves are tested for."""
        return requirement

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        return _MEDIANS.partition(data, self._tested(data, requirements), rng, progress)

    def recut(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness
    ) -> Callable[[NDArray[np.int64]], Leaf | None]:
        """How a group of these records would be cut; None for one too small to be cut."""
        return _MEDIANS.recut(data, self._tested(data, requirements), rng)

    def _tested(self, data: Microdata, requirements: Sequence[Requirement]) -> list[Requirement]:
        return [self.tested(data, requirement) for requirement in requirements]


@dataclass(frozen=True)
class LMondrian(_Adapted):
    """Mondrian's median cuts while both halves keep beta-likeness; to compare with."""

    name: ClassVar[str] = "lmondrian"
    model: ClassVar[str] = "beta-likeness"


@dataclass(frozen=True)
class TMondrian(_Adapted):
    """Mondrian's median cuts while both halves keep t-closeness; to compare with."""

    name: ClassVar[str] = "tmondrian"
    model: ClassVar[str] = "t-closeness"


@dataclass(frozen=True)
class DMondrian(_Adapted):
    """Mondrian's median cuts while halves keep a delta-disclosure that implies beta-likeness; to compare with."""

    name: ClassVar[str] = "dmondrian"
    model: ClassVar[str] = "beta-likeness"

    def tested(self, data: Microdata, requirement: Requirement) -> Requirement:
        """Every value strictly between p / e^delta and p e^delta; e^delta is the least ceiling over share."""
        assert requirement.column is not None
        assert requirement.ceilings is not None
        counts = data.prior(requirement.column)
        shares = [Fraction(int(count), int(counts.sum())) for count in counts]
        factor = min(ceiling / share for ceiling, share in zip(requirement.ceilings, shares, strict=True) if share > 0)
        asked = requirement.floors or (Fraction(0),) * len(shares)
        return replace(
            requirement,
            ceilings=tuple(min(share * factor - _HAIR, Fraction(1)) if share else Fraction(0) for share in shares),
            floors=tuple(
                max(share / factor + _HAIR, floor) if share else Fraction(0)
                for share, floor in zip(shares, asked, strict=True)
            ),
        )
