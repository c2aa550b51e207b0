"""Groups as rows of a table whose columns hold one record each: what a group grows by if it takes a given record.

Used where a group must take exactly one record from every column: the cheapest assignment of a column's records to the
groups, column after column. The pair losses say along which attribute a set of records is best cut in two. Cost of a
table of costs: O(rows^2 x attributes).
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.assignment import assign_cheapest
from lookalike.kernels.axes import NODE, SET, measure, sort_by_code


@inner
def growth_by_code(axes, attr, table, row, others, codes, met, growth):  # type: ignore[no-untyped-def]
    """Set growth[k] to what the group table[row, others] grows by on one attribute if it takes codes[k]."""
    attribute = axes.attributes[attr]
    if attribute["kind"] == SET:
        step = attribute["weight"] / attribute["span"]
        for other in others:
            met[axes.codes[table[row, other], attr]] = row
        for place in range(len(codes)):
            growth[place] = 0.0 if met[codes[place]] == row else step
        return
    missing = attribute["missing"] if attribute["kind"] != NODE else np.int64(-1)
    low, high, lacking = np.int64(1 << 40), np.int64(-1), np.int64(0)
    for other in others:
        code = np.int64(axes.codes[table[row, other], attr])
        if code == missing:
            lacking = np.int64(1)
        else:
            low, high = min(low, code), max(high, code)
    before = measure(axes, attr, low, high, lacking, 0)
    for place in range(len(codes)):
        code = np.int64(codes[place])
        if code == missing:
            growth[place] = measure(axes, attr, low, high, 1, 0) - before
        elif low <= code <= high:
            growth[place] = 0.0
        else:
            growth[place] = measure(axes, attr, min(low, code), max(high, code), lacking, 0) - before


@inner
def widest_code(axes, table, columns):  # type: ignore[no-untyped-def]
    """The largest code of any attribute among these columns of a table of records."""
    widest = np.int64(0)
    for row in range(len(table)):
        for column in columns:
            for attr in range(axes.codes.shape[1]):
                widest = max(widest, np.int64(axes.codes[table[row, column], attr]))
    return widest


@inner
def rank_codes(axes, attr, records, ranks, scratch):  # type: ignore[no-untyped-def]
    """The distinct codes of records on an attribute; ranks [records] is the place of each one's among them.

    scratch [codes] holds -1 everywhere, before and after.
    """
    codes = np.empty(len(records), dtype=np.int64)
    n_codes = 0
    for place in range(len(records)):
        code = axes.codes[records[place], attr]
        if scratch[code] < 0:
            scratch[code] = n_codes
            codes[n_codes] = code
            n_codes += 1
        ranks[place] = scratch[code]
    scratch[codes[:n_codes]] = -1
    return codes[:n_codes]


@entry("Axes, i8[:,:], i8[:], i8, f8[:,:]")
def growth_costs(axes, table, others, column, costs):  # type: ignore[no-untyped-def]
    """Set costs[g, r] to what the group table[g, others] grows by if it takes the record table[r, column]."""
    n_rows = len(table)
    coming = table[:, column]
    widest = max(widest_code(axes, table, others), widest_code(axes, table, np.array([column])))
    scratch, met = np.full(widest + 1, -1, dtype=np.int64), np.empty(widest + 1, dtype=np.int64)
    ranks, growth = np.empty(n_rows, dtype=np.int64), np.empty(n_rows)
    costs[:, :] = 0.0
    for attr in range(axes.codes.shape[1]):
        if axes.attributes[attr]["span"] <= 0.0:
            continue
        # What a group grows by is worked out once for each code that is coming.
        codes = rank_codes(axes, attr, coming, ranks, scratch)
        met[:] = -1
        for row in range(n_rows):
            growth_by_code(axes, attr, table, row, others, codes, met, growth)
            for place in range(n_rows):
                costs[row, place] += growth[ranks[place]]


@entry("Axes, i8[:,:]")
def match_in_turn(axes, table):  # type: ignore[no-untyped-def]
    """Column after column is given to the rows that grow least by it, as a whole; the first stays as it is."""
    costs = np.empty((len(table), len(table)))
    for column in range(1, table.shape[1]):
        growth_costs(axes, table, np.arange(column), column, costs)
        table[:, column] = table[assign_cheapest(costs), column]


@entry("Axes, i8[:,:], i8[:]")
def match_again(axes, table, order):  # type: ignore[no-untyped-def]
    """Each column, in `order`, is taken out of the rows and given back as they grow least by it: no loss rises."""
    costs = np.empty((len(table), len(table)))
    columns = np.arange(table.shape[1])
    for column in order:
        growth_costs(axes, table, columns[columns != column], column, costs)
        table[:, column] = table[assign_cheapest(costs), column]


@entry("Axes, i8[:,:], i8[:,:,:]")
def match_slots(axes, table, slots):  # type: ignore[no-untyped-def]
    """For each column x of a table [rows, d] of records, slots[x] [rows, d]: its records, the others matched in turn.

    The columns that follow come in cyclic order; slots[x][:, y] is what the slots of x take of column y.
    """
    degree = table.shape[1]
    for own in range(degree):
        around = (own + np.arange(degree)) % degree
        filled = table[:, around].copy()
        match_in_turn(axes, filled)
        for turn in range(degree):
            slots[own, :, around[turn]] = filled[:, turn]


@entry("Axes, i8[:,:], i8[:]")
def row_losses(axes, table, marks):  # type: ignore[no-untyped-def]
    """[rows] the loss by record of the groups that are the rows of a table; `marks` [codes] is scratch."""
    losses = np.zeros(len(table))
    for attr in range(axes.codes.shape[1]):
        kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
        marks[:] = -1
        for row in range(table.shape[0]):
            low, high, lacking, distinct = np.int64(1 << 40), np.int64(-1), np.int64(0), np.int64(0)
            for column in range(table.shape[1]):
                code = np.int64(axes.codes[table[row, column], attr])
                if kind == SET:
                    distinct += marks[code] != row
                    marks[code] = row
                elif kind != NODE and code == missing:
                    lacking = np.int64(1)
                else:
                    low, high = min(low, code), max(high, code)
            losses[row] += measure(axes, attr, low, high, lacking, distinct)
    return losses


@inner
def _tree_pair_loss(axes, attr, codes):  # type: ignore[no-untyped-def]
    """The mean loss of two records drawn from rising leaf codes: the node above them, by how many lie below it."""
    attribute = axes.attributes[attr]
    total = 0.0
    for place in range(len(codes)):
        if place > 0 and codes[place] == codes[place - 1]:
            continue
        node = np.int64(axes.leaf_nodes[attribute["leaves"] + codes[place]])
        # Each node above is counted once: from the first record that lies below it.
        while node >= 0 and (place == 0 or codes[place - 1] < axes.nodes[attribute["tree"] + node]["first"]):
            here = axes.nodes[attribute["tree"] + node]
            below = place
            while below < len(codes) and codes[below] <= here["last"]:
                below += 1
            wider = 0.0
            if here["parent"] >= 0:
                parent = axes.nodes[attribute["tree"] + here["parent"]]
                wider = float(parent["last"] - parent["first"])
            total += float(below - place) ** 2 * (float(here["last"] - here["first"]) - wider)
            node = np.int64(here["parent"])
    return attribute["weight"] * total / attribute["span"] / float(len(codes)) ** 2


@inner
def _pair_loss(axes, attr, codes):  # type: ignore[no-untyped-def]
    """The mean loss of two records drawn from rising codes of one attribute."""
    attribute, number = axes.attributes[attr], float(len(codes))
    if attribute["span"] <= 0.0 or len(codes) == 0:
        return 0.0
    if attribute["kind"] == NODE:
        return _tree_pair_loss(axes, attr, codes)
    if attribute["kind"] == SET:
        alike, run = 0.0, 0.0
        for place in range(len(codes)):
            run = run + 1.0 if place > 0 and codes[place] == codes[place - 1] else 1.0
            alike += 2.0 * run - 1.0
        return attribute["weight"] * (1.0 - alike / number**2) / attribute["span"]
    present = len(codes)
    while present > 0 and codes[present - 1] == attribute["missing"]:
        present -= 1
    total = attribute["span"] * 2.0 * present * (number - present)
    for place in range(present):
        total += 2.0 * (2.0 * place + 1.0 - present) * axes.points[attribute["points"] + codes[place]]
    return attribute["weight"] * total / attribute["span"] / number**2


@entry("Axes, i8[:], i8, i8")
def sort_by_costliest(axes, members, start, stop):  # type: ignore[no-untyped-def]
    """Sort a segment by the attribute in which two of its records lose most on average; returns it, or -1 if none."""
    codes = np.empty(stop - start, dtype=np.int64)
    most, chosen = 0.0, np.int64(-1)
    for attr in range(axes.codes.shape[1]):
        if axes.attributes[attr]["span"] <= 0.0:
            continue
        sort_by_code(axes, attr, members, start, stop)
        for place in range(start, stop):
            codes[place - start] = axes.codes[members[place], attr]
        loss = _pair_loss(axes, attr, codes)
        if loss > most:
            most, chosen = loss, np.int64(attr)
    if chosen >= 0:
        sort_by_code(axes, chosen, members, start, stop)
    return chosen
