"""Regular bipartite graphs taken apart into perfect matchings, at random.

Goel, Kapralov, Khanna, "Perfect matchings in O(n log n) time in regular bipartite graphs" (2010): from an unmatched
vertex walk along random edges, over to the partner of the vertex reached, until that has none; then flip the walk with
its loops cut out. A matching taken out of a d-regular graph leaves a (d - 1)-regular one.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.improving import next_word


@inner
def _match(edges, degree, order, slot_of, owner, exit_of, state):  # type: ignore[no-untyped-def]
    """A random perfect matching of the edges edges[v, :degree]; fills slot_of [n] and owner [n]."""
    slot_of[:] = -1
    owner[:] = -1
    for start in order:
        vertex = np.int64(start)
        while True:
            pick = np.int64(next_word(state) % np.uint64(degree))
            slot = edges[vertex, pick]
            if slot == slot_of[vertex]:
                # Its own partner: any other edge, each as likely.
                step = np.uint64(1) + next_word(state) % np.uint64(degree - 1)
                slot = edges[vertex, np.int64((np.uint64(pick) + step) % np.uint64(degree))]
            # The last exit from a vertex counts, so a loop is cut out when the walk comes back.
            exit_of[vertex] = slot
            if owner[slot] < 0:
                break
            vertex = np.int64(owner[slot])
        vertex = np.int64(start)
        while vertex >= 0:
            slot = exit_of[vertex]
            previous = np.int64(owner[slot])
            owner[slot] = vertex
            slot_of[vertex] = slot
            vertex = previous


@entry("i4[:,:], i8[:], u8[:], i4[:,:]")
def take_apart(edges, order, state, matchings):  # type: ignore[no-untyped-def]
    """Fill matchings [m, n] with m disjoint random perfect matchings of a regular graph, m at most its degree.

    edges [n, d]: the different slots of each vertex; taken ones are moved to the end. order [n]: of the walks;
    state [1]: of the generator.
    """
    n_vertices, degree = edges.shape
    owner, exit_of = np.empty(n_vertices, dtype=np.int32), np.empty(n_vertices, dtype=np.int32)
    for turn in range(len(matchings)):
        left = degree - turn
        if left == 1:
            for vertex in range(n_vertices):
                matchings[turn, vertex] = edges[vertex, 0]
            continue
        _match(edges, left, order, matchings[turn], owner, exit_of, state)
        for vertex in range(n_vertices):
            for place in range(left):
                if edges[vertex, place] == matchings[turn, vertex]:
                    edges[vertex, place], edges[vertex, left - 1] = edges[vertex, left - 1], edges[vertex, place]
                    break
