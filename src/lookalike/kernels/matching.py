"""Groups as rows of a table whose columns hold one record each: what a group grows by if it takes a given record.

Used where a group must take exactly one record from every column. The costs go to an assignment solver; the pair losses
say along which attribute a set of records is best cut in two. Cost: O(rows^2 x attributes) for a table of costs.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.axes import NODE, SET, measure, sort_by_code


@inner
def _set_growth(axes, attr, table, others, column, costs):  # type: ignore[no-untyped-def]
    step = axes.attributes[attr]["weight"] / axes.attributes[attr]["span"]
    widest = np.int64(0)
    for row in range(table.shape[0]):
        widest = max(widest, np.int64(axes.codes[table[row, column], attr]))
        for other in others:
            widest = max(widest, np.int64(axes.codes[table[row, other], attr]))
    met = np.full(widest + 1, -1, dtype=np.int64)
    for row in range(table.shape[0]):
        for other in others:
            met[axes.codes[table[row, other], attr]] = row
        for coming in range(table.shape[0]):
            if met[axes.codes[table[coming, column], attr]] != row:
                costs[row, coming] += step


@inner
def _range_growth(axes, attr, table, others, column, costs):  # type: ignore[no-untyped-def]
    attribute = axes.attributes[attr]
    missing = attribute["missing"] if attribute["kind"] != NODE else np.int64(-1)
    for row in range(table.shape[0]):
        low, high, lacking = np.int64(1 << 40), np.int64(-1), np.int64(0)
        for other in others:
            code = np.int64(axes.codes[table[row, other], attr])
            if code == missing:
                lacking = np.int64(1)
            else:
                low, high = min(low, code), max(high, code)
        before = measure(axes, attr, low, high, lacking, 0)
        for coming in range(table.shape[0]):
            code = np.int64(axes.codes[table[coming, column], attr])
            if low <= code <= high and code != missing:
                continue
            if code == missing:
                costs[row, coming] += measure(axes, attr, low, high, 1, 0) - before
            else:
                costs[row, coming] += measure(axes, attr, min(low, code), max(high, code), lacking, 0) - before


@entry
def growth_costs(axes, table, others, column, costs):  # type: ignore[no-untyped-def]
    """Set costs[g, r] to what the group table[g, others] grows by if it takes the record table[r, column]."""
    costs[:, :] = 0.0
    for attr in range(axes.codes.shape[1]):
        if axes.attributes[attr]["span"] <= 0.0:
            continue
        if axes.attributes[attr]["kind"] == SET:
            _set_growth(axes, attr, table, others, column, costs)
        else:
            _range_growth(axes, attr, table, others, column, costs)


@entry
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
def pair_loss(axes, attr, codes):  # type: ignore[no-untyped-def]
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


@entry
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
        loss = pair_loss(axes, attr, codes)
        if loss > most:
            most, chosen = loss, np.int64(attr)
    if chosen >= 0:
        sort_by_code(axes, chosen, members, start, stop)
    return chosen
