"""Does the order of published rows betray the order of the original's records?

A release must look like a uniformly random shuffle of its rows. Each test compares a count with what a shuffle gives:

    place     the record at the same place fits the row (also with its own values, and counted from the end)
    rank      within a class or bucket, rows and the records placed there carry equal values rank by rank
    drift     rows come round as their records do, up to a rotation (sees rotations and left-out rows)

Counts are sums over a random permutation of numbers in [0, 1]; with mean m such a sum exceeds m + t with probability
at most exp(-t^2 / (4 m + 2 t)) (Chatterjee 2007, by Stein's method), a bound that holds for few rows and for heavy
duplicates. Then every column of the original is held against the order (`sorting`). A check fails only where a shuffle
would do so less than once in 10^9; tables with fewer different orders than that say so. Classes and placements do not
depend on row order, so the bounds apply to honest releases as they stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lookalike.audit.neighbours import classify, likeness_signs, pick_rows, shares_of_items
from lookalike.audit.numbering import numbering_signs
from lookalike.audit.reading import Ints, Reading, joint_ids, joint_ids_of_two
from lookalike.audit.sorting import (
    Arrangement,
    Members,
    Shown,
    Sign,
    arrangement,
    follow_rows,
    follow_sign,
    match_signs,
    n_arrangements,
    permutation_tail,
)
from lookalike.audit.tails import SELDOM
from lookalike.audit.verdicts import Check
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.errors import counted, quoted

_NAME = "row order"
_SAMPLE = 1024
_JOIN_LIMIT = 50_000_000


def row_order(reading: Reading) -> Check:
    """All tests that apply to the release's form."""
    tables = list(_read_tables(reading))
    if max((n_arrangements(table.content) for table in tables), default=0.0) < -math.log(SELDOM):
        return Check.undecided(_NAME, "too few different rows to tell")
    arranged = [arrangement(table.shown, len(table.content), table.group_of_row) for table in tables]
    families = [
        [] if any(found.sorted_by for found in arranged) else list(_input_signs(reading)),
        _alignment_signs(reading, tables, arranged),
        [sign for pair in zip(tables, arranged, strict=True) for sign in _column_signs(reading, *pair)],
        [sign for pair in zip(tables, arranged, strict=True) for sign in _neighbour_signs(reading, *pair)],
        _numbering_signs(reading),
    ]
    worst = _find_worst(families)
    if worst.chance < SELDOM:
        return Check(_NAME, False, f"{worst.words}; a shuffle does so with probability below 1e-9. {worst.remedy}")
    names = list(dict.fromkeys(name for found in arranged for name in found.sorted_by))
    published = f"sorted by what is published ({', '.join(names)}) and " if names else ""
    n_columns = counted(len(_columns_of(reading)) - 1, "column")
    return Check(_NAME, True, f"{published}follows neither the input order nor any of {n_columns} of the original")


def _find_worst(families: list[list[Sign]]) -> Sign:
    """The least likely sign, its chance so enlarged that one of all is as unlikely by chance.

    Each family of tests has the same share, or the many tests of neighbours would blunt the few of the input order.
    """
    filled = [signs for signs in families if signs]
    weighed = [replace(sign, chance=sign.chance * len(signs) * len(filled)) for signs in filled for sign in signs]
    return min(weighed, key=lambda sign: sign.chance, default=Sign("", 1.0))


def _input_signs(reading: Reading) -> Iterator[Sign]:
    release = reading.release
    if isinstance(release, Grouped | Matched):
        return _extent_signs(reading)
    if isinstance(release, Bucketized):
        return _bucket_signs(reading, release)
    return _find_perturbed_signs(reading, release)


@dataclass(frozen=True, eq=False)
class _OrderedTable:
    """A published table as far as its order goes."""

    shown: list[Shown]
    content: Ints
    """Equal for rows that no reader can tell apart."""
    item_of_record: Ints
    """What a record may be behind; -1: not known."""
    item_of_row: Ints
    members: Members | None = None
    group_of_row: Ints | None = None
    """Groups that may stand together."""


def _read_tables(reading: Reading) -> Iterator[_OrderedTable]:
    release = reading.release
    if isinstance(release, Grouped | Matched):
        yield _table_of_extents(reading, release)
    elif isinstance(release, Bucketized):
        yield from _tables_of_buckets(reading, release)
    else:
        yield _read_perturbed(reading, release)


def _value_columns(reading: Reading) -> list[Shown]:
    release = reading.release
    blocks = (release.sensitive, release.domains.sensitive), (release.carried, release.domains.carried)
    return [
        Shown(domain.name, codes[:, index], is_value=True)
        for codes, domains in blocks
        for index, domain in enumerate(domains)
    ]


def _table_of_extents(reading: Reading, release: Grouped | Matched) -> _OrderedTable:
    boxes, placement = reading.boxes, reading.placement
    units = boxes.class_of_row
    shown = []
    for attr, domain in enumerate(release.domains.quasi):
        for ends in (boxes.cells.lows[:, attr], boxes.cells.highs[:, attr]):
            shown.append(Shown(domain.name, ends[units]))
    # Sets are told apart by their members as well: classes are numbered by contents.
    shown += [Shown("cells", units), *_value_columns(reading)]
    members = None
    if isinstance(release, Grouped):
        class_of_record = np.append(placement.class_of_item, -1)[placement.item_of_record]
        members = Members(class_of_record, reading.value_of_record, units, reading.value_of_row)
    return _OrderedTable(
        shown=shown,
        content=joint_ids((units, reading.value_of_row), len(units)),
        item_of_record=placement.item_of_record,
        item_of_row=placement.item_of_row,
        members=members,
        group_of_row=units if isinstance(release, Grouped) else None,
    )


def _tables_of_buckets(reading: Reading, release: Bucketized) -> Iterator[_OrderedTable]:
    of_points, of_values, bucket_of_record = _buckets(reading, release)
    points = [Shown(domain.name, release.quasi[:, index]) for index, domain in enumerate(release.domains.quasi)]
    yield _OrderedTable(
        shown=[Shown("bucket", release.bucket_of_quasi), *points],
        content=joint_ids((of_points, reading.point_of_row), len(of_points)),
        item_of_record=reading.point_of_record,
        item_of_row=reading.point_of_row,
    )
    n_values = reading.n_values
    yield _OrderedTable(
        shown=[Shown("bucket", release.bucket_of_sensitive), *_value_columns(reading)],
        content=joint_ids((of_values, reading.value_of_row), len(of_values)),
        item_of_record=np.where(bucket_of_record >= 0, bucket_of_record * n_values + reading.value_of_record, -1),
        item_of_row=of_values * n_values + reading.value_of_row,
        members=Members(bucket_of_record, reading.value_of_record, of_values, reading.value_of_row),
    )


def _read_perturbed(reading: Reading, release: Perturbed) -> _OrderedTable:
    original = reading.original
    records, rows = joint_ids_of_two((original.quasi, original.carried), (release.quasi, release.carried))
    points = [Shown(domain.name, release.quasi[:, index]) for index, domain in enumerate(release.domains.quasi)]
    before, after = joint_ids_of_two((original.sensitive,), (release.sensitive,))
    return _OrderedTable(
        shown=[*points, *_value_columns(reading)],
        content=joint_ids((rows, after), len(rows)),
        item_of_record=records,
        item_of_row=rows,
        members=Members(records, before, rows, after),
    )


def _columns_of(reading: Reading) -> list[tuple[str, Ints]]:
    """Every column of the original by name, as ranks; and the order of the records."""
    original = reading.original
    blocks = (
        (original.domains.quasi, original.quasi),
        (original.domains.sensitive, original.sensitive),
        (original.domains.carried, original.carried),
    )
    found = [("the input order", np.arange(original.n_rows))]
    for domains, codes in blocks:
        found += [(f"column {quoted(domain.name)}", codes[:, at].astype(np.int64)) for at, domain in enumerate(domains)]
    found += [(f"column {quoted(name)}", ranks.astype(np.int64)) for name, ranks in reading.unpublished.items()]
    return found


def _neighbour_signs(reading: Reading, table: _OrderedTable, arranged: Arrangement) -> Iterator[Sign]:
    """Every column of the original, and whether a redrawn value was kept, at rows that stand close to each other."""
    item_of_record, item_of_row = table.item_of_record, table.item_of_row
    n_items = 1 + int(max(item_of_row.max(initial=-1), item_of_record.max(initial=-1)))
    counts = np.bincount(item_of_record[item_of_record >= 0], minlength=n_items)
    known = np.flatnonzero(counts[item_of_row] > 0)
    known = known[pick_rows(len(known))]
    listed, items = np.unique(item_of_row[known], return_inverse=True)
    number_of_item = np.full(n_items + 1, -1, dtype=np.int64)
    number_of_item[listed] = np.arange(len(listed))
    numbers, blocks = number_of_item[item_of_record], arranged.block_of_row[known]
    for words, ranks in _columns_of(reading):
        for classes, n_classes, is_ordered in classify(ranks):
            shares = shares_of_items(classes, n_classes, numbers, len(listed))[items.reshape(-1)]
            yield from likeness_signs(_of_original(words), shares, blocks, is_ordered)
    if isinstance(reading.release, Perturbed):
        yield from _find_kept_signs(reading, reading.release, table, arranged)


def _of_original(words: str) -> str:
    return f"{words} of the original" if words.startswith("column") else words


def _find_kept_signs(
    reading: Reading, release: Perturbed, table: _OrderedTable, arranged: Arrangement
) -> Iterator[Sign]:
    """Whether the place of a row says that its value is the original one."""
    looked = pick_rows(len(table.item_of_row))
    for index, domain in enumerate(release.domains.sensitive):
        words = f"whether {quoted(domain.name)} was kept"
        before, after = reading.original.sensitive[:, index], release.sensitive[:, index]
        n_codes = 1 + int(max(before.max(initial=0), after.max(initial=0)))
        own, shown = table.item_of_record * n_codes + before, table.item_of_row * n_codes + after
        n_keys = 1 + int(max(own.max(initial=0), shown.max(initial=0)))
        n_records = np.bincount(table.item_of_record, minlength=n_keys // n_codes + 1)
        kept = np.bincount(own, minlength=n_keys)[shown] / np.maximum(n_records[table.item_of_row], 1)
        sign = follow_rows(words, kept, arranged.block_of_row)
        if sign is not None:
            yield sign
        both = np.column_stack((kept, 1 - kept))[looked]
        yield from likeness_signs(words, both, arranged.block_of_row[looked], is_ordered=False)


def _column_signs(reading: Reading, table: _OrderedTable, arranged: Arrangement) -> Iterator[Sign]:
    for words, ranks in _columns_of(reading):
        words = _of_original(words)
        sign = follow_sign(words, ranks, table.item_of_record, table.item_of_row, arranged.block_of_row)
        if sign is not None:
            yield sign
        # Where values themselves explain the order, ranks within groups say nothing more.
        if table.members is not None and not arranged.by_values:
            yield from match_signs(words, ranks, table.members)
    if arranged.sorted_by:
        yield from _drift_in_largest_block(table, arranged)


def _drift_in_largest_block(table: _OrderedTable, arranged: Arrangement) -> Iterator[Sign]:
    rows = np.flatnonzero(arranged.block_of_row == np.argmax(np.bincount(arranged.block_of_row)))
    items = table.item_of_row[rows]
    n_items = 1 + int(max(table.item_of_row.max(initial=-1), table.item_of_record.max(initial=-1)))
    here = np.append(np.bincount(items, minlength=n_items) > 0, False)
    return _drift_signs("rows", np.where(here[table.item_of_record], table.item_of_record, -1), items, n_items)


def _count_sign(words: str, seen: int, mean: float) -> Sign:
    return Sign(words, permutation_tail(seen, mean))


def _drift_signs(words: str, id_of_record: Ints, id_of_row: Ints, n_ids: int) -> Iterator[Sign]:
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
        yield Sign(f"{words} follow the {side}input order", _bound_chance(score))


def _bound_chance(score: float) -> float:
    return min(1.0, 4 * math.exp(-score / 2))


def _same_place_signs(words: str, of_record: Ints, of_row: Ints) -> Iterator[Sign]:
    """Equal numbers at the same place, from the start and from the end; and drift."""
    n_compared = min(len(of_record), len(of_row))
    n_ids = 1 + int(max(of_record.max(initial=0), of_row.max(initial=0)))
    share = np.bincount(of_row, minlength=n_ids) / max(len(of_row), 1)
    for side, records in (("", of_record[:n_compared]), ("reversed ", of_record[::-1][:n_compared])):
        seen = int(np.count_nonzero(records == of_row[:n_compared]))
        yield _count_sign(f"{words} are in {side}input order", seen, float(share[records].sum()))
    yield from _drift_signs(words, of_record, of_row, n_ids)


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
        yield _count_sign(f"{words} are in {side}input order", seen, mean)


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
            yield _count_sign(f"{words} are in {side}input order", seen, mean)
    yield from _drift_signs("rows", placement.item_of_record, placement.item_of_row, len(placement.capacities))
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


def _bucket_signs(reading: Reading, release: Bucketized) -> Iterator[Sign]:
    yield from _same_place_signs("quasi-identifiers", reading.point_of_record, reading.point_of_row)
    yield from _same_place_signs("sensitive values", reading.value_of_record, reading.value_of_row)
    _, of_values, bucket_of_record = _buckets(reading, release)
    words = "within buckets sensitive values"
    yield from _rank_signs(words, bucket_of_record, reading.value_of_record, of_values, reading.value_of_row)


def _buckets(reading: Reading, release: Bucketized) -> tuple[Ints, Ints, Ints]:
    """Buckets of the rows of both tables, and of each record; -1 where several buckets list its quasi-identifiers."""
    both = np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive))
    _, codes = np.unique(both, return_inverse=True)
    of_points, of_values = np.split(codes.reshape(-1).astype(np.int64), [len(release.bucket_of_quasi)])
    n_points, width = reading.n_points, int(codes.max(initial=0)) + 1
    pairs = np.unique(reading.point_of_row * width + of_points)
    certain = np.bincount(pairs // width, minlength=n_points) == 1
    bucket_of_point = np.full(n_points, -1, dtype=np.int64)
    bucket_of_point[pairs // width] = pairs % width
    bucket_of_point[~certain] = -1
    return of_points, of_values, bucket_of_point[reading.point_of_record]


def _alignment_signs(reading: Reading, tables: list[_OrderedTable], arranged: list[Arrangement]) -> list[Sign]:
    """Does one table follow the other? Tried within what the sort of each leaves, whatever the tables are sorted by.

    The place of a record in one table is like a column of the original: the other table is shuffled without regard to
    it. Ranks within buckets are compared where one of both tables is shuffled within buckets.
    """
    if not isinstance(reading.release, Bucketized):
        return []
    signs: list[Sign] = []
    of_points, of_values, _ = _buckets(reading, reading.release)
    if any(set(found.sorted_by) <= {"bucket"} for found in arranged):
        signs += _alignment_sign(reading, of_points, of_values)
    for this, other in ((0, 1), (1, 0)):
        places = _places(tables[other])
        blocks = arranged[this].block_of_row
        item_of_record = np.where(places >= 0, tables[this].item_of_record, -1)
        words = "the order of the other table"
        sign = follow_sign(words, places, item_of_record, tables[this].item_of_row, blocks)
        signs += [] if sign is None else [sign]
    return signs


def _numbering_signs(reading: Reading) -> list[Sign]:
    if not isinstance(reading.release, Bucketized):
        return []
    of_points, of_values, _ = _buckets(reading, reading.release)
    columns = [(_of_original(words), ranks) for words, ranks in _columns_of(reading)]
    return list(numbering_signs(reading, reading.release, columns, of_points, of_values))


def _places(table: _OrderedTable) -> Ints:
    """The mean place of the rows that may be each record's, as a rank; -1: not known."""
    n_items = 1 + int(max(table.item_of_row.max(initial=-1), table.item_of_record.max(initial=-1)))
    counts = np.bincount(table.item_of_row, minlength=n_items)
    sums = np.bincount(table.item_of_row, weights=np.arange(len(table.item_of_row)), minlength=n_items)
    known = (table.item_of_record >= 0) & (counts[table.item_of_record] > 0)
    ranks = np.unique((sums / np.maximum(counts, 1))[table.item_of_record], return_inverse=True)[1].reshape(-1)
    return np.where(known, ranks, -1).astype(np.int64)


def _alignment_sign(reading: Reading, of_points: Ints, of_values: Ints) -> Iterator[Sign]:
    """Within buckets, do the two tables list the same persons at the same rank?"""
    from scipy.sparse import csr_array

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
    yield _count_sign("within buckets both tables are in the same order", seen, mean)


def _find_perturbed_signs(reading: Reading, release: Perturbed) -> Iterator[Sign]:
    yield from _same_place_signs("quasi-identifiers", reading.point_of_record, reading.point_of_row)
    if release.carried.shape[1]:
        records, rows = joint_ids_of_two((reading.original.carried,), (release.carried,))
        yield from _same_place_signs("carried values", records, rows)
