"""What MST measures: each column, then a tree of pairs. All that looks at records is here.

1. The counts of each column, with noise.
2. Values whose noisy count is below three standard deviations are merged into one cell: their counts are mostly noise,
   and the tables of pairs become smaller. That follows from noisy counts alone.
3. A tree of pairs, in d - 1 choices by the exponential mechanism (Kruskal's algorithm: a pair may be chosen if it links
   two parts that are not linked yet). The score of a pair is how far its counts are from what the columns, taken as
   independent, lead one to expect: the sum of absolute differences. Replacing one record moves one count down and
   another up by 1, so it changes a score by 2 at most. Expected counts depend on noisy counts only; they are rounded to
   multiples of 1/1024, so that scores are exact and floats cannot add to the sensitivity.
4. The counts of the pairs chosen, with noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.mst.budget import ZcdpBudget
from lookalike.algorithms.shared.drawing import Cells, Link, joint_ids
from lookalike.algorithms.shared.mechanisms import DiscreteGaussian, choose, exponents
from lookalike.progress import Progress
from lookalike.randomness import Randomness

SCORE_SENSITIVITY = 2
_MERGED_BELOW = 3
"""Standard deviations of the noise."""
_SCORE_GRID = 1 << 10
_MOST_CELLS = 1 << 20
"""Pairs with more cells, after merging, are not offered: tables must fit the machine."""

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Measured:
    """Counts of one or two columns with noise on every cell, over merged values."""

    columns: tuple[int, ...]
    counts: NDArray[np.float64]
    """The axes are the columns, ascending."""
    variances: NDArray[np.float64]
    """Of the noise on each count: more where values were merged after they were counted."""


@dataclass(frozen=True, eq=False)
class Merging:
    """A column's cells before and after rare ones are merged; the merged one is the last."""

    merged: NDArray[np.int64]
    """For each cell, the one that it belongs to."""
    n_merged: int

    @property
    def weights(self) -> NDArray[np.float64]:
        """For each cell, its part of the one that it belongs to: what is merged is drawn evenly."""
        return 1.0 / np.bincount(self.merged, minlength=self.n_merged)[self.merged]


def measure_column(cells: NDArray[np.int64], size: int, noise: DiscreteGaussian, rng: Randomness) -> NDArray[np.int64]:
    """The counts of a column with noise, also on those that no record has."""
    return np.bincount(cells, minlength=size) + noise.draw(rng, size)


def merge_rare(noisy: NDArray[np.int64], variance: Fraction) -> Merging:
    """Values below three standard deviations become one; a single such value stays as it is."""
    # count < 3 * deviation, in whole numbers and fractions.
    limit = _MERGED_BELOW**2 * variance
    rare = np.array([count < 0 or count**2 < limit for count in map(int, noisy)])
    merged = np.cumsum(~rare) - 1
    n_kept = int(np.count_nonzero(~rare))
    merged[rare] = n_kept
    return Merging(merged, n_kept + int(rare.any()))


def sum_merged(noisy: NDArray[np.int64], merging: Merging, column: int, variance: Fraction) -> Measured:
    counts = np.bincount(merging.merged, weights=noisy, minlength=merging.n_merged)
    n_values = np.bincount(merging.merged, minlength=merging.n_merged)
    return Measured((column,), counts.astype(np.float64), n_values.astype(np.float64) * float(variance))


def settle_counts(measured: Measured, n_rows: int) -> NDArray[np.float64]:
    """The nearest counts (by the noise's weights) that are not negative and add up to the number of records.

    counts - shift * variance, cut off at 0, for the shift that makes the sum right.
    """
    counts, variances = measured.counts, measured.variances
    order = np.argsort(-counts / variances, kind="stable")
    # With the first so many cells above 0, the shift is the surplus of their sum over their variances.
    shifts = (np.cumsum(counts[order]) - n_rows) / np.cumsum(variances[order])
    above = np.flatnonzero(counts[order] / variances[order] > shifts)
    settled: NDArray[np.float64] = np.maximum(counts - shifts[above[-1]] * variances, 0.0)
    return settled


def score_pair(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """The sum of absolute differences, exactly: expected counts are rounded to the grid first."""
    rounded = np.rint(expected * _SCORE_GRID).astype(np.int64)
    return int(np.abs(counts * _SCORE_GRID - rounded).sum()) / _SCORE_GRID


def choose_tree(
    cells: Cells,
    settled: Sequence[NDArray[np.float64]],
    per_choice: Fraction,
    rng: Randomness,
    progress: Progress,
) -> list[Pair]:
    """Pairs of columns that link all of them (those that pairs of a reasonable size can link), one for each choice."""
    sizes, n_rows = [len(counts) for counts in settled], len(cells)
    offered = [
        pair for pair in itertools.combinations(range(len(sizes)), 2) if sizes[pair[0]] * sizes[pair[1]] <= _MOST_CELLS
    ]
    if len(sizes) <= 2:
        return offered
    scores: dict[Pair, float] = {}
    for place, (one, other) in enumerate(offered):
        progress("structure", place / len(offered))
        counts = count_pair(cells, (one, other), sizes)
        scores[one, other] = score_pair(counts, np.outer(settled[one], settled[other]) / n_rows)
    part, chosen = list(range(len(sizes))), list[Pair]()
    while left := [pair for pair in offered if part[pair[0]] != part[pair[1]]]:
        weights = exponents(np.array([scores[pair] for pair in left]), per_choice, SCORE_SENSITIVITY)
        pair = left[choose(rng.child("choice", len(chosen)), weights)]
        chosen.append(pair)
        kept, gone = part[pair[0]], part[pair[1]]
        part = [kept if one == gone else one for one in part]
    return chosen


def count_pair(cells: Cells, pair: Pair, sizes: Sequence[int]) -> NDArray[np.int64]:
    shape = [sizes[column] for column in pair]
    return np.bincount(joint_ids(cells, pair, sizes), minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True, eq=False)
class Tree:
    """Everything that was measured. As private as what is made of it."""

    mergings: Sequence[Merging]
    columns: Sequence[Measured]
    pairs: Sequence[Measured]


def measure_tree(cells: Cells, sizes: Sequence[int], budget: ZcdpBudget, rng: Randomness, progress: Progress) -> Tree:
    """Spends the whole budget: d tables of one column, d - 1 choices, at most d - 1 tables of two columns."""
    noise = budget.column_noise
    noisy = [
        measure_column(cells[:, column], size, noise, rng.child("column", column)) for column, size in enumerate(sizes)
    ]
    mergings = [merge_rare(counts, noise.variance) for counts in noisy]
    columns = [
        sum_merged(counts, merging, column, noise.variance)
        for column, (counts, merging) in enumerate(zip(noisy, mergings, strict=True))
    ]
    merged = np.empty_like(cells)
    for column, merging in enumerate(mergings):
        merged[:, column] = merging.merged[cells[:, column]]
    settled = [settle_counts(one, len(cells)) for one in columns]
    chosen = choose_tree(merged, settled, budget.per_choice, rng.child("structure"), progress)
    pairs, sizes = [], [merging.n_merged for merging in mergings]
    for place, pair in enumerate(sorted(chosen)):
        progress("tables", place / len(chosen))
        counts = count_pair(merged, pair, sizes)
        added = budget.pair_noise.draw(rng.child("pair", place), counts.size).reshape(counts.shape)
        variances = np.full(counts.shape, float(budget.pair_noise.variance))
        pairs.append(Measured(pair, (counts + added).astype(np.float64), variances))
    return Tree(mergings, columns, pairs)


def link_columns(n_columns: int, pairs: Sequence[Pair]) -> list[Link]:
    """The tree as an order to draw in: from the first column of each part outwards, each from the one it hangs on."""
    links, placed = list[Link](), set[int]()
    for root in range(n_columns):
        if root in placed:
            continue
        links.append(Link(root, ()))
        waiting = [root]
        placed.add(root)
        while waiting:
            column = waiting.pop(0)
            for other in sorted({*itertools.chain.from_iterable(pair for pair in pairs if column in pair)} - placed):
                links.append(Link(other, (column,)))
                waiting.append(other)
                placed.add(other)
    return links
