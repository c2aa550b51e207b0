"""The same guesses about people in the table and about a control group, made alike and scored alike.

Both are looked at through the cells of the release. A number that the table lacks lies between those that it has, so
release and table are also kept over the wider domains of the control group (`Seen.wide`). Classifiers, which learned
from the table's own values, are asked about the nearest of them (`People.near`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import majority
from lookalike.attacks.shared.persons import are_right, list_known
from lookalike.data.contracts import Residual, Target
from lookalike.data.control import find_known, nobody
from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Release, Sets
from lookalike.data.schema import Kind
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class People:
    """Persons who are guessed about: one known row of each."""

    data: Microdata
    """All their rows; sensitive codes are those of the table, or nobody's."""
    known: Ints
    """The rows that the attacker knows."""
    wide: Codes
    """[known] their quasi-identifiers over `Seen.wide`."""
    near: Codes
    """[known] the same over the table's own domains, numbers that it lacks replaced by the nearest."""
    points: tuple[Shares, ...]
    """[rows] of all rows: where each sensitive value lies, by column."""

    def __len__(self) -> int:
        return len(self.known)

    def only(self, places: Ints) -> People:
        """Those of them at these places."""
        return replace(self, known=self.known[places], wide=self.wide[places], near=self.near[places])

    def are_right(self, column: int, guesses: Ints) -> NDArray[np.bool_]:
        """Which guesses about them are right: about a person, if some row has the value."""
        return are_right(self.data, column, guesses, self.known)


Guess = Callable[[People], Ints]
"""A value for each person, by quasi-identifiers alone."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A target and its control group over common domains."""

    target: Target

    @classmethod
    def of(cls, target: Target) -> Seen:
        """Worked out once per target."""
        found = target.worked_out.setdefault("seen", cls(target))
        assert isinstance(found, cls)
        return found

    @property
    def has_control(self) -> bool:
        return self.target.control is not None

    @cached_property
    def wide(self) -> Target:
        """The target over domains that hold the numbers of the control group as well."""
        control, original = self.target.control, self.target.original
        if control is None:
            return self.target
        changed = [
            len(wide.values) > len(own.values)
            for wide, own in zip(control.domains.quasi, original.domains.quasi, strict=True)
        ]
        if not any(changed):
            return self.target
        domains = control.domains.quasi
        return replace(
            self.target,
            release=_widen_release(self.target.release, domains),
            original=replace(
                original,
                domains=_with_quasi(original.domains, domains),
                quasi=_move_all(original.quasi, original.domains.quasi, domains),
            ),
            others=(),
        )

    @cached_property
    def targets(self) -> People:
        """People in the table."""
        original = self.target.original
        known = list_known(original)
        points = tuple(
            points_of(domain, codes)
            for domain, codes in zip(original.domains.sensitive, original.sensitive.T, strict=True)
        )
        return People(original, known, self.wide.original.quasi[known], original.quasi[known], points)

    @cached_property
    def others(self) -> People | None:
        """People of the control group."""
        control, own = self.target.control, self.target.original.domains
        if control is None:
            return None
        known = list_known(control)
        pairs = list(zip(control.domains.sensitive, own.sensitive, control.sensitive.T, strict=True))
        points = tuple(points_of(domain, codes) for domain, _, codes in pairs)
        nothing = np.empty((control.n_rows, 0), dtype=np.int32)
        values = np.column_stack([nothing, *(find_known(codes, wide, domain) for wide, domain, codes in pairs)])
        data = replace(control, domains=replace(control.domains, sensitive=own.sensitive), sensitive=values)
        near = np.column_stack(
            [
                nothing,
                *(
                    _move_near(codes, *both)
                    for *both, codes in zip(control.domains.quasi, own.quasi, control.quasi.T, strict=True)
                ),
            ]
        )
        return People(data, known, control.quasi[known], near[known], points)

    def draw_alike(self, rng: Randomness, most: int | None = None) -> tuple[People, People | None]:
        """As many people in the table as in the control group, at most so many: drawn where there are more."""
        n_people = min(len(people) for people in (self.targets, self.others) if people is not None)
        n_people = n_people if most is None else min(n_people, most)

        def draw(people: People, name: str) -> People:
            if len(people) == n_people:
                return people
            return people.only(np.sort(rng.child(name).permutation(len(people))[:n_people]))

        return draw(self.targets, "targets"), None if self.others is None else draw(self.others, "control")


def guess_alike(target: Target, column: int, guess: Guess, rng: Randomness, kind: str | None = None) -> Residual | None:
    """The same guesses about people in the table and the control group; None without a control group."""
    seen = Seen.of(target)
    targets, others = seen.draw_alike(rng)
    if others is None:
        return None
    return Residual(
        n=len(targets),
        right=int(targets.are_right(column, guess(targets)).sum()),
        control_n=len(others),
        control_right=int(others.are_right(column, guess(others)).sum()),
        baseline=majority(target.original, column),
        kind=kind,
    )


def points_of(domain: Domain, codes: Codes) -> Shares:
    """Where values lie: numbers and dates by size, all others by code; NaN where there is none."""
    points = domain.points if domain.kind is Kind.NUMERIC else np.arange(len(domain.values), dtype=np.float64)
    return np.append(points, [np.nan, np.nan])[np.minimum(codes, len(points))]


def _move(old: Domain, new: Domain) -> Ints:
    """The new code of each code of a domain, that of missing and of nobody's included."""
    if len(new.values) == len(old.values):
        return np.arange(old.n_codes + 2, dtype=np.int64)
    places = np.searchsorted(new.values, old.values).astype(np.int64)
    missing = [new.missing_code] if old.has_missing else []
    return np.array([*places, *missing, nobody(new), nobody(new)], dtype=np.int64)


def _move_all(quasi: Codes, old: tuple[Domain, ...], new: tuple[Domain, ...]) -> Codes:
    columns = [_move(*pair)[codes] for *pair, codes in zip(old, new, quasi.T, strict=True)]
    return np.column_stack(columns).astype(np.int32)


def _move_near(codes: Codes, wide: Domain, own: Domain) -> Codes:
    """Codes of a wider domain over the table's own: the nearest value."""
    if len(wide.values) == len(own.values):
        return codes
    points, known = wide.points, own.points
    above = np.clip(np.searchsorted(known, points), 0, max(len(known) - 1, 0))
    below = np.maximum(above - 1, 0)
    nearer = np.where(np.abs(known[above] - points) < np.abs(points - known[below]), above, below)
    exact = known[above] == points
    missing = [own.missing_code] if wide.has_missing else []
    moved = np.array([*np.where(exact, above, nearer), *missing, nobody(own), nobody(own)], dtype=np.int32)
    return moved[codes]


def _with_quasi(domains: Domains, quasi: tuple[Domain, ...]) -> Domains:
    return replace(domains, quasi=quasi)


def _widen_release(release: Release, quasi: tuple[Domain, ...]) -> Release:
    domains = _with_quasi(release.domains, quasi)
    if isinstance(release, Grouped | Matched):
        extents = tuple(
            _widen_extents(held, old, new)
            for held, old, new in zip(release.extents, release.domains.quasi, quasi, strict=True)
        )
        return replace(release, domains=domains, extents=extents)
    return replace(release, domains=domains, quasi=_move_all(release.quasi, release.domains.quasi, quasi))


def _widen_extents(extents: Extents, old: Domain, new: Domain) -> Extents:
    if isinstance(extents, Sets) or len(new.values) == len(old.values):
        return extents
    empty = extents.highs < extents.lows
    ends = np.where(empty, 0.0, extents.low_points), np.where(empty, 0.0, extents.high_points)
    lows = np.searchsorted(new.points, ends[0], side="left")
    highs = np.searchsorted(new.points, ends[1], side="right") - 1
    return Ranges(
        np.where(empty, 0, lows).astype(np.int32),
        np.where(empty, -1, highs).astype(np.int32),
        extents.missing,
        extents.low_points,
        extents.high_points,
    )
