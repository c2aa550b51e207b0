"""Persons who have several rows: what a reader can say about them, and when a guess about them is right.

The attacker knows the quasi-identifiers of one row of a person, any of them. Two readers are measured:

    is given which rows belong together, but not whose they are: of the U different persons of the row's class, a value
    is believed as often as persons have it in some row of the class
    knows that c of the w rows of the class are the person's: a value of n rows is believed with
    1 - C(w - n, c) / C(w, c)

A guess is right if the person has the value in some row. Guesses are counted by person: which row of each person is
known is drawn once, so that all attacks and what they are compared with are about the same rows. Figures that count
persons at risk take the row that says most.

Which records a class holds is in the private record map, or follows from the cells where every record fits one class.
Where rows are linked by a number per person, the attacker knows all rows of a person, and a class is that of persons
whose rows have the same cells in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs, honest_guesses
from lookalike.audit.linked import expose_numbers
from lookalike.audit.persons import find_classes
from lookalike.data.contracts import Target
from lookalike.data.microdata import Microdata
from lookalike.data.persons import PersonCounts, chance_of_value, count_persons_by_value, number_pairs, renumber
from lookalike.data.release import Bucketized, Grouped
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
Shares = NDArray[np.float64]
_NOTHING = -1
"""A guess that is none, and never right."""
_NEEDS_MAP = (
    "records fit several groups, and how many persons a group holds depends on which records it was made of. Give the "
    "private folder of the release (--private DIR), if the publisher kept one."
)


def refuse_classes(target: Target) -> str | None:
    """Why the persons of a class cannot be counted, or None. Without a person column there is nothing to count."""
    if target.original.persons is None:
        return None
    form = target.release.form
    if form not in (Grouped.form, Bucketized.form):
        return f"persons are counted in groups and buckets, and a {form} release has none. Publish one row per person."
    return _NEEDS_MAP if PersonClasses.of(target) is None else None


def lack_classes(target: Target) -> str | None:
    """That the record map is not given, where it alone keeps the persons of a class from being counted; else None."""
    return _NEEDS_MAP if refuse_classes(target) == _NEEDS_MAP else None


@dataclass(frozen=True, eq=False)
class PersonClasses:
    """Which persons have rows in which class: of these a reader cannot tell who is who."""

    original: Microdata
    records: Ints
    """Those that are published."""
    units: Ints
    """The class of each of these records, from 0 on."""
    owners: Ints
    """The person of each of these records, from 0 on over the whole table."""
    linked: bool = False
    """Whether rows say which belong together: then classes are of whole persons, whose numbers of rows are seen."""

    @classmethod
    def of(cls, target: Target) -> PersonClasses | None:
        """Worked out once per target; None where it is not known."""
        if "person classes" not in target.worked_out:
            target.worked_out["person classes"] = cls._find(Whereabouts.of(target))
        found = target.worked_out["person classes"]
        assert found is None or isinstance(found, cls)
        return found

    @classmethod
    def _find(cls, where: Whereabouts) -> PersonClasses | None:
        original = where.target.original
        if original.persons is None or not isinstance(where.target.release, Grouped | Bucketized):
            return None
        classes = _class_linked(where) if is_linked(where.target) else find_classes(where.reading)
        if classes is None:
            return None
        kept = np.flatnonzero(classes >= 0)
        units, owners = renumber(classes[kept]).astype(np.int64), owners_of_records(original)[kept]
        return cls(original, kept, units, owners, is_linked(where.target))

    @property
    def n_classes(self) -> int:
        return int(self.units.max(initial=-1)) + 1

    @property
    def n_persons(self) -> int:
        """All persons of the table, also those who have no published row."""
        return self.original.n_persons

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints, Ints]:
        """Each class with each of its persons, and how many rows of the class are the person's."""
        numbers = number_pairs(self.units, self.owners)
        _, firsts, counts = np.unique(numbers, return_index=True, return_counts=True)
        return self.units[firsts], self.owners[firsts], counts.astype(np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """The number of different persons of each class."""
        return np.bincount(self._pairs[0], minlength=self.n_classes).astype(np.int64)

    def largest_parts(self) -> Shares:
        """[persons] the largest share of a class's rows that are the person's: how likely a row picked there is."""
        units, owners, numbers = self._pairs
        found = np.zeros(self.n_persons)
        np.maximum.at(found, owners, numbers / np.bincount(self.units, minlength=self.n_classes)[units])
        return found

    def highest(self, of_class: Shares) -> Shares:
        """For each person the highest of the figures of the classes that have a row of this person, else 0."""
        units, owners, _ = self._pairs
        found = np.zeros(self.n_persons)
        np.maximum.at(found, owners, of_class[units])
        return found

    def any_of(self, of_class: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The persons with a row in such a class."""
        return self.highest(of_class.astype(np.float64)) > 0

    def shares(self, column: int, kind_of_value: Ints | None = None, unknown: NDArray[np.bool_] | None = None) -> Any:
        """[classes, values] which share of a class's persons has a value in some row of the class (CSR).

        `kind_of_value`: kinds are counted in place of values. `unknown`: persons who are counted; None: all.
        """
        codes = self.original.sensitive[self.records, column].astype(np.int64)
        n_codes = self.original.domains.sensitive[column].n_codes
        if kind_of_value is not None:
            codes, n_codes = kind_of_value[codes], int(kind_of_value.max()) + 1
        entries = np.unique(number_pairs(number_pairs(self.units, self.owners), codes), return_index=True)[1]
        sizes = self.sizes
        if unknown is not None:
            entries = entries[unknown[self.owners[entries]]]
            units, owners, _ = self._pairs
            sizes = np.bincount(units[unknown[owners]], minlength=self.n_classes)
        counts = count_pairs(self.units[entries], codes[entries], (self.n_classes, n_codes))
        counts.data = counts.data / np.repeat(sizes, np.diff(counts.indptr))
        return counts

    def highest_by_number(self, column: int) -> Shares:
        """[persons] the highest certainty in a value if the attacker knows how many rows of a class are the
        person's.
        """
        if self.linked:
            return self.highest(np.asarray(self.shares(column).max(axis=1).todense()).reshape(-1))
        rows = self._values_of_rows(column)
        n_rows = np.bincount(self.units, minlength=self.n_classes)
        # The certainty rises with the rows that have the value, so the most frequent value of a class decides.
        most = np.asarray(rows.max(axis=1).todense()).reshape(-1).astype(np.int64)
        units, owners, numbers = self._pairs
        found = np.zeros(self.n_persons)
        np.maximum.at(found, owners, _find_chances(n_rows[units], most[units], numbers))
        return found

    def rises_by_number(self, column: int, shares: Shares) -> float:
        """The highest such certainty in a value over the value's share of persons."""
        if self.linked:
            by_class = self.shares(column)
            return float((by_class.data / shares[by_class.indices]).max(initial=0.0))
        rows = self._values_of_rows(column)
        n_rows = np.bincount(self.units, minlength=self.n_classes)
        # It rises with the number of the person's rows too.
        most = np.zeros(self.n_classes, dtype=np.int64)
        np.maximum.at(most, self._pairs[0], self._pairs[2])
        units = np.repeat(np.arange(self.n_classes), np.diff(rows.indptr))
        chances = _find_chances(n_rows[units], rows.data.astype(np.int64), most[units])
        return float((chances / shares[rows.indices]).max(initial=0.0))

    def _values_of_rows(self, column: int) -> Any:
        """[classes, values] how many rows have each value (CSR)."""
        n_codes = self.original.domains.sensitive[column].n_codes
        codes = self.original.sensitive[self.records, column]
        return sparse.csr_array(count_pairs(self.units, codes, (self.n_classes, n_codes)))

    def guesses(self, column: int) -> Ints:
        """[records] the value that most persons of the record's class have; of a record left out, that of all."""
        prior = np.asarray(self.original.prior(column))
        found = np.full(self.original.n_rows, int(np.argmax(prior)), dtype=np.int64)
        found[self.records] = honest_guesses(self.shares(column), prior)[self.units]
        return found


def is_linked(target: Target) -> bool:
    """Whether the release says which rows are the same person's."""
    return isinstance(target.release, Grouped) and target.release.linked is not None


def refuse_linked(target: Target) -> str | None:
    """Why an attack on single rows cannot be made, or None."""
    if not is_linked(target):
        return None
    return (
        "it reads rows one by one, and this release says which rows are the same person's, so it would know too little."
    )


def _class_linked(where: Whereabouts) -> Ints | None:
    """The class of each record's person by the sequence of cells; None without the record map, or a false one."""
    reading = where.reading
    if reading.record_of_row is None:
        return None
    found = expose_numbers(reading, None)
    if isinstance(found, str):
        return None
    classes = np.full(where.target.original.n_rows, -1, dtype=np.int64)
    classes[reading.record_of_row] = found[0]
    return classes


def _find_chances(n_rows: Ints, n_with_value: Ints, n_taken: Ints) -> Shares:
    kinds, places = np.unique(np.column_stack((n_rows, n_with_value, n_taken)), axis=0, return_inverse=True)
    chances = np.array([float(chance_of_value(*kind)) for kind in kinds.tolist()], dtype=np.float64)
    return chances[places.reshape(-1)]


def owners_of_records(original: Microdata) -> Ints:
    """The person of each record, numbered from 0 on."""
    assert original.persons is not None
    return renumber(original.persons).astype(np.int64)


def count_owners(original: Microdata, records: NDArray[np.bool_]) -> int:
    """How many records these are, or how many persons they belong to."""
    n_records = int(np.count_nonzero(records))
    return n_records if original.persons is None else len(np.unique(original.persons[records]))


def list_known(original: Microdata) -> Ints:
    """The records that attackers know: all, or one of each person, the same for every attack."""
    if original.persons is None:
        return np.arange(original.n_rows)
    order = Randomness(0).child("known rows").permutation(original.n_rows)
    firsts = np.unique(original.persons[order], return_index=True)[1]
    return np.sort(order[firsts])


def are_right(
    original: Microdata, column: int, guesses: Ints, records: Ints, kind_of_value: Ints | None = None
) -> NDArray[np.bool_]:
    """Which guesses about the owners of these records are right: about a person, if some row has the value.

    `kind_of_value`: kinds are guessed in place of values.
    """
    codes = original.sensitive[:, column].astype(np.int64)
    codes = codes if kind_of_value is None else kind_of_value[codes]
    if original.persons is None:
        return np.asarray(guesses == codes[records])
    n_codes = int(codes.max()) + 1
    owners = owners_of_records(original)
    owned = owners * n_codes + codes
    guesses = np.where(guesses < n_codes, guesses, _NOTHING)
    return np.isin(owners[records] * n_codes + guesses, owned) & (guesses >= 0)


def shares_of_values(original: Microdata, column: int) -> Shares:
    """The share of records, or of persons, that have each value."""
    return np.asarray(original.prior(column), dtype=np.float64) / max(original.n_persons, 1)


def count_kinds(original: Microdata, column: int, kind_of_value: Ints) -> NDArray[np.int64]:
    """How many persons (records, where each is a person) have a value of each kind."""
    n_kinds, kinds = int(kind_of_value.max()) + 1, kind_of_value[original.sensitive[:, column]]
    if original.persons is None:
        return np.bincount(kinds, minlength=n_kinds).astype(np.int64)
    counts = count_persons_by_value(original.persons, kinds, n_kinds)
    return PersonCounts.of(counts, original.n_persons)
