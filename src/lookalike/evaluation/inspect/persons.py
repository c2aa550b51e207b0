"""Whose rows a table has: which column says so, how many persons there are, and whether rows repeat persons unsaid.

Where no column numbers persons, persons who have several rows still show: rows that agree in the date of birth and the
zip code agree in the sex too, which rows of different persons do by chance only. So for every quasi-identifier and
every pair of them with many values it is asked whether the rows that agree in them agree in something that is of a
person (sex, age, date of birth ...). Cost: a sort of all rows per pair of columns, at most 45.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.column_names import find_word, may_name_households, numbers_households, words_of
from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import CONSTANT, find_repeated
from lookalike.data.person_doubts import find_doubt, find_spellings
from lookalike.data.persons import number_pairs
from lookalike.data.schema import NUMBER_LIKE, Role, Schema, ValueType
from lookalike.errors import counted, quoted

_AGES = "age alter edad eta leeftijd idade agegroup birth* dob born geburt* naissance datedenaissance nacimiento yob"
_PERSONAL = f"""
    {_AGES} sex gender geschlecht sexe sexo sesso geslacht genero race ethnic* nation nationalit* nacionalidad
    nazionalita citizenship staatsangehorigkeit religion* konfession birthplace geburtsort eyes hair
"""
_LEAST_HOUSEHOLDS = 30
"""Different numbers under the name "family": fewer may be sizes."""
_MOST_PAIRED = 10
_LEAST_ROWS = 30
_LEAST_SHARE = 0.05
"""Of the rows: so many at least agree with another one."""
_LEAST_KEYS = 0.05
"""Different values (pairs of values) per row, so that a value may be one person's."""
_TIMES_CHANCE = 3
"""So many times as many rows agree in two columns as if these had nothing to do with each other."""


@dataclass(frozen=True, kw_only=True)
class Persons:
    """Whose rows a table has."""

    column: str
    role: Role
    """Person or household."""
    declared: bool
    """Whether the schema says so; else it is proposed."""
    reason: str
    n_persons: int
    n_rows: int
    """Rows that have a value."""
    most_rows: int
    """Of one person."""
    n_missing: int = 0
    """Rows that have none."""
    doubt: str = ""
    """What speaks against it; empty: nothing."""

    @property
    def sentence(self) -> str:
        doubt = f" {self.doubt}" if self.doubt else ""
        return f"{self._counts}{self._proposal}{doubt}"

    @property
    def _counts(self) -> str:
        who = counted(self.n_persons, str(self.role))
        said = f"{counted(self.n_rows, 'row')} of {who} by {quoted(self.column)}, at most {self.most_rows:,} of one."
        if self.n_missing:
            said += (
                f" {counted(self.n_missing, 'row')} more {'has' if self.n_missing == 1 else 'have'} no value there: "
                "fill it in or remove them before you publish."
            )
        return said

    @property
    def _proposal(self) -> str:
        if self.declared:
            return ""
        flag = f"--{self.role} {self.column if self.column.isidentifier() else quoted(self.column)}"
        if self.role is Role.HOUSEHOLD:
            return (
                f" It is proposed as the household, as {self.reason}. With {flag} promises count households, "
                "which costs more detail: a group of k households has at least k persons, but limits on values are "
                "about households, not their members. Leave it out to count persons."
            )
        return (
            f" It is proposed as the person, as {self.reason}. With {flag} promises count persons. If every row is a "
            "different person, publish with --rows-are-persons instead."
        )

    def to_plain(self) -> dict[str, Any]:
        return {**vars(self), "role": str(self.role)}


@dataclass(frozen=True, kw_only=True)
class Unsaid:
    """Persons who have several rows although no column says so."""

    columns: tuple[str, ...]
    """One quasi-identifier or two."""
    n_rows: int
    """Rows that agree with another row in these columns."""
    third: str
    agree: float
    """How many of such pairs of rows agree in the third column too."""
    by_chance: float
    """How many rows at random agree in it."""

    @property
    def sentence(self) -> str:
        shared = " and ".join(map(quoted, self.columns))
        name = self.columns[0] if self.columns[0].isidentifier() else quoted(self.columns[0])
        numbered = (
            "" if len(self.columns) > 1 else f"If {shared} numbers the persons, name it: --person {name}. Else add "
        )
        return (
            "No column is known to number persons, but persons seem to have several rows: "
            f"{counted(self.n_rows, 'row')} share {shared} with another row, and {self.agree:.0%} of such "
            f"rows agree in {quoted(self.third)} too, where {self.by_chance:.0%} of rows at random do. Promises would "
            f"count rows and not persons. {numbered or 'Add '}a column that numbers the persons, and name it (--person "
            "COLUMN)."
        )

    def to_plain(self) -> dict[str, Any]:
        return {**vars(self), "columns": list(self.columns)}


def find_persons(table: Table, schema: Schema | None, quasi: Sequence[str]) -> tuple[Persons, ...]:
    """The columns of persons and households: those that the schema declares, else those that are proposed."""
    if schema is not None and schema.unit is not None:
        units = [attribute for attribute in (schema.person, schema.household) if attribute]
        declared = [_count(table, each.name, each.role, "the schema says so", declared=True) for each in units]
        return tuple(declared if schema.household else [*declared, *_propose_household(table)])
    found: list[Persons] = []
    repeated = find_repeated(table, schema or Schema(()), quasi)
    if repeated is not None:
        found.append(_count(table, repeated.name, Role.PERSON, repeated.reason, declared=False))
    return (*found, *_propose_household(table))


def _propose_household(table: Table) -> list[Persons]:
    """The first column that numbers households by its name, or by its name and its values, and repeats."""
    for column in table.columns:
        word = numbers_households(column.name)
        if word is None and may_name_households(column.name) and _number_many(column):
            word = column.name
        if word is not None and len(column.values) < len(column.codes) - column.n_missing:
            reason = f"{quoted(word)} in its name says that it numbers households, and its values repeat"
            return [_count(table, column.name, Role.HOUSEHOLD, reason, declared=False)]
    return []


def _number_many(column: Column) -> bool:
    """Whether values are numbers, too many of them for the size of a household."""
    if column.type in NUMBER_LIKE and column.type is not ValueType.INTEGER:
        return False
    has_digits = all(any(map(str.isdigit, str(value))) for value in column.values[:1000])
    return has_digits and _LEAST_HOUSEHOLDS <= len(column.values) < len(column.codes)


def _count(table: Table, name: str, role: Role, reason: str, *, declared: bool) -> Persons:
    column = table[name]
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    return Persons(
        column=column.name,
        role=role,
        declared=declared,
        reason=reason,
        n_persons=int(np.count_nonzero(counts)),
        n_rows=int(counts.sum()),
        most_rows=int(counts.max(initial=0)),
        n_missing=column.n_missing,
        doubt=(find_doubt(table, column) if role is Role.PERSON else "") or find_spellings(column),
    )


def find_unsaid(table: Table, quasi: Sequence[str]) -> Unsaid | None:
    """The clearest sign that persons have several rows, by columns that are no numbers of persons; None without one."""
    columns = sorted((table[name] for name in quasi), key=lambda column: -len(column.values))[:_MOST_PAIRED]
    personal = [table[name] for name in quasi if find_word(words_of(name), _PERSONAL)]
    if not personal or not table.n_rows:
        return None
    found = []
    for chosen in (*((column,) for column in columns), *combinations(columns, 2)):
        pairs, n_rows = _agreeing_pairs(chosen, table.n_rows)
        if n_rows < max(_LEAST_SHARE * table.n_rows, _LEAST_ROWS):
            continue
        about_age = any(find_word(words_of(column.name), _AGES) for column in chosen)
        for third in personal:
            if third in chosen or (about_age and find_word(words_of(third.name), _AGES)):
                continue
            agree = float(np.mean(third.codes[pairs[:, 0]] == third.codes[pairs[:, 1]]))
            by_chance = _share_of_pairs(third)
            if 1 - agree <= (1 - CONSTANT) * (1 - by_chance):
                names = tuple(column.name for column in chosen)
                said = Unsaid(columns=names, n_rows=n_rows, third=third.name, agree=agree, by_chance=by_chance)
                found.append(said)
    return max(found, key=lambda one: (one.n_rows, -one.by_chance), default=None)


def _agreeing_pairs(columns: Sequence[Column], n_rows: int) -> tuple[NDArray[np.int64], int]:
    """Pairs of rows that agree in these columns, and how many rows agree with another one.

    None where values are few, so that rows of different persons agree as well, or where rows agree in two columns about
    as often as if the two had nothing to do with each other.
    """
    keys, nothing = columns[0].codes.astype(np.int64), (np.empty((0, 2), dtype=np.int64), 0)
    for column in columns[1:]:
        keys = number_pairs(keys, column.codes)
    known = np.flatnonzero(np.all([column.codes < len(column.values) for column in columns], axis=0))
    # At random: neighbours in the table may be alike for another reason.
    known = np.random.default_rng(0).permutation(known)
    order = known[np.argsort(keys[known], kind="stable")]
    same = np.diff(keys[order]) == 0
    n_keys = len(order) - int(np.count_nonzero(same))
    if n_keys < _LEAST_KEYS * n_rows:
        return nothing
    if len(columns) > 1:
        times = np.diff(np.flatnonzero(np.concatenate(([True], ~same, [True]))))
        by_chance = float(np.prod([_share_of_pairs(column) for column in columns]))
        if float(np.sum(times.astype(np.float64) ** 2)) < _TIMES_CHANCE * by_chance * n_rows**2:
            return nothing
    n_sharing = int(np.count_nonzero(np.concatenate((same, [False])) | np.concatenate(([False], same))))
    places = np.flatnonzero(same)
    return np.column_stack((order[places], order[places + 1])).astype(np.int64), n_sharing


def _share_of_pairs(column: Column) -> float:
    """How many of all pairs of rows agree in a column."""
    shares = np.bincount(column.codes) / max(len(column.codes), 1)
    return float(np.sum(shares**2))
