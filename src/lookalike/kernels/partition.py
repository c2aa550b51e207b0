"""Top-down multidimensional cuts (Mondrian), as a stack of segments of one array of record numbers.

The array starts in random order and every sort is stable, so records with equal values are divided at random, never
by input order or by sensitive value. `refine` works on the stack for a bounded number of record visits and returns,
so that the caller can show progress and be interrupted. Cost O(d n log n) visits in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner
from lookalike.kernels.axes import NODE, SET, lowest_common, measure, sort_by_code
from lookalike.kernels.grouptest import is_group_allowed


class Cutting(NamedTuple):
    """How cuts are chosen, and scratch space."""

    strict: bool
    """Whether records of one value stay together in numeric attributes too."""
    by_gain: bool
    """Whether the cut of least loss is taken rather than the first that may be made."""
    shares: NDArray[np.float64]
    """Parts of a segment that may go left, rising."""
    preference: NDArray[np.int64]
    """The order in which shares are tried: the median first."""
    marks: NDArray[np.int64]
    """[d, codes of the largest set] the stamp of the last use in which a code was met"""
    stamp: NDArray[np.int64]
    """[1] counts the uses of `marks`"""


class Stack(NamedTuple):
    """Segments still to be cut and groups found; both are ends in `members`."""

    members: NDArray[np.int64]
    """[n] record numbers; a segment is a run of them"""
    starts: NDArray[np.int64]
    """[n + 1] begin of each open segment"""
    stops: NDArray[np.int64]
    group_starts: NDArray[np.int64]
    """[n] begin of each finished group"""
    group_stops: NDArray[np.int64]
    depth: NDArray[np.int64]
    """[2] number of open segments, number of groups"""


declare("Cutting", Cutting, "b1 b1 f8[:] i8[:] i8[:,:] i8[:]")
declare("Stack", Stack, "i8[:] i8[:] i8[:] i8[:] i8[:] i8[:]")


@entry("Axes, i8, Cutting, i8[:], i8, i8")
def width(axes, attr, cutting, members, start, stop):  # type: ignore[no-untyped-def]
    """The weighted loss that the segment has in one attribute."""
    kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
    low, high, lacking, distinct = np.int64(1 << 40), np.int64(-1), np.int64(0), np.int64(0)
    cutting.stamp[0] += 1
    for place in range(start, stop):
        code = np.int64(axes.codes[members[place], attr])
        if kind == SET:
            if cutting.marks[attr, code] != cutting.stamp[0]:
                cutting.marks[attr, code] = cutting.stamp[0]
                distinct += 1
        elif code == missing and kind != NODE:
            lacking = np.int64(1)
        else:
            low, high = min(low, code), max(high, code)
    return measure(axes, attr, low, high, lacking, distinct)


@entry("f8[:]")
def widest_first(widths):  # type: ignore[no-untyped-def]
    """The attributes that can lose something, the widest first."""
    ranked = np.empty(len(widths), dtype=np.int64)
    found = 0
    for attr in range(len(widths)):
        if widths[attr] <= 0.0:
            continue
        place = found
        while place > 0 and widths[ranked[place - 1]] < widths[attr]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = attr
        found += 1
    return ranked[:found]


@inner
def _boundaries(axes, attr, members, start, stop):  # type: ignore[no-untyped-def]
    """Places in a sorted segment where a cut parts different values (children of the node, in a taxonomy)."""
    places = np.empty(stop - start, dtype=np.int64)
    found = 0
    is_node = axes.attributes[attr]["kind"] == NODE
    tree, node = axes.attributes[attr]["tree"], np.int64(0)
    if is_node:
        first = np.int64(axes.codes[members[start], attr])
        last = np.int64(axes.codes[members[stop - 1], attr])
        node = np.int64(lowest_common(axes, attr, first, last))
    for place in range(start + 1, stop):
        before = np.int64(axes.codes[members[place - 1], attr])
        here = np.int64(axes.codes[members[place], attr])
        if before == here:
            continue
        if is_node:
            child = axes.leaf_nodes[axes.attributes[attr]["leaves"] + before]
            while axes.nodes[tree + child]["parent"] != node:
                child = axes.nodes[tree + child]["parent"]
            if axes.nodes[tree + child]["last"] >= here:
                continue
        places[found] = place
        found += 1
    return places[:found]


@inner
def _share_places(axes, attr, cutting, members, start, stop):  # type: ignore[no-untyped-def]
    """[shares] where a segment, sorted by the attribute, is cut so that about each share goes left, rising.

    -1 where the segment cannot be cut or the place was named before.
    """
    places = np.empty(len(cutting.shares), dtype=np.int64)
    for turn in range(len(cutting.shares)):
        places[turn] = start + np.int64(cutting.shares[turn] * (stop - start) + 0.5)
    if cutting.strict or axes.attributes[attr]["kind"] in (SET, NODE):
        boundaries = _boundaries(axes, attr, members, start, stop)
        after = 0
        for turn in range(len(places)):
            while after < len(boundaries) and boundaries[after] < places[turn]:
                after += 1
            nearest = boundaries[after] if after < len(boundaries) else start
            if after > 0 and places[turn] - boundaries[after - 1] <= abs(nearest - places[turn]):
                nearest = boundaries[after - 1]
            places[turn] = nearest
    last = start
    for turn in range(len(places)):
        if start < places[turn] < stop and places[turn] != last:
            last = places[turn]
        else:
            places[turn] = -1
    return places


@inner
def sweep(axes, cutting, members, start, stop, places, losses, forward):  # type: ignore[no-untyped-def]
    """Add to losses[turn] the loss of the part before (forward) or after each place, in one pass over the records."""
    n_attrs = axes.codes.shape[1]
    lows, highs = np.empty(n_attrs, dtype=np.int64), np.empty(n_attrs, dtype=np.int64)
    lacking, counts = np.zeros(n_attrs, dtype=np.int64), np.zeros(n_attrs, dtype=np.int64)
    for attr in range(n_attrs):
        lows[attr], highs[attr] = np.int64(1 << 40), np.int64(-1)
    cutting.stamp[0] += 1
    stamp = cutting.stamp[0]
    turn = 0 if forward else len(places) - 1
    for step in range(stop - start):
        place = start + step if forward else stop - step
        while 0 <= turn < len(places) and (places[turn] < 0 or places[turn] == place):
            if places[turn] >= 0:
                lost = 0.0
                for attr in range(n_attrs):
                    lost += measure(axes, attr, lows[attr], highs[attr], lacking[attr], counts[attr])
                losses[turn] += step * lost
            turn += 1 if forward else -1
        record = members[place] if forward else members[place - 1]
        for attr in range(n_attrs):
            kind, code = axes.attributes[attr]["kind"], np.int64(axes.codes[record, attr])
            if kind == SET:
                if cutting.marks[attr, code] != stamp:
                    cutting.marks[attr, code] = stamp
                    counts[attr] += 1
            elif kind != NODE and code == axes.attributes[attr]["missing"]:
                lacking[attr] = 1
            else:
                lows[attr], highs[attr] = min(lows[attr], code), max(highs[attr], code)


@inner
def _are_parts_allowed(rule, sensitive, members, start, place, stop, tally):  # type: ignore[no-untyped-def]
    """Whether a cut leaves two groups that may stand."""
    return is_group_allowed(rule, sensitive, members, start, place, tally) and is_group_allowed(
        rule, sensitive, members, place, stop, tally
    )


@inner
def _missing_cut(axes, rule, sensitive, members, start, stop, tally, ranked):  # type: ignore[no-untyped-def]
    """A cut between the records that have a value and those that lack it; -1 if none may be made."""
    for attr in ranked:
        if axes.attributes[attr]["lacks"] == 0:
            continue
        sort_by_code(axes, attr, members, start, stop)
        place = stop
        while place > start and axes.codes[members[place - 1], attr] == axes.attributes[attr]["missing"]:
            place -= 1
        if start < place < stop and _are_parts_allowed(rule, sensitive, members, start, place, stop, tally):
            return place
    return np.int64(-1)


@inner
def _first_cut(axes, cutting, rule, sensitive, members, start, stop, tally, ranked):  # type: ignore[no-untyped-def]
    """The median of each attribute in the order `ranked`, then the other shares: the first cut that may be made.

    Returns its place, with the segment sorted accordingly; -1 if there is none.
    """
    for turn in cutting.preference:
        for attr in ranked:
            sort_by_code(axes, attr, members, start, stop)
            place = _share_places(axes, attr, cutting, members, start, stop)[turn]
            if place >= 0 and _are_parts_allowed(rule, sensitive, members, start, place, stop, tally):
                return place
    return np.int64(-1)


@inner
def _best_cut(axes, cutting, rule, sensitive, members, start, stop, tally, ranked):  # type: ignore[no-untyped-def]
    """Of all attributes and shares the cut that may be made and leaves the least loss.

    Returns its place, with the segment in the order in which the parts were tested; -1 if there is none.
    """
    n_shares = len(cutting.shares)
    places = np.empty((len(ranked), n_shares), dtype=np.int64)
    losses = np.zeros((len(ranked), n_shares), dtype=np.float64)
    sorted_by = np.int64(-1)
    for rank in range(len(ranked)):
        sorted_by = ranked[rank]
        sort_by_code(axes, sorted_by, members, start, stop)
        found = _share_places(axes, sorted_by, cutting, members, start, stop)
        for turn in range(n_shares):
            places[rank, turn] = found[turn]
        for forward in (True, False):
            sweep(axes, cutting, members, start, stop, places[rank], losses[rank], forward)
    while True:
        least, best_rank, best_turn = np.inf, -1, -1
        for rank in range(len(ranked)):
            for turn in range(n_shares):
                if places[rank, turn] >= 0 and losses[rank, turn] < least:
                    least, best_rank, best_turn = losses[rank, turn], rank, turn
        if best_rank < 0:
            return np.int64(-1)
        place = places[best_rank, best_turn]
        if ranked[best_rank] != sorted_by:
            sorted_by = ranked[best_rank]
            sort_by_code(axes, sorted_by, members, start, stop)
        if _are_parts_allowed(rule, sensitive, members, start, place, stop, tally):
            return place
        places[best_rank, best_turn] = -1


@entry("Axes, Cutting, GroupRule, i4[:,:]r, Stack, Tally, i8")
def refine(axes, cutting, rule, sensitive, stack, tally, budget):  # type: ignore[no-untyped-def]
    """Cut segments off the stack until it is empty or about `budget` records were visited."""
    n_attrs = axes.codes.shape[1]
    widths = np.empty(n_attrs, dtype=np.float64)
    visits = np.int64(0)
    while stack.depth[0] > 0 and visits < budget:
        stack.depth[0] -= 1
        start, stop = stack.starts[stack.depth[0]], stack.stops[stack.depth[0]]
        visits += n_attrs * (stop - start)
        place = np.int64(-1)
        if stop - start >= 2 * rule.min_size:
            for attr in range(n_attrs):
                widths[attr] = width(axes, attr, cutting, stack.members, start, stop)
            ranked = widest_first(widths)
            place = _missing_cut(axes, rule, sensitive, stack.members, start, stop, tally, ranked)
            if place < 0:
                if cutting.by_gain:
                    place = _best_cut(axes, cutting, rule, sensitive, stack.members, start, stop, tally, ranked)
                else:
                    place = _first_cut(axes, cutting, rule, sensitive, stack.members, start, stop, tally, ranked)
        if place < 0:
            stack.group_starts[stack.depth[1]] = start
            stack.group_stops[stack.depth[1]] = stop
            stack.depth[1] += 1
        else:
            stack.starts[stack.depth[0]], stack.stops[stack.depth[0]] = start, place
            stack.starts[stack.depth[0] + 1], stack.stops[stack.depth[0] + 1] = place, stop
            stack.depth[0] += 2


@inner
def _any_cut(axes, cutting, rule, sensitive, members, ranked, tally):  # type: ignore[no-untyped-def]
    """Whether any cut may be made: which one is taken does not matter here."""
    first, size = np.int64(0), len(members)
    if _missing_cut(axes, rule, sensitive, members, first, size, tally, ranked) >= 0:
        return True
    for attr in ranked:
        sort_by_code(axes, attr, members, first, size)
        for place in _share_places(axes, attr, cutting, members, first, size):
            if place >= 0 and _are_parts_allowed(rule, sensitive, members, first, place, size, tally):
                return True
    return False


@entry("Axes, Cutting, GroupRule, i4[:,:], i8[:,:], i8[:,:], f8[:], Tally")
def uncut_weights(axes, cutting, rule, rows, dealings, ties, weights, tally):  # type: ignore[no-untyped-def]
    """For each dealing [worlds, size] of the rows: 1 if no cut may be made, else 0.

    `axes` has the codes of the group's records; `ties` [worlds, size] are permutations of them, by which records of
    equal value are divided.
    """
    size, n_attrs = dealings.shape[1], axes.codes.shape[1]
    sensitive, members = np.empty_like(rows), np.arange(size)
    widths = np.empty(n_attrs, dtype=np.float64)
    for attr in range(n_attrs):
        widths[attr] = width(axes, attr, cutting, members, np.int64(0), size)
    ranked = widest_first(widths)
    for world in range(len(dealings)):
        for place in range(size):
            sensitive[place] = rows[dealings[world, place]]
            members[place] = ties[world, place]
        weights[world] = 0.0 if _any_cut(axes, cutting, rule, sensitive, members, ranked, tally) else 1.0
