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
from collections.abc import Iterator

import numpy as np

from lookalike.audit.order.sorting import (
    Sign,
    permutation_tail,
)
from lookalike.audit.reading import Ints, Reading, joint_ids_of_two
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed

_SAMPLE = 1024


def input_signs(reading: Reading) -> Iterator[Sign]:
    release = reading.release
    if isinstance(release, Grouped | Matched):
        return _extent_signs(reading)
    if isinstance(release, Bucketized):
        return _bucket_signs(reading)
    return _find_perturbed_signs(reading, release)


def count_sign(words: str, seen: int, mean: float) -> Sign:
    return Sign(words, permutation_tail(seen, mean))


def drift_signs(words: str, id_of_record: Ints, id_of_row: Ints, n_ids: int) -> Iterator[Sign]:
    """Places as angles on a circle: rows against the mean of the records with their number, forward and backward.

    Under a shuffle the sum of the products has mean 0 and a known variance. The angles of rows are evenly spread, so
    the sum has lighter tails than a normal variable in every direction; all variance may lie in one of them.
    """
    real = np.flatnonzero(id_of_record >= 0)
    counts = np.bincount(id_of_record[real], minlength=n_ids)
    angles = 2 * np.pi * real / max(len(id_of_record), 1)
    sums = np.bincount(id_of_record[real], weights=np.cos(angles), minlength=n_ids) + 1j * np.bincount(
        id_of_record[real], weights=np.sin(angles), minlength=n_ids
    )
    means = (sums / np.maximum(counts, 1))[id_of_row[counts[id_of_row] > 0]]
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
        yield count_sign(f"{words} are in {side}input order", seen, float(share[records].sum()))
    yield from drift_signs(words, of_record, of_row, n_ids)


def _rank_signs(words: str, group_of_record: Ints, records: Ints, group_of_row: Ints, rows: Ints) -> Iterator[Sign]:
    """Within groups, numbers `records` in input order against numbers `rows` in published order, rank by rank.

    Groups with unequal numbers of both are left out; a record in no group has -1.
    """
    n_groups = 1 + int(max(group_of_record.max(initial=0), group_of_row.max(initial=0)))
    real = np.flatnonzero(group_of_record >= 0)
    sizes = np.bincount(group_of_row, minlength=n_groups)
    whole = np.bincount(group_of_record[real], minlength=n_groups) == sizes
    real, published = real[whole[group_of_record[real]]], np.flatnonzero(whole[group_of_row])
    if len(published) == 0:
        return
    published = published[np.argsort(group_of_row[published], kind="stable")]
    groups, codes = group_of_row[published], rows[published]
    width = 1 + int(max(records.max(initial=0), rows.max(initial=0)))
    keys, counts = np.unique(groups * width + codes, return_counts=True)
    theirs = np.unique(group_of_record[real] * width + records[real], return_counts=True)
    place = np.searchsorted(theirs[0], keys)
    place = np.minimum(place, len(theirs[0]) - 1)
    common = np.where(theirs[0][place] == keys, theirs[1][place], 0)
    mean = float((counts * common / sizes[keys // width]).sum())
    for side, way in (("", real), ("reversed ", real[::-1])):
        lined = way[np.argsort(group_of_record[way], kind="stable")]
        seen = int(np.count_nonzero(records[lined] == codes))
        yield count_sign(f"{words} are in {side}input order", seen, mean)


def _extent_signs(reading: Reading) -> Iterator[Sign]:
    from lookalike.kernels.containment import holds_each, weight_fitting

    boxes, placement = reading.boxes, reading.placement
    codes = np.ascontiguousarray(reading.original.quasi)
    n_records, n_rows = reading.original.n_rows, reading.release.n_rows
    n_compared = min(n_records, n_rows)
    sizes = np.bincount(boxes.class_of_row, minlength=boxes.n_classes).astype(np.int64)
    all_classes = np.arange(boxes.n_classes), sizes, np.array([0, boxes.n_classes]), np.zeros(n_records, dtype=np.int64)
    own_values = placement.class_of_item, placement.capacities, placement.starts, reading.value_of_record
    for side, records in (("", np.arange(n_compared)), ("reversed ", np.arange(n_records)[::-1][:n_compared])):
        held = holds_each(boxes.cells, boxes.class_of_row[:n_compared], codes, records)
        true = held & (reading.value_of_record[records] == reading.value_of_row[:n_compared])
        for words, hits, (units, weights, starts, block) in (
            ("cells", held, all_classes),
            ("cells and values", true, own_values),
        ):
            drawn = _sample_records(records)
            fitting = weight_fitting(boxes.cells, units, weights, starts, codes, drawn, block) / max(n_rows, 1)
            # Where only some records were looked at, the mean is taken as large as it may well be.
            slack = 0.0 if len(drawn) == len(records) else 5 * float(fitting.std()) / math.sqrt(len(drawn))
            mean = n_compared * (float(fitting.mean()) + slack) if len(drawn) else 0.0
            seen = int(np.count_nonzero(hits))
            yield count_sign(f"{words} are in {side}input order", seen, mean)
    yield from drift_signs("rows", placement.item_of_record, placement.item_of_row, len(placement.capacities))
    if isinstance(reading.release, Grouped):
        padded = np.append(placement.class_of_item, -1)
        class_of_record = padded[placement.item_of_record]
        yield from _rank_signs(
            "within classes rows",
            class_of_record,
            reading.value_of_record,
            boxes.class_of_row,
            reading.value_of_row,
        )


def _sample_records(records: Ints) -> Ints:
    if len(records) <= _SAMPLE:
        return records
    return records[np.random.default_rng(len(records)).choice(len(records), _SAMPLE, replace=False)]


def _bucket_signs(reading: Reading) -> Iterator[Sign]:
    yield from _same_place_signs("quasi-identifiers", reading.point_of_record, reading.point_of_row)
    yield from _same_place_signs("sensitive values", reading.value_of_record, reading.value_of_row)
    words, of_values = "within buckets sensitive values", reading.buckets[1]
    yield from _rank_signs(words, reading.bucket_of_record, reading.value_of_record, of_values, reading.value_of_row)


def _find_perturbed_signs(reading: Reading, release: Perturbed) -> Iterator[Sign]:
    yield from _same_place_signs("quasi-identifiers", reading.point_of_record, reading.point_of_row)
    if release.carried.shape[1]:
        records, rows = joint_ids_of_two((reading.original.carried,), (release.carried,))
        yield from _same_place_signs("carried values", records, rows)
