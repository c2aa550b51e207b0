"""Buckets for persons with several rows: what shares a bucket are items, not rows.

An item is all rows of a person with equal quasi-identifiers. A reader of a bucketized release sees how many rows have
which quasi-identifiers, and in which buckets: rows of an item in two buckets would be known to be one person's, and
what the buckets say of a value adds up. So an item goes into one bucket, whole. Every bucket keeps, exactly:

    persons     at least as many distinct ones as asked for
    values      of these persons, at most the ceiling of a value have it in some row of the bucket
    numbers     c rows drawn from the bucket show a value with at most its ceiling; c is the most rows that a person has
                in the bucket, or has anywhere with quasi-identifiers that the bucket lists

As in anatomy, items of the values most frequent among what is left come first, and values and persons of a bucket are
different as far as possible. Items left over join a bucket that still keeps its promise, or take in whole buckets until
they keep it together. Which items share a bucket depends on the values of all rows of a person, so the promise is made
against an attacker who reads the release. Costs a few steps per row.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Microdata
from lookalike.data.persons import chance_of_value, number_pairs, renumber
from lookalike.errors import Infeasible
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_LOOKED_AT = 8
"""Items of a value that are tried for a bucket before another value is."""
_TRIED = 200
"""Buckets that an item left over is tried in."""


@dataclass(frozen=True)
class _Item:
    """The rows of a person with equal quasi-identifiers."""

    owner: int
    values: dict[int, int]
    """How many of its rows have each value."""
    n_rows: int
    known: int
    """The most rows that any person has with these quasi-identifiers."""


@dataclass
class _Bucket:
    """Items, and what a reader can count in them."""

    items: list[int] = field(default_factory=list)
    n_rows: int = 0
    known: int = 0
    rows_of_value: dict[int, int] = field(default_factory=dict)
    rows_of_person: dict[int, int] = field(default_factory=dict)
    holders: dict[int, set[int]] = field(default_factory=dict)
    """The persons who have each value."""

    def add(self, number: int, item: _Item) -> None:
        self.items.append(number)
        self.n_rows += item.n_rows
        own = self.rows_of_person[item.owner] = self.rows_of_person.get(item.owner, 0) + item.n_rows
        self.known = max(self.known, item.known, own)
        for value, n_rows in item.values.items():
            self.rows_of_value[value] = self.rows_of_value.get(value, 0) + n_rows
            self.holders.setdefault(value, set()).add(item.owner)

    def is_apart_from(self, item: _Item) -> bool:
        """Whether it has neither the person nor any value of the item."""
        return item.owner not in self.rows_of_person and self.holders.keys().isdisjoint(item.values)

    def keeps(self, ceilings: Sequence[Fraction], least: int) -> bool:
        """Whether it keeps the promise."""
        size = len(self.rows_of_person)
        if size < least:
            return False
        for value, n_rows in self.rows_of_value.items():
            num, den = ceilings[value].numerator, ceilings[value].denominator
            if len(self.holders[value]) * den > num * size:
                return False
            if n_rows == 1 and min(self.known, self.n_rows) * den > num * self.n_rows:
                return False
            if n_rows > 1 and chance_of_value(self.n_rows, n_rows, min(self.known, self.n_rows)) > ceilings[value]:
                return False
        return True


def bucket_persons(
    data: Microdata,
    values: NDArray[np.int32] | None,
    ceilings: Sequence[Fraction],
    least: int,
    rng: Randomness,
    progress: Progress,
) -> tuple[NDArray[np.int64], int]:
    """The bucket of each record, and the number of buckets. `values` None: only persons count."""
    items, item_of_record = _list_items(data, values)
    if values is None:
        # Without a promise about values persons are what must differ: any value is as good as any other.
        ceilings = [Fraction(1)] * data.n_persons
    buckets, left = _fill(items, ceilings, least, rng.child("fill"), progress)
    left = _join(buckets, left, items, ceilings, least, rng.child("join"))
    if left:
        _merge(buckets, left, items, ceilings, least, rng.child("merge"))
    bucket_of_item = np.empty(len(items), dtype=np.int64)
    for number, bucket in enumerate(buckets):
        bucket_of_item[bucket.items] = number
    return bucket_of_item[item_of_record], len(buckets)


def _list_items(data: Microdata, values: NDArray[np.int32] | None) -> tuple[list[_Item], NDArray[np.int64]]:
    """All items, and the number of each record's."""
    assert data.persons is not None
    owners = renumber(data.persons)
    points = np.zeros(data.n_rows, dtype=np.int32)
    for codes in data.quasi.T:
        points = renumber(number_pairs(points, codes))
    item_of_record = renumber(number_pairs(owners, points)).astype(np.int64)
    firsts, sizes = np.unique(item_of_record, return_index=True, return_counts=True)[1:]
    known = np.zeros(int(points.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(known, points[firsts], sizes)
    held: list[dict[int, int]] = [{} for _ in firsts]
    if values is None:
        held = [{owner: 1} for owner in owners[firsts].tolist()]
    else:
        for item, value in zip(item_of_record.tolist(), values.tolist(), strict=True):
            held[item][value] = held[item].get(value, 0) + 1
    kinds = zip(owners[firsts].tolist(), held, sizes.tolist(), known[points[firsts]].tolist(), strict=True)
    return [_Item(*kind) for kind in kinds], item_of_record


class _Stock:
    """Items that are in no bucket yet: those of the most frequent value first, and of these those of most rows."""

    def __init__(self, items: Sequence[_Item], rng: Randomness) -> None:
        order = rng.child("order").permutation(len(items)).tolist()
        # Items of persons of like numbers of rows meet: a bucket needs as many rows as its largest number asks for.
        order.sort(key=lambda number: items[number].known)
        self._items, self._free = items, [True] * len(items)
        self._of_value: dict[int, list[int]] = {}
        for number in order:
            for value in items[number].values:
                self._of_value.setdefault(value, []).append(number)
        self._left = {value: len(own) for value, own in self._of_value.items()}
        self._ties = iter(rng.child("ties").permutation(4 * len(items) + len(self._left) + 1).tolist())
        self._heap = [(-number, next(self._ties), value) for value, number in self._left.items()]
        heapq.heapify(self._heap)
        self._aside: list[int] = []

    def take_for(self, bucket: _Bucket) -> int | None:
        """An item that has neither a person nor a value of the bucket; None if none is found."""
        while self._heap:
            count, tie, value = heapq.heappop(self._heap)
            if self._left[value] == 0:
                continue
            if -count != self._left[value]:
                heapq.heappush(self._heap, (-self._left[value], tie, value))
                continue
            self._aside.append(value)
            if value in bucket.holders:
                continue
            for number in self._look_at(value):
                if bucket.is_apart_from(self._items[number]):
                    self._free[number] = False
                    for own in self._items[number].values:
                        self._left[own] -= 1
                    return number
        return None

    def next_bucket(self) -> bool:
        """Every value counts again; whether anything is left."""
        for value in self._aside:
            if self._left[value]:
                heapq.heappush(self._heap, (-self._left[value], next(self._ties, 0), value))
        self._aside.clear()
        return any(self._left[value] for _, _, value in self._heap)

    def _look_at(self, value: int) -> Iterator[int]:
        own = self._of_value[value]
        while own and not self._free[own[-1]]:
            own.pop()
        free = (number for number in reversed(own) if self._free[number])
        for _, number in zip(range(_LOOKED_AT), free, strict=False):
            yield number


def _fill(
    items: Sequence[_Item], ceilings: Sequence[Fraction], least: int, rng: Randomness, progress: Progress
) -> tuple[list[_Bucket], list[int]]:
    """Buckets of different persons and values, and the items that are left."""
    stock, buckets, left = _Stock(items, rng), list[_Bucket](), list[int]()
    n_done = 0
    while stock.next_bucket():
        bucket = _Bucket()
        while (number := stock.take_for(bucket)) is not None:
            bucket.add(number, items[number])
            if bucket.keeps(ceilings, least):
                buckets.append(bucket)
                break
        else:
            left += bucket.items
        n_done += len(bucket.items)
        if len(buckets) % 1000 == 0:
            progress("buckets", n_done / len(items))
    return buckets, left


def _join(
    buckets: list[_Bucket],
    left: Sequence[int],
    items: Sequence[_Item],
    ceilings: Sequence[Fraction],
    least: int,
    rng: Randomness,
) -> list[int]:
    """Items join a bucket that then still keeps its promise; those that find none."""
    if not buckets:
        return list(left)
    alone = []
    begins = rng.integers(len(buckets), len(left)).tolist()
    for number, begin in zip(left, begins, strict=True):
        for step in range(min(_TRIED, len(buckets))):
            place = (begin + step) % len(buckets)
            grown = _unite(items, buckets[place].items, [number])
            if grown.keeps(ceilings, least):
                buckets[place] = grown
                break
        else:
            alone.append(number)
    return alone


def _merge(
    buckets: list[_Bucket],
    left: Sequence[int],
    items: Sequence[_Item],
    ceilings: Sequence[Fraction],
    least: int,
    rng: Randomness,
) -> None:
    """The items left take in whole buckets until they keep the promise together."""
    pool = _unite(items, left)
    order = rng.permutation(len(buckets)).tolist()
    taken = set[int]()
    while not pool.keeps(ceilings, least):
        if len(taken) == len(buckets):
            raise Infeasible(
                "The promise cannot be kept in buckets: a person has so many rows, or so many values, that some value "
                "is too likely even in one bucket of all rows. Publish fewer rows per person (--contribution C, or "
                "--rows one), or promise less.",
                None,
            )
        place = order[len(taken)]
        taken.add(place)
        for number in buckets[place].items:
            pool.add(number, items[number])
    buckets[:] = [bucket for place, bucket in enumerate(buckets) if place not in taken] + [pool]


def _unite(items: Sequence[_Item], *numbers: Sequence[int]) -> _Bucket:
    bucket = _Bucket()
    for part in numbers:
        for number in part:
            bucket.add(number, items[number])
    return bucket
