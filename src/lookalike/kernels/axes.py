"""The quasi-identifiers as kernels see them: coded attributes of four kinds, and what an extent over them loses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner

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
        ("lacks", np.int64),
        ("points", np.int64),
        ("tree", np.int64),
        ("leaves", np.int64),
    ]
)
"""One quasi-identifier: INTERVAL, ORDERED, SET or NODE; what a full extent measures (0: it cannot lose anything); the
code of a missing value and whether an interval may have to hide one; where its points, its tree and its leaves begin
in the arrays of all attributes."""
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


declare("ATTRIBUTE", ATTRIBUTE)
declare("TREE_NODE", TREE_NODE)
declare("Axes", Axes, "i4[:,:]r ATTRIBUTE[:] f8[:] TREE_NODE[:] i4[:]")


@inner
def lowest_common(axes, attr, low, high):  # type: ignore[no-untyped-def]
    """The node (within the attribute's own tree) above two leaf codes."""
    tree = axes.attributes[attr]["tree"]
    node = axes.leaf_nodes[axes.attributes[attr]["leaves"] + low]
    while axes.nodes[tree + node]["last"] < high:
        node = axes.nodes[tree + node]["parent"]
    return node


@inner
def measure(axes, attr, low, high, lacking, distinct):  # type: ignore[no-untyped-def]
    """The weighted loss of an extent: least and greatest code, whether it hides a missing value, number of values."""
    attribute = axes.attributes[attr]
    if attribute["span"] <= 0.0:
        return 0.0
    if attribute["kind"] == SET:
        return attribute["weight"] * max(distinct - 1, 0) / attribute["span"]
    if high < 0:
        return 0.0
    if lacking != 0:
        # An interval that may also hide a missing value says nothing for sure.
        return attribute["weight"]
    if attribute["kind"] == NODE:
        node = attribute["tree"] + lowest_common(axes, attr, low, high)
        return attribute["weight"] * (axes.nodes[node]["last"] - axes.nodes[node]["first"]) / attribute["span"]
    points = attribute["points"]
    return attribute["weight"] * (axes.points[points + high] - axes.points[points + low]) / attribute["span"]


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


@entry("Axes, i8, i8[:], i8, i8")
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
        for digit in range(257):
            offsets[digit] = 0
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


@entry("Axes, i8, f8[:], f8[:], f8[:]")
def pair_distances(axes, record, factors, plain, scaled):  # type: ignore[no-untyped-def]
    """For every record x: plain[x] is what it and `record` lose together; scaled[x] the same, by attribute's factor."""
    none, one = np.int64(0), np.int64(1)
    for other in range(len(plain)):
        plain[other], scaled[other] = 0.0, 0.0
    for attr in range(axes.codes.shape[1]):
        kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
        if axes.attributes[attr]["span"] <= 0.0:
            continue
        here = np.int64(axes.codes[record, attr])
        for other in range(len(plain)):
            there = np.int64(axes.codes[other, attr])
            if there == here:
                continue
            if kind == SET:
                lost = measure(axes, attr, none, none, none, one + one)
            elif kind != NODE and (here == missing or there == missing):
                lost = measure(axes, attr, none, none, one, none)
            else:
                lost = measure(axes, attr, min(here, there), max(here, there), none, none)
            plain[other] += lost
            scaled[other] += factors[attr] * lost
