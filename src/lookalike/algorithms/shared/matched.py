"""What heterogeneous methods have in common: from a graph of records and slots to a Matched release.

A slot is a published row before it has a place in the table. It covers the quasi-identifiers of all records that may
be behind it and shows the sensitive values of one of them, the giver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Microdata
from lookalike.data.release import Linkage, Matched, MatchGraph, Withheld, cover
from lookalike.randomness import Randomness


class SlotGraph(NamedTuple):
    """Which records may be behind which slots, and which one's values each slot shows."""

    records: NDArray[np.int64]
    """[edges]"""
    slots: NDArray[np.int64]
    """[edges]"""
    givers: NDArray[np.int64]
    """[slots] a record with an edge to the slot"""


def matched_release(
    data: Microdata, graph: SlotGraph, rng: Randomness, withheld: Withheld | None = None
) -> tuple[Matched, Linkage]:
    """Publish every slot's least extents. The row order is a permutation of its own, so it says nothing."""
    n_slots = len(graph.givers)
    slot_of_row = rng.child("row order").permutation(n_slots)
    row_of_slot = np.empty(n_slots, dtype=np.int64)
    row_of_slot[slot_of_row] = np.arange(n_slots)
    rows = row_of_slot[graph.slots]
    extents = tuple(
        cover(domain, data.quasi[graph.records, index], rows, n_slots)
        for index, domain in enumerate(data.domains.quasi)
    )
    record_of_row = graph.givers[slot_of_row]
    release = Matched(
        domains=data.domains,
        extents=extents,
        sensitive=data.sensitive[record_of_row],
        carried=data.carried[record_of_row],
        withheld=Withheld() if withheld is None else withheld,
    )
    order = np.lexsort((rows, graph.records))
    starts = np.searchsorted(graph.records[order], np.arange(data.n_rows + 1))
    return release, Linkage(record_of_row, graph=MatchGraph(starts, rows[order].astype(np.int32)))


def slots_of(table: NDArray[np.int64]) -> NDArray[np.int32]:
    """[records, k] the rows of a table [slots, k] in which each of its records stands; records by number."""
    order = np.argsort(table, axis=None, kind="stable")
    return np.asarray((order // table.shape[1]).reshape(table.shape), dtype=np.int32)


def drawn_assignment(edges: NDArray[np.int32], rng: Randomness) -> NDArray[np.int64]:
    """One of the disjoint assignments of a regular graph [vertices, degree], each edge in it with chance 1/degree.

    The graph is taken apart at random and one part is drawn: a perfect matching drawn uniformly from all of them would
    not have every edge equally often.
    """
    drawn = int(rng.child("which").integers(edges.shape[1], 1)[0])
    return np.asarray(disjoint_assignments(edges, rng, drawn + 1)[drawn], dtype=np.int64)


def disjoint_assignments(edges: NDArray[np.int32], rng: Randomness, number: int) -> NDArray[np.int32]:
    """[number, vertices] disjoint random perfect matchings of a regular graph."""
    from lookalike.kernels.regular import take_apart

    matchings = np.empty((number, len(edges)), dtype=np.int32)
    order = rng.child("walks").permutation(len(edges))
    take_apart(edges.copy(), order, rng.child("steps").words(1).copy(), matchings)
    return matchings


def withstands(edges: NDArray[np.int32], known: dict[int, int]) -> bool:
    """Whether somebody who knows the slots of some vertices still has degree - |known| ways for each of the others.

    That is so if what is left of a regular graph [vertices, degree] without the known pairs still holds a regular graph
    of degree - |known|. Symmetric graphs always do; others need not.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n_vertices, degree = edges.shape
    wanted = degree - len(known)
    if wanted < 1:
        return False
    source, sink = 2 * n_vertices, 2 * n_vertices + 1
    left = np.array([vertex for vertex in range(n_vertices) if vertex not in known])
    open_slots = np.setdiff1d(np.arange(n_vertices), np.array([*known.values()], dtype=np.int64))
    tails, heads = np.repeat(left, degree), edges[left].ravel().astype(np.int64)
    kept = np.isin(heads, open_slots)
    tails, heads = tails[kept], heads[kept] + n_vertices
    ends = (
        np.concatenate([tails, np.full(len(left), source), open_slots + n_vertices]),
        np.concatenate([heads, left, np.full(len(open_slots), sink)]),
    )
    capacities = np.concatenate([np.ones(len(tails)), np.full(len(left) + len(open_slots), wanted)]).astype(np.int32)
    network = csr_array((capacities, ends), shape=(sink + 1, sink + 1))
    found = int(maximum_flow(network, source, sink).flow_value)
    return bool(found == wanted * len(left))
