"""From a release to the probabilities it leaves: the exposure of each form, by the reader's own means.

Units are classes of identical rows of one part (Grouped), originals (Matched, by the rows that the graph lets them be
behind), buckets (Bucketized) and published values (Perturbed, by Bayes). Rows that any reader sets aside as made up are
taken out before anything is counted, and units that nothing is left of are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.reading import Ints, Reading, joint_ids_of_two, ranks_within
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, Release
from lookalike.errors import RecipeError

_ROOM = 1 << 63
_FINE = 60


def expose(
    original: Microdata,
    release: Release,
    column: int | None,
    *,
    graph: MatchGraph | None = None,
    adversary: str = READS_RELEASE,
) -> Exposure:
    """What a reader who knows every quasi-identifier can infer about one sensitive column (None: about identity)."""
    return expose_reading(Reading(release, original), column, graph, adversary)


def expose_reading(reading: Reading, column: int | None, graph: MatchGraph | None, adversary: str) -> Exposure:
    """As `expose`, of a release that was read already."""
    if (column, adversary) not in reading.exposures:
        reading.exposures[column, adversary] = _build_exposure(reading, column, graph, adversary)
    return reading.exposures[column, adversary]


def _build_exposure(reading: Reading, column: int | None, graph: MatchGraph | None, adversary: str) -> Exposure:
    release = reading.release
    if isinstance(release, Perturbed):
        if column is None:
            return _count_exposure(reading, reading.point_of_row, np.arange(release.n_rows), None, adversary)
        if adversary == KNOWS_METHOD:
            return _bound_by_swaps(reading, release, column)
        return _posteriors(reading, release, column, adversary)
    if isinstance(release, Grouped):
        units, rows = reading.unit_of_row, np.arange(release.n_rows)
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
    return _count_exposure(reading, units, rows, column, adversary)


def expose_blocks(reading: Reading, blocks: Ints, column: int | None, adversary: str) -> Exposure:
    """A matched release as the groups that it is: the block of each row, within which everybody fits every row."""
    exposure = _count_exposure(reading, reading.in_parts(blocks), np.arange(reading.release.n_rows), column, adversary)
    return replace(exposure, form=Grouped.form)


def _count_exposure(reading: Reading, units: Ints, rows: Ints, column: int | None, adversary: str) -> Exposure:
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
        prior=original.prior(column),
    )


def _posteriors(reading: Reading, release: Perturbed, column: int, adversary: str) -> Exposure:
    """Bayes in whole numbers: published value y leaves weights[y, c] * count[c]; values never drawn are skipped.

    Anyone who finds a person's row also reads what it carries, so counts are those of the records that carry the same.
    """
    matrix = release.randomizers[column]
    exact = np.int64 if matrix.total * int(reading.original.prior(None)[0]) < _ROOM else object
    weights = matrix.weights.astype(exact)
    units: list[NDArray[Any]] = []
    for counts, published in list_stocks(reading, release, column):
        joint = weights[published] * counts.astype(exact)
        units += [unit for unit in joint if unit.any()]
    return expose_units(reading, column, units, adversary)


def _bound_by_swaps(reading: Reading, release: Perturbed, column: int) -> Exposure:
    """The most and the least that a reader who knows the exact counts can conclude about each value.

    To such a reader every order of the values is equally likely, and all rows tell about each person. Exchanging the
    values c and u of two persons changes the probability of what is published by R = max w[y, c] / w[y, u] times
    max w[y, u] / w[y, c] at most, so their odds change by no more. Two units a value: the odds of all others divided
    by R, and multiplied by it. Rounded to the unfavourable side. Probabilities in *each* value, not a joint one.
    """
    weights = release.randomizers[column].weights
    swap: dict[tuple[int, int], Fraction | None] = {}
    units: list[NDArray[Any]] = []
    for counts, _ in list_stocks(reading, release, column):
        present = np.flatnonzero(counts).tolist()
        for value in present:
            most, least = np.zeros(len(counts), dtype=object), np.zeros(len(counts), dtype=object)
            most[value] = least[value] = int(counts[value]) << _FINE
            for other in present:
                if other == value:
                    continue
                pair = min(value, other), max(value, other)
                if pair not in swap:
                    up, down = _largest_ratio(weights, *pair), _largest_ratio(weights, *pair[::-1])
                    swap[pair] = None if up is None or down is None else up * down
                factor, count = swap[pair], int(counts[other]) << _FINE
                if factor is None:
                    most[other], least[other], least[value] = 0, count, 0
                else:
                    most[other], least[other] = math.floor(count / factor), math.ceil(count * factor)
            units += [most, least]
    return expose_units(reading, column, units, KNOWS_METHOD)


def list_stocks(reading: Reading, release: Perturbed, column: int) -> Iterator[tuple[Ints, Ints]]:
    """For each combination of carried values: how often its records have each value, and the values published of it.

    Combinations with equal counts and the same published values are one.
    """
    n_codes = reading.original.domains.sensitive[column].n_codes
    if not release.carried.shape[1]:
        yield reading.original.prior(column), np.arange(n_codes)
        return
    of_records, of_rows = joint_ids_of_two((reading.original.carried,), (release.carried,))
    n_kinds = 1 + int(max(of_records.max(initial=0), of_rows.max(initial=0)))
    tables = [
        np.unique(ids * n_codes + codes[:, column], return_counts=True)
        for ids, codes in ((of_records, reading.original.sensitive), (of_rows, release.sensitive))
    ]
    parts = [np.searchsorted(keys, np.arange(n_kinds + 1) * n_codes) for keys, _ in tables]
    seen: set[bytes] = set()
    for kind in range(n_kinds):
        owned, published = (slice(part[kind], part[kind + 1]) for part in parts)
        stock = np.zeros(n_codes, dtype=np.int64)
        stock[tables[0][0][owned] % n_codes] = tables[0][1][owned]
        values = tables[1][0][published] % n_codes
        key = stock.tobytes() + values.tobytes()
        if key not in seen and stock.any():
            seen.add(key)
            yield stock, values


def expose_units(reading: Reading, column: int, units: list[NDArray[Any]], adversary: str) -> Exposure:
    """An exposure of posteriors: the weight of every value, unit by unit."""
    held = [np.flatnonzero(unit) for unit in units]
    dtype = units[0].dtype if units else np.dtype(np.int64)
    nothing = np.zeros(0, dtype=dtype)
    return Exposure(
        adversary=adversary,
        form=Perturbed.form,
        column=reading.original.domains.sensitive[column],
        prior=reading.original.prior(column),
        starts=np.concatenate([[0], np.cumsum([len(values) for values in held])]).astype(np.int64),
        values=np.concatenate([nothing, *held]).astype(np.int32),
        weights=np.concatenate([nothing, *(unit[values] for unit, values in zip(units, held, strict=True))]),
        sizes=np.array([unit.sum() for unit in units], dtype=dtype),
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

    None where there are too many pairs to list. A pair counts if it is in the assignment found or on a closed walk
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
        prior=reading.original.prior(None),
        concealed=concealed,
    )


def complete_assignment(reading: Reading) -> Ints:
    """Its own row for each record that was placed; -1 for none. Rows of one item are interchangeable."""
    item_of_record, item_of_row = reading.placement.item_of_record, reading.placement.item_of_row
    rows, records = (np.argsort(items, kind="stable") for items in (item_of_row, item_of_record))
    records = records[item_of_record[records] >= 0]
    items = item_of_record[records]
    row_of_record = np.full(len(item_of_record), -1, dtype=np.int64)
    row_of_record[records] = rows[np.searchsorted(item_of_row[rows], items) + ranks_within(items)]
    return row_of_record


def part(exposure: Exposure, units: Ints) -> Exposure:
    """The exposure of some of its units alone."""
    lengths = np.diff(exposure.starts)[units]
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    entries = np.arange(int(starts[-1])) - np.repeat(starts[:-1], lengths) + np.repeat(exposure.starts[units], lengths)
    return replace(
        exposure,
        starts=starts,
        values=exposure.values[entries],
        weights=exposure.weights[entries],
        sizes=exposure.sizes[units],
        concealed=None if exposure.concealed is None else exposure.concealed[units],
        n_classes=None if exposure.n_classes is None else int(np.count_nonzero(units < exposure.n_classes)),
        possible_sizes=None if exposure.possible_sizes is None else exposure.possible_sizes[units],
        behind=None,
    )
