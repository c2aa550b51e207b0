"""Matchers: how every slot of a round gets one more record, none that it holds already.

    greedy      slot after slot, in random order, takes the free record that it grows least by; O(n^2) time, O(n) memory
    sorted      the cheapest pair of a free slot and a free record first; O(n^2 log n) time, O(n^2) memory
    hungarian   the assignment that is cheapest for the round as a whole; O(n^3) time, O(n^2) memory

What a greedy round leaves stuck is repaired along augmenting paths.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lookalike.kernels.axes import Axes
from lookalike.kernels.matching import growth_costs, row_losses
from lookalike.kernels.pairing import greedy_round, repair, sorted_round
from lookalike.randomness import Randomness

Records = NDArray[np.int64]
Matcher = Callable[[Axes, Records, int, Records, Randomness], Records]
"""(axes, table, filled, records, rng): the record that each slot takes; table[:, :filled] are its records so far."""


def by_slot(axes: Axes, table: Records, filled: int, records: Records, rng: Randomness) -> Records:
    chosen = np.full(len(table), -1, dtype=np.int64)
    # Narrow slots first: a wide one takes almost any record at little cost.
    shuffled = rng.child("slots").permutation(len(table))
    order = shuffled[np.argsort(_losses(axes, table[shuffled], filled), kind="stable")]
    greedy_round(axes, table, filled, rng.child("ties").shuffled(records), order, chosen)
    return _repaired(table, filled, records, chosen)


def by_cost(axes: Axes, table: Records, filled: int, records: Records, rng: Randomness) -> Records:
    slots = rng.child("slots").permutation(len(table))
    shuffled = rng.child("ties").shuffled(records)
    costs, forbidden = growth_of(axes, table[slots], filled, shuffled)
    order = np.argsort(costs + _losses(axes, table[slots], filled)[:, None], axis=None, kind="stable")
    order = order[~forbidden.ravel()[order]]
    taken_slot, taken_record = np.full(len(slots), -1, dtype=np.int64), np.full(len(records), -1, dtype=np.int64)
    sorted_round(order, len(records), taken_slot, taken_record)
    chosen = np.full(len(table), -1, dtype=np.int64)
    chosen[slots] = np.where(taken_slot >= 0, shuffled[taken_slot], -1)
    return _repaired(table, filled, records, chosen)


def by_assignment(axes: Axes, table: Records, filled: int, records: Records, rng: Randomness) -> Records:
    shuffled = rng.child("ties").shuffled(records)
    costs, forbidden = growth_of(axes, table, filled, shuffled)
    # More than any assignment without a forbidden cell can cost.
    costs[forbidden] = len(table) * (float(costs.max(initial=0.0)) + 1.0)
    taken = linear_sum_assignment(costs)[1]
    if forbidden[np.arange(len(table)), taken].any():
        raise AssertionError("no assignment without a repeated record")
    chosen: Records = shuffled[taken]
    return chosen


MATCHERS: dict[str, Matcher] = {"greedy": by_slot, "sorted": by_cost, "hungarian": by_assignment}


def _losses(axes: Axes, table: Records, filled: int) -> NDArray[np.float64]:
    """What each slot loses so far."""
    marks = np.empty(int(axes.codes.max(initial=0)) + 1, dtype=np.int64)
    return np.asarray(row_losses(axes, np.ascontiguousarray(table[:, :filled]), marks))


def growth_of(
    axes: Axes, table: Records, filled: int, records: Records
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """[slots, records] what each slot grows by, and which records it holds already."""
    laid_out = np.concatenate([table[:, :filled], records[:, None]], axis=1)
    costs = np.empty((len(table), len(records)))
    growth_costs(axes, laid_out, np.arange(filled), filled, costs)
    place_of = np.full(int(records.max(initial=0)) + 1, -1, dtype=np.int64)
    place_of[records] = np.arange(len(records))
    forbidden = np.zeros(costs.shape, dtype=np.bool_)
    held = table[:, :filled]
    places = np.where(held < len(place_of), place_of[np.minimum(held, len(place_of) - 1)], -1)
    slots, columns = np.nonzero(places >= 0)
    forbidden[slots, places[slots, columns]] = True
    return costs, forbidden


def _repaired(table: Records, filled: int, records: Records, chosen: Records) -> Records:
    if (chosen < 0).any() and not repair(table, filled, records, chosen):
        raise AssertionError("a slot found no record that it does not hold already")
    return chosen
