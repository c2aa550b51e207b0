"""BUREL: groups drawn from buckets of similar frequency, for beta-likeness and other ceilings on values.

Cao, Karras, "Publishing microdata with a robust privacy guarantee" (PVLDB 2012). Three steps: values with similar
ceilings share a bucket, as few buckets as possible (dynamic program); how many records a group takes of each bucket is
settled by halving the table again and again while the halves keep every bucket within its least ceiling; then groups
are taken out of the buckets along a Hilbert curve through the quasi-identifiers.

A bucket's draw is held to the *least* ceiling of its values, because all records drawn may have that value. So any
records of the buckets will do, and the last step looks at no sensitive value. It is still not safe against somebody who
knows the method: who was passed over, though nearer, is in another bucket (docs/algorithms/burel.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.grouped import Grouping
from lookalike.contracts import Promise
from lookalike.errors import RecipeError, Unsupported, quoted
from lookalike.microdata import Microdata
from lookalike.parameters import Choice, Exact, Whole
from lookalike.progress import Progress
from lookalike.randomness import Randomness
from lookalike.requirement import Requirement

if TYPE_CHECKING:
    from lookalike.kernels.axes import Axes

Counts = NDArray[np.int64]
Records = NDArray[np.int64]
_KEY_BITS, _MOST_BITS = 62, 10


@dataclass(frozen=True)
class Burel(Grouping):
    """Groups drawn from buckets of values along a Hilbert curve: the fast way to beta-likeness.

    >>> str(Burel(retrieve="window"))
    'burel:retrieve=window'
    """

    name: ClassVar[str] = "burel"

    retrieve: Choice = Choice("curve", "cuts", "window", "neighbours", default="curve")
    """curve: nearest on a Hilbert curve; cuts: halves by quasi-identifiers; window: nearest in a window of the curve;
    neighbours: nearest of all (slow)."""
    window: Whole = Whole(low=2, high=64, default=4)
    """With retrieve=window: how many times as many records are looked at as are taken."""
    seeds: Whole = Whole(low=1, high=64, default=1)
    """How many records are tried as the middle of a group."""

    fill: Exact = Exact(above=0, high=1, default=Fraction(9, 10))
    """How much of its least ceiling a bucket may fill; 1, as published, leaves little room for halves."""

    def __post_init__(self) -> None:
        if self.retrieve != "window" and self.window != type(self).window:
            raise RecipeError(f"{self.name}: window is heard with retrieve=window only.")
        if self.retrieve == "cuts" and self.seeds > 1:
            raise RecipeError(f"{self.name}: with retrieve=cuts there are no seeds.")

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if requirement.only_ceilings else "it keeps the number of records and ceilings on values, no more"

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        from lookalike.algorithms.axes import axes_of

        values, ceilings, least = _asked(data, requirements)
        counts = np.bincount(values, minlength=len(ceilings))
        buckets = value_buckets(counts, ceilings, self.fill)
        drawing = Drawing([min(ceilings[value] for value in bucket) for bucket in buckets], least)
        bucket_of_value = np.zeros(len(ceilings), dtype=np.int64)
        for number, bucket in enumerate(buckets):
            bucket_of_value[bucket] = number
        # Records that are alike come in random order, whatever their order in the table.
        order = rng.child("ties").permutation(data.n_rows)
        bucket_of_record = bucket_of_value[values]
        if self.retrieve == "cuts":
            groups = _by_cuts(axes_of(data), order, bucket_of_record, drawing, progress)
        else:
            groups = self._along_curve(data, order, bucket_of_record, drawing, rng)
        group_of_record = np.empty(data.n_rows, dtype=np.int32)
        for number, members in enumerate(groups):
            group_of_record[members] = number
        return group_of_record, len(groups)

    def _along_curve(
        self, data: Microdata, order: Records, bucket_of_record: Records, drawing: Drawing, rng: Randomness
    ) -> list[Records]:
        from lookalike.algorithms.axes import axes_of
        from lookalike.kernels.hilbert import retrieve

        sizes = np.bincount(bucket_of_record, minlength=len(drawing.bounds))
        draws = drawing.halved(sizes)
        keys = curve_keys(data)
        order = order[np.lexsort((keys[order], bucket_of_record[order]))]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        words = rng.child("seeds").words(len(draws) * self.seeds * 2).reshape(len(draws), self.seeds, 2)
        turns = np.ascontiguousarray(draws[rng.child("groups").permutation(len(draws))])
        group_of_record = np.empty(data.n_rows, dtype=np.int32)
        window = {"curve": 1, "window": int(self.window), "neighbours": 0}[self.retrieve]
        retrieve(axes_of(data), keys[order], order, starts, turns, words, window, group_of_record)
        by_group = np.argsort(group_of_record, kind="stable")
        return np.split(by_group, np.cumsum(np.bincount(group_of_record, minlength=len(draws)))[:-1])


@dataclass(frozen=True, eq=False)
class Drawing:
    """How many records a group may take of each bucket."""

    bounds: Sequence[Fraction]
    """The least ceiling of each bucket's values."""
    least: int
    """Records of a group."""
    _known: dict[bytes, bool] = field(default_factory=dict)

    def halves(self, draws: Counts) -> tuple[Counts, Counts] | None:
        """Both halves of a draw, if each keeps every bound."""
        left = draws // 2
        key = draws.tobytes()
        # There are only few different draws.
        if key not in self._known:
            self._known[key] = self._is_fine(left) and self._is_fine(draws - left)
        return (left, draws - left) if self._known[key] else None

    def halved(self, draws: Counts) -> Counts:
        """[groups, buckets] a draw halved again and again, as long as halves keep every bound."""
        leaves, stack = [], [draws]
        while stack:
            draws = stack.pop()
            halves = self.halves(draws)
            if halves is None:
                leaves.append(draws)
            else:
                stack += halves[::-1]
        return np.array(leaves, dtype=np.int64)

    def _is_fine(self, draws: Counts) -> bool:
        total = int(draws.sum())
        return total >= max(self.least, 1) and all(
            int(drawn) <= math.floor(bound * total) for drawn, bound in zip(draws, self.bounds, strict=True)
        )


def _by_cuts(
    axes: Axes, records: Records, bucket_of_record: Records, drawing: Drawing, progress: Progress
) -> list[Records]:
    """The halves of every draw taken along one attribute, again and again."""
    groups, stack, done = [], [records], 0
    marks = np.empty(int(axes.codes.max(initial=0)) + 1, dtype=np.int64)
    while stack:
        members = stack.pop()
        draws = np.bincount(bucket_of_record[members], minlength=len(drawing.bounds))
        halves = drawing.halves(draws)
        if halves is None:
            groups.append(members)
            done += len(members)
            progress("dividing", done / len(records), f"{len(groups):,} groups")
            continue
        stack += _least_cut(axes, members, bucket_of_record[members], draws, halves[0], marks)
    return groups


def _least_cut(
    axes: Axes, members: Records, buckets: Records, draws: Counts, left: Counts, marks: Records
) -> tuple[Records, Records]:
    """The records in two: of every bucket those with the lowest codes of the attribute that leaves the least loss."""
    from lookalike.kernels.axes import SET
    from lookalike.kernels.matching import row_losses

    rank = np.arange(len(members)) - np.repeat(np.cumsum(draws) - draws, draws)
    least, best = np.inf, (members[:0], members)
    for attr in range(axes.codes.shape[1]):
        codes = axes.codes[members, attr]
        if axes.attributes[attr]["kind"] == SET:
            # Frequent categories to one side, so that the other has fewer of them.
            codes = np.argsort(np.argsort(-np.bincount(codes), kind="stable"), kind="stable")[codes]
        order = _ordered(buckets * (int(codes.max()) + 1) + codes)
        to_left = rank < left[buckets[order]]
        halves = members[order[to_left]], members[order[~to_left]]
        loss = sum(len(half) * float(row_losses(axes, half[None, :], marks)[0]) for half in halves)
        if loss < least:
            least, best = loss, halves
    return best


def _ordered(keys: NDArray[np.int64]) -> Records:
    # Short keys are sorted in time linear in their number.
    return np.argsort(keys.astype(np.uint16) if int(keys.max()) < 1 << 16 else keys, kind="stable")


def _asked(data: Microdata, requirements: Sequence[Requirement]) -> tuple[NDArray[np.int32], list[Fraction], int]:
    """The values that ceilings are on, the least ceiling of each, and the least number of records."""
    about_values = [requirement for requirement in requirements if requirement.column is not None]
    columns = sorted({requirement.column or 0 for requirement in about_values})
    least = max([1, *(requirement.min_size for requirement in requirements)])
    if len(columns) > 1:
        names = " and ".join(quoted(data.domains.sensitive[column].name) for column in columns)
        raise Unsupported(f"burel keeps ceilings on one sensitive column, not on {names} together. Use groups.")
    if not columns:
        return np.zeros(data.n_rows, dtype=np.int32), [Fraction(1)], least
    whole = [Fraction(1)] * data.domains.sensitive[columns[0]].n_codes
    given = [requirement.ceilings for requirement in about_values if requirement.ceilings is not None]
    return data.sensitive[:, columns[0]], [min(shares) for shares in zip(whole, *given, strict=True)], least


def value_buckets(counts: Counts, ceilings: Sequence[Fraction], fill: Fraction = Fraction(1)) -> list[list[int]]:
    """The fewest buckets of values with neighbouring ceilings whose records all together keep the least of these.

    Values that do not occur are in none.
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
            # Further down more records would have to keep a lower ceiling still.
            if together > fill * ceilings[order[begin - 1]] * n_rows:
                break
            if fewest[begin - 1] + 1 < fewest[end]:
                fewest[end], begins[end] = fewest[begin - 1] + 1, begin
    buckets: list[list[int]] = []
    end = len(order)
    while end > 0:
        buckets.append(order[begins[end] - 1 : end])
        end = begins[end] - 1
    return buckets[::-1]


def curve_keys(data: Microdata) -> NDArray[np.int64]:
    """The place of each record on the curve. Values of a taxonomy stand in its order, others by size or name."""
    from lookalike.kernels.hilbert import hilbert_keys

    domains = data.domains.quasi[:_KEY_BITS]
    bits = min(_MOST_BITS, _KEY_BITS // len(domains))
    top = (1 << bits) - 1
    cells = np.empty((data.n_rows, len(domains)), dtype=np.int64)
    for attr, domain in enumerate(domains):
        points = domain.points
        low, high = (float(points.min()), float(points.max())) if len(points) else (0.0, 0.0)
        share = (points - low) / (high - low) if high > low else np.zeros(len(points))
        # A missing value stands at the far end.
        places = np.append(np.round(share * top), top).astype(np.int64)
        cells[:, attr] = places[np.minimum(data.quasi[:, attr], len(points))]
    return np.asarray(hilbert_keys(cells, bits), dtype=np.int64)
