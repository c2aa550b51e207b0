"""Records drawn column by column from tables of counts: what every synthesizer ends with.

A network says which columns a column is drawn from, and the tables hold counts of columns and their parents. Both come
from a private mechanism, so all that happens here is arithmetic on numbers that may be known, and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.progress import Progress
from lookalike.randomness import Randomness

Cells = NDArray[np.int64]
"""[row, column]: the cell of each record in each column's public domain."""


@dataclass(frozen=True)
class Link:
    """A column and the columns that it is drawn from."""

    column: int
    parents: tuple[int, ...]

    @property
    def members(self) -> frozenset[int]:
        return frozenset((self.column, *self.parents))


def joint_ids(cells: Cells, columns: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number for each record that says its cells in these columns, the last column running fastest."""
    ids = np.zeros(len(cells), dtype=np.int64)
    for column in columns:
        ids = ids * sizes[column] + cells[:, column]
    return ids


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts over some columns, from measurements with noise on every cell; none is negative."""

    columns: tuple[int, ...]
    """Ascending; the axes of `counts`."""
    counts: NDArray[np.int64] | NDArray[np.float64]


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
        # One search in all rows of cumulated shares, each shifted by its number: row r is in (r, r + 1]. Dividing
        # by the last makes it 1 exactly, so that a value without a share is not drawn through rounding.
        ends = np.cumsum(shares, axis=1)
        ends /= ends[:, -1:].copy()
        shifted = (ends + np.arange(len(ends))[:, None]).ravel()
        found = np.searchsorted(shifted, parents + rng.child("column", place).uniforms(n_rows), side="right")
        drawn[:, link.column] = np.minimum(found - parents * sizes[link.column], sizes[link.column] - 1)
    return drawn
