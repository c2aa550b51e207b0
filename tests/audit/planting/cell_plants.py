"""Plants in published cells and in what is declared: ranges, sets, suppressed and made-up rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.data.release import Grouped, Ranges, Sets, Withheld
from tests.audit.making import moved
from tests.audit.planting.cases import Case
from tests.audit.planting.catalogue import plant, with_release


def _ranges(case: Case) -> list[int]:
    extents = getattr(case.release, "extents", ())
    return [place for place, extent in enumerate(extents) if isinstance(extent, Ranges)]


def _with_extent(case: Case, place: int, extent: Any) -> Case:
    extents = case.release.extents
    return with_release(case, extents=(*extents[:place], extent, *extents[place + 1 :]))


def _with_ends(rng: np.random.Generator, case: Case, change: Callable[[int, int, int], tuple[int, int]]) -> Case | None:
    places = _ranges(case)
    if not places:
        return None
    place = int(rng.choice(places))
    extent, domain = case.release.extents[place], case.data.domains.quasi[place]
    unit = int(rng.choice(np.unique(case.release.unit_of_row)))
    lows, highs = extent.lows.copy(), extent.highs.copy()
    if highs[unit] < lows[unit]:
        return None
    lows[unit], highs[unit] = change(int(lows[unit]), int(highs[unit]), domain.n_codes)
    if highs[unit] < lows[unit] or lows[unit] < 0 or highs[unit] >= len(domain.values):
        return None
    return _with_extent(case, place, Ranges.of(domain, lows, highs, extent.missing))


@plant("range narrowed from below")
def _narrowed(rng: np.random.Generator, case: Case) -> Case | None:
    return _with_ends(rng, case, lambda low, high, n_codes: (low + 1, high))


@plant("range narrowed from above")
def _narrowed_above(rng: np.random.Generator, case: Case) -> Case | None:
    return _with_ends(rng, case, lambda low, high, n_codes: (low, high - 1))


@plant("range moved up")
def _moved_up(rng: np.random.Generator, case: Case) -> Case | None:
    return _with_ends(rng, case, lambda low, high, n_codes: (low + 1, high + 1))


@plant("range widened")
def _widened(rng: np.random.Generator, case: Case) -> Case | None:
    return _with_ends(rng, case, lambda low, high, n_codes: (max(low - 1, 0), high))


@plant("missing mark taken off")
def _unmarked(rng: np.random.Generator, case: Case) -> Case | None:
    places = [place for place in _ranges(case) if case.release.extents[place].missing.any()]
    if not places:
        return None
    place = int(rng.choice(places))
    extent = case.release.extents[place]
    missing = extent.missing.copy()
    missing[rng.choice(np.flatnonzero(missing))] = False
    return _with_extent(case, place, replace(extent, missing=missing))


@plant("set without a member")
def _fewer_members(rng: np.random.Generator, case: Case) -> Case | None:
    extents = getattr(case.release, "extents", ())
    places = [at for at, extent in enumerate(extents) if isinstance(extent, Sets) and len(extent.members)]
    if not places:
        return None
    place = int(rng.choice(places))
    extent = extents[place]
    gone = int(rng.integers(len(extent.members)))
    starts = extent.starts - (extent.starts > gone)
    return _with_extent(case, place, Sets(starts, np.delete(extent.members, gone)))


@plant("suppressed count too high")
def _more_suppressed(rng: np.random.Generator, case: Case) -> Case | None:
    return _declared(case, n_suppressed=case.release.withheld.n_suppressed + 1)


@plant("suppressed records of other values")
def _other_suppressed(rng: np.random.Generator, case: Case) -> Case | None:
    withheld = case.release.withheld
    if not withheld.n_suppressed or not withheld.suppressed:
        return None
    return _declared(case, suppressed=tuple(np.roll(counts, 1) for counts in withheld.suppressed))


@plant("dummies not declared")
def _undeclared(rng: np.random.Generator, case: Case) -> Case | None:
    withheld = case.release.withheld
    if not withheld.n_dummies:
        return None
    return _declared(case, n_dummies=0)


@plant("dummies said to be told apart")
def _told(rng: np.random.Generator, case: Case) -> Case | None:
    return _declared(case, indistinguishable=False) if case.release.withheld.n_dummies else None


@plant("dummies declared by value that look like any row")
def _told_by_value(rng: np.random.Generator, case: Case) -> Case | None:
    withheld, sensitive = case.release.withheld, case.release.sensitive
    if not withheld.n_dummies:
        return None
    rows = rng.choice(len(sensitive), withheld.n_dummies, replace=False)
    counts = tuple(
        np.bincount(sensitive[rows, at], minlength=domain.n_codes)
        for at, domain in enumerate(case.data.domains.sensitive)
    )
    return _declared(case, dummies=counts)


@plant("a loss covered by a made-up row")
def _covered(rng: np.random.Generator, case: Case) -> Case | None:
    """One row is replaced by a copy of another, and both are declared."""
    release = case.release
    if not isinstance(release, Grouped) or release.withheld.n_suppressed or release.withheld.n_dummies:
        return None
    one, other = rng.choice(release.n_rows, 2, replace=False)
    rows = np.arange(release.n_rows)
    rows[one] = other
    counts = [
        tuple(np.bincount(release.sensitive[[row], at], minlength=domain.n_codes) for at, domain in enumerate(domains))
        for row, domains in ((one, case.data.domains.sensitive), (other, case.data.domains.sensitive))
    ]
    hidden = bool(rng.random() < 0.5)
    withheld = Withheld((), (), 1, 1, indistinguishable=True) if hidden else Withheld(counts[0], counts[1], 1, 1)
    return replace(case, release=replace(moved(release, rows), withheld=withheld))


def _declared(case: Case, **changed: Any) -> Case:
    return with_release(case, withheld=replace(case.release.withheld, **changed))
