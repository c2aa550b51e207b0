"""Regular graphs of records and slots, round by round: in each, every slot takes one more record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.boxes import chunks_of
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.matchers import MATCHERS, growth_of
from lookalike.data.microdata import Microdata
from lookalike.kernels.axes import Axes
from lookalike.kernels.pairing import pair_up
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Records = NDArray[np.int64]

# Records that are matched together; "auto" is hungarian in small parts.
_PARTS = {"auto": 400, "hungarian": 1500, "sorted": 3000, "greedy": 20_000}


def graphs_of_parts(
    data: Microdata, size: int, matcher: str, part: int, rng: Randomness, progress: Progress, *, mutual: bool
) -> list[Records]:
    """For each part a table [slots, k] of the records in each slot, the slot's own first; slots by its number."""
    axes = axes_of(data)
    # Halves of what is larger than this have at least k records, even if they are rounded to an even number.
    most = max(part or _PARTS[matcher], 2 * size + 2)
    order = rng.child("parts").permutation(data.n_rows)
    parts = [np.sort(order[places]) for places in chunks_of(axes, order, most, unit=2)]
    matched = MATCHERS["hungarian" if matcher == "auto" else matcher]
    numbers = np.arange(data.n_rows)
    tables, done = [], 0
    for number, rows in enumerate(parts):
        part_rng = rng.child("part", number)
        if mutual:
            tables.append(_mutual(axes, rows, size, part_rng))
        else:
            table = np.empty((len(rows), size), dtype=np.int64)
            table[:, 0] = rows
            for turn in range(1, size):
                table[:, turn] = matched(axes, numbers, table, turn, rows, part_rng.child("round", turn))
                progress("matching", (done + len(rows) * turn / size) / data.n_rows)
            tables.append(table)
        done += len(rows)
        progress("matching", done / data.n_rows)
    return tables


def _mutual(axes: Axes, rows: Records, size: int, rng: Randomness) -> Records:
    """A symmetric graph: slot i holds record j if and only if slot j holds record i.

    In each round all records are paired up, the cheapest pairs first, and partners exchanged where that pays. Where
    that cannot be (an odd number, or hardly more records than k) the records stand on a ring.
    """
    if len(rows) % 2 or 2 * size > len(rows):
        return _ring(axes, rows, size)
    table = np.empty((len(rows), size), dtype=np.int64)
    table[:, 0] = rows
    for turn in range(1, size):
        costs, held = growth_of(axes, np.arange(len(axes.codes)), table, turn, rows)
        both = costs + costs.T
        both[held] = np.inf
        partner = np.full(len(rows), -1, dtype=np.int64)
        shuffled = rng.child("round", turn).permutation(len(rows))
        if not pair_up(both, shuffled, partner):
            return _ring(axes, rows, size)
        table[:, turn] = rows[partner]
    return table


def _ring(axes: Axes, rows: Records, size: int) -> Records:
    """Records on a ring along the quasi-identifiers, each with its neighbours on both sides; one more if need be."""
    near = np.concatenate(chunks_of(axes, rows, 1))
    steps = [0, *(sign * step for step in range(1, (size - 1) // 2 + 1) for sign in (1, -1))]
    if size % 2 == 0:
        half = len(rows) // 2
        steps += [half] if len(rows) % 2 == 0 else [size // 2, -size // 2]
    around = rows[near[(np.arange(len(rows))[:, None] + np.array(steps)) % len(rows)]]
    return np.asarray(around[np.argsort(around[:, 0])], dtype=np.int64)
