"""Answers to many count queries at once, from units: combinations of cells that several records may share.

A query gives every cell of the columns it asks about a share (of a cell's values, those that are wanted), and every
sensitive value a weight. Queries are worked on in blocks, side by side in memory: every step is the same for all of
them, so the processor does several at a time. Cost: queries times (units times columns asked about, plus entries).
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner


@inner
def _shares_of(shares, offsets, cells, unit, columns, found):  # type: ignore[no-untyped-def]
    """The product of a unit's shares, for each query of the block."""
    found[:] = 1.0
    for column in columns:
        cell = offsets[column] + cells[unit, column]
        for query in range(len(found)):
            found[query] *= shares[cell, query]


@entry("f8[:,:], i8[:], i8[:], i4[:,:], i8[:], i8[:], i8[:], f8[:,:], f8[:,:], f8[:,:,:]")
def sum_entries(shares, offsets, columns, cells, starts, value_of_entry, counts, weights, sums, by_value):  # type: ignore[no-untyped-def]
    """For each query the sums over entries of count w p, count w^2 p and count (w p)^2.

    shares [all cells, queries]: those of column c start at offsets[c]; `columns` are those that are asked about; cells
    [units, columns]; the entries of unit u are starts[u]:starts[u + 1]. p is the product of the unit's shares, w the
    weight [values, queries] of the entry's value. sums [3, queries]. by_value [2, values, queries] gets the sums of
    count p and count p (1 - p) for each value, unless it has room for none.
    """
    n_queries = shares.shape[1]
    share = np.empty(n_queries)
    for unit in range(len(cells)):
        _shares_of(shares, offsets, cells, unit, columns, share)
        for place in range(starts[unit], starts[unit + 1]):
            value, count = value_of_entry[place], counts[place]
            for query in range(n_queries):
                weight = weights[value, query]
                part = weight * share[query]
                sums[0, query] += count * part
                sums[1, query] += count * part * weight
                sums[2, query] += count * part * part
            if by_value.shape[1] > 0:
                for query in range(n_queries):
                    by_value[0, value, query] += count * share[query]
                    by_value[1, value, query] += count * share[query] * (1.0 - share[query])


@entry("f8[:,:], i8[:], i8[:], i4[:,:], i8[:], i8[:], i8[:], f8[:,:], f8[:,:], f8[:,:]")
def sum_by_bucket(  # type: ignore[no-untyped-def]
    shares, offsets, columns, cells, unit_starts, value_of_entry, entry_starts, weights, sums, together
):
    """For each query the estimate over buckets and its variance, and how often each value meets a matching row.

    Rows of bucket b are unit_starts[b]:unit_starts[b + 1], its values entry_starts[b]:entry_starts[b + 1]. Of the K
    rows of a bucket of N that match on one side, and M on the other: K M / N, and K (N - K) M (N - M) / (N^2 (N - 1)).
    sums [4, queries] are these two, K and M; together [values, queries] the sums of K over a value's occurrences.
    """
    n_queries = shares.shape[1]
    share, known, values = np.empty(n_queries), np.empty(n_queries), np.empty(n_queries)
    for bucket in range(len(unit_starts) - 1):
        size = float(unit_starts[bucket + 1] - unit_starts[bucket])
        known[:] = 0.0
        values[:] = 0.0
        for unit in range(unit_starts[bucket], unit_starts[bucket + 1]):
            _shares_of(shares, offsets, cells, unit, columns, share)
            for query in range(n_queries):
                known[query] += share[query]
        for place in range(entry_starts[bucket], entry_starts[bucket + 1]):
            value = value_of_entry[place]
            for query in range(n_queries):
                values[query] += weights[value, query]
                together[value, query] += known[query]
        scale = 1.0 / (size * size * max(size - 1.0, 1.0)) if size > 0 else 0.0
        for query in range(n_queries):
            sums[0, query] += known[query] * values[query] / max(size, 1.0)
            left = known[query] * (size - known[query]) * values[query] * (size - values[query])
            sums[1, query] += max(left, 0.0) * scale
            sums[2, query] += known[query]
            sums[3, query] += values[query]
