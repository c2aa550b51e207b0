"""Bucketization: exact quasi-identifiers and sensitive values in two tables, joined by a bucket number.

    anatomy           buckets of l different values, always of those most frequent among what is left
    two-size          the best two bucket sizes for ceilings that differ from value to value
    multi-size        two sizes, divided again while that loses less
    optimal-buckets   the best sizes of all, as an integer program

K. Wang, P. Wang, Fu, Wong, "Generalized bucketization scheme for flexible privacy settings" (Information Sciences
2016); Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006). The loss of a setting is the sum
over buckets of (size - 1)^2. Sizes are found from the numbers of records of each value alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.algorithms.bucket_sizes.searches import Found, Range, all_sizes, many_sizes, ranges, two_sizes
from lookalike.algorithms.bucket_sizes.settings import Part, Slots, dealt, loss_of
from lookalike.algorithms.shared.buckets import Asked, Bucketizing
from lookalike.data.parameters import Choice, ChoiceOrNumber, OptionalExact, Whole, number_text
from lookalike.errors import RecipeError, Unsupported, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_WIDE_BUCKETS = 1 << 31


@dataclass(frozen=True)
class Anatomy(Bucketizing):
    """Buckets of l records with different values: l-diversity, the same ceiling for all.

    >>> str(Anatomy(assign="similar"))
    'anatomy:assign=similar'
    """

    name: ClassVar[str] = "anatomy"

    def slots(self, asked: Asked, rng: Randomness, progress: Progress) -> tuple[Slots, tuple[str, ...]]:
        from lookalike.kernels.bucketsizes import most_frequent_first

        # Without a promise about values every record may count as a value of its own.
        counts = asked.counts if asked.has_values else np.ones(asked.n_rows, dtype=np.int64)
        ell = max(asked.least, *(math.ceil(1 / ceiling) for ceiling in asked.ceilings))
        if int(counts.max()) * ell > asked.n_rows:
            raise Unsupported(
                f"anatomy gives every value the same ceiling, here 1/{ell}, and the most frequent value exceeds it in "
                "the whole table. Use two-size, which keeps a ceiling for each value, or groups."
            )
        progress("buckets", 0.0)
        value_of_slot = np.empty(asked.n_rows, dtype=np.int64)
        ties = rng.child("ties").words(asked.n_rows + len(counts))
        n_placed = most_frequent_first(counts, ell, ties, value_of_slot)
        bucket_of_slot = np.arange(asked.n_rows) // ell
        n_buckets = n_placed // ell
        left = counts - np.bincount(value_of_slot[:n_placed], minlength=len(counts))
        draws = rng.child("left over").words(asked.n_rows - n_placed)
        for place, value in enumerate(np.repeat(np.arange(len(counts)), left).tolist(), start=n_placed):
            taken = np.unique(bucket_of_slot[:place][value_of_slot[:place] == value])
            free = np.setdiff1d(np.arange(n_buckets), taken, assume_unique=True)
            value_of_slot[place] = value
            bucket_of_slot[place] = free[int(draws[place - n_placed]) % len(free)]
        progress("buckets", 1.0)
        return Slots(value_of_slot, bucket_of_slot, n_buckets), ()


@dataclass(frozen=True)
class Sized(Bucketizing):
    """A method that searches bucket sizes for ceilings that differ from value to value."""

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
            found, remarks = self.searched(asked, tried, progress)
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
        return dealt(parts), (f"Bucket sizes: {sizes_text(parts)}.", *remarks)

    def searched(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        raise NotImplementedError


@dataclass(frozen=True)
class TwoSize(Sized):
    """Buckets of the two sizes that lose least, for a ceiling of its own for each value.

    >>> str(TwoSize(pruning="loss"))
    'two-size:pruning=loss'
    """

    name: ClassVar[str] = "two-size"

    pruning: Choice = Choice("full", "loss", "none", default="full")
    """How the search is cut short; for experiments, the result is the same."""

    def searched(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        return two_sizes(asked.counts, tried, self.pruning), ()


@dataclass(frozen=True)
class MultiSize(Sized):
    """Buckets of several sizes: two that lose least, each divided again while that loses less.

    >>> str(MultiSize(largest=60))
    'multi-size:largest=60'
    """

    name: ClassVar[str] = "multi-size"

    def searched(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        return _many(asked, tried), ()


@dataclass(frozen=True)
class OptimalBuckets(Sized):
    """Buckets of the sizes that lose least of all, by an integer program of limited work.

    >>> str(OptimalBuckets(nodes=50))
    'optimal-buckets:nodes=50'
    """

    name: ClassVar[str] = "optimal-buckets"

    nodes: Whole = Whole(low=1, default=1000)
    """When to stop: nodes of the search; the best found by then is taken, with a note on how far it may be off."""
    seconds: OptionalExact = OptionalExact(above=0)
    """When to stop instead: seconds; the result then depends on the machine."""

    def searched(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        fallback = _many(asked, tried)
        if fallback is None:
            return None, ()
        progress("sizes", 0.1, "integer program")
        seconds = None if self.seconds is None else float(self.seconds)
        solved = all_sizes(asked.counts, tried, fallback.parts, self.nodes, seconds)
        parts = fallback.parts if solved.parts is None else solved.parts
        loss = loss_of(parts)
        if loss <= solved.bound:
            return Found(parts), (f"No setting with sizes up to {int(tried.sizes[-1])} loses less.",)
        gap = (loss - solved.bound) / loss
        spent = counted(self.nodes, "node") if self.seconds is None else f"{number_text(self.seconds)} seconds"
        said = f"after {spent} a loss {gap:.1%} lower could not be ruled out"
        return Found(parts), (f"The integer program was stopped: {said}.",)


_ONE_BUCKET = (
    "No smaller buckets were found that keep the promise, so the whole table is one bucket. It says nothing about who "
    "has which value. Promise less, or merge rare values."
)


def _many(asked: Asked, tried: Range) -> Found | None:
    found = two_sizes(asked.counts, tried)
    if found is None:
        return None
    below = [many_sizes(part, tried) for part in found.parts]
    return Found(tuple(piece for one in below for piece in one.parts), found.tests + sum(one.tests for one in below))


def sizes_text(parts: tuple[Part, ...]) -> str:
    """
    >>> sizes_text((Part(2, 6, np.array([12])), Part(6, 2, np.array([12]))))
    '6 buckets of 2, 2 buckets of 6'
    """
    numbers: dict[int, int] = {}
    for part in parts:
        numbers[part.size] = numbers.get(part.size, 0) + part.n_buckets
    return ", ".join(f"{counted(number, 'bucket')} of {size}" for size, number in sorted(numbers.items()))
