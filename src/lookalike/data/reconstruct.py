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

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.data.release import Randomizer
from lookalike.errors import DataError

Numbers = NDArray[np.float64]
_SINGULAR = 1e-12


class Reconstruction:
    """The way back through one published matrix.

    >>> even = Randomizer(np.array([[3, 1, 1, 1], [1, 3, 1, 1], [1, 1, 3, 1], [1, 1, 1, 3]]), 6)
    >>> Reconstruction(even).counts(np.array([30.0, 30, 30, 30])).round(9).tolist()
    [30.0, 30.0, 30.0, 30.0]
    """

    def __init__(self, randomizer: Randomizer) -> None:
        self.n_codes = len(randomizer.weights)
        # Values that are never drawn occur in no row; nothing can be, or need be, reconstructed about them.
        self.drawn = np.flatnonzero(randomizer.weights.any(axis=1))
        self.matrix: Numbers = randomizer.weights[np.ix_(self.drawn, self.drawn)] / float(randomizer.total)
        self.alphas = _kept_or_even(self.matrix)

    def counts(self, observed: NDArray[np.int64] | Numbers, *, clip: bool = False) -> Numbers:
        """Reconstructed counts of all values; they sum to the rows. `clip`: none negative, scaled to that sum."""
        seen = np.asarray(observed, dtype=np.float64)[self.drawn]
        if self.alphas is None:
            found = self._inverse @ seen
        else:
            found = (seen - ((seen / self.alphas).sum() - seen.sum()) / (1 / self.alphas).sum()) / self.alphas
        if clip:
            found = np.maximum(found, 0.0)
            found *= seen.sum() / found.sum() if found.sum() > 0 else 0.0
        return self._spread_out(found)

    def weights_of(self, chosen: NDArray[np.bool_]) -> Numbers:
        """What each observed value adds to the count of the chosen ones."""
        wanted = np.asarray(chosen, dtype=np.float64)[self.drawn]
        if self.alphas is None:
            return self._spread_out(self._inverse.T @ wanted)
        total = len(self.alphas) * (wanted / self.alphas).sum() / (1 / self.alphas).sum()
        return self._spread_out((wanted - (1 - self.alphas) / len(self.alphas) * total) / self.alphas)

    def count(self, observed: NDArray[np.int64] | Numbers, chosen: NDArray[np.bool_]) -> tuple[float, float]:
        """The reconstructed count of the chosen values together, and its standard error."""
        weights = self.weights_of(chosen)
        estimate = float(weights @ observed)
        return estimate, math.sqrt(max(float(weights**2 @ observed) - estimate, 0.0))

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

    def _spread_out(self, found: Numbers) -> Numbers:
        whole = np.zeros(self.n_codes)
        whole[self.drawn] = found
        return whole


def _kept_or_even(matrix: Numbers) -> Numbers | None:
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


def baseline(n_rows: int, shares: Numbers, chosen: NDArray[np.bool_]) -> float:
    """The count to be expected if sensitive values had nothing to do with the other columns."""
    return float(n_rows * shares[chosen].sum())
