"""The distributions that a release lets one expect, without drawing: of each column, and of each pair of columns.

A cell gives its weight evenly to what it may hide: the whole numbers or days of an interval, its length where the
column has fractions, the leaves of a node, the members of a set; missing, where the cell says so, is one value more.
A bucket gives each of its persons each of its values in equal parts. Perturbed counts are the likeliest before the
matrix. So two tables can be held against each other, cell by cell, and no figure depends on chance.

Columns of many values are put in parts, alike for both sides: a numeric one in at most `N_PARTS` of about as many
records each, the rare values of another one in one part. Cost: units x parts for a column, units x parts^2 for a pair.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.reconstruct import likeliest_counts
from lookalike.data.release import Bucketized, Extents, Perturbed, Ranges, Release, is_numeric_cell
from lookalike.data.schema import Kind, ValueType
from lookalike.data.worlds import bounds_of

Shares = NDArray[np.float64]
N_PARTS = 20
_MOST_VALUES = 50
_CHUNK = 50_000


@dataclass(frozen=True, eq=False)
class Parts:
    """The values of one column in parts; missing is the last part where there is one."""

    domain: Domain
    part_of_code: NDArray[np.int64]
    n_parts: int
    sizes: Shares
    """[parts] where each part lies: the mean of its values (of numeric and ordered columns)."""

    @classmethod
    def of(cls, domain: Domain, codes: Codes, most: int = N_PARTS) -> Parts:
        counts = np.bincount(codes, minlength=domain.n_codes)
        n_values = len(domain.values)
        part_of_code = np.arange(domain.n_codes)
        if domain.kind is not Kind.CATEGORICAL and domain.taxonomy is None and n_values > most:
            below = np.cumsum(counts[:n_values]) - counts[:n_values] / 2
            part_of_code[:n_values] = np.minimum(below * most // max(counts[:n_values].sum(), 1), most - 1)
        elif n_values > _MOST_VALUES:
            rare = np.argsort(-counts[:n_values], kind="stable")[_MOST_VALUES - 1 :]
            part_of_code[rare] = domain.n_codes
        part_of_code = np.unique(part_of_code, return_inverse=True)[1].astype(np.int64)
        if domain.has_missing:
            # Rare values got a number above missing: missing goes last.
            part_of_code = np.where(part_of_code > part_of_code[-1], part_of_code - 1, part_of_code)
            part_of_code[-1] = part_of_code[:-1].max(initial=-1) + 1
        n_parts = int(part_of_code.max(initial=-1)) + 1
        weights = np.bincount(part_of_code[:n_values], counts[:n_values], minlength=n_parts)
        sums = np.bincount(part_of_code[:n_values], counts[:n_values] * domain.points, minlength=n_parts)
        sizes = np.divide(sums, weights, where=weights > 0, out=np.zeros(n_parts))
        return cls(domain, part_of_code, n_parts, sizes)

    @property
    def is_measured(self) -> bool:
        """Whether larger and smaller mean something."""
        return self.domain.kind is not Kind.CATEGORICAL and self.domain.taxonomy is None

    @cached_property
    def _cumulated(self) -> Shares:
        """[codes + 1, parts] how many of the codes below each are in which part."""
        one_hot = np.eye(self.n_parts)[self.part_of_code]
        return np.concatenate((np.zeros((1, self.n_parts)), np.cumsum(one_hot, axis=0)))

    def of_cells(self, extents: Extents, units: slice) -> Shares:
        """[units, parts] how each cell gives away its weight of 1."""
        if not isinstance(extents, Ranges):
            return self._of_members(extents.starts, extents.members, units)
        lows, lengths, missing = bounds_of(self.domain, extents)
        lows, lengths, missing = lows[units], lengths[units], missing[units]
        if is_numeric_cell(self.domain):
            shares, n_values = self._of_intervals(extents.low_points[units], extents.high_points[units], lengths)
        else:
            shares, n_values = self._cumulated[lows + lengths] - self._cumulated[lows], lengths.astype(np.float64)
            shares = shares / np.maximum(n_values, 1)[:, None]
        n_values = np.where(lengths > 0, n_values, 0.0)
        shares = shares * (n_values / np.maximum(n_values + missing, 1e-300))[:, None]
        if missing.any():
            shares[:, -1] += np.where(missing, 1 / np.maximum(n_values + 1, 1), 0.0)
        return shares

    def _of_members(self, starts: NDArray[np.int64], members: Codes, units: slice) -> Shares:
        first = starts[:-1][units]
        sizes = np.diff(starts)[units]
        unit_of_member = np.repeat(np.arange(len(sizes)), sizes)
        held = members[int(first[0]) : int(first[0]) + len(unit_of_member)] if len(sizes) else members[:0]
        keys = unit_of_member * self.n_parts + self.part_of_code[held]
        counts = np.bincount(keys, minlength=len(sizes) * self.n_parts).reshape(len(sizes), self.n_parts)
        return counts / np.maximum(sizes, 1)[:, None]

    def _close(self, ends: Shares) -> Shares:
        """Open ends reach as far as the column's values do."""
        known = self.domain.points if len(self.domain.points) else np.zeros(1)
        return np.where(np.isinf(ends), np.where(ends < 0, known[0], known[-1]), ends)

    def _of_intervals(self, lows: Shares, highs: Shares, n_codes: NDArray[np.int64]) -> tuple[Shares, Shares]:
        """By whole numbers, or by length; and how many values that is."""
        lows, highs = np.nan_to_num(self._close(lows)), np.nan_to_num(self._close(highs))
        whole = self.domain.type in (ValueType.INTEGER, ValueType.DATE)
        n_real = self.n_parts - self.domain.has_missing
        # Parts of numbers rise with them.
        parts = self.part_of_code[: len(self.domain.values)]
        ends = self.domain.points[np.searchsorted(parts, np.arange(n_real), side="right") - 1]
        below = lows - 1 if whole else lows
        width = np.where(highs > below, highs - below, 1.0)
        reached = np.clip(ends[:-1], below[:, None], highs[:, None])
        edges = np.column_stack((below, reached, highs))
        shares = np.zeros((len(lows), self.n_parts))
        shares[:, :n_real] = np.diff(edges, axis=1) / width[:, None]
        single = highs <= below
        shares[single] = 0.0
        shares[single, np.searchsorted(ends[:-1], lows[single])] = 1.0
        return shares, np.maximum(highs - below, 1.0) if whole else np.maximum(n_codes.astype(np.float64), 1.0)


def all_parts(original: Microdata) -> tuple[Parts, ...]:
    """Of every quasi-identifier, then of every sensitive column."""
    domains, codes = original.domains, np.concatenate((original.quasi.T, original.sensitive.T))
    return tuple(Parts.of(domain, of) for domain, of in zip((*domains.quasi, *domains.sensitive), codes, strict=True))


class Expected:
    """What a release lets one expect, over the parts of its original's columns."""

    def __init__(self, release: Release, parts: tuple[Parts, ...]) -> None:
        self.release = release
        self.parts = parts
        self.n_quasi = len(release.domains.quasi)

    @cached_property
    def _exact(self) -> dict[int, NDArray[np.int64]]:
        """The part of each row, of columns that are published as they are (perturbed ones as they are published)."""
        release = self.release
        exact = dict(enumerate(release.sensitive.T, start=self.n_quasi))
        if isinstance(release, Bucketized | Perturbed):
            exact |= dict(enumerate(release.quasi.T))
        return {column: self.parts[column].part_of_code[codes] for column, codes in exact.items()}

    def column(self, one: int) -> Shares:
        """[parts] the share of each."""
        if one in self._exact:
            counts = np.bincount(self._exact[one], minlength=self.parts[one].n_parts).astype(np.float64)
            if isinstance(self.release, Perturbed) and one >= self.n_quasi:
                counts = self._back(self._codes(one)[None, :].astype(np.float64), one)[0]
        else:
            counts = sum((held.T @ size for held, size in self._weigh_cells(one)), np.zeros(self.parts[one].n_parts))
        return _normalise(counts)

    def pair(self, one: int, other: int) -> Shares:
        """[parts of one, parts of the other], one < other."""
        release = self.release
        if isinstance(release, Bucketized) and one < self.n_quasi <= other:
            return _normalise(self._through_buckets(release, one, other))
        if isinstance(release, Perturbed) and other >= self.n_quasi:
            return _normalise(self._through_matrices(release, one, other))
        if one in self._exact and other in self._exact:
            return _normalise(_cross(self._exact[one], self._exact[other], self._shape(one, other)))
        assert not isinstance(release, Bucketized | Perturbed)
        table = np.zeros(self._shape(one, other))
        if other in self._exact:
            table += self._beside(one, other)
        else:
            for (held, size), (also, _) in zip(self._weigh_cells(one), self._weigh_cells(other), strict=True):
                table += (held * size[:, None]).T @ also
        return _normalise(table)

    def _shape(self, one: int, other: int) -> tuple[int, int]:
        return self.parts[one].n_parts, self.parts[other].n_parts

    def _weigh_cells(self, column: int) -> Iterator[tuple[Shares, Shares]]:
        """Cells of a quasi-identifier and how many rows have them, some units at a time."""
        release = self.release
        assert not isinstance(release, Bucketized | Perturbed)
        extents = release.extents[column]
        sizes = np.bincount(release.unit_of_row, minlength=len(extents)).astype(np.float64)
        for start in range(0, len(extents), _CHUNK):
            units = slice(start, start + _CHUNK)
            yield self.parts[column].of_cells(extents, units), sizes[units]

    def _beside(self, one: int, other: int) -> Shares:
        """A quasi-identifier of cells beside a sensitive column."""
        release = self.release
        assert not isinstance(release, Bucketized | Perturbed)
        values = _sparse(
            release.unit_of_row, self._exact[other], (len(release.extents[one]), self._shape(one, other)[1])
        )
        table = np.zeros(self._shape(one, other))
        for turn, (held, _) in enumerate(self._weigh_cells(one)):
            table += (values[turn * _CHUNK : turn * _CHUNK + len(held)].T @ held).T
        return table

    def _through_buckets(self, release: Bucketized, one: int, other: int) -> Shares:
        n_buckets = 1 + max(int(release.bucket_of_quasi.max()), int(release.bucket_of_sensitive.max()))
        known = _sparse(release.bucket_of_quasi, self._exact[one], (n_buckets, self.parts[one].n_parts))
        values = _sparse(release.bucket_of_sensitive, self._exact[other], (n_buckets, self.parts[other].n_parts))
        sizes = np.maximum(np.bincount(release.bucket_of_sensitive, minlength=n_buckets), 1)
        values.data = values.data / np.repeat(sizes, np.diff(values.indptr))
        table: Shares = (known.T @ values).toarray()
        return table

    def _through_matrices(self, release: Perturbed, one: int, other: int) -> Shares:
        n_codes = release.domains.sensitive[other - self.n_quasi].n_codes
        later = release.sensitive[:, other - self.n_quasi].astype(np.int64)
        if one < self.n_quasi:
            return self._back(_cross(self._exact[one], later, (self.parts[one].n_parts, n_codes)), other)
        earlier = release.sensitive[:, one - self.n_quasi].astype(np.int64)
        table = _cross(earlier, later, (release.domains.sensitive[one - self.n_quasi].n_codes, n_codes))
        return self._back(self._back(table, other).T, one).T

    def _codes(self, column: int) -> NDArray[np.int64]:
        place = column - self.n_quasi
        return np.bincount(self.release.sensitive[:, place], minlength=self.release.domains.sensitive[place].n_codes)

    def _back(self, observed: Shares, column: int) -> Shares:
        """[lines, codes] as published to [lines, parts] as it was."""
        assert isinstance(self.release, Perturbed)
        found = likeliest_counts(observed, self.release.randomizers[column - self.n_quasi])
        parts = self.parts[column]
        table: Shares = found @ np.eye(parts.n_parts)[parts.part_of_code]
        return table


class Observed:
    """The original's own distributions, over the same parts."""

    def __init__(self, original: Microdata, parts: tuple[Parts, ...]) -> None:
        codes = np.concatenate((original.quasi.T, original.sensitive.T))
        self._rows = [of.part_of_code[column] for of, column in zip(parts, codes, strict=True)]
        self._n_parts = [of.n_parts for of in parts]

    def column(self, one: int) -> Shares:
        return _normalise(np.bincount(self._rows[one], minlength=self._n_parts[one]).astype(np.float64))

    def pair(self, one: int, other: int) -> Shares:
        return _normalise(_cross(self._rows[one], self._rows[other], (self._n_parts[one], self._n_parts[other])))


def list_pairs(original: Microdata, release: Release) -> Iterator[tuple[Parts, Parts, Shares, Shares]]:
    """Every pair of columns with the shares of its combinations in the original and, as expected, in the release."""
    parts = all_parts(original)
    expected, observed = Expected(release, parts), Observed(original, parts)
    for one, other in itertools.combinations(range(len(parts)), 2):
        yield parts[one], parts[other], observed.pair(one, other), expected.pair(one, other)


def total_variation(one: Shares, other: Shares) -> float:
    """Half the sum of differences of shares: the share of people that would have to be counted elsewhere."""
    return float(np.abs(one - other).sum() / 2)


def _cross(one: NDArray[np.int64], other: NDArray[np.int64], shape: tuple[int, int]) -> Shares:
    return np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _sparse(rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int]) -> Any:
    from scipy import sparse

    counts = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


def _normalise(counts: Shares) -> Shares:
    return counts / max(float(counts.sum()), 1e-300)
