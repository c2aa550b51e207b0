"""A release read once, beside the original: classes, joint values, and a row for every record.

Everything is worked out from what is published and the original table when it is first asked for, and kept. The
costly part is `placement`: it lets every record take a published row that it fits and that carries its own sensitive
and carried values, which is possible for an honest release and shows how many records are left without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.containment import Cells, list_fitting
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Codes, Domain, Microdata, read_only
from lookalike.data.release import Bucketized, Extents, Grouped, Matched, Perturbed, Ranges, Release, Sets

Ints = NDArray[np.int64]
_ROOM = 1 << 62


@dataclass(frozen=True, eq=False)
class Boxes:
    """Distinct published combinations of extents, and the one of each row."""

    cells: Cells
    class_of_row: Ints
    n_classes: int


def joint_ids(columns: Sequence[NDArray[Any]], n_rows: int) -> Ints:
    """Equal rows get equal numbers, in the order of their values."""
    ids, span = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns:
        codes, n_values = _ranks(column)
        if span * max(n_values, 1) >= _ROOM:
            distinct, ids = np.unique(ids, return_inverse=True)
            span = len(distinct)
        ids = ids.reshape(-1) * n_values + codes
        span *= max(n_values, 1)
    distinct, ids = np.unique(ids, return_inverse=True)
    return ids.reshape(-1).astype(np.int64)


def _ranks(column: NDArray[Any]) -> tuple[Ints, int]:
    """The rank of each value among those that occur, and how many these are."""
    top = int(column.max(initial=0)) if column.dtype.kind in "iu" else -1
    if 0 <= top < 2 * len(column) and int(column.min(initial=0)) >= 0:
        # Codes are small numbers: counting them is quicker than sorting.
        occurs = np.bincount(column, minlength=top + 1) > 0
        return (np.cumsum(occurs) - 1)[column], int(np.count_nonzero(occurs))
    values, codes = np.unique(column, return_inverse=True)
    return codes.reshape(-1), len(values)


def joint_ids_of_two(first: Sequence[Codes], second: Sequence[Codes]) -> tuple[Ints, Ints]:
    """Common numbers for the rows of two tables with the same columns (each a list of blocks)."""
    blocks = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
    n_first = len(first[0])
    columns = [block[:, index] for block in blocks for index in range(block.shape[1])]
    ids = joint_ids(columns, n_first + len(second[0]))
    return ids[:n_first], ids[n_first:]


def count_ids(*ids: Ints) -> int:
    """How many numbers from 0 up to the largest of these."""
    return 1 + max(int(each.max(initial=-1)) for each in ids)


def means_by_id(ids: Ints, numbers: NDArray[Any], n_ids: int) -> tuple[NDArray[np.float64], Ints]:
    """The mean of the numbers with each id, 0 where there is none, and how many these are; an id of -1 is none."""
    real = ids >= 0
    counts = np.bincount(ids[real], minlength=n_ids)
    return np.bincount(ids[real], weights=numbers[real], minlength=n_ids) / np.maximum(counts, 1), counts


def _boxes_of(release: Grouped | Matched) -> Boxes:
    """The classes of a release and their boxes."""
    domains = release.domains.quasi
    used, unit_of_row = np.unique(release.unit_of_row.astype(np.int64), return_inverse=True)
    keys: list[NDArray[Any]] = []
    for extents in release.extents:
        keys += _range_keys(extents, used) if isinstance(extents, Ranges) else [_set_ids(extents, used)]
    class_of_unit = joint_ids(keys, len(used))
    n_classes = int(class_of_unit.max()) + 1 if len(used) else 0
    sample = np.zeros(n_classes, dtype=np.int64)
    sample[class_of_unit] = used
    boxes = [_box(domain, extents, sample) for domain, extents in zip(domains, release.extents, strict=True)]
    lows, highs, missing, starts, ends, members = zip(*boxes, strict=True)
    offsets = np.cumsum([0, *map(len, members[:-1])])
    cells = Cells(
        lows=_columns(lows, np.int32),
        highs=_columns(highs, np.int32),
        missing=_columns(missing, np.bool_),
        missing_codes=np.array([domain.missing_code for domain in domains], dtype=np.int32),
        starts=_columns(starts, np.int64) + offsets,
        ends=_columns(ends, np.int64) + offsets,
        members=np.concatenate(members).astype(np.int32),
    )
    return Boxes(cells, class_of_unit[unit_of_row.reshape(-1)], n_classes)


def _columns(columns: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.ascontiguousarray(np.column_stack(columns).astype(dtype))


def _range_keys(extents: Ranges, used: Ints) -> list[NDArray[Any]]:
    """Everything that a reader sees of a run. Ends that another tool rounded can differ while the codes agree."""
    lows, highs = extents.lows[used], extents.highs[used]
    empty = highs < lows
    seen: list[NDArray[Any]] = [np.where(empty, 0, lows), np.where(empty, -1, highs), extents.missing[used]]
    for points in (extents.low_points[used], extents.high_points[used]):
        seen.append(np.where(empty | np.isnan(points), 0.0, points + 0.0))
    return seen


def _sort_sets(extents: Sets, used: Ints) -> tuple[Ints, Codes]:
    """Members of the used sets, sorted and without repeats, whatever order the release lists them in."""
    sizes = np.diff(extents.starts)[used]
    owner = np.repeat(np.arange(len(used)), sizes)
    place = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    members = extents.members[extents.starts[used][owner] + place].astype(np.int64)
    width = int(members.max()) + 1 if members.size else 1
    keys = np.unique(owner * width + members)
    starts = np.searchsorted(keys, np.arange(len(used) + 1) * width)
    return starts.astype(np.int64), (keys % width).astype(np.int32)


def _set_ids(extents: Sets, used: Ints) -> Ints:
    """Equal sets get equal numbers: by size, then by members."""
    starts, members = _sort_sets(extents, used)
    sizes = np.diff(starts)
    ids = np.zeros(len(used), dtype=np.int64)
    n_seen = 0
    for size in np.unique(sizes):
        mine = np.flatnonzero(sizes == size)
        if size == 0:
            n_seen += 1
            continue
        listed = members[starts[mine][:, None] + np.arange(size)]
        distinct, codes = np.unique(listed, axis=0, return_inverse=True)
        ids[mine] = n_seen + codes.reshape(-1)
        n_seen += len(distinct)
    return ids


def _box(domain: Domain, extents: Extents, sample: Ints) -> tuple[NDArray[Any], ...]:
    """lows, highs, missing, starts, ends, members of the sampled units on one attribute."""
    n_units = len(sample)
    none = np.zeros(n_units, dtype=np.int64)
    if isinstance(extents, Ranges):
        lows, highs = extents.lows[sample].astype(np.int64), extents.highs[sample].astype(np.int64)
        if domain.taxonomy is None:
            # A run never reaches the missing code by accident: missing is inside only where it is said to be.
            highs = np.minimum(highs, domain.missing_code - 1)
        empty = highs < lows
        lows, highs = np.where(empty, np.iinfo(np.int32).max, lows), np.where(empty, -1, highs)
        return lows, highs, extents.missing[sample], none, none, np.zeros(0, dtype=np.int32)
    starts, members = _sort_sets(extents, sample)
    sizes = np.diff(starts)
    padded = np.append(members, 0)
    lows = np.where(sizes > 0, padded[starts[:-1]], np.iinfo(np.int32).max)
    highs = np.where(sizes > 0, padded[np.maximum(starts[1:] - 1, 0)], -1)
    gapless = (sizes == 0) | (highs - lows + 1 == sizes)
    ends = np.where(gapless, starts[:-1], starts[1:])
    return lows, highs, np.zeros(n_units, dtype=bool), starts[:-1], ends, members


_PAIRS = 20_000_000
"""Most pairs of a kind and an item listed at once."""
_FEW_PAIRS = 50_000
"""Pairs up to which placing in turn is tried first."""
_BATCH = 20_000
"""Kinds of several values are taken together up to so many."""


@dataclass(frozen=True, eq=False)
class Placement:
    """A largest assignment of records to rows. Rows are told apart by class and joint value only (an item)."""

    item_of_record: Ints
    """-1: no row is left that the record fits."""
    item_of_row: Ints
    class_of_item: Ints
    value_of_item: Ints
    capacities: Ints
    """Rows of each item."""
    starts: Ints
    """Items of value v are starts[v]:starts[v + 1]."""

    @property
    def n_placed(self) -> int:
        return int(np.count_nonzero(self.item_of_record >= 0))


def largest_placement(
    boxes: Boxes, codes: Codes, value_of_record: Ints, value_of_row: Ints, n_values: int, pairs: int = _PAIRS
) -> Placement:
    """`codes` are the records' quasi-identifiers; records may take only rows of their own value."""
    n_classes = max(boxes.n_classes, 1)
    keys = value_of_row * n_classes + boxes.class_of_row
    items, item_of_row, capacities = np.unique(keys, return_inverse=True, return_counts=True)
    class_of_item, value_of_item = items % n_classes, items // n_classes
    item_starts = _starts_of(value_of_item, n_values)

    kind_of_record = joint_ids((value_of_record, *codes.T), len(codes))
    records = np.argsort(kind_of_record, kind="stable")
    _, firsts, supplies = np.unique(kind_of_record[records], return_index=True, return_counts=True)
    kind_codes = read_only(codes[records[firsts]])
    kind_starts = _starts_of(value_of_record[records[firsts]], n_values)
    record_starts = np.append(firsts, len(records))[kind_starts]

    item_of_record = np.full(len(codes), -1, dtype=np.int64)
    for first, last in _batches(kind_starts):
        mine = slice(kind_starts[first], kind_starts[last])
        item_bounds, kind_bounds = item_starts[first : last + 1], kind_starts[first : last + 1] - kind_starts[first]
        if len(kind_codes[mine]) == 0 or item_bounds[0] == item_bounds[-1]:
            continue
        starts, fitting = list_fitting(boxes.cells, class_of_item, item_bounds, kind_codes[mine], kind_bounds, pairs)
        if starts[-1] > pairs:
            from lookalike.kernels.containment import assign

            record_bounds = record_starts[first : last + 1]
            cells = boxes.cells.for_kernels()
            placed = assign(cells, class_of_item, capacities, item_bounds, codes, records, record_bounds)
            item_of_record = np.maximum(item_of_record, placed)
            continue
        sent, kind_of_sent, item_of_sent = send_flow(starts, fitting, supplies[mine], capacities)
        kinds = np.repeat(kind_of_sent, sent)
        placed_records = records[firsts[mine][kinds] + ranks_within(kinds)]
        item_of_record[placed_records] = np.repeat(item_of_sent, sent)
    return Placement(item_of_record, item_of_row.reshape(-1), class_of_item, value_of_item, capacities, item_starts)


def _starts_of(sorted_values: Ints, n_values: int) -> Ints:
    return np.searchsorted(sorted_values, np.arange(n_values + 1)).astype(np.int64)


def _batches(kind_starts: Ints) -> Iterator[tuple[int, int]]:
    """Runs of values [first, last) with few kinds together, or one value with many."""
    first, n_values = 0, len(kind_starts) - 1
    while first < n_values:
        last = int(np.searchsorted(kind_starts, kind_starts[first] + _BATCH, side="right")) - 1
        last = min(max(last, first + 1), n_values)
        yield first, last
        first = last


def _fill_in_turn(starts: Ints, fitting: Codes, supplies: Ints, capacities: Ints) -> tuple[Ints, Ints, Ints] | None:
    """A flow that leaves nobody out, if one is found in a single pass: kinds with the fewest items come first.

    Each fills up the items that fewest others fit. Most releases need no more, and no library that takes a while to
    load.
    """
    room, wanted = capacities.tolist(), np.bincount(fitting, minlength=len(capacities))
    found = []
    for kind in np.argsort(np.diff(starts), kind="stable").tolist():
        items, left = fitting[starts[kind] : starts[kind + 1]], int(supplies[kind])
        for item in items[np.argsort(wanted[items], kind="stable")].tolist():
            sent = min(left, room[item])
            if sent:
                found.append((kind, item, sent))
                room[item] -= sent
                left -= sent
            if not left:
                break
        if left:
            return None
    kind_of_sent, item_of_sent, amounts = np.array(sorted(found), dtype=np.int64).T
    return amounts, kind_of_sent, item_of_sent


def send_flow(starts: Ints, fitting: Codes, supplies: Ints, capacities: Ints) -> tuple[Ints, Ints, Ints]:
    """A maximum flow from kinds to the items they fit: amounts, and the kind and item of each."""
    if len(fitting) <= _FEW_PAIRS and (filled := _fill_in_turn(starts, fitting, supplies, capacities)):
        return filled
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    items, fitted = np.unique(fitting, return_inverse=True)
    n_kinds, n_items = len(supplies), len(items)
    source, sink = n_kinds + n_items, n_kinds + n_items + 1
    kind_of_pair = np.repeat(np.arange(n_kinds), np.diff(starts))
    room = np.minimum(supplies[kind_of_pair], capacities[fitting])
    tails = np.concatenate((kind_of_pair, np.full(n_kinds, source), n_kinds + np.arange(n_items)))
    heads = np.concatenate((n_kinds + fitted, np.arange(n_kinds), np.full(n_items, sink)))
    amounts = np.concatenate((room, supplies, capacities[items]))
    network = csr_array(
        (amounts.astype(np.int32), (tails.astype(np.int32), heads.astype(np.int32))), shape=(sink + 1, sink + 1)
    )
    flow = maximum_flow(network, source, sink).flow[:n_kinds, n_kinds : n_kinds + n_items].tocoo()
    used = flow.data > 0
    order = np.lexsort((flow.col[used], flow.row[used]))
    return flow.data[used][order].astype(np.int64), flow.row[used][order], items[flow.col[used][order]].astype(np.int64)


def ranks_within(sorted_ids: Ints) -> Ints:
    """0, 1, 2 ... within each run of equal ids."""
    return np.arange(len(sorted_ids)) - np.searchsorted(sorted_ids, sorted_ids)


@dataclass(frozen=True, eq=False)
class Reading:
    """What the audit knows."""

    release: Release
    original: Microdata
    unpublished: Mapping[str, Codes] = field(default_factory=dict)
    """Columns of the original that the release leaves out, by name, as the rank of each record."""
    parts: Mapping[str, Ints] = field(default_factory=dict)
    """Of a release in parts: by published table, the number of the part that each row is in."""
    record_of_row: Ints | None = None
    """The private record map: the record behind each row (of the table of values). Used where persons are counted."""
    number_known: bool = True
    """Whether the attacker may know how many rows a person has."""
    exposures: dict[tuple[int | None, str], Exposure] = field(default_factory=dict)
    """Beliefs by column and adversary, kept because every model looks at them."""
    of_persons: dict[tuple[int | None, str, bool], Exposure | str] = field(default_factory=dict)
    """The same by persons, or why there are none; also by whether values are mixed."""
    of_linked: dict[str, object] = field(default_factory=dict)
    """What was worked out of linked rows."""

    @cached_property
    def boxes(self) -> Boxes:
        assert isinstance(self.release, Grouped | Matched)
        return _boxes_of(self.release)

    @cached_property
    def unit_of_row(self) -> Ints:
        """Rows that a reader takes for one group: identical cells, in one part, with one number if groups have one."""
        release, classes = self.release, self.boxes.class_of_row
        if isinstance(release, Grouped) and release.made_up_of_group is not None:
            classes = joint_ids((classes, release.group_of_row), len(classes))
        return self.in_parts(classes)

    def in_parts(self, units: Ints) -> Ints:
        """Units of the rows of a grouped or matched release, those of each part by themselves."""
        return joint_ids((units, self.parts["release"]), len(units)) if self.parts else units

    @cached_property
    def _values(self) -> tuple[Ints, Ints]:
        original, release = self.original, self.release
        return joint_ids_of_two((original.sensitive, original.carried), (release.sensitive, release.carried))

    @cached_property
    def item_of_record(self) -> Ints:
        """Equal for rows of a person with equal quasi-identifiers."""
        assert self.original.persons is not None
        return joint_ids((self.original.persons, *self.original.quasi.T), self.original.n_rows)

    @property
    def value_of_record(self) -> Ints:
        """Number of each record's joint sensitive and carried values."""
        return self._values[0]

    @property
    def value_of_row(self) -> Ints:
        return self._values[1]

    @property
    def n_values(self) -> int:
        return 1 + max((int(ids.max()) for ids in self._values if len(ids)), default=-1)

    @cached_property
    def _points(self) -> tuple[Ints, Ints]:
        assert isinstance(self.release, Bucketized | Perturbed)
        return joint_ids_of_two((self.original.quasi,), (self.release.quasi,))

    @property
    def point_of_record(self) -> Ints:
        """Number of each record's joint quasi-identifiers (releases that publish them exactly)."""
        return self._points[0]

    @property
    def point_of_row(self) -> Ints:
        return self._points[1]

    @property
    def n_points(self) -> int:
        return 1 + max((int(ids.max()) for ids in self._points if len(ids)), default=-1)

    @cached_property
    def buckets(self) -> tuple[Ints, Ints]:
        """The bucket of each row of both tables, as the rank of its published number."""
        assert isinstance(self.release, Bucketized)
        both = self.release.bucket_of_quasi, self.release.bucket_of_sensitive
        ranks = np.unique(np.concatenate(both), return_inverse=True)[1].reshape(-1).astype(np.int64)
        return ranks[: len(both[0])], ranks[len(both[0]) :]

    @cached_property
    def bucket_of_record(self) -> Ints:
        """-1 where several buckets list a record's quasi-identifiers, or none."""
        pairs = np.unique(np.column_stack((self.point_of_row, self.buckets[0])), axis=0)
        bucket_of_point = np.full(self.n_points, -1, dtype=np.int64)
        bucket_of_point[pairs[:, 0]] = pairs[:, 1]
        bucket_of_point[np.bincount(pairs[:, 0], minlength=self.n_points) != 1] = -1
        return bucket_of_point[self.point_of_record]

    @cached_property
    def is_told_dummy(self) -> NDArray[np.bool_]:
        """Rows whose sensitive value no original record has: anybody sets them aside."""
        told = np.zeros(len(self.release.sensitive), dtype=bool)
        by_group = isinstance(self.release, Grouped) and self.release.made_up_of_group is not None
        if isinstance(self.release, Perturbed) or by_group:
            # Made up group by group for values that earlier releases had: nobody is told which values there are now.
            return told
        for index in range(self.release.sensitive.shape[1]):
            told |= self.original.prior(index)[self.release.sensitive[:, index]] == 0
        return told

    @cached_property
    def placement(self) -> Placement:
        return largest_placement(
            self.boxes, self.original.quasi, self.value_of_record, self.value_of_row, self.n_values
        )

    @cached_property
    def blocks(self) -> Ints | None:
        """The block of each row, where every record fits all rows of its block and no others; None if it is not so.

        A matched release with such blocks is a grouped one, whatever graph it was drawn from.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if self.fits is None:
            return None
        starts, rows = self.fits
        n_records, n_rows = self.original.n_rows, self.release.n_rows
        n_fitting = np.diff(starts)
        ends = np.repeat(np.arange(n_records), n_fitting), n_records + rows
        edges = csr_array((np.ones(len(rows), dtype=np.int8), ends), shape=(n_records + n_rows,) * 2)
        _, component = connected_components(edges, directed=False)
        sizes = np.bincount(component[n_records:], minlength=int(component.max(initial=0)) + 1)
        real = n_fitting > 0
        if (n_fitting[real] != sizes[component[:n_records][real]]).any():
            return None
        blocks: Ints = component[n_records:].astype(np.int64)
        return blocks

    @cached_property
    def fits(self) -> tuple[Ints, NDArray[np.int32]] | None:
        """For each record all rows that it fits by its quasi-identifiers (starts, rows); None if far too many."""
        codes = np.ascontiguousarray(self.original.quasi)
        all_rows, all_records = np.array([0, self.release.n_rows]), np.array([0, len(codes)])
        starts, rows = list_fitting(self.boxes.cells, self.boxes.class_of_row, all_rows, codes, all_records, FITS_LIMIT)
        return None if starts[-1] > FITS_LIMIT else (starts, rows)

    @cached_property
    def fits_several_parts(self) -> bool:
        """Whether some record fits rows of more than one part."""
        if not self.parts or self.fits is None:
            return False
        starts, rows = self.fits
        parts = self.parts["release"][rows]
        inside = np.ones(len(parts), dtype=bool)
        inside[starts[:-1][np.diff(starts) > 0]] = False
        return bool((parts[1:] != parts[:-1])[inside[1:]].any())


FITS_LIMIT = 20_000_000
"""More (record, row) pairs than this are not listed."""
