"""How likely the values inside a cell are: all alike, or as the release itself makes likely.

Uniform: whole numbers (`high - low + 1` of them), values of a set and leaves of a node count alike; of numbers with
fractions the length. This is what the papers assume. It is far off where one value is much more frequent than others:
in a cell {Peru, USA} the two are not equally likely.

Weighted: cells are as narrow as they can be. So of the n records behind one, at least one has each value of a set, and
one each the ends of a range; that much is certain. The rest are spread by weights: how often a value is certain over
the whole release, and what a uniform spread of the rest adds. (Repeating that to convergence makes values that many
cells share ever more likely; it was tried and is worse.) A node of a taxonomy stands for all its leaves, whether
anybody has them or not, and frequent leaves tend to be published alone, not under a node: its leaves stay alike.

A range is laid out as pieces: its values, and what lies between one and the next. A query wants a piece between two
values if it wants both.

**Misfit.** Weights are a guess, and the same guess for all cells of a column, so errors add up and do not cancel out.
Let each piece be more or less likely than its weight by its own factor, exp(e), the e having the variance s. To
first order an answer then moves by the sum of e g, g being what the answer gains if the piece becomes likelier: its
weight in the cells where it is wanted, minus what the other pieces of those cells lose. In sets and under nodes of
taxonomies the e are independent, and the variance of the answer is s times the sum of g^2. Along an axis neighbours
deviate together, as a walk does: then it is s times the mean square of the cumulated g.

How large s is was tried on releases of all methods (`python benchmarks/intervals.py`). It grows with how much of its
column a cell covers, and with the root of how many records are behind it: of large groups little is certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain
from lookalike.data.release import Extents, Ranges
from lookalike.data.schema import Kind, ValueType

Numbers = NDArray[np.float64]
Masks = NDArray[np.bool_]


_NOTHING = 1e-300
_HUGE = 1e150
_HAIR = 1e-12
"""A share that is neither none nor all of a cell is at least so far from both."""
_OF_NUMBERS, _OF_SETS, _OF_NODES = 1.25, 0.2, 0.6
"""The variance s of columns of numbers (and of orders), of sets and of nodes of taxonomies, where a cell covers its
whole column and ten records are behind it."""
_LEAST_LOSS, _USUAL_SIZE = 0.02, 10.0


def _size_factor(column: RangeCells | SetCells) -> float:
    behind = float(column.n_rows @ column.n_behind) / max(float(column.n_rows.sum()), 1.0)
    return math.sqrt(max(behind, 1.0) / _USUAL_SIZE)


def n_certain(extents: Extents) -> NDArray[np.int64]:
    """How many different values are certain to be behind each cell: the ends of a range, or the whole set."""
    if isinstance(extents, Ranges):
        ends = np.where(extents.highs > extents.lows, 2, 1) * (extents.highs >= extents.lows)
        return np.asarray(ends + extents.missing, dtype=np.int64)
    return extents.sizes


def cells_of(
    domain: Domain, extents: Extents, n_rows: NDArray[np.int64], n_behind: NDArray[np.int64]
) -> RangeCells | SetCells:
    """Cells in which all values are alike; of each unit the rows that show it, and the records that are behind it."""
    behind = np.maximum(n_behind, n_certain(extents))
    if isinstance(extents, Ranges):
        return RangeCells.of(domain, extents, n_rows, behind)
    return SetCells.of(domain, extents, n_rows, behind)


@dataclass(frozen=True, eq=False)
class RangeCells:
    """The different cells of a column, and the cell of each unit."""

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    """Both 0 where `some` is False: cells that hide a missing value alone."""
    some: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    n_rows: NDArray[np.int64]
    n_behind: NDArray[np.int64]
    cell_of_unit: NDArray[np.int64]
    own: Numbers
    """[codes] the weight of each value"""
    between: Numbers
    """[codes] the weight of what lies between a value and the next"""
    of_missing: float
    missing_code: int
    """-1 if the column has none"""
    are_nodes: bool
    ends_are_certain: bool = False

    @classmethod
    def of(cls, domain: Domain, extents: Ranges, n_rows: NDArray[np.int64], n_behind: NDArray[np.int64]) -> RangeCells:
        keys = np.stack((extents.lows, extents.highs, extents.missing, n_behind), axis=1)
        found, number = np.unique(keys.astype(np.int64), axis=0, return_inverse=True)
        number = number.reshape(-1).astype(np.int64)
        some = found[:, 1] >= found[:, 0]
        # Of a taxonomy, missing is a leaf like any other.
        is_tree = domain.taxonomy is not None
        # Of a column that is always missing no value is known; one that no cell holds is in.
        n_points = max(domain.n_codes if is_tree else domain.missing_code, 1)
        own, between = np.ones(n_points), np.zeros(n_points)
        if domain.kind is Kind.NUMERIC and not is_tree and n_points > 1:
            points = np.asarray(domain.points)
            whole = domain.type is not ValueType.NUMBER or bool(np.equal(np.mod(points, 1), 0).all())
            if float(np.abs(points).max()) > _HUGE:
                # Sums of such lengths are beyond floats; only how they compare matters.
                points, whole = points / _HUGE, False
            gaps = np.diff(points)
            # A number with a fraction has no width of its own; a hair of it, so that cells of one value have some.
            own *= 1.0 if whole else 1e-9 * max(float(gaps.max()), 1.0)
            between[:-1] = gaps - 1.0 if whole else gaps
        return cls(
            lows=np.where(some, found[:, 0], 0).astype(np.int64),
            highs=np.where(some, found[:, 1], 0).astype(np.int64),
            some=some,
            missing=found[:, 2] > 0,
            n_rows=np.bincount(number, n_rows, len(found)).astype(np.int64),
            n_behind=found[:, 3].astype(np.int64),
            cell_of_unit=number,
            own=own,
            between=between,
            of_missing=float(own.max(initial=1.0)),
            missing_code=domain.missing_code if domain.has_missing and not is_tree else -1,
            are_nodes=is_tree,
        )

    @property
    def _one_value(self) -> NDArray[np.bool_]:
        return np.asarray(self.lows == self.highs)

    @property
    def _n_certain(self) -> NDArray[np.int64]:
        """How many values a cell has for certain: its ends, and missing."""
        return np.asarray(self.some * (2 - self._one_value) + self.missing, dtype=np.int64)

    @property
    def _rest(self) -> Numbers:
        """The share of the records behind a cell whose value is not certain."""
        return np.where(self._one_value & ~self.missing, 0.0, 1.0 - self._n_certain / self.n_behind)

    def _measure_cover(self, own: Numbers, between: Numbers) -> Numbers:
        """[..., cells] the weight that each cell covers."""
        reach = np.zeros((*own.shape[:-1], own.shape[-1] + 1))
        np.cumsum(own, axis=-1, out=reach[..., 1:])
        beyond = np.zeros_like(reach)
        np.cumsum(between, axis=-1, out=beyond[..., 1:])
        inside = reach[..., self.highs + 1] - reach[..., self.lows] + beyond[..., self.highs] - beyond[..., self.lows]
        return np.asarray(np.maximum(inside, 0.0) * self.some)

    @property
    def _totals(self) -> Numbers:
        return np.maximum(self._measure_cover(self.own, self.between) + self.missing * self.of_missing, _NOTHING)

    def _look_up(self, mask: Masks) -> tuple[Numbers, Any, Numbers]:
        """Which values are wanted, in which cells missing is, and how many of each cell's certain values are."""
        known = mask[:, : len(self.own)].astype(np.float64)
        at_missing = mask[:, self.missing_code, None] * self.missing if self.missing_code >= 0 else 0.0
        ends = known[:, self.lows] + np.where(self._one_value, 0.0, known[:, self.highs])
        return known, at_missing, np.asarray(ends * self.some + at_missing)

    def shares(self, mask: Masks) -> Numbers:
        """[queries, cells] which part of each cell is wanted, by queries that want these codes.

        Exactly 1 where all of a cell is wanted, and exactly 0 where nothing is.
        """
        known = mask[:, : len(self.own)]
        n_wanted = np.zeros((len(mask), len(self.own) + 1), dtype=np.int32)
        np.cumsum(known, axis=1, out=n_wanted[:, 1:])
        n_inside = (n_wanted[:, self.highs + 1] - n_wanted[:, self.lows]) * self.some
        at_missing = mask[:, self.missing_code, None] & self.missing if self.missing_code >= 0 else False
        found = np.clip(self._weigh_wanted(mask), _HAIR, 1.0 - _HAIR)
        found[(n_inside == 0) & ~np.asarray(at_missing)] = 0.0
        found[(n_inside == self.lengths) & (~self.missing | at_missing)] = 1.0
        return found

    def _weigh_wanted(self, mask: Masks) -> Numbers:
        known, at_missing, n_wanted = self._look_up(mask)
        both = np.zeros_like(known)
        both[:, :-1] = known[:, :-1] * known[:, 1:]
        wanted = self._measure_cover(known * self.own, both * self.between)
        spread = np.asarray((wanted + at_missing * self.of_missing) / self._totals)
        if not self.ends_are_certain:
            return spread
        certain = n_wanted / self.n_behind
        alone = self._one_value & ~self.missing & self.some
        return np.asarray(np.where(alone, known[:, self.lows], certain + self._rest * spread))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many values per cell allows, missing not counted."""
        return np.asarray((self.highs - self.lows + 1) * self.some)

    @cached_property
    def _pull(self) -> tuple[Any, Any, Any, Any]:
        """What gives the weight of cells to [pieces, cells]: ends; values and gaps as steps; and missing."""
        from scipy import sparse

        n_cells, n_points = len(self.lows), len(self.own)
        cell = np.arange(n_cells)
        alone = self._one_value & ~self.missing & self.some
        certain = 1.0 / self.n_behind if self.ends_are_certain else np.zeros(n_cells)
        rest = (self._rest if self.ends_are_certain else 1.0) / self._totals
        at_low = np.where(alone, 1.0 if self.ends_are_certain else 0.0, certain) * self.some
        at_high = np.where(self._one_value, 0.0, certain) * self.some
        places, twice = np.concatenate((self.lows, self.highs)), np.concatenate((cell, cell))
        ends = sparse.csr_array((np.concatenate((at_low, at_high)), (places, twice)), shape=(n_points, n_cells))
        within = rest * self.some
        both = np.concatenate((within, -within)), (np.concatenate((self.lows, self.highs + 1)), twice)
        steps = sparse.csr_array(both, shape=(n_points + 1, n_cells))
        both = np.concatenate((within, -within)), (places, twice)
        gaps = sparse.csr_array(both, shape=(n_points, n_cells)) if self.between.any() else None
        missing = (rest * self.of_missing + certain) * self.missing
        return ends, steps, gaps, missing

    def _give(self, reach: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """What of the weight `reach` [cells, queries] values and gaps [codes, queries] and missing [queries] have."""
        ends, steps, gaps, missing = self._pull
        inside = np.cumsum(steps @ reach, axis=0)[:-1]
        beyond = np.zeros((1, 1)) if gaps is None else self.between[:, None] * np.cumsum(gaps @ reach, axis=0)
        return np.asarray(ends @ reach + self.own[:, None] * inside), beyond, np.asarray(missing @ reach)

    def misfit(self, mask: Masks, shares: Numbers, reach: Numbers) -> Numbers:
        """[queries] by how much answers may be off, as a variance; `shares` and `reach` are [cells, queries]."""
        known = mask[:, : len(self.own)].T
        both = np.zeros_like(known)
        both[:-1] = known[:-1] & known[1:]
        given, beyond, missing = self._give(reach)
        taken, beyond_taken, missing_taken = self._give(reach * shares)
        # A gap goes with the value before it.
        gained = known * given - taken + both * beyond - beyond_taken
        at_missing = np.zeros(len(mask))
        if self.missing_code >= 0:
            at_missing = mask[:, self.missing_code] * missing - missing_taken
        if self.are_nodes:
            return np.asarray(self.variance * ((gained**2).sum(axis=0) + at_missing**2))
        between = np.cumsum(gained, axis=0)
        walked = (between**2).mean(axis=0)
        of_missing = _size_factor(self) * _OF_SETS * self._loss**0.25
        return np.asarray(self.variance * walked + of_missing * at_missing**2)

    @property
    def _loss(self) -> float:
        """Which part of its column a cell covers, on average."""
        loss = max(float(self.n_rows @ ((self.lengths + self.missing - 1.0) / max(len(self.own) - 1, 1))), 0.0)
        return loss / max(float(self.n_rows.sum()), 1.0) + _LEAST_LOSS

    @property
    def variance(self) -> float:
        """The variance s of the column."""
        if self.are_nodes:
            return float(_OF_NODES * self._loss**0.5)
        return _size_factor(self) * _OF_NUMBERS * self._loss

    def weigh(self) -> RangeCells:
        """The same cells, with what is certain about them and weights for the rest."""
        if self.are_nodes:
            return self
        rate = self.n_rows * self._rest / self._totals
        steps = np.zeros((2, len(self.own) + 1))
        on_values = rate * self.some
        for line, last in ((0, self.highs + 1), (1, self.highs)):
            np.add.at(steps[line], self.lows, on_values)
            np.add.at(steps[line], last, -on_values)
        covering = np.maximum(np.cumsum(steps, axis=1)[:, :-1], 0.0)
        alone = self._one_value & ~self.missing
        at_end = self.n_rows * self.some * np.where(alone, 1.0, 1.0 / self.n_behind)
        own = self.own * covering[0]
        np.add.at(own, self.lows, at_end)
        np.add.at(own, self.highs, np.where(self._one_value, 0.0, at_end))
        of_missing = float((self.n_rows * self.missing / self.n_behind + rate * self.missing * self.of_missing).sum())
        return replace(self, own=own, between=self.between * covering[1], of_missing=of_missing, ends_are_certain=True)


@dataclass(frozen=True, eq=False)
class SetCells:
    """The same for cells that are sets."""

    holds: Any
    """[cells, codes] sparse, 1 where a cell holds a code"""
    n_rows: NDArray[np.int64]
    n_behind: NDArray[np.int64]
    cell_of_unit: NDArray[np.int64]
    own: Numbers
    all_are_certain: bool = False

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.asarray(np.diff(self.holds.indptr), dtype=np.int64)

    @classmethod
    def of(cls, domain: Domain, extents: Any, n_rows: NDArray[np.int64], n_behind: NDArray[np.int64]) -> SetCells:
        from scipy import sparse

        seen: dict[tuple[bytes, int], int] = {}
        cell_of_unit = [
            seen.setdefault((extents.members[start:stop].tobytes(), behind), len(seen))
            for (start, stop), behind in zip(pairwise(extents.starts.tolist()), n_behind.tolist(), strict=True)
        ]
        number = np.array(cell_of_unit, dtype=np.int64)
        codes = np.frombuffer(b"".join(members for members, _ in seen), dtype=extents.members.dtype)
        width = extents.members.dtype.itemsize
        starts = np.concatenate(([0], np.cumsum([len(members) // width for members, _ in seen])))
        holds = sparse.csr_array((np.ones(len(codes)), codes, starts), shape=(len(seen), domain.n_codes))
        return cls(
            holds=holds,
            n_rows=np.bincount(number, n_rows, len(seen)).astype(np.int64),
            n_behind=np.array([behind for _, behind in seen], dtype=np.int64),
            cell_of_unit=number,
            own=np.ones(domain.n_codes),
        )

    @property
    def _totals(self) -> Numbers:
        return np.asarray(np.maximum(self.holds @ self.own, _NOTHING))

    @property
    def _rest(self) -> Numbers:
        sizes = np.diff(self.holds.indptr)
        return np.where(sizes == 1, 0.0, 1.0 - sizes / self.n_behind)

    @property
    def _certain(self) -> Numbers:
        """The share of a cell's records that has each of its values for certain."""
        return np.where(np.diff(self.holds.indptr) == 1, 1.0, 1.0 / self.n_behind)

    def shares(self, mask: Masks) -> Numbers:
        n_wanted = self.holds @ mask.T.astype(np.float64)
        found = (self.holds @ (mask * self.own).T) / self._totals[:, None]
        if self.all_are_certain:
            found = self._certain[:, None] * n_wanted + self._rest[:, None] * found
        found = np.clip(found, _HAIR, 1.0 - _HAIR)
        found[n_wanted == 0] = 0.0
        found[n_wanted == self._sizes[:, None]] = 1.0
        return np.asarray(found.T)

    @cached_property
    def _pull(self) -> Any:
        """[codes, cells] which part of each cell each value has."""
        from scipy import sparse

        certain = self._certain if self.all_are_certain else np.zeros(len(self._sizes))
        rest = self._rest if self.all_are_certain else np.ones(len(self._sizes))
        scaled = sparse.diags_array(rest / self._totals) @ self.holds @ sparse.diags_array(self.own)
        return (scaled + sparse.diags_array(certain) @ self.holds).T.tocsr()

    def misfit(self, mask: Masks, shares: Numbers, reach: Numbers) -> Numbers:
        gained = mask.T * (self._pull @ reach) - self._pull @ (reach * shares)
        return np.asarray(self.variance * (gained**2).sum(axis=0))

    @property
    def variance(self) -> float:
        """The variance s of the column."""
        n_codes = self.holds.shape[1]
        loss = float(self.n_rows @ (self._sizes - 1.0)) / max(float(self.n_rows.sum()), 1.0) / max(n_codes - 1, 1)
        return float(_size_factor(self) * _OF_SETS * (max(loss, 0.0) + _LEAST_LOSS) ** 0.25)

    def weigh(self) -> SetCells:
        certain = self.holds.T @ (self.n_rows * self._certain)
        spread = self.own * (self.holds.T @ (self.n_rows * self._rest / self._totals))
        return replace(self, own=certain + spread, all_are_certain=True)
