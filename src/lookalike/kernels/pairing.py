"""One round of giving every slot a record: greedily by slot, greedily by cost, and the repair of what got stuck.

A slot may not take a record that it holds already. Greedy rounds can dead-end; a stuck slot then gets its record over
an augmenting path, which always exists while every record may still go to more slots than it is in.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.axes import NODE, SET, measure


@inner
def _holds(table, filled, slot, record):  # type: ignore[no-untyped-def]
    for column in range(filled):  # noqa: SIM110 (generators do not compile)
        if table[slot, column] == record:
            return True
    return False


@entry
def greedy_round(axes, table, filled, records, order, chosen):  # type: ignore[no-untyped-def]
    """Give each slot, in `order`, the free record that it grows least by; chosen [slots] is -1 where none is allowed.

    table[:, :filled] holds the slots' records so far. Memory O(slots), time O(slots x records x attributes) with early
    exits.
    """
    n_attrs = axes.codes.shape[1]
    widest = np.int64(0)
    for attr in range(n_attrs):
        for record in records:
            widest = max(widest, np.int64(axes.codes[record, attr]))
        for slot in order:
            for column in range(filled):
                widest = max(widest, np.int64(axes.codes[table[slot, column], attr]))
    met = np.full((n_attrs, widest + 1), -1, dtype=np.int64)
    bounds = np.empty((n_attrs, 3), dtype=np.int64)
    before = np.empty(n_attrs)
    free = records.copy()
    n_free = len(free)
    for turn in range(len(order)):
        slot = order[turn]
        for attr in range(n_attrs):
            kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
            low, high, lacking = np.int64(1 << 40), np.int64(-1), np.int64(0)
            for column in range(filled):
                code = np.int64(axes.codes[table[slot, column], attr])
                if kind == SET:
                    met[attr, code] = slot
                elif kind != NODE and code == missing:
                    lacking = np.int64(1)
                else:
                    low, high = min(low, code), max(high, code)
            bounds[attr, 0], bounds[attr, 1], bounds[attr, 2] = low, high, lacking
            before[attr] = measure(axes, attr, low, high, lacking, 0) if kind != SET else 0.0
        least, best = np.inf, np.int64(-1)
        for place in range(n_free):
            record = free[place]
            total = 0.0
            for attr in range(n_attrs):
                attribute, code = axes.attributes[attr], np.int64(axes.codes[record, attr])
                if attribute["kind"] == SET:
                    if met[attr, code] != slot and attribute["span"] > 0.0:
                        total += attribute["weight"] / attribute["span"]
                else:
                    low, high, lacking = bounds[attr, 0], bounds[attr, 1], bounds[attr, 2]
                    if attribute["kind"] != NODE and code == attribute["missing"]:
                        total += measure(axes, attr, low, high, 1, 0) - before[attr]
                    elif not low <= code <= high:
                        total += measure(axes, attr, min(low, code), max(high, code), lacking, 0) - before[attr]
                if total >= least:
                    break
            if total < least and not _holds(table, filled, slot, record):
                least, best = total, np.int64(place)
        if best < 0:
            chosen[slot] = -1
        else:
            chosen[slot] = free[best]
            n_free -= 1
            free[best] = free[n_free]


@entry
def sorted_round(order, n_records, taken_slot, taken_record):  # type: ignore[no-untyped-def]
    """Go through cells slot * n_records + record in `order` and take each whose slot and record are still free.

    taken_slot [slots] is the record of each slot, taken_record [records] the slot of each record; -1 where free.
    """
    left = len(taken_slot)
    for cell in order:
        slot, record = cell // n_records, cell % n_records
        if taken_slot[slot] < 0 and taken_record[record] < 0:
            taken_slot[slot] = record
            taken_record[record] = slot
            left -= 1
            if left == 0:
                break


@entry
def repair(table, filled, records, chosen):  # type: ignore[no-untyped-def]
    """Give stuck slots (chosen -1) a record along shortest augmenting paths over allowed cells; False if it fails."""
    n_slots = len(chosen)
    slot_of = np.full(records.max() + 1, -1, dtype=np.int64)
    for slot in range(n_slots):
        if chosen[slot] >= 0:
            slot_of[chosen[slot]] = slot
    queue, came_from = np.empty(n_slots, dtype=np.int64), np.empty(records.max() + 1, dtype=np.int64)
    for stuck in range(n_slots):
        if chosen[stuck] >= 0:
            continue
        came_from[:] = -1
        queue[0], head, tail, end = stuck, 0, 1, np.int64(-1)
        while head < tail and end < 0:
            slot = queue[head]
            head += 1
            for record in records:
                if came_from[record] >= 0 or _holds(table, filled, slot, record):
                    continue
                came_from[record] = slot
                if slot_of[record] < 0:
                    end = record
                    break
                queue[tail] = slot_of[record]
                tail += 1
        if end < 0:
            return False
        while True:
            slot = came_from[end]
            before = chosen[slot]
            chosen[slot] = end
            slot_of[end] = slot
            if slot == stuck:
                break
            end = before
    return True


@entry
def pair_up(costs, order, partner):  # type: ignore[no-untyped-def]
    """Pair all records up at little cost, none with one at infinite cost; False if that was not managed.

    costs [n, n] is symmetric, n even. Cheapest partner first, in `order`; two left over take another pair apart; then
    pairs exchange partners while that pays.
    """
    n_records = len(partner)
    for record in order:
        if partner[record] >= 0:
            continue
        least, best = np.inf, np.int64(-1)
        for other in order:
            if other != record and partner[other] < 0 and costs[record, other] < least:
                least, best = costs[record, other], np.int64(other)
        if best >= 0:
            partner[record], partner[best] = best, record
    for record in range(n_records):
        if partner[record] >= 0:
            continue
        least, other, first = np.inf, np.int64(-1), np.int64(-1)
        for left in range(record + 1, n_records):
            if partner[left] >= 0:
                continue
            for one in range(n_records):
                if one != record and one != left and partner[one] >= 0:
                    cost = costs[record, one] + costs[left, partner[one]] - costs[one, partner[one]]
                    if cost < least:
                        least, other, first = cost, np.int64(left), np.int64(one)
        if first < 0:
            return False
        second = partner[first]
        partner[record], partner[first], partner[other], partner[second] = first, record, second, other
    improved = True
    while improved:
        improved = False
        for record in range(n_records):
            for other in range(n_records):
                mate, match = partner[record], partner[other]
                if other in (record, mate):
                    continue
                if costs[record, other] + costs[mate, match] < costs[record, mate] + costs[other, match] - 1e-12:
                    partner[record], partner[other], partner[mate], partner[match] = other, record, match, mate
                    improved = True
    return True
