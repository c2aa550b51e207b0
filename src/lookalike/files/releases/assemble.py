"""From published cells, in whatever notation, to a release over the domain of an original.

A `Holding`, a run of codes or a set of codes, is what a cell may hide. `DomainIndex` makes them from value texts,
numbers and labels; every notation (ours and other tools') is read through it. `assemble_extents` turns the holdings of
a column into extents, `group_rows` the columns into a release: rows with the same cells in every quasi-identifier are
one group, as they are to any reader. Numbers and dates are compared as they are, never as rounded floats: an end of
an interval falls on the right side of a value even where 64-bit floats could not tell them apart. Every value must be
one that the original has; what was left out is the original less what is published.
"""

from __future__ import annotations

import datetime
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.release import Extents, Grouped, Perturbed, Ranges, Release, Sets, Withheld, is_numeric_cell, take
from lookalike.data.schema import NUMBER_LIKE, ValueType
from lookalike.errors import DataError, counted, explain_change, quoted

_EPOCH = datetime.datetime(1970, 1, 1)


class Holding(NamedTuple):
    """Either a run low..high (with its printed ends), or a set of codes (`codes`, sorted, missing included)."""

    low: int
    high: int
    missing: bool
    low_point: float
    high_point: float
    codes: tuple[int, ...] | None = None


def parse_end(text: str, type: ValueType) -> int | float:
    """A number or a date at its exact place on the column's axis; ValueError if it is none."""
    try:
        if type is ValueType.DATE:
            return (datetime.date.fromisoformat(text) - _EPOCH.date()).days
        if type is ValueType.DATETIME:
            moment = datetime.datetime.fromisoformat(text)
            return (moment - _EPOCH) // datetime.timedelta(microseconds=1)
    except TypeError:
        raise ValueError(text) from None
    with suppress(ValueError):
        if type is ValueType.INTEGER:
            return int(text)
    number = float(text)
    if math.isnan(number):
        raise ValueError(text)
    return number


class DomainIndex:
    """One original column's values, ready to be looked up."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.n_values = len(domain.values)
        self.missing_code = domain.missing_code
        self.is_numeric = is_numeric_cell(domain)
        self.number_like = domain.type in NUMBER_LIKE
        self._places: dict[str, tuple[int | float, int, int]] = {}

    @cached_property
    def code_of(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.domain.texts[: self.n_values])}

    @cached_property
    def _sorted_values(self) -> list[int | float]:
        return list(self.domain.values[self._by_size].tolist())

    @cached_property
    def _by_size(self) -> NDArray[np.int64]:
        return np.argsort(self.domain.values, kind="stable")

    def code(self, text: str) -> int:
        """The code of a value by its text, or by its number where the text differs (28 and 28.0); else KeyError."""
        code = self.find(text)
        if code < 0:
            raise KeyError(text)
        return code

    def find(self, text: str) -> int:
        """The same; -1 if there is no such value."""
        if text in self.code_of or not self.number_like:
            return self.code_of.get(text, -1)
        try:
            number = parse_end(text, self.domain.type)
        except ValueError:
            return -1
        place = bisect_left(self._sorted_values, number)
        found = place < self.n_values and self._sorted_values[place] == number
        return int(self._by_size[place]) if found else -1

    def _place(self, text: str) -> tuple[int | float, int, int]:
        """An end, how many values lie below it, and how many up to it. Ends recur in many cells."""
        if text not in self._places:
            end = parse_end(text, self.domain.type)
            self._places[text] = end, bisect_left(self._sorted_values, end), bisect_right(self._sorted_values, end)
        return self._places[text]

    def missing(self) -> Holding:
        """Missing and nothing else. KeyError if the original has no missing values."""
        if not self.domain.has_missing:
            raise KeyError("missing")
        if self.domain.taxonomy is not None:
            return self.run(self.missing_code, self.missing_code)
        if self.domain.in_ranges:
            return Holding(0, -1, True, math.nan, math.nan)
        return self.members([self.missing_code])

    def any(self) -> Holding:
        """Every value, missing included where the original has it."""
        domain = self.domain
        if self.is_numeric:
            return Holding(0, self.n_values - 1, domain.has_missing, domain.low, domain.high)
        if domain.taxonomy is not None:
            return self.run(0, domain.n_codes - 1)
        if domain.in_ranges and self.n_values:
            return self.run(0, self.n_values - 1, domain.has_missing)
        return self.members(range(domain.n_codes))

    def node(self, label: str) -> Holding:
        """What is below a node of the taxonomy; KeyError if there is no such node."""
        tree = self.domain.taxonomy
        node = None if tree is None else tree.node(label)
        if tree is None or node is None:
            raise KeyError(label)
        return self.run(int(tree.firsts[node]), int(tree.lasts[node]))

    def run(self, low: int, high: int, missing: bool = False) -> Holding:
        if high < low:
            raise ValueError("the ends are the wrong way round")
        if missing and not self.domain.has_missing:
            raise KeyError("missing")
        first, last = (self.domain.points[low], self.domain.points[high]) if self.is_numeric else (low, high)
        return Holding(low, high, missing, float(first), float(last))

    def members(self, codes: Iterable[int]) -> Holding:
        held = tuple(sorted(set(codes)))
        if held and held[-1] >= self.domain.n_codes:
            raise KeyError("missing")
        return Holding(0, -1, False, math.nan, math.nan, held)

    def interval(
        self,
        low: str | None,
        high: str | None,
        *,
        missing: bool = False,
        low_open: bool = False,
        high_open: bool = False,
    ) -> Holding:
        """The values between two numbers or dates; an end that is None is the domain's own."""
        if not self.number_like:
            raise ValueError("not a column of numbers")
        if missing and not self.domain.has_missing:
            raise KeyError("missing")
        least, before, through = self._place(low) if low is not None else (-math.inf, 0, 0)
        first = through if low_open else before
        most, before, through = self._place(high) if high is not None else (math.inf, self.n_values, self.n_values)
        last = (before if high_open else through) - 1
        if most < least:
            raise ValueError("the ends are the wrong way round")
        if not self.is_numeric:
            codes = self._by_size[first : last + 1].tolist()
            return self.members([*codes, self.missing_code] if missing else codes)
        low_point = self.domain.low if math.isinf(least) else float(least)
        high_point = self.domain.high if math.isinf(most) else float(most)
        return Holding(first, last, missing, low_point, high_point)


def assemble_extents(index: DomainIndex, holdings: Sequence[Holding], *, as_sets: bool = False) -> Extents:
    """The holdings of a column as extents: runs where the domain has runs and every holding is one, else sets."""
    domain = index.domain
    if domain.in_ranges and not as_sets:
        runs = [run for holding in holdings if (run := _as_run(index, holding)) is not None]
        if len(runs) == len(holdings):
            types = np.int32, np.int32, np.bool_, np.float64, np.float64
            return Ranges(*(np.array([run[part] for run in runs], type) for part, type in enumerate(types)))
    sets = [list_codes(index, holding) for holding in holdings]
    starts = np.concatenate([[0], np.cumsum([len(codes) for codes in sets])]).astype(np.int64)
    return Sets(starts, np.array([code for codes in sets for code in codes], dtype=np.int32))


def _as_run(index: DomainIndex, holding: Holding) -> Holding | None:
    """A set as a run where it is one; None where it has gaps."""
    if holding.codes is None:
        return holding
    missing = index.domain.taxonomy is None and index.missing_code in holding.codes
    codes = holding.codes[:-1] if missing else holding.codes
    if not codes:
        return Holding(0, -1, missing, math.nan, math.nan)
    if codes[-1] - codes[0] != len(codes) - 1:
        return None
    return index.run(codes[0], codes[-1], missing)


def list_codes(index: DomainIndex, holding: Holding) -> tuple[int, ...]:
    """Every code that a cell may hide."""
    if holding.codes is not None:
        return holding.codes
    run = tuple(range(holding.low, holding.high + 1))
    return (*run, index.missing_code) if holding.missing else run


Note = Callable[[str], None]


def reject_unknown(source: str, domain: Domain, unknown: int) -> None:
    """A release may only hold what its original holds."""
    if unknown:
        raise DataError(
            f"{source}: column {quoted(domain.name)} holds {counted(unknown, 'value')} that the original does not "
            "have: this release does not belong to this table, or was changed."
        )


def stack_columns(blocks: Sequence[Codes], n_rows: int) -> Codes:
    return np.ascontiguousarray(np.column_stack(blocks)) if blocks else np.empty((n_rows, 0), dtype=np.int32)


def group_rows(
    domains: Domains,
    columns: Sequence[tuple[Extents, NDArray[np.int32]]],
    sensitive: Codes,
    carried: Codes,
    withheld: Withheld,
) -> Grouped:
    """Rows with the same cells in every quasi-identifier are a group."""
    group_of_row = np.zeros(len(sensitive), dtype=np.int64)
    for extents, unit_of_row in columns:
        keys = group_of_row * max(len(extents), 1) + unit_of_row
        group_of_row = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    first_rows = np.unique(group_of_row, return_index=True)[1]
    return Grouped(
        domains=domains,
        extents=tuple(take(extents, unit_of_row[first_rows]) for extents, unit_of_row in columns),
        group_of_row=group_of_row.astype(np.int32),
        sensitive=sensitive,
        carried=carried,
        withheld=withheld,
    )


def number_groups(
    domains: Domains,
    columns: Sequence[tuple[Extents, NDArray[np.int32]]],
    sensitive: Codes,
    carried: Codes,
    withheld: Withheld,
    numbers: NDArray[np.int64],
    made_up: NDArray[np.int64],
) -> Grouped:
    """Groups by their published numbers, which must have the same cells in all rows."""
    first_rows = np.unique(numbers, return_index=True)[1]
    for _, unit_of_row in columns:
        if (unit_of_row[first_rows][numbers] != unit_of_row).any():
            raise explain_change("Rows of a group have different cells")
    return Grouped(
        domains=domains,
        extents=tuple(take(extents, unit_of_row[first_rows]) for extents, unit_of_row in columns),
        group_of_row=numbers.astype(np.int32),
        sensitive=sensitive,
        carried=carried,
        withheld=withheld,
        made_up_of_group=made_up,
    )


def count_suppressed(original: Microdata, release: Release) -> Withheld:
    """What was left out by value: the original and the dummies less what is published. A reader with the original
    can tell. Perturbed values cannot be subtracted, made-up rows that look like any other hide what is missing, and a
    release that has too many of a value is left to the audit."""
    withheld = release.withheld
    hidden = withheld.indistinguishable and withheld.n_dummies
    if isinstance(release, Perturbed) or not withheld.n_suppressed or hidden:
        return withheld
    suppressed = []
    for column, domain in enumerate(release.domains.sensitive):
        published = np.bincount(release.sensitive[:, column], minlength=domain.n_codes)
        made_up = withheld.dummies[column] if withheld.dummies else 0
        suppressed.append(original.counts(column) + made_up - published)
    if any((counts < 0).any() for counts in suppressed):
        return withheld
    return replace(withheld, suppressed=tuple(counts.astype(np.int64) for counts in suppressed))
