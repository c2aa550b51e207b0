"""Ring: every row covers consecutive records of a ring; the older heterogeneous method that others are compared with.

The records of a part are on a ring in which any d in a row have different values. Slot j covers records j to
j + d - 1, and all values of a part move by one offset, drawn at random: so each person sees d different values, each
equally often. What is published of the method says that parts are cut small and merged until they are diverse
(`parts=merged`); how the ring is laid is our construction. So are the parts by default: they grow from near records of
different values, so there is nothing to merge. O(n log^2 n) time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import (
    Method,
    SlotGraph,
    combine_ceilings,
    find_column,
    least_size,
    publish_matched,
    through_diversity,
)
from lookalike.data.contracts import Promise, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, Whole
from lookalike.data.release import Matched, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.errors import RecipeError, Unsupported
from lookalike.progress import Progress
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.kernels.axes import Axes

Records = NDArray[np.int64]


@dataclass(frozen=True)
class Ring(Method):
    """Every row covers consecutive records of a ring; a fast baseline for l-diversity and other ceilings.

    >>> str(Ring(parts="merged", part=50))
    'ring:parts=merged,part=50'
    """

    name: ClassVar[str] = "ring"
    kernels: ClassVar[Collection[str]] = ("axes.sort_by_code", "matching.sort_by_costliest", "nearest.grow_parts")
    form: ClassVar[str] = Matched.form
    in_parts: ClassVar[Undivided] = Undivided("it lays the whole table on one ring; use heterogeneous or groups")

    parts: Choice = Choice("grown", "merged", default="grown")
    """Grown from near records of different values; or cut without looking at values, then merged, as published."""
    part: Whole = Whole(low=0, default=0)
    """With `parts=merged`: least number of records before merging; 0: as many as a row covers."""

    def __post_init__(self) -> None:
        if self.part and self.parts == "grown":
            raise RecipeError("ring: `part` needs parts=merged. Grown parts have as many records as a row covers.")

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if requirement.only_ceilings else "it keeps the number of records and ceilings on values, no more"

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Matched, RecordMap]:
        from lookalike.algorithms.shared.axes import axes_of
        from lookalike.algorithms.shared.near_parts import near_parts

        axes, values, degree = axes_of(data), *_find_wanted(data, requirements)
        order = rng.child("parts").permutation(data.n_rows)
        if self.parts == "grown":
            grown = near_parts(axes, order, values, degree, progress)
            rings = [_sort_near(axes, rows) if len(rows) > degree else rows for rows in grown]
        else:
            least = min(max(self.part, degree), data.n_rows)
            small = near_parts(axes, order, np.arange(data.n_rows), least, progress)
            rings = [_ring(axes, rows, values, degree) for rows in _eligible(small, values, degree)]
        return publish_matched(data, _cover_neighbours(rings, degree, rng), rng)


def _cover_neighbours(rings: Sequence[Records], degree: int, rng: Randomness) -> SlotGraph:
    """A slot for each record, which covers it and those after it; one offset per ring says whose values it shows."""
    lengths = np.array([len(ring) for ring in rings])
    offsets = rng.child("offsets").integers(degree, len(rings))
    records, slots, givers = [], [], np.empty(int(lengths.sum()), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        alike = np.flatnonzero(lengths == length)
        table = np.stack([rings[number] for number in alike.tolist()])
        around = table[:, (np.arange(length)[:, None] + np.arange(degree)) % length]
        records.append(around.ravel())
        slots.append(np.repeat(table.ravel(), degree))
        givers[table] = around[np.arange(len(table)), :, offsets[alike]]
    return SlotGraph(np.concatenate(records), np.concatenate(slots), givers)


def _find_wanted(data: Microdata, requirements: Sequence[Requirement]) -> tuple[NDArray[np.int32], int]:
    """The values of which no two may be alike among so many neighbours, and how many; all different if any will do."""
    refusal = "A ring keeps the values of one sensitive column apart. Promise for one, or use groups."
    column, least = find_column(data, requirements, refusal), least_size(requirements)
    if column is None:
        return np.arange(data.n_rows, dtype=np.int32), least
    degree = through_diversity(data.counts(column), combine_ceilings(data, requirements, column), least)
    if degree is not None:
        return data.sensitive[:, column], degree
    raise Unsupported(
        "On a ring all values of a row differ, so the promise is kept only through l-diversity, and the l that the "
        "rarest value needs is too large for the most frequent one. Use groups or heterogeneous."
    )


def _eligible(parts: Sequence[Records], values: NDArray[np.int32], degree: int) -> list[Records]:
    """Parts in which no value is too frequent: one that is not is merged with the next, the last with those before.

    Values are counted on while a part waits, so each record is looked at twice at most, however long parts become.
    """
    merged: list[Records] = []
    waiting: list[Records] = []
    counts, size, highest = np.zeros(int(values.max(initial=0)) + 1, dtype=np.int64), 0, 0

    def is_eligible_with(part: Records) -> bool:
        nonlocal size, highest
        np.add.at(counts, values[part], 1)
        size, highest = size + len(part), max(highest, int(counts[values[part]].max()))
        return highest <= size // degree

    for part in parts:
        waiting.append(part)
        if is_eligible_with(part):
            merged.append(np.concatenate(waiting))
            counts[values[merged[-1]]], size, highest = 0, 0, 0
            waiting.clear()
    while waiting and merged:
        waiting.append(merged.pop())
        if is_eligible_with(waiting[-1]):
            break
    return [*merged, np.concatenate(waiting)] if waiting else merged


def _ring(axes: Axes, rows: Records, values: NDArray[np.int32], degree: int) -> Records:
    """The records in an order in which any `degree` in a row, around the end too, have different values.

    Value after value, the most frequent first, records are dealt out to f = n // degree turns of the ring, one to a
    turn. Then a value recurs after a whole turn at the earliest: a turn has at least `degree` records, and a value that
    begins in mid-deal skips a turn, because only values with fewer than f records do.
    """
    near = _sort_near(axes, rows)
    codes, counts = np.unique(values[near], return_counts=True)
    frequency = counts[np.searchsorted(codes, values[near])]
    dealt = near[np.lexsort((values[near], -frequency))]
    n_turns = max(len(rows) // degree, 1)
    turn, place = np.arange(len(dealt)) % n_turns, np.arange(len(dealt)) // n_turns
    # The records of a value come by turn, near ones together.
    by_turn = np.lexsort((turn, values[dealt], -counts[np.searchsorted(codes, values[dealt])]))
    ring = np.empty_like(dealt)
    ring[by_turn] = dealt
    return np.asarray(ring[np.lexsort((place, turn))], dtype=np.int64)


def _sort_near(axes: Axes, rows: Records) -> Records:
    """The records in an order in which near ones are near each other."""
    from lookalike.algorithms.shared.matchers import chunks_of

    return rows[np.concatenate(chunks_of(axes, rows, 1))]
