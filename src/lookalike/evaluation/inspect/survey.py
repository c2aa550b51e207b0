"""What a table is like before anything is done to it: each column's likely role, and how many records stand alone.

Plain data in, plain data out, and no record's values: counts, shares, names of columns, sentences. All roles are
suggestions with a reason; with a schema its roles are used and the suggestions are beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.data.coarsening import suggest_rounding
from lookalike.data.microdata import Column, Table, guess_kind, no_rows
from lookalike.data.schema import NUMBER_LIKE, Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import DataError, SchemaError, counted, quoted, unknown_name
from lookalike.evaluation.inspect.combinations import Combinations
from lookalike.evaluation.inspect.dependencies import Follows
from lookalike.evaluation.inspect.persons import Persons, Unsaid, find_persons, find_unsaid
from lookalike.evaluation.inspect.roles import MOSTLY, Roles, suggest_roles
from lookalike.evaluation.inspect.suggestions import code_reason, taxonomy_hint
from lookalike.evaluation.inspect.values import note_values
from lookalike.files.tables import read_table
from lookalike.progress import Progress, silent

_GROUP_SIZES = (2, 5, 10)
_MOST_NAMED = 10
"""Notes name at most so many columns."""


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """One column: what it holds, what it most likely is, and what it is taken for."""

    name: str
    type: ValueType
    n_distinct: int
    """Different values, missing not counted."""
    n_missing: int
    unique_share: float
    """Share of the rows whose value no other row has (missing counts as a value, here and below)."""
    least_share: float
    """Share of the rows that have the least frequent value."""
    most_share: float
    """Share of the rows that have the most frequent value."""
    suggested_role: Role
    role_reason: str
    suggested_kind: Kind
    kind_reason: str
    role: Role | None
    """The role it is taken for: the schema's, else the suggested one; None: the schema leaves it out."""
    code_reason: str = ""
    """Why its whole numbers look like codes; empty: they do not."""
    taxonomy_hint: Mapping[str, Any] | None = None
    """A hierarchy that would suit it, as a schema writes it."""
    date_format: str | None = None
    """How its dates are written in the file, where not as 2024-12-31."""
    question: str = ""
    """What must be said before its texts can be taken for dates."""


@dataclass(frozen=True)
class Leverage:
    """What one quasi-identifier adds to telling records apart."""

    name: str
    unique_with: int
    unique_without: int

    @property
    def drop(self) -> int:
        """How many records would no longer stand alone without it."""
        return self.unique_with - self.unique_without


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """A table, its columns, and how identifying its quasi-identifiers are together."""

    source: str
    n_rows: int
    columns: tuple[ColumnProfile, ...]
    quasi: tuple[str, ...]
    """The quasi-identifiers that the numbers below are about."""
    n_combinations: int
    n_unique: int
    """Records alone with their combination."""
    smallest_group: int
    median_group: int
    """Half of all records share their combination with at most so many, themselves included."""
    share_in_groups_below: Mapping[int, float]
    """For each size the share of the records in groups smaller than it."""
    worst_columns: tuple[Leverage, ...]
    """The quasi-identifiers, the one first that sets most records apart."""
    n_duplicates: int
    """Rows that repeat an earlier row in every column."""
    persons: tuple[Persons, ...]
    """The columns that say whose row it is, declared or proposed: of persons, of households, both or none."""
    unsaid: Unsaid | None
    """A sign that persons have several rows although no column says so."""
    follows: tuple[Follows, ...]
    """Columns that follow from a quasi-identifier."""
    notes: tuple[str, ...]

    @property
    def unique_share(self) -> float:
        return self.n_unique / self.n_rows if self.n_rows else 0.0

    @property
    def schema(self) -> Schema:
        """The columns in the roles that they are taken for, and nothing else said of them: what options say."""
        return Schema(tuple(Attribute(name=one.name, role=one.role) for one in self.columns if one.role is not None))

    def __getitem__(self, name: str) -> ColumnProfile:
        if name not in self._by_name:
            raise SchemaError(unknown_name("column", name, list(self._by_name)))
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, ColumnProfile]:
        return {profile.name: profile for profile in self.columns}

    def to_plain(self) -> dict[str, Any]:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["unique_share"] = self.unique_share
        plain["columns"] = [dict(vars(profile)) for profile in self.columns]
        plain["persons"] = [found.to_plain() for found in self.persons]
        plain["unsaid"] = None if self.unsaid is None else self.unsaid.to_plain()
        plain["follows"] = [found.to_plain() for found in self.follows]
        plain["quasi"], plain["notes"] = list(self.quasi), list(self.notes)
        plain["share_in_groups_below"] = {str(size): share for size, share in self.share_in_groups_below.items()}
        plain["worst_columns"] = [{**vars(leverage), "drop": leverage.drop} for leverage in self.worst_columns]
        return plain


def inspect(
    table: Any, *, schema: Schema | str | Path | None = None, progress: Progress = silent, **reading: Any
) -> Inspection:
    """What a table is like before anything is done to it: columns, likely roles, how many records stand alone.

    Without a schema columns are taken in their suggested roles.

    >>> sexes = Column("sex", ValueType.STRING, np.array([0, 1, 1], dtype=np.int32), np.array(["f", "m"], dtype=object))
    >>> found = inspect(Table((sexes,)))
    >>> found.quasi, found.n_unique, found.smallest_group
    (('sex',), 1, 1)
    """
    table = read_table(table, progress=progress, **reading)
    if table.n_rows == 0:
        raise DataError(no_rows(table.source))
    schema = Schema.of(schema) if schema else None
    roles = None
    if schema is not None:
        known = set(table.names)
        for attribute in schema.attributes:
            if attribute.name not in known:
                raise SchemaError(f"{unknown_name('column', attribute.name, table.names)} (read from {table.source})")
        roles = {attribute.name: attribute.role for attribute in schema.attributes}
    suggested = suggest_roles(table)
    profiles = tuple(_profile(column, roles, suggested) for column in table.columns)
    quasi = tuple(profile.name for profile in profiles if profile.role is Role.QUASI)
    persons = find_persons(table, schema, quasi)
    again = _without_units(table, suggested, persons)
    if again is not suggested:
        suggested = again
        profiles = tuple(_profile(column, roles, suggested) for column in table.columns)
    profiles = tuple(_with_proposal(profile, persons, is_open=roles is None) for profile in profiles)
    quasi = tuple(profile.name for profile in profiles if profile.role is Role.QUASI)
    unsaid = None if persons else find_unsaid(table, quasi)
    combinations = Combinations.of([table[name] for name in quasi], table.n_rows)
    n_unique = combinations.n_unique
    all_differ = any(len(column.values) == table.n_rows for column in table.columns)
    n_different = table.n_rows if all_differ else len(Combinations.of(table.columns, table.n_rows).sizes)
    without_each = combinations.count_unique_without_each()
    leverages = [Leverage(name, n_unique, without) for name, without in zip(quasi, without_each, strict=True)]
    return Inspection(
        source=table.source,
        n_rows=table.n_rows,
        columns=profiles,
        quasi=quasi,
        n_combinations=len(combinations.sizes),
        n_unique=n_unique,
        smallest_group=int(combinations.sizes.min(initial=table.n_rows)),
        median_group=combinations.median_size(),
        share_in_groups_below={
            size: combinations.n_records_below(size) / max(table.n_rows, 1) for size in _GROUP_SIZES
        },
        worst_columns=tuple(sorted(leverages, key=lambda leverage: -leverage.drop)),
        n_duplicates=table.n_rows - n_different,
        persons=persons,
        unsaid=unsaid,
        follows=suggested.follows,
        notes=(
            *table.notes,
            *_about_persons(persons, unsaid),
            *_about_followers(suggested.follows),
            *note_values(table, {profile.name: profile.role for profile in profiles}, schema, suggested.held),
            *_notes(table, profiles, schema),
        ),
    )


def suggest_schema(table: Table) -> Schema:
    """Every column with its suggested role and kind, identifiers and persons too: a schema to edit."""
    suggested = suggest_roles(table)
    persons = find_persons(table, None, [name for name, (role, _) in suggested.by_column.items() if role is Role.QUASI])
    roles = {name: role for name, (role, _) in _without_units(table, suggested, persons).by_column.items()}
    roles |= {found.column: found.role for found in persons}
    return Schema(tuple(_suggest_attribute(column, roles[column.name]) for column in table.columns))


def _without_units(table: Table, suggested: Roles, persons: Sequence[Persons]) -> Roles:
    """The roles, where a column that turned out to number persons is none that others follow from."""
    units = [found.column for found in persons]
    if not any(found.of in units for found in suggested.follows):
        return suggested
    return suggest_roles(table, units)


def _suggest_attribute(column: Column, role: Role) -> Attribute:
    if role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD):
        return Attribute(name=column.name, role=role, type=column.type)
    if column.question:
        # Publishing asks what the texts are. A kind or a type would be an answer that nobody gave.
        return Attribute(name=column.name, role=role)
    kind = guess_kind(column)[0]
    # Without prefixes, text such as zip codes could only be published as sets of values.
    hint = taxonomy_hint(column) if role is Role.QUASI and kind is Kind.CATEGORICAL else None
    return Attribute(
        name=column.name,
        role=role,
        kind=kind,
        type=column.type,
        taxonomy=hint,
        date_format=column.date_format,
        missing_codes=column.missing_codes or None,
    )


def _profile(column: Column, roles: Mapping[str, Role] | None, suggestions: Roles) -> ColumnProfile:
    n_rows = len(column.codes)
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)
    counts = counts[counts > 0]
    suggested, reason = suggestions[column.name]
    kind, kind_reason = guess_kind(column)
    return ColumnProfile(
        name=column.name,
        type=column.type,
        n_distinct=len(column.values),
        n_missing=column.n_missing,
        unique_share=int(np.count_nonzero(counts == 1)) / max(n_rows, 1),
        least_share=int(counts.min(initial=n_rows)) / max(n_rows, 1),
        most_share=int(counts.max(initial=0)) / max(n_rows, 1),
        suggested_role=suggested,
        role_reason=reason,
        suggested_kind=kind,
        kind_reason=kind_reason,
        role=suggested if roles is None else roles.get(column.name),
        code_reason=code_reason(column),
        taxonomy_hint=None if suggested is Role.IDENTIFIER else taxonomy_hint(column),
        date_format=column.date_format,
        question=column.question,
    )


def _with_proposal(profile: ColumnProfile, persons: tuple[Persons, ...], *, is_open: bool) -> ColumnProfile:
    """A column that is proposed as that of persons or households; `is_open`: it has no role but the suggested one."""
    for found in persons:
        if found.column == profile.name and not found.declared:
            role = found.role if is_open else profile.role
            hint = None if is_open else profile.taxonomy_hint
            return replace(profile, suggested_role=found.role, role_reason=found.reason, role=role, taxonomy_hint=hint)
    return profile


def _about_persons(persons: tuple[Persons, ...], unsaid: Unsaid | None) -> list[str]:
    return [*(found.sentence for found in persons), *([] if unsaid is None else [unsaid.sentence])]


def _advise_coarser(column: Column) -> str:
    if column.type not in NUMBER_LIKE:
        return "group the values into classes first (--coarsen COLUMN=prefix:3 or groups:...)"
    are_dates = column.type in (ValueType.DATE, ValueType.DATETIME)
    return f"publish ranges instead ({suggest_rounding(column.name, column.values, are_dates=are_dates)})"


def _notes(table: Table, profiles: tuple[ColumnProfile, ...], schema: Schema | None) -> list[str]:
    sensitive = [profile for profile in profiles if profile.role is Role.SENSITIVE]
    notes = []
    if not sensitive:
        notes.append(
            "No column is taken as sensitive. Name what outsiders must not learn (--sensitive COLUMN); without it only "
            "models about identity, such as k-anonymity, say anything."
        )
    elif len(sensitive) > 1:
        names = _list_names([profile.name for profile in sensitive])
        notes.append(
            f"{len(sensitive)} columns are taken as sensitive: {names}. Each gets its own promise, and every one "
            "costs detail; make those carried that need none."
        )
    if not any(profile.role is Role.QUASI for profile in profiles):
        notes.append("No column is taken as a quasi-identifier. Say which columns an outsider may know (--qi A,B).")
    crowded = [each for each in sensitive if each.unique_share >= MOSTLY and table.n_rows > 1]
    if schema is not None:
        crowded = [each for each in crowded if schema[each.name].prepare is None]
    for profile in crowded[:_MOST_NAMED]:
        notes.append(
            f"Column {quoted(profile.name)} is sensitive, and nearly every row has its own value. Models compare "
            f"shares of values: {_advise_coarser(table[profile.name])}."
        )
    # Those that will be generalised or protected as the kind that the values suggest.
    codes = [
        profile
        for profile in profiles
        if profile.code_reason and profile.role in (Role.QUASI, Role.SENSITIVE)
        if schema is None or schema[profile.name].kind is None
    ]
    if codes:
        reasons = ", ".join(f"{quoted(profile.name)} ({profile.code_reason})" for profile in codes[:_MOST_NAMED])
        reasons += f" and {len(codes) - _MOST_NAMED:,} more" if len(codes) > _MOST_NAMED else ""
        notes.append(
            f"{counted(len(codes), 'column')} of whole numbers may be codes: {reasons}. They are read as numeric; "
            "where the distance between two numbers means nothing, declare the column with --categorical."
        )
    left_out = [profile.name for profile in profiles if profile.role is None]
    if left_out:
        notes.append(
            f"The schema leaves out {counted(len(left_out), 'column')}: {_list_names(left_out)}. They are not "
            "published."
        )
    return notes


def _about_followers(follows: Sequence[Follows]) -> list[str]:
    if not follows:
        return []
    listed = "; ".join(found.sentence for found in follows[:_MOST_NAMED])
    more = f"; and {len(follows) - _MOST_NAMED:,} more" if len(follows) > _MOST_NAMED else ""
    return [
        f"{counted(len(follows), 'column')} can be worked out from a quasi-identifier: {listed}{more}. Published "
        "exactly, such a column would show what is made coarser in the other. Leave it out, or make both "
        "quasi-identifiers."
    ]


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(quoted(name) for name in names[:_MOST_NAMED])}{more}"
