"""From a release to the beliefs it leaves: the exposure of each form, by the reader's own means.

Units are classes of identical rows (Grouped), originals (Matched, by the rows that the graph lets them be behind),
buckets (Bucketized) and published values (Perturbed, by Bayes). Rows that any reader sets aside as made up are taken
out before anything is counted, and units that nothing is left of are dropped.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.audit.cells import Ints
from lookalike.audit.reading import Reading
from lookalike.errors import RecipeError
from lookalike.exposure import Exposure, counted_exposure
from lookalike.microdata import Microdata
from lookalike.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, Release

_ROOM = 1 << 63
_FINE = 60


def expose(
    release: Release,
    original: Microdata,
    column: int | None,
    *,
    graph: MatchGraph | None = None,
    adversary: str = READS_RELEASE,
) -> Exposure:
    """What a reader who knows every quasi-identifier can infer about one sensitive column (None: about identity)."""
    return expose_reading(Reading(release, original), column, graph, adversary)


def expose_reading(reading: Reading, column: int | None, graph: MatchGraph | None, adversary: str) -> Exposure:
    release = reading.release
    if isinstance(release, Perturbed):
        if column is None:
            return _counted(reading, reading.point_of_row, np.arange(release.n_rows), None, adversary)
        if adversary == KNOWS_METHOD:
            return _bounded_by_swaps(reading, release, column)
        return _posteriors(reading, release, column, adversary)
    if isinstance(release, Grouped):
        units, rows = reading.boxes.class_of_row, np.arange(release.n_rows)
    elif isinstance(release, Bucketized):
        units, rows = release.bucket_of_sensitive.astype(np.int64), np.arange(len(release.sensitive))
    elif graph is None:
        raise RecipeError(
            "A matched release shows what it reaches only with its private graph. Give the graph, or hold the release "
            "against a model: then the audit tests whether a graph that keeps the promise exists."
        )
    else:
        units = np.repeat(np.arange(len(graph.starts) - 1), np.diff(graph.starts))
        rows = graph.rows.astype(np.int64)
    return _counted(reading, units, rows, column, adversary)


def _counted(reading: Reading, units: Ints, rows: Ints, column: int | None, adversary: str) -> Exposure:
    kept = ~reading.is_told_dummy[rows]
    names, unit_of_row = np.unique(units[kept], return_inverse=True)
    original, release = reading.original, reading.release
    return counted_exposure(
        unit_of_row.reshape(-1).astype(np.int64),
        None if column is None else release.sensitive[rows[kept], column],
        len(names),
        adversary=adversary,
        form=release.form,
        column=None if column is None else original.domains.sensitive[column],
        prior=_prior(original, column),
    )


def _prior(original: Microdata, column: int | None) -> Ints:
    return np.array([original.n_rows], dtype=np.int64) if column is None else original.counts(column).astype(np.int64)


def _posteriors(reading: Reading, release: Perturbed, column: int, adversary: str) -> Exposure:
    """Bayes in whole numbers: published value r leaves weights[r, c] * prior[c]; values never drawn are skipped."""
    prior = _prior(reading.original, column)
    weights = release.randomizers[column].weights
    exact = weights.astype(object) * prior.astype(object)
    sizes = exact.sum(axis=1)
    drawn = np.flatnonzero(sizes > 0)
    units, values = np.nonzero(exact[drawn] > 0)
    fits = all(size < _ROOM for size in sizes)
    dtype = np.int64 if fits else object
    starts = np.searchsorted(units, np.arange(len(drawn) + 1)).astype(np.int64)
    return Exposure(
        adversary=adversary,
        form=release.form,
        column=reading.original.domains.sensitive[column],
        prior=prior,
        starts=starts,
        values=values.astype(np.int32),
        weights=exact[drawn][units, values].astype(dtype),
        sizes=sizes[drawn].astype(dtype),
    )


def _bounded_by_swaps(reading: Reading, release: Perturbed, column: int) -> Exposure:
    """The most and the least that a reader who knows the exact counts can come to believe of each value.

    To such a reader every order of the values is equally likely, and all rows tell about each person. Exchanging the
    values c and u of two persons changes the probability of what is published by R = max w[y, c] / w[y, u] times
    max w[y, u] / w[y, c] at most, so their odds change by no more. Two units a value: the odds of all others divided
    by R, and multiplied by it. Rounded to the unfavourable side. Beliefs in *each* value, not a joint one.
    """
    prior = _prior(reading.original, column)
    weights = release.randomizers[column].weights
    present = np.flatnonzero(prior).tolist()
    units: list[dict[int, int]] = []
    for value in present:
        most, least = {value: int(prior[value]) << _FINE}, {value: int(prior[value]) << _FINE}
        for other in present:
            if other == value:
                continue
            count = int(prior[other]) << _FINE
            up, down = _largest_ratio(weights, value, other), _largest_ratio(weights, other, value)
            if up is None or down is None:
                most[other], least[other], least[value] = 0, count, 0
            else:
                most[other], least[other] = math.floor(count / (up * down)), math.ceil(count * (up * down))
        units += [most, least]
    entries = [(value, weight) for unit in units for value, weight in sorted(unit.items()) if weight]
    lengths = [sum(weight > 0 for weight in unit.values()) for unit in units]
    return Exposure(
        adversary=KNOWS_METHOD,
        form=release.form,
        column=reading.original.domains.sensitive[column],
        prior=prior,
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        values=np.array([value for value, _ in entries], dtype=np.int32),
        weights=np.array([weight for _, weight in entries], dtype=object),
        sizes=np.array([sum(unit.values()) for unit in units], dtype=object),
    )


def _largest_ratio(weights: NDArray[np.int64], above: int, below: int) -> Fraction | None:
    """The largest quotient of two columns of a matrix over the rows where either is positive; None: infinite."""
    tops, bottoms = weights[:, above], weights[:, below]
    if ((bottoms == 0) & (tops > 0)).any():
        return None
    rows = np.flatnonzero(bottoms > 0)
    quotients = tops[rows] / bottoms[rows]
    near = rows[quotients >= quotients.max() * (1 - 1e-12)]
    return max(Fraction(int(tops[row]), int(bottoms[row])) for row in near.tolist())


def concealment(reading: Reading, adversary: str) -> Exposure | None:
    """Matched releases: for each record the rows that it may be behind in some complete assignment.

    None where there are too many pairs to list. A pair counts if it lies in the assignment found or on a closed walk
    of swaps (both ends in one strong component). Rows without a record and records without a row join through a hub:
    taking a free row frees another one.
    """
    assert isinstance(reading.release, Matched)
    if reading.fits is None:
        return None
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    starts, rows = reading.fits
    n_records, n_rows = reading.original.n_rows, reading.release.n_rows
    row_of_record = complete_assignment(reading)
    record_of_row = np.full(n_rows, -1, dtype=np.int64)
    placed = np.flatnonzero(row_of_record >= 0)
    record_of_row[row_of_record[placed]] = placed
    free_rows, idle = np.flatnonzero(record_of_row < 0), np.flatnonzero(row_of_record < 0)
    # Nodes: a record with its row, a record without one, a row without one, and two hubs.
    node_of_row = np.where(record_of_row >= 0, record_of_row, 0)
    node_of_row[free_rows] = n_records + np.arange(len(free_rows))
    rows_hub, records_hub = n_records + len(free_rows), n_records + len(free_rows) + 1
    owner = np.repeat(np.arange(n_records), np.diff(starts))
    tails = [owner, node_of_row[free_rows]]
    heads = [node_of_row[rows], np.full(len(free_rows), rows_hub)]
    if len(free_rows):
        tails.append(np.full(n_records, rows_hub))
        heads.append(np.arange(n_records))
    if len(idle):
        tails += [placed, np.full(len(idle), records_hub)]
        heads += [np.full(len(placed), records_hub), idle]
    ends = np.concatenate(tails), np.concatenate(heads)
    walks = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(records_hub + 1, records_hub + 1))
    _, component = connected_components(walks, directed=True, connection="strong")
    admissible = (component[owner] == component[node_of_row[rows]]) | (row_of_record[owner] == rows)
    # A record that no complete assignment needs to place is told apart from nobody by it.
    kept = np.flatnonzero(np.bincount(owner, minlength=n_records) > 0)
    concealed = np.bincount(owner[admissible], minlength=n_records)[kept].astype(np.int64)
    units = np.searchsorted(kept, owner)
    return counted_exposure(
        units,
        None,
        len(kept),
        adversary=adversary,
        form=reading.release.form,
        column=None,
        prior=_prior(reading.original, None),
        concealed=concealed,
    )


def complete_assignment(reading: Reading) -> Ints:
    """A row of its own for each record that was placed; -1 for none. Rows of one item are interchangeable."""
    placement = reading.placement
    placed = np.flatnonzero(placement.item_of_record >= 0)
    row_of_record = np.full(len(placement.item_of_record), -1, dtype=np.int64)
    rows = np.argsort(placement.item_of_row, kind="stable")
    first_row = np.searchsorted(placement.item_of_row[rows], np.arange(len(placement.capacities)))
    items = placement.item_of_record[placed]
    ranked = np.argsort(items, kind="stable")
    rank = np.arange(len(items)) - np.searchsorted(items[ranked], items[ranked])
    row_of_record[placed[ranked]] = rows[first_row[items[ranked]] + rank]
    return row_of_record


def part(exposure: Exposure, units: Ints) -> Exposure:
    """The exposure of some of its units alone."""
    lengths = np.diff(exposure.starts)[units]
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    entries = np.arange(int(starts[-1])) - np.repeat(starts[:-1], lengths) + np.repeat(exposure.starts[units], lengths)
    concealed: NDArray[np.int64] | None = None if exposure.concealed is None else exposure.concealed[units]
    return Exposure(
        adversary=exposure.adversary,
        form=exposure.form,
        column=exposure.column,
        prior=exposure.prior,
        starts=starts,
        values=exposure.values[entries],
        weights=exposure.weights[entries],
        sizes=exposure.sizes[units],
        concealed=concealed,
    )
