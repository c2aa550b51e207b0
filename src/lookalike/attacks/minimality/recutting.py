"""A method that cuts as long as it may: which dealings of a group's values would have left the group uncut?

Each published group by itself: its values are dealt to the records that its cells hold, and a dealing is kept if the
method would not have cut the group further. What the cuts further up tell is not used, so a sharper attacker is
conceivable; nor is it known which of the records that fit two groups is in which, so one way to place them is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.minimality.replaying import Estimate, Played, Run, highest, honest, sample
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Dealt
from lookalike.progress import Progress

Leaf = Callable[[NDArray[np.int64]], Dealt | None]


def recut(
    where: Whereabouts, leaf: Leaf, generator: np.random.Generator, accepted: int, tries: int, progress: Progress
) -> tuple[Played, NDArray[np.int64]]:
    """What is believed of each group, and the order of the records that its places are of."""
    placed = where.places.tocoo()
    by_unit = np.argsort(placed.col, kind="stable")
    order = placed.row[by_unit].astype(np.int64)
    records_of, rows_of = _ends(placed.col[by_unit], where.n_units), _ends(np.sort(where.unit_of_row), where.n_units)
    rows_in_turn = np.argsort(where.unit_of_row, kind="stable")
    runs = [
        Run(int(start), int(stop), rows_in_turn[first:last])
        for start, stop, first, last in zip(records_of[:-1], records_of[1:], rows_of[:-1], rows_of[1:], strict=True)
    ]
    told: dict[int, tuple[NDArray[np.int32], Estimate | None]] = {}
    sampled: dict[int, Callable[[], Estimate | None]] = {}
    for unit, run in enumerate(runs):
        if run.size != len(run.rows):
            continue
        values, numbers, counts = np.unique(
            where.target.release.sensitive[run.rows], axis=0, return_inverse=True, return_counts=True
        )
        dealt = leaf(order[run.start : run.stop])
        if dealt is None:
            told[unit] = values, honest(np.zeros(run.size, dtype=np.int64), counts)
        else:
            kinds = numbers.reshape(-1)
            sampled[unit] = partial(sample, dealt, values[kinds], kinds, generator, accepted, tries)
            told[unit] = values, sampled[unit]()
        progress("cutting again", unit / len(runs))
    for unit in highest(sampled, lambda unit: told[unit][1]):
        told[unit] = told[unit][0], sampled[unit]()
    found = [_pair_estimate(*told[unit]) if unit in told else None for unit in range(len(runs))]
    missing = np.setdiff1d(np.arange(where.target.original.n_rows), order)
    return Played(runs, found, len(sampled), 0), np.concatenate((order, missing))


def _pair_estimate(values: NDArray[np.int32], estimate: Estimate | None) -> tuple[NDArray[np.int32], Estimate] | None:
    return None if estimate is None else (values, estimate)


def _ends(units: NDArray[np.int64], n_units: int) -> NDArray[np.int64]:
    return np.searchsorted(units, np.arange(n_units + 1))
