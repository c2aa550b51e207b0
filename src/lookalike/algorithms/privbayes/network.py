"""A Bayesian network over the columns, grown one column at a time by private choices; its noisy tables; its records.

The first column is drawn blindly. Then, d - 1 times, a column that is not yet placed and parents among those that are:
the exponential mechanism picks the pair, with the mutual information of column and parents as the score. Only parent
sets that nothing can be added to are candidates, since more parents never have less information.

After Zhang, Cormode, Procopiuc, Srivastava and Xiao, "PrivBayes" (SIGMOD 2014; TODS 2017), algorithms 2 and 4.

A table of counts for each link of the network would do; one whose columns all stand in another's is summed up from that
one instead, so with k parents everywhere d - k tables are made of d. Each gets discrete Laplace noise for its part of
the budget. What follows is arithmetic on noisy numbers and costs no privacy: negative counts become 0, rows become
probabilities, records are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.privbayes.mechanisms import Shape, choose, discrete_laplace, exponents
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


def information_sensitivity(n_rows: int, *, binary: bool) -> float:
    """By how much mutual information, in bits, can change if one of n records is replaced.

    `binary`: if the column or its parents, taken together, have two values. Brute force over small tables meets both
    bounds (a test); with one record there is no information to change, and any scale will do.
    """
    n = n_rows
    if n == 1:
        return 1.0
    if binary:
        return math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
    return 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))


def mutual_information(joint: NDArray[np.int64]) -> float:
    """In bits, from a table of counts [parents, column]."""
    n = int(joint.sum())
    total = _weigh(joint.ravel()) - _weigh(joint.sum(axis=0)) - _weigh(joint.sum(axis=1)) + n * math.log2(n)
    return max(total / n, 0.0)


def _weigh(counts: NDArray[np.int64]) -> float:
    """The sum of c * log2(c)."""
    counts = counts[counts > 1]
    return float((counts * np.log2(counts)).sum())


def _joint_ids(cells: Cells, columns: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number for each record that says its cells in these columns, the last column running fastest."""
    ids = np.zeros(len(cells), dtype=np.int64)
    for column in columns:
        ids = ids * sizes[column] + cells[:, column]
    return ids


def parent_sets(column: int, placed: Sequence[int], sizes: Sequence[int], shape: Shape) -> Iterator[tuple[int, ...]]:
    """Sets of placed columns that, with the column, fit into a table, and to which none can be added."""
    ordered = sorted(placed)

    def grown(chosen: tuple[int, ...], begin: int, n_cells: int) -> Iterator[tuple[int, ...]]:
        full = len(chosen) == shape.degree
        others = (other for other in ordered if other not in chosen)
        if full or all(n_cells * sizes[other] > shape.most_cells for other in others):
            yield chosen
        if full:
            return
        for place in range(begin, len(ordered)):
            if n_cells * sizes[ordered[place]] <= shape.most_cells:
                yield from grown((*chosen, ordered[place]), place + 1, n_cells * sizes[ordered[place]])

    yield from grown((), 0, sizes[column])


def candidates(placed: Sequence[int], sizes: Sequence[int], shape: Shape) -> list[Link]:
    """Everything that the next choice may pick. Depends on nothing but public sizes and earlier choices."""
    return [
        Link(column, parents)
        for column in range(len(sizes))
        if column not in placed
        for parents in parent_sets(column, placed, sizes, shape)
    ]


def choice_sensitivity(links: Sequence[Link], sizes: Sequence[int], n_rows: int) -> float:
    """The largest sensitivity among the candidates: one scale for all, or the mechanism would favour some."""
    return max(
        information_sensitivity(n_rows, binary=2 in (sizes[link.column], math.prod(sizes[p] for p in link.parents)))
        for link in links
    )


class Scores:
    """Mutual information of links, each computed once."""

    def __init__(self, cells: Cells, sizes: Sequence[int]) -> None:
        self._cells, self._sizes = cells, sizes
        self._known: dict[Link, float] = {}
        self._parents: tuple[int, ...] | None = None
        self._ids = np.empty(0, dtype=np.int64)

    def __call__(self, links: Sequence[Link]) -> NDArray[np.float64]:
        # Links with the same parents one after the other share the numbers of the parents' cells.
        for link in sorted({*links} - self._known.keys(), key=lambda link: (link.parents, link.column)):
            self._known[link] = self._score(link)
        return np.array([self._known[link] for link in links])

    def _score(self, link: Link) -> float:
        if not link.parents:
            return 0.0
        if link.parents != self._parents:
            self._parents, self._ids = link.parents, _joint_ids(self._cells, link.parents, self._sizes)
        n_parents, n_values = math.prod(self._sizes[p] for p in link.parents), self._sizes[link.column]
        counts = np.bincount(self._ids * n_values + self._cells[:, link.column], minlength=n_parents * n_values)
        return mutual_information(counts.reshape(n_parents, n_values))


def grow_network(
    cells: Cells, sizes: Sequence[int], shape: Shape, per_choice: Fraction, rng: Randomness, progress: Progress
) -> tuple[Link, ...]:
    """The columns in the order in which records are drawn, each with its parents.

    Every choice but the first spends `per_choice`. With degree 0 nothing is looked at.
    """
    d = len(sizes)
    if shape.degree == 0:
        return tuple(Link(column, ()) for column in range(d))
    network = [Link(int(rng.child("first").integers(d, 1)[0]), ())]
    scores = Scores(cells, sizes)
    while len(network) < d:
        progress("structure", len(network) / d)
        links = candidates([link.column for link in network], sizes, shape)
        weights = exponents(scores(links), per_choice, choice_sensitivity(links, sizes, len(cells)))
        network.append(links[choose(rng.child("choice", len(network)), weights)])
    return tuple(network)


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
        counts = np.bincount(_joint_ids(cells, columns, sizes), minlength=math.prod(shape))
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
        parents = _joint_ids(drawn, link.parents, sizes)
        # One search in all rows of cumulated shares, each shifted by its number: row r lies in (r, r + 1]. Dividing
        # by the last makes it 1 exactly, so that a value without a share is not drawn through rounding.
        ends = np.cumsum(shares, axis=1)
        ends /= ends[:, -1:].copy()
        shifted = (ends + np.arange(len(ends))[:, None]).ravel()
        found = np.searchsorted(shifted, parents + rng.child("column", place).uniforms(n_rows), side="right")
        drawn[:, link.column] = np.minimum(found - parents * sizes[link.column], sizes[link.column] - 1)
    return drawn
