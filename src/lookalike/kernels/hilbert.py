"""Places on a Hilbert curve, and the records of several buckets that lie nearest to a place on it.

The curve is Skilling's ("Programming the Hilbert curve", 2004): any number of attributes d and bits b with d * b <= 62.
`retrieve` takes groups out of buckets that are sorted along the curve. Records that are taken are skipped by links to
the next one that is left (union-find), so a group costs about its size, however many groups there are.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.axes import NODE, SET, measure


@inner
def _key(cell, bits):  # type: ignore[no-untyped-def]
    """The place of a cell on the curve; `cell` [d] is used up."""
    n_attrs = len(cell)
    top = np.int64(1) << (bits - 1)
    mask = top
    while mask > 1:
        below = mask - 1
        for attr in range(n_attrs):
            if cell[attr] & mask:
                cell[0] ^= below
            else:
                swapped = (cell[0] ^ cell[attr]) & below
                cell[0] ^= swapped
                cell[attr] ^= swapped
        mask >>= 1
    for attr in range(1, n_attrs):
        cell[attr] ^= cell[attr - 1]
    flips, mask = np.int64(0), top
    while mask > 1:
        if cell[n_attrs - 1] & mask:
            flips ^= mask - 1
        mask >>= 1
    key = np.int64(0)
    for bit in range(bits - 1, -1, -1):
        for attr in range(n_attrs):
            key = (key << 1) | (((cell[attr] ^ flips) >> bit) & 1)
    return key


@entry("i8[:,:], i8")
def hilbert_keys(cells, bits):  # type: ignore[no-untyped-def]
    """[n] int64: the places of cells [n, d] with whole coordinates below 2^bits."""
    keys = np.empty(len(cells), dtype=np.int64)
    cell = np.empty(cells.shape[1], dtype=np.int64)
    for row in range(len(cells)):
        cell[:] = cells[row]
        keys[row] = _key(cell, bits)
    return keys


@inner
def _left_at(links, place):  # type: ignore[no-untyped-def]
    """Where the links from a place end; shortened on the way."""
    end = place
    while links[end] != end:
        end = links[end]
    while links[place] != end:
        links[place], place = end, links[place]
    return end


@inner
def _pair_loss(axes, first, second):  # type: ignore[no-untyped-def]
    total = 0.0
    for attr in range(axes.codes.shape[1]):
        here, there = np.int64(axes.codes[first, attr]), np.int64(axes.codes[second, attr])
        if here == there or axes.attributes[attr]["span"] <= 0.0:
            continue
        kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
        if kind == SET:
            total += measure(axes, attr, 0, 0, 0, 2)
        elif kind != NODE and (here == missing or there == missing):
            total += measure(axes, attr, 0, 0, 1, 0)
        else:
            total += measure(axes, attr, min(here, there), max(here, there), 0, 0)
    return total


@inner
def _find_nearest(keys, up, down, first, last, key, wanted, places):  # type: ignore[no-untyped-def]
    """Set places [:found] to the `wanted` (or all) places of a bucket [first, last) left that are nearest on the curve.

    up and down have a place more on either side: links of place p stand at p + 1.
    """
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    after, before = _left_at(up, low + 1) - 1, _left_at(down, low) - 1
    found = 0
    while found < wanted and (after < last or before >= first):
        if before < first or (after < last and keys[after] - key <= key - keys[before]):
            places[found] = after
            after = _left_at(up, after + 2) - 1
        else:
            places[found] = before
            before = _left_at(down, before) - 1
        found += 1
    return found


@inner
def _choose(axes, curve, first, last, seed, wanted, window, ranks, places, losses):  # type: ignore[no-untyped-def]
    """Set places [:wanted] to those taken of a bucket [first, last) for a seed.

    Of `window` times as many as are wanted, the nearest on the curve, those that lose least with the seed; 0: of all.
    If records have ranks, those of the lowest ranks.
    """
    keys, records, up, down = curve
    limit = last - first if window == 0 else wanted * window
    found = _find_nearest(keys, up, down, first, last, keys[seed], limit, places)
    if window == 1:
        return
    for place in range(found):
        if len(ranks):
            losses[place] = ranks[records[places[place]]]
        else:
            losses[place] = _pair_loss(axes, records[seed], records[places[place]])
    best = np.argsort(losses[:found], kind="mergesort")
    places[:wanted] = places[:found][best[:wanted]]


@inner
def _group_loss(axes, curve, firsts, lasts, seed, group, window, ranks, places, losses):  # type: ignore[no-untyped-def]
    """What the records that a seed would take lose with it, one by one."""
    total = 0.0
    for bucket in range(len(group)):
        if group[bucket] > 0:
            _choose(axes, curve, firsts[bucket], lasts[bucket], seed, group[bucket], window, ranks, places, losses)
            for place in places[: group[bucket]]:
                total += _pair_loss(axes, curve[1][seed], curve[1][place])
    return total


@inner
def _draw_place(curve, firsts, lasts, group, words):  # type: ignore[no-untyped-def]
    """A place that is left in one of the buckets that the group takes from; words [2] are random."""
    n_open = np.uint64(np.count_nonzero(group))
    bucket, left = 0, np.int64(words[0] % n_open)
    while group[bucket] == 0 or left > 0:
        left -= group[bucket] > 0
        bucket += 1
    drawn = firsts[bucket] + np.int64(words[1] % np.uint64(lasts[bucket] - firsts[bucket]))
    place = _left_at(curve[2], drawn + 1) - 1
    return place if place < lasts[bucket] else _left_at(curve[3], drawn + 1) - 1


@entry("Axes, i8[:], i8[:], i8[:], i8[:,:], u8[:,:,:]r, i8, f8[:], i4[:]")
def retrieve(axes, keys, records, starts, groups, words, window, ranks, group_of_record):  # type: ignore[no-untyped-def]
    """Number the groups of records: groups [g, buckets] says how many to take of each bucket, in this order.

    records are sorted bucket by bucket, starts [buckets + 1], and along the curve within each; keys are theirs. Each
    group takes a record that is left at random, the seed, and from every bucket those nearest to it. words are random
    [g, seeds, 2]: where there are several seeds, the one with the least loss is taken.
    """
    n_buckets = len(starts) - 1
    # A fence after every bucket, from which nothing is taken, ends the links up and those down of the next bucket.
    size = len(records) + n_buckets
    curve = np.zeros(size, dtype=np.int64), np.full(size, -1), np.arange(size + 2), np.arange(size + 2)
    firsts, lasts = np.empty(n_buckets, dtype=np.int64), np.empty(n_buckets, dtype=np.int64)
    most = np.int64(1)
    for bucket in range(n_buckets):
        first, last = starts[bucket] + bucket, starts[bucket + 1] + bucket
        firsts[bucket], lasts[bucket] = first, last
        curve[0][first:last] = keys[starts[bucket] : starts[bucket + 1]]
        curve[1][first:last] = records[starts[bucket] : starts[bucket + 1]]
        most = max(most, last - first if window == 0 else min(last - first, groups[:, bucket].max() * window))
    places, losses = np.empty(most, dtype=np.int64), np.empty(most)
    n_seeds = words.shape[1]
    for number in range(len(groups)):
        group = groups[number]
        seed, least = np.int64(-1), np.inf
        for attempt in range(n_seeds):
            place = _draw_place(curve, firsts, lasts, group, words[number, attempt])
            loss = 0.0
            if n_seeds > 1:
                loss = _group_loss(axes, curve, firsts, lasts, place, group, window, ranks, places, losses)
            if loss < least:
                seed, least = place, loss
        for bucket in range(n_buckets):
            if group[bucket] == 0:
                continue
            _choose(axes, curve, firsts[bucket], lasts[bucket], seed, group[bucket], window, ranks, places, losses)
            for place in places[: group[bucket]]:
                group_of_record[curve[1][place]] = number
                curve[2][place + 1], curve[3][place + 1] = place + 2, place
