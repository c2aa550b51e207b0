"""Every table of a few values, every random choice of the published method, and what an attacker can conclude.

Buckets are laid out by values alone, their records matched by one quasi-identifier, and one assignment is drawn: as
published, one of a random set of disjoint assignments of the graph; or aligned, whole columns exchanged. The attacker
knows all of this, sees the ranges and values of all rows, and weighs every table that could have led to them.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.heterogeneous.slots import slots_by_assignment
from lookalike.algorithms.shared.axes import axes_of
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Schema, ValueType

Given = tuple[int, ...]
"""For each slot the record whose value it shows."""
Buckets = tuple[tuple[int, ...], ...]
"""The records of each bucket."""


@dataclass(frozen=True)
class Tiny:
    """Values, one letter each; the buckets that hold them; and the gain that the paper promises to stay below."""

    values: str
    buckets: tuple[str, ...]
    promised: Fraction


@dataclass(frozen=True)
class Learnt:
    worst: Fraction
    """The largest gain of a belief over a value's share, minus 1, after any release."""
    above: Fraction
    """How often the strongest gain about a record is above the promised one."""


def worst_gain(tiny: Tiny, points: Sequence[int], *, aligned: bool) -> Learnt:
    """What somebody who knows the method can conclude, at worst and how often more than is promised."""
    weight: dict[object, Fraction] = defaultdict(Fraction)
    joint: dict[tuple[object, int, str], Fraction] = defaultdict(Fraction)
    axes = axes_of(_table_at(points))
    drawn: dict[Buckets, tuple[list[tuple[int, int]], list[tuple[Given, Fraction]]]] = {}
    worlds = sorted(set(map("".join, itertools.permutations(tiny.values))))
    for world in worlds:
        layouts = list(_layouts(world, tiny.buckets))
        for buckets in layouts:
            if buckets not in drawn:
                slots = slots_by_assignment(axes, np.array(buckets, dtype=np.int64).T.copy())
                covered = slots.reshape(len(world), len(buckets)).tolist()
                ranges = [(points[min(slot)], points[max(slot)]) for slot in covered]
                drawn[buckets] = ranges, list(_draws(slots, aligned))
            ranges, draws = drawn[buckets]
            for given, chance in draws:
                seen = tuple(sorted((*extent, world[record]) for extent, record in zip(ranges, given, strict=True)))
                part = chance / len(layouts)
                weight[seen] += part
                for record, value in enumerate(world):
                    joint[seen, record, value] += part
    shares = {value: Fraction(tiny.values.count(value), len(tiny.values)) for value in tiny.values}
    strongest: dict[tuple[object, int], Fraction] = defaultdict(Fraction)
    for (seen_rows, record, value), part in joint.items():
        gain = part / weight[seen_rows] / shares[value] - 1
        strongest[seen_rows, record] = max(strongest[seen_rows, record], gain)
    total = sum(weight.values()) * len(points)
    above = sum((weight[seen_rows] for (seen_rows, _), gain in strongest.items() if gain > tiny.promised), Fraction(0))
    return Learnt(max(strongest.values()), above / total)


def _layouts(world: str, buckets: Sequence[str]) -> Iterator[Buckets]:
    """Every way to put the records into the buckets by value, and every order of the buckets."""
    places = {value: [record for record, one in enumerate(world) if one == value] for value in set(world)}
    wanted = "".join(buckets)
    options = [itertools.permutations(places[value]) for value in sorted(places)]
    found: set[Buckets] = set()
    for orders in itertools.product(*options):
        left = {value: list(order) for value, order in zip(sorted(places), orders, strict=True)}
        records = [left[value].pop(0) for value in wanted]
        size = len(buckets[0])
        found.add(tuple(tuple(sorted(records[at : at + size])) for at in range(0, len(records), size)))
    for layout in sorted(found):
        yield from itertools.permutations(layout)


def _draws(slots: NDArray[np.int64], aligned: bool) -> Iterator[tuple[Given, Fraction]]:
    """Every assignment that can be drawn from [d, rows, d] slots, with its chance."""
    degree, n_rows, _ = slots.shape
    if aligned:
        orders = list(itertools.permutations(range(degree)))
        for order in orders:
            yield tuple(slots[np.arange(degree), :, list(order)].ravel().tolist()), Fraction(1, len(orders))
        return
    flat = [frozenset(slot) for slot in slots.reshape(degree * n_rows, degree).tolist()]
    sets = list(_disjoint_sets(flat, degree))
    chances: dict[Given, Fraction] = defaultdict(Fraction)
    for one in sets:
        for given in one:
            chances[given] += Fraction(1, len(sets) * degree)
    yield from chances.items()


def _disjoint_sets(slots: Sequence[frozenset[int]], degree: int) -> Iterator[tuple[Given, ...]]:
    """Every way to take a regular graph apart into disjoint assignments; each set once."""
    if degree == 0:
        yield ()
        return
    first = min(slots[0])
    # The assignment that gives the first slot its least record comes first, so that no set comes twice.
    for given in _assignments(slots, 0, frozenset(), first):
        rest = [slot - {record} for slot, record in zip(slots, given, strict=True)]
        for others in _disjoint_sets(rest, degree - 1):
            yield (given, *others)


def _assignments(
    slots: Sequence[frozenset[int]], at: int, taken: frozenset[int], first: int | None = None
) -> Iterator[Given]:
    if at == len(slots):
        yield ()
        return
    for record in sorted(slots[at] - taken):
        if at == 0 and first is not None and record != first:
            continue
        for others in _assignments(slots, at + 1, taken | {record}):
            yield (record, *others)


def _table_at(points: Sequence[int]) -> Microdata:
    values, codes = np.unique(np.array(points, dtype=np.int64), return_inverse=True)
    numbers = np.arange(len(points), dtype=np.int64)
    columns = (
        Column("place", ValueType.INTEGER, codes.astype(np.int32), values),
        Column("value", ValueType.INTEGER, numbers.astype(np.int32), numbers),
    )
    return Microdata.encode(Table(columns, "six records"), Schema.of(qi=["place"], sensitive=["value"]))
