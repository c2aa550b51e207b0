"""Do published rows stand in the order of the original's records?

Each test compares a count with what a shuffle gives:

    place     the record at the same place fits the row (also with its own values, and counted from the end)
    rank      within a class or bucket, rows and the records placed there carry equal values rank by rank
    drift     rows come round as their records do, up to a rotation (sees rotations and left-out rows)

Counts are sums over a random permutation of numbers in [0, 1]; with mean m such a sum exceeds m + t with probability
at most exp(-t^2 / (4 m + 2 t)) (Chatterjee 2007, by Stein's method), a bound that holds for few rows and for heavy
duplicates. Classes and placements do not depend on row order, so the bounds apply to honest releases as they stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from lookalike.audit.containment import holds_each, weight_fitting
from lookalike.audit.order.sorting import Members, OrderedTable, Sign, expected_matches, line_up, permutation_tail
from lookalike.audit.reading import Ints, Reading, joint_ids_of_two, means_by_id
from lookalike.data.release import Bucketized, Grouped, Matched

_SAMPLE = 1024


def input_signs(reading: Reading, tables: Sequence[OrderedTable]) -> Iterator[Sign]:
    release, members = reading.release, tables[-1].members
    if isinstance(release, Grouped | Matched):
        yield from _extent_signs(reading)
        if members is not None:
            yield from _rank_signs("within classes rows", members)
        return
    yield from _same_place_signs("quasi-identifiers", reading.point_of_record, reading.point_of_row)
    if isinstance(release, Bucketized):
        assert members is not None
        yield from _same_place_signs("sensitive values", reading.value_of_record, reading.value_of_row)
        yield from _rank_signs("within buckets sensitive values", members)
    elif release.carried.shape[1]:
        yield from _same_place_signs(
            "carried values", *joint_ids_of_two((reading.original.carried,), (release.carried,))
        )


def drift_signs(words: str, id_of_record: Ints, id_of_row: Ints, n_ids: int) -> Iterator[Sign]:
    """Places as angles on a circle: rows against the mean of the records with their number, forward and backward.

    Under a shuffle the sum of the products has mean 0 and a known variance. The angles of rows are evenly spread, so
    the sum has lighter tails than a normal variable in every direction; all variance may lie in one of them.
    """
    angles = 2 * np.pi * np.arange(len(id_of_record)) / max(len(id_of_record), 1)
    (across, counts), (up, _) = (means_by_id(id_of_record, side(angles), n_ids) for side in (np.cos, np.sin))
    means = (across + 1j * up)[id_of_row[counts[id_of_row] > 0]]
    spread = means - means.mean() if len(means) else means
    variance = float((np.abs(spread) ** 2).sum()) * len(means) / max(len(means) - 1, 1)
    if variance <= 1e-9:
        return
    own = np.exp(2j * np.pi * np.arange(len(means)) / len(means))
    for side, turned in (("", own), ("reversed ", own.conj())):
        score = float(abs(np.vdot(turned, spread))) ** 2 / variance
        yield Sign(f"{words} follow the {side}input order", min(1.0, 4 * math.exp(-score / 2)))


def _same_place_signs(words: str, of_record: Ints, of_row: Ints) -> Iterator[Sign]:
    """Equal numbers at the same place, from the start and from the end; and drift."""
    n_compared = min(len(of_record), len(of_row))
    n_ids = 1 + int(max(of_record.max(initial=0), of_row.max(initial=0)))
    share = np.bincount(of_row, minlength=n_ids) / max(len(of_row), 1)
    for side, records in (("", of_record[:n_compared]), ("reversed ", of_record[::-1][:n_compared])):
        seen = int(np.count_nonzero(records == of_row[:n_compared]))
        yield Sign(f"{words} are in {side}input order", permutation_tail(seen, float(share[records].sum())))
    yield from drift_signs(words, of_record, of_row, n_ids)


def _rank_signs(words: str, members: Members) -> Iterator[Sign]:
    """Within groups, values of records in input order against those of rows in published order, rank by rank."""
    places = np.arange(len(members.group_of_record))
    for side, ranks in (("", places), ("reversed ", -places)):
        records, rows = line_up(members, ranks)
        if len(rows):
            seen = int(np.count_nonzero(members.value_of_record[records] == members.value_of_row[rows]))
            mean = expected_matches(members, records, rows)
            yield Sign(f"{words} are in {side}input order", permutation_tail(seen, mean))


def _extent_signs(reading: Reading) -> Iterator[Sign]:
    boxes, placement = reading.boxes, reading.placement
    codes = np.ascontiguousarray(reading.original.quasi)
    n_records, n_rows = reading.original.n_rows, reading.release.n_rows
    n_compared = min(n_records, n_rows)
    sizes = np.bincount(boxes.class_of_row, minlength=boxes.n_classes).astype(np.int64)
    all_classes = np.arange(boxes.n_classes), sizes, np.array([0, boxes.n_classes]), np.zeros(n_records, dtype=np.int64)
    own_values = placement.class_of_item, placement.capacities, placement.starts, reading.value_of_record
    from_the_end = np.arange(n_records - 1, n_records - 1 - n_compared, -1)
    for side, records in (("", np.arange(n_compared)), ("reversed ", from_the_end)):
        held = holds_each(boxes.cells, boxes.class_of_row[:n_compared], codes, records)
        drawn = records
        if len(records) > _SAMPLE:
            drawn = records[np.random.default_rng(len(records)).choice(len(records), _SAMPLE, replace=False)]
        true = held & (reading.value_of_record[records] == reading.value_of_row[:n_compared])
        for words, hits, (units, weights, starts, block) in (
            ("cells", held, all_classes),
            ("cells and values", true, own_values),
        ):
            fitting = weight_fitting(boxes.cells, units, weights, starts, codes, drawn, block) / max(n_rows, 1)
            # Where only some records were looked at, the mean is taken as large as it may well be.
            slack = 0.0 if len(drawn) == len(records) else 5 * float(fitting.std()) / math.sqrt(len(drawn))
            mean = n_compared * (float(fitting.mean()) + slack) if len(drawn) else 0.0
            yield Sign(f"{words} are in {side}input order", permutation_tail(int(np.count_nonzero(hits)), mean))
    yield from drift_signs("rows", placement.item_of_record, placement.item_of_row, len(placement.capacities))
