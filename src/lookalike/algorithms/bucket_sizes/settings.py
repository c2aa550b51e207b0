"""Bucket settings: how many buckets of which sizes, what each may hold, and how values are dealt to them.

In a bucket of size S a value with ceiling f may occur floor(f S) times. A setting is valid if the values can be dealt
so that every bucket is full and within its limits; for one or two sizes that is decided by counting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """So many buckets of one size, and how many records of each value they hold together."""

    size: int
    n_buckets: int
    counts: Counts

    @property
    def loss(self) -> int:
        return self.n_buckets * (self.size - 1) ** 2


@dataclass(frozen=True)
class Slots:
    """Places in buckets, each for a record of one value."""

    value_of_slot: Counts
    bucket_of_slot: Counts
    n_buckets: int


def loss_of(parts: Iterable[Part]) -> int:
    """The sum over buckets of (size - 1)^2."""
    return sum(part.loss for part in parts)


def rooms(ceilings: Sequence[Fraction], sizes: Iterable[int]) -> Counts:
    """[sizes, values] how often each value may occur in a bucket of each size, exactly."""
    ratios = [(ceiling.numerator, ceiling.denominator) for ceiling in ceilings]
    return np.array([[min(above * size // below, size) for above, below in ratios] for size in sizes], dtype=np.int64)


def one_size_valid(counts: Counts, room: Counts, n_buckets: int) -> bool:
    return bool((counts <= room * n_buckets).all())


def two_sizes_valid(counts: Counts, room: Sequence[Counts], n_buckets: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether every value finds room, and both sizes can be filled to the last bucket."""
    most = [np.minimum(room[side] * n_buckets[side], counts) for side in (0, 1)]
    enough = all(int(most[side].sum()) >= n_buckets[side] * sizes[side] for side in (0, 1))
    adds_up = sum(number * size for number, size in zip(n_buckets, sizes, strict=True)) == int(counts.sum())
    return bool((most[0] + most[1] >= counts).all()) and enough and adds_up


def divided(
    counts: Counts, room: Sequence[Counts], n_buckets: Sequence[int], sizes: Sequence[int]
) -> tuple[Counts, Counts]:
    """How many records of each value go to the buckets of either size of a valid setting."""
    most = [np.minimum(room[side] * n_buckets[side], counts) for side in (0, 1)]
    first = most[0].copy()
    second = counts - first
    excess = int(first.sum()) - n_buckets[0] * sizes[0]
    # Only what is there and finds room on the other side can be moved.
    for value in range(len(counts)):
        move = min(excess, int(most[1][value] - second[value]))
        first[value] -= move
        second[value] += move
        excess -= move
    assert excess == 0
    return first, second


def dealt(parts: Iterable[Part]) -> Slots:
    """Values dealt round and round: record number r of a part goes to its bucket r mod b, on across the values."""
    values, buckets, n_buckets = [], [], 0
    for part in parts:
        number = np.arange(part.size * part.n_buckets)
        values.append(np.repeat(np.arange(len(part.counts)), part.counts))
        buckets.append(n_buckets + number % part.n_buckets)
        n_buckets += part.n_buckets
    return Slots(np.concatenate(values), np.concatenate(buckets), n_buckets)
