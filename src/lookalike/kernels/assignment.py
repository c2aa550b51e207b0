"""The cheapest one-to-one assignment of rows to columns of a square table of costs.

After Jonker and Volgenant: every column takes the row that is cheapest for it, and the rows left over get theirs along
shortest augmenting paths. What groups grow by is full of ties: columns at one distance are gone through together.

Cost: O(n^3) at worst; memory O(n).
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner


@inner
def _settle(costs, prices, column_of, row_of, left):  # type: ignore[no-untyped-def]
    """Every column takes the row that is cheapest for it, if that is free; returns how many rows are left over."""
    size = len(prices)
    cheapest = np.zeros(size, dtype=np.int64)
    prices[:] = costs[0]
    for row in range(1, size):
        for column in range(size):
            if costs[row, column] < prices[column]:
                prices[column] = costs[row, column]
                cheapest[column] = row
    wanted = np.zeros(size, dtype=np.int64)
    for back in range(size):
        column = size - 1 - back
        row = cheapest[column]
        wanted[row] += 1
        held = column_of[row]
        if held < 0 or prices[column] < prices[held]:
            if held >= 0:
                row_of[held] = -1
            column_of[row], row_of[column] = column, row
    n_left = 0
    for row in range(size):
        if wanted[row] == 0:
            left[n_left] = row
            n_left += 1
        elif wanted[row] == 1:
            # The row would pay for its column up to what the next one costs it.
            held, second = column_of[row], np.inf
            for column in range(size):
                if column != held:
                    second = min(second, costs[row, column] - prices[column])
            if second < np.inf:
                prices[held] -= second
    return n_left


@inner
def _augment(costs, prices, column_of, row_of, free_row, work):  # type: ignore[no-untyped-def]
    """Give one row a column along the shortest path of exchanges."""
    size = len(prices)
    distances, open_prices, came_from, queue = work
    nearest = np.inf
    for column in range(size):
        distances[column] = costs[free_row, column] - prices[column]
        nearest = min(nearest, distances[column])
        came_from[column] = free_row
    open_prices[:] = prices
    # A column that was reached is marked by an open price of minus infinity, so that no path to it is shorter.
    head, tail, n_before, end = 0, 0, 0, np.int64(-1)
    while True:
        if head == tail:
            n_before = tail
            nearest = np.inf
            for column in range(size):
                if open_prices[column] != -np.inf:
                    nearest = min(nearest, distances[column])
            for column in range(size):
                if distances[column] <= nearest and open_prices[column] != -np.inf:
                    if row_of[column] < 0:
                        end = np.int64(column)
                        break
                    queue[tail] = column
                    tail += 1
                    open_prices[column] = -np.inf
        if end >= 0:
            break
        through = queue[head]
        head += 1
        row = row_of[through]
        reduced = costs[row, through] - prices[through] - nearest
        for column in range(size):
            distance = costs[row, column] - open_prices[column] - reduced
            if distance < distances[column]:
                distances[column] = distance
                came_from[column] = row
                if distance <= nearest:
                    if row_of[column] < 0:
                        end = np.int64(column)
                        break
                    queue[tail] = column
                    tail += 1
                    open_prices[column] = -np.inf
    for place in range(n_before):
        prices[queue[place]] += distances[queue[place]] - nearest
    while True:
        row = came_from[end]
        row_of[end] = row
        end, column_of[row] = column_of[row], end
        if row == free_row:
            break


@entry("f8[:,:]")
def assign_cheapest(costs):  # type: ignore[no-untyped-def]
    """[n] int64: the column of each row, such that the sum of costs [n, n] (finite, float64) is least."""
    size = len(costs)
    column_of, row_of = np.full(size, -1), np.full(size, -1)
    if size == 0:
        return column_of
    prices, left = np.empty(size), np.empty(size, dtype=np.int64)
    n_left = _settle(costs, prices, column_of, row_of, left)
    work = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    for turn in range(n_left):
        _augment(costs, prices, column_of, row_of, left[turn], work)
    return column_of


@entry("f8[:,:,:]")
def assign_cheapest_in_each(costs):  # type: ignore[no-untyped-def]
    """[k, n] int64: the same for each of k tables [k, n, n]."""
    columns = np.empty(costs.shape[:2], dtype=np.int64)
    for place in range(len(costs)):
        columns[place] = assign_cheapest(costs[place])
    return columns
