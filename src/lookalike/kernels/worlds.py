"""Complete assignments of records to rows, each as likely as any other, by a Markov chain of round trips.

A world is a perfect matching of records and rows. A round trip from it: a record, each as likely, leaves its row, the
hole. Whoever is homeless takes one of the rows that it fits, each as likely, the hole and the row that it was just
driven from among them; if that is the hole the trip ends in a world, else the record that was there is homeless now.

Why all worlds are equally likely in the long run. Take worlds and the states within a trip (who sits where, who is
homeless, which row is the hole) as the nodes of a graph. A step from a state goes back along the same edge: the record
just driven out fits the row it came from and may take it. So this is a random walk on an undirected graph, each edge
of a node as likely. The walk watched at worlds only is reversible, with weights in proportion to the number of edges
of a world, and that is the number of records for every world.

Trips of more than `most_steps` steps are taken back. A trip and the same trip backwards have the same number of steps
and the same probability, 1 / records times the product of 1 / rows fitted over those who were homeless: so the chain
stays symmetric. Every world is reached: two worlds differ in cycles that share no record, and a trip can go along each
of them in as many steps as it has records. `most_steps` must be no less than the records of a component. The chain
has no period: the first record may take its row again at once.

Exchanging the rows of two records is a trip of two steps. Where exchanges alone are not enough (three records, each
fitting its own row and the next one's) longer trips are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner
from lookalike.kernels.improving import next_word


class Fits(NamedTuple):
    """Which rows the records fit; components that no world connects are numbered one after the other."""

    starts: NDArray[np.int64]
    """[records + 1] record u has the edges starts[u]:starts[u + 1]"""
    rows: NDArray[np.int32]
    """[edges] the row at the other end"""
    bounds: NDArray[np.int64]
    """[components + 1] component c has the records bounds[c]:bounds[c + 1]"""


class World(NamedTuple):
    """Who is where."""

    edge_of: NDArray[np.int64]
    """[records] the edge to its row"""
    owner: NDArray[np.int64]
    """[rows]"""


declare("Fits", Fits, "i8[:] i4[:] i8[:]")
declare("World", World, "i8[:] i8[:]")


@inner
def _below(state, bound):  # type: ignore[no-untyped-def]
    """A whole number in [0, bound), for bounds far below 2^32."""
    return np.int64(((next_word(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inner
def _round_trip(fits, world, first, n_records, most_steps, moved, left, state):  # type: ignore[no-untyped-def]
    """One trip within the component of records first:first + n_records; its steps, or minus them if taken back.

    moved and left [most_steps] are scratch: who moved, and the edge that they had before.
    """
    homeless = first + _below(state, n_records)
    hole = fits.rows[world.edge_of[homeless]]
    for step in range(most_steps):
        start = fits.starts[homeless]
        edge = start + _below(state, fits.starts[homeless + 1] - start)
        moved[step], left[step] = homeless, world.edge_of[homeless]
        world.edge_of[homeless] = edge
        row = fits.rows[edge]
        driven_out = world.owner[row]
        world.owner[row] = homeless
        if row == hole:
            return step + 1
        homeless = driven_out
    for step in range(most_steps - 1, -1, -1):
        world.edge_of[moved[step]] = left[step]
    for step in range(most_steps):
        world.owner[fits.rows[world.edge_of[moved[step]]]] = moved[step]
    world.owner[fits.rows[world.edge_of[homeless]]] = homeless
    return -most_steps


@entry("Fits, World, i8[:], i8, u8[:]")
def warm_up(fits, world, limits, sweeps, state):  # type: ignore[no-untyped-def]
    """Trips until each component has made `sweeps` steps a record; [components] trips that make a sweep from now on.

    limits [components]: the most steps of a trip.
    """
    n_components = len(fits.bounds) - 1
    trips = np.ones(n_components, dtype=np.int64)
    moved, left = np.empty(limits.max(), dtype=np.int64), np.empty(limits.max(), dtype=np.int64)
    for component in range(n_components):
        first, n_records = fits.bounds[component], fits.bounds[component + 1] - fits.bounds[component]
        n_trips, n_steps = 0, 0
        while n_steps < sweeps * n_records:
            n_steps += abs(_round_trip(fits, world, first, n_records, limits[component], moved, left, state))
            n_trips += 1
        if n_steps > 0:
            trips[component] = max(1, (n_trips * n_records + n_steps // 2) // n_steps)
    return trips


@entry("Fits, World, i8[:], i8[:], i8, i8[:], u8[:]")
def wander(fits, world, limits, trips, sweeps, counts, state):  # type: ignore[no-untyped-def]
    """`sweeps` sweeps of trips[c] trips in each component; after each, counts [edges] of the edges in use rise by one.

    Returns how many trips were made, how many were taken back, and how many steps they had.
    """
    moved, left = np.empty(limits.max(), dtype=np.int64), np.empty(limits.max(), dtype=np.int64)
    n_trips, n_taken_back, n_steps = 0, 0, 0
    for component in range(len(fits.bounds) - 1):
        first, last = fits.bounds[component], fits.bounds[component + 1]
        for _ in range(sweeps):
            for _ in range(trips[component]):
                steps = _round_trip(fits, world, first, last - first, limits[component], moved, left, state)
                n_trips += 1
                n_steps += abs(steps)
                if steps < 0:
                    n_taken_back += 1
            for record in range(first, last):
                counts[world.edge_of[record]] += 1
    return n_trips, n_taken_back, n_steps


_LARGEST = 1e12


@inner
def _against_others(messages, ends, sums, idle, found):  # type: ignore[no-untyped-def]
    sums[:] = idle
    for pair in range(len(ends)):
        sums[ends[pair]] += messages[pair]
    for pair in range(len(ends)):
        others = sums[ends[pair]] - messages[pair]
        found[pair] = 1.0 / min(max(others, 1.0 / _LARGEST), _LARGEST)


@entry("i8[:], i8[:], i8, i8, f8, f8, f8[:], f8[:], i8")
def propagate(owners, rows, n_owners, n_rows, row_idle, owner_idle, asked, offered, n_rounds):  # type: ignore[no-untyped-def]
    """Rounds until no message moves, or `n_rounds`. `asked` [pairs] is where to start, and is carried on."""
    sums_of_row, sums_of_owner = np.empty(n_rows), np.empty(n_owners)
    before = np.empty_like(asked)
    for _ in range(n_rounds):
        before[:] = asked
        _against_others(asked, rows, sums_of_row, row_idle, offered)
        _against_others(offered, owners, sums_of_owner, owner_idle, asked)
        change = 0.0
        for pair in range(len(asked)):
            change = max(change, abs(asked[pair] / (1 + asked[pair]) - before[pair] / (1 + before[pair])))
        if change < 1e-8:
            break
