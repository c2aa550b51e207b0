"""Bucketized releases: do the numbers of buckets, or one table's order, say something about the persons in them?

Both tables are shuffled apart, so neither may follow the other, as a whole or within buckets. Buckets must be numbered
at random, or their numbers are an order like that of rows: by the mean age of the bucket, by the age of the person who
has its first value, by whether the oldest has the last one. What a bucket holds is the same whatever its number, so
such figures are worked out for each bucket and held against the order of the numbers (within each part of a release in
parts, whose buckets are numbered by themselves).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.order.neighbours import classify, likeness_signs, pick_rows, shares_of_items
from lookalike.audit.order.sorting import Arrangement, OrderedTable, Sign, follow_rows, follow_signs, permutation_tail
from lookalike.audit.reading import Ints, Reading, count_ids, means_by_id
from lookalike.data.release import Bucketized

_JOIN_LIMIT = 50_000_000
_MOST_PAIRS = 5_000_000
_REMEDY = "Number the buckets at random"
Floats = NDArray[np.float64]


def numbering_signs(reading: Reading, columns: Sequence[tuple[str, Ints]]) -> Iterator[Sign]:
    """Figures of each bucket for every column, against the published numbers."""
    release = reading.release
    if not isinstance(release, Bucketized):
        return
    of_points, of_values = reading.buckets
    records, buckets = _possible_members(reading, of_points, of_values)
    n_buckets = count_ids(of_points, of_values)
    if len(records) == 0:
        return
    part_of_bucket = np.zeros(n_buckets, dtype=np.int64)
    if reading.parts:
        part_of_bucket[of_points] = reading.parts["qit"]
    in_order = np.lexsort((np.arange(n_buckets), part_of_bucket))
    for words, ranks in columns:
        for figure, scores in _figures(reading, release, words, ranks, records, buckets, of_values, n_buckets):
            known = in_order[~np.isnan(scores[in_order])]
            yield from _order_signs(figure, scores[known], part_of_bucket[known])


def _order_signs(words: str, scores: Floats, blocks: Ints) -> Iterator[Sign]:
    for sign in follow_rows(words, scores, blocks, "bucket numbers"):
        yield replace(sign, remedy=_REMEDY)
    looked = pick_rows(len(scores))
    ranks = np.unique(scores[looked], return_inverse=True)[1].reshape(-1).astype(np.int64)
    for classes, n_classes, is_ordered in classify(ranks):
        shares = shares_of_items(classes, n_classes, np.arange(len(looked)), len(looked))
        for sign in likeness_signs(words, shares, blocks[looked], is_ordered, "buckets with numbers"):
            yield replace(sign, remedy=_REMEDY)


def _possible_members(reading: Reading, of_points: Ints, of_values: Ints) -> tuple[Ints, Ints]:
    """Records and the buckets that list both their quasi-identifiers and their values; nothing if far too many."""
    by_point = np.argsort(reading.point_of_record, kind="stable")
    ordered = reading.point_of_record[by_point]
    width = 1 + int(max(of_points.max(initial=0), of_values.max(initial=0)))
    listed = np.unique(reading.point_of_row * width + of_points)
    begins, ends = (np.searchsorted(ordered, listed // width, side) for side in ("left", "right"))
    n_each = ends - begins
    if int(n_each.sum()) > _MOST_PAIRS:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    offsets = np.arange(int(n_each.sum())) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    records, buckets = by_point[np.repeat(begins, n_each) + offsets], np.repeat(listed % width, n_each)
    shown = np.unique(of_values * reading.n_values + reading.value_of_row)
    fits = np.isin(buckets * reading.n_values + reading.value_of_record[records], shown)
    return records[fits], buckets[fits]


def _figures(
    reading: Reading,
    release: Bucketized,
    words: str,
    ranks: Ints,
    records: Ints,
    buckets: Ints,
    of_values: Ints,
    n_buckets: int,
) -> Iterator[tuple[str, Floats]]:
    """By name, a figure of each bucket; not a number where it has none."""
    own = ranks[records].astype(np.float64)
    yield f"{words} (mean)", _means(own, buckets, n_buckets)
    least = np.full(n_buckets, np.inf)
    np.minimum.at(least, buckets, own)
    yield f"{words} (first)", np.where(np.isinf(least), np.nan, least)
    for index in range(release.sensitive.shape[1]):
        shown, theirs = release.sensitive[:, index], reading.original.sensitive[records, index]
        for side, extreme in (("first", np.minimum), ("last", np.maximum)):
            value = np.full(n_buckets, shown.max(initial=0) if side == "first" else -1, dtype=np.int64)
            extreme.at(value, of_values, shown)
            has_it = np.where(theirs == value[buckets], buckets, -1)
            yield f"{words} of the person with the {side} value", _means(own, has_it, n_buckets)
        # Which of the persons has which value: how both go together within the bucket.
        codes = theirs.astype(np.float64)
        product, first, second = (_means(each, buckets, n_buckets) for each in (own * codes, own, codes))
        yield f"{words} by value", np.round(product - first * second, 9)


def _means(numbers: Floats, buckets: Ints, n_buckets: int) -> Floats:
    means, counts = means_by_id(buckets, numbers, n_buckets)
    return np.where(counts > 0, means, np.nan)


def alignment_signs(
    reading: Reading, tables: Sequence[OrderedTable], arranged: Sequence[Arrangement]
) -> Iterator[Sign]:
    """Does one table follow the other? Tried within what the sort of each leaves, whatever the tables are sorted by.

    The place of a record in one table is like a column of the original: the other table is shuffled without regard to
    it. Ranks within buckets are compared where one of both tables is shuffled within buckets.
    """
    if not isinstance(reading.release, Bucketized):
        return
    if any(set(found.sorted_by) <= {"bucket"} for found in arranged):
        yield from _alignment_sign(reading)
    for this, other in ((0, 1), (1, 0)):
        places = _places(tables[other])
        item_of_record = np.where(places >= 0, tables[this].item_of_record, -1)
        words, blocks = "the order of the other table", arranged[this].block_of_row
        yield from follow_signs(words, places, item_of_record, tables[this].item_of_row, blocks)


def _places(table: OrderedTable) -> Ints:
    """The mean place of the rows that may be each record's, as a rank; -1: not known."""
    n_items = count_ids(table.item_of_row, table.item_of_record)
    means, counts = means_by_id(table.item_of_row, np.arange(len(table.item_of_row)), n_items)
    known = (table.item_of_record >= 0) & (counts[table.item_of_record] > 0)
    ranks = np.unique(means[table.item_of_record], return_inverse=True)[1].reshape(-1)
    return np.where(known, ranks, -1).astype(np.int64)


def _alignment_sign(reading: Reading) -> Iterator[Sign]:
    """Within buckets, do the two tables list the same persons at the same rank?"""
    from scipy.sparse import csr_array

    of_points, of_values = reading.buckets
    if len(of_points) != len(of_values):
        return
    first, second = np.argsort(of_points, kind="stable"), np.argsort(of_values, kind="stable")
    n_buckets = int(of_points.max(initial=0)) + 1
    if not (of_points[first] == of_values[second]).all():
        return
    n_points, n_values = reading.n_points, reading.n_values
    true = np.unique(reading.point_of_record * n_values + reading.value_of_record)
    real = csr_array((np.ones(len(true)), (true // n_values, true % n_values)), shape=(n_points, n_values))
    points = csr_array((np.ones(len(first)), (of_points, reading.point_of_row)), shape=(n_buckets, n_points))
    values = csr_array((np.ones(len(second)), (of_values, reading.value_of_row)), shape=(n_buckets, n_values))
    by_point, by_value = np.diff(real.indptr)[points.indices], np.diff(real.tocsc().indptr)[values.indices]
    if min(int(by_point.sum()), int(by_value.sum())) > _JOIN_LIMIT:
        return
    if by_point.sum() <= by_value.sum():
        pairs = (points @ real).multiply(values).sum(axis=1)
    else:
        pairs = (values @ real.T).multiply(points).sum(axis=1)
    sizes = np.bincount(of_points, minlength=n_buckets)
    mean = float((np.asarray(pairs).reshape(-1) / np.maximum(sizes, 1)).sum())
    keys = reading.point_of_row[first] * n_values + reading.value_of_row[second]
    seen = int(np.count_nonzero(np.isin(keys, true)))
    yield Sign("within buckets both tables are in the same order", permutation_tail(seen, mean))
