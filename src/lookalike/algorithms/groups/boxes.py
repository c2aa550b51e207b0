"""Boxes: parts of the table that are searched by themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.axes import axes_at
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.kernels.axes import NODE, SET, Axes
from lookalike.kernels.matching import sort_by_costliest
from lookalike.progress import silent
from lookalike.randomness import Randomness

Records = NDArray[np.int64]

_LEAST_CELL, _MOST_IN_CELL, _MOST_SIZES = 3500, 16_000, 8
_MOST_GROUPS, _MOST_GROUPS_UNDER_CEILINGS = 1000, 1600
# Groups in a strict box, at least: with fewer, too few records of a column lie near each other.
_LEAST_GROUPS = 200


def choose_box_size(n_rows: int, requirements: Sequence[Requirement]) -> int:
    """For free groups: large enough for good neighbours, small enough to deal records out to all groups of a box."""
    ceilings = [[share for share in one.ceilings if share] for one in requirements if one.ceilings]
    sizes = [requirement.min_size for requirement in requirements]
    least_group = max([2, *sizes, *(int(1 / max(shares)) for shares in ceilings if shares)])
    largest_group = max([2, *sizes, *(math.ceil(1 / min(shares)) for shares in ceilings if shares)])
    if largest_group > 2 * least_group:
        # Groups of several sizes: a box should have some of the largest, and then neighbours matter more.
        return max(_MOST_SIZES * largest_group, min(n_rows // 12, _MOST_IN_CELL // 2))
    usual = min(max(n_rows // 6, _LEAST_CELL), _MOST_IN_CELL)
    if not all(requirement.only_ceilings for requirement in requirements):
        return usual
    most_groups = _MOST_GROUPS if not ceilings else _MOST_GROUPS_UNDER_CEILINGS
    return min(usual, max(most_groups * least_group, _LEAST_CELL))


def choose_strict_box_size(counts: NDArray[np.int64], ceilings: Sequence[Fraction], least_group: int) -> int:
    """For strict groups: a size at which boxes cut without a look at values can be expected to keep the promise.

    Decided from the counts of the whole table alone, which the release publishes anyway. With every further box the
    share that a value may have in one of them is taken to grow by a quarter of its share of the table, and two standard
    deviations are allowed for chance.
    """
    n_rows, n_boxes = int(counts.sum()), 1
    while True:
        size = n_rows // (n_boxes + 1)
        expected = counts / n_rows * size * (1 + n_boxes / 4)
        rooms = [math.floor(ceiling * size) for ceiling in ceilings]
        allowed = [
            ceiling >= 1 or count == 0 or about + 2 * math.sqrt(about) + 1 <= room
            for ceiling, count, about, room in zip(ceilings, counts, expected, rooms, strict=True)
        ]
        if size < _LEAST_GROUPS * least_group or not all(allowed):
            # Some leave, so that categories can be kept whole.
            return n_rows * 9 // (n_boxes * 10) if n_boxes > 1 else n_rows
        n_boxes += 1


def cut_boxes(data: Microdata, requirements: Sequence[Requirement], size: int, rng: Randomness) -> list[Records]:
    """Boxes that keep the promise as a whole, by Mondrian's cuts."""
    if data.n_rows < 2 * size:
        return [np.arange(data.n_rows)]
    coarse = [*requirements, Requirement(min_size=size)]
    box_of_record, n_boxes = Mondrian().partition(data, coarse, rng.child("cells"), silent)
    order = np.argsort(box_of_record, kind="stable")
    return np.split(order, np.cumsum(np.bincount(box_of_record, minlength=n_boxes))[:-1])


def cut_boxes_by_attributes(axes: Axes, size: int, unit: int, rng: Randomness) -> list[Records]:
    """Boxes of at least `size` records, cut by quasi-identifiers alone; all but one hold a multiple of `unit`.

    Cut is the attribute in which two records lose most on average: categories between two values where that leaves
    enough on both sides, everything else in the middle.
    """
    members = rng.child("cells").permutation(len(axes.codes))
    boxes, stack = [], [(0, len(members))]
    while stack:
        start, stop = stack.pop()
        attr = sort_by_costliest(axes, members, start, stop) if stop - start >= 2 * max(size, unit) else -1
        if attr < 0:
            boxes.append(members[start:stop].copy())
            continue
        places = np.array([(start + stop) // 2])
        if axes.attributes[attr]["kind"] in (SET, NODE):
            codes = axes.codes[members[start:stop], attr]
            between = start + 1 + np.flatnonzero(codes[1:] != codes[:-1])
            fitting = between[(between - start >= size + unit) & (stop - between >= size)]
            places = fitting if len(fitting) else places
        place = int(places[np.argmin(np.abs(places - (start + stop) // 2))])
        # The part on the left has a multiple of the unit; what is left over ends up in one box.
        place -= (place - start) % unit
        stack += [(start, place), (place, stop)]
    return boxes


def chunks_of(axes: Axes, records: Records, most: int, unit: int = 1) -> list[Records]:
    """Positions in `records`, in chunks of at most `most` that lie near each other; all but one a multiple of `unit`.

    Records that are all alike are halved too, so no chunk is larger.
    """
    near = axes_at(axes, records)
    order = np.arange(len(records))
    chunks, stack = [], [(0, len(records))]
    while stack:
        start, stop = stack.pop()
        if stop - start <= most:
            chunks.append(order[start:stop].copy())
            continue
        sort_by_costliest(near, order, start, stop)
        middle = start + (stop - start) // 2 // unit * unit
        stack += [(start, middle), (middle, stop)]
    return chunks
