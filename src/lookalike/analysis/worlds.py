"""Worlds as likely as a release makes them: plain tables with a value in every cell, drawn from the release alone.

    Grouped, Matched   classes of rows are fitted to all cells (`classes`), and each row draws one of those that fit it.
                       A column of a group is a table of its rows and of bins of values. Rows prefer the bins that
                       their class makes likely; the sums of the bins are those of the weights that `query` uses, moved
                       a little towards what the rows prefer. Iterative proportional fitting gives both their due, then
                       each row draws its bin, and in it a value
    Bucketized         values of a bucket are dealt to its rows; then pairs of rows swap values by the chances that
                       their classes give them, so that every world has the published counts
    Perturbed          each value from what it may have been before the matrix (`data.reconstruct`)

**Honest errors.** Weights are a guess (`spreading`), the same for all cells of a column. So each world has weights of
its own, off by factors as large as they may be wrong. What worlds differ by is then about what the answers of `query`
may be off by.

Rows of one person are of one class. A column whose cells never differ between the rows of a person is drawn once.
Cost: the fit takes about a second, a world O(rows x bins).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.classes import MOST_FITTED, Classes, fit_classes, normalise_rows
from lookalike.analysis.counts import count_behind
from lookalike.analysis.fitted_columns import Lists, Runs
from lookalike.analysis.spreading import Numbers
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges, Release
from lookalike.data.worlds import World, deal_values, draw_rows, pick_dummies
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_MOVED, _MOVED_ALONE = 0.25, 0.5
"""How far the sums of a group move towards what its rows prefer, and those of rows with their own cells. Leaves of
taxonomies do not move: a node is published where values below it differ, which a class of rows does not know."""
_FITTINGS = 6
_SWAPS = 12
_BLOCK = 20_000
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows in the order of their groups."""

    order: Ints
    firsts: Ints
    sizes: Ints

    @classmethod
    def of(cls, group_of_row: NDArray[Any]) -> _Groups:
        order = np.argsort(group_of_row, kind="stable")
        in_turn = group_of_row[order]
        firsts = np.flatnonzero(np.concatenate(([True], in_turn[1:] != in_turn[:-1])))
        return cls(order, firsts, np.diff(np.append(firsts, len(order))))


@dataclass(frozen=True, eq=False)
class WorldModel:
    """What a release says about which values go together, fitted once for all worlds."""

    release: Release
    columns: tuple[Runs | Lists, ...]
    """Quasi-identifiers, sensitive columns, carried ones."""
    cells: tuple[Ints, ...]
    """By column, the cell of each row (in buckets: of each row of quasi-identifiers)."""
    classes: Classes | None
    """None for perturbed releases, and where there is nothing to fit."""

    @classmethod
    def of(cls, release: Release) -> WorldModel:
        if isinstance(release, Perturbed) or release.n_rows == 0:
            return cls(release, (), (), None)
        columns, cells = _read_quasi(release)
        first = len(columns)
        domains = release.domains
        exact = [*zip(domains.sensitive, release.sensitive.T, strict=True)]
        exact += zip(domains.carried, release.carried.T, strict=True)
        for domain, codes in exact:
            column = Lists.of_exact(domain, codes)
            cell = column.cell_of_unit
            if isinstance(release, Bucketized):
                column = column.gather(codes, release.bucket_of_sensitive)
                cell = release.bucket_of_quasi.astype(np.int64)
            columns.append(column)
            cells.append(cell)
        # The fit is the same for everybody who draws from the release.
        rng = Randomness(0).child("classes")
        people = _people_of(release)
        rows = np.sort(rng.child("rows").permutation(release.n_rows)[:MOST_FITTED])
        if people is not None:
            rows = np.flatnonzero(people < (people.max() + 1) * min(1.0, MOST_FITTED / release.n_rows))
        held = [column.shares(cell[rows]) for column, cell in zip(columns, cells, strict=True)]
        start = first if len(columns) > first else 0
        classes = fit_classes(held, start, rng, None if people is None else people[rows])
        return cls(release, tuple(columns), tuple(cells), classes)

    def draw(self, rng: Randomness) -> World:
        """One world; anyone who wants several takes a child of the randomness for each."""
        world = self.draw_rows(rng)
        if not self.release.withheld.n_dummies:
            return world
        return world.only(~pick_dummies(self.release, world, rng))

    def draw_rows(self, rng: Randomness) -> World:
        """A world with one row per row of the release (of a bucketized one: of its qit), made-up records included."""
        release = self.release
        if self.classes is None or isinstance(release, Perturbed):
            return draw_rows(release, rng)
        if isinstance(release, Bucketized):
            return self._deal(release, rng)
        people = _people_of(release)
        class_of_row = self._draw_classes(rng, people)
        groups = _Groups.of(release.unit_of_row)
        drawn = []
        for place in range(len(release.domains.quasi)):
            codes = self._draw_column(place, class_of_row, groups, rng.child("column", place))
            if people is not None:
                codes = _repeat_constant(codes, self.cells[place], people)
            drawn.append(codes)
        return World(np.column_stack(drawn).astype(np.int32), release.sensitive, release.carried)

    def _weigh_classes(self, n_columns: int) -> Numbers:
        """[rows, classes] how likely each class makes each row, by its first columns."""
        from scipy import sparse

        assert self.classes is not None
        blocks = []
        for start in range(0, len(self.cells[0]), _BLOCK):
            cells = [cell[start : start + _BLOCK] for cell in self.cells[:n_columns]]
            held = [sparse.csr_array(column.shares(cell)) for column, cell in zip(self.columns, cells, strict=False)]
            blocks.append(self.classes.weigh_rows(held))
        return np.concatenate(blocks)

    def _draw_classes(self, rng: Randomness, people: Ints | None) -> Ints:
        assert self.classes is not None
        logs = self._weigh_classes(len(self.columns))
        uniforms = rng.child("classes").uniforms(len(logs))
        if people is not None:
            logs, uniforms = self.classes.join_people(logs, people), uniforms[people]
        return _pick(normalise_rows(logs), uniforms)

    def _draw_column(self, place: int, class_of_row: Ints, groups: _Groups, rng: Randomness) -> Ints:
        """A code for each row, block of groups by block."""
        assert self.classes is not None
        column, factor = self.columns[place], np.ascontiguousarray(self.classes.factors[place].T)
        # Each world has its own weights.
        off = np.exp(column.draw_misfit(rng.child("weights")))
        drawn = np.empty(len(class_of_row), dtype=np.int64)
        ends = groups.firsts + groups.sizes
        start = 0
        while start < len(groups.firsts):
            stop = max(int(np.searchsorted(ends, groups.firsts[start] + _BLOCK, side="right")), start + 1)
            rows = groups.order[groups.firsts[start] : ends[stop - 1]]
            cells = self.cells[place][rows]
            prefers = factor[class_of_row[rows]]
            table = _fit_groups(
                column.shares(cells) * off,
                prefers,
                groups.firsts[start:stop] - groups.firsts[start],
                groups.sizes[start:stop],
                moves=not column.are_leaves,
            )
            bins = _pick(table, rng.child("bins", start).uniforms(len(rows)))
            drawn[rows] = column.draw(cells, bins, rng.child("codes", start))
            start = stop
        return drawn

    def _deal(self, release: Bucketized, rng: Randomness) -> World:
        assert self.classes is not None
        dealt = deal_values(release, rng.child("deal"))
        n_quasi = len(release.domains.quasi)
        belongs = normalise_rows(self._weigh_classes(n_quasi))
        likely = np.ones((len(release.sensitive), belongs.shape[1]))
        exact = np.hstack((release.sensitive, release.carried))
        for column, factor, codes in zip(self.columns[n_quasi:], self.classes.factors[n_quasi:], exact.T, strict=True):
            likely *= factor[column.bin_of_code[codes]]
        bucket = release.bucket_of_quasi.astype(np.int64)
        for turn in range(_SWAPS):
            one, other = _pair_rows(bucket, rng.child("pairs", turn))
            before = _chance(belongs, likely, one, dealt[one]) * _chance(belongs, likely, other, dealt[other])
            after = _chance(belongs, likely, one, dealt[other]) * _chance(belongs, likely, other, dealt[one])
            swaps = rng.child("swaps", turn).uniforms(len(one)) * np.maximum(before, _TINY) < after
            one, other = one[swaps], other[swaps]
            dealt[one], dealt[other] = dealt[other], dealt[one]
        return World(release.quasi, release.sensitive[dealt], release.carried[dealt])


def _read_quasi(release: Grouped | Matched | Bucketized) -> tuple[list[Runs | Lists], list[Ints]]:
    columns: list[Runs | Lists] = []
    cells: list[Ints] = []
    if isinstance(release, Bucketized):
        for domain, codes in zip(release.domains.quasi, release.quasi.T, strict=True):
            columns.append(Lists.of_exact(domain, codes))
            cells.append(columns[-1].cell_of_unit)
        return columns, cells
    n_rows, n_behind = count_behind(release)
    for domain, extents in zip(release.domains.quasi, release.extents, strict=True):
        column: Runs | Lists
        if isinstance(extents, Ranges):
            column = Runs.of(domain, extents, n_rows, n_behind)
        else:
            column = Lists.of_sets(domain, extents, n_rows, n_behind)
        columns.append(column)
        cells.append(column.cell_of_unit[release.unit_of_row])
    return columns, cells


def _people_of(release: Release) -> Ints | None:
    """Whose row each row is, where the release says so, from 0 on."""
    linked = release.linked if isinstance(release, Grouped) else None
    return None if linked is None else linked.person_of_row.astype(np.int64) - 1


def _repeat_constant(codes: Ints, cells: Ints, people: Ints) -> Ints:
    """One value per person, where no person has rows with different cells."""
    first = np.full(int(people.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[people[::-1]] = np.arange(len(people))[::-1]
    of_first = first[people]
    return codes[of_first] if bool((cells == cells[of_first]).all()) else codes


def _fit_groups(shares: Numbers, prefers: Numbers, firsts: Ints, sizes: Ints, *, moves: bool) -> Numbers:
    """[rows, bins] a table for each group: rows sum to 1, bins to what the cell gives them, odds as rows prefer."""
    mean = np.add.reduceat(prefers, firsts, axis=0) / sizes[:, None]
    moved = np.where(sizes > 1, _MOVED, _MOVED_ALONE) * moves
    target = shares[firsts] * mean ** moved[:, None]
    target *= (sizes / np.maximum(target.sum(axis=1), _TINY))[:, None]
    group = np.repeat(np.arange(len(firsts)), sizes)
    if (sizes == 1).all():
        return np.asarray(target)
    table = shares * prefers
    for _ in range(_FITTINGS):
        table /= np.maximum(table.sum(axis=1, keepdims=True), _TINY)
        table *= (target / np.maximum(np.add.reduceat(table, firsts, axis=0), _TINY))[group]
    return np.asarray(table)


def _pair_rows(bucket: Ints, rng: Randomness) -> tuple[Ints, Ints]:
    """Pairs of rows of one bucket, at random; no row is in two of them."""
    shuffled = rng.permutation(len(bucket))
    order = shuffled[np.argsort(bucket[shuffled], kind="stable")]
    in_turn = bucket[order]
    place = np.arange(len(order))
    starts = np.concatenate(([True], in_turn[1:] != in_turn[:-1]))
    place = place - np.maximum.accumulate(np.where(starts, place, 0))
    left = np.flatnonzero((place[:-1] % 2 == 0) & (in_turn[1:] == in_turn[:-1]))
    return order[left], order[left + 1]


def _chance(belongs: Numbers, likely: Numbers, rows: Ints, values: Ints) -> Numbers:
    """How likely each of these rows makes the value beside it."""
    return np.asarray(np.einsum("ij,ij->i", belongs[rows], likely[values]))


def _pick(weights: Numbers, uniforms: Numbers) -> Ints:
    """A column for each row, each by its weight."""
    reach = np.cumsum(weights, axis=1)
    wanted = uniforms * reach[:, -1]
    # What has no weight is never picked, not even by the last digit of a sum.
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    return np.asarray(np.minimum((reach <= wanted[:, None]).sum(axis=1), last), dtype=np.int64)


def draw_worlds(release: Release, worlds: int, rng: Randomness) -> list[World]:
    """So many worlds; codes over the domains of the release."""
    model = WorldModel.of(release)
    return [model.draw(rng.child("world", world)) for world in range(worlds)]
