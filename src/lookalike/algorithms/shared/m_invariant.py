"""m-invariant: groups of m or more different values, and every person keeps the same set of values in all releases.

Xiao, Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets" (SIGMOD 2007). The set of
values of a person's group is the person's signature. Those who were published before fill one bucket per signature;
newcomers with values that a bucket has too few of balance it, and rows are made up where there are none. The other
newcomers form their own buckets, always of the m values that are most frequent among them; what is left joins a new
bucket that has no such value yet, or waits. Some newcomers are barred from values: those of the groups that the person
was in before the value changed. Their group has none of them, so that neither what two groups of a person share nor
what the later one adds says anything. A balanced bucket has equally many rows of each of its values and is cut by
quasi-identifiers, again and again, into halves that are balanced too, down to groups with one row per value.

Every group shows each of its values once, so exchanging two values in a whole bucket, in all releases, gives releases
that look the same: to someone who takes all tables that fit the releases as equally likely, each value of the
signature is equally likely for each person, for ever. This takes values to be equally likely beforehand. Someone who
knows how frequent they are learns more, as those who take the place of people who left have a value that is likelier
frequent than rare; someone who knows this method also knows that rows are made up of values that newcomers lack.

Values are looked at to cut, as in any method of groups against readers. Cost O(n log n).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Method, left_out
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Whole
from lookalike.data.release import Grouped, RecordMap, cover
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, Unsupported, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Signature = tuple[int, ...]
"""Codes of different values, in their order."""
Ints = NDArray[np.int64]
_MADE_UP = -1


@dataclass(frozen=True)
class MInvariant(Method):
    """Groups of at least m different values, in a series in which every person keeps the same values.

    >>> str(MInvariant(3))
    'm-invariant:3'
    """

    name: ClassVar[str] = "m-invariant"
    form: ClassVar[str] = Grouped.form

    m: Whole = Whole(low=2)
    """Fewest different values in a group."""
    signatures: Mapping[int, Signature] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By record, for those who were published before."""
    donors: Mapping[int, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By value, what an earlier row with it carried, for made-up rows of values that no record has now."""
    barred: Mapping[int, frozenset[int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By record, values that the person's group must not have."""

    def over(
        self,
        signatures: Mapping[int, Signature],
        donors: Mapping[int, tuple[int, ...]],
        barred: Mapping[int, frozenset[int]] = MappingProxyType({}),
    ) -> Self:
        """The same for people of whom some were published before."""
        made = replace(self)
        object.__setattr__(made, "signatures", dict(signatures))
        object.__setattr__(made, "donors", dict(donors))
        object.__setattr__(made, "barred", dict(barred))
        return made

    def bound_to(self) -> str | None:
        if not self.signatures and not self.barred:
            return None
        return "the groups of a later release of an m-invariant series follow from the groups of earlier ones"

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        kind = getattr(promise.model, "kind", None)
        asked = getattr(promise.model, "ell", None)
        subset, only_ceilings = getattr(promise.model, "subset", None), requirement.only_ceilings
        if promise.model.name != "l-diversity" or kind != "simple" or subset or not only_ceilings:
            return f"it keeps l-diversity of the kind simple for all values, and not {promise}"
        if asked is None or asked > self.m:
            return f"its groups have {self.m} different values, and {promise} asks for more"
        return None

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        return "it keeps one row per person (--rows one)"

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, RecordMap]:
        record_of_number = rng.child("record numbers").permutation(data.n_rows)
        number_of_record = np.argsort(record_of_number)
        own = {int(number_of_record[record]): signature for record, signature in self.signatures.items()}
        barred = {int(number_of_record[record]): values for record, values in self.barred.items()}
        made = self.over(own, self.donors, barred)
        release, record_map = made.make_release(data.take(record_of_number), requirements, rng, progress)
        return release, record_map.renumber(record_of_number)

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, RecordMap]:
        if data.sensitive.shape[1] != 1:
            raise Unsupported(
                "A series in mode m-invariant keeps one sensitive column: rows are made up for its values. Name one "
                "sensitive column, and carry or leave out the others."
            )
        buckets, waiting = fill_buckets(data.sensitive[:, 0], self.signatures, int(self.m), rng, self.barred)
        groups = [group for signature in sorted(buckets) for group in _cut(data, signature, buckets[signature], rng)]
        if not groups:
            raise Infeasible(
                f"No group of {self.m} different values can be formed: the newcomers have too few different values. "
                "Ask for a smaller m.",
                None,
            )
        return self._publish(data, groups, waiting, rng)

    def _publish(
        self, data: Microdata, groups: list[list[tuple[int, int]]], waiting: list[int], rng: Randomness
    ) -> tuple[Grouped, RecordMap]:
        numbers = rng.child("group numbers").permutation(len(groups))
        rows = [
            (int(number), value, record)
            for number, group in zip(numbers, groups, strict=True)
            for value, record in group
        ]
        order = rng.child("row order").permutation(len(rows))
        listed = np.array(rows, dtype=np.int64)[order]
        group_of_row, record_of_row = listed[:, 0], listed[:, 2]
        real = record_of_row >= 0
        made_up = np.bincount(group_of_row[~real], minlength=len(groups)).astype(np.int64)
        carried = np.zeros((len(rows), data.carried.shape[1]), dtype=np.int32)
        carried[real] = data.carried[record_of_row[real]]
        for place in np.flatnonzero(~real).tolist():
            carried[place] = self._carry(data, int(listed[place, 1]), rng.child("donor", place))
        is_waiting = np.zeros(data.n_rows, dtype=bool)
        is_waiting[waiting] = True
        withheld = replace(
            left_out(data, is_waiting), n_dummies=int(made_up.sum()), indistinguishable=bool(made_up.sum())
        )
        release = Grouped(
            domains=data.domains,
            extents=tuple(
                cover(domain, data.quasi[record_of_row[real], index], group_of_row[real], len(groups))
                for index, domain in enumerate(data.domains.quasi)
            ),
            group_of_row=group_of_row.astype(np.int32),
            sensitive=listed[:, 1:2].astype(np.int32),
            carried=carried,
            withheld=withheld,
            made_up_of_group=made_up,
        )
        remarks = [f"{counted(int(made_up.sum()), 'row')} made up; the table counterfeits has their number by group."]
        if waiting:
            remarks.append(
                f"{counted(len(waiting), 'newcomer')} left out: no group of {self.m} different values is left for "
                "them. They may join a later release."
            )
        return release, RecordMap(record_of_row, remarks=tuple(remarks))

    def _carry(self, data: Microdata, value: int, rng: Randomness) -> tuple[int, ...] | NDArray[np.int32]:
        """What a made-up row carries: copied from a row with the same value."""
        if not data.carried.shape[1]:
            return ()
        owners = np.flatnonzero(data.sensitive[:, 0] == value)
        if len(owners):
            copied: NDArray[np.int32] = data.carried[owners[int(rng.integers(len(owners), 1)[0])]]
            return copied
        if value not in self.donors:
            raise Unsupported(
                "A row has to be made up with a value that no row ever had, so nothing is known of what it would "
                "carry. Publish without carried columns."
            )
        return self.donors[value]


def fill_buckets(
    values: NDArray[np.int32],
    signatures: Mapping[int, Signature],
    m: int,
    rng: Randomness,
    barred: Mapping[int, frozenset[int]] = MappingProxyType({}),
) -> tuple[dict[Signature, dict[int, list[int]]], list[int]]:
    """Balanced buckets, by signature the records of each value (-1: made up), and the newcomers who wait."""
    buckets: dict[Signature, dict[int, list[int]]] = {}
    for record, signature in sorted(signatures.items()):
        bucket = buckets.setdefault(signature, {value: [] for value in signature})
        value = int(values[record])
        if value not in bucket:
            # Not in a series, which counts such a person as a newcomer, but in worlds that an attack goes through.
            raise Infeasible(
                "A person who was published before has a value that the person's group did not have. Publish the "
                "person as a newcomer.",
                None,
            )
        bucket[value].append(record)
    newcomers: dict[int, list[int]] = defaultdict(list)
    for record in rng.child("newcomers").permutation(len(values)).tolist():
        if record not in signatures:
            newcomers[int(values[record])].append(record)
    _balance(buckets, newcomers, barred, rng)
    waiting = _found_buckets(buckets, newcomers, barred, m, rng)
    return buckets, waiting


def _balance(
    buckets: dict[Signature, dict[int, list[int]]],
    newcomers: dict[int, list[int]],
    barred: Mapping[int, frozenset[int]],
    rng: Randomness,
) -> None:
    """As many rows of each value in a bucket: newcomers first, in random order of buckets, then made-up ones."""
    listed = sorted(buckets)
    for place in rng.child("buckets").permutation(len(listed)).tolist():
        bucket = buckets[listed[place]]
        height = max(len(records) for records in bucket.values())
        for value, records in bucket.items():
            while len(records) < height:
                found = _take_fitting(newcomers[value], barred, listed[place])
                records.append(_MADE_UP if found is None else found)


def _take_fitting(records: list[int], barred: Mapping[int, frozenset[int]], values: Collection[int]) -> int | None:
    """Take the last of these records that is not barred from any of the values."""
    for place in range(len(records) - 1, -1, -1):
        if not barred.get(records[place], frozenset()).intersection(values):
            return records.pop(place)
    return None


def _found_buckets(
    buckets: dict[Signature, dict[int, list[int]]],
    newcomers: dict[int, list[int]],
    barred: Mapping[int, frozenset[int]],
    m: int,
    rng: Randomness,
) -> list[int]:
    """Put the newcomers who are left into new groups of m values; who fits nowhere waits."""
    late = {value: [one for one in records if one in barred] for value, records in newcomers.items()}
    newcomers = {value: [one for one in records if one not in barred] for value, records in newcomers.items()}
    counts = Counter({value: len(records) for value, records in newcomers.items() if records})
    ties = rng.child("ties").words(1 + max(newcomers, default=0))
    groups: list[dict[int, int]] = []
    while len(counts) >= m:
        chosen = sorted(counts, key=lambda value: (-counts[value], int(ties[value])))[:m]
        groups.append({value: newcomers[value].pop() for value in chosen})
        for value in chosen:
            counts[value] -= 1
            if not counts[value]:
                del counts[value]
    waiting = []
    order = rng.child("left over").permutation(len(groups)).tolist()
    # Values that no group may get any more, because someone in it is barred from them.
    closed_to: list[frozenset[int]] = [frozenset() for _ in groups]
    left_over = [(value, record) for value in sorted(counts) for record in newcomers[value]]
    left_over += [(value, record) for value in sorted(late) for record in late[value]]
    for value, record in left_over:
        not_with = barred.get(record, frozenset())
        free = next(
            (
                place
                for place in order
                if value not in groups[place] and value not in closed_to[place] and not not_with & groups[place].keys()
            ),
            None,
        )
        if free is None:
            waiting.append(record)
        else:
            groups[free][value] = record
            closed_to[free] |= not_with
    for group in groups:
        signature = tuple(sorted(group))
        bucket = buckets.setdefault(signature, {value: [] for value in signature})
        for value, record in group.items():
            bucket[value].append(record)
    return waiting


def _cut(
    data: Microdata, signature: Signature, bucket: Mapping[int, list[int]], rng: Randomness
) -> list[list[tuple[int, int]]]:
    """Groups of a balanced bucket: one row per value, near each other by quasi-identifiers; (value, record) each.

    Made-up rows fit everywhere, so each half gets as many as it lacks. No group is made up altogether: some value of
    the bucket has a record in every row.
    """
    points = data.quasi.astype(np.int64)
    spans = np.array([max(domain.n_codes - 1, 1) for domain in data.domains.quasi], dtype=np.float64)
    done: list[list[tuple[int, int]]] = []
    open_parts = [{value: list(records) for value, records in bucket.items()}]
    while open_parts:
        part = open_parts.pop()
        height = len(part[signature[0]])
        if height == 1:
            done.append([(value, part[value][0]) for value in signature])
            continue
        real = np.array([record for records in part.values() for record in records if record >= 0], dtype=np.int64)
        widths = (points[real].max(axis=0) - points[real].min(axis=0)) / spans
        column = int(np.argmax(widths))
        full = max(signature, key=lambda value: sum(record >= 0 for record in part[value]))
        middle = np.median(points[part[full], column]) if all(record >= 0 for record in part[full]) else 0.0
        first, second = {}, {}
        for value in signature:
            records = sorted(
                (record for record in part[value] if record >= 0),
                key=lambda record: (int(points[record, column]), record),
            )
            n_made_up = height - len(records)
            half = height // 2
            below = sum(points[record, column] <= middle for record in records)
            # As many records below as there are, within what both halves have room for.
            n_low = min(max(below, len(records) - (height - half)), half, len(records))
            first[value] = [*records[:n_low], *[_MADE_UP] * (half - n_low)]
            second[value] = [*records[n_low:], *[_MADE_UP] * (n_made_up - (half - n_low))]
        open_parts += [second, first]
    return done
