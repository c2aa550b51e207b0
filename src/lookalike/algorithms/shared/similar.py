"""Buckets of records with similar quasi-identifiers, of sizes that are settled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lookalike.algorithms.bucket_sizes.settings import Counts, Slots
from lookalike.algorithms.groups.effort import Effort
from lookalike.algorithms.groups.search import Cell
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.progress import Progress, available_threads
from lookalike.randomness import Randomness

_CELL = 6_000
"""Records among which buckets are swapped."""


def similar_together(
    data: Microdata,
    requirements: Sequence[Requirement],
    value_of_record: Counts,
    slots: Slots,
    effort: Effort,
    rng: Randomness,
    progress: Progress,
) -> Counts:
    """The bucket of each record: those with similar quasi-identifiers share one, as far as the ceilings allow.

    First the table is cut in two along its quasi-identifiers again and again, each side with as many records of every
    value as its buckets have places for. Then records are swapped between buckets that lie near each other, as `groups`
    does; which values share a bucket changes on the way, its size does not.
    """
    members = _by_cuts(data, value_of_record, slots, rng)
    n_rows = data.n_rows
    ends = np.cumsum([len(inside) for inside in members])
    chunks = np.split(np.arange(len(members)), np.unique(np.searchsorted(ends, np.arange(_CELL, n_rows, _CELL))))
    chunks = [chunk for chunk in chunks if len(chunk)]
    bucket_of_record = np.empty(n_rows, dtype=np.int64)
    rule, axes = rule_of(data, requirements), axes_of(data)
    done = [0.0] * len(chunks)
    stop = threading.Event()

    def improve(number: int) -> None:
        rows = np.concatenate([members[bucket] for bucket in chunks[number]])
        places = np.repeat(np.arange(len(chunks[number])), [len(members[bucket]) for bucket in chunks[number]])
        cell = Cell(data, axes, rule, requirements, rows, rng.child("cell", number))
        cell.begin(places)

        def report(share: float, loss: float) -> None:
            done[number] = share
            if progress("assign", sum(done) / len(done), "similar records together"):
                stop.set()

        cell.improve(effort, report, stop.is_set)
        for bucket, inside in zip(chunks[number].tolist(), cell.groups(), strict=True):
            bucket_of_record[inside] = bucket

    with ThreadPoolExecutor(max_workers=available_threads()) as pool:
        try:
            list(pool.map(improve, range(len(chunks))))
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return bucket_of_record


def _by_cuts(data: Microdata, value_of_record: Counts, slots: Slots, rng: Randomness) -> list[Counts]:
    """The records of each bucket, neighbouring buckets next to each other."""
    from lookalike.kernels.halving import cut_in_two

    axes, n_values = axes_of(data), int(slots.value_of_slot.max(initial=0)) + 1
    # Buckets in random order: which of them lie on which side has nothing to do with their values.
    rank = rng.child("buckets").permutation(slots.n_buckets)[slots.bucket_of_slot]
    by_rank = np.argsort(rank, kind="stable")
    values, starts = slots.value_of_slot[by_rank], np.searchsorted(rank[by_rank], np.arange(slots.n_buckets + 1))
    found = []
    stack = [(rng.child("ties").permutation(data.n_rows), 0, slots.n_buckets)]
    while stack:
        members, first, last = stack.pop()
        if last - first == 1:
            found.append(members)
            continue
        middle = (first + last) // 2
        left = np.bincount(values[starts[first] : starts[middle]], minlength=n_values)
        halves = cut_in_two(axes, members, value_of_record[members], left)
        stack += [(halves[1], middle, last), (halves[0], first, middle)]
    return found
