"""BUREL: groups drawn from buckets of similar frequency, for beta-likeness and other ceilings on values.

Cao, Karras, "Publishing microdata with a robust privacy guarantee" (PVLDB 2012). Three steps: values with similar
ceilings share a bucket, as few buckets as possible (dynamic program); how many records a group takes of each bucket is
settled by halving the table again and again while the halves keep every bucket within its least ceiling; then groups
are taken out of the buckets by quasi-identifiers: along a Hilbert curve in the paper, here by cuts, which lose less.
A fourth step is not in the paper but in the authors' program (`split`): a finished group is halved further, as long as
both halves keep every ceiling with the values that they actually have.

A bucket's draw is held to the *least* ceiling of its values, because all records drawn may have that value. So any
records of the buckets will do, and retrieval looks at no sensitive value; the split does. With or without it BUREL is
not safe against an attacker who knows the method: a record that was passed over, though nearer, is in another bucket
(docs/algorithms/burel.md).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import GROUPS_IN_BOXES, Grouping, least_ceilings
from lookalike.algorithms.shared.value_buckets import Counts, Drawing, MayStand, most_groups, retrieve_groups
from lookalike.data.contracts import Boxes, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, ChoiceOrNumber, Whole
from lookalike.data.requirement import Requirement
from lookalike.errors import RecipeError
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_CLOSE = 1e-9
_FILLS = [Fraction(twentieths, 20) for twentieths in (20, 19, 18, 17, 16, 14, 12, 10, 8)]


@dataclass(frozen=True)
class Burel(Grouping):
    """Groups drawn from buckets of values: the fast way to beta-likeness.

    >>> str(Burel(retrieve="window"))
    'burel:retrieve=window'
    """

    name: ClassVar[str] = "burel"
    suits: ClassVar[Collection[str]] = ("beta-likeness",)
    kernels: ClassVar[Collection[str]] = ("halving.cut_in_two", "grouptest.is_group_allowed", "partition.width")
    in_parts: ClassVar[Boxes] = GROUPS_IN_BOXES

    retrieve: Choice = Choice("cuts", "curve", "window", "random", "neighbours", default="cuts")
    """cuts: halves by quasi-identifiers; curve: nearest on a Hilbert curve; window: best of several times as many;
    random: any of these; neighbours: best of all."""
    window: Whole = Whole(low=2, high=64, default=4)
    """With retrieve=window or random: how many times as many records are looked at as are taken."""
    seeds: Whole = Whole(low=1, high=64, default=1)
    """How many records are tried as the middle of a group."""
    fill: ChoiceOrNumber = ChoiceOrNumber("auto", default="auto")
    """A bucket stays below this share of its least ceiling, up to 1 (as published); auto: what loses least of two
    ways, full buckets and those that make small groups."""
    split: Choice = Choice("yes", "no", default="yes")
    """yes: groups are split further while their own values allow it, which the paper does not print; no: as printed."""

    def __post_init__(self) -> None:
        if self.retrieve not in ("window", "random") and self.window != type(self).window:
            raise RecipeError(f"{self.name}: window has an effect with retrieve=window and retrieve=random only.")
        if self.fill != "auto" and Fraction(self.fill) > 1:
            raise RecipeError(f"{self.name}: fill is {self.fill}. It must be auto, or a number above 0 and up to 1.")
        if self.retrieve == "cuts" and self.seeds > 1:
            raise RecipeError(f"{self.name}: with retrieve=cuts there are no seeds. Add retrieve=curve.")

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if requirement.only_ceilings else "it keeps the number of records and ceilings on values, no more"

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        values, ceilings, least = least_ceilings(self.name, data, requirements)
        counts = np.bincount(values, minlength=len(ceilings))
        may_stand = _test_values(data, requirements) if self.split == "yes" else None
        keys = self.place_on_curve(data)
        made = [
            retrieve_groups(data, drawing.bucket_of(values), drawing, self, rng, progress, may_stand, keys)
            for drawing in self._fill_buckets(counts, ceilings, least)
        ]
        return made[0] if len(made) == 1 else min(made, key=lambda groups: _sum_losses(data, *groups))

    def _fill_buckets(self, counts: Counts, ceilings: Sequence[Fraction], least: int) -> list[Bounded]:
        """The ways to fill buckets that groups are made by.

        Buckets with room give more draws. The split evens that out, and then full buckets, which mix values less, may
        lose less. Which is decided by the groups themselves: there are two ways, then.
        """
        if self.fill != "auto":
            return [Bounded(value_buckets(counts, ceilings, Fraction(self.fill)), ceilings, least)]
        ways = (value_buckets(counts, ceilings, fill, full=True) for fill in _FILLS)
        roomy = most_groups((Bounded(buckets, ceilings, least) for buckets in ways), counts)
        printed = Bounded(value_buckets(counts, ceilings), ceilings, least)
        return [roomy] if self.split == "no" or printed.buckets == roomy.buckets else [roomy, printed]

    def place_on_curve(self, data: Microdata) -> NDArray[np.int64] | None:
        """The place of each record on the curve; None: the usual one, on which all columns are equally wide."""
        return None


def _test_values(data: Microdata, requirements: Sequence[Requirement]) -> MayStand:
    """Whether records may form a group, by the values they have: exactly, for all requirements together."""
    from lookalike.algorithms.shared.axes import roomy_rule_of
    from lookalike.kernels.grouptest import is_group_allowed, tally_for

    rule = roomy_rule_of(data, requirements)
    tally = tally_for(rule)
    return lambda records: bool(is_group_allowed(rule, data.sensitive, records, 0, len(records), tally))


def _sum_losses(data: Microdata, group_of_record: NDArray[np.int32], n_groups: int) -> float:
    """What all records lose in their groups."""
    from lookalike.algorithms.shared.axes import axes_of, cutting_of
    from lookalike.kernels.partition import width

    axes = axes_of(data)
    scratch = cutting_of(data, strict=False, by_gain=False, shares=np.array([0.5]))
    members = np.argsort(group_of_record, kind="stable")
    ends = np.cumsum(np.bincount(group_of_record, minlength=n_groups)).tolist()
    total, start = 0.0, 0
    for end in ends:
        widths = (width(axes, attr, scratch, members, start, end) for attr in range(data.quasi.shape[1]))
        total += (end - start) * sum(map(float, widths))
        start = end
    return total


class Bounded(Drawing):
    """Draws of which each keeps the least ceiling of its bucket's values."""

    def __init__(self, buckets: list[list[int]], ceilings: Sequence[Fraction], least: int) -> None:
        super().__init__(buckets)
        self.least = least
        self.bounds = [min(ceilings[value] for value in bucket) for bucket in buckets]
        self._plain_bounds = np.array([float(bound) for bound in self.bounds])

    def is_fine(self, draws: Counts) -> bool:
        total = int(draws.sum())
        if total < max(self.least, 1):
            return False
        # Nearly all is decided by plain numbers; what is close, exactly.
        room = self._plain_bounds * total - draws
        if (room < -_CLOSE * total).any():
            return False
        close = np.flatnonzero(room <= _CLOSE * total).tolist()
        return all(int(draws[bucket]) <= self.bounds[bucket] * total for bucket in close)


def value_buckets(
    counts: Counts, ceilings: Sequence[Fraction], fill: Fraction = Fraction(1), *, full: bool = False
) -> list[list[int]]:
    """The fewest buckets of values with neighbouring ceilings whose records together stay below the least of these.

    Strictly below, as printed. `full` lets them reach the bound: this keeps the promise too, but may leave no room to
    halve the first draw. A value by itself is always allowed as a bucket; values that do not occur are in none.
    """
    n_rows = int(counts.sum())
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda value: (ceilings[value], counts[value], value))
    fewest, begins = [0], [0]
    for end in range(1, len(order) + 1):
        fewest.append(fewest[end - 1] + 1)
        begins.append(end)
        together = int(counts[order[end - 1]])
        for begin in range(end - 1, 0, -1):
            together += int(counts[order[begin - 1]])
            most = fill * ceilings[order[begin - 1]] * n_rows
            # Further down more records would have to keep a lower ceiling still.
            if together > most or (together == most and not full):
                break
            if fewest[begin - 1] + 1 < fewest[end]:
                fewest[end], begins[end] = fewest[begin - 1] + 1, begin
    buckets: list[list[int]] = []
    end = len(order)
    while end > 0:
        buckets.append(order[begins[end] - 1 : end])
        end = begins[end] - 1
    return buckets[::-1]
