"""Where groups start from: an even spread over the quasi-identifiers, or records dealt out value by value.

`spread` cuts the records into groups of given sizes along the quasi-identifiers alone, each time at the place that
leaves the least loss. `deal` gives each record to the group that grows least by it and has room for its sensitive
values; the few records that find no room are placed by moving another record on. Cost: O(d^2 n log n) for the spread;
dealing descends a tree of groups for every record and leaves out what is full or too far, which in a table of people
takes time little more than in proportion to their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import entry, inner
from lookalike.kernels.axes import NODE, SET, measure, sort_by_code
from lookalike.kernels.partition import sweep, widest_first, width


@entry("Axes, Cutting, i8[:], i8[:]")
def spread(axes, cutting, members, starts):  # type: ignore[no-untyped-def]
    """Order `members` so that members[starts[g]:starts[g + 1]] lie close together for every g."""
    n_attrs, n_shares = axes.codes.shape[1], len(cutting.shares)
    lows, highs = np.empty(len(starts) + 1, dtype=np.int64), np.empty(len(starts) + 1, dtype=np.int64)
    lows[0], highs[0], depth = 0, len(starts) - 1, 1
    widths = np.empty(n_attrs)
    places, losses = np.empty(n_shares, dtype=np.int64), np.empty(n_shares)
    groups = np.empty(n_shares, dtype=np.int64)
    while depth > 0:
        depth -= 1
        low, high = lows[depth], highs[depth]
        if high - low < 2:
            continue
        start, stop = starts[low], starts[high]
        last = low
        for turn in range(n_shares):
            groups[turn] = low + np.int64(cutting.shares[turn] * (high - low) + 0.5)
            if low < groups[turn] < high and groups[turn] != last:
                last, places[turn] = groups[turn], starts[groups[turn]]
            else:
                places[turn] = -1
        for attr in range(n_attrs):
            widths[attr] = width(axes, attr, cutting, members, start, stop)
        least, best_attr, middle, sorted_by = np.inf, np.int64(-1), (low + high) // 2, np.int64(-1)
        for attr in widest_first(widths):
            sort_by_code(axes, attr, members, start, stop)
            sorted_by = attr
            for turn in range(n_shares):
                losses[turn] = 0.0
            for forward in (True, False):
                sweep(axes, cutting, members, start, stop, places, losses, forward)
            for turn in range(n_shares):
                if places[turn] >= 0 and losses[turn] < least:
                    least, best_attr, middle = losses[turn], attr, groups[turn]
        if best_attr >= 0 and best_attr != sorted_by:
            sort_by_code(axes, best_attr, members, start, stop)
        lows[depth], highs[depth] = low, middle
        lows[depth + 1], highs[depth + 1] = middle, high
        depth += 2


# Groups below a node of the lowest level, and nodes below one of a higher level.
_BLOCK, _FAN = 16, 4
# Groups and nodes that are tried for a record, far ones last; the search that follows has to better them anyway.
_MOST_SEEN = 20_000


class _Hands(NamedTuple):
    """Groups while they are dealt: extents so far, and how many records they hold."""

    bounds: NDArray[np.int64]
    """[G, d, 4] least and greatest code, missing values, different categories"""
    present: NDArray[np.bool_]
    """[G, B] categories met, attribute after attribute"""
    offsets: NDArray[np.int64]
    """[d]"""
    tallies: NDArray[np.int64]
    """[G, S, M]"""
    filled: NDArray[np.int64]
    """[G]"""


@inner
def _grow(axes, hands, group, attr, code):  # type: ignore[no-untyped-def]
    bounds, kind = hands.bounds[group, attr], axes.attributes[attr]["kind"]
    if kind == SET:
        if not hands.present[group, hands.offsets[attr] + code]:
            hands.present[group, hands.offsets[attr] + code] = True
            bounds[3] += 1
    elif kind != NODE and code == axes.attributes[attr]["missing"]:
        bounds[2] += 1
    else:
        bounds[0], bounds[1] = min(bounds[0], code), max(bounds[1], code)


@inner
def _growth(axes, hands, group, record, enough):  # type: ignore[no-untyped-def]
    """By how much the group's loss by record grows with the record; stops counting once it is `enough`."""
    total = 0.0
    for attr in range(axes.codes.shape[1]):
        bounds, kind, code = hands.bounds[group, attr], axes.attributes[attr]["kind"], axes.codes[record, attr]
        low, high, lacking, distinct = bounds[0], bounds[1], bounds[2], bounds[3]
        if kind == SET:
            if hands.present[group, hands.offsets[attr] + code]:
                continue
            distinct += 1
        elif kind != NODE and code == axes.attributes[attr]["missing"]:
            lacking += 1
        elif low <= code <= high:
            continue
        else:
            low, high = min(low, np.int64(code)), max(high, np.int64(code))
        total += measure(axes, attr, low, high, lacking, distinct)
        total -= measure(axes, attr, bounds[0], bounds[1], bounds[2], bounds[3])
        if total >= enough:
            return total
    return total


@inner
def _has_room(sensitive, rooms, hands, group, record):  # type: ignore[no-untyped-def]
    for column in range(sensitive.shape[1]):
        value = sensitive[record, column]
        if hands.tallies[group, column, value] >= rooms[column, value]:
            return False
    return True


@inner
def _shift_tallies(sensitive, hands, group, record, step):  # type: ignore[no-untyped-def]
    for column in range(sensitive.shape[1]):
        hands.tallies[group, column, sensitive[record, column]] += step


@inner
def _put(axes, sensitive, hands, layout, group, record):  # type: ignore[no-untyped-def]
    layout.members[layout.starts[group] + hands.filled[group]] = record
    hands.filled[group] += 1
    _shift_tallies(sensitive, hands, group, record, np.int64(1))
    for attr in range(axes.codes.shape[1]):
        _grow(axes, hands, group, attr, np.int64(axes.codes[record, attr]))


class _Branches(NamedTuple):
    """A tree over groups, level after level, the lowest first. Nodes know what any of their groups must grow by."""

    firsts: NDArray[np.int64]
    """[levels + 1] where the nodes of each level begin"""
    hulls: _Hands
    """What the groups of each node reach over together."""
    space: NDArray[np.int64]
    """[nodes, S, M] how many groups of each node have room for a value"""


@inner
def _levels(n_groups):  # type: ignore[no-untyped-def]
    firsts, width = np.zeros(64, dtype=np.int64), (n_groups + _BLOCK - 1) // _BLOCK
    level = 0
    while True:
        firsts[level + 1] = firsts[level] + width
        level += 1
        if width <= _FAN:
            return firsts[: level + 1]
        width = (width + _FAN - 1) // _FAN


@inner
def _node_above(branches, level, group):  # type: ignore[no-untyped-def]
    return branches.firsts[level] + group // (_BLOCK * _FAN**level)


@inner
def _shift_space(branches, group, column, value, step):  # type: ignore[no-untyped-def]
    for level in range(len(branches.firsts) - 1):
        branches.space[_node_above(branches, level, group), column, value] += step


@inner
def _has_space(sensitive, branches, node, record):  # type: ignore[no-untyped-def]
    for column in range(sensitive.shape[1]):
        value = sensitive[record, column]
        if branches.space[node, column, value] <= 0:
            return False
    return True


@inner
def _from_home(firsts, block, stack):  # type: ignore[no-untyped-def]
    """Stack a tree with the home block on top, below it what is ever farther from it; returns the height."""
    depth, top = 0, len(firsts) - 2
    for level in range(top, -1, -1):
        # Of each node above the home block the other children, of the uppermost level all others.
        own = block // _FAN**level
        low = 0 if level == top else own // _FAN * _FAN
        high = firsts[level + 1] - firsts[level]
        if level < top:
            high = min(high, low + _FAN)
        for place in range(high - 1, low - 1, -1):
            if place != own:
                stack[depth, 0], stack[depth, 1] = level, firsts[level] + place
                depth += 1
    stack[depth, 0], stack[depth, 1] = 0, block
    return depth + 1


@inner
def _reach(axes, branches, group, attr, code):  # type: ignore[no-untyped-def]
    for level in range(len(branches.firsts) - 1):
        _grow(axes, branches.hulls, _node_above(branches, level, group), attr, code)


@inner
def _at_least(axes, hulls, node, record, enough):  # type: ignore[no-untyped-def]
    """What every group of a node grows by at least; stops counting once it is `enough`."""
    total = 0.0
    for attr in range(axes.codes.shape[1]):
        attribute, code = axes.attributes[attr], axes.codes[record, attr]
        if attribute["span"] <= 0.0:
            continue
        if attribute["kind"] == SET:
            if not hulls.present[node, hulls.offsets[attr] + code]:
                total += attribute["weight"] / attribute["span"]
        elif attribute["kind"] != NODE and code != attribute["missing"] and hulls.bounds[node, attr, 2] == 0:
            low, high = hulls.bounds[node, attr, 0], hulls.bounds[node, attr, 1]
            points = axes.points[attribute["points"] :]
            if code < low:
                total += attribute["weight"] * (points[low] - points[code]) / attribute["span"]
            elif code > high:
                total += attribute["weight"] * (points[code] - points[high]) / attribute["span"]
        if total >= enough:
            return total
    return total


@inner
def _make_room(axes, rooms, room_class, sensitive, hands, layout, record, turn):  # type: ignore[no-untyped-def]
    """Place a record that fits no open group: it takes another's place, which moves on to an open group."""
    n_groups = len(hands.filled)
    for open_group in range(n_groups):
        size = layout.starts[open_group + 1] - layout.starts[open_group]
        if hands.filled[open_group] >= size:
            continue
        open_rooms = rooms[room_class[open_group]]
        for step in range(n_groups):
            group = (step + turn) % n_groups
            own_rooms = rooms[room_class[group]]
            for place in range(layout.starts[group], layout.starts[group] + hands.filled[group]):
                other = layout.members[place]
                if group == open_group or not _has_room(sensitive, open_rooms, hands, open_group, other):
                    continue
                _shift_tallies(sensitive, hands, group, other, np.int64(-1))
                if _has_room(sensitive, own_rooms, hands, group, record):
                    layout.members[place] = record
                    _shift_tallies(sensitive, hands, group, record, np.int64(1))
                    for attr in range(axes.codes.shape[1]):
                        _grow(axes, hands, group, attr, np.int64(axes.codes[record, attr]))
                    _put(axes, sensitive, hands, layout, open_group, other)
                    return True
                _shift_tallies(sensitive, hands, group, other, np.int64(1))
    return False


@inner
def _empty_hands(n_groups, n_attrs, offsets, n_columns, n_values):  # type: ignore[no-untyped-def]
    hands = _Hands(
        np.zeros((n_groups, n_attrs, 4), dtype=np.int64),
        np.zeros((n_groups, offsets[n_attrs] + 1), dtype=np.bool_),
        offsets,
        np.zeros((n_groups, n_columns, n_values), dtype=np.int64),
        np.zeros(n_groups, dtype=np.int64),
    )
    for group in range(n_groups):
        for attr in range(n_attrs):
            hands.bounds[group, attr, 0], hands.bounds[group, attr, 1] = 1 << 30, -1
    return hands


@entry("Axes, i8[:,:,:], i8[:], i4[:,:]r, Layout, i8[:,:], i8[:], i8[:], i8[:], i8[:]")
def deal(axes, rooms, room_class, sensitive, layout, seeds, home, order, offsets, size_of_record):  # type: ignore[no-untyped-def]
    """Fill the layout's groups with the records in `order`, starting around `seeds` [G, d]; False if one is left over.

    Group g may hold rooms[room_class[g], column, value] records of a value. `home` [n]: the group that a record is
    nearest to, as far as is known; `offsets` [d + 1]: where each attribute's categories begin; `size_of_record` [n]:
    the size of the group that a record is meant for, 0 for any.

    Groups with numbers near each other lie near each other. They stand in a tree, whose nodes say what any of their
    groups would grow by at least; after the home block only those that might grow less are looked at.
    """
    n_groups, n_attrs, n_columns = len(layout.starts) - 1, axes.codes.shape[1], sensitive.shape[1]
    none, one = np.int64(0), np.int64(1)
    hands = _empty_hands(n_groups, n_attrs, offsets, n_columns, rooms.shape[2])
    firsts = _levels(n_groups)
    top = len(firsts) - 2
    branches = _Branches(
        firsts,
        _empty_hands(firsts[-1], n_attrs, offsets, none, none),
        np.zeros((firsts[-1], n_columns, rooms.shape[2]), dtype=np.int64),
    )
    for group in range(n_groups):
        for attr in range(n_attrs):
            _grow(axes, hands, group, attr, seeds[group, attr])
            _reach(axes, branches, group, attr, seeds[group, attr])
        for column in range(n_columns):
            for value in range(rooms.shape[2]):
                if rooms[room_class[group], column, value] > 0:
                    _shift_space(branches, group, column, value, one)
    left = np.empty(len(order), dtype=np.int64)
    n_left = 0
    stack = np.empty(((top + 2) * _FAN, 2), dtype=np.int64)
    for record in order:
        least, chosen, n_seen = np.inf, np.int64(-1), 0
        depth = _from_home(firsts, home[record] // _BLOCK, stack)
        while depth > 0 and (chosen < 0 or n_seen < _MOST_SEEN):
            depth -= 1
            level, node = stack[depth]
            n_seen += 1
            if not _has_space(sensitive, branches, node, record):
                continue
            if chosen >= 0 and _at_least(axes, branches.hulls, node, record, least) >= least:
                continue
            below = node - firsts[level]
            if level > 0:
                first = firsts[level - 1] + below * _FAN
                for child in range(min(first + _FAN, firsts[level]) - 1, first - 1, -1):
                    stack[depth, 0], stack[depth, 1] = level - 1, child
                    depth += 1
                continue
            for group in range(below * _BLOCK, min((below + 1) * _BLOCK, n_groups)):
                size = layout.starts[group + 1] - layout.starts[group]
                if hands.filled[group] >= size or (size_of_record[record] > 0 and size_of_record[record] != size):
                    continue
                if not _has_room(sensitive, rooms[room_class[group]], hands, group, record):
                    continue
                growth, n_seen = _growth(axes, hands, group, record, least), n_seen + 1
                if growth < least:
                    least, chosen = growth, np.int64(group)
        if chosen < 0:
            left[n_left] = record
            n_left += 1
            continue
        _put(axes, sensitive, hands, layout, chosen, record)
        for attr in range(n_attrs):
            _reach(axes, branches, chosen, attr, np.int64(axes.codes[record, attr]))
        is_full = hands.filled[chosen] >= layout.starts[chosen + 1] - layout.starts[chosen]
        for column in range(n_columns):
            for value in range(rooms.shape[2]):
                taken, room = hands.tallies[chosen, column, value], rooms[room_class[chosen], column, value]
                just_taken = value == sensitive[record, column]
                if (just_taken and taken == room) or (is_full and taken < room):
                    _shift_space(branches, chosen, column, value, -one)
    placed = True
    for turn in range(n_left):
        placed = placed and _make_room(axes, rooms, room_class, sensitive, hands, layout, left[turn], turn * 7919)
    return placed
