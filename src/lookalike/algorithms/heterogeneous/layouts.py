"""Buckets of one size, as published: which values go to which bucket, decided from counts alone.

A layout is a table of buckets and values. With buckets of c records, value v in |B_v| of mu buckets and columns that
are exchanged as a whole, a person finds v in at most |B_v| of their mu rows; so the layout keeps ceilings f where
|B_v| <= f_v * mu. Three ways to fill buckets ("sequential" in falling or rising order of counts, and "packed", which
keeps the rest of every value in one piece) are tried for each c, from the largest down: few buckets make small slots.
How low |B_v| can be kept is NP-hard to tell, hence several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.columns import Blocks
from lookalike.algorithms.groups.programs import Ceilings
from lookalike.algorithms.groups.sizes import Plan, even_sizes, in_blocks, rooms_for, splits_evenly

Counts = NDArray[np.int64]
Layout = NDArray[np.int64]
"""[buckets, values] how many records of each value stand in each bucket."""
Policy = Callable[[Counts, int], Layout]
"""Buckets of at most so many records; where the last ones stay short, dummies would fill them."""


def descending(counts: Counts, size: int) -> Layout:
    """Values that fill whole buckets first, then by falling count; a bucket is filled before the next is opened."""
    return _in_sequence(counts, size, np.argsort(-counts, kind="stable"))


def ascending(counts: Counts, size: int) -> Layout:
    """As `descending`, by rising count."""
    return _in_sequence(counts, size, np.argsort(counts, kind="stable"))


def pack_values(counts: Counts, size: int) -> Layout:
    """Whole buckets of each value; what is left of each goes unsplit to the first bucket with room, largest first."""
    full = [value for value in range(len(counts)) for _ in range(int(counts[value]) // size)]
    rests = counts % size
    room: list[int] = []
    held: list[list[int]] = []
    for value in np.argsort(-rests, kind="stable").tolist():
        if not rests[value]:
            continue
        place = next((place for place, free in enumerate(room) if free >= rests[value]), len(room))
        if place == len(room):
            room.append(size)
            held.append([])
        room[place] -= int(rests[value])
        held[place].append(value)
    layout = np.zeros((len(full) + len(held), len(counts)), dtype=np.int64)
    layout[np.arange(len(full)), full] = size
    for place, values in enumerate(held):
        layout[len(full) + place, values] = rests[values]
    return layout


POLICIES: dict[str, Policy] = {"descending": descending, "ascending": ascending, "packed": pack_values}


def _in_sequence(counts: Counts, size: int, order: NDArray[np.int64]) -> Layout:
    order = np.concatenate([order[counts[order] % size == 0], order[counts[order] % size != 0]])
    ends = np.cumsum(counts[order])
    begins = (np.arange(-(-int(ends[-1]) // size)) * size)[:, None]
    layout = np.zeros((len(begins), len(counts)), dtype=np.int64)
    layout[:, order] = np.clip(np.minimum(ends, begins + size) - np.maximum(ends - counts[order], begins), 0, None)
    return layout


def _without_gaps(layout: Layout, size: int) -> Layout:
    """The same records in full buckets only, if their number allows: the last buckets are divided among the others."""
    n_buckets = int(layout.sum()) // size
    kept, moved = layout[:n_buckets].copy(), layout[n_buckets:].sum(axis=0)
    for value in np.argsort(-moved, kind="stable").tolist():
        while moved[value]:
            room = size - kept.sum(axis=1)
            # Where the value is already, else where most of it fits.
            at = max(np.flatnonzero(room).tolist(), key=lambda bucket: (kept[bucket, value] > 0, room[bucket]))
            taken = min(int(moved[value]), int(room[at]))
            kept[at, value] += taken
            moved[value] -= taken
    return kept


def buckets_under(counts: Counts, ceilings: Ceilings, policies: Sequence[str], fewest: int) -> Blocks | None:
    """The fewest buckets of equal size that keep the ceilings; two blocks, of mu and mu + 1, where n needs them.

    None if no number from `fewest` on was found to.
    """
    present = counts[counts > 0]
    tried = set()
    for size in range(int(present.max()), gcd(*present.tolist()) - 1, -1):
        n_buckets = int(counts.sum()) // size
        if n_buckets < fewest or n_buckets in tried:
            continue
        for policy in policies:
            blocks = _lay_out(counts, n_buckets, ceilings, POLICIES[policy])
            if blocks is not None:
                return blocks
        tried.add(n_buckets)
    return None


def _lay_out(counts: Counts, n_buckets: int, ceilings: Ceilings, policy: Policy) -> Blocks | None:
    sizes = even_sizes(int(counts.sum()), n_buckets)
    if not splits_evenly(sizes, counts, ceilings):
        return None
    blocks: Blocks = []
    for width, numbers in in_blocks(Plan(sizes), counts, ceilings).items():
        n_rows = int(numbers.sum()) // width
        layout = _without_gaps(policy(numbers, n_rows), n_rows)
        if (np.count_nonzero(layout, axis=0) > rooms_for(width, ceilings)).any():
            return None
        blocks.append((numbers, [layout]))
    return blocks


def through_diversity(counts: Counts, ceilings: Ceilings, fewest: int) -> int | None:
    """The least l such that l-diversity keeps every ceiling, if the table is eligible for it."""
    least = min(ceilings[value] for value in np.flatnonzero(counts).tolist())
    if least <= 0:
        return None
    ell = max(-(-least.denominator // least.numerator), fewest)
    return ell if counts.max() <= int(counts.sum()) // ell else None
