"""Which records fit inside which published cells, and whether each can be given a row of its own. For the audit only.

Cells are boxes of codes (sets are their least and greatest member plus a search for the gaps). A tree of bounding
boxes over the cells finds the cells that hold a record without listing pairs, so memory stays linear however much
the cells overlap. `list_fitting` lists the pairs where there is room for them. `assign` needs no list: a maximum
bipartite matching with capacities in which records take a free place in order of how few cells they fit, then
augmenting paths repair the rest, in rounds that visit no item twice.

Nothing here depends on the order of published rows: the test for leaked row order relies on that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner
from lookalike.kernels.sorting import sort_by_key

_LEAF = 4
_CHOICE = 64
_SAMPLE = 256


class Cells(NamedTuple):
    """Extents of U units on A attributes."""

    lows: NDArray[np.int32]
    """[U, A]"""
    highs: NDArray[np.int32]
    """[U, A] below lows: holds no value"""
    missing: NDArray[np.bool_]
    """[U, A] holds a missing value besides"""
    missing_codes: NDArray[np.int32]
    """[A]"""
    starts: NDArray[np.int64]
    """[U, A] where a set with gaps lists its members; starts == ends: every code from low to high"""
    ends: NDArray[np.int64]
    """[U, A]"""
    members: NDArray[np.int32]
    """sorted within each set"""


declare("Cells", Cells, "i4[:,:] i4[:,:] b1[:,:] i4[:] i8[:,:] i8[:,:] i4[:]")


class _Tree(NamedTuple):
    """Bounding boxes over items, nodes in pre-order; node n covers items[firsts[n]:lasts[n]]."""

    items: NDArray[np.int64]
    leaf_of_item: NDArray[np.int64]
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    skips: NDArray[np.int64]
    """next node when this one is passed over; a leaf's is the node after it"""
    parents: NDArray[np.int64]
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    missing: NDArray[np.bool_]


@inner
def _holds(cells, unit, codes, record):  # type: ignore[no-untyped-def]
    """Whether codes[record, :] lies inside the unit's cell on every attribute."""
    for attr in range(codes.shape[1]):
        code = codes[record, attr]
        if code < cells.lows[unit, attr] or code > cells.highs[unit, attr]:
            if cells.missing[unit, attr] and code == cells.missing_codes[attr]:
                continue
            return False
        low, high = cells.starts[unit, attr], cells.ends[unit, attr]
        if low == high:
            continue
        while low < high:
            middle = (low + high) // 2
            if cells.members[middle] < code:
                low = middle + 1
            else:
                high = middle
        if low == cells.ends[unit, attr] or cells.members[low] != code:
            return False
    return True


@entry("Cells, i8[:], i4[:,:]r, i8[:]")
def holds_each(cells, units, codes, records):  # type: ignore[no-untyped-def]
    """[m] bool: whether unit units[pair] holds record records[pair]."""
    held = np.zeros(len(units), dtype=np.bool_)
    for pair in range(len(units)):
        held[pair] = _holds(cells, units[pair], codes, records[pair])
    return held


@entry("Cells, i8[:], i8[:], i8[:], i4[:,:]r, i8[:], i8[:]")
def weight_fitting(cells, units, weights, starts, codes, records, block_of_record):  # type: ignore[no-untyped-def]
    """[m] int64: for each of `records` the sum of weights over the items of its block whose unit holds it."""
    sums = np.zeros(len(records), dtype=np.int64)
    for place in range(len(records)):
        record = records[place]
        block = block_of_record[record]
        for item in range(starts[block], starts[block + 1]):
            if _holds(cells, units[item], codes, record):
                sums[place] += weights[item]
    return sums


@inner
def _split_attribute(cells, units, items, first, last, widths):  # type: ignore[no-untyped-def]
    best, widest = 0, -1.0
    for attr in range(len(widths)):
        low, high = np.int64(1 << 40), np.int64(-1)
        for place in range(first, last):
            unit = units[items[place]]
            if cells.highs[unit, attr] < cells.lows[unit, attr]:
                continue
            center = np.int64(cells.lows[unit, attr]) + np.int64(cells.highs[unit, attr])
            low, high = min(low, center), max(high, center)
        if high >= low and (high - low) / widths[attr] > widest:
            best, widest = attr, (high - low) / widths[attr]
    return best


@inner
def _build_tree(cells, units, begin, end):  # type: ignore[no-untyped-def]
    """The tree over items 0 .. end - begin - 1, where item t is the unit units[begin + t]."""
    units = units[begin:end]
    n_items, n_attrs = len(units), cells.lows.shape[1]
    size = 2 * n_items + 1
    items, centers = np.empty(n_items, dtype=np.int64), np.empty(n_items, dtype=np.int64)
    spare = np.empty(n_items, dtype=np.int64)
    for item in range(n_items):
        items[item] = item
    leaf_of_item = np.zeros(n_items, dtype=np.int64)
    firsts, lasts = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    skips, parents = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    rights = np.zeros(size, dtype=np.int64)
    lows, highs = np.empty((size, n_attrs), dtype=np.int32), np.empty((size, n_attrs), dtype=np.int32)
    missing = np.empty((size, n_attrs), dtype=np.bool_)
    widths = np.empty(n_attrs, dtype=np.float64)
    for attr in range(n_attrs):
        widths[attr] = 1.0
        for unit in units:
            widths[attr] = max(widths[attr], cells.highs[unit, attr])
    stack = [(np.int64(0), np.int64(n_items), np.int64(-1), False)]
    node = np.int64(-1)
    while len(stack) > 0:
        first, last, parent, is_right = stack.pop()
        node += 1
        firsts[node], lasts[node], parents[node], rights[node] = first, last, parent, -1
        for attr in range(n_attrs):
            lows[node, attr], highs[node, attr] = 2147483647, -1
            missing[node, attr] = False
        if is_right:
            rights[parent] = node
        for place in range(first, last):
            unit = units[items[place]]
            for attr in range(n_attrs):
                missing[node, attr] |= cells.missing[unit, attr]
                if cells.highs[unit, attr] >= cells.lows[unit, attr]:
                    lows[node, attr] = min(lows[node, attr], cells.lows[unit, attr])
                    highs[node, attr] = max(highs[node, attr], cells.highs[unit, attr])
        if last - first <= _LEAF:
            for place in range(first, last):
                leaf_of_item[items[place]] = node
            continue
        attr = _split_attribute(cells, units, items, first, last, widths)
        for place in range(first, last):
            unit = units[items[place]]
            centers[items[place]] = np.int64(cells.lows[unit, attr]) + np.int64(cells.highs[unit, attr])
        sort_by_key(items[first:last], centers, spare[first:last])
        middle = (first + last) // 2
        stack.append((middle, last, node, True))
        stack.append((first, middle, node, False))
    n_nodes = node + 1
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        skips[node] = node + 1 if rights[node] < 0 else skips[rights[node]]
    return _Tree(
        items,
        leaf_of_item,
        firsts[:n_nodes],
        lasts[:n_nodes],
        skips[:n_nodes],
        parents[:n_nodes],
        lows[:n_nodes],
        highs[:n_nodes],
        missing[:n_nodes],
    )


@inner
def _may_hold(cells, tree, node, codes, record):  # type: ignore[no-untyped-def]
    for attr in range(codes.shape[1]):
        code = codes[record, attr]
        if (code < tree.lows[node, attr] or code > tree.highs[node, attr]) and not (
            tree.missing[node, attr] and code == cells.missing_codes[attr]
        ):
            return False
    return True


@inner
def _next_fit(cells, tree, units, begin, alive, live, codes, record, node, place):  # type: ignore[no-untyped-def]
    """The next live item that holds the record, from (node, place) on: (item, node, place), item -1 at the end.

    `alive` counts the live items below each node; place -1 enters the node anew.
    """
    n_nodes = len(tree.firsts)
    while node < n_nodes:
        if place < 0:
            if alive[node] == 0 or not _may_hold(cells, tree, node, codes, record):
                node = tree.skips[node]
                continue
            if tree.lasts[node] - tree.firsts[node] > _LEAF:
                node += 1
                continue
            place = tree.firsts[node]
        while place < tree.lasts[node]:
            item = tree.items[place]
            place += 1
            if live[item] and _holds(cells, units[begin + item], codes, record):
                return item, node, place
        node, place = tree.skips[node], np.int64(-1)
    return np.int64(-1), node, np.int64(-1)


@inner
def _shift(tree, alive, item, step):  # type: ignore[no-untyped-def]
    node = tree.leaf_of_item[item]
    while node >= 0:
        alive[node] += step
        node = tree.parents[node]


@inner
def _all_alive(tree):  # type: ignore[no-untyped-def]
    alive = np.empty(len(tree.firsts), dtype=np.int64)
    for node in range(len(alive)):
        alive[node] = tree.lasts[node] - tree.firsts[node]
    return alive


@inner
def _all_true(size):  # type: ignore[no-untyped-def]
    found = np.empty(size, dtype=np.bool_)
    for place in range(size):
        found[place] = True
    return found


@inner
def _none_yet(size):  # type: ignore[no-untyped-def]
    found = np.empty(size, dtype=np.int64)
    for place in range(size):
        found[place] = -1
    return found


@inner
def _by_choice(cells, tree, units, begin, codes, records):  # type: ignore[no-untyped-def]
    """Places of `records` by how many items each fits, fewest first; where that is many, by a sample of the items."""
    stride = max(1, len(tree.items) // _SAMPLE)
    alive, live = _all_alive(tree), _all_true(len(tree.items))
    fits = np.zeros(len(records), dtype=np.int64)
    order, spare = np.empty(len(records), dtype=np.int64), np.empty(len(records), dtype=np.int64)
    for place in range(len(records)):
        order[place] = place
        node, at = np.int64(0), np.int64(-1)
        while fits[place] < _CHOICE:
            item, node, at = _next_fit(cells, tree, units, begin, alive, live, codes, records[place], node, at)
            if item < 0:
                break
            fits[place] += 1
        if fits[place] == _CHOICE:
            for item in range(0, len(tree.items), stride):
                fits[place] += _holds(cells, units[begin + item], codes, records[place])
    sort_by_key(order, fits, spare)
    return order


@inner
def _assign_block(cells, units, begin, end, capacities, codes, records, holder):  # type: ignore[no-untyped-def]
    tree = _build_tree(cells, units, begin, end)
    n_items = end - begin
    slots = np.zeros(n_items + 1, dtype=np.int64)
    for number in range(n_items):
        slots[number + 1] = slots[number] + capacities[begin + number]
    owner = _none_yet(slots[n_items])
    filled = np.zeros(n_items, dtype=np.int64)
    item_of, slot_of = _none_yet(len(records)), _none_yet(len(records))
    open_alive, is_open = _all_alive(tree), _all_true(n_items)
    start, no_place = np.int64(0), np.int64(-1)

    waiting = np.zeros(len(records), dtype=np.int64)
    n_waiting = np.int64(0)
    order = _by_choice(cells, tree, units, begin, codes, records)
    for place in order:
        item, _, _ = _next_fit(cells, tree, units, begin, open_alive, is_open, codes, records[place], start, no_place)
        if item < 0:
            waiting[n_waiting] = place
            n_waiting += 1
            continue
        slot = slots[item] + filled[item]
        owner[slot], item_of[place], slot_of[place] = place, item, slot
        filled[item] += 1
        if filled[item] == slots[item + 1] - slots[item]:
            is_open[item] = False
            _shift(tree, open_alive, item, -1)

    came_from, next_slot = _none_yet(n_items), np.zeros(n_items, dtype=np.int64)
    path = np.zeros(n_items, dtype=np.int64)
    gained = True
    while gained and n_waiting > 0:
        gained, n_left = False, np.int64(0)
        is_fresh, fresh_alive = _all_true(n_items), _all_alive(tree)
        for turn in range(n_waiting):
            root = waiting[turn]
            place, depth, goal, arrived = root, 0, np.int64(-1), True
            while True:
                # An open item that the record fits ends the search; a filled one is a step on the way.
                if arrived:
                    goal, _, _ = _next_fit(
                        cells, tree, units, begin, open_alive, is_open, codes, records[place], start, no_place
                    )
                    if goal >= 0:
                        break
                item, _, _ = _next_fit(
                    cells, tree, units, begin, fresh_alive, is_fresh, codes, records[place], start, no_place
                )
                if item >= 0:
                    is_fresh[item] = False
                    _shift(tree, fresh_alive, item, -1)
                    came_from[item], next_slot[item] = place, slots[item]
                    path[depth] = item
                    depth += 1
                elif depth == 0:
                    break
                last = path[depth - 1]
                arrived = next_slot[last] < slots[last + 1]
                if arrived:
                    place = owner[next_slot[last]]
                    next_slot[last] += 1
                else:
                    place = came_from[last]
                    depth -= 1
            if goal < 0:
                waiting[n_left] = root
                n_left += 1
                continue
            gained = True
            slot = slots[goal] + filled[goal]
            filled[goal] += 1
            if filled[goal] == slots[goal + 1] - slots[goal]:
                is_open[goal] = False
                _shift(tree, open_alive, goal, -1)
            # The path is walked back: each record leaves its item to the one that reached for it.
            item = goal
            while True:
                left_item, left_slot = item_of[place], slot_of[place]
                owner[slot], item_of[place], slot_of[place] = place, item, slot
                if left_item < 0:
                    break
                item, slot = left_item, left_slot
                place = came_from[item]
        n_waiting = n_left
    for place in range(len(records)):
        if item_of[place] >= 0:
            holder[records[place]] = begin + item_of[place]


@entry("Cells, i8[:], i8[:], i8[:], i4[:,:]r, i8[:], i8[:]")
def assign(cells, units, capacities, item_starts, codes, records, record_starts):  # type: ignore[no-untyped-def]
    """[n] int64: an item for each record, -1 for none; as many records as possible get one.

    Item t is `capacities[t]` published rows of cell units[t]; records[record_starts[b]:record_starts[b + 1]] may only
    take items item_starts[b]:item_starts[b + 1].
    """
    holder = _none_yet(codes.shape[0])
    for block in range(len(item_starts) - 1):
        begin, end = item_starts[block], item_starts[block + 1]
        mine = records[record_starts[block] : record_starts[block + 1]]
        if begin == end or len(mine) == 0:
            continue
        if end - begin > 1:
            _assign_block(cells, units, begin, end, capacities, codes, mine, holder)
            continue
        room = capacities[begin]
        for place in range(len(mine)):
            if room > 0 and _holds(cells, units[begin], codes, mine[place]):
                holder[mine[place]] = begin
                room -= 1
    return holder


@entry("Cells, i8[:], i8[:], i4[:,:]r, i8[:], i8")
def list_fitting(cells, units, item_starts, codes, record_starts, limit):  # type: ignore[no-untyped-def]
    """For each record the items of its block that hold it, ascending: (starts [n + 1], items).

    Records record_starts[b]:record_starts[b + 1] are compared with items item_starts[b]:item_starts[b + 1]. Where
    there are more than `limit` pairs, none is listed and starts[n] is above the limit.
    """
    starts = np.zeros(codes.shape[0] + 1, dtype=np.int64)
    found = np.zeros(min(limit, 2 * codes.shape[0] + 1), dtype=np.int32)
    total = np.int64(0)
    for block in range(len(item_starts) - 1):
        begin, end = item_starts[block], item_starts[block + 1]
        tree = _build_tree(cells, units, begin, end)
        alive, live = _all_alive(tree), _all_true(end - begin)
        numbers, mine = np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.int64)
        spare = np.empty(end - begin, dtype=np.int64)
        for item in range(end - begin):
            numbers[item] = item
        for record in range(record_starts[block], record_starts[block + 1]):
            node, at, n_mine = np.int64(0), np.int64(-1), np.int64(0)
            while begin < end:
                item, node, at = _next_fit(cells, tree, units, begin, alive, live, codes, record, node, at)
                if item < 0:
                    break
                if total + n_mine == limit:
                    for after in range(record + 1, len(starts)):
                        starts[after] = limit + 1
                    return starts, found[:0]
                mine[n_mine] = item
                n_mine += 1
            if total + n_mine > len(found):
                longer = np.zeros(min(limit, 2 * (total + n_mine)), dtype=np.int32)
                for place in range(total):
                    longer[place] = found[place]
                found = longer
            sort_by_key(mine[:n_mine], numbers, spare[:n_mine])
            for place in range(n_mine):
                found[total + place] = begin + mine[place]
            total += n_mine
            starts[record + 1] = total
    return starts, found[:total].copy()
