"""Top-down multidimensional cuts (Mondrian), as a stack of segments of one array of record numbers.

The array starts in random order and every sort is stable, so records with equal values are divided at random, never
by input order or by sensitive value. `refine` works on the stack for a bounded number of record visits and returns,
so that the caller can show progress and be interrupted. Cost O(d n log n) visits in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import entry, inner
from lookalike.kernels.grouptest import allowed

INTERVAL = 0
ORDERED = 1
SET = 2
NODE = 3


ATTRIBUTE = np.dtype(
    [
        ("kind", np.int64),
        ("span", np.float64),
        ("weight", np.float64),
        ("missing", np.int64),
        ("points", np.int64),
        ("tree", np.int64),
        ("leaves", np.int64),
    ]
)
"""One quasi-identifier: INTERVAL, ORDERED, SET or NODE; what a full extent measures (0: it cannot lose anything); the
code of a missing value; where its points, its tree and its leaves begin in the arrays of all attributes."""
TREE_NODE = np.dtype([("parent", np.int32), ("first", np.int32), ("last", np.int32)])


class Axes(NamedTuple):
    """The quasi-identifiers as a kernel sees them; d attributes."""

    codes: NDArray[np.int32]
    """[n, d]"""
    attributes: NDArray[np.void]
    """[d] ATTRIBUTE"""
    points: NDArray[np.float64]
    """Positions of the codes, attribute after attribute"""
    nodes: NDArray[np.void]
    """TREE_NODE, attribute after attribute; parents count within their tree"""
    leaf_nodes: NDArray[np.int32]
    """Node of each leaf, attribute after attribute"""


class Cutting(NamedTuple):
    """How cuts are chosen, and scratch space."""

    strict: bool
    """Whether records of one value stay together in numeric attributes too."""
    by_gain: bool
    """Whether the cut of least loss is taken rather than the first that may be made."""
    shares: NDArray[np.float64]
    """Parts of a segment that go left, in the order in which they are tried."""
    marks: NDArray[np.int8]
    """[codes] all zero between uses"""
    spare: NDArray[np.int64]
    """[n]"""


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


@inner
def lowest_common(axes, attr, low, high):  # type: ignore[no-untyped-def]
    """The node (within the attribute's own tree) above two leaf codes."""
    tree = axes.attributes[attr]["tree"]
    node = axes.leaf_nodes[axes.attributes[attr]["leaves"] + low]
    while axes.nodes[tree + node]["last"] < high:
        node = axes.nodes[tree + node]["parent"]
    return node


@entry
def width(axes, attr, members, start, stop, marks):  # type: ignore[no-untyped-def]
    """The weighted loss that the segment has in one attribute. `marks` is all zero before and after."""
    if axes.attributes[attr]["span"] <= 0.0:
        return 0.0
    kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
    if kind == SET:
        distinct = 0
        for place in range(start, stop):
            code = axes.codes[members[place], attr]
            if marks[code] == 0:
                marks[code] = 1
                distinct += 1
        for place in range(start, stop):
            marks[axes.codes[members[place], attr]] = 0
        return axes.attributes[attr]["weight"] * (distinct - 1) / axes.attributes[attr]["span"]
    low, high, lacking = np.int64(1 << 40), np.int64(-1), False
    for place in range(start, stop):
        code = np.int64(axes.codes[members[place], attr])
        if code == missing and kind != NODE:
            lacking = True
        else:
            low, high = min(low, code), max(high, code)
    if lacking:
        # An interval that may also hide a missing value says nothing for sure.
        return axes.attributes[attr]["weight"] if high >= 0 else 0.0
    if kind == NODE:
        tree, node = axes.attributes[attr]["tree"], lowest_common(axes, attr, low, high)
        leaves = axes.nodes[tree + node]["last"] - axes.nodes[tree + node]["first"]
        return axes.attributes[attr]["weight"] * leaves / axes.attributes[attr]["span"]
    origin = axes.attributes[attr]["points"]
    return (
        axes.attributes[attr]["weight"]
        * (axes.points[origin + high] - axes.points[origin + low])
        / axes.attributes[attr]["span"]
    )


@inner
def _insertion_sort(axes, attr, members, start, stop):  # type: ignore[no-untyped-def]
    for place in range(start + 1, stop):
        member = members[place]
        code = axes.codes[member, attr]
        hole = place
        while hole > start and axes.codes[members[hole - 1], attr] > code:
            members[hole] = members[hole - 1]
            hole -= 1
        members[hole] = member


@entry
def sort_by_code(axes, attr, members, start, stop):  # type: ignore[no-untyped-def]
    """Stable sort of a segment by one attribute's codes: insertion for few records, else radix, eight bits a pass.

    NumPy's sorts would do, but take longer to compile than everything else here.
    """
    if stop - start <= 24:
        _insertion_sort(axes, attr, members, start, stop)
        return
    largest = np.int64(0)
    for place in range(start, stop):
        largest = max(largest, np.int64(axes.codes[members[place], attr]))
    offsets = np.empty(257, dtype=np.int64)
    spare = np.empty(stop - start, dtype=np.int64)
    shift = 0
    while largest >> shift > 0:
        offsets[:] = 0
        for place in range(start, stop):
            offsets[((axes.codes[members[place], attr] >> shift) & 255) + 1] += 1
        for digit in range(256):
            offsets[digit + 1] += offsets[digit]
        for place in range(start, stop):
            digit = (axes.codes[members[place], attr] >> shift) & 255
            spare[offsets[digit]] = members[place]
            offsets[digit] += 1
        for place in range(start, stop):
            members[place] = spare[place - start]
        shift += 8


@entry
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
def _missing_boundary(axes, attr, members, start, stop):  # type: ignore[no-untyped-def]
    """Where missing values begin in a sorted segment of an interval attribute; `stop` if nowhere useful."""
    if axes.attributes[attr]["kind"] in (SET, NODE):
        return stop
    place = stop
    while place > start and axes.codes[members[place - 1], attr] == axes.attributes[attr]["missing"]:
        place -= 1
    return place if place > start else stop


@inner
def cut_place(axes, attr, strict, share, members, start, stop):  # type: ignore[no-untyped-def]
    """Where a sorted segment is cut so that about `share` of it goes left; -1 if it cannot be cut."""
    place = start + np.int64(share * (stop - start) + 0.5)
    if strict or axes.attributes[attr]["kind"] in (SET, NODE):
        boundaries = _boundaries(axes, attr, members, start, stop)
        if len(boundaries) == 0:
            return np.int64(-1)
        nearest = boundaries[0]
        for boundary in boundaries:
            if abs(boundary - place) < abs(nearest - place):
                nearest = boundary
        place = nearest
    return place if start < place < stop else np.int64(-1)


@inner
def parts_allowed(rule, sensitive, members, start, place, stop, tally):  # type: ignore[no-untyped-def]
    """Whether a cut leaves two groups that may stand."""
    return allowed(rule, sensitive, members, start, place, tally) and allowed(
        rule, sensitive, members, place, stop, tally
    )


@inner
def _contains(places, stop, place):  # type: ignore[no-untyped-def]
    found = False
    for turn in range(stop):
        found = found or places[turn] == place
    return found


@inner
def missing_cut(axes, rule, sensitive, members, start, stop, tally, ranked):  # type: ignore[no-untyped-def]
    """A cut between the records that have a value and those that lack it; -1 if none may be made."""
    for attr in ranked:
        sort_by_code(axes, attr, members, start, stop)
        place = _missing_boundary(axes, attr, members, start, stop)
        if place < stop and parts_allowed(rule, sensitive, members, start, place, stop, tally):
            return place
    return np.int64(-1)


@inner
def first_cut(axes, cutting, rule, sensitive, members, start, stop, tally, ranked):  # type: ignore[no-untyped-def]
    """The median of each attribute in the order `ranked`, then the other shares: the first cut that may be made.

    Returns its place, with the segment sorted accordingly; -1 if there is none.
    """
    shares = cutting.shares
    tried = np.empty((len(ranked), len(shares)), dtype=np.int64)
    tried[:] = -1
    for turn in range(len(shares)):
        for rank in range(len(ranked)):
            sort_by_code(axes, ranked[rank], members, start, stop)
            place = cut_place(axes, ranked[rank], cutting.strict, shares[turn], members, start, stop)
            if place < 0 or _contains(tried[rank], turn, place):
                continue
            tried[rank, turn] = place
            if parts_allowed(rule, sensitive, members, start, place, stop, tally):
                return place
    return np.int64(-1)


@inner
def best_cut(axes, cutting, rule, sensitive, members, start, stop, tally, ranked):  # type: ignore[no-untyped-def]
    """Of all attributes and shares the cut that may be made and leaves the least loss.

    Returns its place, with the segment in the order in which the parts were tested; -1 if there is none.
    """
    shares, marks = cutting.shares, cutting.marks
    best_loss, best_place = np.inf, np.int64(-1)
    tried = np.empty(len(shares), dtype=np.int64)
    for attr in ranked:
        sort_by_code(axes, attr, members, start, stop)
        improved = False
        for turn in range(len(shares)):
            place = cut_place(axes, attr, cutting.strict, shares[turn], members, start, stop)
            tried[turn] = place
            if place < 0 or _contains(tried, turn, place):
                continue
            loss = 0.0
            for other in range(axes.codes.shape[1]):
                loss += (place - start) * width(axes, other, members, start, place, marks)
                loss += (stop - place) * width(axes, other, members, place, stop, marks)
            if loss < best_loss and parts_allowed(rule, sensitive, members, start, place, stop, tally):
                best_loss, best_place, improved = loss, place, True
        if improved:
            # Another attribute's sort would divide equal values anew: keep the order that was tested.
            cutting.spare[start:stop] = members[start:stop]
    if best_place >= 0:
        members[start:stop] = cutting.spare[start:stop]
    return best_place


@entry
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
                widths[attr] = width(axes, attr, stack.members, start, stop, cutting.marks)
            ranked = widest_first(widths)
            place = missing_cut(axes, rule, sensitive, stack.members, start, stop, tally, ranked)
            if place < 0:
                if cutting.by_gain:
                    place = best_cut(axes, cutting, rule, sensitive, stack.members, start, stop, tally, ranked)
                else:
                    place = first_cut(axes, cutting, rule, sensitive, stack.members, start, stop, tally, ranked)
        if place < 0:
            stack.group_starts[stack.depth[1]] = start
            stack.group_stops[stack.depth[1]] = stop
            stack.depth[1] += 1
        else:
            stack.starts[stack.depth[0]], stack.stops[stack.depth[0]] = start, place
            stack.starts[stack.depth[0] + 1], stack.stops[stack.depth[0] + 1] = place, stop
            stack.depth[0] += 2
