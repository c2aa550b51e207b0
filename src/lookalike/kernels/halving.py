"""A set of records cut in two, so many of each bucket to one side, along the attribute that leaves the least loss.

Cost of a cut: O(n d^2) for n records and d attributes (of a sample, where there are many), plus the codes that occur in
each bucket; nothing is sorted.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.axes import NODE, SET, measure

_SAMPLE = 10_000


@inner
def _places(axes, attr, codes, place_of):  # type: ignore[no-untyped-def]
    """Set place_of [codes] to where each code stands along the attribute; returns how many places there are.

    Categories stand by how frequent they are: frequent ones to one side, so that the other side has fewer of them.
    """
    widest = np.int64(0)
    for index in range(len(codes)):
        widest = max(widest, np.int64(codes[index, attr]))
    if axes.attributes[attr]["kind"] != SET:
        place_of[: widest + 1] = np.arange(widest + 1)
        return widest + 1
    counts = np.zeros(widest + 1, dtype=np.int64)
    for index in range(len(codes)):
        counts[codes[index, attr]] += 1
    place_of[np.argsort(-counts, kind="mergesort")] = np.arange(widest + 1)
    return widest + 1


@inner
def _divide(axes, attr, codes, buckets, left, place_of, to_left):  # type: ignore[no-untyped-def]
    """Set to_left [records]: of every bucket the so many that come first along the attribute; ties as they stand."""
    n_places = _places(axes, attr, codes, place_of)
    counts = np.zeros((len(left), n_places), dtype=np.int64)
    for index in range(len(codes)):
        counts[buckets[index], place_of[codes[index, attr]]] += 1
    # What of each place still goes left.
    for bucket in range(len(left)):
        room = left[bucket]
        for place in range(n_places):
            counts[bucket, place] = min(counts[bucket, place], room)
            room -= counts[bucket, place]
    for index in range(len(codes)):
        place = place_of[codes[index, attr]]
        to_left[index] = counts[buckets[index], place] > 0
        counts[buckets[index], place] -= 1


@inner
def _loss(axes, codes, to_left, marks):  # type: ignore[no-untyped-def]
    """What both sides lose, each counted by its records."""
    total, sizes = 0.0, np.zeros(2, dtype=np.int64)
    for side in to_left:
        sizes[np.int64(side)] += 1
    low, high = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
    lacking, distinct = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
    for attr in range(axes.codes.shape[1]):
        kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
        low[:], high[:], lacking[:], distinct[:] = 1 << 40, -1, 0, 0
        marks[:] = 0
        for index in range(len(codes)):
            side, code = np.int64(to_left[index]), np.int64(codes[index, attr])
            if kind == SET:
                if not marks[side, code]:
                    marks[side, code] = 1
                    distinct[side] += 1
            elif kind != NODE and code == missing:
                lacking[side] = 1
            else:
                low[side], high[side] = min(low[side], code), max(high[side], code)
        for side in range(2):
            total += sizes[side] * measure(axes, attr, low[side], high[side], lacking[side], distinct[side])
    return total


@entry("Axes, i8[:], i8[:], i8[:]")
def cut_in_two(axes, members, buckets, left):  # type: ignore[no-untyped-def]
    """The members in two: `left` [buckets] of each bucket go left, along the attribute that leaves the least loss.

    Both halves come in order along that attribute, and as they stood where it does not tell: what ties the next cuts
    leave is then divided between neighbours.
    """
    codes = axes.codes[members]
    widest = np.int64(codes.max())
    place_of, marks = np.empty(widest + 1, dtype=np.int64), np.empty((2, widest + 1), dtype=np.uint8)
    # In a large set a sample tells which attribute it is.
    step = max(len(members) // _SAMPLE, 1)
    some, their_buckets = codes[::step].copy(), buckets[::step].copy()
    their_left = left.copy()
    if step > 1:
        their_left[:] = 0
        for bucket in their_buckets:
            their_left[bucket] += 1
        their_left //= 2
    to_left = np.empty(len(some), dtype=np.bool_)
    least, best = np.inf, 0
    for attr in range(codes.shape[1]):
        _divide(axes, attr, some, their_buckets, their_left, place_of, to_left)
        loss = _loss(axes, some, to_left, marks)
        if loss < least:
            least, best = loss, attr
    went_left = np.empty(len(members), dtype=np.bool_)
    _divide(axes, best, codes, buckets, left, place_of, went_left)
    n_places = _places(axes, best, codes, place_of)
    starts = np.zeros(2 * n_places + 1, dtype=np.int64)
    for index in range(len(members)):
        starts[(1 - np.int64(went_left[index])) * n_places + place_of[codes[index, best]] + 1] += 1
    starts = np.cumsum(starts)
    n_left = starts[n_places]
    ordered = np.empty_like(members)
    for index in range(len(members)):
        spot = (1 - np.int64(went_left[index])) * n_places + place_of[codes[index, best]]
        ordered[starts[spot]] = members[index]
        starts[spot] += 1
    return ordered[:n_left].copy(), ordered[n_left:].copy()
