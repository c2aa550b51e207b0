"""What rows of a release look alike, worked out afresh: joint values as numbers, extents as boxes, rows as classes.

Numbers given here depend on contents only, never on where a row stands, which the test of row order relies on.
Group numbers of a release are how it is stored and are not believed: rows are of one class if and only if what is
published for them is identical on every quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Sets

Ints = NDArray[np.int64]
_ROOM = 1 << 62


@dataclass(frozen=True, eq=False)
class Boxes:
    """Distinct published combinations of extents, and the one of each row."""

    cells: Any
    """`kernels.containment.Cells`."""
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


def value_ids(original: Microdata, sensitive: Codes, carried: Codes) -> tuple[Ints, Ints]:
    """Numbers of the joint sensitive and carried values of the original's records and of the release's rows."""
    return joint_ids_of_two((original.sensitive, original.carried), (sensitive, carried))


def boxes_of(release: Grouped | Matched) -> Boxes:
    """The classes of a release and their boxes."""
    from lookalike.kernels.containment import Cells

    domains = release.domains.quasi
    used, unit_of_row = np.unique(release.unit_of_row.astype(np.int64), return_inverse=True)
    keys: list[NDArray[Any]] = []
    for extents in release.extents:
        keys += _range_keys(extents, used) if isinstance(extents, Ranges) else [_set_ids(extents, used)]
    class_of_unit = joint_ids(keys, len(used))
    n_classes = int(class_of_unit.max()) + 1 if len(used) else 0
    sample = np.zeros(n_classes, dtype=np.int64)
    sample[class_of_unit] = used
    parts = [_box(domain, extents, sample) for domain, extents in zip(domains, release.extents, strict=True)]
    offsets = np.cumsum([0, *(len(members) for *_, members in parts)])
    cells = Cells(
        lows=_columns([part[0] for part in parts], np.int32),
        highs=_columns([part[1] for part in parts], np.int32),
        missing=_columns([part[2] for part in parts], np.bool_),
        missing_codes=np.array([domain.missing_code for domain in domains], dtype=np.int32),
        starts=_columns([part[3] + offset for part, offset in zip(parts, offsets, strict=False)], np.int64),
        ends=_columns([part[4] + offset for part, offset in zip(parts, offsets, strict=False)], np.int64),
        members=np.concatenate([part[5] for part in parts]).astype(np.int32),
    )
    return Boxes(cells, class_of_unit[unit_of_row.reshape(-1)], n_classes)


def _columns(columns: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.ascontiguousarray(np.column_stack(columns).astype(dtype))


def _range_keys(extents: Ranges, used: Ints) -> list[NDArray[Any]]:
    """Everything that a reader sees of a run. Ends that another tool rounded can differ while the codes agree."""
    lows, highs = extents.lows[used], extents.highs[used]
    empty = highs < lows
    seen: list[NDArray[Any]] = [np.where(empty, 0, lows), np.where(empty, -1, highs), extents.missing[used]]
    for points in (extents.low_points[used], extents.high_points[used]):
        seen.append(np.where(empty | np.isnan(points), 0.0, points + 0.0))
    return seen


def _sorted_sets(extents: Sets, used: Ints) -> tuple[Ints, Codes]:
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
    starts, members = _sorted_sets(extents, used)
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
    starts, members = _sorted_sets(extents, sample)
    sizes = np.diff(starts)
    padded = np.append(members, 0)
    lows = np.where(sizes > 0, padded[starts[:-1]], np.iinfo(np.int32).max)
    highs = np.where(sizes > 0, padded[np.maximum(starts[1:] - 1, 0)], -1)
    gapless = (sizes == 0) | (highs - lows + 1 == sizes)
    ends = np.where(gapless, starts[:-1], starts[1:])
    return lows, highs, np.zeros(n_units, dtype=bool), starts[:-1], ends, members
