"""Noisy tables of counts, and records drawn from them.

A table for each link of the network would do; one whose columns all stand in another's is summed up from that one
instead, so with k parents everywhere d - k tables are made of d. Each gets discrete Laplace noise for its part of the
budget. What follows is arithmetic on noisy numbers and costs no privacy: negative counts become 0, rows become
probabilities, records are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.privbayes.mechanisms import discrete_laplace
from lookalike.algorithms.privbayes.network import Cells, Link, joint_ids
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts over some columns with noise on every cell, negative ones set to 0."""

    columns: tuple[int, ...]
    """Ascending; the axes of `counts`."""
    counts: NDArray[np.int64]


def list_measured_sets(network: Sequence[Link]) -> list[tuple[int, ...]]:
    """The sets of columns whose counts must be taken: those of links that lie in no other's."""
    members = dict.fromkeys(link.members for link in network)
    return [tuple(sorted(one)) for one in members if not any(one < other for other in members)]


def measure(
    cells: Cells,
    sizes: Sequence[int],
    sets: Sequence[tuple[int, ...]],
    scale: Fraction,
    rng: Randomness,
    progress: Progress,
) -> list[NoisyTable]:
    """The tables with noise of that scale on every cell, also on those that no record has."""
    tables = []
    for place, columns in enumerate(sets):
        progress("tables", place / len(sets))
        shape = [sizes[column] for column in columns]
        counts = np.bincount(joint_ids(cells, columns, sizes), minlength=math.prod(shape))
        noisy = counts + discrete_laplace(rng.child("table", place), scale, len(counts))
        tables.append(NoisyTable(columns, np.maximum(noisy, 0).reshape(shape)))
    return tables


def conditional(link: Link, tables: Sequence[NoisyTable], sizes: Sequence[int]) -> NDArray[np.float64]:
    """The column's probabilities for each combination of parents [parents, column], from the least table with both.

    Parents that never occur in the noisy counts get the column's overall shares; a column whose counts are all 0, even
    ones.
    """
    wanted = (*link.parents, link.column)
    table = min((table for table in tables if link.members <= {*table.columns}), key=lambda table: table.counts.size)
    away = tuple(axis for axis, column in enumerate(table.columns) if column not in link.members)
    rest = [column for column in table.columns if column in link.members]
    summed = np.transpose(table.counts.sum(axis=away), [rest.index(column) for column in wanted])
    counts = summed.reshape(-1, sizes[link.column]).astype(np.float64)
    overall = counts.sum(axis=0) if counts.any() else np.ones(sizes[link.column])
    counts[counts.sum(axis=1) == 0] = overall
    shares: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
    return shares


def draw_records(
    network: Sequence[Link],
    tables: Sequence[NoisyTable],
    sizes: Sequence[int],
    n_rows: int,
    rng: Randomness,
    progress: Progress,
) -> Cells:
    """Records, column after column in the order of the network."""
    drawn = np.zeros((n_rows, len(sizes)), dtype=np.int64)
    for place, link in enumerate(network):
        progress("records", place / len(network))
        shares = conditional(link, tables, sizes)
        parents = joint_ids(drawn, link.parents, sizes)
        # One search in all rows of cumulated shares, each shifted by its number: row r lies in (r, r + 1]. Dividing
        # by the last makes it 1 exactly, so that a value without a share is not drawn through rounding.
        ends = np.cumsum(shares, axis=1)
        ends /= ends[:, -1:].copy()
        shifted = (ends + np.arange(len(ends))[:, None]).ravel()
        found = np.searchsorted(shifted, parents + rng.child("column", place).uniforms(n_rows), side="right")
        drawn[:, link.column] = np.minimum(found - parents * sizes[link.column], sizes[link.column] - 1)
    return drawn
