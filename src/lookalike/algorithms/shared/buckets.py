"""What methods that publish buckets have in common: from places in buckets to a Bucketized release."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups import EFFORTS
from lookalike.algorithms.shared.method import Method, least_ceilings, least_room, left_out, start_threads
from lookalike.algorithms.shared.person_buckets import bucket_persons
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise, Slices, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice
from lookalike.data.release import Bucketized, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Counts = NDArray[np.int64]

_CELL = 6_000
"""Records among which buckets are swapped."""


@dataclass(frozen=True)
class Slots:
    """Places in buckets, each for a record of one value."""

    value_of_slot: Counts
    bucket_of_slot: Counts
    n_buckets: int


def _group_similar(
    data: Microdata,
    requirements: Sequence[Requirement],
    value_of_record: Counts,
    slots: Slots,
    rng: Randomness,
    progress: Progress,
) -> Counts:
    """The bucket of each record: those with similar quasi-identifiers share one, as far as the ceilings allow.

    First the table is cut in two along its quasi-identifiers again and again, each side with as many records of every
    value as its buckets have places for. Then records are swapped between buckets that lie near each other, as `groups`
    does; which values share a bucket changes on the way, its size does not.
    """
    # What is compiled is loaded where it runs.
    from lookalike.algorithms.groups.free import Box
    from lookalike.algorithms.shared.axes import axes_of, rule_of

    members = _by_cuts(data, value_of_record, slots, rng)
    n_rows = data.n_rows
    ends = np.cumsum([len(inside) for inside in members])
    chunks = np.split(np.arange(len(members)), np.unique(np.searchsorted(ends, np.arange(_CELL, n_rows, _CELL))))
    chunks = [chunk for chunk in chunks if len(chunk)]
    bucket_of_record = np.empty(n_rows, dtype=np.int64)
    rule, axes, effort = rule_of(data, requirements), axes_of(data), EFFORTS["balanced"].scale_to(n_rows)
    done = [0.0] * len(chunks)
    stop = threading.Event()

    def improve(number: int) -> None:
        rows = np.concatenate([members[bucket] for bucket in chunks[number]])
        places = np.repeat(np.arange(len(chunks[number])), [len(members[bucket]) for bucket in chunks[number]])
        cell = Box(data, axes, rule, requirements, rows, rng.child("cell", number))
        cell.begin(places)

        def report(share: float, loss: float) -> None:
            done[number] = share
            if progress("assign", sum(done) / len(done), "similar records together"):
                stop.set()

        cell.improve(effort, report, stop.is_set)
        for bucket, inside in zip(chunks[number].tolist(), cell.groups(), strict=True):
            bucket_of_record[inside] = bucket

    with start_threads(stop.set) as pool:
        list(pool.map(improve, range(len(chunks))))
    return bucket_of_record


def _by_cuts(data: Microdata, value_of_record: Counts, slots: Slots, rng: Randomness) -> list[Counts]:
    """The records of each bucket, neighbouring buckets next to each other."""
    from lookalike.algorithms.shared.axes import axes_of
    from lookalike.kernels.halving import cut_in_two

    axes, n_values = axes_of(data), int(slots.value_of_slot.max(initial=0)) + 1
    # Buckets in random order: which of them lie on which side has nothing to do with their values.
    rank = rng.child("buckets").permutation(slots.n_buckets)[slots.bucket_of_slot]
    by_rank = np.argsort(rank, kind="stable")
    values, starts = slots.value_of_slot[by_rank], np.searchsorted(rank[by_rank], np.arange(slots.n_buckets + 1))
    found = []
    stack = [(rng.child("ties").permutation(data.n_rows), 0, slots.n_buckets)]
    while stack:
        members, first, last = stack.pop()
        if last - first == 1:
            found.append(members)
            continue
        middle = (first + last) // 2
        left = np.bincount(values[starts[first] : starts[middle]], minlength=n_values)
        halves = cut_in_two(axes, members, value_of_record[members], left)
        stack += [(halves[1], middle, last), (halves[0], first, middle)]
    return found


def at_random(value_of_record: Counts, slots: Slots, rng: Randomness) -> Counts:
    """The bucket of each record: the records of a value, in random order, take its places.

    Nothing but sensitive values decides, so anyone who knows the method learns no more than the bucket's numbers say.
    """
    order = rng.permutation(len(value_of_record))
    records = order[np.argsort(value_of_record[order], kind="stable")]
    places = np.argsort(slots.value_of_slot, kind="stable")
    bucket_of_record = np.empty(len(value_of_record), dtype=np.int64)
    bucket_of_record[records] = slots.bucket_of_slot[places]
    return bucket_of_record


@dataclass(frozen=True)
class Asked:
    """The values that occur, how often, the ceiling of each, and the least size of a bucket."""

    counts: Counts
    ceilings: list[Fraction]
    least: int
    has_values: bool
    """Whether there is a promise about values at all; otherwise all records count as having one value."""

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True)
class Bucketizing(Method):
    """A method that says how many records of each value every bucket holds; who they are is decided here."""

    name: ClassVar[str]
    form: ClassVar[str] = Bucketized.form

    assign: Choice = Choice("random", "similar", default="random")
    """random: which records of a value go to which bucket is drawn; similar: those with similar quasi-identifiers."""

    @property
    def in_parts(self) -> Slices | Undivided:
        return Slices(
            "A bucket is in one slice and keeps the ceilings that follow from the whole table. Every slice has the "
            "values in the proportion of the table, so bucket sizes are those that suit the whole.",
            at_random=self.assign == "random",
        )

    @property
    def adversary(self) -> str:
        return KNOWS_METHOD if self.assign == "random" else READS_RELEASE

    def cautions(self) -> list[str]:
        if self.assign == "random":
            return []
        return [
            "Records with similar quasi-identifiers share a bucket: counts come out better, but anyone who knows the "
            "method and everybody's quasi-identifiers can rule some values out. The promise holds against someone "
            "who reads "
            "the release."
        ]

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        return None if requirement.only_ceilings else "it keeps the number of records and ceilings on values, no more"

    def slots(self, asked: Asked, rng: Randomness, progress: Progress) -> tuple[Slots, tuple[str, ...]]:
        """Places in buckets for the records of each value, decided from their numbers alone; and remarks."""
        raise NotImplementedError

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Bucketized, RecordMap]:
        values, ceilings, least = least_ceilings(self.name, data, requirements)
        about_values = any(requirement.column is not None for requirement in requirements)
        if data.persons is not None:
            least = max(least, least_room(data, requirements))
            bucket_of_record, n_buckets = bucket_persons(
                data, values if about_values else None, ceilings, least, rng.child("persons"), progress
            )
            return publish_buckets(data, bucket_of_record, n_buckets, rng)
        present, value_of_record = np.unique(values, return_inverse=True)
        value_of_record = value_of_record.reshape(-1).astype(np.int64)
        asked = Asked(
            np.bincount(value_of_record),
            [ceilings[value] for value in present.tolist()],
            least,
            has_values=about_values,
        )
        slots, remarks = self.slots(asked, rng.child("sizes"), progress)
        progress("assign", 0.0, counted(slots.n_buckets, "bucket"))
        if not asked.has_values:
            value_of_record = np.zeros(data.n_rows, dtype=np.int64)
            slots = Slots(np.zeros(data.n_rows, dtype=np.int64), slots.bucket_of_slot, slots.n_buckets)
        if self.assign == "similar":
            bucket_of_record = _group_similar(
                data, requirements, value_of_record, slots, rng.child("records"), progress
            )
        else:
            bucket_of_record = at_random(value_of_record, slots, rng.child("records"))
        progress("assign", 1.0)
        release, record_map = publish_buckets(data, bucket_of_record, slots.n_buckets, rng)
        return release, replace(record_map, remarks=(*remarks, *_single_remarks(slots)))


def publish_buckets(
    data: Microdata, bucket_of_record: NDArray[np.int64] | NDArray[np.int32], n_buckets: int, rng: Randomness
) -> tuple[Bucketized, RecordMap]:
    """Publish buckets as two tables; records of bucket -1 are left out, and counted.

    Both tables are shuffled on their own, and buckets are numbered at random.
    """
    numbers = rng.child("bucket numbers").permutation(n_buckets).astype(np.int32)
    left, right = (rng.child("row order", side).permutation(data.n_rows) for side in ("qit", "sat"))
    left, right = (order[bucket_of_record[order] >= 0] for order in (left, right))
    release = Bucketized(
        domains=data.domains,
        quasi=data.quasi[left],
        bucket_of_quasi=numbers[bucket_of_record[left]],
        sensitive=data.sensitive[right],
        carried=data.carried[right],
        bucket_of_sensitive=numbers[bucket_of_record[right]],
        withheld=left_out(data, bucket_of_record < 0),
    )
    return release, RecordMap(right, left)


def _single_remarks(slots: Slots) -> list[str]:
    """Buckets of one record, which a ceiling of 1 allows."""
    n_single = int(np.count_nonzero(np.bincount(slots.bucket_of_slot) == 1))
    if not n_single or slots.n_buckets == 1:
        return []
    return [
        f"{counted(n_single, 'record')} are in their own bucket, so their sensitive value is public: a ceiling "
        "of 1 allows it. If it should not be, lower that ceiling, or promise k-anonymity:2 as well."
    ]
