"""Mondrian as BUREL's paper adapted it, to compare with: medians of the widest attribute, and one test for the halves.

    lmondrian   beta-likeness: both halves keep it
    dmondrian   beta-likeness by delta-disclosure with delta = ln(1 + min(beta, -ln p_max)), which implies it
    tmondrian   t-closeness: both halves keep it

`mondrian` itself tests any promise and weighs more cuts; these have the paper's choices and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.mondrian import Leaf, Mondrian
from lookalike.algorithms.shared.method import GROUPS_IN_BOXES, Grouping
from lookalike.data.contracts import Boxes, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_MEDIANS = Mondrian(cuts=1, choose="widest")


class MedianCuts(Grouping):
    """A method that serves one model, with Mondrian's cuts as the paper has them."""

    name: ClassVar[str]
    model: ClassVar[str]
    in_parts: ClassVar[Boxes] = GROUPS_IN_BOXES

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if promise.model.name == self.model else f"it serves {self.model} only"

    def adapt(self, data: Microdata, requirement: Requirement) -> Requirement:
        """What halves are tested for."""
        return requirement

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        return _MEDIANS.partition(data, self._adapt_all(data, requirements), rng, progress)

    def recut(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness
    ) -> Callable[[NDArray[np.int64]], Leaf | None]:
        """How a group of these records would be cut; None for one too small to be cut."""
        return _MEDIANS.recut(data, self._adapt_all(data, requirements), rng)

    def _adapt_all(self, data: Microdata, requirements: Sequence[Requirement]) -> list[Requirement]:
        return [self.adapt(data, requirement) for requirement in requirements]
