"""How the rows of one person are published. Loads nothing, since every command's help needs the words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from lookalike.errors import RecipeError, quoted

APART, LINKED, ONE = ROWS = ("apart", "linked", "one")
"""Rows without any person number; rows with a fresh number per person; one row per person."""
_FIRST, LAST, RANDOM = KEPT = ("first", "last", "random")
"""Which row of a person is kept where one is published."""


_FLAGS = {
    "rows": "--rows",
    "keep": "--keep",
    "contribution": "--contribution",
    "order": "--order",
    "fold": "--fold",
    "number_known": "--number-of-rows",
}


@dataclass(frozen=True, kw_only=True)
class PersonSettings:
    """How the rows of one person are published."""

    rows: str = APART
    keep: str = RANDOM
    """`rows=one`: which row."""
    contribution: int | None = None
    """The most rows per person; further ones, drawn at random, are left out."""
    order: str | None = None
    """The column that a person's rows are ordered by; None: the order of the table."""
    fold: tuple[str, ...] | None = None
    """Columns whose values become one per person, each as COLUMN=RULE (`data.folding`)."""
    number_known: bool = True
    """Whether the attacker may know how many rows a person has."""
    salt: str | None = None
    """What rows are drawn by, in hexadecimal digits; never published, kept by the owner so that an audit can draw the
    same."""
    rows_are_persons: bool = False
    """Whether the publisher states that every row is another person, although an identifier repeats."""

    def __post_init__(self) -> None:
        for name, given, known in (("rows", self.rows, ROWS), ("keep", self.keep, KEPT)):
            if given not in known:
                raise RecipeError(f"{name} must be one of {', '.join(known)}, not {quoted(given)}.")
        if self.contribution is not None and self.contribution < 1:
            raise RecipeError(f"contribution is the most rows per person: 1 or more, not {self.contribution}.")
        if self.rows == LINKED and not self.number_known:
            raise RecipeError(
                "Linked rows show how many rows each person has, so it cannot be unknown to an attacker. Leave out "
                "--number-of-rows unknown, or publish rows apart (--rows apart)."
            )
        if self.rows == LINKED and self.contribution == 1:
            raise RecipeError(
                "Linked rows with one row per person link nothing. Publish one row per person (--rows one), or more of "
                "them (--contribution C)."
            )
        if self.rows == ONE and self.contribution not in (None, 1):
            raise RecipeError(
                f"rows=one publishes one row per person, and contribution={self.contribution} allows more. Leave one "
                "of the two out (--rows, --contribution)."
            )
        if self.keep != RANDOM and self.most_rows is None:
            raise RecipeError(
                f"keep={self.keep} says which rows of a person are published, and all of them are. Add --rows one or "
                "--contribution C, or leave out --keep."
            )

    def check(self, *, person: bool) -> None:
        """Raise `RecipeError` where these settings mean nothing; `person`: whether a column says whose row it is."""
        if person and self.rows_are_persons:
            raise RecipeError(
                "A column identifies the persons, and --rows-are-persons says that every row is a different person. "
                "Leave out one of the two."
            )
        if person:
            return
        usual = PersonSettings()
        for name, flag in _FLAGS.items():
            if getattr(self, name) != getattr(usual, name):
                raise RecipeError(
                    f"{flag} is about the rows of one person, and no column identifies the persons. Name one (--person "
                    f"COLUMN), or leave out {flag}."
                )

    @property
    def most_rows(self) -> int | None:
        """The most rows of a person that are published; None: all."""
        return 1 if self.rows == ONE else self.contribution


_SALT = re.compile(r"[0-9a-f]{32}")


def is_salt(text: str) -> bool:
    """Whether a text can be what rows were drawn by: no room for anything else."""
    return _SALT.fullmatch(text) is not None


@dataclass(frozen=True)
class Unit:
    """What promises count where it may have several rows, as sentences name it."""

    noun: str = "person"
    known: str = "one row"
    """The rows of it whose quasi-identifiers the attacker knows."""


@dataclass(frozen=True, kw_only=True)
class StatedPersons:
    """What a release says about whose rows it has. It says no number of persons, since its rows do not show one."""

    person: str | None = None
    """The column of the original that says whose row it is."""
    household: str | None = None
    settings: PersonSettings

    @property
    def unit(self) -> str:
        """What promises count."""
        return "household" if self.household else "person" if self.person else "row"

    @property
    def counted(self) -> Unit | None:
        """What promises count in place of rows; None: every row is one."""
        if self.unit == "row" or self.settings.rows == ONE:
            return None
        return Unit(self.unit, "all rows" if self.settings.rows == LINKED else "one row")

    @property
    def hides_salt(self) -> bool:
        """Whether rows were drawn by a salt that the release does not say."""
        given = self.settings
        return given.most_rows is not None and given.keep == RANDOM and given.salt is None

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON; what does not apply is left out."""
        if self.unit == "row":
            return {"rows_are_persons": True}
        stated = {"person": self.person, "household": self.household, **asdict(self.settings)}
        if self.settings.fold is not None:
            stated["fold"] = list(self.settings.fold)
        del stated["rows_are_persons"]
        return {name: value for name, value in stated.items() if value is not None}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> StatedPersons:
        """As it was written; TypeError or ValueError if it is something else."""
        if plain == {"rows_are_persons": True}:
            return cls(settings=PersonSettings(rows_are_persons=True))
        given = dict(plain)
        columns = {role: given.pop(role, None) for role in ("person", "household")}
        contribution = given.get("contribution")
        texts = all(isinstance(name, str) and name for name in columns.values() if name is not None)
        if not any(columns.values()) or not texts or not isinstance(given["number_known"], bool):
            raise ValueError("persons")
        if "salt" in given:
            # What rows are drawn by stays with the owner, and a reader would take any message for one.
            raise ValueError("salt")
        if contribution is not None and (not isinstance(contribution, int) or isinstance(contribution, bool)):
            raise ValueError("contribution")
        if not isinstance(given.get("order", ""), str):
            raise ValueError("order")
        if "fold" in given:
            if not isinstance(given["fold"], list) or not all(isinstance(fold, str) for fold in given["fold"]):
                raise ValueError("fold")
            given["fold"] = tuple(given["fold"])
        try:
            return cls(**columns, settings=PersonSettings(**given))
        except RecipeError as error:
            raise ValueError(str(error)) from None

    def flags(self) -> list[str]:
        """The options of the command that say the same."""
        given, usual = self.settings, PersonSettings()
        if self.unit == "row":
            return ["--rows-are-persons"]
        said = [("--person", self.person), ("--household", self.household)]
        for name, flag in _FLAGS.items():
            value = getattr(given, name)
            if isinstance(value, tuple):
                # The option takes several, separated by commas.
                said += [
                    (flag, f'"{one.replace(chr(34), 2 * chr(34))}"' if set(one) & set(',"') else one) for one in value
                ]
            elif value != getattr(usual, name):
                said.append((flag, ("known" if value else "unknown") if isinstance(value, bool) else str(value)))
        return [word for flag, value in said if value is not None for word in (flag, value)]

    def without_salt(self) -> StatedPersons:
        return replace(self, settings=replace(self.settings, salt=None))

    def sentences(self) -> list[str]:
        """What a reader of the release should know about persons who have several rows."""
        given, unit = self.settings, self.unit
        if unit == "row":
            return [
                "Every row counts as a different person. The publisher states that this is so, although an identifier "
                "repeats in the original; if it is not so, the promises do not hold for persons."
            ]
        said = [f"A {unit} may have several rows in the original. The promises count distinct {unit}s, not rows."]
        if unit == "household":
            said.append(
                "Limits on values are about households, not about their members: of the persons in a group, more may "
                "have a value than of the households."
            )
        if given.rows == ONE:
            said = [
                f"The release has one row per {unit} of the original ({_KEPT[given.keep]}), and promises count these."
            ]
        elif given.contribution is not None:
            most = f"at most {given.contribution} rows" if given.contribution > 1 else "one row"
            said.append(f"It has {most} per {unit} ({_KEPT[given.keep]}).")
        if given.fold is not None:
            said.append(f"What varies from row to row of a {unit} was made one value: {', '.join(given.fold)}.")
        if given.rows == ONE:
            return said
        if given.rows == LINKED:
            said.append(
                f"Rows with the same number are of one {unit}, and numbers are drawn anew for every release. The "
                f"promises hold against someone who knows the quasi-identifiers of all rows of a {unit}, and how many "
                "there are."
            )
            return said
        if given.rows == APART:
            said.append(
                f"Rows do not show which {unit} they belong to. The promises hold against someone who knows one row of "
                f"a {unit}, and not against someone who knows several that lie in different groups. A row of a group "
                f"is more likely that of a {unit} with many rows in the group than of one with few."
            )
        number = "may know" if given.number_known else "does not know"
        said.append(f"It is assumed that an attacker {number} how many rows a {unit} has.")
        return said


_KEPT = {_FIRST: "the first of the table", LAST: "the last of the table", RANDOM: "drawn at random"}
