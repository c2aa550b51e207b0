"""Transversals: groups that take one record of each column, found by assignment.

Column after column is matched to the groups so that they grow least; then, in rounds, each column is taken out and
matched again, so the loss never rises. Large tables are cut into parts with as many records of each column. All of it
looks at quasi-identifiers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.boxes import chunks_of
from lookalike.algorithms.groups.effort import Effort, Pace, Run
from lookalike.kernels.axes import Axes
from lookalike.kernels.matching import match_again, match_in_turn, row_losses, sort_by_costliest
from lookalike.randomness import Randomness

Records = NDArray[np.int64]


def transversals(
    axes: Axes,
    tables: Sequence[Records],
    effort: Effort,
    run: Run,
) -> list[Records]:
    """The records of each table in groups: one record of each column in a row, near each other."""
    marks = np.empty(int(axes.codes.max(initial=0)) + 1, dtype=np.int64)
    n_cells = sum(table.size for table in tables) * axes.codes.shape[1]
    pace = Pace(effort.rounds + 1, effort.seconds, run.stopped)

    def loss() -> float:
        total = sum(table.shape[1] * row_losses(axes, table, marks).sum() for table in found)
        return float(total / n_cells)

    parts = [in_parts(axes, table, effort.matched_rows) for table in tables]
    every = [part for some in parts for part in some]
    seeds = run.map(lambda part: _match_in_turn(axes, part, run.stopped), every)
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
        matched = run.map(lambda task: _match_again(axes, task[0], task[1], run.stopped), tasks)
        for table, some in zip(found, places, strict=True):
            for rows in some:
                table[rows] = next(matched)
        number += 1
        run.report(share, loss())
    return found


def _match_in_turn(axes: Axes, table: Records, stopped: Callable[[], bool]) -> Records:
    found = table.copy()
    if not stopped():
        match_in_turn(axes, found)
    return found


def _match_again(axes: Axes, table: Records, order: Records, stopped: Callable[[], bool]) -> Records:
    if not stopped():
        match_again(axes, table, order)
    return table


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
