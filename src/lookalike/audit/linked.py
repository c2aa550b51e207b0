"""Linked rows: what a reader sees of a person is a sequence of cells, and persons with the same sequence are a class.

All of it is worked out from the published tables: the rows of each person number, in the order of their visit numbers,
and the class of each such sequence. The size of a class is its number of person numbers, and the certainty about a
value is
the number of them that have it in some row, over that size. The attacker knows all quasi-identifiers of all rows of a
person, and how many there are.

That a person number stands for one person, and for all published rows of that person, is its own check. With the
private record map it is read off. Without it a one-to-one assignment is looked for, in which the first visits of each
person fit a number's rows visit by visit and have its values; where there are too many pairs to list, or the order of
visits is not known, it is left open, and so is every promise.

Person numbers must say nothing else: as rows are, they are held against the order and the columns of the original.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.containment import holds_each
from lookalike.audit.order import row_order
from lookalike.audit.reading import Ints, Reading, joint_ids, send_flow
from lookalike.audit.verdicts import OPEN, Check
from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.persons import number_pairs
from lookalike.data.release import Grouped, LinkedRows, Sets
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.errors import counted

_LINKED, _NUMBERS = "linked rows", "person numbers"
_PAIRS = 5_000_000
"""Most pairs of a person and a kind of person number that are looked at without the map."""
NO_MAP = (
    f"{OPEN}: whether each person number stands for one person. Audit it with the private folder (--private DIR), if "
    "the publisher kept one"
)


@dataclass(frozen=True, eq=False)
class PublishedPersons:
    """The rows of each person number, in the order of visits."""

    rows: Ints
    starts: Ints
    class_of_person: Ints
    """Equal for equal sequences of cells."""

    @classmethod
    def of(cls, reading: Reading, linked: LinkedRows) -> PublishedPersons:
        rows = np.lexsort((linked.visit_of_row, linked.person_of_row)).astype(np.int64)
        lengths = np.unique(linked.person_of_row, return_counts=True)[1]
        starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        return cls(rows, starts, number_sequences(reading.boxes.class_of_row[rows], starts)[-1])

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    @property
    def person_of_row(self) -> Ints:
        """The place of each row's person, in the order of the numbers."""
        owners = np.empty(len(self.rows), dtype=np.int64)
        owners[self.rows] = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return owners


@dataclass(frozen=True, eq=False)
class _Assigned:
    """The person behind each person number, as a place among the persons of the original; -1: not known."""

    person_of_number: Ints
    problem: str | None = None
    is_open: bool = False


def number_sequences(items: Ints, starts: Ints, longest: int | None = None) -> list[Ints]:
    """Numbers for sequences items[starts[i]:starts[i + 1]]: after 1, 2, ... items, equal for those equal so far.

    A sequence that has ended keeps the number of its end, which no longer one has.
    """
    lengths = np.diff(starts)
    ids = np.zeros(len(lengths), dtype=np.int64)
    found = []
    for place in range(int(lengths.max(initial=0)) if longest is None else longest):
        goes_on = lengths > place
        after = np.zeros(len(lengths), dtype=np.int64)
        after[goes_on] = 1 + items[starts[:-1][goes_on] + place]
        ids = joint_ids((ids, after), len(ids))
        found.append(ids)
    return found or [ids]


def check_linked(reading: Reading, linked: LinkedRows) -> list[Check]:
    """Whether person numbers link the rows of one person, and say nothing else."""
    problem = _find_problem(reading, linked)
    if problem is not None:
        return [Check(_LINKED, False, problem)]
    persons, assigned = _read_persons(reading), _assign_persons(reading)
    if assigned.is_open:
        return [Check.undecided(_LINKED, assigned.problem or NO_MAP)]
    if assigned.problem is not None:
        return [Check(_LINKED, False, assigned.problem)]
    many = counted(len(persons.lengths), "person number")
    found = [Check(_LINKED, True, f"{many}, each with the first visits of one person, in order")]
    order = row_order(_read_numbers(reading, persons, assigned))
    words = order.detail.replace("rows", "person numbers").replace("Shuffle the", "Draw")
    return [*found, replace(order, name=_NUMBERS, detail=words)]


def _find_problem(reading: Reading, linked: LinkedRows) -> str | None:
    """What is wrong with the numbers, seen from the release alone."""
    if reading.original.persons is None:
        return "rows carry person numbers, but no column of the original identifies the persons (--person COLUMN)"
    order = np.lexsort((linked.visit_of_row, linked.person_of_row))
    owners, visits = linked.person_of_row[order], linked.visit_of_row[order]
    wanted = 1 + np.arange(len(owners)) - np.searchsorted(owners, owners)
    wrong = len(np.unique(owners[visits != wanted]))
    if wrong:
        return f"the visits of {counted(wrong, 'person number')} are not numbered 1, 2, 3 ..., each once"
    n_numbers, n_persons = len(np.unique(owners)), reading.original.n_persons
    return f"{n_numbers:,} person numbers for {counted(n_persons, 'person')}" if n_numbers != n_persons else None


def _read_persons(reading: Reading) -> PublishedPersons:
    """Worked out once."""
    assert isinstance(reading.release, Grouped)
    assert reading.release.linked is not None
    if reading.of_linked.get("persons") is None:
        reading.of_linked["persons"] = PublishedPersons.of(reading, reading.release.linked)
    found = reading.of_linked["persons"]
    assert isinstance(found, PublishedPersons)
    return found


def _assign_persons(reading: Reading) -> _Assigned:
    """Worked out once."""
    if reading.of_linked.get("assigned") is None:
        by_map = reading.record_of_row is not None
        reading.of_linked["assigned"] = _read_map(reading) if by_map else _find_assignment(reading)
    found = reading.of_linked["assigned"]
    assert isinstance(found, _Assigned)
    return found


@dataclass(frozen=True, eq=False)
class _Originals:
    """The records of each person of the original, in the order of visits; persons by number."""

    owners: Ints
    records: Ints
    starts: Ints

    @classmethod
    def of(cls, original: Microdata) -> _Originals:
        assert original.persons is not None
        owners = np.unique(original.persons, return_inverse=True)[1].reshape(-1).astype(np.int64)
        # Without its own order, a person's records are in the order of the table.
        visits = np.arange(original.n_rows) if original.visits is None else original.visits
        records = np.lexsort((visits, owners)).astype(np.int64)
        return cls(owners, records, np.concatenate(([0], np.cumsum(np.bincount(owners)))).astype(np.int64))


def _read_map(reading: Reading) -> _Assigned:
    """By the private record map: rows of a number are the first visits of one person, in order."""
    assert reading.record_of_row is not None
    persons, originals = _read_persons(reading), _Originals.of(reading.original)
    named = reading.record_of_row
    if len(named) != len(persons.rows) or named.min(initial=0) < 0 or named.max(initial=-1) >= len(originals.owners):
        return _Assigned(np.full(len(persons.lengths), -1), "the record map does not name a record of each row")
    behind = named[persons.rows]
    owners = originals.owners[behind]
    firsts = owners[persons.starts[:-1]]
    numbers = np.repeat(np.arange(len(persons.lengths)), persons.lengths)
    several = len(np.unique(numbers[owners != firsts[numbers]]))
    if several:
        return _Assigned(firsts, f"{counted(several, 'person number')} stand for rows of several persons")
    doubled = len(firsts) - len(np.unique(firsts))
    if doubled:
        return _Assigned(firsts, f"{counted(doubled, 'person')} have rows under several person numbers")
    if reading.original.visits is not None:
        places = np.arange(len(persons.rows)) - persons.starts[:-1][numbers]
        moved = len(np.unique(numbers[originals.records[originals.starts[owners] + places] != behind]))
        if moved:
            return _Assigned(firsts, f"the rows of {counted(moved, 'person number')} are not the first visits in order")
    return _Assigned(firsts)


def _find_assignment(reading: Reading) -> _Assigned:
    """Without the map: a person for each number, whose first visits fit its rows and have their values."""
    persons, originals = _read_persons(reading), _Originals.of(reading.original)
    n_numbers = len(persons.lengths)
    values = np.concatenate((reading.value_of_row[persons.rows], reading.value_of_record[originals.records]))
    starts = np.concatenate((persons.starts[:-1], persons.starts[-1] + originals.starts))
    longest = int(persons.lengths.max(initial=1))
    sequences = number_sequences(values, starts, longest)
    # Numbers of one class with one sequence of values are interchangeable: one item.
    items, item_of_number, capacities = np.unique(
        number_pairs(persons.class_of_person, sequences[-1][:n_numbers]), return_inverse=True, return_counts=True
    )
    item_of_number = item_of_number.reshape(-1)
    samples = np.empty(len(items), dtype=np.int64)
    samples[item_of_number] = np.arange(n_numbers)
    owners, fitting = _list_pairs(persons, originals, sequences, samples, n_numbers)
    if owners is None:
        return _Assigned(np.full(n_numbers, -1), NO_MAP, is_open=True)
    for place in range(longest):
        goes_on = persons.lengths[samples[fitting]] > place
        rows = persons.rows[persons.starts[samples[fitting[goes_on]]] + place]
        records = originals.records[originals.starts[owners[goes_on]] + place]
        held = np.ones(len(owners), dtype=bool)
        held[goes_on] = holds_each(
            reading.boxes.cells, reading.boxes.class_of_row[rows], np.ascontiguousarray(reading.original.quasi), records
        )
        owners, fitting = owners[held], fitting[held]
    n_persons = len(originals.starts) - 1
    bounds = np.searchsorted(owners, np.arange(n_persons + 1)).astype(np.int64)
    if not len(owners):
        return _Assigned(np.full(n_numbers, -1), _describe_left(n_persons))
    sent, kinds, items_of_sent = send_flow(
        bounds, fitting.astype(np.int32), np.ones(n_persons, dtype=np.int64), capacities
    )
    kinds, items_of_sent = kinds[sent > 0], items_of_sent[sent > 0]
    if len(kinds) < n_persons:
        return _Assigned(np.full(n_numbers, -1), _describe_left(n_persons - len(kinds)))
    found = np.empty(n_numbers, dtype=np.int64)
    found[np.argsort(item_of_number, kind="stable")] = kinds[np.argsort(items_of_sent, kind="stable")]
    return _Assigned(found)


def _describe_left(n_persons: int) -> str:
    many = counted(n_persons, "person")
    return f"{many} have no person number whose rows they fit, visit by visit, with their own values"


def _list_pairs(
    persons: PublishedPersons, originals: _Originals, sequences: list[Ints], samples: Ints, n_numbers: int
) -> tuple[Ints | None, Ints]:
    """Pairs of a person and an item with the values of the person's first visits, by person; None: too many."""
    all_owners, all_items, n_pairs = [], [], 0
    lengths = np.diff(originals.starts)
    for length in np.unique(persons.lengths[samples]).tolist():
        own = np.flatnonzero(persons.lengths[samples] == length)
        candidates = np.flatnonzero(lengths >= length)
        keys = sequences[length - 1][samples[own]]
        order = np.argsort(keys, kind="stable")
        wanted = sequences[length - 1][n_numbers + candidates]
        firsts = np.searchsorted(keys[order], wanted)
        numbers = np.searchsorted(keys[order], wanted, side="right") - firsts
        n_pairs += int(numbers.sum())
        if n_pairs > _PAIRS:
            return None, samples
        places = np.arange(int(numbers.sum())) - np.repeat(np.cumsum(numbers) - numbers, numbers)
        all_owners.append(np.repeat(candidates, numbers))
        all_items.append(own[order[np.repeat(firsts, numbers) + places]])
    owners, items = np.concatenate(all_owners), np.concatenate(all_items)
    order = np.argsort(owners, kind="stable")
    return owners[order], items[order]


def expose_numbers(reading: Reading, column: int | None) -> tuple[Ints, Ints, Ints | None] | str:
    """Class and person number of each published row, with its value; or why promises are not decided."""
    assert isinstance(reading.release, Grouped)
    assert reading.release.linked is not None
    problem = _find_problem(reading, reading.release.linked)
    if problem is not None:
        return f"not decided: {problem}"
    assigned = _assign_persons(reading)
    if assigned.problem is not None:
        return assigned.problem if assigned.is_open else f"not decided: {assigned.problem}"
    persons = _read_persons(reading)
    owners = persons.person_of_row
    codes = None if column is None else reading.release.sensitive[:, column].astype(np.int64)
    return persons.class_of_person[owners], owners, codes


def _read_numbers(reading: Reading, persons: PublishedPersons, assigned: _Assigned) -> Reading:
    """Persons as records and person numbers as rows in their order: what the tests of row order look at.

    A number is known by its class and its sequence of values. Persons come in the order of their first records, with
    every column of the original as it is in their first and in their last record.
    """
    original, originals = reading.original, _Originals.of(reading.original)
    firsts = np.minimum.reduceat(originals.records, originals.starts[:-1])
    in_order = np.argsort(firsts, kind="stable")
    number_of_person = np.empty(len(firsts), dtype=np.int64)
    number_of_person[assigned.person_of_number] = np.arange(len(firsts))
    values = number_sequences(reading.value_of_row[persons.rows], persons.starts)[-1]
    numbers = number_of_person[in_order]
    ends = {
        "first": originals.records[originals.starts[:-1]][in_order],
        "last": originals.records[originals.starts[1:] - 1][in_order],
    }
    columns: dict[str, Codes] = {f"numbers of rows per person ({len(firsts)})": np.diff(originals.starts)[in_order]}
    blocks = np.hstack((original.quasi, original.sensitive, original.carried))
    named = dict(zip((domain.name for domain in original.domains.all), blocks.T, strict=True)) | dict(
        reading.unpublished
    )
    for end, records in ends.items():
        columns |= {f"{name} ({end} row)": ranks[records] for name, ranks in named.items()}
    domains = Domains((_plain_domain("cells", persons.class_of_person),), (_plain_domain("values", values),), ())
    n_classes = domains.quasi[0].n_codes
    nothing = np.empty((len(firsts), 0), dtype=np.int32)
    release = Grouped(
        domains=domains,
        extents=(Sets(np.arange(n_classes + 1), np.arange(n_classes, dtype=np.int32)),),
        group_of_row=persons.class_of_person.astype(np.int32),
        sensitive=values.reshape(-1, 1).astype(np.int32),
        carried=nothing,
    )
    data = Microdata(
        original.schema,
        domains,
        persons.class_of_person[numbers].reshape(-1, 1).astype(np.int32),
        values[numbers].reshape(-1, 1).astype(np.int32),
        nothing,
    )
    return Reading(release, data, columns)


def _plain_domain(name: str, codes: NDArray[np.int64]) -> Domain:
    n_codes = int(codes.max(initial=0)) + 1
    attribute = Attribute(name=name, role=Role.QUASI, kind=Kind.CATEGORICAL)
    return Domain(attribute, ValueType.INTEGER, np.arange(n_codes), False, 0.0, float(n_codes), n_codes, False)
