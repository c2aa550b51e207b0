"""Promises held against several releases of the same people at once, the new one and those made before.

The reader has all releases and knows the quasi-identifiers of a person, in which releases the person is, and the class
of each. For every release, every promise that it was published under must still hold for the persons in it:

    identity    persons on the same path (`paths`) are the ones this reader cannot tell apart: at least k of them
    values      the certainty about a value on each path: exact where the numbers on the path follow from the releases,
    else
                multiplied, once by shares of the values and once with all values equally likely; promises about each
                value by itself also hold for the fewest persons who can have it in any table that fits and, unless rows
                are made up, for the most

Refused are also releases that contradict each other: then someone's value changed, which a reader would see. Tested
are these readers and no others: where numbers do not follow, the exact certainty over all worlds is not worked out, and
promises about distributions rest on the multiplied probabilities there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from lookalike.audit.exposures import part
from lookalike.audit.paths import ABSENT, Bounds, ClassValues, Paths, bound_values, check_sizes, multiply
from lookalike.audit.reading import Ints
from lookalike.audit.verdicts import format_number
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.release import Grouped
from lookalike.errors import RecipeError, counted

_LOOKS = 20_000
_METHOD = (
    "promised against someone who knows the method. Releases of the same people are checked together only against "
    "someone who reads them"
)
_TOO_MUCH = (
    "not decided: too many groups of the releases overlap to work out what follows from adding and subtracting them"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesRelease:
    """One release of the series, over persons and values numbered alike for all of them."""

    name: str
    class_of_person: Ints
    made_up: Ints
    """By class, rows that no person is behind."""
    values: ClassValues
    """Of the sensitive columns and what is carried beside them, joined: a reader tells rows apart by all of it."""
    promises: tuple[Promise, ...]
    adversary: str = READS_RELEASE
    """The attacker it was promised against."""


@dataclass(frozen=True)
class Held:
    """One promise of one release, held against all releases together."""

    release: str
    promise: str
    passed: bool
    n_persons: int | None
    """Persons for whom it does not hold; None: more than were counted."""
    reached: Fraction | float | None
    reason: str = ""

    def __str__(self) -> str:
        reached = "" if self.reached is None else f" (reached: {format_number(self.reached)})"
        if self.passed:
            return f"{self.promise} of {self.release}: holds in all releases together{reached}"
        if self.reason:
            return f"{self.promise} of {self.release}: {self.reason}"
        number = "many persons" if self.n_persons is None else counted(self.n_persons, "person")
        return f"{self.promise} of {self.release}: broken for {number}{reached}"

    def to_plain(self) -> dict[str, Any]:
        return {
            "release": self.release,
            "promise": self.promise,
            "passed": self.passed,
            "persons": self.n_persons,
            "reached": None if self.reached is None else format_number(self.reached),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Certain:
    """For how many persons one value of a sensitive column is left."""

    column: str
    together: int
    """From all groups of all releases, read against each other."""
    own: int
    """From the person's own groups: the only value that all of them have."""
    alone: int
    """From one release by itself."""


@dataclass(frozen=True)
class SeriesAudit:
    """What reading all releases together comes to. Counts of persons only, never who."""

    n_releases: int
    n_persons: int
    held: tuple[Held, ...]
    certain: tuple[Certain, ...]
    changed: int
    """Persons about whom the releases contradict each other."""

    @property
    def passed(self) -> bool:
        return not self.changed and all(held.passed for held in self.held)

    @property
    def lines(self) -> tuple[str, ...]:
        said = [str(held) for held in self.held]
        for one in self.certain:
            said.append(
                f"From {self.n_releases} releases together the {one.column} of {counted(one.own, 'person')} is certain "
                f"by the values that their own groups share, and of {one.together:,} when all groups are read against "
                f"each other. One release alone leaves it certain for {one.alone:,}."
            )
        if self.changed:
            said.append(
                f"The releases contradict each other about {counted(self.changed, 'person')}: values changed between "
                "releases, and a reader sees which."
            )
        return tuple(said)

    def to_plain(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "releases": self.n_releases,
            "persons": self.n_persons,
            "promises": [held.to_plain() for held in self.held],
            "certain": [
                {"column": one.column, "together": one.together, "own_groups": one.own, "alone": one.alone}
                for one in self.certain
            ],
            "contradicted": self.changed,
        }


def audit_series(
    releases: Sequence[SeriesRelease], columns: Sequence[Domain], code_of_value: Sequence[Ints]
) -> SeriesAudit:
    """Hold the promises of all releases against all of them.

    `columns` are the sensitive columns with the values of all releases; `code_of_value` has for each of them the code
    of every joint value.
    """
    paths = Paths.of([each.class_of_person for each in releases], [each.made_up for each in releases])
    published = [each.values for each in releases]
    check_sizes(paths, published)
    bounds = bound_values(paths, published)
    changed = bounds.contradicted
    held: list[Held] = []
    certain: list[Certain] = []
    if not len(changed):
        joint = _Joint(paths, published, bounds)
        seen = [_Seen(joint, column, codes) for column, codes in zip(columns, code_of_value, strict=True)]
        certain = [one.count_certain() for one in seen]
        for place, release in enumerate(releases):
            held += [_hold(promise, release, place, paths, seen) for promise in release.promises]
    n_changed = int(paths.sizes[changed[paths.is_person[changed]]].sum())
    return SeriesAudit(
        n_releases=len(releases),
        n_persons=int(paths.sizes[paths.is_person].sum()),
        held=tuple(held),
        certain=tuple(certain),
        changed=max(n_changed, int(bool(len(changed)))),
    )


@dataclass(frozen=True, eq=False)
class _Joint:
    """Paths and what follows about joint values on them, for all sensitive columns."""

    paths: Paths
    published: Sequence[ClassValues]
    bounds: Bounds

    @cached_property
    def multiplied(self) -> tuple[Ints, tuple[tuple[Ints, Ints], ...]]:
        """The paths whose numbers do not follow, and their probabilities: by shares, and with all values equally
        likely.
        """
        which = np.flatnonzero(~self.bounds.known & self.paths.is_person)
        pooled = np.zeros(1 + int(self.bounds.values.max(initial=-1)), dtype=np.int64)
        for held in self.published:
            kept = held.values < len(pooled)
            np.add.at(pooled, held.values[kept], held.counts[kept])
        return which, tuple(
            multiply(self.paths, self.published, self.bounds, which, shares) for shares in (pooled, None)
        )

    def entries(self, which: Ints) -> tuple[Ints, Ints]:
        """Of these paths: the place of each among them, and the entry."""
        starts = self.bounds.starts
        lengths = (starts[1:] - starts[:-1])[which]
        offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.repeat(np.arange(len(which)), lengths), np.repeat(starts[:-1][which], lengths) + offsets


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the releases together say about one sensitive column."""

    joint: _Joint
    column: Domain
    code_of_value: Ints

    def prior(self, release: int) -> Ints:
        """How often each value is published in one release."""
        held = self.joint.published[release]
        found = np.zeros(self.column.n_codes, dtype=np.int64)
        np.add.at(found, self.code_of_value[held.values], held.counts)
        return found

    def count_certain(self) -> Certain:
        """Persons with a single possible value."""
        paths, bounds = self.joint.paths, self.joint.bounds
        codes, n_paths = self.code_of_value[bounds.values], len(paths.sizes)
        possible = bounds.most > 0
        together = _count_codes(bounds.paths[possible], codes[possible], n_paths) == 1
        own = _count_codes(bounds.paths, codes, n_paths) == 1
        alone = np.zeros(n_paths, dtype=bool)
        for release, held in enumerate(self.joint.published):
            inside = paths.classes[:, release] != ABSENT
            n_codes = _count_codes(held.classes, self.code_of_value[held.values], held.n_classes)
            alone[inside] |= n_codes[paths.classes[inside, release]] == 1
        numbers = (int(paths.sizes[paths.is_person & found].sum()) for found in (together, own, alone))
        return Certain(self.column.name, *numbers)

    def readings(self, release: int, *, certain: bool) -> list[tuple[Ints, Exposure]]:
        """The probabilities of each reader about the persons in a release: paths, and a unit for each of them."""
        paths, bounds, prior = self.joint.paths, self.joint.bounds, self.prior(release)
        through = paths.through(release)
        known, others = through[bounds.known[through]], through[~bounds.known[through]]
        found = [self._expose(known, bounds.least[self.joint.entries(known)[1]], paths.sizes[known], prior)]
        which, beliefs = self.joint.multiplied
        places = np.searchsorted(which, others)
        inside = np.isin(self.joint.entries(which)[0], places)
        for weights, totals in beliefs:
            found.append(self._expose(others, weights[inside], totals[places], prior))
        if certain:
            # No table that fits the releases has fewer or more, however a reader weighs them. Beside made-up rows the
            # most says nothing: a person among them can have any value of the group.
            made_up = bool(paths.sizes[~paths.is_person].any())
            for numbers in (bounds.least,) if made_up else (bounds.least, bounds.most):
                found.append(self._expose(others, numbers[self.joint.entries(others)[1]], paths.sizes[others], prior))
        return [(units, exposure) for units, exposure in found if len(units)]

    def _expose(self, which: Ints, weights: Ints, sizes: Ints, prior: Ints) -> tuple[Ints, Exposure]:
        """A unit per path, its joint values put together by the value of this column."""
        units, entries = self.joint.entries(which)
        kept = weights > 0
        codes = self.code_of_value[self.joint.bounds.values[entries[kept]]]
        keys, place = np.unique(units[kept] * self.column.n_codes + codes, return_inverse=True)
        summed = np.zeros(len(keys), dtype=np.int64)
        np.add.at(summed, place.reshape(-1), weights[kept])
        # Joint values are counted one by one, and their most may add up to more than all.
        summed = np.minimum(summed, sizes[keys // self.column.n_codes])
        return which, Exposure(
            adversary=READS_RELEASE,
            form=Grouped.form,
            column=self.column,
            prior=prior,
            starts=np.searchsorted(keys, np.arange(len(which) + 1) * self.column.n_codes).astype(np.int64),
            values=(keys % self.column.n_codes).astype(np.int32),
            weights=summed,
            sizes=sizes.astype(np.int64),
        )


def _count_codes(owners: Ints, codes: Ints, n_owners: int) -> Ints:
    """How many different codes each owner has."""
    pairs = np.unique(np.column_stack((owners, codes)), axis=0)
    return np.bincount(pairs[:, 0], minlength=n_owners).astype(np.int64)


def _hold(promise: Promise, release: SeriesRelease, place: int, paths: Paths, seen: Sequence[_Seen]) -> Held:
    model = promise.model
    if (reason := refuse_model(promise)) is not None:
        return Held(release.name, str(promise), False, None, None, reason)
    if model.about_identity:
        readings = [_identity(paths, place)]
    else:
        if release.adversary == KNOWS_METHOD and _shares_people(paths, place):
            return Held(release.name, str(promise), False, None, None, _METHOD)
        if not seen[0].joint.bounds.complete:
            return Held(release.name, str(promise), False, None, None, _TOO_MUCH)
        about = [one for one in seen if one.column.name == promise.column]
        if not about:
            raise RecipeError(f"{promise} is about a column that the releases do not share.")
        readings = about[0].readings(place, certain=model.value_by_value)
    failing: Ints | None = np.zeros(0, dtype=np.int64)
    worst: list[Any] = []
    for units, exposure in readings:
        level = model.level(exposure)
        worst.append(level.value)
        if not model.holds(level):
            places = _failing(promise, exposure)
            failing = None if failing is None or places is None else np.union1d(failing, units[places])
    broken = failing is None or len(failing) > 0
    n_persons = None if failing is None else int(paths.sizes[failing].sum())
    reached = (min if model.rises else max)(worst) if worst and model.scale is not None else None
    return Held(release.name, str(promise), not broken, n_persons, reached)


def refuse_model(promise: Promise) -> str | None:
    """Why a promise cannot be held against several releases."""
    if promise.model.by_possible:
        return "it counts rows that are possible for a person, which several releases together are not checked for"
    return None


def _shares_people(paths: Paths, place: int) -> bool:
    """Whether someone in a release is in another one, too."""
    return bool(((paths.classes[paths.through(place)] != ABSENT).sum(axis=1) > 1).any())


def _identity(paths: Paths, place: int) -> tuple[Ints, Exposure]:
    which = paths.through(place)
    sizes = paths.sizes[which]
    return which, Exposure(
        adversary=READS_RELEASE,
        form=Grouped.form,
        column=None,
        prior=np.array([int(sizes.sum())], dtype=np.int64),
        starts=np.arange(len(which) + 1, dtype=np.int64),
        values=np.zeros(len(which), dtype=np.int32),
        weights=sizes,
        sizes=sizes,
    )


def _failing(promise: Promise, exposure: Exposure) -> Ints | None:
    """Units that break the promise by themselves; None if that takes too many looks."""
    model = promise.model
    found: list[int] = []
    stack = [np.arange(exposure.n_units)]
    for _ in range(_LOOKS):
        if not stack:
            return np.array(found, dtype=np.int64)
        units = stack.pop()
        if model.holds(model.level(part(exposure, units))):
            continue
        if len(units) == 1:
            found.append(int(units[0]))
        else:
            stack += [units[: len(units) // 2], units[len(units) // 2 :]]
    return None


def check_m_invariance(releases: Sequence[SeriesRelease], ms: Sequence[int]) -> list[str]:
    """What is wrong with a series that is to be m-invariant, in sentences; `ms` has the m of each release.

    Every group has at least m rows with different values, made-up rows are as many as declared, and every person has
    the same set of values in each release that the person is in.
    """
    problems = []
    for release, m in zip(releases, ms, strict=True):
        held = release.values
        sizes = np.bincount(held.classes, weights=held.counts, minlength=held.n_classes).astype(np.int64)
        n_values = np.bincount(held.classes, minlength=held.n_classes)
        n_wrong = int(np.count_nonzero((sizes != n_values) | (sizes < m)))
        if n_wrong:
            problems.append(
                f"{release.name}: {counted(n_wrong, 'group')} without at least {m} rows of different values"
            )
        inside = release.class_of_person[release.class_of_person != ABSENT]
        persons = np.bincount(inside, minlength=held.n_classes)
        n_wrong = int(np.count_nonzero(persons + release.made_up != sizes))
        if n_wrong:
            problems.append(
                f"{release.name}: {counted(n_wrong, 'group')} with another number of made-up rows than declared"
            )
    signatures = [_signatures(release) for release in releases]
    n_persons = len(releases[0].class_of_person) if releases else 0
    changed = sum(
        len({sets[person] for sets in signatures if sets[person] is not None}) > 1 for person in range(n_persons)
    )
    if changed:
        problems.append(f"{counted(changed, 'person')} with another set of values in one release than in another")
    return problems


def _signatures(release: SeriesRelease) -> list[frozenset[int] | None]:
    held = release.values
    sets: list[set[int]] = [set() for _ in range(held.n_classes)]
    for group, value in zip(held.classes.tolist(), held.values.tolist(), strict=True):
        sets[group].add(value)
    frozen = [frozenset(values) for values in sets]
    return [None if group == ABSENT else frozen[group] for group in release.class_of_person.tolist()]
