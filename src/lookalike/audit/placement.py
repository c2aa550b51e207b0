"""A row for every record: the largest assignment of records to published rows that they fit, with their own values.

Records that agree in quasi-identifiers and values are one kind, rows that agree in cell and values one item; what
kinds send to items is a maximum flow. Kinds and items of different values have nothing to do with each other, so
values are taken a batch at a time. Where cells overlap so much that the pairs of a batch cannot be listed, a matching
that searches them anew each time takes its place: slower, in memory linear in the rows.

Numbers of kinds and items depend on contents alone, so nothing here depends on the order of published rows: the test
for leaked row order relies on that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lookalike.audit.cells import Boxes, Ints, joint_ids
from lookalike.data.microdata import Codes, read_only

_PAIRS = 20_000_000
"""Most pairs of a kind and an item listed at once."""
_BATCH = 20_000
"""Kinds of several values are taken together up to so many."""


@dataclass(frozen=True, eq=False)
class Placement:
    """A largest assignment of records to rows. Rows are told apart by class and joint value only (an item)."""

    item_of_record: Ints
    """-1: no row is left that the record fits."""
    item_of_row: Ints
    class_of_item: Ints
    value_of_item: Ints
    capacities: Ints
    """Rows of each item."""
    starts: Ints
    """Items of value v are starts[v]:starts[v + 1]."""

    @property
    def n_placed(self) -> int:
        return int(np.count_nonzero(self.item_of_record >= 0))


def largest_placement(
    boxes: Boxes, codes: Codes, value_of_record: Ints, value_of_row: Ints, n_values: int, pairs: int = _PAIRS
) -> Placement:
    """`codes` are the records' quasi-identifiers; records may take only rows of their own value."""
    from lookalike.kernels.containment import assign, list_fitting

    n_classes = max(boxes.n_classes, 1)
    keys = value_of_row * n_classes + boxes.class_of_row
    items, item_of_row, capacities = np.unique(keys, return_inverse=True, return_counts=True)
    class_of_item, value_of_item = items % n_classes, items // n_classes
    item_starts = _starts_of(value_of_item, n_values)

    kind_of_record = joint_ids((value_of_record, *codes.T), len(codes))
    records = np.argsort(kind_of_record, kind="stable")
    kinds, firsts, supplies = np.unique(kind_of_record[records], return_index=True, return_counts=True)
    kind_codes = read_only(codes[records[firsts]])
    kind_starts = _starts_of(value_of_record[records[firsts]], n_values)
    record_starts = np.append(firsts, len(records))[kind_starts]

    item_of_record = np.full(len(codes), -1, dtype=np.int64)
    for first, last in _batches(kind_starts):
        mine = slice(kind_starts[first], kind_starts[last])
        item_bounds, kind_bounds = item_starts[first : last + 1], kind_starts[first : last + 1] - kind_starts[first]
        if len(kind_codes[mine]) == 0 or item_bounds[0] == item_bounds[-1]:
            continue
        starts, fitting = list_fitting(boxes.cells, class_of_item, item_bounds, kind_codes[mine], kind_bounds, pairs)
        if starts[-1] > pairs:
            record_bounds = record_starts[first : last + 1]
            placed = assign(boxes.cells, class_of_item, capacities, item_bounds, codes, records, record_bounds)
            item_of_record = np.maximum(item_of_record, placed)
            continue
        sent, kind_of_sent, item_of_sent = _flow(starts, fitting, supplies[mine], capacities)
        rank = _ranks(kind_of_sent, sent)
        placed_records = records[firsts[mine][np.repeat(kind_of_sent, sent)] + rank]
        item_of_record[placed_records] = np.repeat(item_of_sent, sent)
    return Placement(item_of_record, item_of_row.reshape(-1), class_of_item, value_of_item, capacities, item_starts)


def _starts_of(sorted_values: Ints, n_values: int) -> Ints:
    return np.searchsorted(sorted_values, np.arange(n_values + 1)).astype(np.int64)


def _batches(kind_starts: Ints) -> Iterator[tuple[int, int]]:
    """Runs of values [first, last) with few kinds together, or one value with many."""
    first, n_values = 0, len(kind_starts) - 1
    while first < n_values:
        last = int(np.searchsorted(kind_starts, kind_starts[first] + _BATCH, side="right")) - 1
        last = min(max(last, first + 1), n_values)
        yield first, last
        first = last


def _flow(starts: Ints, fitting: Codes, supplies: Ints, capacities: Ints) -> tuple[Ints, Ints, Ints]:
    """A maximum flow from kinds to the items they fit: amounts, and the kind and item of each."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    items, fitted = np.unique(fitting, return_inverse=True)
    n_kinds, n_items = len(supplies), len(items)
    source, sink = n_kinds + n_items, n_kinds + n_items + 1
    kind_of_pair = np.repeat(np.arange(n_kinds), np.diff(starts))
    room = np.minimum(supplies[kind_of_pair], capacities[fitting])
    tails = np.concatenate((kind_of_pair, np.full(n_kinds, source), n_kinds + np.arange(n_items)))
    heads = np.concatenate((n_kinds + fitted, np.arange(n_kinds), np.full(n_items, sink)))
    amounts = np.concatenate((room, supplies, capacities[items]))
    network = csr_array(
        (amounts.astype(np.int32), (tails.astype(np.int32), heads.astype(np.int32))), shape=(sink + 1, sink + 1)
    )
    flow = maximum_flow(network, source, sink).flow[:n_kinds, n_kinds : n_kinds + n_items].tocoo()
    used = flow.data > 0
    order = np.lexsort((flow.col[used], flow.row[used]))
    return flow.data[used][order].astype(np.int64), flow.row[used][order], items[flow.col[used][order]].astype(np.int64)


def _ranks(kind_of_sent: Ints, sent: Ints) -> Ints:
    """0, 1, 2 ... within the records of each kind."""
    kinds = np.repeat(kind_of_sent, sent)
    return np.arange(len(kinds)) - np.searchsorted(kinds, kinds)
