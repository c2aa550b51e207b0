"""Bucket sizes: how many buckets of which sizes, what each may hold, how values are dealt to them, and the best two.

K. Wang, P. Wang, Fu, Wong, "Generalized bucketization scheme for flexible privacy settings" (Information Sciences
2016). In a bucket of size S a value with ceiling f may occur floor(f S) times. A setting is valid if the values can be
dealt so that every bucket is full and within its limits; for one or two sizes that is decided by counting. The loss of
a setting is the sum over buckets of (size - 1)^2. Sizes are found from the numbers of records of each value alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from lookalike.algorithms.shared.buckets import Asked, Bucketizing, Counts, Slots
from lookalike.data.parameters import ChoiceOrNumber
from lookalike.errors import RecipeError, Unsupported, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_PRUNINGS = {"none": 0, "loss": 1, "full": 2}
_MOST_PAIRS_OF_SIZES, _SIZES_BEYOND = 1500, 200
_WIDE_BUCKETS = 1 << 31
_ONE_BUCKET = (
    "No smaller buckets were found that keep the promise, so the whole table is one bucket. It says nothing about who "
    "has which value. Promise less, or merge rare values."
)


@dataclass(frozen=True)
class Part:
    """So many buckets of one size, and how many records of each value they hold together."""

    size: int
    n_buckets: int
    counts: Counts

    @property
    def loss(self) -> int:
        return self.n_buckets * (self.size - 1) ** 2


def loss_of(parts: Iterable[Part]) -> int:
    """The sum over buckets of (size - 1)^2."""
    return sum(part.loss for part in parts)


def rooms(ceilings: Sequence[Fraction], sizes: Iterable[int]) -> Counts:
    """[sizes, values] how often each value may occur in a bucket of each size, exactly."""
    ratios = [(ceiling.numerator, ceiling.denominator) for ceiling in ceilings]
    return np.array([[min(above * size // below, size) for above, below in ratios] for size in sizes], dtype=np.int64)


def divide_counts(
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


def deal_slots(parts: Iterable[Part]) -> Slots:
    """Values dealt round and round: record number r of a part goes to its bucket r mod b, on across the values."""
    values, buckets, n_buckets = [], [], 0
    for part in parts:
        number = np.arange(part.size * part.n_buckets)
        values.append(np.repeat(np.arange(len(part.counts)), part.counts))
        buckets.append(n_buckets + number % part.n_buckets)
        n_buckets += part.n_buckets
    return Slots(np.concatenate(values), np.concatenate(buckets), n_buckets)


@dataclass(frozen=True)
class Range:
    """The bucket sizes that are tried, and what a bucket of each may hold."""

    sizes: Counts
    rooms: Counts
    """[sizes, values]"""

    @classmethod
    def between(cls, smallest: int, largest: int, ceilings: Sequence[Fraction]) -> Range:
        return cls(np.arange(smallest, largest + 1), rooms(ceilings, range(smallest, largest + 1)))

    def room(self, size: int) -> Counts:
        found: Counts = self.rooms[np.searchsorted(self.sizes, size)]
        return found


@dataclass(frozen=True)
class Found:
    """The parts of a setting and how many tests of all values it took to find."""

    parts: tuple[Part, ...]
    tests: int = 0


def smallest_size(ceilings: Iterable[Fraction], least: int) -> int:
    """Smaller buckets than this can hold nothing."""
    return max(least, min(math.ceil(1 / ceiling) for ceiling in ceilings))


def ranges(ceilings: Sequence[Fraction], least: int, largest: str, n_rows: int) -> Iterable[Range]:
    """What to try, one range after another: up to the size asked for, or sizes in which every value finds room."""
    smallest = min(smallest_size(ceilings, least), n_rows)
    if largest != "auto":
        yield Range.between(smallest, min(max(int(largest), smallest), n_rows), ceilings)
        return
    # A bucket that holds the most restricted value once; of twice that size, to have a choice.
    widest = max(math.ceil(1 / ceiling) for ceiling in ceilings)
    top = min(max(50, 2 * widest, smallest + 1), max(_MOST_PAIRS_OF_SIZES, smallest + 1), n_rows)
    while True:
        yield Range.between(smallest, top, ceilings)
        if top >= min(n_rows, _MOST_PAIRS_OF_SIZES):
            break
        top = min(2 * top, n_rows, _MOST_PAIRS_OF_SIZES)
    if widest > top:
        # The most restricted value needs larger buckets than can all be tried: every size up to here, and some beyond.
        beyond = np.linspace(top, min(2 * widest, n_rows), _SIZES_BEYOND).astype(np.int64)
        sizes = np.unique([*range(smallest, top), *beyond, min(widest, n_rows)])
        yield Range(sizes, rooms(ceilings, sizes.tolist()))


def two_sizes(counts: Counts, tried: Range, pruning: str = "full") -> Found | None:
    """The setting of two sizes (or one) with the least loss; None if none is valid."""
    from lookalike.kernels.bucketsizes import best_pair

    n_rows = int(counts.sum())
    size1, b1, size2, b2, _, tests = (
        int(number) for number in best_pair(tried.rooms, tried.sizes, counts, _PRUNINGS[pruning])
    )
    if size1 == 0:
        # A single size has no pair; neither has the only size of a range.
        alone = [
            Part(size, n_rows // size, counts)
            for size in tried.sizes.tolist()
            if n_rows % size == 0 and (counts <= tried.room(size) * (n_rows // size)).all()
        ]
        return Found((min(alone, key=lambda part: part.loss),), tests) if alone else None
    split = divide_counts(counts, (tried.room(size1), tried.room(size2)), (b1, b2), (size1, size2))
    parts = (Part(size1, b1, split[0]), Part(size2, b2, split[1]))
    return Found(tuple(part for part in parts if part.n_buckets), tests)


def many_sizes(part: Part, tried: Range) -> Found:
    """A part divided into two sizes again and again while that loses less; ceilings stay what they were."""
    found = two_sizes(part.counts, tried)
    if found is None or loss_of(found.parts) >= part.loss:
        return Found((part,), 0 if found is None else found.tests)
    return _divide_again(found, tried)


def several_sizes(counts: Counts, tried: Range) -> Found | None:
    """The best two sizes, each divided again while that loses less; None if no two are valid."""
    found = two_sizes(counts, tried)
    return None if found is None else _divide_again(found, tried)


def _divide_again(found: Found, tried: Range) -> Found:
    below = [many_sizes(part, tried) for part in found.parts]
    return Found(tuple(piece for one in below for piece in one.parts), found.tests + sum(one.tests for one in below))


@dataclass(frozen=True)
class Sized(Bucketizing):
    """A method that searches bucket sizes for ceilings that differ from value to value."""

    kernels: ClassVar[Collection[str]] = ("bucketsizes.best_pair",)
    largest: ChoiceOrNumber = ChoiceOrNumber("auto", default="auto")
    """The largest bucket size tried; auto: large enough for every value to find room."""

    def __post_init__(self) -> None:
        if self.largest != "auto" and not self.largest.isdecimal():
            raise RecipeError(f"{self.name}: largest is {self.largest}. It must be auto or a whole number.")

    def slots(self, asked: Asked, rng: Randomness, progress: Progress) -> tuple[Slots, tuple[str, ...]]:
        if asked.n_rows >= _WIDE_BUCKETS:
            raise Unsupported(f"{self.name} counts up to {_WIDE_BUCKETS - 1:,} records.")
        progress("sizes", 0.0)
        for tried in ranges(asked.ceilings, asked.least, self.largest, asked.n_rows):
            found, remarks = self.search_sizes(asked, tried, progress)
            if found is not None:
                parts = found.parts
                break
        else:
            # All records in one bucket keep every ceiling, as each value's share in the table does.
            if self.largest != "auto":
                raise Unsupported(
                    f"No bucket sizes up to {self.largest} keep these ceilings. Leave largest out, or make it larger."
                )
            parts, remarks = (Part(asked.n_rows, 1, asked.counts),), (_ONE_BUCKET,)
        progress("sizes", 1.0, sizes_text(parts))
        return deal_slots(parts), (f"Bucket sizes: {sizes_text(parts)}.", *remarks)

    def search_sizes(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        raise NotImplementedError


def sizes_text(parts: tuple[Part, ...]) -> str:
    """
    >>> sizes_text((Part(2, 6, np.array([12])), Part(6, 2, np.array([12]))))
    '6 buckets of 2, 2 buckets of 6'
    """
    numbers: dict[int, int] = {}
    for part in parts:
        numbers[part.size] = numbers.get(part.size, 0) + part.n_buckets
    return ", ".join(f"{counted(number, 'bucket')} of {size}" for size, number in sorted(numbers.items()))
