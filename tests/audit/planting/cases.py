"""Honest releases of all four forms, made by hand: what is published is true, and nothing is hidden or added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, MatchGraph, Randomizer, Ranges, Release, Withheld
from tests.audit.making import bucketized, grouped, matched, moved, perturbed, random_groups
from tests.audit.planting.tables import MOST_ROWS, random_table

FORMS = ("grouped", "widened", "withheld", "matched", "bucketized", "perturbed", "matched widened")


@dataclass(frozen=True, eq=False)
class Case:
    """A release, the table that it is said to be about, and what it promises."""

    release: Any
    data: Microdata
    graph: MatchGraph | None = None
    promises: tuple[Promise, ...] = ()
    unit_of_record: Any = None
    """Group or bucket of each record."""
    unpublished: Any = None
    """Columns of the table that are left out, by name, as ranks."""


def honest(rng: np.random.Generator, form: str) -> Case:
    """A random table and a true release of it; bounds on sizes keep the oracle's searches short."""
    most = {"matched": 11, "matched widened": 9, "bucketized": 13}.get(form, MOST_ROWS)
    n_rows = int(rng.integers(4, most))
    data = random_table(rng, n_rows)
    order = rng.permutation(n_rows)
    groups = random_groups(rng, n_rows, int(rng.integers(1, max(n_rows // 2, 2))))
    if form in ("matched", "matched widened"):
        degree = int(rng.integers(1, min(n_rows, 4 if form == "matched" else 2) + 1))
        around = rng.permutation(n_rows)
        slots = [[int(around[(slot + step) % n_rows]) for step in range(degree)] for slot in range(n_rows)]
        shift = int(rng.integers(degree))
        release, graph = matched(data, slots, [slot[shift] for slot in slots], order)
        return Case(release if form == "matched" else widened(rng, release), data, graph)
    if form == "bucketized":
        return Case(bucketized(data, groups, order, rng.permutation(n_rows)), data, unit_of_record=groups)
    if form == "perturbed":
        sizes = [domain.n_codes for domain in data.domains.sensitive]
        return Case(perturbed(rng, data, [random_matrix(rng, size) for size in sizes], order), data)
    release = grouped(data, groups, order)
    if form == "widened":
        return Case(widened(rng, release), data, unit_of_record=groups)
    if form == "withheld":
        return Case(withheld(rng, release), data, unit_of_record=groups)
    return Case(release, data, unit_of_record=groups)


def random_matrix(rng: np.random.Generator, n_codes: int, total: int = 12) -> Randomizer:
    """Columns of whole numbers that add up to the total; some entries are 0."""
    columns = [rng.multinomial(total, rng.dirichlet([1.0] * n_codes)) for _ in range(n_codes)]
    return Randomizer(np.array(columns, dtype=np.int64).T.copy(), total)


def widened(rng: np.random.Generator, release: Any) -> Any:
    """Some ranges reach further than they must: true all the same.

    Classes may come to look alike, and matched records may fit rows that no complete assignment gives them.
    """
    extents = []
    for domain, extent in zip(release.domains.quasi, release.extents, strict=True):
        if isinstance(extent, Ranges) and domain.taxonomy is None and len(domain.values):
            wide = rng.random(len(extent)) < 0.5
            filled = extent.highs >= extent.lows
            lows = np.where(wide & filled, 0, extent.lows).astype(np.int32)
            highs = np.where(wide & filled, len(domain.values) - 1, extent.highs).astype(np.int32)
            extent = Ranges.of(domain, lows, highs, extent.missing)
        extents.append(extent)
    return replace(release, extents=tuple(extents))


def withheld(rng: np.random.Generator, release: Grouped) -> Grouped:
    """Rows left out and rows made up, all declared; those made up repeat others."""
    n_rows = release.n_rows
    n_gone, n_made = int(rng.integers(0, 3)), int(rng.integers(0, 3))
    gone = rng.choice(n_rows, n_gone, replace=False)
    kept = np.setdiff1d(np.arange(n_rows), gone)
    made = rng.choice(kept, n_made)
    suppressed = tuple(
        np.bincount(release.sensitive[gone, index], minlength=domain.n_codes)
        for index, domain in enumerate(release.domains.sensitive)
    )
    # Rows that look like any other hide which values were left out, too.
    declared = Withheld(() if n_made else suppressed, (), n_gone, n_made, indistinguishable=n_made > 0)
    return replace(moved(release, rng.permutation([*kept, *made]).astype(np.int64)), withheld=declared)


def rebuilt(case: Case, groups: Any, rng: np.random.Generator) -> Release:
    """A true release of another partition of the same table."""
    n_rows = case.data.n_rows
    groups = np.unique(groups, return_inverse=True)[1]
    if case.release.form == "bucketized":
        return bucketized(case.data, groups, rng.permutation(n_rows), rng.permutation(n_rows))
    return grouped(case.data, groups, rng.permutation(n_rows))
