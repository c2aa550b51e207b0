"""Columns: records laid out by sensitive values alone, so that one record of each column always makes a good group.

A block of groups of one size is a table with a row for each group and a column for each of its records. Values are
given to columns so that none is in more columns than it may have members in a group; then it does not matter which
records of the columns come together, and the groups can be chosen from the quasi-identifiers alone. Where the columns
do not come out even, a value is divided between two of them in different *zones*: rows that never mix. Inside a zone
each value keeps to the columns that it may have.

Columns are decided from counts, never from records; which record of a value goes where is drawn at random.

Transversals are groups that take one record of each column, found by assignment. Column after column is matched to the
groups so that they grow least; then, in rounds, each column is taken out and matched again, so the loss never rises.
Large tables are cut into parts with as many records of each column. All of it looks at quasi-identifiers alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups import Effort, Pace, Run
from lookalike.algorithms.groups.linear_programs import Ceilings, allotments
from lookalike.algorithms.groups.sizes import Plan, in_blocks, rooms_for
from lookalike.algorithms.shared.matchers import Records, chunks_of
from lookalike.data.microdata import rank_within
from lookalike.kernels.axes import Axes
from lookalike.kernels.matching import match_again, match_in_turn, row_losses, sort_by_costliest
from lookalike.randomness import Randomness

Counts = NDArray[np.int64]
Zone = NDArray[np.int64]
"""[columns, values] how many records of each value are in each column; every column has as many records as rows."""
Blocks = list[tuple[Counts, list[Zone]]]
"""Groups of one size each: how many records of each value they hold, and their zones."""


def zones_of(counts: Counts, size: int, rooms: Counts) -> list[Zone]:
    """Columns for groups of `size` in which value v is in at most rooms[v] columns of a zone.

    Needs: the counts add up to a multiple of `size`, and value v has at most rooms[v] records a group.
    """
    if int(counts.sum()) == size:
        return pure_zones(counts[None, :])
    zones = _even_out(counts, size, rooms)
    if zones is None:
        zones = _in_sequence(counts, size, rooms)
    if any((np.count_nonzero(zone, axis=0) > rooms).any() for zone in zones):
        raise AssertionError("a value is in more columns of a zone than it may be")
    return zones


def pure_zones(quotas: Counts) -> list[Zone]:
    """Columns of one value each, for groups [groups, values] that have just these values."""
    zones = []
    for group, times in zip(*np.unique(quotas, axis=0, return_counts=True), strict=True):
        zone = np.zeros((int(group.sum()), len(group)), dtype=np.int64)
        zone[np.arange(len(zone)), np.repeat(np.arange(len(group)), group)] = times
        zones.append(zone)
    return zones


def blocks_for(sizes: Plan, counts: Counts, ceilings: Ceilings) -> Blocks:
    """Columns for groups of the sizes planned, under ceilings; of several ways to share out the values the best one."""
    shared = [in_blocks(sizes, counts, ceilings)]
    if len(shared[0]) > 1 and sizes.allotment is not None:
        numbers = dict(zip(*(part.tolist() for part in np.unique(sizes.sizes, return_counts=True)), strict=True))
        shared += allotments(counts, ceilings, numbers)
    tried = [
        [(numbers, zones_of(numbers, size, rooms_for(size, ceilings))) for size, numbers in one.items()]
        for one in shared
    ]
    return max(tried, key=_freedom)


def _freedom(blocks: Blocks) -> float:
    """How much choice there is among the records of columns: for each record, about the bits of its zone's rows.

    Measured on census and zipf tables: the loss falls as this rises, in the same order with few exceptions.
    """
    zones = [zone for _, some in blocks for zone in some]
    return sum(float(zone.sum()) * math.log(int(zone[0].sum())) for zone in zones)


def tables_for(
    rows: NDArray[np.int64], values: NDArray[np.int32], blocks: Blocks, rng: Randomness
) -> list[NDArray[np.int64]]:
    """The records of a cell, laid out in its zones; which record of a value goes where is drawn at random."""
    # One draw serves both steps: the records left over and those taken are in random order too.
    left = rows[rng.child("blocks").permutation(len(rows))]
    tables = []
    for number, (counts, zones) in enumerate(blocks):
        taken = rank_within(values[left]) < counts[values[left]]
        tables += _tables_of(zones, left[taken], values, rng.child("block", number))
        left = left[~taken]
    return tables


def _tables_of(
    zones: Sequence[Zone], records: NDArray[np.int64], values: NDArray[np.int32], rng: Randomness
) -> list[NDArray[np.int64]]:
    """[rows, columns] the records of each zone, which come in random order.

    The columns of a table come in random order and their records in the order of the records' numbers: a table tells
    which records share a column, and nothing about their values.
    """
    by_value = records[np.argsort(values[records], kind="stable")]
    numbers = np.concatenate([zone.ravel() for zone in zones])
    wanted = np.concatenate([np.tile(np.arange(zone.shape[1]), zone.shape[0]) for zone in zones])
    value_of_place = np.repeat(wanted, numbers)
    placed = np.empty(len(records), dtype=np.int64)
    placed[np.argsort(value_of_place, kind="stable")] = by_value
    tables, done = [], 0
    for number, zone in enumerate(zones):
        n_places = int(zone.sum())
        columns = placed[done : done + n_places].reshape(len(zone), -1)
        order = rng.child("columns", number).permutation(len(zone))
        tables.append(np.ascontiguousarray(np.sort(columns[order], axis=1).T))
        done += n_places
    return tables


def _even_out(counts: Counts, size: int, rooms: Counts) -> list[Zone] | None:
    """Columns that mix as many values as they can, in one zone or in two of which one has few rows; None if stuck.

    Every value is broken into as many chunks as it may have columns; chunks go to the emptiest column, are exchanged
    until the columns are nearly even, and what is still uneven moves in the small zone.
    """
    n_rows = int(counts.sum()) // size
    pieces = np.minimum(np.minimum(rooms, counts), size)
    value_of_chunk = np.repeat(np.arange(len(counts)), pieces)
    whole, rest = counts[value_of_chunk] // pieces[value_of_chunk], counts[value_of_chunk] % pieces[value_of_chunk]
    chunks = whole + (rank_within(value_of_chunk) < rest)
    column_of_chunk = _nearly_even(chunks, size, n_rows)
    large = np.zeros((size, len(counts)), dtype=np.int64)
    np.add.at(large, (column_of_chunk, value_of_chunk), chunks)
    small = np.zeros_like(large)
    kept_out: list[tuple[int, int]] = []
    excess = large.sum(axis=1) - n_rows
    while (column := int(np.argmax(excess))) >= 0 and excess[column] > 0:
        taker = int(np.argmin(excess))
        amount = int(min(excess[column], -excess[taker]))
        divided = [value for _, value in kept_out]
        fits = [value for value in np.flatnonzero(large[column] >= amount).tolist() if value not in divided]
        if not fits:
            return None
        anywhere = [value for value in fits if large[taker, value] or np.count_nonzero(large[:, value]) < rooms[value]]
        if anywhere:
            large[taker, anywhere[0]] += amount
            large[column, anywhere[0]] -= amount
        else:
            value = max(fits, key=lambda one: (large[column, one], -one))
            small[taker, value] += amount
            large[column, value] -= amount
            kept_out.append((column, value))
        excess[column] -= amount
        excess[taker] += amount
    n_small = int(small.sum(axis=1).max())
    if not n_small:
        return [large]
    for column in range(size):
        for value in np.argsort(-large[column], kind="stable").tolist():
            missing = n_small - int(small[column].sum())
            if (column, value) not in kept_out and missing:
                moved = min(missing, int(large[column, value]))
                small[column, value] += moved
                large[column, value] -= moved
        if small[column].sum() < n_small:
            return None
    return [small, large]


def _nearly_even(chunks: NDArray[np.int64], n_columns: int, n_rows: int) -> NDArray[np.int64]:
    """The column of each chunk, such that the columns hold about `n_rows` records each."""
    column_of = np.empty(len(chunks), dtype=np.int64)
    load = np.zeros(n_columns, dtype=np.int64)
    for chunk in np.argsort(-chunks, kind="stable"):
        column_of[chunk] = np.argmin(load)
        load[column_of[chunk]] += chunks[chunk]
    # Only small chunks: large ones lie well apart as they are, which is what mixes columns. One that moves without
    # another coming back is exchanged for an empty one.
    sizes = np.concatenate([chunks, np.zeros(n_columns, dtype=np.int64)])
    places = np.concatenate([column_of, np.arange(n_columns)])
    movable = sizes <= max(n_rows // 10, 20)
    for _ in range(10 * n_columns):
        improved = False
        for full in np.argsort(-load, kind="stable"):
            if load[full] <= n_rows:
                break
            here, there = np.flatnonzero(movable & (places == full)), np.flatnonzero(movable & (places != full))
            if not len(here):
                continue
            change = sizes[here][:, None] - sizes[there][None, :]
            over, other = load[full] - n_rows, (load[places[there]] - n_rows)[None, :]
            gain = over**2 + other**2 - (over - change) ** 2 - (other + change) ** 2
            best = np.unravel_index(int(np.argmax(gain)), gain.shape)
            if gain[best] > 0:
                first, second = here[best[0]], there[best[1]]
                load[full] -= change[best]
                load[places[second]] += change[best]
                places[first], places[second] = places[second], full
                improved = True
                break
        if not improved:
            break
    return places[: len(chunks)]


def _in_sequence(counts: Counts, size: int, rooms: Counts) -> list[Zone]:
    """Columns filled one after the other, value after value; rows are cut where a value would be in one too many.

    A value with rooms m that is in m + 1 columns begins in its first below where it ends in its last: a cut between
    the two leaves m columns on either side.
    """
    n_rows = int(counts.sum()) // size
    order = np.argsort(-counts, kind="stable")
    value_of_place = np.repeat(order, counts[order]).reshape(size, n_rows)
    ends = np.cumsum(counts[order])
    between = []
    for value, end in zip(order.tolist(), ends.tolist(), strict=True):
        if not counts[value]:
            continue
        begin = end - int(counts[value])
        if (end - 1) // n_rows - begin // n_rows + 1 > rooms[value]:
            between.append((begin % n_rows, (end - 1) % n_rows + 1))
    cuts = [0]
    for last, first in sorted(between):
        if cuts[-1] < first:
            cuts.append(last)
    zones = []
    for start, stop in pairwise([*cuts, n_rows]):
        if start < stop:
            columns = [np.bincount(places[start:stop], minlength=len(counts)) for places in value_of_place]
            zones.append(np.array(columns, dtype=np.int64))
    return zones


def transversals(axes: Axes, tables: Sequence[Records], effort: Effort, run: Run) -> list[Records]:
    """The records of each table in groups: one record of each column in a row, near each other."""
    marks = np.empty(int(axes.codes.max(initial=0)) + 1, dtype=np.int64)
    n_cells = sum(table.size for table in tables) * axes.codes.shape[1]
    pace = Pace(effort.rounds + 1, effort.seconds, run.stopped)

    def loss() -> float:
        total = sum(table.shape[1] * row_losses(axes, table, marks).sum() for table in found)
        return float(total / n_cells)

    def match(part: Records, order: Records | None = None) -> Records:
        part = part.copy()
        if run.stopped():
            return part
        if order is None:
            match_in_turn(axes, part)
        else:
            match_again(axes, part, order)
        return part

    parts = [in_parts(axes, table, effort.matched_rows) for table in tables]
    every = [part for some in parts for part in some]
    seeds = run.map(match, every)
    found = [np.concatenate([next(seeds) for _ in some]) for some in parts]
    number = 1
    run.report(pace.share(number), loss())
    while (share := pace.share(number)) < 1.0:
        places = [
            _neighbours(axes, table, effort.matched_rows, run.rng.child("round", number, place))
            for place, table in enumerate(found)
        ]
        tasks = [
            (table[rows], run.rng.child("columns", number, place).permutation(table.shape[1]))
            for place, (table, some) in enumerate(zip(found, places, strict=True))
            for rows in some
        ]
        matched = run.map(match, *zip(*tasks, strict=True))
        for table, some in zip(found, places, strict=True):
            for rows in some:
                table[rows] = next(matched)
        number += 1
        run.report(share, loss())
    return found


def in_parts(axes: Axes, table: Records, most: int) -> list[Records]:
    """Parts of at most so many rows; every column is cut at the same row, sorted by the attribute that costs most."""
    if len(table) <= most:
        return [table]
    attr = sort_by_costliest(axes, table.ravel().copy(), 0, table.size)
    if attr >= 0:
        order = np.argsort(axes.codes[table, attr], axis=0, kind="stable")
        table = np.take_along_axis(table, order, axis=0)
    middle = len(table) // 2
    return [*in_parts(axes, table[:middle], most), *in_parts(axes, table[middle:], most)]


def _neighbours(axes: Axes, table: Records, most: int, rng: Randomness) -> list[Records]:
    """Rows of the table that lie near each other, by one record of each."""
    stand_ins = table[np.arange(len(table)), rng.integers(table.shape[1], len(table))]
    return chunks_of(axes, stand_ins, most)
