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


@entry("f8[:,:], i8[:], i8[:], i4[:,:], i8[:], i8[:], i8[:], f8[:,:], f8[:,:], f8[:,:,:], f8[:,:]")
def sum_entries(shares, offsets, columns, cells, starts, value_of_entry, counts, weights, sums, by_value, by_cell):  # type: ignore[no-untyped-def]
    """For each query the sums over units of m p, m2 p and m2 p^2; and those that errors are made of.

    shares [all cells, queries]: those of column c start at offsets[c]; `columns` are those that are asked about; cells
    [units, columns]; the entries of unit u are starts[u]:starts[u + 1]. p is the product of the unit's shares. m is the
    sum of count w over its entries and m2 that of count w^2, w being the weight [values, queries] of the entry's value.

    sums [4 or 6, queries]; after the first three, either the sum of count p, or the sums of m where p is 1, of m where
    p is above 0 and of m^2 p (1 - p).
    by_value [2, values, queries] gets the sums of count p and count p (1 - p) for each value, and by_cell [all cells,
    queries] those of m times the other columns' shares for each cell, unless they have room for none.
    """
    n_queries = shares.shape[1]
    share, mass, square, other = np.empty(n_queries), np.empty(n_queries), np.empty(n_queries), np.empty(n_queries)
    for unit in range(len(cells)):
        _shares_of(shares, offsets, cells, unit, columns, share)
        mass[:] = 0.0
        square[:] = 0.0
        size = 0.0
        for place in range(starts[unit], starts[unit + 1]):
            value, count = value_of_entry[place], counts[place]
            size += count
            for query in range(n_queries):
                weight = count * weights[value, query]
                mass[query] += weight
                square[query] += weight * weights[value, query]
            if by_value.shape[1] > 0:
                for query in range(n_queries):
                    by_value[0, value, query] += count * share[query]
                    by_value[1, value, query] += count * share[query] * (1.0 - share[query])
        for query in range(n_queries):
            sums[0, query] += mass[query] * share[query]
            sums[1, query] += square[query] * share[query]
            sums[2, query] += square[query] * share[query] * share[query]
        if len(sums) == 4:
            for query in range(n_queries):
                sums[3, query] += size * share[query]
        else:
            for query in range(n_queries):
                sums[3, query] += mass[query] * (share[query] >= 1.0)
                sums[4, query] += mass[query] * (share[query] > 0.0)
                sums[5, query] += mass[query] * mass[query] * share[query] * (1.0 - share[query])
        if len(by_cell) > 0:
            for column in columns:
                other[:] = mass
                for another in columns:
                    if another != column:
                        cell = offsets[another] + cells[unit, another]
                        for query in range(n_queries):
                            other[query] *= shares[cell, query]
                cell = offsets[column] + cells[unit, column]
                for query in range(n_queries):
                    by_cell[cell, query] += other[query]


@entry("f8[:,:], i8[:], i8[:], i4[:,:], i8[:], i8[:], i8[:], f8[:,:], f8[:,:], f8[:,:,:]")
def sum_by_bucket(  # type: ignore[no-untyped-def]
    shares, offsets, columns, cells, unit_starts, value_of_entry, entry_starts, weights, sums, by_value
):
    """For each query the estimate over buckets and its variance, and how often each value meets a matching row.

    Rows of bucket b are unit_starts[b]:unit_starts[b + 1], its values entry_starts[b]:entry_starts[b + 1]. Of the K
    rows of a bucket of N that match on one side, and M on the other: K M / N, and K (N - K) M (N - M) / (N^2 (N - 1)).
    sums [7, queries] are these two, K, M, K^2, the least (K + M - N, not below 0) and the most (K or M) that can match
    on both sides. by_value [2, values, queries] gets the sums of K and of K / N over a value's occurrences.
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
                by_value[0, value, query] += known[query]
                by_value[1, value, query] += known[query] / size
        scale = 1.0 / (size * size * max(size - 1.0, 1.0)) if size > 0 else 0.0
        for query in range(n_queries):
            sums[0, query] += known[query] * values[query] / max(size, 1.0)
            left = known[query] * (size - known[query]) * values[query] * (size - values[query])
            sums[1, query] += max(left, 0.0) * scale
            sums[2, query] += known[query]
            sums[3, query] += values[query]
            sums[4, query] += known[query] * known[query]
            sums[5, query] += max(known[query] + values[query] - size, 0.0)
            sums[6, query] += min(known[query], values[query])
