"""Who goes into which bucket at random, once it is settled how many records of each value every bucket holds."""

from __future__ import annotations

import numpy as np

from lookalike.algorithms.bucket_sizes.settings import Counts, Slots
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
