"""Linked rows: groups of whole persons, whose i-th visits share their cells.

A person's record is made of the columns that are constant for everybody, once, and of the others visit by visit, so
that its loss is the mean over visits. Persons are first parted into bands by their number of visits. All persons of a
band publish as many visits as the one with the fewest: further visits are left out, and counted. Which bands there are
is chosen by the loss, a visit that is left out counting as one whose cells say nothing. Inside a band the records of
persons are searched as rows are.

Under promises about values, a person has every value of a published visit. A ceiling on a value is tested by a column
that says whether a person has it; values that no two of which a person has share a column.

Members of a group have identical published sequences of cells. Groups with the same cells become one class in a
reader's eyes; it has the persons of both, so sizes add up and shares lie between those of the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups import Effort, Run
from lookalike.algorithms.groups.free import Box, free_groups
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.algorithms.shared.method import combine_ceilings, least_size, left_out
from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.persons import renumber
from lookalike.data.release import Grouped, LinkedRows, RecordMap, cover
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.errors import Infeasible
from lookalike.progress import silent
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_MOST_LENGTHS = 40
"""Numbers of visits that a band may begin with."""
_LARGER = 6
"""Bands are tried with so many times as many persons, again and again."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """Ceilings and floors on the persons who have a value of one sensitive column."""

    column: int
    ceilings: Sequence[Fraction]
    floors: Sequence[Fraction]
    color_of_code: Codes
    """The column that tests a value; -1: nothing limits it."""

    @property
    def n_colors(self) -> int:
        return int(self.color_of_code.max(initial=-1)) + 1

    def hold(self, counts: Ints, n_persons: int) -> bool:
        """Whether a group of so many persons, `counts` of whom have each value, keeps the bounds."""
        limits = zip(counts.tolist(), self.ceilings, self.floors, strict=True)
        return all(floor * n_persons <= count <= ceiling * n_persons for count, ceiling, floor in limits)


@dataclass(frozen=True, eq=False)
class Histories:
    """The records of a table by person, visit by visit."""

    data: Microdata
    requirements: Sequence[Requirement]

    @cached_property
    def owners(self) -> NDArray[np.int32]:
        assert self.data.persons is not None
        return renumber(self.data.persons)

    @cached_property
    def records(self) -> Ints:
        """Person after person, visits in order."""
        assert self.data.visits is not None
        return np.lexsort((self.data.visits, self.owners))

    @cached_property
    def lengths(self) -> Ints:
        """How many visits each person has."""
        return np.bincount(self.owners).astype(np.int64)

    @cached_property
    def starts(self) -> Ints:
        return np.concatenate(([0], np.cumsum(self.lengths))).astype(np.int64)

    @cached_property
    def is_constant(self) -> NDArray[np.bool_]:
        """[quasi-identifiers] whether all visits of each person have the same value."""
        firsts = self.records[self.starts[:-1]]
        return np.asarray((self.data.quasi == self.data.quasi[firsts][self.owners]).all(axis=0))

    @cached_property
    def bounds(self) -> tuple[Bounds, ...]:
        columns = sorted({one.column for one in self.requirements if one.column is not None})
        return tuple(self._bound(column) for column in columns)

    def _bound(self, column: int) -> Bounds:
        ceilings = combine_ceilings(self.data, self.requirements, column)
        given = [one.floors for one in self.requirements if one.column == column and one.floors is not None]
        floors = [max(shares) for shares in zip([Fraction(0)] * len(ceilings), *given, strict=True)]
        limited = [code for code, (top, low) in enumerate(zip(ceilings, floors, strict=True)) if top < 1 or low > 0]
        met = _values_met_together(self.owners, self.data.sensitive[:, column], len(ceilings))
        return Bounds(column, ceilings, floors, _color(limited, met))

    def visits(self, persons: Ints, n_visits: int) -> Ints:
        """[persons, visits] the records of their first visits."""
        places: Ints = self.starts[persons][:, None] + np.arange(n_visits)
        return np.asarray(self.records[places], dtype=np.int64)

    def having(self, persons: Ints, n_visits: int, bound: Bounds) -> tuple[Ints, Ints]:
        """Each of these persons, by place, once with every value of their first visits."""
        codes = self.data.sensitive[self.visits(persons, n_visits), bound.column]
        width = len(bound.ceilings)
        keys = np.unique(np.arange(len(persons))[:, None] * width + codes)
        return keys // width, keys % width

    def wide(self, persons: Ints, n_visits: int) -> Microdata:
        """One record per person: constant columns once, the others visit by visit, and columns that test values."""
        records = self.visits(persons, n_visits)
        domains: list[Domain] = []
        blocks: list[Codes] = []
        for place, domain in enumerate(self.data.domains.quasi):
            for visit in range(1 if self.is_constant[place] else n_visits):
                weight = domain.attribute.weight / (1 if self.is_constant[place] else n_visits)
                attribute = replace(domain.attribute, name=f"{domain.name} {visit + 1}", weight=weight)
                domains.append(replace(domain, attribute=attribute))
                blocks.append(self.data.quasi[records[:, visit], place])
        tests: list[Domain] = []
        answers: list[Codes] = []
        for bound in self.bounds:
            own, codes = self.having(persons, n_visits, bound)
            for color in range(bound.n_colors):
                mine = bound.color_of_code[codes] == color
                has = np.zeros(len(persons), dtype=np.int32)
                # Code 0: none of the values of this column.
                has[own[mine]] = 1 + codes[mine]
                tests.append(_test_domain(f"test {len(tests)}", len(bound.ceilings) + 1))
                answers.append(has)
        nothing = np.empty((len(persons), 0), dtype=np.int32)
        return Microdata(
            self.data.schema,
            Domains(tuple(domains), tuple(tests), ()),
            np.column_stack([nothing, *blocks]).astype(np.int32),
            np.column_stack([nothing, *answers]).astype(np.int32),
            nothing,
        )

    def wide_requirements(self) -> list[Requirement]:
        """What groups of such records must satisfy."""
        asked = [Requirement(min_size=least_size(self.requirements))]
        column = 0
        for bound in self.bounds:
            for color in range(bound.n_colors):
                mine = bound.color_of_code == color
                tops = [top if own else Fraction(1) for top, own in zip(bound.ceilings, mine, strict=True)]
                lows = [low if own else Fraction(0) for low, own in zip(bound.floors, mine, strict=True)]
                floors = (Fraction(0), *lows) if any(lows) else None
                asked.append(Requirement(column=column, ceilings=(Fraction(1), *tops), floors=floors))
                column += 1
        return asked


def _test_domain(name: str, n_codes: int) -> Domain:
    attribute = Attribute(name=name, role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    return Domain(attribute, ValueType.INTEGER, np.arange(n_codes), False, 0.0, float(n_codes - 1), n_codes, False)


def _values_met_together(owners: Codes, codes: Codes, n_codes: int) -> NDArray[np.bool_]:
    """[codes, codes] whether some person has both values."""
    from scipy.sparse import csr_array

    pairs = np.unique(owners.astype(np.int64) * n_codes + codes)
    has = csr_array(
        (np.ones(len(pairs), dtype=np.int32), (pairs // n_codes, pairs % n_codes)),
        shape=(int(owners.max()) + 1, n_codes),
    )
    return np.asarray((has.T @ has).toarray() > 0)


def _color(limited: Sequence[int], met: NDArray[np.bool_]) -> Codes:
    """Columns for values so that no person has two values of one column; values met with many others come first."""
    colors = np.full(len(met), -1, dtype=np.int32)
    for code in sorted(limited, key=lambda one: -int(met[one].sum())):
        taken = {int(color) for color in colors[met[code]] if color >= 0}
        colors[code] = next(color for color in range(len(met)) if color not in taken)
    return colors


@dataclass(frozen=True)
class Band:
    """Persons with from `shortest` to `longest` visits, of which the first `shortest` are published."""

    shortest: int
    longest: int

    def members(self, histories: Histories) -> Ints:
        lengths = histories.lengths
        return np.flatnonzero((lengths >= self.shortest) & (lengths <= self.longest))


def group_persons(
    data: Microdata, requirements: Sequence[Requirement], cell: int, effort: Effort, run: Run
) -> NDArray[np.int32]:
    """The unit of each record: a visit of a group; -1: a visit that is left out."""
    histories = Histories(data, requirements)
    bands = _choose_bands(histories, run.rng.child("bands"))
    asked = histories.wide_requirements()
    n_done, n_units = 0, 0
    units = np.full(data.n_rows, -1, dtype=np.int32)
    for number, band in enumerate(bands):
        persons = band.members(histories)
        wide = histories.wide(persons, band.shortest)

        def report(share: float, loss: float, before: int = n_done, here: int = len(persons)) -> None:
            run.report((before + share * here) / len(histories.lengths), loss)

        own = effort.scale_to(len(persons))
        if own.seconds is not None:
            own = replace(own, seconds=own.seconds * len(persons) / len(histories.lengths))
        groups = free_groups(wide, asked, cell, own, replace(run, rng=run.rng.child("band", number), report=report))
        records = histories.visits(persons, band.shortest)
        for members in groups:
            units[records[members]] = n_units + np.arange(band.shortest)
            n_units += band.shortest
        n_done += len(persons)
    return units


def _choose_bands(histories: Histories, rng: Randomness) -> list[Band]:
    """Bands that keep the promise as a whole; among those with several least numbers of persons, by the loss."""
    least = least_size(histories.requirements)
    tried = dict[tuple[Band, ...], None]()
    n_persons, smallest = len(histories.lengths), least
    table = BandTable.of(histories)
    while smallest <= max(n_persons, least):
        found = table.best(smallest)
        if found is None:
            break
        tried[tuple(found)] = None
        smallest = max(smallest + 1, _LARGER * smallest)
    whole = table.best(n_persons)
    if whole is not None:
        tried[tuple(whole)] = None
    if not tried:
        raise Infeasible(
            "The promise cannot be kept for linked rows: persons with about the same number of rows are too few, or "
            "too many of them have the same value in some row. Publish fewer rows per person (--contribution C, or "
            "--rows one), rows apart (--rows apart), or promise less.",
            None,
        )
    if len(tried) == 1:
        return list(next(iter(tried)))
    return min(map(list, tried), key=lambda bands: _estimate_loss(histories, bands, rng))


def _estimate_loss(histories: Histories, bands: Sequence[Band], rng: Randomness) -> float:
    """The loss of Mondrian's cuts in these bands, summed over rows; rows that are left out lose everything."""
    asked = histories.wide_requirements()
    loss = 0.0
    for number, band in enumerate(bands):
        persons = band.members(histories)
        wide = histories.wide(persons, band.shortest)
        groups, _ = Mondrian().partition(wide, asked, rng.child("trial", number), silent)
        box = Box(wide, axes_of(wide), rule_of(wide, ()), (), np.arange(wide.n_rows), Randomness(0))
        box.begin(groups.astype(np.int64))
        n_cut = int((histories.lengths[persons] - band.shortest).sum())
        weight = sum(domain.attribute.weight for domain in histories.data.domains.quasi)
        loss += box.loss() * band.shortest + n_cut * weight
    return loss


@dataclass(frozen=True, eq=False)
class BandTable:
    """Which bands keep the promise as a whole, and how many visits each leaves out."""

    lengths: list[int]
    """Every number of visits that occurs, rising."""
    n_persons: Ints
    """[lengths]"""
    firsts: list[int]
    """Places of the lengths that a band may begin with."""
    keeps: NDArray[np.bool_]
    """[firsts, lengths] whether the band from one to the other keeps all bounds."""

    @classmethod
    def of(cls, histories: Histories) -> BandTable:
        lengths, place_of_person, n_persons = np.unique(histories.lengths, return_inverse=True, return_counts=True)
        place_of_person = place_of_person.reshape(-1)
        places = np.arange(len(lengths))
        if len(lengths) > _MOST_LENGTHS:
            shares = np.searchsorted(np.cumsum(n_persons), np.linspace(0, len(place_of_person), _MOST_LENGTHS))
            places = np.unique(np.minimum(np.append(0, shares), len(lengths) - 1))
        keeps = np.zeros((len(places), len(lengths)), dtype=bool)
        for row, first in enumerate(places.tolist()):
            persons = np.flatnonzero(place_of_person >= first)
            sizes = np.cumsum(n_persons[first:])
            keeps[row, first:] = True
            for bound in histories.bounds:
                own, codes = histories.having(persons, int(lengths[first]), bound)
                counts = np.zeros((len(lengths), len(bound.ceilings)), dtype=np.int64)
                np.add.at(counts, (place_of_person[persons][own], codes), 1)
                sums = np.cumsum(counts[first:], axis=0)
                for last, (size, count) in enumerate(zip(sizes.tolist(), sums, strict=True)):
                    keeps[row, first + last] &= bound.hold(count, size)
        return cls(lengths.tolist(), n_persons, places.tolist(), keeps)

    def best(self, least: int) -> list[Band] | None:
        """The bands of at least so many persons that leave out the fewest visits; None if there are none."""
        n_lengths = len(self.lengths)
        sizes = np.concatenate(([0], np.cumsum(self.n_persons)))
        n_visits = np.concatenate(([0], np.cumsum(self.n_persons * np.array(self.lengths))))
        # By the place at which a band begins: the visits left out from there on, and where the band ends.
        costs, ends = {n_lengths: 0}, dict[int, int]()
        for row, first in reversed(list(enumerate(self.firsts))):
            for last in range(first, n_lengths):
                size = int(sizes[last + 1] - sizes[first])
                if size < least or not self.keeps[row, last] or last + 1 not in costs:
                    continue
                cut = int(n_visits[last + 1] - n_visits[first]) - size * self.lengths[first]
                if cut + costs[last + 1] < costs.get(first, math.inf):
                    costs[first], ends[first] = cut + costs[last + 1], last
        if 0 not in costs:
            return None
        bands, first = [], 0
        while first < n_lengths:
            bands.append(Band(self.lengths[first], self.lengths[ends[first]]))
            first = ends[first] + 1
        return bands


def publish_linked(data: Microdata, unit_of_record: NDArray[np.int32], rng: Randomness) -> tuple[Grouped, RecordMap]:
    """Publish the cells of each unit; rows are sorted by person numbers, which are their own permutation."""
    assert data.persons is not None
    assert data.visits is not None
    owners = renumber(data.persons)
    numbers = 1 + rng.child("person numbers").permutation(int(owners.max()) + 1)
    kept = np.flatnonzero(unit_of_record >= 0)
    record_of_row = kept[np.lexsort((data.visits[kept], numbers[owners[kept]]))]
    unit_of_row = unit_of_record[record_of_row]
    n_units = int(unit_of_row.max()) + 1
    extents = tuple(
        cover(domain, data.quasi[record_of_row, index], unit_of_row, n_units)
        for index, domain in enumerate(data.domains.quasi)
    )
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=unit_of_row,
        sensitive=data.sensitive[record_of_row],
        carried=data.carried[record_of_row],
        withheld=left_out(data, unit_of_record < 0),
        linked=LinkedRows(numbers[owners[record_of_row]], data.visits[record_of_row].astype(np.int64) + 1),
    )
    return release, RecordMap(record_of_row)
