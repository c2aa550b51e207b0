"""From perturbed counts back to counts: the inverse of the published matrix.

Observed counts E of a perturbed column come from the true counts N by chance, with mean P N. The reconstruction
N' = P^-1 E has no bias; single numbers of it may be negative where few rows were counted. Where a value is either kept
or drawn evenly, P = diag(alpha) + 1 y^T with y = (1 - alpha) / m, and everything is known in closed form, in O(m):

    T = (sum E/alpha - S) / (sum 1/alpha),      N' = (E - T) / alpha,      S = sum E
    det P = (product of alpha) * (sum 1/alpha) / m

A count of chosen values is v . E with P^T v = 1 for the chosen and 0 for others. Its variance, given who holds what,
is sum v^2 * mean(E) - count, and v^2 . E - v . E estimates it without bias.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Perturbed, Randomizer
from lookalike.errors import DataError
from lookalike.randomness import Randomness

Numbers = NDArray[np.float64]
Ints = NDArray[np.int64]
_SINGULAR = 1e-12


class Reconstruction:
    """The way back through one published matrix.

    >>> even = Randomizer(np.array([[3, 1, 1, 1], [1, 3, 1, 1], [1, 1, 3, 1], [1, 1, 1, 3]]), 6)
    >>> (Reconstruction(even).inverse @ np.array([30.0, 30, 30, 30])).round(9).tolist()
    [30.0, 30.0, 30.0, 30.0]
    """

    def __init__(self, randomizer: Randomizer) -> None:
        self.n_codes = len(randomizer.weights)
        # Values that are never drawn occur in no row; nothing can be, or need be, reconstructed about them.
        self.drawn, self.matrix = _matrix_of(randomizer)
        self.alphas = _find_keeps(self.matrix)

    @cached_property
    def inverse(self) -> Numbers:
        """The inverse over all codes; rows and columns of values that are never drawn are 0."""
        whole = np.zeros((self.n_codes, self.n_codes))
        whole[np.ix_(self.drawn, self.drawn)] = self._inverse
        return whole

    @cached_property
    def _inverse(self) -> Numbers:
        if self.alphas is not None:
            m, falls = len(self.alphas), (1 - self.alphas) / len(self.alphas)
            # Sherman and Morrison: the inverse of a diagonal matrix plus a product of two vectors.
            scale = m / (1 / self.alphas).sum()
            return np.asarray(np.diag(1 / self.alphas) - scale * np.outer(1 / self.alphas, falls / self.alphas))
        if np.linalg.cond(self.matrix) > 1 / _SINGULAR:
            raise DataError(
                "The matrix of this release cannot be inverted: different tables lead to the same published counts, "
                "so none can be reconstructed. Ask for a release with a weaker promise."
            )
        return np.asarray(np.linalg.inv(self.matrix), dtype=np.float64)


def _matrix_of(randomizer: Randomizer) -> tuple[Ints, Numbers]:
    """The values that are ever drawn, and the matrix over these."""
    drawn = np.flatnonzero(randomizer.weights.any(axis=1))
    return drawn, randomizer.weights[np.ix_(drawn, drawn)] / float(randomizer.total)


def _find_keeps(matrix: Numbers) -> Numbers | None:
    """The chance of each value to be kept, where it is drawn evenly otherwise; None for other matrices."""
    m = len(matrix)
    if m < 2:
        return None
    off_diagonal = matrix[(np.arange(m) + 1) % m, np.arange(m)]
    model = np.tile(off_diagonal, (m, 1))
    np.fill_diagonal(model, np.diag(matrix))
    alphas = np.diag(matrix) - off_diagonal
    fits = np.allclose(model, matrix, rtol=0, atol=_SINGULAR) and bool((np.abs(alphas) > _SINGULAR).all())
    return alphas if fits else None


MOST_FITTED = 10_000
"""Rows that slopes are fitted to; intercepts are then fitted to all rows."""
_MOST_CATEGORIES = 12
"""The most frequent codes of a column that have their own feature."""
_N_BINS = 6
"""Bins of a numeric column, of about as many rows each, that have their own feature."""
_BATCH = 50_000
_STEPS = 150
_LEVELLING_STEPS, _LEVEL_ENOUGH = 50, 1e-3
_TINY = 1e-300


def draw_back(release: Perturbed, rng: Randomness) -> Codes:
    """Sensitive values as they may have been, column by column; later columns look at the earlier ones."""
    domains, columns = release.domains.quasi + release.domains.carried, (*release.quasi.T, *release.carried.T)
    features = [_features(domain, codes) for domain, codes in zip(domains, columns, strict=True)]
    drawn = np.empty_like(release.sensitive)
    for column, (domain, randomizer) in enumerate(zip(release.domains.sensitive, release.randomizers, strict=True)):
        known = np.column_stack([np.ones(release.n_rows), *features])
        drawn[:, column] = _column_back(release.sensitive[:, column], known, randomizer, rng.child("column", column))
        features.append(_features(domain, drawn[:, column]))
    return drawn


def _column_back(published: Codes, known: Numbers, randomizer: Randomizer, rng: Randomness) -> Ints:
    given, matrix = _matrix_of(randomizer)
    rows = np.searchsorted(given, published)
    n_rows = len(rows)
    repeats = np.bincount(rng.child("again").integers(n_rows, n_rows), minlength=n_rows).astype(np.float64)
    coefficients = _fit_prior(known, rows, matrix, repeats, rng.child("rows"))
    thresholds = rng.child("draw").uniforms(n_rows)
    drawn = np.empty(n_rows, dtype=np.int64)
    for batch in _batches(n_rows):
        cumulated = np.cumsum(_posterior(known[batch], rows[batch], matrix, coefficients)[1], axis=1)
        wanted = thresholds[batch, None] * cumulated[:, -1:]
        drawn[batch] = given[np.minimum((cumulated <= wanted).sum(axis=1), len(given) - 1)]
    return drawn


def _fit_prior(known: Numbers, rows: Ints, matrix: Numbers, repeats: Numbers, rng: Randomness) -> Numbers:
    """[features, values] the coefficients of the likeliest prior."""
    from scipy.optimize import minimize

    n_values = len(matrix)
    chosen = np.flatnonzero(repeats)
    if len(chosen) > MOST_FITTED:
        chosen = chosen[rng.permutation(len(chosen))[:MOST_FITTED]]
    x, seen, weights = known[chosen], rows[chosen], repeats[chosen]
    start = np.zeros((known.shape[1], n_values))
    start[0] = np.log(
        np.maximum(_overall(np.bincount(seen, weights, minlength=n_values).astype(np.float64), matrix), 1e-6)
    )

    def objective(flat: Numbers) -> tuple[float, Numbers]:
        coefficients = flat.reshape(start.shape)
        prior, joint = _posterior(x, seen, matrix, coefficients)
        likelihoods = np.maximum(joint.sum(axis=1), _TINY)
        slopes = coefficients[1:]
        gradient = _product(weights[:, None] * (prior - joint / likelihoods[:, None]), x, "rv,rf->fv")
        gradient[1:] += slopes
        return float((slopes**2).sum() / 2 - weights @ np.log(likelihoods)), gradient.ravel()

    found: Any = minimize(objective, start.ravel(), jac=True, method="CG", options={"maxiter": _STEPS})
    coefficients: Numbers = found.x.reshape(start.shape)
    observed = np.bincount(rows, repeats, minlength=n_values).astype(np.float64)
    wanted = observed.sum() * _overall(observed, matrix)
    coefficients[0] += _level_intercepts(known, rows, matrix, repeats, coefficients, wanted)
    return coefficients


def _level_intercepts(
    known: Numbers, rows: Ints, matrix: Numbers, repeats: Numbers, coefficients: Numbers, wanted: Numbers
) -> Numbers:
    """What the intercepts lack so that the values drawn have on average the counts that are wanted."""
    moved = np.zeros(len(matrix))
    for _ in range(_LEVELLING_STEPS):
        shifted = np.concatenate((coefficients[:1] + moved, coefficients[1:]))
        drawn = np.zeros(len(matrix))
        for batch in _batches(len(rows)):
            joint = _posterior(known[batch], rows[batch], matrix, shifted)[1]
            drawn += repeats[batch] @ (joint / np.maximum(joint.sum(axis=1, keepdims=True), _TINY))
        if float(np.abs(drawn - wanted).sum()) < _LEVEL_ENOUGH * wanted.sum():
            break
        moved += np.log(np.maximum(wanted, 1e-3) / np.maximum(drawn, 1e-3))
    return moved


def _posterior(x: Numbers, rows: Ints, matrix: Numbers, coefficients: Numbers) -> tuple[Numbers, Numbers]:
    """[rows, values] the prior, and the prior times the chance of what is published."""
    scores = _product(x, coefficients, "rf,fv->rv")
    scores -= scores.max(axis=1, keepdims=True)
    prior = np.exp(scores)
    prior /= prior.sum(axis=1, keepdims=True)
    return prior, prior * matrix[rows]


def _product(one: Numbers, other: Numbers, axes: str) -> Numbers:
    """A product of matrices without the threads of BLAS: on small matrices they wait for each other in a busy loop,
    which on a machine with other work takes twenty times as long."""
    product: Numbers = np.einsum(axes, one, other)
    return product


def likeliest_counts(observed: Numbers, randomizer: Randomizer) -> Numbers:
    """[..., values] the likeliest counts before the matrix, none negative, each line with the sum it had.

    >>> noise = Randomizer(np.array([[3, 1], [1, 3]]), 4)
    >>> likeliest_counts(np.array([[60.0, 40.0], [10.0, 0.0]]), noise).round(2).tolist()
    [[70.0, 30.0], [10.0, 0.0]]
    """
    given, matrix = _matrix_of(randomizer)
    found = np.zeros(observed.shape)
    seen = observed[..., given]
    found[..., given] = seen.sum(axis=-1, keepdims=True) * _overall(seen, matrix)
    return found


def _overall(observed: Numbers, matrix: Numbers, steps: int = 1000) -> Numbers:
    """[..., values] the likeliest shares of all values, by expectation maximisation."""
    totals = np.maximum(observed.sum(axis=-1, keepdims=True), _TINY)
    shares = np.full(observed.shape, 1 / len(matrix))
    for _ in range(steps):
        expected = np.maximum(shares @ matrix.T, _TINY)
        found: Numbers = shares * ((observed / totals / expected) @ matrix)
        if float(np.abs(found - shares).max(initial=0.0)) < 1e-7:
            return found
        shares = found
    return shares


def _features(domain: Domain, codes: Codes) -> Numbers:
    """[rows, features] a column as numbers of mean 0: its bins or most frequent values, and its size."""
    is_missing = codes >= domain.missing_code
    if domain.in_ranges and domain.taxonomy is None and len(domain.values) > 2:
        size = float(np.abs(domain.points).max()) or 1.0
        points = np.append(domain.points / size, np.nan)[np.minimum(codes, domain.missing_code)]
        middle = float(np.nanmean(points)) if not is_missing.all() else 0.0
        scaled = np.where(is_missing, 0.0, points - middle)
        scaled /= float(scaled.std()) or 1.0
        cuts = (
            np.unique(np.quantile(scaled[~is_missing], np.arange(1, _N_BINS) / _N_BINS)) if not is_missing.all() else ()
        )
        bins = np.where(is_missing, len(cuts) + 1, np.searchsorted(cuts, scaled, side="left"))
        return np.column_stack([scaled, _indicate_bins(bins, len(cuts) + 2)])
    counts = np.bincount(codes, minlength=domain.n_codes)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return _indicate_bins(rank[codes], min(_MOST_CATEGORIES, len(order)))


def _indicate_bins(bins: Ints, n_bins: int) -> Numbers:
    """[rows, bins] 1 in the bin of each row, less the mean; bins that nobody or everybody has are left out."""
    columns = [(bins == each).astype(np.float64) for each in range(n_bins)]
    kept = [column - column.mean() for column in columns if 0 < column.mean() < 1]
    return np.column_stack(kept) if kept else np.empty((len(bins), 0))


def _batches(n_rows: int) -> list[slice]:
    return [slice(start, start + _BATCH) for start in range(0, n_rows, _BATCH)]
