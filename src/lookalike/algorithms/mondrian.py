"""Mondrian: cut the table in two along its widest quasi-identifier, again and again, while both parts keep the promise.

LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006), for every promise that can be
tested on a group. Relaxed (default): numbers are cut at a position, records equal to the cut value being divided at
random; strict: records of one value stay together. Categories are cut between values, taxonomies between the children
of the node. Missing values are split off first.

The paper cuts the widest attribute at its median. `choose=widest` does that, and tries narrower attributes and then
other positions before it gives up. `choose=gain`, the default, weighs all attributes and positions and takes the cut
that leaves the least loss: usually a better release, for more work (docs/algorithms/mondrian.md).
Cost O(d n log n) visits for the former, O(d^2 n log n) for the latter; memory O(n).

All models served are monotone (the union of two good groups is good) or are tested on each part; a part that cannot be
cut is published as it is, so every group satisfies every requirement by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import GROUPS_IN_BOXES, Grouping
from lookalike.data.contracts import EVERY_MODEL, Boxes, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, Whole
from lookalike.data.requirement import GroupRule, Requirement
from lookalike.progress import Progress
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.kernels.axes import Axes
    from lookalike.kernels.partition import Cutting

_VISITS_BETWEEN_REPORTS = 4_000_000


@dataclass(frozen=True)
class Mondrian(Grouping):
    """Multidimensional cuts, relaxed.

    >>> str(Mondrian(cuts=1))
    'mondrian:cuts=1'
    """

    name: ClassVar[str] = "mondrian"
    suits: ClassVar[Collection[str]] = (EVERY_MODEL,)
    kernels: ClassVar[Collection[str]] = ("partition.refine",)
    in_parts: ClassVar[Boxes] = GROUPS_IN_BOXES
    strict: ClassVar[bool] = False

    cuts: Whole = Whole(low=1, high=99, default=9)
    """How many positions of an attribute are tried: the median, then towards the ends."""
    choose: Choice = Choice("gain", "widest", default="gain")
    """gain: the cut that leaves the least loss; widest: the widest attribute's median first, as in the paper."""

    def partition(
        self,
        data: Microdata,
        requirements: Sequence[Requirement],
        rng: Randomness,
        progress: Progress,
        rule: GroupRule | None = None,
    ) -> tuple[NDArray[np.int32], int]:
        """The group of each record, and the number of groups. A part of a table brings the whole table's `rule`."""
        from lookalike.algorithms.shared.axes import axes_of, codes_for, roomy_rule_of
        from lookalike.kernels.grouptest import tally_for
        from lookalike.kernels.partition import Stack, refine

        n_rows = data.n_rows
        rule = roomy_rule_of(data, requirements) if rule is None else rule
        stack = Stack(
            members=rng.child("ties").permutation(n_rows),
            starts=np.zeros(n_rows + 1, dtype=np.int64),
            stops=np.full(n_rows + 1, n_rows, dtype=np.int64),
            group_starts=np.zeros(n_rows, dtype=np.int64),
            group_stops=np.zeros(n_rows, dtype=np.int64),
            depth=np.array([1, 0], dtype=np.int64),
        )
        codes = codes_for(data, rule)
        cutting, axes, tally = self._cutting(data), axes_of(data), tally_for(rule, codes)
        while stack.depth[0]:
            refine(axes, cutting, rule, codes, stack, tally, _VISITS_BETWEEN_REPORTS)
            n_groups = int(stack.depth[1])
            sizes = stack.group_stops[:n_groups] - stack.group_starts[:n_groups]
            progress("cutting", int(sizes.sum()) / n_rows, f"{n_groups:,} groups")
        group_of_record = np.empty(n_rows, dtype=np.int32)
        # Segments are finished left to right or right to left, but always side by side: put them in order.
        by_place = np.argsort(stack.group_starts[:n_groups])
        group_of_record[stack.members] = np.repeat(np.arange(n_groups, dtype=np.int32), sizes[by_place])
        return group_of_record, n_groups

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        return None

    def recut(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness
    ) -> Callable[[NDArray[np.int64]], Leaf | None]:
        """How a group of these records would be cut; None for one too small to be cut."""
        from lookalike.algorithms.shared.axes import axes_at, axes_of, roomy_rule_of

        rule, axes = roomy_rule_of(data, requirements), axes_of(data)
        cutting = self._cutting(data)
        ties = np.random.default_rng(rng.words(4))

        def leaf(records: NDArray[np.int64]) -> Leaf | None:
            if len(records) < 2 * rule.min_size:
                return None
            return Leaf(axes_at(axes, records), cutting, rule, ties)

        return leaf

    def _cutting(self, data: Microdata) -> Cutting:
        from lookalike.algorithms.shared.axes import cutting_of

        shares = np.arange(1, self.cuts + 1) / (self.cuts + 1)
        # Rows of a person with equal quasi-identifiers must not end up in two groups with identical cells: a reader
        # takes these for one group, in which more persons may have a value than in either.
        strict = self.strict or data.persons is not None
        return cutting_of(data, strict=strict, by_gain=self.choose == "gain", shares=shares)


@dataclass(frozen=True, eq=False)
class Leaf:
    """A group that was not cut. Fits `contracts.Dealt`."""

    axes: Axes
    cutting: Cutting
    rule: GroupRule
    ties: np.random.Generator

    def part_of_place(self, size: int) -> NDArray[np.int64]:
        return np.arange(size)

    def weights(self, rows: NDArray[np.int32], dealings: NDArray[np.int64]) -> NDArray[np.float64]:
        from lookalike.kernels.grouptest import tally_for
        from lookalike.kernels.growing import deal
        from lookalike.kernels.partition import uncut_weights

        weights, ties = np.empty(len(dealings)), np.empty_like(dealings)
        deal(self.ties.integers(1 << 63), ties)
        uncut_weights(self.axes, self.cutting, self.rule, rows, dealings, ties, weights, tally_for(self.rule))
        return weights


_MEDIANS = Mondrian(cuts=1, choose="widest")


class MedianCuts(Grouping):
    """Mondrian as BUREL's paper adapted it, to compare with: medians of the widest attribute, for one model.

    `Mondrian` itself tests any promise and weighs more cuts; its subclasses here (lmondrian, dmondrian, tmondrian) have
    the paper's choices and nothing else.
    """

    name: ClassVar[str]
    kernels: ClassVar[Collection[str]] = ("partition.refine",)
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
