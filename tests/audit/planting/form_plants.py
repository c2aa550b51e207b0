"""Plants in what only some forms have: exact quasi-identifiers, buckets, matrices, graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.data.release import Bucketized, Matched, MatchGraph, Perturbed, Randomizer
from tests.audit.planting.cases import Case, random_matrix
from tests.audit.planting.catalogue import plant, with_release


@plant("quasi-identifier changed")
def _other_point(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Bucketized | Perturbed):
        return None
    quasi = case.release.quasi.copy()
    column = int(rng.integers(quasi.shape[1]))
    quasi[rng.integers(len(quasi)), column] = rng.integers(case.data.domains.quasi[column].n_codes)
    return with_release(case, quasi=quasi)


@plant("bucket numbers shifted")
def _shifted(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Bucketized):
        return None
    buckets = case.release.bucket_of_sensitive
    return with_release(case, bucket_of_sensitive=((buckets + 1) % (int(buckets.max()) + 1)).astype(np.int32))


@plant("bucket number of one row changed")
def _other_bucket(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Bucketized):
        return None
    buckets = case.release.bucket_of_sensitive.copy()
    buckets[rng.integers(len(buckets))] = rng.choice(buckets)
    return with_release(case, bucket_of_sensitive=buckets)


@plant("bucket numbers of two rows exchanged")
def _buckets_exchanged(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Bucketized):
        return None
    side = str(rng.choice(["bucket_of_quasi", "bucket_of_sensitive"]))
    buckets = getattr(case.release, side).copy()
    one, other = rng.choice(len(buckets), 2, replace=False)
    buckets[[one, other]] = buckets[[other, one]]
    return with_release(case, **{side: buckets})


def _with_matrix(rng: np.random.Generator, case: Case, change: Callable[[Any, int, int, int], None]) -> Case | None:
    if not isinstance(case.release, Perturbed):
        return None
    place = int(rng.integers(len(case.release.randomizers)))
    matrix = case.release.randomizers[place]
    weights = matrix.weights.copy()
    row, other, column = (int(number) for number in rng.integers(len(weights), size=3))
    change(weights, row, other, column)
    matrices = list(case.release.randomizers)
    matrices[place] = Randomizer(weights, matrix.total)
    return with_release(case, randomizers=tuple(matrices))


@plant("matrix entry too large")
def _larger(rng: np.random.Generator, case: Case) -> Case | None:
    def change(weights: Any, row: int, other: int, column: int) -> None:
        weights[row, column] += 1

    return _with_matrix(rng, case, change)


@plant("matrix entry below 0")
def _negative(rng: np.random.Generator, case: Case) -> Case | None:
    def change(weights: Any, row: int, other: int, column: int) -> None:
        taken = weights[row, column] + 1
        weights[row, column] -= taken
        weights[other, column] += taken

    return _with_matrix(rng, case, change)


@plant("matrix with a column of another")
def _column_taken(rng: np.random.Generator, case: Case) -> Case | None:
    def change(weights: Any, row: int, other: int, column: int) -> None:
        weights[:, column] = weights[:, other]

    return _with_matrix(rng, case, change)


@plant("matrix that never draws a published value")
def _never_drawn(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Perturbed) or len(case.release.randomizers[0].weights) < 2:
        return None
    matrix = case.release.randomizers[0]
    shown = int(rng.choice(case.release.sensitive[:, 0]))
    weights = matrix.weights.copy()
    weights[(shown + 1) % len(weights)] += weights[shown]
    weights[shown] = 0
    return with_release(case, randomizers=(Randomizer(weights, matrix.total), *case.release.randomizers[1:]))


@plant("another matrix")
def _another(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Perturbed):
        return None
    matrices = tuple(random_matrix(rng, len(matrix.weights)) for matrix in case.release.randomizers)
    return with_release(case, randomizers=matrices)


def _edges(case: Case) -> list[list[int]]:
    assert case.graph is not None
    return [part.tolist() for part in np.split(case.graph.rows, case.graph.starts[1:-1])]


def _with_edges(case: Case, edges: list[list[int]]) -> Case:
    starts = np.concatenate(([0], np.cumsum([len(rows) for rows in edges]))).astype(np.int64)
    rows = np.array([row for part in edges for row in part], dtype=np.int32)
    return replace(case, graph=MatchGraph(starts, rows))


@plant("graph edge removed")
def _edge_removed(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Matched):
        return None
    edges = _edges(case)
    rows = edges[int(rng.integers(len(edges)))]
    rows.pop(int(rng.integers(len(rows))))
    return _with_edges(case, edges)


@plant("graph edge added")
def _edge_added(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Matched):
        return None
    edges = _edges(case)
    edges[int(rng.integers(len(edges)))].append(int(rng.integers(case.release.n_rows)))
    return _with_edges(case, edges)


@plant("graph edges of two records exchanged")
def _edges_exchanged(rng: np.random.Generator, case: Case) -> Case | None:
    if not isinstance(case.release, Matched):
        return None
    edges = _edges(case)
    one, other = rng.choice(len(edges), 2, replace=False)
    first, second = int(rng.integers(len(edges[one]))), int(rng.integers(len(edges[other])))
    edges[one][first], edges[other][second] = edges[other][second], edges[one][first]
    return _with_edges(case, edges)
