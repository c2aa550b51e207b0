"""Finds the column that says whose row it is, where persons have several rows and nobody has said so.

A promise about rows is then no promise about persons: five rows of one patient are a group of five. What speaks for
a column: its name numbers persons (patient_id), or is a person's while its values are numbers (subject, id). Or it is
declared an identifier, its values are codes, and its name does not say that they are something else (a zip code). Or it
is declared an identifier or numbers records (case_no), and other columns are constant within its values, as a person's
sex and date of birth are. Constant means: the rows of a value agree in 9 of 10 cases where rows at random would not, or
differ by a tenth of what rows at random do.

Only names and values of the columns at hand are looked at. A column whose name says nothing is not found, unless it is
declared an identifier. Cost: one sort per column that may number persons; none where no value repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.column_names import is_told_by_name, may_name_persons, may_number_persons, numbers_persons
from lookalike.data.microdata import Column, Table
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import NUMBER_LIKE, Role, Schema, ValueType
from lookalike.errors import RecipeError, counted, quoted

CONSTANT = 0.9
_MANY_PAIRS = 1 << 18
_FEW_VALUES, _LOOKED_AT = 10, 1000
_MANY_ROWS = 10
"""Fewer values than the above in so many rows each are kinds of something, unless the name says persons."""


@dataclass(frozen=True)
class Repeated:
    """A column of which some values are in several rows, as the number of a person would be."""

    name: str
    n_rows: int
    """Rows that have a value."""
    n_values: int
    most: int
    """Rows of the most frequent value."""
    constant: tuple[str, ...]
    """Columns that are constant, or nearly, within its values."""
    declared: bool
    """Whether the schema calls it an identifier."""

    @property
    def reason(self) -> str:
        """Why it is taken for the number of a person."""
        word = numbers_persons(self.name)
        said = [] if word is None else [f"{quoted(word)} in its name says that it numbers persons"]
        said.append(f"its values repeat ({counted(self.n_values, 'value')} in {counted(self.n_rows, 'row')})")
        if self.constant:
            verb = "is" if len(self.constant) == 1 else "are"
            said.append(f"{_list_names(self.constant)} {verb} constant, or nearly, within them")
        return f"{', '.join(said[:-1])}, and {said[-1]}" if len(said) > 1 else said[0]


def _list_names(names: Sequence[str]) -> str:
    shown = [quoted(name) for name in names[:5]]
    more = [f"{len(names) - 5} more"] if len(names) > 5 else []
    *first, last = [*shown, *more]
    return f"{', '.join(first)} and {last}" if first else last


def find_repeated(table: Table, schema: Schema, known: Sequence[str] | None = None) -> Repeated | None:
    """The column that most likely says whose row it is although no column is declared to, or None.

    `known`: the columns that persons are known by; without it, the schema's quasi-identifiers.
    """
    if schema.unit is not None:
        return None
    roles = {attribute.name: attribute.role for attribute in schema.attributes}
    named = [attribute.name for attribute in schema.quasi] if known is None else known
    companions = [table[name] for name in named if name in table.names]
    found = (_look_at(column, roles.get(column.name), companions) for column in table.columns)
    candidates = [one for one in found if one is not None]
    # The name of a person before a mere number, and of several the finest.
    return max(candidates, key=lambda one: (numbers_persons(one.name) is not None, one.n_values), default=None)


def _look_at(column: Column, role: Role | None, companions: Sequence[Column]) -> Repeated | None:
    declared = role is Role.IDENTIFIER
    if not declared and not may_number_persons(column.name):
        return None
    if not declared and role is not None and not numbers_persons(column.name):
        # Published as it was declared: only the number of a person is surely a mistake there.
        return None
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    if int(counts.max(initial=0)) < 2:
        return None
    others = [other for other in companions if other.name != column.name]
    constant = [other for other in others if is_constant(column, other)]
    n_values, n_rows = int(np.count_nonzero(counts)), int(counts.sum())
    few = 2 if numbers_persons(column.name) else _FEW_VALUES - 1
    if not declared and n_values <= few and n_rows > _MANY_ROWS * n_values:
        # A few kinds of something: whether persons were searched, the number of a ward.
        return None
    if (
        column.type is ValueType.NUMBER
        and not has_whole_numbers(column)
        and not declared
        and not numbers_persons(column.name)
    ):
        # Decimals measure something: the staff of a school, in full-time posts.
        return None
    sure = (
        numbers_persons(column.name)
        or _is_numbered(column)
        or (declared and (may_number_persons(column.name) or (_has_codes(column) and not is_told_by_name(column.name))))
    )
    if not sure and not _tell_persons(column, constant, others):
        return None
    names = tuple(other.name for other in constant)
    return Repeated(column.name, n_rows, n_values, int(counts.max()), names, declared)


def _is_numbered(column: Column) -> bool:
    """Whether a column called "subject" or "id" holds numbers: subjects of a school have names."""
    return may_name_persons(column.name) and _has_codes(column)


def _has_codes(column: Column) -> bool:
    """Whether values are whole numbers, or texts with digits in them, as codes are and names are not."""
    if len(column.values) < _FEW_VALUES:
        return False
    if column.type in NUMBER_LIKE:
        return has_whole_numbers(column)
    return all(any(map(str.isdigit, str(value))) for value in column.values[:_LOOKED_AT])


def has_whole_numbers(column: Column) -> bool:
    """Whether values are whole numbers, also where a data frame holds them as floats because some are missing."""
    if column.type is ValueType.NUMBER:
        return bool(np.all(column.values == np.floor(column.values)))
    return column.type is ValueType.INTEGER


def _tell_persons(column: Column, constant: Sequence[Column], others: Sequence[Column]) -> bool:
    """Whether what is constant within the values of a column is more than one attribute that it merely codes."""
    finer = [other for other in constant if len(column.values) > len(other.values)]
    return len(constant) >= 2 or (len(others) == 1 and len(finer) == 1)


def is_constant(column: Column, other: Column) -> bool:
    """Whether rows with the same value of a column agree in another one far more than rows at random."""
    pairs = _pair_rows(column)
    shuffled = np.random.default_rng(0).permutation(len(column.codes))[: _MANY_PAIRS + 1]
    within = _mean_difference(other, pairs[:, 0], pairs[:, 1])
    across = _mean_difference(other, shuffled[:-1], shuffled[1:])
    return across > 0 and within <= (1 - CONSTANT) * across


def _pair_rows(column: Column) -> NDArray[np.int64]:
    """Pairs of rows [pairs, 2] that have the same value: each row and another one, or many of these.

    Drawn at random, since neighbours in the table may be alike for another reason: rows are often sorted by person.
    """
    known = np.random.default_rng(0).permutation(np.flatnonzero(column.codes < len(column.values)))
    order = known[np.argsort(column.codes[known], kind="stable")]
    same = np.flatnonzero(np.diff(column.codes[order]) == 0)
    if len(same) > _MANY_PAIRS:
        same = same[:: -(-len(same) // _MANY_PAIRS)]
    return np.column_stack((order[same], order[same + 1])).astype(np.int64)


def _mean_difference(column: Column, ones: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """How far rows differ on average: in numbers and dates by how much, else how often."""
    left, right = column.codes[ones], column.codes[others]
    if column.type not in NUMBER_LIKE:
        return float(np.mean(left != right)) if len(left) else 0.0
    both = (left < len(column.values)) & (right < len(column.values))
    if not both.any():
        return 0.0
    values = column.values.astype(np.float64)
    return float(np.mean(np.abs(values[left[both]] - values[right[both]])))


def refuse_repeated(table: Table, schema: Schema, settings: PersonSettings) -> None:
    """Raise `RecipeError` if rows would count as persons although a column says that persons have several."""
    if settings.rows_are_persons:
        return
    found = find_repeated(table, schema)
    if found is not None:
        raise RecipeError(explain_repeated(found))


def explain_repeated(found: Repeated) -> str:
    """What is wrong with counting rows, in numbers, and the two ways out."""
    who = "has the role identifier and " if found.declared else ""
    constant = ""
    if found.constant:
        verb = "is" if len(found.constant) == 1 else "are"
        constant = f" {_list_names(found.constant)} {verb} constant, or nearly, within its values."
    name = quoted(found.name)
    flag = found.name if found.name.isidentifier() else quoted(found.name)
    return (
        f"Column {name} {who}repeats: {counted(found.n_rows, 'row')}, {counted(found.n_values, 'different value')}, "
        f"one of them in {counted(found.most, 'row')}.{constant} If these are persons, a promise that counts rows does "
        f"not protect them, since a group of rows may be one person. Declare the column: --person {flag} (in Python "
        f"person={name}), and persons are counted. If every row is a different person all the same, say so: "
        "--rows-are-persons (rows_are_persons=True), which the release states."
    )
