"""Slots: for each column of a zone a table of rows that take one record of every other column."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.axes import axes_of
from lookalike.algorithms.groups.strict import zone_tables
from lookalike.algorithms.groups.transversals import in_parts
from lookalike.algorithms.matched import SlotGraph, drawn_assignment, slots_of
from lookalike.algorithms.matchers import MATCHERS, Matcher
from lookalike.kernels.axes import Axes
from lookalike.microdata import Microdata
from lookalike.progress import Progress
from lookalike.randomness import Randomness
from lookalike.requirement import Requirement

if TYPE_CHECKING:
    from lookalike.algorithms.heterogeneous import Heterogeneous

Records = NDArray[np.int64]
Slots = NDArray[np.int64]
"""[d, rows, d] slots of each column x, each with the record that it takes of each column y; its own at y = x."""

_PARTS = {"auto": 120, "hungarian": 1500, "sorted": 1500, "greedy": 20_000}


def slot_graph(
    data: Microdata,
    requirements: Sequence[Requirement],
    method: Heterogeneous,
    rng: Randomness,
    pool: Executor,
    progress: Progress,
) -> SlotGraph:
    """The slots of all records, and whose values each shows. A slot is named after its own record and number."""
    axes = axes_of(data)
    cell = method.cell or (0 if method.matcher == "auto" else data.n_rows)
    zones = zone_tables(data, requirements, cell, rng)
    parts = [part for table in zones for part in in_parts(axes, table, method.part or _PARTS[method.matcher])]
    matcher = MATCHERS["hungarian" if method.matcher == "auto" else method.matcher]

    def matched(number: int) -> Slots:
        return _matched(axes, parts[number], matcher, rng.child("part", number))

    records, slots, givers = [], [], np.empty(data.n_rows, dtype=np.int64)
    done = 0
    for number, found in enumerate(pool.map(matched, range(len(parts)))):
        own = parts[number].T
        records.append(found.ravel())
        slots.append(np.repeat(own.ravel(), found.shape[2]))
        draw_rng = rng.child("draw", number)
        given = _aligned(found, draw_rng) if method.randomization == "aligned" else _mixed(found, draw_rng)
        givers[own] = given
        done += own.size
        progress("matching", done / data.n_rows)
    return SlotGraph(np.concatenate(records), np.concatenate(slots), givers)


def _matched(axes: Axes, table: Records, matcher: Matcher, rng: Randomness) -> Slots:
    """For each column the slots that start with its records; the other columns follow in one random cyclic order."""
    n_rows, degree = table.shape
    around = rng.child("columns").permutation(degree)
    slots = np.empty((degree, n_rows, degree), dtype=np.int64)
    for place, column in enumerate(around):
        order = np.roll(around, -place)
        filled = table[:, order].copy()
        for turn in range(1, degree):
            filled[:, turn] = matcher(axes, filled, turn, table[:, order[turn]], rng.child("match", place, turn))
        slots[column][:, order] = filled
    return slots


def _aligned(slots: Slots, rng: Randomness) -> Records:
    """[d, rows] the record whose values each slot shows: column y gives its values to the slots of one column."""
    degree = len(slots)
    giver = rng.permutation(degree)
    return np.asarray(slots[np.arange(degree), :, giver], dtype=np.int64)


def _mixed(slots: Slots, rng: Randomness) -> Records:
    """As published: any of the disjoint assignments of the graph, whatever the columns."""
    degree, n_rows, _ = slots.shape
    flat = slots.reshape(degree * n_rows, degree)
    given = np.empty(degree * n_rows, dtype=np.int64)
    given[drawn_assignment(slots_of(flat), rng)] = np.unique(flat)
    return given.reshape(degree, n_rows)
