"""Naive Bayes: how often codes of quasi-identifiers go with sensitive values in a release, and what follows for people.

What a release says about the count of code t of attribute j among the rows with value v, by form:

    Grouped, Matched   rows with v whose cell holds t; each counts 1, or 1 / (values in the cell) by volume
    Bucketized         over the buckets: rows with t, times the share of v in the bucket
    Perturbed          counts of the published values beside t, with the published matrix taken back; none below 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.attack import Shares
from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs
from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Bucketized, Extents, Grouped, Matched, Perturbed, Randomizer, Sets
from lookalike.data.worlds import bounds_of


@dataclass(frozen=True, eq=False)
class Counts:
    """What a classifier learns from."""

    of_value: Shares
    """[values] rows with each sensitive value."""
    together: tuple[Shares, ...]
    """[codes, values] rows with both; one a quasi-identifier."""
    below: tuple[Shares, ...]
    """[values] what the counts of a quasi-identifier are divided by."""


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """Quasi-identifiers are taken to be independent of each other given the sensitive value."""

    frequencies: Shares
    """[values] rows with each value in the release."""
    log_likelihoods: tuple[Shares, ...]
    """[codes, values] one a quasi-identifier."""

    @classmethod
    def learn(cls, counts: Counts, smoothing: float) -> Self:
        tables = []
        for together, below in zip(counts.together, counts.below, strict=True):
            divisor = below + smoothing * len(together)
            shares = np.divide(together + smoothing, divisor, where=divisor > 0, out=np.zeros_like(together))
            tables.append(logs_of(shares))
        return cls(counts.of_value, tuple(tables))

    def log_likelihood(self, quasi: Codes) -> Shares:
        """[records, values] of the quasi-identifiers given each value. A value that the domain lacks says nothing."""
        total = np.zeros((len(quasi), len(self.frequencies)))
        for place, table in enumerate(self.log_likelihoods):
            codes = quasi[:, place]
            known = codes < len(table)
            if known.all():
                total += table[codes]
            else:
                total[known] += table[codes[known]]
        return total


def logs_of(shares: Shares) -> Shares:
    """Logarithms, minus infinity where there is nothing."""
    return np.log(shares, where=shares > 0, out=np.full(shares.shape, -np.inf))


def counts_of(where: Whereabouts, column: int, *, by_volume: bool) -> Counts:
    """What a release says about the quasi-identifiers beside each value of a sensitive column."""
    release = where.target.release
    if isinstance(release, Bucketized):
        return _counts_of_buckets(where, release, column)
    if isinstance(release, Perturbed):
        return _counts_taken_back(where, release, column)
    return _counts_of_cells(where, release, column, by_volume)


def frequencies_of(where: Whereabouts, column: int) -> Shares:
    """[values] how often each value is in the release, as far as it can be read."""
    release = where.target.release
    told = ~where.reading.is_told_dummy
    n_values = release.domains.sensitive[column].n_codes
    counts: Shares = np.bincount(release.sensitive[told, column], minlength=n_values).astype(np.float64)
    if isinstance(release, Perturbed):
        counts = take_back(counts[None, :], release.randomizers[column]).reshape(-1)
    return counts


def counts_of_records(quasi: Codes, values: NDArray[np.int64], domains: Sequence[Domain], n_values: int) -> Counts:
    """The counts of records whose values are taken to be known."""
    of_value = np.bincount(values, minlength=n_values).astype(np.float64)
    together = tuple(_tally(quasi[:, place], values, domain.n_codes, n_values) for place, domain in enumerate(domains))
    return Counts(of_value, together, (of_value,) * len(together))


def _counts_of_cells(where: Whereabouts, release: Grouped | Matched, column: int, by_volume: bool) -> Counts:
    n_values = release.domains.sensitive[column].n_codes
    told = ~where.reading.is_told_dummy
    units, values = release.unit_of_row[told].astype(np.int64), release.sensitive[told, column].astype(np.int64)
    of_value = frequencies_of(where, column)
    together = tuple(
        _held_in_cells(domain, extents, units, values, n_values, by_volume)
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
    )
    return Counts(of_value, together, (of_value,) * len(together))


def _held_in_cells(
    domain: Domain,
    extents: Extents,
    units: NDArray[np.int64],
    values: NDArray[np.int64],
    n_values: int,
    by_volume: bool,
) -> Shares:
    """[codes, values] how many rows with a value have a cell that holds a code."""
    if isinstance(extents, Sets):
        sizes = extents.sizes
        weights = np.repeat(1.0 / np.maximum(sizes, 1) if by_volume else np.ones(len(sizes)), sizes)
        members = sparse.csr_array((weights, extents.members, extents.starts), shape=(len(sizes), domain.n_codes))
        in_sets: Shares = (members.T @ count_pairs(units, values, (len(sizes), n_values))).toarray()
        return in_sets
    lows, lengths, missing = bounds_of(domain, extents)
    sizes = lengths + missing
    weights = 1.0 / np.maximum(sizes, 1) if by_volume else np.ones(len(sizes))
    run_weights, missing_weights = np.where(lengths > 0, weights, 0.0)[units], np.where(missing, weights, 0.0)[units]
    # Runs are added where they begin and taken away where they end; sums along the codes do the rest.
    n_steps = domain.n_codes + 1
    steps = _tally(lows[units], values, n_steps, n_values, run_weights)
    steps -= _tally((lows + lengths)[units], values, n_steps, n_values, run_weights)
    # Fractions do not cancel to the last digit.
    table = np.maximum(np.cumsum(steps, axis=0)[:-1], 0.0)
    if missing.any():
        table[domain.missing_code] += np.bincount(values, missing_weights, minlength=n_values)
    return table


def _counts_of_buckets(where: Whereabouts, release: Bucketized, column: int) -> Counts:
    stocks, buckets = where.stocks(column), where.buckets[1]
    of_value: Shares = np.asarray(stocks.T @ np.bincount(buckets, minlength=where.n_units)).astype(np.float64)
    together = tuple(
        (count_pairs(buckets, codes, (where.n_units, domain.n_codes)).T @ stocks).toarray()
        for domain, codes in zip(release.domains.quasi, release.quasi.T, strict=True)
    )
    return Counts(of_value, together, (of_value,) * len(together))


def _counts_taken_back(where: Whereabouts, release: Perturbed, column: int) -> Counts:
    n_values = release.domains.sensitive[column].n_codes
    values, randomizer = release.sensitive[:, column], release.randomizers[column]
    together = tuple(
        take_back(_tally(release.quasi[:, place], values, domain.n_codes, n_values), randomizer)
        for place, domain in enumerate(release.domains.quasi)
    )
    # Counts that were raised to 0 make the parts more than the whole: each attribute is divided by its own sum.
    return Counts(frequencies_of(where, column), together, tuple(part.sum(axis=0) for part in together))


def take_back(observed: Shares, randomizer: Randomizer) -> Shares:
    """[..., values] what was there before the matrix, at least 0; only values that the matrix ever gives are possible.

    >>> noise = Randomizer(np.array([[3, 1], [1, 3]]), 4)
    >>> take_back(np.array([[60.0, 40.0], [10.0, 0.0]]), noise).round(6).tolist()
    [[70.0, 30.0], [15.0, 0.0]]
    """
    given = np.flatnonzero(randomizer.weights.sum(axis=1))
    matrix = randomizer.weights[np.ix_(given, given)] / randomizer.total
    found = np.zeros(observed.shape)
    found[:, given] = np.maximum(np.linalg.lstsq(matrix, observed[:, given].T, rcond=None)[0].T, 0.0)
    return found


def _tally(
    codes: NDArray[np.int64] | Codes,
    values: NDArray[np.int64] | Codes,
    n_codes: int,
    n_values: int,
    weights: Shares | None = None,
) -> Shares:
    """[codes, values] how often both occur."""
    keys = codes.astype(np.int64) * n_values + values
    return np.bincount(keys, weights, minlength=n_codes * n_values).astype(np.float64).reshape(n_codes, n_values)
