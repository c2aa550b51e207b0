"""Columns of a release as a model of whole rows sees them: cells, and how each gives its weight to bins of values.

A cell's weights are those that `query` uses (`spreading`): what is certain, and the rest by how often a value is seen.
Values lie in bins: numbers and dates in at most `_MOST_BINS` of about as much weight each, leaves of taxonomies in the
order of the tree, other values one by one as far as they are frequent. Inside a bin the weights decide, between bins
the model (`classes`) may make a value more or less likely.

    Runs    cells of ranges, of orders and of nodes of taxonomies: codes from one to another, and missing
    Lists   cells that list values: sets, the values of a bucket, and values that are published as they are
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.spreading import Numbers, RangeCells, SetCells, n_certain
from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Ranges, Sets
from lookalike.data.schema import Kind
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_LARGEST_EXACT = float(1 << 53)
_MOST_BINS = 24
_MOST_VALUES = 64
"""Bins of a column of numbers, and of other values, that a model tells apart."""
_OF_LEAVES = 0.5
"""By how much less the weights of leaves differ from world to world: all of their misfit would hide what is known."""
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Runs:
    """Cells that are runs of codes, with missing where the cell may hide that."""

    cell_of_unit: Ints
    lows: Ints
    highs: Ints
    some: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    missing_code: int
    at_ends: Numbers
    """[cells] the share that each end has for certain."""
    weights: Numbers
    """[codes], missing not among them (of taxonomies it is a leaf)."""
    of_missing: float
    bin_of_code: Ints
    """[codes], rising; missing has the last bin of all, where it is no leaf."""
    n_bins: int
    are_leaves: bool
    misfit: float
    """The variance of the weights: how far they may be off (`spreading`)."""

    @classmethod
    def of(cls, domain: Domain, extents: Ranges, n_rows: Ints, n_behind: Ints) -> Runs:
        raw = RangeCells.of(domain, extents, n_rows, np.maximum(n_behind, n_certain(extents)))
        cells = raw.weigh()
        # What lies between two values goes half to each.
        weights = cells.own + cells.between / 2
        weights[1:] += cells.between[:-1] / 2
        several = (cells.highs > cells.lows) | cells.missing
        at_ends = np.asarray(np.where(several & cells.some, 1.0 / cells.n_behind, 0.0))
        if cells.are_nodes or _are_rounded(cells.lows[several], cells.highs[several], domain):
            at_ends[:] = 0.0
        covered = np.zeros(len(weights) + 1)
        rows = cells.n_rows * cells.some
        np.add.at(covered, cells.lows, rows / np.maximum(cells.lengths, 1))
        np.add.at(covered, cells.highs + 1, -rows / np.maximum(cells.lengths, 1))
        bin_of_code = _choose_bins(np.maximum(np.cumsum(covered)[:-1], 0.0), domain)
        n_bins = int(bin_of_code.max(initial=0)) + 1
        with_missing = cells.missing_code >= 0
        return cls(
            cell_of_unit=cells.cell_of_unit,
            lows=cells.lows,
            highs=cells.highs,
            some=cells.some,
            missing=cells.missing,
            missing_code=cells.missing_code,
            at_ends=at_ends,
            weights=np.maximum(weights, _TINY),
            of_missing=max(cells.of_missing, _TINY),
            bin_of_code=bin_of_code,
            n_bins=n_bins + with_missing,
            are_leaves=cells.are_nodes,
            misfit=raw.variance,
        )

    @cached_property
    def _starts(self) -> Ints:
        """[bins + 1] the first code of each bin."""
        n_real = int(self.bin_of_code.max(initial=0)) + 1
        return np.asarray(np.searchsorted(self.bin_of_code, np.arange(n_real + 1)), dtype=np.int64)

    @cached_property
    def _reach(self) -> Numbers:
        return np.concatenate(([0.0], np.cumsum(self.weights)))

    def _pieces(self, cells: Ints) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """[cells, bins] the share that the rest has in each bin; and of the low end, the high end and missing."""
        reach, starts = self._reach, self._starts
        lows, highs = self.lows[cells, None], self.highs[cells, None]
        first, last = np.maximum(lows, starts[None, :-1]), np.minimum(highs + 1, starts[None, 1:])
        held = np.where(last > first, reach[np.maximum(last, first)] - reach[first], 0.0) * self.some[cells, None]
        missing = self.missing[cells] * self.of_missing
        total = np.maximum(held.sum(axis=1) + missing, _TINY)
        single = (self.lows == self.highs)[cells]
        low = self.at_ends[cells]
        high = np.where(single, 0.0, low)
        at_missing = np.where(self.missing[cells] & self.some[cells], self.at_ends[cells], 0.0)
        rest = np.maximum(1.0 - low - high - at_missing, 0.0)
        return held * (rest / total)[:, None], low, high, at_missing + missing * rest / total

    def shares(self, cells: Ints) -> Numbers:
        """[cells, bins] how these cells give away their weight of 1."""
        held, low, high, at_missing = self._pieces(cells)
        found = np.zeros((len(cells), self.n_bins))
        found[:, : held.shape[1]] = held
        place = np.arange(len(cells))
        np.add.at(found, (place, self.bin_of_code[self.lows[cells]]), low)
        np.add.at(found, (place, self.bin_of_code[self.highs[cells]]), high)
        if self.missing_code >= 0:
            found[:, -1] += at_missing
        return found

    def draw_misfit(self, rng: Randomness) -> Numbers:
        """[bins] logarithms of factors by which weights may be off.

        Along an axis neighbours deviate together, as a walk does; leaves of a taxonomy and missing each for itself.
        """
        found = _draw_normal(self.n_bins, rng)
        if not self.are_leaves:
            n_real = int(self.bin_of_code.max(initial=0)) + 1
            found[:n_real] = np.cumsum(found[:n_real]) / math.sqrt(n_real)
        return np.asarray(found * math.sqrt(self.misfit) * (_OF_LEAVES if self.are_leaves else 1.0))

    def draw(self, cells: Ints, bins: Ints, rng: Randomness) -> Ints:
        """A code for each row: its cell, and the bin that was drawn for it."""
        reach, starts = self._reach, self._starts
        real = np.minimum(bins, len(starts) - 2)
        lows, highs = self.lows[cells], self.highs[cells]
        first, last = np.maximum(lows, starts[real]), np.minimum(highs + 1, starts[real + 1])
        inside = np.where(last > first, reach[np.maximum(last, first)] - reach[first], 0.0)
        whole = reach[highs + 1] - reach[lows] + self.missing[cells] * self.of_missing
        single = lows == highs
        low = self.at_ends[cells]
        high = np.where(single, 0.0, low)
        at_missing = np.where(self.missing[cells], low, 0.0)
        rest = np.maximum(1.0 - low - high - at_missing, 0.0) * inside / np.maximum(whole, _TINY)
        low = low * (self.bin_of_code[lows] == real)
        high = high * (self.bin_of_code[highs] == real)
        chosen = rng.child("ends").uniforms(len(cells)) * (low + high + rest)
        wanted = reach[first] + rng.child("inside").uniforms(len(cells)) * inside
        drawn = np.clip(np.searchsorted(reach, wanted, side="right") - 1, first, np.maximum(last - 1, first))
        drawn = np.where(chosen < low, lows, np.where(chosen < low + high, highs, drawn))
        if self.missing_code >= 0:
            drawn = np.where(bins == self.n_bins - 1, self.missing_code, drawn)
        return np.asarray(drawn, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Lists:
    """Cells that list codes."""

    cell_of_unit: Ints
    starts: Ints
    members: Ints
    certain: Numbers
    """[members] the share that each member has for certain."""
    rest: Numbers
    """[cells]"""
    weights: Numbers
    bin_of_code: Ints
    n_bins: int
    misfit: float
    are_leaves: ClassVar[bool] = False

    @classmethod
    def of_sets(cls, domain: Domain, extents: Sets, n_rows: Ints, n_behind: Ints) -> Lists:
        raw = SetCells.of(domain, extents, n_rows, np.maximum(n_behind, n_certain(extents)))
        cells = raw.weigh()
        holds = cells.holds
        sizes = np.diff(holds.indptr).astype(np.int64)
        certain = np.where(sizes == 1, 1.0, 1.0 / cells.n_behind)
        bins = _choose_frequent(cells.own, _MOST_VALUES)
        return cls(
            cell_of_unit=cells.cell_of_unit,
            starts=holds.indptr.astype(np.int64),
            members=holds.indices.astype(np.int64),
            certain=np.repeat(certain, sizes),
            rest=np.where(sizes == 1, 0.0, np.maximum(1.0 - sizes / cells.n_behind, 0.0)),
            weights=np.maximum(cells.own, _TINY),
            bin_of_code=bins,
            n_bins=int(bins.max(initial=0)) + 1,
            misfit=raw.variance,
        )

    @classmethod
    def of_exact(cls, domain: Domain, codes: Codes) -> Lists:
        """Values that are published as they are: one cell per value."""
        n_codes = max(domain.n_codes, int(codes.max(initial=0)) + 1)
        counts = np.bincount(codes, minlength=n_codes).astype(np.float64)
        ordered = domain.kind is not Kind.CATEGORICAL and domain.taxonomy is None
        bins = _choose_bins(counts, domain) if ordered else _choose_frequent(counts, _MOST_VALUES)
        every = np.arange(n_codes, dtype=np.int64)
        return cls(
            cell_of_unit=codes.astype(np.int64),
            starts=np.arange(n_codes + 1, dtype=np.int64),
            members=every,
            certain=np.ones(n_codes),
            rest=np.zeros(n_codes),
            weights=np.ones(n_codes),
            bin_of_code=bins,
            n_bins=int(bins.max(initial=0)) + 1,
            misfit=0.0,
        )

    def gather(self, codes: Codes, bucket_of_value: NDArray[Any]) -> Lists:
        """Buckets as cells: each of their values with its share of them."""
        from scipy import sparse

        n_buckets = int(bucket_of_value.max(initial=-1)) + 1
        ones = np.ones(len(codes))
        held = sparse.coo_array((ones, (bucket_of_value, codes)), shape=(n_buckets, len(self.weights))).tocsr()
        held.sum_duplicates()
        sizes = np.maximum(np.bincount(bucket_of_value, minlength=n_buckets), 1)
        return replace(
            self,
            cell_of_unit=np.arange(n_buckets, dtype=np.int64),
            starts=held.indptr.astype(np.int64),
            members=held.indices.astype(np.int64),
            certain=held.data / np.repeat(sizes, np.diff(held.indptr)),
            rest=np.zeros(n_buckets),
        )

    def _expand(self, cells: Ints) -> tuple[Ints, Ints, Numbers]:
        """Row, code and share of every member of these cells."""
        sizes = np.diff(self.starts)[cells]
        row = np.repeat(np.arange(len(cells)), sizes)
        place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(self.starts[cells], sizes)
        code = self.members[place]
        own = self.weights[code]
        total = np.maximum(np.bincount(row, own, len(cells)), _TINY)
        return row, code, self.certain[place] + (self.rest[cells] / total)[row] * own

    def shares(self, cells: Ints) -> Numbers:
        row, code, share = self._expand(cells)
        flat = np.bincount(row * self.n_bins + self.bin_of_code[code], share, len(cells) * self.n_bins)
        return np.asarray(flat.reshape(len(cells), self.n_bins), dtype=np.float64)

    def draw_misfit(self, rng: Randomness) -> Numbers:
        """[bins] logarithms of factors by which weights may be off."""
        return np.asarray(_draw_normal(self.n_bins, rng) * math.sqrt(self.misfit))

    def draw(self, cells: Ints, bins: Ints, rng: Randomness) -> Ints:
        row, code, share = self._expand(cells)
        if not len(code):
            # Of a column that is withheld as a whole no value is known, and everybody has code 0.
            return np.zeros(len(cells), dtype=np.int64)
        share = share * (self.bin_of_code[code] == bins[row])
        reach = np.cumsum(share)
        ends = np.cumsum(np.diff(self.starts)[cells])
        below = np.concatenate(([0.0], reach))[ends - np.diff(self.starts)[cells]]
        wanted = below + rng.uniforms(len(cells)) * (reach[ends - 1] - below)
        place = np.clip(np.searchsorted(reach, wanted, side="right"), ends - np.diff(self.starts)[cells], ends - 1)
        return np.asarray(code[place], dtype=np.int64)


def _draw_normal(count: int, rng: Randomness) -> Numbers:
    """Numbers of a normal law, by Box and Muller."""
    uniforms = rng.uniforms(2 * count).reshape(2, count)
    return np.asarray(np.sqrt(-2.0 * np.log1p(-uniforms[0])) * np.cos(2.0 * np.pi * uniforms[1]))


def _are_rounded(lows: Ints, highs: Ints, domain: Domain) -> bool:
    """Whether ranges of whole numbers or days seem to end where a rounding put them, and not at people's values."""
    if domain.kind is not Kind.NUMERIC or domain.taxonomy is not None or not min(len(lows), len(domain.points)):
        return False
    points = np.asarray(domain.points)
    ends = np.concatenate((points[lows], points[highs] + 1))
    # Beyond this, floats have no odd numbers: nothing says how they were rounded.
    if (ends != np.rint(ends)).any() or np.abs(ends).max() > _LARGEST_EXACT:
        return False
    return int(np.gcd.reduce(np.diff(np.unique(ends)).astype(np.int64), initial=0)) > 1


def _choose_bins(counts: Numbers, domain: Domain) -> Ints:
    """Bins of neighbours; missing, if it is among the codes, has one of its own."""
    n_codes = len(counts)
    n_values = min(n_codes, len(domain.values)) if domain.has_missing else n_codes
    most = _MOST_BINS if domain.taxonomy is None and domain.kind is Kind.NUMERIC else _MOST_VALUES
    bins = np.arange(n_codes, dtype=np.int64)
    if n_values > most:
        below = np.cumsum(counts[:n_values]) - counts[:n_values] / 2
        bins[:n_values] = np.minimum(below * most // max(counts[:n_values].sum(), _TINY), most - 1)
        bins = np.unique(bins, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return bins


def _choose_frequent(counts: Numbers, most: int) -> Ints:
    """A bin for each frequent value, and one for all others."""
    bins = np.arange(len(counts), dtype=np.int64)
    if len(counts) > most:
        bins[:] = most - 1
        bins[np.argsort(-counts, kind="stable")[: most - 1]] = np.arange(most - 1)
    return bins
