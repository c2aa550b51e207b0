"""Folding: what varies from row to row of a person becomes one value, the same in all rows of the person.

    --fold weight=last,admitted=least,diagnosis=any:HIV,stays=number

Rules are settled before the table is looked at, and a rule reads nothing but the person's own rows. So the folded
table has one value per person and column, promises about it are promises about persons, and a release of it is audited
against the table folded by the same rules. What is folded away is not in the release, and not spoken of.

A set of values is no rule: a promise would have to be tested for every item of it, and a set as one published value
would be tested as one. All values of a person are kept by publishing them as rows (`--rows linked`, `--rows apart`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Column, Table, refuse_open, texts_of
from lookalike.data.person_settings import PersonSettings
from lookalike.data.persons import number_pairs, rank_rows, renumber
from lookalike.data.schema import NUMBER_LIKE, Schema, ValueType
from lookalike.errors import RecipeError, Unsupported, quoted, unknown_name

_FIRST, _LAST, _LEAST, _GREATEST, _MOST_FREQUENT, _NUMBER = _RULES = (
    "first",
    "last",
    "least",
    "greatest",
    "most-frequent",
    "number",
)
"""The first or last value in the order of rows; the least or greatest number or date; the value of most rows (the first
of several); the number of rows, in a column that the table does not have."""
_ANY = "any:"
"""any:VALUE: whether some row has the value."""
_SET = "set"


@dataclass(frozen=True)
class Fold:
    """A column, and the rule by which its values become one per person."""

    column: str
    rule: str

    @classmethod
    def parse(cls, text: str) -> Fold:
        """
        >>> Fold.parse("weight=last")
        Fold(column='weight', rule='last')
        """
        column, sign, rule = text.rpartition("=")
        if "=" + _ANY in text:
            column, sign, rule = text.partition("=" + _ANY)
            rule, sign = _ANY + rule, "="
        if not sign or not column or not (rule in _RULES or (rule.startswith(_ANY) and len(rule) > len(_ANY))):
            if rule == _SET:
                raise Unsupported(
                    f"{quoted(column)} cannot be folded into a set of values: promises are tested value by value, and "
                    "a set is several at once. Keep all values as rows (--rows linked or --rows apart), or fold the "
                    f"column by most-frequent or {_ANY}VALUE."
                )
            raise RecipeError(
                f"A fold is written COLUMN=RULE with one of the rules {', '.join(_RULES)}, {_ANY}VALUE, not "
                f"{quoted(text)}."
            )
        return cls(column, rule)

    def __str__(self) -> str:
        return f"{self.column}={self.rule}"

    @property
    def needs_order(self) -> bool:
        """Whether the order of a person's rows decides."""
        return self.rule in (_FIRST, _LAST, _MOST_FREQUENT)

    @property
    def is_new(self) -> bool:
        """Whether it makes a column that the table does not have."""
        return self.rule == _NUMBER


def parse_folds(texts: Sequence[str]) -> tuple[Fold, ...]:
    """Folds of different columns."""
    folds = tuple(map(Fold.parse, texts))
    named = [fold.column for fold in folds]
    for name in named:
        if named.count(name) > 1:
            raise RecipeError(f"Column {quoted(name)} is folded twice. Give it one rule.")
    return folds


def fold_table(table: Table, person: str, folds: Sequence[Fold], order: str | None = None) -> Table:
    """The table with these columns folded over the rows of each person, in the order of a column or of the table."""
    if not folds:
        return table
    owners = renumber(table[person].codes)
    order_codes = np.zeros(table.n_rows, dtype=np.int32) if order is None else table[order].codes
    places = rank_rows(owners, np.argsort(order_codes, kind="stable"))
    rows = _Rows(owners, places, np.bincount(owners))
    columns = {column.name: column for column in table.columns}
    for fold in folds:
        if fold.column == person:
            raise RecipeError(f"{quoted(person)} identifies the persons. Fold other columns.")
        if fold.is_new == (fold.column in columns):
            if not fold.is_new:
                raise RecipeError(unknown_name("column to fold", fold.column, columns))
            raise RecipeError(
                f"The table has a column {quoted(fold.column)} already. Give the number of rows another name "
                f"(--fold NAME={_NUMBER})."
            )
        folded = rows.count(fold.column) if fold.is_new else rows.fold(columns[fold.column], fold.rule)
        columns[fold.column] = _drop_unused(folded)
    return replace(table, columns=tuple(columns.values()))


def fold_texts(given: str | Iterable[str]) -> tuple[str, ...] | None:
    """What users write, as settings keep it; None: nothing is folded."""
    texts = (given,) if isinstance(given, str) else tuple(given)
    return tuple(str(fold) for fold in parse_folds(texts)) or None


def made_columns(texts: Sequence[str] | None) -> list[str]:
    """The columns that folding makes."""
    return [fold.column for fold in parse_folds(texts or ()) if fold.is_new]


def fold_for(schema: Schema, table: Table, settings: PersonSettings) -> Table:
    """The table as these settings fold it, before it is encoded under the schema."""
    if settings.fold is None:
        return table
    folds, unit = parse_folds(settings.fold), schema.unit
    if unit is None:
        raise RecipeError(
            "Rows are folded by person, and no column identifies the persons. Name one (--person COLUMN)."
        )
    published = [attribute.name for attribute in schema.published]
    for fold in folds:
        if fold.column not in published:
            raise RecipeError(
                f"Column {quoted(fold.column)} is folded, but has no role, so it would not be published. Name it as a "
                "quasi-identifier, a sensitive or a carried column, or leave out the fold."
            )
    if settings.order is not None and settings.order not in table.names:
        raise RecipeError(unknown_name("column to order by", settings.order, table.names))
    if settings.order is not None:
        refuse_open(table[settings.order])
    return fold_table(table, unit.name, folds, settings.order)


def _drop_unused(column: Column) -> Column:
    """The column without values that no row has any more."""
    known = column.codes < len(column.values)
    used = np.unique(column.codes[known])
    codes = np.where(known, np.searchsorted(used, column.codes), len(used)).astype(np.int32)
    return replace(column, codes=codes, values=column.values[used])


@dataclass(frozen=True, eq=False)
class _Rows:
    """Whose the rows of a table are, and in which order."""

    owners: NDArray[np.int32]
    places: NDArray[np.int64]
    """The place of each row among those of its person."""
    numbers: NDArray[np.int64]
    """How many rows each person has."""

    def count(self, name: str) -> Column:
        """The number of rows of each row's person."""
        values, codes = np.unique(self.numbers, return_inverse=True)
        return Column(name, ValueType.INTEGER, codes.reshape(-1).astype(np.int32)[self.owners], values)

    def fold(self, column: Column, rule: str) -> Column:
        """The column with one value per person."""
        if rule in (_FIRST, _LAST):
            wanted = np.zeros_like(self.numbers) if rule == _FIRST else self.numbers - 1
            chosen = np.flatnonzero(self.places == wanted[self.owners])
            return self._spread(column, self.owners[chosen], column.codes[chosen])
        if rule == _MOST_FREQUENT:
            return self._most_frequent(column)
        if rule in (_LEAST, _GREATEST):
            return self._extreme(column, rule)
        return self._any(column, rule.removeprefix(_ANY))

    def _spread(self, column: Column, owners: NDArray[np.int32], codes: Codes) -> Column:
        of_person = np.empty(len(self.numbers), dtype=np.int32)
        of_person[owners] = codes
        return replace(column, codes=of_person[self.owners])

    def _extreme(self, column: Column, rule: str) -> Column:
        if column.type not in NUMBER_LIKE:
            raise RecipeError(
                f"{rule} needs numbers or dates, and column {quoted(column.name)} has neither. Use first, last or "
                "most-frequent."
            )
        missing = len(column.values)
        codes = np.full(len(self.numbers), missing if rule == _LEAST else -1, dtype=np.int32)
        known = column.codes < missing
        extreme = np.minimum if rule == _LEAST else np.maximum
        extreme.at(codes, self.owners[known], column.codes[known])
        codes[codes < 0] = missing
        return replace(column, codes=codes[self.owners])

    def _most_frequent(self, column: Column) -> Column:
        pairs, firsts, of_row, counts = np.unique(
            number_pairs(self.owners, column.codes), return_index=True, return_inverse=True, return_counts=True
        )
        earliest = np.full(len(pairs), len(self.owners), dtype=np.int64)
        np.minimum.at(earliest, of_row.reshape(-1), self.places)
        owners = self.owners[firsts]
        # For each person the pair with the most rows, of these the one that comes first.
        best = np.lexsort((earliest, -counts, owners))
        best = best[np.unique(owners[best], return_index=True)[1]]
        return self._spread(column, owners[best], column.codes[firsts[best]])

    def _any(self, column: Column, value: str) -> Column:
        texts = texts_of(column.values, column.type)
        if value not in texts:
            raise RecipeError(f"No row has {quoted(value)} in column {quoted(column.name)}. Name a value that occurs.")
        has = np.zeros(len(self.numbers), dtype=np.int32)
        np.maximum.at(has, self.owners, (column.codes == texts.index(value)).astype(np.int32))
        names = np.array([value, f"not {value}"], dtype=object)
        order = np.argsort(names)
        code_of = np.empty(2, dtype=np.int32)
        code_of[order] = np.arange(2)
        return Column(column.name, ValueType.STRING, code_of[1 - has][self.owners], names[order])
