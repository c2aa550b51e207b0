"""Totals, means and quantiles of a column, with intervals: what `linear` and `counts` say, put together.

A column that is published as it is has a number for every record, so its total is one sum. Of a generalised column a
total is made of counts, one for each step from a value to the next: the gap times how many records lie above it. Their
errors are about redistribution inside the column: too many below a value are as many too few above it. They are put
together as those of an empirical distribution function, in which the errors at F < G correlate by
sqrt(F (1 - G) / (G (1 - F))).

    mean       total / number; its error is that of the sum of x - mean, so that records that may or may not belong
               count by how far they are from the mean
    quantile   the least value at or below which a share q of the records lies. Its interval has every value that q is
               no surprise at: where the sum of [x <= value] - q is within its error of 0

Missing values are left out, as in SQL. No interval leaves what the release makes possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.intervals import LEVEL, Answers, standard_errors
from lookalike.analysis.linear import Sums, estimate_sums
from lookalike.data.release import Release

Numbers = NDArray[np.float64]
Wanted = Mapping[str, NDArray[np.bool_]]
_MOST_STEPS = 96
"""Values of a column that are asked about at once; of one with more, as many that its cells suggest."""
_ROUNDS = 4
_MOST_MASKED = 1 << 24
_HAIR = 1e-9


class Figures(NamedTuple):
    """One figure per line, nan where no record is left; its standard error, its interval, and the certain ends."""

    values: Numbers
    errors: Numbers
    low: Numbers
    high: Numbers
    least: Numbers
    most: Numbers


@dataclass(frozen=True, eq=False)
class Column:
    """The column that is summed up."""

    name: str
    numbers: Numbers
    """[codes]; nan for missing."""
    generalised: bool
    frequent: NDArray[np.int64]
    """[codes] how often each code is published, or is the end of a cell."""

    @property
    def known(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.numbers)


@dataclass(frozen=True, eq=False)
class Group:
    """Lines of a question: conditions, [codes] or [lines, codes] by column, and what each record counts."""

    release: Release
    wanted: Wanted
    n_lines: int
    weights: Mapping[str, Numbers]
    """[codes] of the column of sample weights; empty if every record counts once."""

    def sum_up(self, parts: Mapping[str, Numbers], repeat: int = 1, *, bounds: bool = True) -> Sums:
        """The sums with these numbers [lines x repeat, codes] of some columns; each line comes `repeat` times."""
        n_queries = self.n_lines * repeat
        functions: dict[str, Numbers] = {}
        for name, mask in self.wanted.items():
            whole = np.broadcast_to(mask, (self.n_lines, mask.shape[-1]))
            functions[name] = np.repeat(whole, repeat, axis=0).astype(np.float64)
        for name, factor in (*self.weights.items(), *parts.items()):
            functions[name] = functions[name] * factor if name in functions else np.asarray(factor, dtype=np.float64)
        n_codes = sum(one.shape[-1] for one in functions.values()) or 1
        step = max(_MOST_MASKED // n_codes, 1)
        found = []
        for start in range(0, n_queries, step):
            part = slice(start, start + step)
            some = {
                name: one[part] if one.ndim > 1 and len(one) > 1 else np.atleast_2d(one)
                for name, one in functions.items()
            }
            found.append(estimate_sums(some, self.release, min(step, n_queries - start), bounds=bounds))
        values, errors, least, most = (
            np.concatenate(figures) for figures in zip(*(one[:4] for one in found), strict=True)
        )
        return Sums(values, errors, least, most, found[0].law)

    def number(self, column: Column | None) -> Sums:
        """How many records, weights counted, have a value of the column."""
        return self.sum_up({} if column is None else {column.name: column.known.astype(np.float64)[None, :]})


def find_totals(column: Column | None, group: Group, level: float = LEVEL) -> Figures:
    """The sum of a column's values, weights counted; of no column, the sum of the weights."""
    if column is not None and column.generalised:
        steps = _Steps.of(column, group)
        sums, number = steps.total(), steps.number
    else:
        filled = {} if column is None else {column.name: np.nan_to_num(column.numbers)[None, :]}
        sums, number = group.sum_up(filled), group.number(column)
    low, high = _find_interval(sums, number, level)
    return Figures(sums.values, sums.errors, low, high, sums.least, sums.most)


def find_means(column: Column, group: Group, level: float = LEVEL) -> Figures:
    """The mean of a column's values, weights counted."""
    if column.generalised:
        steps = _Steps.of(column, group)
        sums, number, within = steps.total(), steps.number, steps.bridge
        first, last = steps.find_ends()
    else:
        filled = np.nan_to_num(column.numbers)[None, :]
        sums, number = group.sum_up({column.name: filled}), group.number(column)
        first, last = _find_ends(column, group)
        centre = _divide(sums.values, number.values)
        away = np.where(column.known, filled - np.nan_to_num(centre)[:, None], 0.0)
        # What buckets say about who is above the mean is clearer than what they say about who has much.
        apart = group.sum_up({column.name: away}, bounds=False)
        sums, within = sums._replace(values=sums.values + apart.values), apart.errors
    values, errors = _divide(sums.values, number.values), _divide(within, number.values)
    # How many records there are is often certain; then the certain ends of the sum are those of the mean.
    is_fixed = number.most - number.least <= _HAIR * np.maximum(number.most, 1.0)
    least = np.where(is_fixed, np.maximum(first, _divide(sums.least, number.least)), first)
    most = np.where(is_fixed, np.minimum(last, _divide(sums.most, number.most)), last)
    values = np.where(number.most > 0, np.clip(values, least, most), np.nan)
    room = np.maximum(most - least, 0.0)
    low, high = _find_interval(Sums(values, errors, least, most, sums.law), number, level, room)
    return Figures(values, np.where(np.isnan(values), np.nan, errors), low, high, least, most)


def find_quantiles(column: Column, share: float, group: Group, level: float = LEVEL) -> Figures:
    """The least value at or below which that share of the records lies, weights counted."""
    values = np.unique(column.numbers[column.known])
    if not len(values):
        nothing = np.full(group.n_lines, np.nan)
        return Figures(*(nothing for _ in Figures._fields))
    edges = np.repeat(_choose(column, values)[None, :], group.n_lines, axis=0)
    for _ in range(_ROUNDS):
        steps = _Steps.at(column, group, values, edges)
        places = steps.find_quantiles(share, level)
        narrower = _narrow(edges, places)
        if narrower is None:
            break
        edges = narrower
    codes = np.take_along_axis(edges, places.T, axis=1).T
    value, low, high, least, most = values[codes]
    value, low, high = np.clip(value, least, most), np.clip(low, least, most), np.clip(high, least, most)
    nobody = steps.number.most <= 0
    figures = [np.where(nobody, np.nan, one) for one in (value, low, high, least, most)]
    errors = (figures[2] - figures[1]) / (2.0 * standard_errors(level, steps.number.law))
    return Figures(figures[0], errors, *figures[1:])


def _choose(column: Column, values: Numbers) -> NDArray[np.int64]:
    """The values to ask about, by their place: all, or those that cells suggest and their neighbours."""
    if len(values) <= 2 * _MOST_STEPS:
        return np.arange(len(values))
    often = np.bincount(
        np.searchsorted(values, column.numbers[column.known]), column.frequent[column.known], len(values)
    )
    reached = np.cumsum(often) / max(often.sum(), 1.0)
    places = np.searchsorted(reached, np.arange(_MOST_STEPS // 2) / (_MOST_STEPS // 2), side="left")
    places = np.concatenate((places, np.linspace(0, len(values) - 1, _MOST_STEPS // 2).astype(np.int64)))
    return np.unique(np.clip(np.concatenate((places, places + 1)), 0, len(values) - 1))


def _narrow(edges: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """[lines, steps] finer edges around the places found; None where nothing lies between."""
    ends, starts = (
        np.take_along_axis(edges, places.T, axis=1),
        np.take_along_axis(edges, np.maximum(places.T - 1, 0), axis=1),
    )
    if (ends - starts <= 1).all():
        return None
    share = np.linspace(0.0, 1.0, 2 * _MOST_STEPS // len(places))
    between = starts[:, :, None] + np.rint((ends - starts)[:, :, None] * share).astype(np.int64)
    last = edges[:, -1:]
    return np.sort(np.concatenate((between.reshape(len(edges), -1), last), axis=1), axis=1)


def _divide(above: Numbers, below: Numbers) -> Numbers:
    return np.asarray(np.divide(above, below, where=below > _HAIR, out=np.full(len(above), np.nan)))


def _find_ends(column: Column, group: Group) -> tuple[Numbers, Numbers]:
    """The least and the greatest value that a line asks for."""
    mask = np.broadcast_to(group.wanted.get(column.name, np.ones(1, dtype=bool)), (group.n_lines, len(column.numbers)))
    mask = mask & column.known
    low = np.where(mask, column.numbers, np.inf).min(axis=1, initial=np.inf)
    high = np.where(mask, column.numbers, -np.inf).max(axis=1, initial=-np.inf)
    return low, high


def _find_interval(sums: Sums, number: Sums, level: float, room: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """From where to where the truth lies with that probability, in units of a record."""
    room = np.asarray(sums.most - sums.least if room is None else room)
    unit = np.where(room > 0, room / np.maximum(number.most, 1.0), 1.0)
    start = np.where(np.isfinite(sums.least), sums.least, 0.0)
    scaled = ((one - start) / unit for one in (sums.values, sums.least, sums.most))
    values, least, most = (np.nan_to_num(one, posinf=0.0, neginf=0.0) for one in scaled)
    answers = Answers(values, np.nan_to_num(sums.errors) / unit, least, most, sums.law, whole=False)
    low, high = (start + end * unit for end in answers.intervals(level))
    nobody = np.isnan(sums.values)
    return np.where(nobody, np.nan, low), np.where(nobody, np.nan, high)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Records at or below some values of a column, and above them."""

    edges: Numbers
    """[lines, steps]"""
    consecutive: NDArray[np.bool_]
    """[lines, steps - 1] whether the column has no value between a step and the next."""
    below: Sums
    """Everything of these two and of `within` is [lines, steps]."""
    above: Sums
    number: Sums
    group: Group
    column: Column

    @classmethod
    def of(cls, column: Column, group: Group) -> _Steps:
        values = np.unique(column.numbers[column.known])
        return cls.at(column, group, values, np.repeat(_choose(column, values)[None, :], group.n_lines, axis=0))

    @classmethod
    def at(cls, column: Column, group: Group, values: Numbers, edges: NDArray[np.int64]) -> _Steps:
        shape = edges.shape
        at = values[edges] if len(values) else np.zeros(shape)
        numbers = np.where(column.known, column.numbers, np.inf)
        under = (numbers[None, :] <= at.reshape(-1, 1)) & column.known
        over = ~under & column.known
        found = []
        for mask in (under, over):
            sums = group.sum_up({column.name: mask.astype(np.float64)}, shape[1])
            values_of, errors, least, most = (one.reshape(shape) for one in sums[:4])
            found.append(Sums(values_of, errors, least, most, sums.law))
        number = group.number(column)
        return cls(at, np.diff(edges, axis=1) <= 1, found[0], found[1], number, group, column)

    @property
    def shares(self) -> Numbers:
        """[lines, steps] which part of the records is at or below a value: never falling, from 0 to 1."""
        number = self.number.values[:, None]
        found = np.divide(self.below.values, number, where=number > _HAIR, out=np.zeros_like(self.below.values))
        return np.maximum.accumulate(np.clip(found, 0.0, 1.0), axis=1)

    @property
    def within(self) -> Numbers:
        """The standard error of the number at or below a value if the number of all records were certain.

        The errors of both sides hold those of the number of all; what is left is how records are divided.
        """
        share = self.shares
        of_number = self.number.errors[:, None] ** 2
        both = self.below.errors**2 * (1.0 - share) + self.above.errors**2 * share
        is_open = (self.below.errors > 0) & (self.above.errors > 0)
        rest = np.maximum(both - share * (1.0 - share) * of_number, share * (1.0 - share) * of_number)
        return np.where(is_open | (of_number > 0), np.sqrt(np.maximum(rest, 0.0)), 0.0)

    @property
    def _gaps(self) -> Numbers:
        return np.diff(self.edges, axis=1)

    @property
    def bridge(self) -> Numbers:
        """The standard error of the sum of x if the number of records were certain."""
        share = np.clip(self.shares[:, :-1], 1e-6, 1.0 - 1e-6)
        part = self._gaps * self.within[:, :-1]
        # With u = sqrt(F / (1 - F)), the correlation of F <= G is u(F) / u(G).
        odds = np.sqrt(share / (1.0 - share))
        up, down = part * odds, part / odds
        reached = np.cumsum(up, axis=1) - up
        square = (part**2).sum(axis=1) + 2.0 * (down * reached).sum(axis=1)
        cut = np.where(self.consecutive, 0.0, self._gaps * np.diff(self.below.values, axis=1))
        return np.asarray(np.sqrt(np.maximum(square, 0.0) + (cut**2 / 12.0).sum(axis=1)))

    def total(self) -> Sums:
        """The sum of x: from 0 up to each value the records above it, from 0 down those below it."""
        start, end = self.edges[:, :-1], self.edges[:, 1:]
        up, down = np.maximum(end, 0.0) - np.maximum(start, 0.0), np.minimum(end, 0.0) - np.minimum(start, 0.0)
        # Where values were left out, records between two steps lie somewhere between them.
        half = np.where(self.consecutive, 0.0, 0.5)
        above, below, number = self.above, self.below, self.number
        later = above.values[:, 1:] + 0.0
        values = self.edges[:, 0] * number.values + (
            self._gaps * (above.values[:, :-1] * (1.0 - half) + later * half)
        ).sum(axis=1)
        first, last = np.maximum(self.edges[:, 0], 0.0), np.minimum(self.edges[:, -1], 0.0)
        least_above = np.where(self.consecutive, above.least[:, :-1], above.least[:, 1:])
        most_below = np.where(self.consecutive, below.most[:, :-1], below.most[:, 1:])
        least = first * number.least + last * number.most
        most = first * number.most + last * number.least
        least = least + (up * least_above).sum(axis=1) - (down * most_below).sum(axis=1)
        most = most + (up * above.most[:, :-1]).sum(axis=1) - (down * below.least[:, :-1]).sum(axis=1)
        mean = np.nan_to_num(_divide(values, number.values))
        errors = np.sqrt((mean * number.errors) ** 2 + self.bridge**2)
        return Sums(values, errors, least, most, number.law)

    def find_ends(self) -> tuple[Numbers, Numbers]:
        """The least and the greatest value that a record may have."""
        held = np.concatenate((self.below.most[:, :1] > 0, np.diff(self.below.most, axis=1) > _HAIR), axis=1)
        first = np.argmax(self.below.most > _HAIR, axis=1)
        beyond = self.above.most > _HAIR
        last = np.minimum(beyond.sum(axis=1), self.edges.shape[1] - 1)
        first = np.where(held.any(axis=1), first, 0)
        cut = np.concatenate((np.ones((len(first), 1), dtype=bool), self.consecutive), axis=1)
        lines = np.arange(len(first))
        first = np.where(cut[lines, first], first, first - 1)
        return self.edges[lines, first], self.edges[lines, last]

    def find_quantiles(self, share: float, level: float) -> NDArray[np.int64]:
        """[5, lines] the steps of the quantile, of the ends of its interval, and of what is certain."""
        surplus = (1.0 - share) * self.below.values - share * self.above.values
        errors = self._surplus_errors(share)
        reach = standard_errors(level, self.number.law) * errors
        hair = _HAIR * np.maximum(self.number.most, 1.0)[:, None]
        surely = (1.0 - share) * self.below.least - share * self.above.most
        maybe = (1.0 - share) * self.below.most - share * self.above.least
        before = np.minimum.accumulate((surplus - reach >= -hair)[:, ::-1], axis=1)[:, ::-1]
        reached = (surplus >= -hair, surplus + reach >= -hair, before, maybe >= -hair, surely >= -hair)
        last = self.edges.shape[1] - 1
        return np.stack([np.where(one.any(axis=1), np.argmax(one, axis=1), last) for one in reached])

    def _surplus_errors(self, share: float) -> Numbers:
        """[lines, steps] the standard error of (1 - q) below - q above."""
        if self.column.generalised:
            apart = (self.shares - share) * self.number.errors[:, None]
            return np.asarray(np.sqrt(self.within**2 + apart**2))
        shape = self.edges.shape
        numbers = np.where(self.column.known, self.column.numbers, np.inf)
        under = numbers[None, :] <= self.edges.reshape(-1, 1)
        part = np.where(self.column.known, under - share, 0.0)
        found = self.group.sum_up({self.column.name: part}, shape[1], bounds=False).errors.reshape(shape)
        exact = (self.below.errors == 0) & (self.above.errors == 0)
        return np.asarray(np.where(exact, 0.0, found))
