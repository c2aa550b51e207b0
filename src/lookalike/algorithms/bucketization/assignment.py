"""Who goes into which bucket, once it is settled how many records of each value every bucket holds."""

from __future__ import annotations

import numpy as np

from lookalike.algorithms.axes import axes_of
from lookalike.algorithms.bucketization.settings import Counts, Slots
from lookalike.microdata import Microdata
from lookalike.progress import Progress
from lookalike.randomness import Randomness


def at_random(value_of_record: Counts, slots: Slots, rng: Randomness) -> Counts:
    """The bucket of each record: the records of a value, in random order, take its places.

    Nothing but sensitive values decides, so whoever knows the method learns no more than the bucket's numbers say.
    """
    order = rng.permutation(len(value_of_record))
    records = order[np.argsort(value_of_record[order], kind="stable")]
    places = np.argsort(slots.value_of_slot, kind="stable")
    bucket_of_record = np.empty(len(value_of_record), dtype=np.int64)
    bucket_of_record[records] = slots.bucket_of_slot[places]
    return bucket_of_record


def similar_together(
    data: Microdata, value_of_record: Counts, slots: Slots, rng: Randomness, progress: Progress
) -> Counts:
    """The bucket of each record: the table is cut in two along its quasi-identifiers, again and again.

    Of every value each side gets as many records as its buckets have places for, so any cut will do.
    """
    from lookalike.kernels.halving import cut_in_two

    axes, n_values = axes_of(data), int(slots.value_of_slot.max(initial=0)) + 1
    # Buckets in random order: which of them lie on which side says nothing about their values.
    rank = rng.child("buckets").permutation(slots.n_buckets)[slots.bucket_of_slot]
    by_rank = np.argsort(rank, kind="stable")
    values, buckets = slots.value_of_slot[by_rank], slots.bucket_of_slot[by_rank]
    starts = np.searchsorted(rank[by_rank], np.arange(slots.n_buckets + 1))
    bucket_of_record = np.empty(data.n_rows, dtype=np.int64)
    stack, done = [(rng.child("ties").permutation(data.n_rows), 0, slots.n_buckets)], 0
    while stack:
        members, first, last = stack.pop()
        if last - first == 1:
            bucket_of_record[members] = buckets[starts[first]]
            done += len(members)
            progress("assign", done / data.n_rows, "similar records together")
            continue
        middle = (first + last) // 2
        left = np.bincount(values[starts[first] : starts[middle]], minlength=n_values)
        halves = cut_in_two(axes, members, value_of_record[members], left)
        stack += [(halves[0], first, middle), (halves[1], middle, last)]
    return bucket_of_record
