"""What leaves the package (`Release`) and what stays (`RecordMap`).

Four forms:

    Grouped      groups of records that share one generalised row; sensitive values intact
    Matched      every published row has its own extents and fits several original records
    Bucketized   exact quasi-identifiers and sensitive values in two tables, joined by a bucket number
    Perturbed    exact quasi-identifiers, sensitive values redrawn by a published matrix

A published cell is an extent: a run of codes (`Ranges`) or a set of codes (`Sets`), kept once per unit (a group,
or a row of a Matched release). Writers take a `Release` and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Domains
from lookalike.data.schema import Kind, Role
from lookalike.errors import DataError, counted, quoted


@dataclass(frozen=True, eq=False)
class Ranges:
    """One run of codes a unit, both ends included; `highs < lows` is an empty run.

    `missing` says that the cell may also hide a missing value (of a taxonomy, missing is a leaf like any other, and
    `missing` stays False). `low_points` and `high_points` are what is printed and what loss is measured on; they can
    lie outside the values that occur when another tool rounded them.
    """

    lows: Codes
    highs: Codes
    missing: NDArray[np.bool_]
    low_points: NDArray[np.float64]
    high_points: NDArray[np.float64]

    @classmethod
    def of(cls, domain: Domain, lows: Codes, highs: Codes, missing: NDArray[np.bool_] | None = None) -> Ranges:
        """Ranges that end in values of the domain."""
        missing = np.zeros(len(lows), dtype=bool) if missing is None else missing
        points = np.append(domain.points, np.nan)
        if domain.taxonomy is not None:
            points = np.arange(domain.n_codes + 1, dtype=np.float64)
        empty = highs < lows
        return cls(
            lows,
            highs,
            missing,
            np.where(empty, np.nan, points[np.where(empty, 0, lows)]),
            np.where(empty, np.nan, points[np.where(empty, 0, highs)]),
        )

    def __len__(self) -> int:
        return len(self.lows)


@dataclass(frozen=True, eq=False)
class Sets:
    """One set of codes a unit: unit u holds members[starts[u]:starts[u + 1]], sorted, missing a code like any other."""

    starts: NDArray[np.int64]
    members: Codes

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.starts)


Extents = Ranges | Sets
_MOST_MEMBERS = 100_000_000
"""Values that the sets of a column may list together: 400 MB."""
COUNTERFEITS = "counterfeits"
"""The table that says how many rows of each group are made up."""


@dataclass(frozen=True)
class Withheld:
    """Records left out and records made up, counted by sensitive value (one array a sensitive column)."""

    suppressed: tuple[NDArray[np.int64], ...] = ()
    dummies: tuple[NDArray[np.int64], ...] = ()
    n_suppressed: int = 0
    n_dummies: int = 0
    indistinguishable: bool = False
    """Whether dummies look like any other record; then nothing is published about their values. Otherwise a reader sets
    them aside."""


@dataclass(frozen=True)
class ExactCells:
    """A published column of plain values."""

    domain: Domain
    codes: Codes
    role: Role


@dataclass(frozen=True)
class ExtentCells:
    """A published column of extents, kept once per unit."""

    domain: Domain
    extents: Extents
    unit_of_row: NDArray[np.int32]
    role: Role = Role.QUASI


BUCKET, _PERSON, _VISIT, _COUNT = "bucket", "person", "visit", "count"
"""Roles, and names, of columns of numbers."""


@dataclass(frozen=True)
class NumberCells:
    """A published column of plain whole numbers that is no attribute of a person: a bucket number, or how many rows."""

    name: str
    numbers: NDArray[np.int64]
    role: str = BUCKET


Cells = ExactCells | ExtentCells | NumberCells


@dataclass(frozen=True)
class PublishedTable:
    """One table as it will be written."""

    name: str
    columns: tuple[Cells, ...]

    @property
    def n_rows(self) -> int:
        cells = self.columns[0]
        if isinstance(cells, NumberCells):
            return len(cells.numbers)
        return len(cells.codes if isinstance(cells, ExactCells) else cells.unit_of_row)


def _exact_columns(domains: Iterable[Domain], codes: Codes, role: Role) -> tuple[ExactCells, ...]:
    return tuple(ExactCells(domain, codes[:, index], role) for index, domain in enumerate(domains))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Published:
    """What every form has: sensitive values and what is carried beside them, row by row."""

    domains: Domains
    sensitive: Codes
    carried: Codes
    withheld: Withheld = field(default_factory=Withheld)

    @property
    def n_rows(self) -> int:
        return len(self.sensitive)

    def _value_columns(self) -> tuple[ExactCells, ...]:
        return (
            *_exact_columns(self.domains.sensitive, self.sensitive, Role.SENSITIVE),
            *_exact_columns(self.domains.carried, self.carried, Role.CARRIED),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Generalised(_Published):
    """Extents in place of quasi-identifiers."""

    headline: ClassVar[tuple[str, str]] = ("gcp", "GCP {:.4f}")
    """Every form has one: the metric that says most about its loss, and how the figure is written."""
    extents: tuple[Extents, ...]
    """One a quasi-identifier."""

    @property
    def unit_of_row(self) -> NDArray[np.int32]:
        raise NotImplementedError

    def tables(self) -> tuple[PublishedTable, ...]:
        columns, units = zip(self.domains.quasi, self.extents, strict=True), self.unit_of_row
        cells = (ExtentCells(domain, held, units) for domain, held in columns)
        return (PublishedTable("release", (*cells, *self._value_columns())),)


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """Which rows belong to the same person, where a release says so."""

    person_of_row: NDArray[np.int64]
    """A number per person, drawn anew for every release: from 1 on, without gaps."""
    visit_of_row: NDArray[np.int64]
    """The place of the row among those of its person, from 1 on."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouped(_Generalised):
    """Homogeneous generalisation: rows of a group, which is a unit, share one extent per quasi-identifier.

    Linked rows are generalised by whole persons: a unit then is one visit of the persons of a group.
    """

    form: ClassVar[str] = "grouped"
    group_of_row: NDArray[np.int32]
    linked: LinkedRows | None = None
    made_up_of_group: NDArray[np.int64] | None = None
    """How many rows of each group are made up, where the release declares that; its groups are then numbered."""

    def tables(self) -> tuple[PublishedTable, ...]:
        (table,) = super().tables()
        if self.linked is not None:
            numbers = (
                NumberCells(_PERSON, self.linked.person_of_row, _PERSON),
                NumberCells(_VISIT, self.linked.visit_of_row, _VISIT),
            )
            return (PublishedTable(table.name, (*numbers, *table.columns)),)
        if self.made_up_of_group is None:
            return (table,)
        number = NumberCells("group", self.group_of_row.astype(np.int64))
        groups = NumberCells("group", np.arange(len(self.made_up_of_group), dtype=np.int64))
        made_up = NumberCells(COUNTERFEITS, self.made_up_of_group, _COUNT)
        return PublishedTable(table.name, (number, *table.columns)), PublishedTable(COUNTERFEITS, (groups, made_up))

    @property
    def unit_of_row(self) -> NDArray[np.int32]:
        return self.group_of_row


@dataclass(frozen=True, eq=False, kw_only=True)
class Matched(_Generalised):
    """Heterogeneous generalisation: every published row is a unit with its own extents."""

    form: ClassVar[str] = "matched"

    @property
    def unit_of_row(self) -> NDArray[np.int32]:
        return np.arange(self.n_rows, dtype=np.int32)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bucketized(_Published):
    """Two tables: exact quasi-identifiers with a bucket number, and sensitive values with a bucket number."""

    form: ClassVar[str] = "bucketized"
    headline: ClassVar[tuple[str, str]] = ("msbs", "MSBS {:.3g}")
    quasi: Codes
    bucket_of_quasi: NDArray[np.int32]
    bucket_of_sensitive: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        return len(self.quasi)

    def tables(self) -> tuple[PublishedTable, ...]:
        of_quasi = NumberCells(BUCKET, self.bucket_of_quasi.astype(np.int64))
        of_values = NumberCells(BUCKET, self.bucket_of_sensitive.astype(np.int64))
        known = _exact_columns(self.domains.quasi, self.quasi, Role.QUASI)
        return PublishedTable("qit", (*known, of_quasi)), PublishedTable("sat", (of_values, *self._value_columns()))


@dataclass(frozen=True, eq=False)
class Randomizer:
    """The matrix of a perturbed column in exact integers: value c became r with probability weights[r, c] / total.

    Every column of `weights` sums to `total`.
    """

    weights: NDArray[np.int64]
    total: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Perturbed(_Published):
    """Exact quasi-identifiers; every sensitive value redrawn independently by a published matrix."""

    form: ClassVar[str] = "perturbed"
    headline: ClassVar[tuple[str, str]] = ("values_changed", "{:.0%} changed")
    quasi: Codes
    randomizers: tuple[Randomizer, ...]
    """One a sensitive column."""

    def tables(self) -> tuple[PublishedTable, ...]:
        known = _exact_columns(self.domains.quasi, self.quasi, Role.QUASI)
        return (PublishedTable("release", (*known, *self._value_columns())),)


Release = Grouped | Matched | Bucketized | Perturbed
FORMS: dict[str, type[Release]] = {kind.form: kind for kind in (Grouped, Matched, Bucketized, Perturbed)}


@dataclass(frozen=True, eq=False)
class MatchGraph:
    """The assigned graph of a Matched release: original record i may be behind rows[starts[i]:starts[i + 1]].

    Private; an audit of level A needs it.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]

    def renumber(self, record_of_number: NDArray[np.int64]) -> MatchGraph:
        """The graph of the original's records, of one whose records were numbered anew."""
        number_of_record = np.argsort(record_of_number)
        lengths = np.diff(self.starts)[number_of_record]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(len(self.rows)) - np.repeat(starts[:-1] - self.starts[number_of_record], lengths)
        return MatchGraph(starts, self.rows[places])


@dataclass(frozen=True, eq=False)
class RecordMap:
    """Which record became which row. Stays in the package; needed only for scoring."""

    record_of_row: NDArray[np.int64]
    """Of the sensitive side (sat) for bucketized releases."""
    record_of_quasi_row: NDArray[np.int64] | None = None
    """Of the quasi-identifier side (qit) where it is shuffled on its own."""
    graph: MatchGraph | None = None
    remarks: tuple[str, ...] = ()
    """What the method has to say about this run, for the person who publishes."""

    def renumber(self, record_of_number: NDArray[np.int64]) -> RecordMap:
        """The same in the original's record numbers, after the method worked on records that were numbered anew."""

        def records(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
            # Rows that were made up belong to record -1.
            return np.where(numbers < 0, numbers, record_of_number[numbers])

        quasi_rows = None if self.record_of_quasi_row is None else records(self.record_of_quasi_row)
        graph = None if self.graph is None else self.graph.renumber(record_of_number)
        return replace(self, record_of_row=records(self.record_of_row), record_of_quasi_row=quasi_rows, graph=graph)


def cover(domain: Domain, codes: Codes, unit_of_record: NDArray[Any], n_units: int) -> Extents:
    """The least extents that hold each unit's records: min and max, the set of values, or the taxonomy node."""
    if domain.in_ranges:
        real = codes < domain.missing_code if domain.taxonomy is None else np.ones(len(codes), dtype=bool)
        lows = np.full(n_units, np.iinfo(np.int32).max, dtype=np.int32)
        highs = np.full(n_units, -1, dtype=np.int32)
        np.minimum.at(lows, unit_of_record[real], codes[real])
        np.maximum.at(highs, unit_of_record[real], codes[real])
        lows[highs < 0] = 0
        if domain.taxonomy is not None:
            nodes = domain.taxonomy.closures(lows, highs)
            lasts = np.where(highs < 0, highs, domain.taxonomy.lasts[nodes])
            return Ranges.of(domain, domain.taxonomy.firsts[nodes], lasts)
        missing = np.zeros(n_units, dtype=bool)
        missing[unit_of_record[~real]] = True
        return Ranges.of(domain, lows, highs, missing)
    # Of a column that is withheld as a whole a reader knows no value, and everybody has code 0.
    n_codes = max(domain.n_codes, 1)
    keys = np.unique(unit_of_record.astype(np.int64) * n_codes + codes)
    starts = np.searchsorted(keys, np.arange(n_units + 1, dtype=np.int64) * n_codes)
    return _shorten(domain, Sets(starts.astype(np.int64), (keys % n_codes).astype(np.int32)))


def _shorten(domain: Domain, sets: Sets) -> Sets:
    """The sets, those that list more values than the column allows replaced by all values.

    A cell becomes wider and stays true. Whether it does depends on the cell alone, so the wider cell says nothing that
    the listed values would not.
    """
    is_long = sets.sizes > domain.longest_set
    if not is_long.any():
        return sets
    sizes = np.where(is_long, domain.n_codes, sets.sizes)
    if int(sizes.sum()) > _MOST_MEMBERS:
        raise DataError(
            f"Column {quoted(domain.name)} has {counted(domain.n_codes, 'value')}, and "
            f"{counted(int(is_long.sum()), 'cell')} would list more than {domain.longest_set:,} of them: too many to "
            "publish. Leave the column out, group its values (a taxonomy by first characters, frequency or a tree), "
            "or let cells be as long as they are (--longest-set 0)."
        )
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    kept = np.repeat(~is_long, sizes)
    members[kept] = sets.members[np.repeat(~is_long, sets.sizes)]
    return Sets(starts, members.astype(np.int32))


def take(extents: Extents, units: NDArray[Any]) -> Extents:
    """The extents of the named units, in that order."""
    if isinstance(extents, Ranges):
        return Ranges(*(getattr(extents, field.name)[units] for field in fields(Ranges)))
    sizes = extents.sizes[units]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(starts[-1]) + np.repeat(extents.starts[units] - starts[:-1], sizes)
    return Sets(starts, extents.members[places])


def has_open_ends(release: Release) -> bool:
    """Whether some interval has one end only."""
    extents = release.extents if isinstance(release, Grouped | Matched) else ()
    runs = (held for held in extents if isinstance(held, Ranges))
    return any(bool(np.isinf(held.low_points).any() or np.isinf(held.high_points).any()) for held in runs)


def is_numeric_cell(domain: Domain) -> bool:
    """Whether a cell's loss is the length of an interval rather than a number of values."""
    return domain.kind is Kind.NUMERIC and domain.taxonomy is None
