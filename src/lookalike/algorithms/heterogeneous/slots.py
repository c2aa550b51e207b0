"""Slots: for each column of a zone a table of rows that take one record of every other column.

Columns are laid out as in strict groups, or in buckets of one size, as published: which values go to which bucket is
then decided from counts alone. A layout is a table of buckets and values. With buckets of c records, value v in |B_v|
of mu buckets and columns that are exchanged as a whole, a person finds v in at most |B_v| of their mu rows; so the
layout keeps ceilings f where |B_v| <= f_v * mu. Three ways to fill buckets ("sequential" in falling or rising order of
counts, and "packed", which keeps the rest of every value in one piece) are tried for each c, from the largest down: few
buckets make small slots. How low |B_v| can be kept is NP-hard to tell, hence several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.columns import Blocks, Counts, blocks_for, in_parts, tables_for
from lookalike.algorithms.groups.linear_programs import Ceilings
from lookalike.algorithms.groups.sizes import Plan as SizePlan
from lookalike.algorithms.groups.sizes import even_sizes, in_blocks, rooms_for, splits_evenly
from lookalike.algorithms.groups.strict import Plan, plan_column, zone_tables
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.matchers import MATCHERS, Labels, Matcher, Records
from lookalike.algorithms.shared.method import SlotGraph, through_diversity
from lookalike.data.microdata import Microdata, rank_within
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, Unsupported
from lookalike.kernels.axes import Axes
from lookalike.kernels.matching import match_slots
from lookalike.progress import Progress
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.algorithms.heterogeneous import Heterogeneous

Slots = NDArray[np.int64]
"""[d, rows, d] slots of each column x, each with the record that it takes of each column y; its own at y = x."""
Layout = NDArray[np.int64]
"""[buckets, values] how many records of each value are in each bucket."""
Policy = Callable[[Counts, int], Layout]
"""Buckets of at most so many records; where the last ones stay short, dummies would fill them."""

_PARTS = {"auto": 300, "hungarian": 1500, "sorted": 1500, "greedy": 20_000}
# Some gigabytes in rows that cover hundreds of records.
_MOST_MATCHES, _WIDE = 5 * 10**7, 200
# Measured on one core, for tables of 2 to 20 rows and 200 to 800 columns.
_LOOKS_PER_SECOND = 2 * 10**8
# CPU seconds of everything; of one assignment, which cannot be stopped while it runs; and what is worth announcing.
_MOST_SECONDS, _MOST_AT_ONCE, _LONG = 1500, 120, 20


def slot_graph(
    data: Microdata,
    requirements: Sequence[Requirement],
    method: Heterogeneous,
    rng: Randomness,
    pool: Executor,
    progress: Progress,
    remark: Callable[[str], None] = lambda sentence: None,
) -> SlotGraph:
    """The slots of all records, and whose values each shows. A slot is named after its own record and number."""
    axes, most = axes_of(data), method.part or _PARTS[method.matcher]
    zones = _lay_out(data, requirements, method, rng, remark)
    cut = [part for table in zones for part in in_parts(axes, table, most)]
    _require_little_work(cut, axes, progress)
    parts = [_mix_rows(part, rng.child("rows", number)) for number, part in enumerate(cut)]
    numbers = np.arange(data.n_rows)

    def matched(number: int) -> Slots:
        if method.matcher in ("auto", "hungarian"):
            return slots_by_assignment(axes, parts[number])
        return slots_in_turn(axes, numbers, parts[number], MATCHERS[method.matcher], rng.child("part", number))

    records, slots, givers = [], [], np.empty(data.n_rows, dtype=np.int64)
    done = 0
    for number, found in enumerate(pool.map(matched, range(len(parts)))):
        own = parts[number].T
        records.append(found.ravel())
        slots.append(np.repeat(own.ravel(), found.shape[2]))
        givers[own] = exchange_columns(found, rng.child("draw", number))
        done += own.size
        progress("matching", done / data.n_rows)
    return SlotGraph(np.concatenate(records), np.concatenate(slots), givers)


def _require_little_work(parts: Sequence[Records], axes: Axes, progress: Progress) -> None:
    """Every record is in as many slots as its part has columns, and each slot looks at all records that it has."""
    n_matches = sum(table.size * table.shape[1] for table in parts if table.shape[1] >= _WIDE)
    looks = [table.size * table.shape[1] ** 2 // 2 * axes.codes.shape[1] for table in parts if len(table) > 1]
    seconds = sum(looks) // _LOOKS_PER_SECOND
    too_long = seconds > _MOST_SECONDS or max(looks, default=0) > _MOST_AT_ONCE * _LOOKS_PER_SECOND
    if n_matches > _MOST_MATCHES or too_long:
        widest = max(table.shape[1] for table in parts)
        cost = f"about {-(-seconds // 60):,} CPU minutes" if too_long else "too much memory"
        raise Unsupported(
            f"Under this promise some rows would have to cover {widest:,} records each, which takes heterogeneous "
            f"{cost}. Use --algorithm groups, or promise less."
        )
    if seconds > _LONG:
        progress("matching", 0.0, f"about {seconds:,} CPU seconds")


def slots_by_assignment(axes: Axes, table: Records) -> Slots:
    """For each column the slots that start with its records; the other columns follow in cyclic order."""
    n_rows, degree = table.shape
    slots = np.empty((degree, n_rows, degree), dtype=np.int64)
    if n_rows == 1:
        # There is nothing to choose.
        slots[:] = table
    else:
        match_slots(axes, table, slots)
    return slots


def slots_in_turn(axes: Axes, labels: Labels, table: Records, matcher: Matcher, rng: Randomness) -> Slots:
    """The same by any matcher, where no slot may take two records of one label."""
    n_rows, degree = table.shape
    slots = np.empty((degree, n_rows, degree), dtype=np.int64)
    for own in range(degree):
        order = np.roll(np.arange(degree), -own)
        filled = table[:, order].copy()
        for turn in range(1, degree):
            filled[:, turn] = matcher(axes, labels, filled, turn, table[:, order[turn]], rng.child(own, turn))
        slots[own][:, order] = filled
    return slots


def _mix_rows(table: Records, rng: Randomness) -> Records:
    """Every column in its own random order: ties are broken by where records stand."""
    places = rng.permutation(table.size).reshape(table.shape)
    return np.take_along_axis(table, np.argsort(places, axis=0), axis=0)


def exchange_columns(slots: Slots, rng: Randomness) -> Records:
    """[d, rows] the record whose values each slot shows: column y gives its values to the slots of one column."""
    degree = len(slots)
    giver = rng.permutation(degree)
    return np.asarray(slots[np.arange(degree), :, giver], dtype=np.int64)


def _lay_out(
    data: Microdata,
    requirements: Sequence[Requirement],
    method: Heterogeneous,
    rng: Randomness,
    remark: Callable[[str], None],
) -> list[Records]:
    """All records in the columns of zones."""
    if method.buckets == "zones":
        cell = method.cell or (0 if method.matcher == "auto" else data.n_rows)
        return zone_tables(data, requirements, cell, rng, remark)
    column, plan = plan_column(data, requirements)
    values = data.sensitive[:, column]
    blocks = _blocks(np.bincount(values, minlength=len(plan.ceilings)), plan, method.buckets)
    return tables_for(np.arange(data.n_rows), values, blocks, rng.child("cell", 0))


def _blocks(counts: NDArray[np.int64], plan: Plan, buckets: str) -> Blocks:
    """Columns for the whole table, none of them in cells."""
    if not all(requirement.only_ceilings for requirement in plan.requirements):
        raise Infeasible(f"buckets={buckets} keeps ceilings on values, and this promise asks for more. Leave it out.")
    if buckets != "through-l":
        policies = [*POLICIES] if buckets == "equal" else [buckets]
        blocks = buckets_under(counts, plan.ceilings, policies, plan.rule.min_size)
        if blocks is None:
            raise Infeasible(f"With buckets={buckets} no number of buckets keeps the promise. Leave it out.")
        return blocks
    ell = through_diversity(counts, plan.ceilings, plan.rule.min_size)
    if ell is None:
        raise Infeasible(
            "No l-diversity that this table can have keeps every ceiling of the promise: the l that the rarest value "
            "needs is too large for the most frequent one. Leave buckets out."
        )
    ceilings = [Fraction(1, ell)] * len(counts)
    return blocks_for(SizePlan(even_sizes(int(counts.sum()), ell)), counts, ceilings)


def drop_remainder(
    data: Microdata, requirements: Sequence[Requirement], method: Heterogeneous, rng: Randomness
) -> Records:
    """The records but for the few by which they exceed a multiple of the number of columns.

    They are drawn from the most frequent values, which makes no promise harder to keep.
    """
    column, plan = plan_column(data, requirements)
    values = data.sensitive[:, column]
    left = np.bincount(values, minlength=len(plan.ceilings))
    while surplus := int(left.sum()) % _columns_of(left, plan, method.buckets):
        for _ in range(surplus):
            left[np.argmax(left)] -= 1
    shuffled = rng.permutation(data.n_rows)
    return np.sort(shuffled[rank_within(values[shuffled]) < left[values[shuffled]]])


def _columns_of(counts: NDArray[np.int64], plan: Plan, buckets: str) -> int:
    """The number of columns of which there is to be no remainder; 1 where several sizes take everybody in."""
    if buckets == "zones":
        return plan.unit
    return min(len(zone) for _, zones in _blocks(counts, plan, buckets) for zone in zones)


def descending(counts: Counts, size: int) -> Layout:
    """Values that fill whole buckets first, then by falling count; a bucket is filled before the next is opened."""
    return _in_sequence(counts, size, np.argsort(-counts, kind="stable"))


def ascending(counts: Counts, size: int) -> Layout:
    """As `descending`, by rising count."""
    return _in_sequence(counts, size, np.argsort(counts, kind="stable"))


def pack_values(counts: Counts, size: int) -> Layout:
    """Whole buckets of each value; what is left of each goes unsplit to the first bucket with room, largest first."""
    full = [value for value in range(len(counts)) for _ in range(int(counts[value]) // size)]
    rests = counts % size
    room: list[int] = []
    held: list[list[int]] = []
    for value in np.argsort(-rests, kind="stable").tolist():
        if not rests[value]:
            continue
        place = next((place for place, free in enumerate(room) if free >= rests[value]), len(room))
        if place == len(room):
            room.append(size)
            held.append([])
        room[place] -= int(rests[value])
        held[place].append(value)
    layout = np.zeros((len(full) + len(held), len(counts)), dtype=np.int64)
    layout[np.arange(len(full)), full] = size
    for place, values in enumerate(held):
        layout[len(full) + place, values] = rests[values]
    return layout


POLICIES: dict[str, Policy] = {"descending": descending, "ascending": ascending, "packed": pack_values}


def _in_sequence(counts: Counts, size: int, order: NDArray[np.int64]) -> Layout:
    order = np.concatenate([order[counts[order] % size == 0], order[counts[order] % size != 0]])
    ends = np.cumsum(counts[order])
    begins = (np.arange(-(-int(ends[-1]) // size)) * size)[:, None]
    layout = np.zeros((len(begins), len(counts)), dtype=np.int64)
    layout[:, order] = np.clip(np.minimum(ends, begins + size) - np.maximum(ends - counts[order], begins), 0, None)
    return layout


def _without_gaps(layout: Layout, size: int) -> Layout:
    """The same records in full buckets only, if their number allows: the last buckets are divided among the others."""
    n_buckets = int(layout.sum()) // size
    kept, moved = layout[:n_buckets].copy(), layout[n_buckets:].sum(axis=0)
    for value in np.argsort(-moved, kind="stable").tolist():
        while moved[value]:
            room = size - kept.sum(axis=1)
            # Where the value is already, else where most of it fits.
            at = max(np.flatnonzero(room).tolist(), key=lambda bucket: (kept[bucket, value] > 0, room[bucket]))
            taken = min(int(moved[value]), int(room[at]))
            kept[at, value] += taken
            moved[value] -= taken
    return kept


def buckets_under(counts: Counts, ceilings: Ceilings, policies: Sequence[str], fewest: int) -> Blocks | None:
    """The fewest buckets of equal size that keep the ceilings; two blocks, of mu and mu + 1, where n needs them.

    None if no number from `fewest` on was found to.
    """
    present = counts[counts > 0]
    tried = set()
    for size in range(int(present.max()), gcd(*present.tolist()) - 1, -1):
        n_buckets = int(counts.sum()) // size
        if n_buckets < fewest or n_buckets in tried:
            continue
        for policy in policies:
            blocks = _fill_buckets(counts, n_buckets, ceilings, POLICIES[policy])
            if blocks is not None:
                return blocks
        tried.add(n_buckets)
    return None


def _fill_buckets(counts: Counts, n_buckets: int, ceilings: Ceilings, policy: Policy) -> Blocks | None:
    sizes = even_sizes(int(counts.sum()), n_buckets)
    if not splits_evenly(sizes, counts, ceilings):
        return None
    blocks: Blocks = []
    for width, numbers in in_blocks(SizePlan(sizes), counts, ceilings).items():
        n_rows = int(numbers.sum()) // width
        layout = _without_gaps(policy(numbers, n_rows), n_rows)
        if (np.count_nonzero(layout, axis=0) > rooms_for(width, ceilings)).any():
            return None
        blocks.append((numbers, [layout]))
    return blocks
