"""Whose rows a table has: which column says so, how many persons there are, and whether rows repeat persons unsaid.

Where no column numbers persons, persons who have several rows still show: rows that agree in the date of birth and the
zip code agree in the sex too, which rows of different persons do by chance only. So for every quasi-identifier and
every pair of them with many values it is asked whether the rows that agree in them agree in something that is of a
person (sex, age, date of birth ...). Cost: a sort of all rows per pair of columns, of which there are 45 at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.column_names import find_word, numbers_households, words_of
from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import CONSTANT, find_repeated
from lookalike.data.persons import number_pairs
from lookalike.data.schema import Role, Schema
from lookalike.errors import counted, quoted

_AGES = "age alter edad eta leeftijd idade agegroup birth* dob born geburt* naissance datedenaissance nacimiento yob"
_PERSONAL = f"""
    {_AGES} sex gender geschlecht sexe sexo sesso geslacht genero race ethnic* nation nationalit* nacionalidad
    nazionalita citizenship staatsangehorigkeit religion* konfession birthplace geburtsort eyes hair
"""
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

    @property
    def sentence(self) -> str:
        who = counted(self.n_persons, str(self.role))
        said = f"{counted(self.n_rows, 'row')} of {who} by {quoted(self.column)}, at most {self.most_rows:,} of one."
        if self.declared:
            return said
        flag = f"--{self.role} {self.column if self.column.isidentifier() else quoted(self.column)}"
        if self.role is Role.HOUSEHOLD:
            return (
                f"{said} It is proposed as the household, as {self.reason}. With {flag} promises count households, "
                "which protects every person in them too and costs more detail; leave it out to count persons."
            )
        return f"{said} It is proposed as the person, as {self.reason}. Without {flag} promises would count rows."

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
        return (
            "No column says whose row it is, but persons seem to have several rows: "
            f"{counted(self.n_rows, 'row')} share {shared} with another row, and {self.agree:.0%} of such "
            f"rows agree in {quoted(self.third)} too, where {self.by_chance:.0%} of rows at random do. Then promises "
            "count rows and not persons. Add a column that numbers the persons, and name it (--person COLUMN)."
        )

    def to_plain(self) -> dict[str, Any]:
        return {**vars(self), "columns": list(self.columns)}


def find_persons(table: Table, schema: Schema | None, quasi: Sequence[str]) -> tuple[Persons, ...]:
    """The columns of persons and households: those that the schema declares, else those that are proposed."""
    if schema is not None and schema.unit is not None:
        units = [(attribute, "the schema says so") for attribute in (schema.person, schema.household) if attribute]
        return tuple(_count(table[each.name], each.role, reason, declared=True) for each, reason in units)
    found: list[Persons] = []
    repeated = find_repeated(table, schema or Schema(()), quasi)
    if repeated is not None:
        found.append(_count(table[repeated.name], Role.PERSON, repeated.reason, declared=False))
    for column in table.columns:
        word = numbers_households(column.name)
        if word is not None and len(column.values) < len(column.codes) - column.n_missing:
            reason = f"{quoted(word)} in its name says that it numbers households, and its values repeat"
            found.append(_count(column, Role.HOUSEHOLD, reason, declared=False))
            break
    return tuple(found)


def _count(column: Column, role: Role, reason: str, *, declared: bool) -> Persons:
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    return Persons(
        column=column.name,
        role=role,
        declared=declared,
        reason=reason,
        n_persons=int(np.count_nonzero(counts)),
        n_rows=int(counts.sum()),
        most_rows=int(counts.max(initial=0)),
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
