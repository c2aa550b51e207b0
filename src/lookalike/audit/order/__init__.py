"""Does the order of published rows betray the order of the original's records, or a column that is not published?

A release must look like a uniformly random shuffle of its rows, but for a sort by what is published. The tests:

    input_order   rows at the place or rank of their records, or drifting as these do
    sorting       rows against every column of the original, and values within groups
    neighbours    rows that stand close to each other and come from records that are alike
    buckets       the two tables of buckets against each other, and the numbers of buckets

A check fails only where a shuffle would do so less than once in 10^9; tables with fewer different orders than that say
so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lookalike.audit.order.buckets import alignment_signs, numbering_signs
from lookalike.audit.order.input_order import drift_signs, input_signs
from lookalike.audit.order.neighbours import classify, likeness_signs, pick_rows, shares_of_items
from lookalike.audit.order.sorting import (
    Arrangement,
    Members,
    OrderedTable,
    Shown,
    Sign,
    arrangement,
    follow_rows,
    follow_signs,
    match_signs,
    n_arrangements,
)
from lookalike.audit.reading import Ints, Reading, count_ids, joint_ids, joint_ids_of_two
from lookalike.audit.tail_bounds import SELDOM
from lookalike.audit.verdicts import Check
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.errors import counted, quoted

_NAME = "row order"
_Columns = Sequence[tuple[str, Ints]]


def row_order(reading: Reading) -> Check:
    """All tests that apply to the release's form."""
    tables = list(_read_tables(reading))
    if max((n_arrangements(table.content) for table in tables), default=0.0) < -math.log(SELDOM):
        return Check.undecided(_NAME, "too few different rows to tell")
    arranged = [arrangement(table.shown, len(table.content), table.group_of_row) for table in tables]
    pairs, columns = list(zip(tables, arranged, strict=True)), _columns_of(reading)
    families = [
        [] if any(found.sorted_by for found in arranged) else list(input_signs(reading, tables)),
        list(alignment_signs(reading, tables, arranged)),
        [sign for pair in pairs for sign in _column_signs(columns, *pair)],
        [sign for pair in pairs for sign in _neighbour_signs(reading, columns, *pair)],
        list(numbering_signs(reading, columns)),
    ]
    worst = _find_worst(families)
    if worst.chance < SELDOM:
        return Check(_NAME, False, f"{worst.words}; a shuffle does so with probability below 1e-9. {worst.remedy}")
    names = list(dict.fromkeys(name for found in arranged for name in found.sorted_by))
    published = f"sorted by what is published ({', '.join(names)}) and " if names else ""
    n_columns = counted(len(columns) - 1, "column")
    return Check(_NAME, True, f"{published}follows neither the input order nor any of {n_columns} of the original")


def _find_worst(families: list[list[Sign]]) -> Sign:
    """The least likely sign, its chance so enlarged that one of all is as unlikely by chance.

    Each family of tests has the same share, or the many tests of neighbours would blunt the few of the input order.
    """
    filled = [signs for signs in families if signs]
    weighed = [replace(sign, chance=sign.chance * len(signs) * len(filled)) for signs in filled for sign in signs]
    return min(weighed, key=lambda sign: sign.chance, default=Sign("", 1.0))


def _read_tables(reading: Reading) -> Iterator[OrderedTable]:
    release = reading.release
    blocks = (release.sensitive, release.domains.sensitive), (release.carried, release.domains.carried)
    values = [
        Shown(domain.name, codes[:, index], is_value=True)
        for codes, domains in blocks
        for index, domain in enumerate(domains)
    ]
    if isinstance(release, Grouped | Matched):
        yield _table_of_extents(reading, release, values)
        return
    points = [Shown(domain.name, release.quasi[:, index]) for index, domain in enumerate(release.domains.quasi)]
    if isinstance(release, Bucketized):
        yield from _tables_of_buckets(reading, release, points, values)
    else:
        yield _read_perturbed(reading, release, [*points, *values])


def _table_of_extents(reading: Reading, release: Grouped | Matched, values: list[Shown]) -> OrderedTable:
    boxes, placement = reading.boxes, reading.placement
    units = boxes.class_of_row
    shown = []
    linked = release.linked if isinstance(release, Grouped) else None
    if linked is not None:
        shown += [Shown("person", linked.person_of_row), Shown("visit", linked.visit_of_row)]
    for attr, domain in enumerate(release.domains.quasi):
        for ends in (boxes.cells.lows[:, attr], boxes.cells.highs[:, attr]):
            shown.append(Shown(domain.name, ends[units]))
    # Sets are told apart by their members as well: classes are numbered by contents.
    shown += [Shown("cells", units), *values]
    members = None
    # Rows that are sorted by persons come in histories: values of a group are no shuffle of single rows. What numbers
    # of persons could tell is a check of its own (`linked`).
    by_persons = linked is not None and bool((np.diff(linked.person_of_row) >= 0).all())
    if isinstance(release, Grouped) and not by_persons:
        class_of_record = np.append(placement.class_of_item, -1)[placement.item_of_record]
        members = Members(class_of_record, reading.value_of_record, units, reading.value_of_row)
    return OrderedTable(
        shown=shown,
        content=joint_ids((units, reading.value_of_row), len(units)),
        item_of_record=placement.item_of_record,
        item_of_row=placement.item_of_row,
        members=members,
        group_of_row=units if isinstance(release, Grouped) else None,
    )


def _tables_of_buckets(
    reading: Reading, release: Bucketized, points: list[Shown], values: list[Shown]
) -> Iterator[OrderedTable]:
    (of_points, of_values), bucket_of_record = reading.buckets, reading.bucket_of_record
    yield OrderedTable(
        shown=[Shown("bucket", release.bucket_of_quasi), *points],
        content=joint_ids((of_points, reading.point_of_row), len(of_points)),
        item_of_record=reading.point_of_record,
        item_of_row=reading.point_of_row,
    )
    n_values = reading.n_values
    yield OrderedTable(
        shown=[Shown("bucket", release.bucket_of_sensitive), *values],
        content=joint_ids((of_values, reading.value_of_row), len(of_values)),
        item_of_record=np.where(bucket_of_record >= 0, bucket_of_record * n_values + reading.value_of_record, -1),
        item_of_row=of_values * n_values + reading.value_of_row,
        members=Members(bucket_of_record, reading.value_of_record, of_values, reading.value_of_row),
    )


def _read_perturbed(reading: Reading, release: Perturbed, shown: list[Shown]) -> OrderedTable:
    original = reading.original
    records, rows = joint_ids_of_two((original.quasi, original.carried), (release.quasi, release.carried))
    before, after = joint_ids_of_two((original.sensitive,), (release.sensitive,))
    return OrderedTable(
        shown=shown,
        content=joint_ids((rows, after), len(rows)),
        item_of_record=records,
        item_of_row=rows,
        members=Members(records, before, rows, after),
    )


def _columns_of(reading: Reading) -> _Columns:
    """The order of the records, and every column of the original by name, as ranks."""
    original = reading.original
    codes = (*original.quasi.T, *original.sensitive.T, *original.carried.T)
    columns = [
        *((domain.name, ranks) for domain, ranks in zip(original.domains.all, codes, strict=True)),
        *reading.unpublished.items(),
    ]
    of_original = [(f"column {quoted(name)} of the original", ranks.astype(np.int64)) for name, ranks in columns]
    return [("the input order", np.arange(original.n_rows)), *of_original]


def _neighbour_signs(reading: Reading, columns: _Columns, table: OrderedTable, arranged: Arrangement) -> Iterator[Sign]:
    """Every column of the original, and whether a redrawn value was kept, at rows that stand close to each other."""
    item_of_record, item_of_row = table.item_of_record, table.item_of_row
    n_items = count_ids(item_of_row, item_of_record)
    counts = np.bincount(item_of_record[item_of_record >= 0], minlength=n_items)
    known = np.flatnonzero(counts[item_of_row] > 0)
    known = known[pick_rows(len(known))]
    listed, items = np.unique(item_of_row[known], return_inverse=True)
    number_of_item = np.full(n_items + 1, -1, dtype=np.int64)
    number_of_item[listed] = np.arange(len(listed))
    numbers, blocks = number_of_item[item_of_record], arranged.block_of_row[known]
    for words, ranks in columns:
        for classes, n_classes, is_ordered in classify(ranks):
            shares = shares_of_items(classes, n_classes, numbers, len(listed))[items.reshape(-1)]
            yield from likeness_signs(words, shares, blocks, is_ordered)
    if isinstance(reading.release, Perturbed):
        yield from _find_kept_signs(reading, reading.release, table, arranged)


def _find_kept_signs(
    reading: Reading, release: Perturbed, table: OrderedTable, arranged: Arrangement
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
        yield from follow_rows(words, kept, arranged.block_of_row)
        both = np.column_stack((kept, 1 - kept))[looked]
        yield from likeness_signs(words, both, arranged.block_of_row[looked], is_ordered=False)


def _column_signs(columns: _Columns, table: OrderedTable, arranged: Arrangement) -> Iterator[Sign]:
    for words, ranks in columns:
        yield from follow_signs(words, ranks, table.item_of_record, table.item_of_row, arranged.block_of_row)
        # Where values themselves explain the order, ranks within groups say nothing more.
        if table.members is not None and not arranged.by_values:
            yield from match_signs(words, ranks, table.members)
    if arranged.sorted_by:
        yield from _drift_in_largest_block(table, arranged)


def _drift_in_largest_block(table: OrderedTable, arranged: Arrangement) -> Iterator[Sign]:
    rows = np.flatnonzero(arranged.block_of_row == np.argmax(np.bincount(arranged.block_of_row)))
    items = table.item_of_row[rows]
    n_items = count_ids(table.item_of_row, table.item_of_record)
    here = np.append(np.bincount(items, minlength=n_items) > 0, False)
    return drift_signs("rows", np.where(here[table.item_of_record], table.item_of_record, -1), items, n_items)
