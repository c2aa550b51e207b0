"""Who is counted when a release is read back: the persons that it states, or whom the reader of the audit names.

The release says which column of the original says whose row it is, and which rows of a person it has. The original is
cut down to these rows in the same way before anything is held against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.audit import Check
from lookalike.data.folding import fold_for, made_columns
from lookalike.data.microdata import Microdata, Table
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.person_settings import RANDOM, PersonSettings, StatedPersons
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.errors import DataError, RecipeError, Unsupported, counted, quoted
from lookalike.files.releases.private import read_salt
from lookalike.pipeline.person_rows import choose_rows, keep_rows, order_visits


@dataclass(frozen=True, kw_only=True)
class Counting:
    """What the reader says about whose rows are whose, besides a schema."""

    rows_are_persons: bool = False
    number_known: bool | None = None
    """Whether an attacker may know how many rows a person has; None: as the release states, else yes."""
    private: Path | None = None
    """The private folder, which has what rows were drawn by where the release does not say it."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Who is counted."""

    units: tuple[Attribute, ...]
    """The columns that say whose row it is; none: rows are counted."""
    settings: PersonSettings
    as_stated: bool
    """Whether that is what the release states."""
    stated: tuple[str, ...] = field(default=())
    """What of it no file shows."""
    instead_of: tuple[Attribute, ...] = ()
    """The columns that the release states, where the reader names others."""

    def over(self, schema: Schema) -> Schema:
        """The schema with these columns for persons, and no others."""
        named = {attribute.name for attribute in self.units}
        left = (
            attribute
            for attribute in schema.attributes
            if attribute.role not in (Role.PERSON, Role.HOUSEHOLD)
            and not (attribute.role is Role.IDENTIFIER and attribute.name in named)
        )
        return Schema((*left, *self.units))

    def refuse_rows(self, table: Table, schema: Schema) -> None:
        """Raise `RecipeError` if rows would be counted although persons have several, or by no column of the table."""
        refuse_repeated(table, schema, self.settings)
        published = {attribute.name for attribute in schema.published}
        for attribute in self.instead_of:
            # The name of such a column is text that nobody needs, and may say anything.
            if attribute.name not in table.names or attribute.name in published:
                what = "a published column" if attribute.name in published else "no column of the original"
                raise RecipeError(
                    f"The release names {quoted(attribute.name)} as the column of persons, which is {what}. Its "
                    "description was changed: get the release again."
                )

    @property
    def made(self) -> list[str]:
        """Columns of the release that are made of the original's rows."""
        return made_columns(self.settings.fold)

    def fold(self, table: Table, schema: Schema) -> Table:
        """The table with what varies from row to row of a person made one value, as the release states."""
        return fold_for(schema, table, self.settings)

    def select(self, data: Microdata, table: Table) -> tuple[Microdata, NDArray[np.int64] | None]:
        """The records that are published, and their rows in the original (None: all)."""
        if data.persons is None:
            return data, None
        if self.settings.order is not None:
            data = replace(data, visits=order_visits(data, table, self.settings.order))
        rows = None if self.settings.most_rows is None else choose_rows(data, self.settings)
        return keep_rows(data, self.settings), rows

    def check(self, data: Microdata) -> tuple[Check, ...]:
        """Whether no person has more rows than the release states; counted again."""
        most = self.settings.most_rows
        if most is None or not self.units:
            return ()
        found = 1 if data.persons is None else int(np.bincount(data.persons).max(initial=0))
        said = f"at most {counted(most, 'row')} per {self.units[-1].role}, chosen again as the release states"
        return (Check("rows per person", found <= most, said),)


def count_whom(counting: Counting, given: Schema, stated: StatedPersons | None, *, in_parts: bool = False) -> Counted:
    """Who is counted; raises `RecipeError` where the reader says something else than the release, and it matters."""
    named = tuple(attribute for attribute in (given.person, given.household) if attribute is not None)
    settings = PersonSettings() if stated is None else stated.settings
    roles = {} if stated is None else {Role.PERSON: stated.person, Role.HOUSEHOLD: stated.household}
    own = tuple(Attribute(name=name, role=role) for role, name in roles.items() if name is not None)
    if counting.rows_are_persons and (named or own):
        names = " and ".join(quoted(attribute.name) for attribute in named or own)
        whose = "You name" if named else "The release names"
        raise RecipeError(f"{whose} {names} as the column of persons. Leave out --rows-are-persons.")
    if counting.rows_are_persons:
        settings = replace(settings, rows_are_persons=True)
    same = not named or _names(named) == _names(own)
    if not same:
        if settings.most_rows is not None:
            raise RecipeError(
                f"The release has at most {counted(settings.most_rows, 'row')} per {stated and stated.unit} by "
                f"{' and '.join(quoted(each.name) for each in own)}, and you name "
                f"{' and '.join(quoted(each.name) for each in named)}. Leave yours out."
            )
        settings = PersonSettings(number_known=settings.number_known)
    units = named or own
    if counting.number_known is not None and units:
        same = same and counting.number_known == settings.number_known
        settings = replace(settings, number_known=counting.number_known)
    settings = _with_salt(settings, stated, counting.private, in_parts=in_parts)
    settings.check(person=bool(units))
    return Counted(
        units=units,
        settings=settings,
        as_stated=same,
        stated=() if stated is None or not same else _list_stated(settings, units),
        instead_of=tuple(attribute for attribute in own if named and attribute not in named),
    )


def _names(attributes: tuple[Attribute, ...]) -> set[tuple[Role, str]]:
    return {(attribute.role, attribute.name) for attribute in attributes}


def _with_salt(
    settings: PersonSettings, stated: StatedPersons | None, private: Path | None, *, in_parts: bool
) -> PersonSettings:
    """The settings with what rows were drawn by, from the release or its private folder."""
    if stated is None or not stated.hides_salt:
        return settings
    if in_parts:
        raise Unsupported(
            f"The release was made in parts and has at most {counted(settings.most_rows or 1, 'row')} per "
            f"{stated.unit}, drawn by a key that nobody keeps. So nobody can tell which rows of the original it has. "
            "It was audited while it was made, and cannot be held against its original again."
        )
    salt = None if private is None else read_salt(private)
    if salt is None:
        raise DataError(
            f"The release has at most {counted(settings.most_rows or 1, 'row')} per {stated.unit}, drawn at random by "
            "a salt that its publisher keeps in the private folder. Name that folder (--private DIR)."
        )
    return replace(settings, salt=salt)


def _list_stated(settings: PersonSettings, units: tuple[Attribute, ...]) -> tuple[str, ...]:
    if settings.rows_are_persons:
        return ("that every row is a different person",)
    if not units:
        return ()
    noun = str(units[-1].role)
    said = ["that " + " and ".join(f"{quoted(one.name)} identifies the {one.role} of each row" for one in units)]
    if not settings.number_known:
        said.append(f"that no attacker knows how many rows a {noun} has")
    if settings.most_rows is not None and settings.keep == RANDOM:
        said.append(f"that chance alone chose which rows of a {noun} are published")
    return tuple(said)
