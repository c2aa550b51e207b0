"""Matched releases: the assigned graph (level A) and the existence of one (level B).

Level A. The graph that the publisher used must lie inside the containment relation, be regular, and contain an
assignment that carries the true values. Regular means: the two ends of every edge have equally many edges. Then each
connected part has one degree and splits into so many disjoint assignments, which is what equal odds need; parts of
degree d and d + 1 side by side are how a table whose size d does not divide is published without made-up rows.

Level B. Without the graph, probabilities are known only where the ranges leave no choice of one: where rows and
records fall
into blocks within which everybody fits every row and nobody fits a row outside. Such a release is a grouped one, and is
judged as such. Elsewhere nothing is shown. A maximum flow tells whether containment has a d-regular part in which no
record sees a value more often than its cap: with the graph it confirms the verdict, without it it can only refute one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from lookalike.audit.containment import holds_each
from lookalike.audit.reading import FITS_LIMIT, Ints, Reading
from lookalike.audit.verdicts import Check
from lookalike.data.release import MatchGraph
from lookalike.data.requirement import Requirement
from lookalike.errors import counted

_FLOW_LIMIT = 5_000_000
"""More edges than this are not given to the flow solver, which would run for minutes."""
_TRIES = 6


def graph_complaint(graph: MatchGraph, reading: Reading) -> str | None:
    """Why the arrays of a graph are no graph over these records and rows, or None."""
    starts, rows = graph.starts, graph.rows
    n_records, n_rows = reading.original.n_rows, reading.release.n_rows
    if len(starts) != n_records + 1:
        return f"the graph is about {len(starts) - 1:,} records, the original has {n_records:,}"
    if starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 0).any():
        return "the graph's edges are not laid out in order"
    if rows.size and (int(rows.min()) < 0 or int(rows.max()) >= n_rows):
        return "the graph names rows that the release does not have"
    owner = np.repeat(np.arange(n_records), np.diff(starts))
    n_doubled = len(rows) - len(np.unique(owner * np.int64(max(n_rows, 1)) + rows))
    return f"{counted(n_doubled, 'edge')} of the graph is there twice" if n_doubled else None


def graph_checks(graph: MatchGraph, reading: Reading) -> list[Check]:
    """Level A, apart from the promises themselves."""
    owner = np.repeat(np.arange(reading.original.n_rows), np.diff(graph.starts))
    rows = graph.rows.astype(np.int64)
    return [
        _inside_containment(reading, owner, rows),
        _regular(reading, owner, rows),
        _carries_truth(reading, owner, rows),
    ]


def _inside_containment(reading: Reading, owner: Ints, rows: Ints) -> Check:
    boxes = reading.boxes
    held = holds_each(boxes.cells, boxes.class_of_row[rows], reading.original.quasi, owner)
    n_outside = int(np.count_nonzero(~held))
    detail = f"all {counted(len(rows), 'edge')} join a record to a row that it fits"
    if n_outside:
        detail = f"{n_outside:,} of {counted(len(rows), 'edge')} join a record to a row that it does not fit"
    return Check("graph within the ranges", n_outside == 0, detail)


def _regular(reading: Reading, owner: Ints, rows: Ints) -> Check:
    withheld = reading.release.withheld
    of_record = np.bincount(owner, minlength=reading.original.n_rows)
    of_row = np.bincount(rows, minlength=reading.release.n_rows)
    n_idle = int(np.count_nonzero(of_record == 0))
    n_unused = int(np.count_nonzero(of_row == 0))
    if withheld.n_dummies == 0:
        uneven = of_record[owner] != of_row[rows]
    else:
        # Made-up records are behind rows too but are not in the graph: a row may lack edges, but all records
        # behind it have the degree that it would have with them.
        most = np.zeros(len(of_row), dtype=np.int64)
        np.maximum.at(most, rows, of_record[owner])
        uneven = (of_record[owner] != most[rows]) | (of_row[rows] > most[rows])
    n_uneven = int(np.count_nonzero(uneven))
    degrees = np.unique(of_record[of_record > 0]).tolist()
    words = " or ".join(f"{degree:,}" for degree in degrees[:4]) + (" or more" if len(degrees) > 4 else "")
    problems = []
    if n_uneven:
        problems.append(f"{counted(n_uneven, 'edge')} join a record and a row with different numbers of edges")
    if n_idle != withheld.n_suppressed:
        problems.append(f"{counted(n_idle, 'record')} without an edge, {withheld.n_suppressed:,} declared suppressed")
    if n_unused > withheld.n_dummies:
        problems.append(f"{counted(n_unused, 'row')} without an edge, {withheld.n_dummies:,} declared made up")
    return Check("graph regular", not problems, "; ".join(problems) or f"{words} edges at every record and row")


def _carries_truth(reading: Reading, owner: Ints, rows: Ints) -> Check:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    true = reading.value_of_record[owner] == reading.value_of_row[rows]
    n_records, n_rows = reading.original.n_rows, reading.release.n_rows
    ends = owner[true], rows[true]
    edges = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n_records, n_rows))
    partner = maximum_bipartite_matching(edges, perm_type="column")
    n_left = n_records - reading.release.withheld.n_suppressed - int(np.count_nonzero(partner >= 0))
    detail = "the graph contains a complete assignment that carries the true values"
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} have no row in the graph that carries their own values"
    return Check("graph carries the truth", n_left <= 0, detail)


@dataclass(frozen=True)
class Existence:
    """Whether a graph that keeps a promise exists; None: not tested, `detail` says why."""

    exists: bool | None
    detail: str


def existence(reading: Reading, requirement: Requirement, column: int | None, graph: MatchGraph | None) -> Existence:
    """The flow test; where caps ask for more than the promise does, a graph that they leave out may still keep it."""
    found = _flow_test(reading, requirement, column, graph)
    if found.exists is False and requirement.stricter:
        return Existence(None, f"not decided: {found.detail}, by caps that are stricter than the promise")
    return found


def _flow_test(reading: Reading, requirement: Requirement, column: int | None, graph: MatchGraph | None) -> Existence:
    """The flow test, with the graph's own degrees, or else with the smallest degrees that the model leaves open.

    For size and distinct values those are k and l (a value at most once); under ceilings the first few degrees d at
    which the caps floor(ceiling * d) admit d rows and let every published value be used d times per row.
    """
    only_distinct = requirement.distinct > 1 and requirement.ceilings is None
    rest = replace(requirement, distinct=1) if only_distinct else requirement
    if not rest.only_ceilings:
        return Existence(None, "not run: this model cannot be put as caps on how often a record sees a value")
    if reading.fits is None:
        return Existence(None, f"not run: records fit more than {FITS_LIMIT:,} rows in all")
    starts, rows = reading.fits
    if len(rows) > _FLOW_LIMIT:
        return Existence(None, f"not run: {len(rows):,} pairs of record and row, more than {_FLOW_LIMIT:,}")
    values = np.zeros(reading.release.n_rows, dtype=np.int64)
    if column is not None:
        values = reading.release.sensitive[:, column].astype(np.int64)
    n_codes = int(values.max(initial=0)) + 1 if column is None else reading.original.domains.sensitive[column].n_codes
    if graph is not None:
        degrees = np.diff(graph.starts)
        if only_distinct and (degrees[degrees > 0] != requirement.distinct).any():
            return Existence(None, "not run: with more rows per record than values asked for, values may repeat")
        slots = np.bincount(graph.rows, minlength=reading.release.n_rows)
        found = _flow(reading, degrees, slots, values, requirement, n_codes) == int(degrees.sum())
        return Existence(found, f"{'a' if found else 'no'} graph with the degrees of the given one keeps the promise")
    n_suppressed = reading.release.withheld.n_suppressed
    most = int(np.sort(np.diff(starts))[min(n_suppressed, len(starts) - 2)])
    tried = []
    for degree in _degrees(requirement, values, n_codes, most):
        n_wanted = degree * (reading.original.n_rows - n_suppressed)
        degrees = np.full(reading.original.n_rows, degree, dtype=np.int64)
        slots = np.full(reading.release.n_rows, degree, dtype=np.int64)
        slots[reading.is_told_dummy] = 0
        if _flow(reading, degrees, slots, values, requirement, n_codes) >= n_wanted:
            return Existence(True, f"a {degree}-regular graph that keeps the promise exists, which shows nothing")
        tried.append(str(degree))
    if not tried:
        return Existence(False, f"some record fits only {counted(most, 'row')}: no degree is left to try")
    return Existence(False, f"no regular graph that keeps the promise exists with {' or '.join(tried)} rows per record")


def _caps(requirement: Requirement, degree: int, n_codes: int) -> Ints:
    if requirement.ceilings is not None:
        return np.array([math.floor(min(share, Fraction(1)) * degree) for share in requirement.ceilings])
    return np.full(n_codes, 1 if requirement.distinct > 1 else degree)


def _degrees(requirement: Requirement, values: Ints, n_codes: int, most: int) -> list[int]:
    least = max(requirement.min_size, requirement.distinct)
    if requirement.ceilings is None:
        return [least] if least <= most else []
    counts = np.bincount(values, minlength=n_codes)
    found = []
    for degree in range(least, most + 1):
        caps = _caps(requirement, degree, n_codes)
        if int(np.minimum(caps, counts).sum()) >= degree and (caps * len(values) >= counts * degree).all():
            found.append(degree)
            if len(found) == _TRIES:
                break
    return found


def _flow(reading: Reading, degrees: Ints, slots: Ints, values: Ints, requirement: Requirement, n_codes: int) -> int:
    """The most edges that records (at most `degrees` each) and rows (at most `slots` each) can have together."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    assert reading.fits is not None
    starts, rows = reading.fits
    n_records, n_rows = len(degrees), len(slots)
    owner = np.repeat(np.arange(n_records), np.diff(starts))
    known = np.unique(degrees)
    caps = np.array([_caps(requirement, degree, n_codes) for degree in known.tolist()], dtype=np.int64)
    cap_of_edge = caps[np.searchsorted(known, degrees[owner]), values[rows]]
    kept = (cap_of_edge > 0) & (degrees[owner] > 0) & (slots[rows] > 0)
    owner, rows, cap_of_edge = owner[kept], rows[kept], cap_of_edge[kept]
    keys, pair, count = np.unique(owner * n_codes + values[rows], return_inverse=True, return_counts=True)
    pair = pair.reshape(-1)
    pair_cap = np.zeros(len(keys), dtype=np.int64)
    pair_cap[pair] = cap_of_edge
    # Only where a record fits more rows of a value than its cap does the value need its own node.
    narrow = count > pair_cap
    n_nodes = int(np.count_nonzero(narrow))
    node_of_pair = np.where(narrow, n_records + n_rows + np.cumsum(narrow) - 1, keys // n_codes)
    source, sink = n_records + n_rows + n_nodes, n_records + n_rows + n_nodes + 1
    # Edges in four stretches: into records, into the nodes of values, into rows that fit, into the sink.
    tails = np.concatenate(
        (np.full(n_records, source), keys[narrow] // n_codes, node_of_pair[pair], n_records + np.arange(n_rows))
    )
    heads = np.concatenate((np.arange(n_records), node_of_pair[narrow], n_records + rows, np.full(n_rows, sink)))
    amounts = np.concatenate((degrees, pair_cap[narrow], np.ones(len(rows), dtype=np.int64), slots))
    network = csr_array((amounts.astype(np.int32), (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value)
