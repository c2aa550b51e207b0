"""What each column is: its role, its kind, its weight and its taxonomy. A schema knows no rows.

One YAML format serves library, command line and studio:

    lookalike: 1
    columns:
      - name: age
        role: quasi-identifier
        kind: numeric
        domain: {low: 0, high: 110}
      - name: zip code
        role: quasi-identifier
        kind: categorical
        taxonomy: {prefixes: [3, 2]}
      - name: diagnosis
        role: sensitive

A taxonomy is kept here as it was written; `taxonomy.build` makes it a tree once the values are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml

from lookalike.data.coarsening import Coarsening, parse_rules
from lookalike.data.date_formats import check_date_format
from lookalike.data.named_columns import Names, list_columns, name_column
from lookalike.data.statement import Statement
from lookalike.errors import SchemaError, quoted, unknown_name, unread_format
from lookalike.untrusted import BadYaml, load_yaml, read_text

_FORMAT = 1

_Choice = TypeVar("_Choice", bound=StrEnum)


class Role(StrEnum):
    """What a column is to an outsider."""

    IDENTIFIER = "identifier"
    """Names a person, or is not to be published for another reason: dropped."""
    QUASI = "quasi-identifier"
    """May be known to an outsider and, with others, point to a person: generalised."""
    SENSITIVE = "sensitive"
    """What an outsider must not learn about a person: protected by the promise."""
    CARRIED = "carried"
    """Unknown to outsiders and not protected: stays attached to the sensitive value."""
    PERSON = "person"
    """Says which rows belong to the same person: not published; promises count persons instead of rows."""
    HOUSEHOLD = "household"
    """Says which rows belong to the same household: not published; promises count households. A group of k
    households has at least k persons; a household counts once for a value, however many of its members have it."""


class Kind(StrEnum):
    """How a column's values are generalised."""

    NUMERIC = "numeric"
    """Intervals, measured by their length."""
    ORDERED = "ordered"
    """Intervals of a given order of values, measured by the number of values."""
    CATEGORICAL = "categorical"
    """Sets of values, or nodes of a taxonomy."""


class ValueType(StrEnum):
    """What the values of a column are at the border."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    BOOLEAN = "boolean"
    STRING = "string"


NUMBER_LIKE = frozenset({ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE, ValueType.DATETIME})


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One column."""

    name: str
    role: Role
    kind: Kind | None = None
    """None: guessed from the values when the table is read."""
    type: ValueType | None = None
    """None: guessed. `string` keeps a column of digits (zip codes) as text."""
    weight: float = 1.0
    """How much a unit of loss in this column counts, against the other columns."""
    taxonomy: Mapping[str, Any] | None = None
    """As written: {tree: ..}, {file: ..}, {intervals: ..}, {prefixes: ..}, {dates: ..} or {frequent: ..}."""
    prepare: Mapping[str, Any] | None = None
    """How its values are made coarser before anything else, as {round: 1000} (`coarsening`). Of columns that are
    published as they are: sensitive and carried ones."""
    order: tuple[str, ...] | None = None
    """The values of an ordered column, least first."""
    low: float | str | None = None
    """Declared least value of a numeric column; None: as observed."""
    high: float | str | None = None
    """Declared greatest value of a numeric column; None: as observed."""
    values: tuple[str, ...] | None = None
    """Declared values of a categorical column; None: as observed."""
    size: int | None = None
    """Declared number of values of a categorical column; None: as observed."""
    others: bool = False
    """Whether a table may have values outside the declared ones: numbers beyond low and high stay as they are, any
    other value becomes "(other)". Of quasi-identifiers with a declared domain."""
    missing: bool = False
    """Whether a value may be missing even if no record of a table lacks it."""
    date_format: str | None = None
    """How dates are written in the table (`date_formats`); None: as 2024-12-31, or guessed."""
    missing_codes: tuple[str, ...] | None = None
    """Texts that mean "no value" in this column of the table."""
    longest_set: int | None = None
    """A published cell that would list more values than this becomes `*`; 0: cells may list any number; None: the
    usual limit."""
    keep_identifiers: bool = False
    """Whether the column is published although its values hold e-mail addresses, phone numbers, names or the like."""
    carry_anyway: bool = False
    """Whether a carried column is published although someone who knows its values would find persons by them."""

    def __post_init__(self) -> None:
        if not self.name:
            raise SchemaError("A column has an empty name. Give every column a name.")
        if not self.weight >= 0 or self.weight == float("inf"):
            raise SchemaError(f"Column {quoted(self.name)}: weight must be 0 or more, not {self.weight}.")
        if self.date_format is not None:
            object.__setattr__(self, "date_format", check_date_format(self.date_format, self.name))
        if self.order is not None and self.kind not in (None, Kind.ORDERED):
            raise SchemaError(f"Column {quoted(self.name)} has an order but is {self.kind}. Make its kind ordered.")
        if self.kind is Kind.ORDERED and self.taxonomy is not None:
            raise SchemaError(f"Column {quoted(self.name)} is ordered and has a taxonomy. Keep one of the two.")
        if self.size is not None and self.size < 1:
            raise SchemaError(f"Column {quoted(self.name)}: domain size must be 1 or more, not {self.size}.")
        if self.longest_set is not None and self.longest_set < 0:
            raise SchemaError(
                f"Column {quoted(self.name)}: longest_set must be 1 or more, or 0 for cells of any length, not "
                f"{self.longest_set}."
            )
        if self.others and self.role is not Role.QUASI:
            raise SchemaError(
                f"Column {quoted(self.name)}: only a quasi-identifier may have others: true, not a column of role "
                f"{self.role}. Leave others out."
            )
        if self.prepare is not None and self.role not in (Role.SENSITIVE, Role.CARRIED):
            raise SchemaError(
                f"Column {quoted(self.name)}: only a sensitive or a carried column is made coarser beforehand, not one "
                f"of role {self.role}. Quasi-identifiers are generalised as far as the promise needs; give them a "
                "taxonomy (intervals, prefixes, dates) for fixed steps."
            )
        for field in ("order", "values", "missing_codes"):
            listed = getattr(self, field)
            if listed is not None and len(set(listed)) != len(listed):
                raise SchemaError(f"Column {quoted(self.name)}: {field} names a value twice.")


@dataclass(frozen=True)
class Schema:
    """The columns of a table in order.

    >>> schema = Schema.of(qi=["age", "sex"], sensitive=["diagnosis"])
    >>> [attribute.name for attribute in schema.quasi]
    ['age', 'sex']
    """

    attributes: tuple[Attribute, ...]
    report: Statement = Statement()
    """What its author states about releases, for the first page of their reports."""

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for attribute in self.attributes:
            if attribute.name in seen:
                raise SchemaError(f"Column {quoted(attribute.name)} is named twice. Give it one role.")
            seen.add(attribute.name)
        for role in (Role.PERSON, Role.HOUSEHOLD):
            several = [quoted(attribute.name) for attribute in self._with_role(role)]
            if len(several) > 1:
                raise SchemaError(f"{' and '.join(several)} both have the role {role}. Only one column can have it.")

    @classmethod
    def of(
        cls,
        schema: Schema | str | Path | None = None,
        *,
        qi: Names = (),
        sensitive: Names = (),
        carry: Names = (),
        numeric: Names = (),
        categorical: Names = (),
        person: str | None = None,
        household: str | None = None,
        coarsen: Mapping[str, Mapping[str, Any] | str] | None = None,
    ) -> Schema:
        """A schema, or the one in a file, with other roles and kinds for the columns named.

        Columns that it lacks are added at the end; without a schema, those named are all there are. A single column
        may be named by its text alone. `coarsen` says how values become coarser, by column:
        {"salary": {"round": 1000}}.
        """
        if schema is not None and not isinstance(schema, Schema | str | Path):
            raise SchemaError(
                f"schema is of type {type(schema).__name__}. Give a Schema (Schema.of, suggest_schema) or the path of "
                "a schema file."
            )
        schema = cls.load(schema) if isinstance(schema, str | Path) else schema or cls(())
        qi, sensitive = list_columns(qi, "qi"), list_columns(sensitive, "sensitive")
        carry = list_columns(carry, "carry")
        numeric, categorical = list_columns(numeric, "numeric"), list_columns(categorical, "categorical")
        named: dict[str, Role] = {}
        single = {Role.PERSON: name_column(person, "person"), Role.HOUSEHOLD: name_column(household, "household")}
        for role, name in single.items():
            # A column named now replaces the one that the schema has in that role.
            for other in schema._with_role(role) if name is not None else ():
                schema = schema.replace_attribute(replace(other, role=Role.IDENTIFIER))
        units = ((role, () if name is None else (name,)) for role, name in single.items())
        for role, names in ((Role.QUASI, qi), (Role.SENSITIVE, sensitive), (Role.CARRIED, carry), *units):
            for name in names:
                if name in named:
                    either = "" if named[name] is role else f": {named[name]} or {role}"
                    raise SchemaError(f"Column {quoted(name)} is named twice. Give it one role{either}.")
                named[name] = role
        attributes = dict(schema._by_name)
        for name, role in named.items():
            before = attributes.get(name)
            attributes[name] = Attribute(name=name, role=role) if before is None else replace(before, role=role)
        schema = replace(schema, attributes=tuple(attributes.values()))
        settled: dict[str, Kind] = {}
        for kind, names in ((Kind.NUMERIC, numeric), (Kind.CATEGORICAL, categorical)):
            for name in names:
                if settled.setdefault(name, kind) is not kind:
                    raise SchemaError(f"Column {quoted(name)} is named numeric and categorical. Give it one kind.")
                if all(attribute.name != name for attribute in schema.attributes):
                    roles = [attribute.name for attribute in schema.attributes]
                    raise SchemaError(
                        f"Column {quoted(name)} is named {kind} but has no role. Make it quasi-identifier, sensitive "
                        f"or carried too. {unknown_name('column with a role', name, roles)}"
                    )
                schema = schema.replace_attribute(replace(schema[name], kind=kind))
        if coarsen is not None and not isinstance(coarsen, Mapping):
            raise SchemaError(
                'coarsen takes rules by column, as in coarsen={"salary": {"round": 1000}}, not a value of type '
                f"{type(coarsen).__name__}."
            )
        for name, rule in (coarsen or {}).items():
            attribute = schema[name]
            rules = parse_rules(rule) if isinstance(rule, str) else rule
            if not isinstance(rules, Mapping):
                raise SchemaError(
                    f"Column {quoted(name)}: coarsen takes a rule, as in coarsen={{{quoted(name)}: "
                    f'{{"round": 1000}}}} or "top:90", not {rule!r}.'
                )
            declared = {**(attribute.prepare or {}), **rules}
            Coarsening(name, declared)
            schema = schema.replace_attribute(replace(attribute, prepare=declared))
        return schema

    def __getitem__(self, name: str) -> Attribute:
        if name not in self._by_name:
            raise SchemaError(unknown_name("column", name, list(self._by_name)))
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def _with_role(self, role: Role) -> tuple[Attribute, ...]:
        return tuple(attribute for attribute in self.attributes if attribute.role is role)

    @property
    def quasi(self) -> tuple[Attribute, ...]:
        return self._with_role(Role.QUASI)

    @property
    def sensitive(self) -> tuple[Attribute, ...]:
        return self._with_role(Role.SENSITIVE)

    @property
    def carried(self) -> tuple[Attribute, ...]:
        return self._with_role(Role.CARRIED)

    @property
    def person(self) -> Attribute | None:
        """The column that says whose row it is."""
        return next(iter(self._with_role(Role.PERSON)), None)

    @property
    def household(self) -> Attribute | None:
        return next(iter(self._with_role(Role.HOUSEHOLD)), None)

    @property
    def unit(self) -> Attribute | None:
        """The column whose values promises count: households if there are any, else persons; None: rows."""
        return self.household or self.person

    @property
    def unit_name(self) -> str:
        """What promises count, in the singular, where a column says whose row it is."""
        return "person" if self.household is None else "household"

    @property
    def published(self) -> tuple[Attribute, ...]:
        return self.quasi + self.sensitive + self.carried

    def replace_attribute(self, attribute: Attribute) -> Schema:
        """The same schema with the column of that name replaced."""
        self[attribute.name]
        kept = (attribute if old.name == attribute.name else old for old in self.attributes)
        return replace(self, attributes=tuple(kept))

    def to_yaml(self) -> str:
        plain: dict[str, Any] = {"lookalike": _FORMAT}
        if stated := self.report.to_plain():
            plain["report"] = stated
        plain["columns"] = [_attribute_to_plain(attribute) for attribute in self.attributes]
        text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)
        if any(separator in text for separator in "\x85\u2028\u2029"):
            # Written as themselves, YAML's rarer line separators come back as spaces.
            text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=False, width=100)
        return text

    @classmethod
    def from_yaml(cls, text: str, source: str = "the schema") -> Schema:
        try:
            loaded = load_yaml(text)
        except BadYaml as error:
            hint = " Write text that is no date in quotes." if error.line is None else ""
            raise SchemaError(f"{source} is not valid YAML{error.place}: {error}.{hint}") from None
        if not isinstance(loaded, dict) or not isinstance(loaded.get("columns"), list):
            raise SchemaError(f"{source} must be a mapping with a list called columns. `lookalike inspect` writes one.")
        version = loaded.get("lookalike", _FORMAT)
        if version != _FORMAT:
            raise SchemaError(unread_format(source, version, (_FORMAT,)))
        stated = Statement.from_plain(loaded["report"], source) if loaded.get("report") is not None else Statement()
        return cls(tuple(_attribute_from_plain(entry, source) for entry in loaded["columns"]), stated)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema file. Taxonomy files it names are looked for beside it."""
        path = Path(path)
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise SchemaError(f"Cannot read the schema {path}: {reason}.") from None
        schema = cls.from_yaml(text, str(path))
        return replace(schema, attributes=tuple(_beside(attribute, path.parent) for attribute in schema.attributes))


def limit_sets(schema: Schema, longest: int) -> Schema:
    """The schema with another limit to the values that cells of quasi-identifiers list; 0: no limit."""
    limited = (
        replace(attribute, longest_set=longest) if attribute.role is Role.QUASI else attribute
        for attribute in schema.attributes
    )
    return replace(schema, attributes=tuple(limited))


def _beside(attribute: Attribute, folder: Path) -> Attribute:
    if attribute.taxonomy is None or "file" not in attribute.taxonomy:
        return attribute
    return replace(attribute, taxonomy={**attribute.taxonomy, "file": str(folder / str(attribute.taxonomy["file"]))})


def _attribute_to_plain(attribute: Attribute) -> dict[str, Any]:
    lists = ("order", "values", "missing_codes")
    listed = {key: None if (given := getattr(attribute, key)) is None else list(given) for key in lists}
    domain = {
        "low": attribute.low,
        "high": attribute.high,
        "size": attribute.size,
        "values": listed["values"],
        "others": attribute.others or None,
        "missing": attribute.missing or None,
    }
    plain = {
        "name": attribute.name,
        "role": str(attribute.role),
        "kind": attribute.kind and str(attribute.kind),
        "type": attribute.type and str(attribute.type),
        "date_format": attribute.date_format,
        "missing_codes": listed["missing_codes"],
        "weight": None if attribute.weight == 1.0 else attribute.weight,
        "longest_set": attribute.longest_set,
        "keep_identifiers": attribute.keep_identifiers or None,
        "carry_anyway": attribute.carry_anyway or None,
        "order": listed["order"],
        "domain": {key: value for key, value in domain.items() if value is not None} or None,
        "taxonomy": None if attribute.taxonomy is None else dict(attribute.taxonomy),
        "prepare": None if attribute.prepare is None else dict(attribute.prepare),
    }
    return {key: value for key, value in plain.items() if value is not None}


_ENTRY_KEYS = (
    "name",
    "role",
    "kind",
    "type",
    "date_format",
    "missing_codes",
    "weight",
    "longest_set",
    "keep_identifiers",
    "carry_anyway",
    "order",
    "domain",
    "taxonomy",
    "prepare",
)
_FLAGS = ("others", "missing")
_DOMAIN_KEYS = ("low", "high", "size", "values", *_FLAGS)


def _attribute_from_plain(entry: object, source: str) -> Attribute:
    if not isinstance(entry, dict) or "name" not in entry:
        raise SchemaError(f"{source}: every entry of columns needs a name.")
    name = str(entry["name"])
    where = f"{source}, column {quoted(name)}"
    if entry["name"] is None or isinstance(entry["name"], bool | float):
        # YAML reads yes, no and 1.10 as true, false and 1.1: the name as it was written is lost.
        raise SchemaError(f"{where}: YAML reads this name as something else than text. Write it in quotes.")
    for key in entry:
        if key not in _ENTRY_KEYS:
            raise SchemaError(f"{where}: {unknown_name('setting', str(key), _ENTRY_KEYS)}")
    domain = entry.get("domain") or {}
    if not isinstance(domain, dict):
        raise SchemaError(f"{where}: domain must be a mapping such as {{low: 0, high: 110}}.")
    for key in domain:
        if key not in _DOMAIN_KEYS:
            raise SchemaError(f"{where}: {unknown_name('domain setting', str(key), _DOMAIN_KEYS)}")
    taxonomy = entry.get("taxonomy")
    if taxonomy is not None and not isinstance(taxonomy, dict):
        raise SchemaError(f"{where}: taxonomy must be a mapping such as {{prefixes: [3, 2]}}.")
    prepare = entry.get("prepare")
    if prepare is not None:
        Coarsening(name, prepare)
    for key in _FLAGS:
        if not isinstance(domain.get(key, False), bool):
            raise SchemaError(f"{where}: {key} must be true or false.")
    longest, kept = entry.get("longest_set"), entry.get("keep_identifiers", False)
    if longest is not None and (isinstance(longest, bool) or not isinstance(longest, int)):
        raise SchemaError(f"{where}: longest_set must be a whole number.")
    if not isinstance(kept, bool):
        raise SchemaError(f"{where}: keep_identifiers must be true or false.")
    role, anyway = _choice(Role, entry.get("role"), where, "role") or Role.IDENTIFIER, entry.get("carry_anyway", False)
    if not isinstance(anyway, bool):
        raise SchemaError(f"{where}: carry_anyway must be true or false.")
    if anyway and role is not Role.CARRIED:
        raise SchemaError(f"{where}: carry_anyway is for carried columns, and the role is {role}. Leave it out.")
    try:
        weight = float(entry.get("weight", 1.0))
        size = None if domain.get("size") is None else int(domain["size"])
    except (TypeError, ValueError, OverflowError):
        raise SchemaError(f"{where}: weight and size must be numbers.") from None
    return Attribute(
        name=name,
        role=role,
        kind=_choice(Kind, entry.get("kind"), where, "kind"),
        type=_choice(ValueType, entry.get("type"), where, "type"),
        date_format=None if entry.get("date_format") is None else str(entry["date_format"]),
        missing_codes=_read_list(entry.get("missing_codes"), where, "missing_codes"),
        weight=weight,
        taxonomy=taxonomy,
        prepare=prepare,
        order=_read_list(entry.get("order"), where, "order"),
        low=_bound(domain.get("low")),
        high=_bound(domain.get("high")),
        values=_read_list(domain.get("values"), where, "values"),
        others=domain.get("others", False),
        missing=domain.get("missing", False),
        longest_set=longest,
        keep_identifiers=kept,
        carry_anyway=anyway,
        size=size,
    )


def _bound(value: object) -> float | str | None:
    """Numbers stay numbers; dates become their ISO text."""
    if value is None or isinstance(value, int | float):
        return value
    return str(value)


def _read_list(value: object, where: str, what: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SchemaError(f"{where}: {what} must be a list.")
    return tuple(plain_text(item) for item in value)


def plain_text(item: object) -> str:
    """YAML reads true and 1 as themselves; a value's text is what the table shows."""
    return str(item).lower() if isinstance(item, bool) else str(item)


def _choice(kind: type[_Choice], value: object, where: str, what: str) -> _Choice | None:
    if value is None:
        return None
    try:
        return kind(str(value))
    except ValueError:
        raise SchemaError(f"{where}: {unknown_name(what, str(value), [str(member) for member in kind])}") from None
