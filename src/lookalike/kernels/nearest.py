"""Parts of near records with different values, grown one after the other along a list in which near records are near.

A part starts with the first record that is left and takes the one it grows least by, of a value that it does not have,
until it has enough. It looks no further than the first records that are left, so a part costs the same however long
the list is: O(n x looked at x attributes) in all.

Invariant, with f parts still to come, each of `degree` records at least: no value has more than f records left, and at
least f x degree records are left. A value with exactly f of them is due: every part takes one. So the last part takes
all that is left, and each part has different values only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner
from lookalike.kernels.axes import NODE, SET, measure


class Queue(NamedTuple):
    """The records that are left, as a list and by value. Places are those of the list; n: none."""

    near: NDArray[np.int64]
    """[n] record numbers, near ones near each other"""
    values: NDArray[np.int64]
    """[n] the value at each place"""
    following: NDArray[np.int64]
    """[n + 1] the next place that is left; of the last entry, the first one"""
    before: NDArray[np.int64]
    """[n + 1] the place before; the last entry stands before the first place"""
    heads: NDArray[np.int64]
    """[values] a place of each value: all before it are taken"""
    alike: NDArray[np.int64]
    """[n] the next place of the same value, taken or not"""
    is_taken: NDArray[np.bool_]
    """[n + 1] whether a place is taken"""


class Due(NamedTuple):
    """The values by number of records left, the most frequent first; one less costs a constant number of steps."""

    ranked: NDArray[np.int64]
    """[values] the values by rank"""
    ranks: NDArray[np.int64]
    """[values] the rank of each value"""
    left: NDArray[np.int64]
    """[values] how many records are left of it"""
    at_least: NDArray[np.int64]
    """[n + 2] how many values have at least so many left"""


class Part(NamedTuple):
    """The part that grows, and what it may take."""

    lows: NDArray[np.int64]
    """[d] least code"""
    highs: NDArray[np.int64]
    lacking: NDArray[np.int64]
    """[d] whether a value is missing"""
    losses: NDArray[np.float64]
    """[d] what ranges lose; sets are not kept"""
    marks: NDArray[np.int64]
    """[d, codes] the stamp of the last part that held a code"""
    holds: NDArray[np.int64]
    """[values] the stamp of the last part that held a value"""
    offered: NDArray[np.int64]
    """[values] how many places of it are on offer; 0 between parts"""
    offers: NDArray[np.int64]
    """[most + values] places that the part may take"""


declare("Queue", Queue, "i8[:] i8[:] i8[:] i8[:] i8[:] i8[:] b1[:]")
declare("Due", Due, "i8[:] i8[:] i8[:] i8[:]")
declare("Part", Part, "i8[:] i8[:] i8[:] f8[:] i8[:,:] i8[:] i8[:] i8[:]")


@inner
def _head(queue, value):  # type: ignore[no-untyped-def]
    """The first place of a value that is left."""
    place = queue.heads[value]
    while queue.is_taken[place]:
        place = queue.alike[place]
    queue.heads[value] = place
    return place


@inner
def _make_offers(queue, due, part, size, n_due, most, most_alike):  # type: ignore[no-untyped-def]
    """The first places that are left, not too many of one value, and one of each value that is due; returns how many.

    If these have too few values, the most frequent others are added.
    """
    n, n_offers, n_values, steps = len(queue.near), 0, 0, 0
    place = queue.following[n]
    while place < n and n_offers < most and steps < 4 * most:
        value = queue.values[place]
        if part.offered[value] < most_alike:
            n_values += part.offered[value] == 0
            part.offered[value] += 1
            part.offers[n_offers] = place
            n_offers += 1
        place = queue.following[place]
        steps += 1
    rank = 0
    while rank < n_due or n_values < size:
        value = due.ranked[rank]
        if part.offered[value] == 0:
            n_values += 1
            part.offered[value] = 1
            part.offers[n_offers] = _head(queue, value)
            n_offers += 1
        rank += 1
    for offer in range(n_offers):
        part.offered[queue.values[part.offers[offer]]] = 0
    return n_offers


@inner
def _growth(axes, part, record, stamp, enough):  # type: ignore[no-untyped-def]
    """What the part grows by if it takes a record; not counted to its end once it is `enough`."""
    growth = 0.0
    for attr in range(axes.codes.shape[1]):
        attribute = axes.attributes[attr]
        if attribute["span"] <= 0.0:
            continue
        code = np.int64(axes.codes[record, attr])
        if attribute["kind"] == SET:
            if part.marks[attr, code] != stamp:
                growth += attribute["weight"] / attribute["span"]
        elif attribute["kind"] != NODE and code == attribute["missing"]:
            growth += measure(axes, attr, part.lows[attr], part.highs[attr], 1, 0) - part.losses[attr]
        elif code < part.lows[attr] or code > part.highs[attr]:
            low, high = min(part.lows[attr], code), max(part.highs[attr], code)
            growth += measure(axes, attr, low, high, part.lacking[attr], 0) - part.losses[attr]
        if growth >= enough:
            return growth
    return growth


@inner
def _hold(axes, part, record, stamp):  # type: ignore[no-untyped-def]
    for attr in range(axes.codes.shape[1]):
        attribute = axes.attributes[attr]
        code = np.int64(axes.codes[record, attr])
        if attribute["kind"] == SET:
            part.marks[attr, code] = stamp
            continue
        if attribute["kind"] != NODE and code == attribute["missing"]:
            part.lacking[attr] = 1
        else:
            part.lows[attr], part.highs[attr] = min(part.lows[attr], code), max(part.highs[attr], code)
        part.losses[attr] = measure(axes, attr, part.lows[attr], part.highs[attr], part.lacking[attr], 0)


@inner
def _choose(axes, queue, due, part, n_offers, stamp, due_at):  # type: ignore[no-untyped-def]
    """The offer that the part grows least by; only of values with `due_at` left, unless that is 0."""
    least, chosen = np.inf, np.int64(-1)
    for offer in range(n_offers):
        place = part.offers[offer]
        value = queue.values[place]
        if part.holds[value] == stamp or (due_at > 0 and due.left[value] != due_at):
            continue
        growth = _growth(axes, part, queue.near[place], stamp, least)
        if growth < least:
            least, chosen = growth, np.int64(place)
    return chosen


@inner
def _count_down(due, value):  # type: ignore[no-untyped-def]
    """One record less of a value: it becomes the last of those that had as many."""
    count, rank = due.left[value], due.ranks[value]
    due.at_least[count] -= 1
    last = due.at_least[count]
    other = due.ranked[last]
    due.ranked[rank], due.ranked[last] = other, value
    due.ranks[other], due.ranks[value] = rank, last
    due.left[value] = count - 1


@entry("Axes, Queue, Due, Part, i8, i8[:], i8[:], i8, i8, i8, i8")
def grow_parts(axes, queue, due, part, degree, members, starts, first, stop, most, most_alike):  # type: ignore[no-untyped-def]
    """Grow the parts `first` to `stop` of n // degree: part g is members[starts[g]:starts[g + 1]], the seed first.

    A part looks at `most` places, at most `most_alike` of one value, besides those that it needs.
    """
    n = len(queue.near)
    for number in range(first, stop):
        to_come = n // degree - number
        stamp = np.int64(number + 1)
        n_due = due.at_least[to_come]
        size = n - starts[number] if to_come == 1 else max(degree, n_due)
        n_offers = _make_offers(queue, due, part, size, n_due, most, most_alike)
        part.lows[:], part.highs[:], part.lacking[:], part.losses[:] = 1 << 40, -1, 0, 0.0
        for taken in range(size):
            due_at = to_come if size - taken <= n_due else 0
            place = queue.following[n]
            if taken > 0 or (due_at > 0 and due.left[queue.values[place]] != due_at):
                place = _choose(axes, queue, due, part, n_offers, stamp, due_at)
            value = queue.values[place]
            n_due -= due.left[value] == to_come
            part.holds[value] = stamp
            _hold(axes, part, queue.near[place], stamp)
            queue.is_taken[place] = True
            queue.following[queue.before[place]] = queue.following[place]
            queue.before[queue.following[place]] = queue.before[place]
            members[starts[number] + taken] = place
        starts[number + 1] = starts[number] + size
        for index in range(starts[number], starts[number + 1]):
            _count_down(due, queue.values[members[index]])
            members[index] = queue.near[members[index]]
