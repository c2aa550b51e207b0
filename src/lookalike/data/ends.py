"""Ends of published ranges that are nobody's: rounded outwards to a grid, column by column.

    53.57152635181382..61.4     becomes     53.5..61.5
    2024-03-04T07:31:12..2024-04-28T16:02:55     becomes     2024-03-04T00:00:00..2024-04-29T00:00:00

A group's exact range begins and ends at the values of two of its people. The step of a column is the coarsest of a
fixed ladder (1, 2, 5, 10 ... for numbers; days, weeks and months of 28 days for dates; seconds to days for times) under
which the mean length of its ranges rises by at most 2 %. Whole numbers stay whole, and 0..9 is a step of 10. A range of
one number is everybody's in its group and stays. No end moves beyond a declared domain; one that lies outside stays.

Why no promise is lost. What is published is worked out from the finished release and from settings alone: the cells,
how many rows have each, and the declared domains. So a reader of the rounded release knows no more than one of the
exact release, whatever else he knows. If each release that a method can make keeps a promise against someone who knows
the method, the rounded ones do: his certainty is a mean of probabilities that keep it, and every such promise bounds a
certainty,
or a distance from the prior that a mean does not raise. Groups that get the same cells are one group from then on.
The audit reads the rounded release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Release, Sets, is_numeric_cell, take
from lookalike.data.schema import NUMBER_LIKE, ValueType
from lookalike.errors import RecipeError, quoted, unknown_name

Points = NDArray[np.float64]
_EXACT, _ROUNDED = "exact", "rounded"
_MOST_RISE = 0.02
_FINEST = 1e-3
"""A step of a hundredth of the mean length raises it by 2 % at most, so a finer one than this is not needed."""
_LARGEST = 2.0**52
_LONGEST_STEP = 10**12
_SECOND, _MONDAY = 1_000_000, 4
_UNITS = {"s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND, "d": 86400 * _SECOND}
_WEEKS = (7, 28, 364)
_DAYS = (2, 4, *_WEEKS)
_TIMES = (1, 60, 600, 3600, 6 * 3600, *(86400 * days for days in (1, *_WEEKS)))
_TIME = re.compile(r"([1-9]\d{0,8})([smhd]?)")


@dataclass(frozen=True)
class Step:
    """A grid: multiples of `size / scale`, counted from `origin`."""

    size: int
    scale: int = 1
    origin: int = 0
    is_whole: bool = False
    """Whether a range ends one before a multiple, as 0..9 does: neighbouring values differ by 1."""

    @property
    def width(self) -> float:
        return self.size / self.scale

    def round_down(self, points: Points) -> Points:
        """The largest multiples that are not above the points."""
        number = np.floor((points - self.origin) * self.scale / self.size)
        # The quotient was rounded: one step up or down puts that right.
        number -= self.place(number) > points
        number += self.place(number + 1) <= points
        return self.place(number)

    def round_up(self, points: Points) -> Points:
        """The least multiples that are not below the points; of whole numbers, one before the next multiple."""
        below = self.round_down(points)
        if self.is_whole:
            return below + (self.size - 1)
        number = np.round((below - self.origin) * self.scale / self.size)
        return np.where(below == points, below, self.place(number + 1))

    def place(self, number: Points) -> Points:
        # One correctly rounded division, so that 0.3 is 0.3 and not three times 0.1.
        return np.asarray(number * self.size / self.scale + self.origin + 0.0)

    def describe(self, type: ValueType) -> str:
        """
        >>> Step(5, 100).describe(ValueType.NUMBER), Step(7, origin=4, is_whole=True).describe(ValueType.DATE)
        ('0.05', '7d')
        """
        if type is ValueType.DATE:
            return f"{self.size}d"
        if type is ValueType.DATETIME:
            unit = next(unit for unit in "dhms" if self.size % _UNITS[unit] == 0)
            return f"{self.size // _UNITS[unit]}{unit}"
        return np.format_float_positional(self.width, trim="-")


@dataclass(frozen=True)
class Ends:
    """What was asked of the ends of ranges; by default steps are chosen.

    >>> str(Ends.read(["age=5", "born=exact"])), str(Ends.read("exact")), str(Ends.read(None))
    ('age=5,born=exact', 'exact', 'rounded')
    """

    exact: bool = False
    steps: tuple[tuple[str, str], ...] = ()
    """Column and step, as written; `exact` and `rounded` are steps, too."""

    def __str__(self) -> str:
        steps = [f"{name}={step}" for name, step in self.steps]
        return ",".join([*([_EXACT] if self.exact else []), *steps]) or _ROUNDED

    def flags(self) -> tuple[str, ...]:
        """The options of the command that ask for it."""
        asked = [*([_EXACT] if self.exact else []), *(f"{name}={step}" for name, step in self.steps)]
        return tuple(word for one in asked for word in ("--ends", one))

    @classmethod
    def read(cls, given: Ends | str | Mapping[str, object] | Iterable[str] | None) -> Ends:
        """From what users write: exact, rounded, COLUMN=STEP, several of these, or a mapping of columns."""
        if given is None or isinstance(given, Ends):
            return given or cls()
        if isinstance(given, Mapping):
            return cls(steps=tuple((str(name), str(step)) for name, step in given.items()))
        made = cls()
        if not isinstance(given, Iterable):
            raise RecipeError(
                f'ends is of type {type(given).__name__}. Write ends="exact", or steps by column: ends={{"age": 5}}.'
            )
        for text in [given] if isinstance(given, str) else given:
            name, found, step = text.rpartition("=")
            if found and name and step:
                made = replace(made, steps=(*made.steps, (name, step.strip())))
            elif text in (_EXACT, _ROUNDED):
                made = replace(made, exact=text == _EXACT)
            else:
                raise RecipeError(
                    f"{quoted(text)} says nothing about the ends of ranges. Write exact, rounded or COLUMN=STEP, as in "
                    "age=5."
                )
        return made

    def check(self, domains: Iterable[Domain]) -> None:
        """RecipeError if a column that is named has no ranges, or a step is none of its type."""
        by_name = {domain.name: domain for domain in domains}
        for name, step in self.steps:
            if name not in by_name:
                raise RecipeError(f"{unknown_name('quasi-identifier', name, by_name)} (in ends)")
            if not _has_ends(by_name[name]):
                raise RecipeError(
                    f"Column {quoted(name)} is not published in ranges of numbers or dates, so it has no ends."
                )
            if step not in (_EXACT, _ROUNDED):
                read_step(step, by_name[name])

    def of(self, domain: Domain) -> Step | str:
        step = dict(self.steps).get(domain.name, _EXACT if self.exact else _ROUNDED)
        return step if step in (_EXACT, _ROUNDED) else read_step(step, domain)


def read_step(text: str, domain: Domain) -> Step:
    """A step as written: 5, 0.5, of dates 7 or 7d, of times 90s, 15m, 6h or 1d."""
    where = f"The step {quoted(text)} of column {quoted(domain.name)}"
    if domain.type in (ValueType.DATE, ValueType.DATETIME):
        found = _TIME.fullmatch(text)
        if found is None or (domain.type is ValueType.DATE and found[2] not in ("", "d")):
            units = "days, as in 7d" if domain.type is ValueType.DATE else "a time, as in 90s, 15m, 6h or 1d"
            raise RecipeError(f"{where} is no number of {units}.")
        number = int(found[1])
        if domain.type is ValueType.DATE:
            return _days(number)
        return _moments(number * _UNITS[found[2] or "d"])
    whole = domain.type is ValueType.INTEGER
    try:
        width = Fraction(text)
    except (ValueError, ZeroDivisionError):
        width = Fraction(0)
    if width <= 0 or (whole and width.denominator > 1) or max(width.as_integer_ratio()) > _LONGEST_STEP:
        raise RecipeError(f"{where} is no {'whole number' if whole else 'number'} above 0.")
    return Step(width.numerator, width.denominator, is_whole=whole)


def _days(number: int) -> Step:
    return Step(number, origin=_MONDAY if number % 7 == 0 else 0, is_whole=True)


def _moments(size: int) -> Step:
    weeks = size % (7 * _UNITS["d"]) == 0
    return Step(size, origin=_MONDAY * _UNITS["d"] if weeks else 0)


def _has_ends(domain: Domain) -> bool:
    return is_numeric_cell(domain) and domain.type in NUMBER_LIKE


Limits = Sequence[tuple[int, int]]
"""The least and the largest code that a part of a table may hold, by column."""


def round_ends(
    release: Release, ends: Ends, *, apart: bool = False, limits: Limits | None = None
) -> tuple[Release, dict[str, Step]]:
    """The release with rounded ends, and the step of each column that changed.

    `apart`: groups must not come to have the same cells; where they would, the ends stay exact. `limits`: an end that
    would let a value of another part in stays exact.
    """
    if not isinstance(release, Grouped | Matched):
        return release, {}
    rows = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
    made: list[Extents] = []
    steps: dict[str, Step] = {}
    for index, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True)):
        if isinstance(extents, Ranges) and _has_ends(domain) and (step := _find_wanted(domain, extents, rows, ends)):
            rounded = widen(domain, extents, step, None if limits is None else limits[index])
            if not _has_same_ends(rounded, extents):
                extents, steps[domain.name] = rounded, step
        made.append(extents)
    if not steps:
        return release, {}
    rounded_release = replace(release, extents=tuple(made))
    if not isinstance(rounded_release, Grouped) or _is_numbered(rounded_release):
        return rounded_release, steps
    merged = _merge_alike(rounded_release)
    return (release, {}) if apart and merged is not rounded_release else (merged, steps)


def _is_numbered(release: Grouped) -> bool:
    """Whether a reader tells groups apart by numbers, whatever their cells."""
    return release.linked is not None or release.made_up_of_group is not None


def _find_wanted(domain: Domain, ranges: Ranges, rows: NDArray[np.int64], ends: Ends) -> Step | None:
    wanted = ends.of(domain)
    if isinstance(wanted, Step):
        return wanted
    return None if wanted == _EXACT else choose_step(domain, ranges, rows)


def find_exact(release: Release, ends: Ends) -> tuple[Domain, ...]:
    """Columns whose ends stay exact because every step costs too much, although few people share a value."""
    if not isinstance(release, Grouped | Matched):
        return ()
    rows = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
    return tuple(
        domain
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
        if isinstance(extents, Ranges)
        and _has_ends(domain)
        and ends.of(domain) == _ROUNDED
        and _is_wide(extents).any()
        and _is_sparse(domain)
        and choose_step(domain, extents, rows) is None
    )


def _is_sparse(domain: Domain) -> bool:
    """Whether fewer than half of the values between the least and the greatest are anybody's."""
    if domain.type not in (ValueType.INTEGER, ValueType.DATE):
        return True
    return 2 * len(domain.values) < float(domain.points[-1]) - float(domain.points[0]) + 1


def _has_same_ends(one: Ranges, other: Ranges) -> bool:
    pairs = ((one.low_points, other.low_points), (one.high_points, other.high_points))
    return all(np.array_equal(here, there, equal_nan=True) for here, there in pairs)


def _is_wide(ranges: Ranges) -> NDArray[np.bool_]:
    """Which ranges have two ends: more than one number, and open to no side."""
    known = np.isfinite(ranges.low_points) & np.isfinite(ranges.high_points)
    return np.asarray(known & (ranges.low_points < ranges.high_points))


def choose_step(domain: Domain, ranges: Ranges, rows: NDArray[np.int64]) -> Step | None:
    """The coarsest step of the ladder under which the mean length rises by at most 2 %; None: there is none.

    Ranges that may also hide a missing value have lost everything already and do not count.
    """
    wide = _is_wide(ranges)
    counted = wide & ~ranges.missing
    ends = np.concatenate([ranges.low_points[wide], ranges.high_points[wide]])
    if not counted.any() or np.abs(ends).max() > _LARGEST:
        return None
    lengths = (ranges.high_points - ranges.low_points)[counted]
    total = float((lengths * rows[counted]).sum())
    mean = total / max(int(rows[counted].sum()), 1)
    longest, largest = float(lengths.max()), float(np.abs(ends).max())
    for step in _ladder(domain.type, longest, mean * _FINEST, largest):
        rounded = widen(domain, ranges, step)
        lengths = (rounded.high_points - rounded.low_points)[counted]
        if float((lengths * rows[counted]).sum()) <= (1 + _MOST_RISE) * total:
            return step
    return None


def _ladder(type: ValueType, longest: float, finest: float, largest: float) -> Iterable[Step]:
    """Steps from coarse to fine, none of them longer than the longest range."""
    if type is ValueType.DATE:
        yield from (_days(days) for days in reversed(_DAYS) if days <= longest)
    elif type is ValueType.DATETIME:
        yield from (_moments(one * _SECOND) for one in reversed(_TIMES) if one * _SECOND <= longest)
    else:
        whole = type is ValueType.INTEGER
        for power in range(int(np.floor(np.log10(longest))), -1 if whole else -23, -1):
            for digit in (5, 2, 1):
                step = Step(digit * 10 ** max(power, 0), 10 ** max(-power, 0), is_whole=whole)
                if step.width > longest or (whole and step.size == 1):
                    continue
                if step.width < finest or largest / step.width > _LARGEST:
                    return
                yield step


def widen(domain: Domain, ranges: Ranges, step: Step, limits: tuple[int, int] | None = None) -> Ranges:
    """Ranges with both ends on the grid, and what they hold then; never beyond a declared domain."""
    wide = _is_wide(ranges)
    low, high = ranges.low_points[wide], ranges.high_points[wide]
    new_low, new_high = step.round_down(low), step.round_up(high)
    if domain.declared:
        new_low = np.minimum(np.maximum(new_low, domain.low), low)
        new_high = np.maximum(np.minimum(new_high, domain.high), high)
    first = np.searchsorted(domain.points, new_low, side="left")
    last = np.searchsorted(domain.points, new_high, side="right") - 1
    if limits is not None:
        stays_low, stays_high = first < limits[0], last > limits[1]
        new_low, first = np.where(stays_low, low, new_low), np.where(stays_low, ranges.lows[wide], first)
        new_high, last = np.where(stays_high, high, new_high), np.where(stays_high, ranges.highs[wide], last)
    made: dict[str, Any] = {field.name: getattr(ranges, field.name).copy() for field in fields(Ranges)}
    made["low_points"][wide], made["high_points"][wide] = new_low, new_high
    made["lows"][wide], made["highs"][wide] = first, last
    return Ranges(**made)


def find_step(domain: Domain, ranges: Ranges) -> Step | None:
    """The coarsest step of the ladder on which all ends lie, as a reader finds it; None: there is none.

    If e is the end that a step g gives for a value x, and e lies on a coarser grid G too, then G gives e for x: no
    multiple of G lies between. So anyone who finds G can tell what the range of a group was rounded to.
    """
    wide = _is_wide(ranges)
    if not wide.any() or not _has_ends(domain):
        return None
    low, high = ranges.low_points[wide], ranges.high_points[wide]
    length, largest = float((high - low).max()), float(np.abs(np.concatenate([low, high])).max())
    for step in _ladder(domain.type, length, length * _FINEST**2, largest):
        again = widen(domain, ranges, step)
        if (again.low_points[wide] == low).all() and (again.high_points[wide] == high).all():
            return step
    return None


def _merge_alike(release: Grouped) -> Grouped:
    """Groups with the same cells are one."""
    ids = np.zeros(len(release.extents[0]), dtype=np.int64)
    for extents in release.extents:
        for key in _keys(extents):
            codes = np.unique(key, return_inverse=True)[1].reshape(-1)
            ids = np.unique(ids * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1].reshape(-1)
    n_classes = int(ids.max(initial=-1)) + 1
    if n_classes == len(ids):
        return release
    first = np.unique(ids, return_index=True)[1]
    return replace(
        release,
        extents=tuple(take(extents, first) for extents in release.extents),
        group_of_row=ids[release.group_of_row].astype(np.int32),
    )


def _keys(extents: Extents) -> Iterable[NDArray[Any]]:
    if isinstance(extents, Sets):
        number: dict[bytes, int] = {}
        held = (members.tobytes() for members in np.split(extents.members, extents.starts[1:-1]))
        yield np.array([number.setdefault(members, len(number)) for members in held], dtype=np.int64)
    else:
        empty = extents.highs < extents.lows
        yield extents.missing
        for codes in (extents.lows, extents.highs):
            yield np.where(empty, -1, codes)
        for points in (extents.low_points, extents.high_points):
            yield np.where(np.isnan(points), np.inf, points)
