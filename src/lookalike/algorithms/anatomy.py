"""anatomy: buckets of l different values, always of those most frequent among what is left.

Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.algorithms.shared.buckets import Asked, Bucketizing, Slots
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.errors import Unsupported
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Anatomy(Bucketizing):
    """Buckets of l records with different values: l-diversity, the same ceiling for all.

    >>> str(Anatomy(assign="similar"))
    'anatomy:assign=similar'
    """

    name: ClassVar[str] = "anatomy"
    suits: ClassVar[Collection[str]] = ("alpha-k", "l-diversity")
    kernels: ClassVar[Collection[str]] = ("bucketsizes.most_frequent_first",)

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        if adversary == KNOWS_METHOD:
            return (
                "which persons with several rows share a bucket depends on all their values, which an attacker who "
                "knows the method may use; it then needs one row per person (--rows one)"
            )
        if self.assign == "similar":
            return (
                "assign=similar swaps rows, not persons; use assign=random, groups, or one row per person (--rows one)"
            )
        return None

    def slots(self, asked: Asked, rng: Randomness, progress: Progress) -> tuple[Slots, tuple[str, ...]]:
        from lookalike.kernels.bucketsizes import most_frequent_first

        # Without a promise about values every record may count as its own value.
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
