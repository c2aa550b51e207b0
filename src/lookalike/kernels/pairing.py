"""One round of giving every slot a record: greedily by slot, greedily by cost, and the repair of what got stuck.

A slot may not take a record whose label it holds already. A record's label is its number, unless a method gives other
ones (such as sensitive values, of which the slot is to have no two alike). Greedy rounds can dead-end; a stuck slot
then gets its record over an augmenting path, which exists while every record may go to more slots than it is in.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.matching import growth_by_code, growth_costs, rank_codes, row_losses, widest_code

_SAMPLE = 32


@inner
def _holds(labels, table, filled, slot, record):  # type: ignore[no-untyped-def]
    for column in range(filled):  # noqa: SIM110 (generators do not compile)
        if labels[table[slot, column]] == labels[record]:
            return True
    return False


@inner
def _slot_growth(axes, table, slot, others, codes, starts, met, growth):  # type: ignore[no-untyped-def]
    """Set growth to what a slot grows by for each of the codes; codes[starts[a]:starts[a + 1]] are attribute a's."""
    for attr in range(len(starts) - 1):
        if axes.attributes[attr]["span"] > 0.0:
            mine = slice(starts[attr], starts[attr + 1])
            growth_by_code(axes, attr, table, slot, others, codes[mine], met[attr], growth[mine])


@entry("Axes, i8[:], i8[:,:], i8, i8[:], i8[:], i8[:]")
def greedy_round(axes, labels, table, filled, records, order, chosen):  # type: ignore[no-untyped-def]
    """Give each slot, in `order`, the free record that it grows least by; chosen [slots] is -1 where none is allowed.

    table[:, :filled] holds the slots' records so far. Memory O(slots), time O(slots x records x attributes).
    """
    n_attrs, others = axes.codes.shape[1], np.arange(filled)
    widest = max(widest_code(axes, table, others), widest_code(axes, records.reshape(-1, 1), np.arange(1)))
    scratch, met = np.full(widest + 1, -1, dtype=np.int64), np.full((n_attrs, widest + 1), -1, dtype=np.int64)
    # What a slot grows by is worked out once for each code, not for each record.
    codes, starts = np.empty(n_attrs * len(records), dtype=np.int64), np.zeros(n_attrs + 1, dtype=np.int64)
    code_of, ranks = np.empty((len(records), n_attrs), dtype=np.int64), np.empty(len(records), dtype=np.int64)
    for attr in range(n_attrs):
        found = rank_codes(axes, attr, records, ranks, scratch)
        starts[attr + 1] = starts[attr] + len(found)
        codes[starts[attr] : starts[attr + 1]] = found
        code_of[:, attr] = starts[attr] + ranks
    growth = np.zeros(starts[n_attrs])
    # Among equals, what most slots would grow by much goes first: a slot that can have it for little should.
    hardness = np.zeros(len(records))
    for turn in range(0, len(order), max(len(order) // _SAMPLE, 1)):
        _slot_growth(axes, table, order[turn], others, codes, starts, met, growth)
        for place in range(len(records)):
            for attr in range(n_attrs):
                hardness[place] += growth[code_of[place, attr]]
    first = np.argsort(-hardness, kind="mergesort")
    # Unsigned: an index that cannot be negative needs no look at its sign.
    records, code_of = records[first], code_of[first].astype(np.uint32)
    met[:] = -1
    free = np.arange(len(records)).astype(np.uint32)
    n_free = len(free)
    for turn in range(len(order)):
        slot = order[turn]
        _slot_growth(axes, table, slot, others, codes, starts, met, growth)
        least, best = np.inf, np.int64(-1)
        for place in range(n_free):
            total = 0.0
            for attr in range(n_attrs):
                total += growth[code_of[free[place], attr]]
            if total < least and not _holds(labels, table, filled, slot, records[free[place]]):
                least, best = total, np.int64(place)
                if least == 0.0:
                    break
        if best < 0:
            chosen[slot] = -1
        else:
            chosen[slot] = records[free[best]]
            n_free -= 1
            free[best:n_free] = free[best + 1 : n_free + 1]


@entry("i8[:], i8, i8[:], i8[:]")
def take_in_order(order, n_records, taken_slot, taken_record):  # type: ignore[no-untyped-def]
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


@entry("Axes, i8[:], i8[:,:], i8[:,:,:]")
def greedy_slots(axes, labels, table, slots):  # type: ignore[no-untyped-def]
    """As `match_slots`, by greedy rounds, where no two records have one label; ties go by the order of the table."""
    n_rows, degree = table.shape
    marks = np.empty(np.int64(axes.codes.max()) + 1, dtype=np.int64)
    chosen = np.empty(n_rows, dtype=np.int64)
    for own in range(degree):
        around = (own + np.arange(degree)) % degree
        filled = table[:, around].copy()
        for turn in range(1, degree):
            order = np.argsort(row_losses(axes, filled[:, :turn].copy(), marks), kind="mergesort")
            greedy_round(axes, labels, filled, turn, table[:, around[turn]].copy(), order, chosen)
            filled[:, turn] = chosen
        for turn in range(degree):
            slots[own, :, around[turn]] = filled[:, turn]


@entry("Axes, i8[:,:], i8[:,:,:]")
def cheapest_slots(axes, table, slots):  # type: ignore[no-untyped-def]
    """As `match_slots`, by the cheapest pair first, where nothing is forbidden; ties go by the order of the table."""
    n_rows, degree = table.shape
    marks = np.empty(np.int64(axes.codes.max()) + 1, dtype=np.int64)
    costs = np.empty((n_rows, n_rows))
    for own in range(degree):
        around = (own + np.arange(degree)) % degree
        filled = table[:, around].copy()
        for turn in range(1, degree):
            growth_costs(axes, filled, np.arange(turn), turn, costs)
            losses = row_losses(axes, filled[:, :turn].copy(), marks)
            for row in range(n_rows):
                costs[row] += losses[row]
            taken, by_record = np.full(n_rows, -1, dtype=np.int64), np.full(n_rows, -1, dtype=np.int64)
            take_in_order(np.argsort(costs.ravel(), kind="mergesort"), n_rows, taken, by_record)
            filled[:, turn] = table[taken, around[turn]]
        for turn in range(degree):
            slots[own, :, around[turn]] = filled[:, turn]


@entry("i8[:], i8[:,:], i8, i8[:], i8[:]")
def repair(labels, table, filled, records, chosen):  # type: ignore[no-untyped-def]
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
                if came_from[record] >= 0 or _holds(labels, table, filled, slot, record):
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


@entry("f8[:,:], i8[:], i8[:]")
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
