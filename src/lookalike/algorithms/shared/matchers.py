"""Matchers: how every slot of a round gets one more record, none with a label that it holds already.

    greedy      slot after slot, in random order, takes the free record that it grows least by; O(n^2) time, O(n) memory
    sorted      the cheapest pair of a free slot and a free record first; O(n^2 log n) time, O(n^2) memory
    hungarian   the assignment that is cheapest for the round as a whole; O(n^3) time, O(n^2) memory

What a greedy round leaves stuck is repaired along augmenting paths. Large tables are matched in chunks of near records.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.axes import axes_at
from lookalike.kernels.assignment import assign_cheapest
from lookalike.kernels.axes import Axes
from lookalike.kernels.matching import growth_costs, row_losses, sort_by_costliest
from lookalike.kernels.pairing import greedy_round, repair, take_in_order
from lookalike.randomness import Randomness

Records = NDArray[np.int64]
Labels = NDArray[np.int64]
"""[records] no slot may take two of one label. Numbers of the records: no record twice."""
Matcher = Callable[[Axes, Labels, Records, int, Records, Randomness], Records]
"""(axes, labels, table, filled, records, rng): the record each slot takes; table[:, :filled] are those it has."""


class NoAssignment(AssertionError):
    """A round in which not every slot can take a record without a repeated label."""


def _by_slot(axes: Axes, labels: Labels, table: Records, filled: int, records: Records, rng: Randomness) -> Records:
    chosen = np.full(len(table), -1, dtype=np.int64)
    # Narrow slots first: a wide one takes almost any record at little cost.
    shuffled = rng.child("slots").permutation(len(table))
    order = shuffled[np.argsort(_losses(axes, table[shuffled], filled), kind="stable")]
    greedy_round(axes, labels, table, filled, rng.child("ties").shuffle(records), order, chosen)
    return _repair(labels, table, filled, records, chosen)


def _by_cost(axes: Axes, labels: Labels, table: Records, filled: int, records: Records, rng: Randomness) -> Records:
    slots = rng.child("slots").permutation(len(table))
    shuffled = rng.child("ties").shuffle(records)
    costs, forbidden = growth_of(axes, labels, table[slots], filled, shuffled)
    order = np.argsort(costs + _losses(axes, table[slots], filled)[:, None], axis=None, kind="stable")
    order = order[~forbidden.ravel()[order]]
    taken_slot, taken_record = np.full(len(slots), -1, dtype=np.int64), np.full(len(records), -1, dtype=np.int64)
    take_in_order(order, len(records), taken_slot, taken_record)
    chosen = np.full(len(table), -1, dtype=np.int64)
    chosen[slots] = np.where(taken_slot >= 0, shuffled[taken_slot], -1)
    return _repair(labels, table, filled, records, chosen)


def _by_assignment(
    axes: Axes, labels: Labels, table: Records, filled: int, records: Records, rng: Randomness
) -> Records:
    shuffled = rng.child("ties").shuffle(records)
    costs, forbidden = growth_of(axes, labels, table, filled, shuffled)
    if forbidden.any():
        # More than any assignment without a forbidden cell can cost.
        costs[forbidden] = len(table) * (float(costs.max(initial=0.0)) + 1.0)
    taken = assign_cheapest(costs)
    if forbidden[np.arange(len(table)), taken].any():
        raise NoAssignment("no assignment without a repeated label")
    chosen: Records = shuffled[taken]
    return chosen


MATCHERS: dict[str, Matcher] = {"greedy": _by_slot, "sorted": _by_cost, "hungarian": _by_assignment}


def _losses(axes: Axes, table: Records, filled: int) -> NDArray[np.float64]:
    """What each slot loses so far."""
    marks = np.empty(int(axes.codes.max(initial=0)) + 1, dtype=np.int64)
    return np.asarray(row_losses(axes, np.ascontiguousarray(table[:, :filled]), marks))


def growth_of(
    axes: Axes, labels: Labels, table: Records, filled: int, records: Records
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """[slots, records] what each slot grows by, and which records it may not take."""
    laid_out = np.concatenate([table[:, :filled], records[:, None]], axis=1)
    costs = np.empty((len(table), len(records)))
    growth_costs(axes, laid_out, np.arange(filled), filled, costs)
    # By label: which slots hold it, and which records have it.
    held, coming = labels[table[:, :filled]], labels[records]
    order = np.argsort(coming, kind="stable")
    first, last = (np.searchsorted(coming[order], held, side=side) for side in ("left", "right"))
    forbidden = np.zeros(costs.shape, dtype=np.bool_)
    slots, columns = np.nonzero(last > first)
    lengths = (last - first)[slots, columns]
    rank = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    forbidden[np.repeat(slots, lengths), order[np.repeat(first[slots, columns], lengths) + rank]] = True
    return costs, forbidden


def _repair(labels: Labels, table: Records, filled: int, records: Records, chosen: Records) -> Records:
    if (chosen < 0).any() and not repair(labels, table, filled, records, chosen):
        raise NoAssignment("a slot found no record that it may take")
    return chosen


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
