"""Whose rows a table has: which column says so, how many persons there are, and whether rows repeat persons unsaid.

Where no column numbers persons, persons who have several rows still show: rows that agree in a date of birth and a zip
code agree in the sex too, which rows of different persons do by chance only. So for every pair of quasi-identifiers
it is asked how often rows that agree in both also agree in a third one, which neither of the two decides by itself (as
a zip code decides the city). Cost: a sort of all rows per pair of columns, of which there are 45 at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.column_names import numbers_households
from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import CONSTANT, find_repeated, mean_difference, rows_in_pairs
from lookalike.data.persons import number_pairs
from lookalike.data.schema import Role, Schema
from lookalike.errors import counted, quoted

_MOST_PAIRED = 10
_LEAST_PAIRS = 30
_LEAST_SHARE = 0.05
"""Of the rows: so many at least agree with another in both columns."""
_MOST_ROWS = 1 << 18


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

    columns: tuple[str, str]
    n_rows: int
    """Rows that agree with another row in both columns."""
    third: str
    agree: float
    """How many of such pairs of rows agree in the third column too."""
    by_chance: float
    """How many rows at random agree in it."""

    @property
    def sentence(self) -> str:
        one, other = map(quoted, self.columns)
        return (
            "No column says whose row it is, but persons seem to have several rows: "
            f"{counted(self.n_rows, 'row')} share {one} and {other} with another row, and {self.agree:.0%} of such "
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
    found = []
    for one, other in combinations(columns, 2):
        rows, pairs = _agreeing_pairs(one, other)
        if len(pairs) < _LEAST_PAIRS or rows < _LEAST_SHARE * table.n_rows:
            continue
        for third in columns:
            if third.name in (one.name, other.name):
                continue
            said = _tell_agreement(one, other, third, pairs)
            if said is not None:
                found.append(Unsaid(columns=(one.name, other.name), n_rows=rows, third=third.name, **said))
    # The clearest: a third column in which rows at random agree least.
    return min(found, key=lambda one: (one.by_chance, -one.n_rows), default=None)


def _agreeing_pairs(one: Column, other: Column) -> tuple[int, NDArray[np.int64]]:
    """How many rows agree with another in both columns, and such pairs of rows."""
    keys = number_pairs(one.codes, other.codes)
    known = np.flatnonzero((one.codes < len(one.values)) & (other.codes < len(other.values)))
    order = known[np.argsort(keys[known], kind="stable")]
    same = np.diff(keys[order]) == 0
    n_rows = int(np.count_nonzero(np.concatenate((same, [False])) | np.concatenate(([False], same))))
    places = np.flatnonzero(same)
    if len(places) > _MOST_ROWS:
        places = places[:: -(-len(places) // _MOST_ROWS)]
    return n_rows, np.column_stack((order[places], order[places + 1])) if len(places) else np.empty(
        (0, 2), dtype=np.int64
    )


def _tell_agreement(one: Column, other: Column, third: Column, pairs: NDArray[np.int64]) -> dict[str, float] | None:
    """How often pairs of rows agree in the third column, where that says that they are of one person."""
    agree = float(np.mean(third.codes[pairs[:, 0]] == third.codes[pairs[:, 1]]))
    shares = np.bincount(third.codes) / len(third.codes)
    by_chance = float(np.sum(shares**2))
    if 1 - agree > (1 - CONSTANT) * (1 - by_chance):
        return None
    # What one of the two decides by itself says nothing about persons.
    for column in (one, other):
        within = rows_in_pairs(column)
        if not len(within):
            continue
        alone = mean_difference(third, within[:, 0], within[:, 1])
        random = mean_difference(third, *_random_pairs(len(third.codes)))
        if random == 0 or alone <= 0.5 * random:
            return None
    return {"agree": agree, "by_chance": by_chance}


def _random_pairs(n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = np.random.default_rng(0).permutation(n_rows)[:_MOST_ROWS]
    return rows[:-1], rows[1:]
