"""A table as small integers plus a domain per column: what every algorithm works on.

`Table` is what a reader delivers: dictionary-encoded columns, no roles. `Microdata` is a table under a schema:
identifiers are gone, every value is a code, and missing is the last code of a domain that has it (never NaN).
Codes follow the values' own order: numbers and dates by size, ordered columns as declared, taxonomy leaves in
pre-order, other categories by name.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data import taxonomy as taxonomies
from lookalike.data.coarsening import Coarsening
from lookalike.data.date_formats import WORDS
from lookalike.data.frequent_values import name_frequent, wants_frequent
from lookalike.data.persons import PersonCounts, count_persons_by_value, number_pairs, renumber
from lookalike.data.schema import NUMBER_LIKE, Attribute, Kind, Role, Schema, ValueType
from lookalike.data.taxonomy import MISSING, OTHER, Taxonomy
from lookalike.errors import DataError, SchemaError, counted, quoted, unknown_name

Codes = NDArray[np.int32]
LONGEST_SET = 100
"""Values that a published cell lists at most, where nothing else is said."""
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Column:
    """A dictionary-encoded column: `codes` point into `values`; the code after the last value means missing."""

    name: str
    type: ValueType
    codes: Codes
    values: NDArray[Any]
    """Distinct and sorted. Integers, dates (days) and datetimes (microseconds since 1970) as int64, numbers as
    float64, booleans as 0 and 1, strings as objects."""
    date_format: str | None = None
    """How its dates were written in a file, where not as 2024-12-31 (`date_formats`)."""
    question: str = ""
    """What the user must say before its texts can be taken for dates; empty: they are what they seem."""
    missing_codes: tuple[str, ...] = ()
    """Texts that were read as missing because the user said so of this column."""

    @property
    def n_missing(self) -> int:
        return int(np.count_nonzero(self.codes == len(self.values)))


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, as read."""

    columns: tuple[Column, ...]
    source: str = "the table"
    notes: tuple[str, ...] = ()
    """What the reader guessed, in sentences for the user."""
    header: tuple[str, ...] = ()
    """The names of all columns of the source, in its order; empty: they are those that were read."""

    @property
    def all_names(self) -> list[str]:
        """Of the columns that were read, and of those that were not."""
        return [*(self.header or self.names)]

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].codes) if self.columns else 0

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise SchemaError(unknown_name("column", name, self.names))
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        # Of columns with the same name the first, should a caller have made such a table.
        return {column.name: column for column in reversed(self.columns)}


@dataclass(frozen=True, eq=False)
class Domain:
    """The values one attribute can take, in code order."""

    attribute: Attribute
    type: ValueType
    values: NDArray[Any]
    has_missing: bool
    low: float
    """Least value that loss is measured against (numeric columns)."""
    high: float
    size: int
    """Number of values that loss is measured against (other columns), missing included."""
    declared: bool
    """Whether low, high or size came from the schema; otherwise they are what the table shows."""
    taxonomy: Taxonomy | None = None
    n_outside: int = 0
    """How many different values of the table "(other)" stands for, where the domain does not name all of them."""

    @property
    def name(self) -> str:
        return self.attribute.name

    @property
    def kind(self) -> Kind:
        assert self.attribute.kind is not None
        # Blocks of numbers are values in an order; the attribute says what the column was.
        is_coarse = self.attribute.prepare is not None
        return Kind.ORDERED if is_coarse and self.attribute.kind is Kind.NUMERIC else self.attribute.kind

    @property
    def n_codes(self) -> int:
        return len(self.values) + self.has_missing

    @property
    def missing_code(self) -> int:
        """The code of a missing value (one past the last value; it occurs only if `has_missing`)."""
        return len(self.values)

    @property
    def in_ranges(self) -> bool:
        """Whether cells are runs of codes (numbers, orders, taxonomy nodes) rather than sets."""
        return self.kind is not Kind.CATEGORICAL or self.taxonomy is not None

    @property
    def longest_set(self) -> int:
        """A cell lists at most so many values; one that would list more says nothing (`*`)."""
        limit = LONGEST_SET if self.attribute.longest_set is None else self.attribute.longest_set
        return min(limit, self.n_codes) or self.n_codes

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Where each code lies on the axis that loss is measured on (numeric: the value, else the code)."""
        if self.kind is Kind.NUMERIC:
            return self.values.astype(np.float64)
        return np.arange(len(self.values), dtype=np.float64)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """How each code prints, missing included."""
        return tuple(texts_of(self.values, self.type)) + ((MISSING,) if self.has_missing else ())


@dataclass(frozen=True)
class Domains:
    """The domains of a table's published columns, by role."""

    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    carried: tuple[Domain, ...]

    @property
    def all(self) -> tuple[Domain, ...]:
        return self.quasi + self.sensitive + self.carried

    def sensitive_index(self, name: str) -> int:
        for index, domain in enumerate(self.sensitive):
            if domain.name == name:
                return index
        raise SchemaError(unknown_name("sensitive column", name, [domain.name for domain in self.sensitive]))


@dataclass(frozen=True, eq=False)
class Whole:
    """A table of which only a part is at hand: what promises are measured against."""

    n_rows: int
    counts: tuple[NDArray[np.int64], ...]
    """How often each value occurs, or how many persons have it; one array per sensitive column."""
    n_persons: int | None = None
    """How many persons the rows belong to; None: each row is a person."""
    row_counts: tuple[NDArray[np.int64], ...] | None = None
    """By persons: how often each value occurs, where parts are put together again."""

    @property
    def n_units(self) -> int:
        """What sizes are numbers of."""
        return self.n_rows if self.n_persons is None else self.n_persons


@dataclass(frozen=True, eq=False)
class Microdata:
    """A table under a schema, as codes. Arrays are read-only; rows are records, columns follow the domains."""

    schema: Schema
    domains: Domains
    quasi: Codes
    sensitive: Codes
    carried: Codes
    whole: Whole | None = field(default=None, kw_only=True)
    """The table that these records are a part of; None: they are the table."""
    persons: NDArray[np.int32] | None = field(default=None, kw_only=True)
    """Whose record it is, as a number; None: no two records belong to the same person. Never published."""
    individuals: NDArray[np.int32] | None = field(default=None, kw_only=True)
    """The person of each record where promises count households (`persons` then numbers these)."""
    visits: NDArray[np.int32] | None = field(default=None, kw_only=True)
    """The place of each record among those of its person, from 0 on, where rows are published linked; None: apart."""
    number_known: bool = field(default=True, kw_only=True)
    """Whether the attacker may know how many records a person has."""
    owners: NDArray[np.int32] | None = field(default=None, kw_only=True)
    """The person of each record as a code of the person column, to recognise people in a later table. Never
    published, and never looked at by a method."""

    def __post_init__(self) -> None:
        for name in ("quasi", "sensitive", "carried"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_rows(self) -> int:
        return len(self.quasi)

    @classmethod
    def encode(cls, table: Table, schema: Schema) -> Microdata:
        """The table under the schema; kinds left open are settled by the values."""
        check_columns(schema, table.names, table.source)
        if table.n_rows == 0:
            raise DataError(no_rows(table.source))
        persons = _number_persons(table, schema.unit)
        settled: list[Attribute] = []
        domains: dict[Role, list[Domain]] = {role: [] for role in Role}
        blocks: dict[Role, list[Codes]] = {role: [] for role in Role}
        for attribute in schema.attributes:
            if attribute.role in _NOT_ENCODED:
                settled.append(attribute)
                continue
            domain, codes = encode_column(table[attribute.name], attribute, persons)
            settled.append(domain.attribute)
            domains[attribute.role].append(domain)
            blocks[attribute.role].append(codes)
        nothing = np.empty((table.n_rows, 0), dtype=np.int32)
        return cls(
            Schema(tuple(settled)),
            Domains(*(tuple(domains[role]) for role in (Role.QUASI, Role.SENSITIVE, Role.CARRIED))),
            *(np.column_stack([nothing, *blocks[role]]) for role in (Role.QUASI, Role.SENSITIVE, Role.CARRIED)),
            persons=persons,
            individuals=None if schema.household is None else _number_persons(table, schema.person),
            owners=None if (named := schema.person or schema.household) is None else table[named.name].codes,
        )._check_households()

    def _check_households(self) -> Microdata:
        """The same; raises where a person is in several households, which k households would then not keep apart."""
        if self.persons is None or self.individuals is None:
            return self
        pairs = np.unique(number_pairs(self.individuals, self.persons))
        n_wrong = len(pairs) - len(np.unique(self.individuals))
        if n_wrong:
            names = [quoted(column.name) for column in (self.schema.person, self.schema.household) if column]
            raise DataError(
                f"{' and '.join(names)}: {counted(n_wrong, 'person')} have rows in several households. Give each "
                "person one household, or leave the household column out."
            )
        return self

    def take(self, records: NDArray[np.int64]) -> Microdata:
        """These records, in this order."""
        return replace(
            self,
            quasi=self.quasi[records],
            sensitive=self.sensitive[records],
            carried=self.carried[records],
            persons=None if self.persons is None else self.persons[records],
            individuals=None if self.individuals is None else self.individuals[records],
            owners=None if self.owners is None else self.owners[records],
            visits=None if self.visits is None else self.visits[records],
        )

    def as_part_of_itself(self) -> Microdata:
        """The same, with promises measured against these records whatever is taken of them later."""
        counts = tuple(self.prior(index) for index in range(len(self.domains.sensitive)))
        n_persons = None if self.persons is None else self.n_persons
        return replace(self, whole=Whole(self.n_rows, counts, n_persons))

    @property
    def n_persons(self) -> int:
        """How many persons (households, if these are declared) the records belong to."""
        return self.n_rows if self.persons is None else len(np.unique(self.persons))

    def counts(self, sensitive: int) -> NDArray[np.int64]:
        """How often each value of a sensitive column occurs among these records."""
        return np.bincount(self.sensitive[:, sensitive], minlength=self.domains.sensitive[sensitive].n_codes)

    def prior(self, sensitive: int | None) -> NDArray[np.int64]:
        """How many persons of the whole table have each value of a sensitive column (None: how many there are).

        Without a person column these are numbers of records.
        """
        if sensitive is None:
            number = self.n_persons if self.whole is None else self.whole.n_units
            alone = np.array([number], dtype=np.int64)
            counts_persons = self.persons is not None if self.whole is None else self.whole.n_persons is not None
            return PersonCounts.of(alone, number, self.schema.unit_name) if counts_persons else alone
        if self.whole is not None:
            return self.whole.counts[sensitive].astype(np.int64, copy=False)
        if self.persons is None:
            return self.counts(sensitive).astype(np.int64, copy=False)
        codes, n_codes = self.sensitive[:, sensitive], self.domains.sensitive[sensitive].n_codes
        return PersonCounts.of(
            count_persons_by_value(self.persons, codes, n_codes), self.n_persons, self.schema.unit_name
        )


_NOT_ENCODED = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD)


def _number_persons(table: Table, attribute: Attribute | None) -> NDArray[np.int32] | None:
    """The number of each row's person; None where no person has several rows."""
    if attribute is None:
        return None
    column = table[attribute.name]
    refuse_lacking(attribute, column)
    return None if len(np.unique(column.codes)) == len(column.codes) else renumber(column.codes)


def refuse_lacking(attribute: Attribute, column: Column, times: NDArray[np.int64] | None = None) -> None:
    """Raise `DataError` if rows are nobody's: without a value, or with a text of blanks, which numbers nobody.

    `times`: how many rows each entry of the column stands for.
    """
    is_nobody = np.zeros(len(column.values) + 1, dtype=bool)
    is_nobody[-1] = True
    if column.type is ValueType.STRING:
        is_nobody[:-1] = [not str(value).strip() for value in column.values]
    lacking = is_nobody[column.codes]
    n_rows = int(np.count_nonzero(lacking) if times is None else times[lacking].sum())
    if n_rows:
        raise DataError(
            f"Column {quoted(attribute.name)} has the role {attribute.role} and lacks a value in "
            f"{counted(n_rows, 'row')}. Fill them in, or remove these rows."
        )


def read_only(codes: Codes) -> Codes:
    """Codes as kernels get them, of the table or of some records: a kernel is compiled anew for every type it meets."""
    view = np.ascontiguousarray(codes).view()
    view.setflags(write=False)
    return view


def rank_within(values: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.int64]:
    """How many equal values are before each value."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values)) - np.searchsorted(ranked, ranked)
    return ranks


def guess_kind(column: Column) -> tuple[Kind, str]:
    """The kind a column most likely has, and why."""
    kind = Kind.NUMERIC if column.type in NUMBER_LIKE else Kind.CATEGORICAL
    return kind, f"its values are {_TYPE_NOUNS[column.type]}"


_TYPE_NOUNS = {
    ValueType.INTEGER: "whole numbers",
    ValueType.NUMBER: "numbers",
    ValueType.DATE: "dates",
    ValueType.DATETIME: "dates with times",
    ValueType.BOOLEAN: "true or false",
    ValueType.STRING: "text",
}


def texts_of(values: NDArray[Any], type: ValueType) -> list[str]:
    """How values print: numbers without exponents, dates in ISO form."""
    if type is ValueType.STRING:
        return [str(value) for value in values]
    if type is ValueType.BOOLEAN:
        return ["true" if value else "false" for value in values]
    if type is ValueType.NUMBER:
        return [np.format_float_positional(value, trim="-") for value in values]
    if type is ValueType.DATE:
        return [str(day) for day in values.astype("datetime64[D]")]
    if type is ValueType.DATETIME:
        # Microseconds only where there are some.
        return [moment.isoformat() for moment in values.astype("datetime64[us]").tolist()]
    return [str(value) for value in values.tolist()]


def parse_number(text: str, type: ValueType) -> float:
    """A number or date as the position it has among a column's values."""
    if type is ValueType.DATE:
        return float((datetime.date.fromisoformat(text) - _EPOCH.date()).days)
    if type is ValueType.DATETIME:
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
        return (moment - _EPOCH) / datetime.timedelta(microseconds=1)
    return float(text)


def check_columns(schema: Schema, names: Sequence[str], source: str) -> None:
    """Refuse a schema that names columns which are not there, or no quasi-identifier."""
    for attribute in schema.published:
        if attribute.name not in names:
            raise SchemaError(f"{unknown_name('column', attribute.name, names)} (read from {source})")
    if not schema.quasi:
        raise SchemaError("No quasi-identifier is named. Say which columns an outsider may know (--qi A,B).")


def no_rows(source: str) -> str:
    return f"{source} has columns but no rows. There is nothing to publish."


def encode_column(
    column: Column, attribute: Attribute, persons: NDArray[np.int32] | None = None
) -> tuple[Domain, Codes]:
    """The domain of a column under a schema, and its cells as codes of that domain.

    `persons`: whose each cell is, where persons have several.
    """
    if wants_frequent(attribute):
        rows = np.arange(len(column.codes)) if persons is None else persons
        counts = count_persons_by_value(rows, column.codes, len(column.values) + 1)[: len(column.values)]
        attribute = name_frequent(attribute, texts_of(column.values, column.type), counts)
    if _wants_dates(attribute):
        refuse_open(column)
    if attribute.prepare is not None:
        return _encode_coarse(column, attribute, Coarsening(attribute.name, attribute.prepare))
    attribute = replace(
        attribute,
        kind=attribute.kind or _settle_kind(column, attribute),
        type=column.type,
        date_format=column.date_format or _still_said(attribute, column),
        missing_codes=column.missing_codes or attribute.missing_codes,
    )
    has_missing = column.n_missing > 0 or attribute.missing
    if attribute.kind is Kind.NUMERIC and column.type not in NUMBER_LIKE and len(column.values):
        raise SchemaError(
            f"Column {quoted(column.name)} is declared numeric but holds {_TYPE_NOUNS[column.type]}. "
            "Declare it categorical, or ordered with an order, or fix the values that are not numbers."
        )
    if attribute.taxonomy is not None:
        return _with_taxonomy(column, attribute, has_missing)
    if attribute.kind is Kind.NUMERIC:
        low, high, declared = _numeric_bounds(column, attribute)
        domain = Domain(attribute, column.type, column.values, has_missing, low, high, len(column.values), declared)
        return domain, column.codes
    listed = attribute.order if attribute.kind is Kind.ORDERED else attribute.values
    n_outside = 0
    if listed is None:
        values, codes = column.values, column.codes
    else:
        listed = (OTHER, *listed) if attribute.others else listed
        values, codes, n_outside = _in_listed_order(column, listed, attribute)
    size = max(attribute.size or 0, len(values) + has_missing + max(n_outside - 1, 0))
    declared = attribute.size is not None or listed is not None
    if attribute.size is not None and attribute.size < len(values) + has_missing:
        raise SchemaError(
            f"Column {quoted(column.name)}: domain size {attribute.size} is declared, but the table has "
            f"{counted(len(values) + has_missing, 'value')}. Raise it."
        )
    type = column.type if listed is None else ValueType.STRING
    high = float(max(len(values) - 1, 0))
    domain = Domain(attribute, type, values, has_missing, 0.0, high, size, declared, n_outside=n_outside)
    return domain, codes


def _encode_coarse(column: Column, attribute: Attribute, rule: Coarsening) -> tuple[Domain, Codes]:
    """As `encode_column`, with the blocks of a coarsening as values."""
    own, _ = encode_column(column, replace(attribute, prepare=None, taxonomy=None))
    kept = replace(own.attribute, prepare=attribute.prepare, taxonomy=attribute.taxonomy)
    labels, above = label_blocks(column, attribute, rule)
    in_turn = labels if attribute.order is None else _in_declared_order(labels, column, attribute.order)
    place_of = {label: place for place, label in enumerate(dict.fromkeys(in_turn))}
    values = np.empty(len(place_of), dtype=object)
    values[:] = list(place_of)
    codes = np.array([*(place_of[label] for label in labels), len(place_of)], dtype=np.int32)[column.codes]
    in_order = attribute.order is not None or (own.attribute.kind is Kind.NUMERIC and above is None)
    if not in_order:
        rank = np.argsort(values)
        values, codes = values[rank], np.append(np.argsort(rank), len(rank)).astype(np.int32)[codes]
    coarse = Column(column.name, ValueType.STRING, codes, values)
    plain = Attribute(
        name=attribute.name,
        role=attribute.role,
        kind=Kind.ORDERED if in_order else Kind.CATEGORICAL,
        type=ValueType.STRING,
        weight=attribute.weight,
        taxonomy=None if above is None else above.to_plain(),
        missing=attribute.missing,
    )
    domain, codes = encode_column(coarse, plain)
    return replace(domain, attribute=kept), codes


def label_blocks(column: Column, attribute: Attribute, rule: Coarsening) -> tuple[list[str], Taxonomy | None]:
    """The block of each value of a column, and the taxonomy above them, if blocks are nodes of one."""
    texts, where = texts_of(column.values, column.type), f"Column {quoted(column.name)}"
    if (attribute.taxonomy is not None) != rule.uses_taxonomy:
        needs = "needs a taxonomy" if rule.uses_taxonomy else "and a taxonomy do not go together"
        raise SchemaError(f"{where}: prepare by {' and '.join(rule.declared)} {needs}. Give level with a taxonomy.")
    if attribute.taxonomy is not None:
        values = column.values.astype(_MOMENTS.get(column.type, column.values.dtype)).tolist()
        tree = taxonomies.build(attribute.taxonomy, values, texts, column=column.name, with_missing=False)
        level, height = rule.declared["level"], int(tree.heights[0])
        if level >= height:
            raise SchemaError(
                f"{where}: level {level} of a taxonomy with {counted(height, 'level')} is its root and says nothing; "
                "take a lower one."
            )
        blocks, above = tree.cut(level)
        block_of = dict(zip(tree.leaves, blocks, strict=True))
        return [block_of[text] for text in texts], above
    if rule.is_of_dates:
        if column.type not in _MOMENTS:
            raise SchemaError(f"{where}: prepare by dates needs dates, and it holds {_TYPE_NOUNS[column.type]}.")
        return taxonomies.name_dates(
            column.values.astype(_MOMENTS[column.type]).tolist(), str(rule.declared["dates"])
        ), None
    if not rule.is_of_numbers:
        if column.type is not ValueType.STRING and "prefix" in rule.declared:
            raise SchemaError(
                f"{where}: prepare by prefix needs text, and it holds {_TYPE_NOUNS[column.type]}. Declare type: "
                "string, or round the numbers."
            )
        return rule.label_texts(texts, OTHER), None
    if column.type not in NUMBER_LIKE or (column.type in _MOMENTS and "round" in rule.declared):
        raise SchemaError(
            f"{where}: prepare by {' and '.join(rule.declared)} needs numbers, and it holds {_TYPE_NOUNS[column.type]}."
            f"{' Use dates: month.' if column.type in _MOMENTS else ''}"
        )
    labels = rule.label_numbers(
        [_position(text, column.type) for text in texts],
        lambda text: _position(text, column.type),
        lambda end: _text_at(end, column.type),
        whole=column.type in (ValueType.INTEGER, ValueType.DATE),
    )
    return labels, None


_MOMENTS = {ValueType.DATE: "datetime64[D]", ValueType.DATETIME: "datetime64[us]"}


def _in_declared_order(labels: list[str], column: Column, order: Sequence[str]) -> list[str]:
    """The blocks of an ordered column in its order; each must be a stretch of it."""
    place = {text: number for number, text in enumerate(order)}
    texts = texts_of(column.values, column.type)
    in_order = [label for _, label in sorted(zip((place[text] for text in texts), labels, strict=True))]
    runs = [label for number, label in enumerate(in_order) if number == 0 or in_order[number - 1] != label]
    if len(set(runs)) < len(runs):
        raise SchemaError(
            f"Column {quoted(column.name)}: prepare joins values that are not neighbours in the column's order. "
            "Join neighbours, or leave the order out."
        )
    return runs


def _position(text: str, type: ValueType) -> Fraction:
    """A number as the exact decimal that it is written as; of a date the position among the column's values."""
    return Fraction(int(parse_number(text, type))) if type in _MOMENTS else Fraction(text)


def _text_at(end: Fraction, type: ValueType) -> str:
    """How an end of a block prints."""
    if type in _MOMENTS:
        return texts_of(np.array([int(end)]), type)[0]
    return str(end.numerator) if end.denominator == 1 else f"{float(end):.12g}"


def refuse_open(column: Column) -> None:
    """Raise `SchemaError` for a column of texts that may be dates, where their order matters."""
    if column.question:
        raise SchemaError(f"Column {quoted(column.name)}: {column.question}")


def _wants_dates(attribute: Attribute) -> bool:
    """Whether it matters that texts may be dates: unless they are declared as text or as categories."""
    if attribute.type is ValueType.STRING or attribute.order is not None or attribute.values is not None:
        return False
    return attribute.kind is not Kind.CATEGORICAL if attribute.taxonomy is None else "dates" in attribute.taxonomy


def _still_said(attribute: Attribute, column: Column) -> str | None:
    """The declared format of dates that came as dates; of those in words, which need texts to mean one, nothing."""
    is_moment = column.type in (ValueType.DATE, ValueType.DATETIME)
    return attribute.date_format if is_moment and attribute.date_format not in WORDS else None


def _settle_kind(column: Column, attribute: Attribute) -> Kind:
    if attribute.order is not None:
        return Kind.ORDERED
    if attribute.taxonomy is not None or attribute.values is not None:
        return Kind.CATEGORICAL
    return guess_kind(column)[0]


def _numeric_bounds(column: Column, attribute: Attribute) -> tuple[float, float, bool]:
    where = f"Column {quoted(column.name)}"
    bounds: dict[str, float] = {}
    for which, declared in (("low", attribute.low), ("high", attribute.high)):
        if declared is None:
            continue
        try:
            bounds[which] = parse_number(str(declared), column.type)
        except ValueError:
            raise SchemaError(f"{where}: {which} {declared!r} is not a value of this column.") from None
        if not math.isfinite(bounds[which]):
            raise SchemaError(f"{where}: {which} must be a finite number, not {declared!r}. Leave it out if unknown.")
    # A column without any value lies wherever it is declared to lie.
    nowhere = [*bounds.values(), 0.0][0]
    seen = (float(column.values[0]), float(column.values[-1])) if len(column.values) else (nowhere, nowhere)
    low, high = bounds.get("low", seen[0]), bounds.get("high", seen[1])
    if low > high or (not attribute.others and (low > seen[0] or high < seen[1])):
        raise DataError(
            f"{where}: the declared domain does not hold all values of the table. Widen low and high, or leave them "
            "out to use what the table shows."
        )
    return low, high, attribute.low is not None and attribute.high is not None


def _in_listed_order(column: Column, listed: Iterable[str], attribute: Attribute) -> tuple[NDArray[Any], Codes, int]:
    """Values in the declared order, codes renumbered, and how many values are not listed.

    With `others` these all have code 0.
    """
    code_of = {text: code for code, text in enumerate(listed)}
    texts = texts_of(column.values, column.type)
    unlisted = sum(text not in code_of for text in texts)
    if unlisted and not attribute.others:
        raise DataError(
            f"Column {quoted(column.name)} has {counted(unlisted, 'value')} that its declared "
            f"{'order' if attribute.kind is Kind.ORDERED else 'values'} lack. Add them."
        )
    values = np.empty(len(code_of), dtype=object)
    values[:] = list(code_of)
    renumbered = np.array([*(code_of.get(text, 0) for text in texts), len(code_of)], dtype=np.int32)
    return values, renumbered[column.codes], unlisted


def _with_taxonomy(column: Column, attribute: Attribute, has_missing: bool) -> tuple[Domain, Codes]:
    assert attribute.taxonomy is not None
    texts = texts_of(column.values, column.type)
    values: NDArray[Any] = column.values.astype(_MOMENTS.get(column.type, column.values.dtype))
    tree = taxonomies.build(
        attribute.taxonomy,
        values.tolist(),
        texts,
        column=column.name,
        with_missing=has_missing,
        with_others=attribute.others,
    )
    n_values = tree.n_leaves - has_missing
    code_of = {leaf: code for code, leaf in enumerate(tree.leaves)}
    renumbered = np.array([*(code_of.get(text, 0) for text in texts), n_values], dtype=np.int32)
    values = np.empty(n_values, dtype=object)
    values[:] = tree.leaves[:n_values]
    type = ValueType.STRING
    if column.type is not ValueType.STRING and len(texts) == n_values and not attribute.others:
        values = np.empty_like(column.values)
        values[renumbered[:-1]] = column.values
        type = column.type
    declared = "tree" in attribute.taxonomy or "file" in attribute.taxonomy
    attribute = replace(attribute, kind=Kind.CATEGORICAL)
    domain = Domain(attribute, type, values, has_missing, 0.0, 0.0, tree.n_leaves, declared, tree)
    return domain, renumbered[column.codes]
