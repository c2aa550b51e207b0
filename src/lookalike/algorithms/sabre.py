"""SABRE: groups drawn from buckets of close values, for t-closeness.

Cao, Karras, Kalnis, Tan, "SABRE: a sensitive attribute bucketization and redistribution framework for t-closeness"
(VLDB Journal 2011). What is published about it where BUREL is compared with it leaves much open; the bound below is our
own. Values that lie close under the distance share a bucket. A group that draws shares x of the buckets is no farther
from the table than half the sum of |x - p| over the buckets, for moves between them (no move costs more than 1), plus
what may have to move inside each bucket: all that it drew, up to p, but for the least share of one of its values, times
the distance of its farthest values. Draws are halved while that stays within t, so any records of the buckets will do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Grouping, least_size
from lookalike.algorithms.shared.value_buckets import Counts, Drawing, most_groups, retrieve_groups
from lookalike.data.contracts import Promise, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice
from lookalike.data.requirement import Distance, Requirement
from lookalike.errors import Unsupported
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_CLOSE = 1e-9
_FILLS = [Fraction(tenths, 10) for tenths in range(10, 2, -1)]
_SERVED = (Distance.EQUAL, Distance.ORDERED, Distance.HIERARCHICAL)


@dataclass(frozen=True)
class Sabre(Grouping):
    """Groups drawn from buckets of close values: t-closeness with equal, ordered or hierarchical distance.

    >>> str(Sabre(retrieve="curve"))
    'sabre:retrieve=curve'
    """

    name: ClassVar[str] = "sabre"
    suits: ClassVar[Collection[str]] = ("t-closeness",)
    kernels: ClassVar[Collection[str]] = ("halving.cut_in_two",)
    in_parts: ClassVar[Undivided] = Undivided(
        "what it draws from its buckets is bounded by the shares of the table, which parts do not have exactly; "
        "groups keeps t-closeness on Spark"
    )
    window: ClassVar[int] = 1
    seeds: ClassVar[int] = 1

    retrieve: Choice = Choice("cuts", "curve", default="cuts")
    """cuts: halves by quasi-identifiers; curve: nearest on a Hilbert curve."""

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        if requirement.column is None or requirement.distance in _SERVED:
            return None
        return "it serves t-closeness with equal, ordered or hierarchical distance, and k-anonymity beside it"

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        about_values = [requirement for requirement in requirements if requirement.column is not None]
        least = least_size(requirements)
        if len(about_values) > 1:
            raise Unsupported("sabre keeps one promise of t-closeness. Use groups for several.")
        if not about_values:
            everybody = Drawn([[0]], np.array([data.n_rows]), Requirement(column=0), least)
            return retrieve_groups(data, np.zeros(data.n_rows, dtype=np.int64), everybody, self, rng, progress)
        (requirement,) = about_values
        column = requirement.column or 0
        counts = data.counts(column)
        attempts = (
            Drawn(close_buckets(counts, requirement, fill * requirement.bound), counts, requirement, least)
            for fill in _FILLS
        )
        drawing = most_groups(attempts, counts)
        return retrieve_groups(data, drawing.bucket_of(data.sensitive[:, column]), drawing, self, rng, progress)


def spread(bucket: Sequence[int], n_codes: int, requirement: Requirement) -> Fraction:
    """The distance of the farthest values of a bucket of neighbouring values."""
    if len(bucket) == 1:
        return Fraction(0)
    if requirement.distance is Distance.ORDERED:
        return Fraction(max(bucket) - min(bucket), n_codes - 1)
    if requirement.distance is Distance.HIERARCHICAL:
        tree = requirement.tree
        assert tree is not None
        above = tree.lowest_common(min(bucket), max(bucket))
        return Fraction(int(tree.heights[above]), max(int(tree.heights[0]), 1))
    return Fraction(1)


def cost(bucket: Sequence[int], counts: Counts, requirement: Requirement) -> Fraction:
    """What may have to move inside a bucket if a group draws its share of it, all of one value."""
    numbers = [int(counts[value]) for value in bucket]
    moved = Fraction(sum(numbers) - min(numbers), int(counts.sum()))
    return moved * spread(bucket, len(counts), requirement)


def close_buckets(counts: Counts, requirement: Requirement, most: Fraction) -> list[list[int]]:
    """Few buckets of neighbouring values whose costs add up to `most` at most: the costliest is divided in two.

    Neighbours are values in their order or in that of the taxonomy's leaves; where all are equally far apart, values of
    similar frequency.
    """
    present = np.flatnonzero(counts).tolist()
    if requirement.distance is Distance.EQUAL:
        present.sort(key=lambda value: (int(counts[value]), value))
    buckets = [present]
    costs = [cost(present, counts, requirement)]
    while sum(costs) > most:
        worst = max(range(len(buckets)), key=lambda place: costs[place])
        bucket = buckets[worst]
        halves = min(
            ((bucket[:cut], bucket[cut:]) for cut in range(1, len(bucket))),
            key=lambda pair: sum(cost(half, counts, requirement) for half in pair),
        )
        buckets[worst : worst + 1] = halves
        costs[worst : worst + 1] = [cost(half, counts, requirement) for half in halves]
    return buckets


class Drawn(Drawing):
    """Draws that keep t-closeness whatever records of the buckets come."""

    def __init__(self, buckets: Sequence[Sequence[int]], counts: Counts, requirement: Requirement, least: int) -> None:
        super().__init__(buckets)
        n_rows = int(counts.sum())
        self.bound, self.least = requirement.bound, least
        self.shares = [Fraction(int(counts[list(bucket)].sum()), n_rows) for bucket in buckets]
        self.rarest = [Fraction(int(counts[list(bucket)].min()), n_rows) for bucket in buckets]
        self.spreads = [spread(bucket, len(counts), requirement) for bucket in buckets]
        self._plain = tuple(
            np.array([float(number) for number in numbers]) for numbers in (self.shares, self.rarest, self.spreads)
        )

    def is_fine(self, draws: Counts) -> bool:
        total = int(draws.sum())
        if total < max(self.least, 1):
            return False
        # Nearly all is decided by plain numbers; what is close, exactly.
        shares, rarest, spreads = self._plain
        drawn = draws / total
        held = np.minimum(drawn, shares)
        moved = float(np.abs(drawn - shares).sum() / 2 + ((held - np.minimum(held, rarest)) * spreads).sum())
        if abs(moved - float(self.bound)) > _CLOSE:
            return moved < self.bound
        return self.measure_move(draws) <= self.bound

    def measure_move(self, draws: Counts) -> Fraction:
        """What may have to move, and how far, to make a group with these draws like the table."""
        total, moved = int(draws.sum()), Fraction(0)
        for number, share, rarest, farthest in zip(draws.tolist(), self.shares, self.rarest, self.spreads, strict=True):
            drawn = Fraction(number, total)
            held = min(drawn, share)
            moved += abs(drawn - share) / 2 + (held - min(held, rarest)) * farthest
        return moved
