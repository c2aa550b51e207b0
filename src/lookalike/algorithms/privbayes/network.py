"""A Bayesian network over the columns, grown one column at a time by private choices, and its noisy tables.

The first column is drawn blindly. Then, d - 1 times, a column that is not yet placed and parents among those that are:
the exponential mechanism picks the pair, with the mutual information of column and parents as the score. Only parent
sets that nothing can be added to are candidates, since more parents never have less information.

After Zhang, Cormode, Procopiuc, Srivastava and Xiao, "PrivBayes" (SIGMOD 2014; TODS 2017), algorithms 2 and 4.

A table of counts for each link of the network would do; one whose columns all are in another's is summed up from that
one instead, so with k parents everywhere d - k tables are made of d. Each gets discrete Laplace noise for its part of
the budget, and negative counts become 0. Records are drawn from them in shared/drawing.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.privbayes.budget import Shape
from lookalike.algorithms.shared.drawing import Cells, Link, NoisyTable, joint_ids
from lookalike.algorithms.shared.mechanisms import choose, discrete_laplace, exponents
from lookalike.progress import Progress
from lookalike.randomness import Randomness


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
            self._parents, self._ids = link.parents, joint_ids(self._cells, link.parents, self._sizes)
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
