"""What buckets say about who has which value, beyond dealing the values of a bucket to its rows at random.

Dealt at random, K matching rows in a bucket of N meet each of its values K / N times. But a value that goes with the
rows asked about is more frequent in buckets that have more of them. Least squares find that: K, bucket by bucket, as a
sum over the bucket's values of how likely a row with that value matches. This answer follows the people, not the
buckets, but it is noisy: rows match or not by chance.

So an answer moves from the first towards the second by 1 - noise / difference^2 (the mean over values), as far as the
two differ by more than chance: not at all in small or unlinked tables, almost all the way in large linked ones. Least
squares take rows to be put into buckets without regard to what is asked about. Where similar rows share a bucket, and
K varies between buckets much more than it would by chance, the first answer stays.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_OF_NOISE, _OF_REST, _OF_REST_IF_LINKED = 0.7, 0.15, 0.6
"""By how much of the noise of least squares, and of the square of the difference that is not followed, the variance of
an answer grows. Tried on releases of all sizes, linked and unlinked (`python benchmarks/intervals.py`)."""
_MIXED, _SORTED = 0.9, 0.7
"""From that share of the variance of K within buckets on rows count as mixed; up to the other as sorted into them."""
_TINY = 1e-300


class Links:
    """The values of all buckets, ready for least squares."""

    def __init__(self, bucket_of_entry: NDArray[Any], value_of_entry: NDArray[Any], *shape: int) -> None:
        """`shape`: how many buckets, how many values."""
        self.shape = shape
        self._entries = bucket_of_entry, value_of_entry
        self._counts = np.bincount(value_of_entry, minlength=shape[1]).astype(np.float64)

    @cached_property
    def _inverse(self) -> Numbers:
        from scipy import sparse

        stock = sparse.coo_array((np.ones(len(self._entries[1])), self._entries), shape=self.shape).tocsr()
        return np.asarray(np.linalg.pinv((stock.T @ stock).toarray(), hermitian=True))

    def follow(
        self, of_values: Numbers, by_value: Numbers, sums: Numbers, alone: Numbers | None = None
    ) -> tuple[Numbers, Numbers]:
        """[queries] how far answers move, and what that adds to their variance.

        `of_values` [values, queries] are the weights of values, the next two what the kernel found, and `alone` is the
        variance of what rows count, if they do not count 0 or 1. Nothing where there are too few buckets to say
        something about each value, or where no bucket leaves a choice.
        """
        nothing = np.zeros(of_values.shape[1])
        n_rows = self._counts.sum()
        size = n_rows / max(self.shape[0], 1)
        if self.shape[0] <= 2 * self.shape[1] or size <= 1:
            return nothing, nothing
        counts, matching = self._counts[:, None], sums[2]
        if alone is None:
            share = matching / n_rows
            alone = share * (1.0 - share)
        apart = counts * (self._inverse @ by_value[0]) - by_value[1]
        apart -= counts / n_rows * apart.sum(axis=0)
        noise = counts**2 * np.diag(self._inverse)[:, None] * (alone * size * (1.0 - 1.0 / size) ** 2)
        ratio = (apart**2 / np.maximum(noise, _TINY)).mean(axis=0)
        linked = np.clip(1.0 - 1.0 / np.maximum(ratio, _TINY), 0.0, 1.0)
        spread = (sums[4] - matching**2 / self.shape[0]) / np.maximum(n_rows * alone, _TINY)
        within = np.clip((size - spread) / (size - 1.0), 0.0, 1.0)
        followed = linked * np.clip((within - _SORTED) / (_MIXED - _SORTED), 0.0, 1.0)
        difference = (of_values * apart).sum(axis=0)
        weights = counts * (of_values - (self._counts @ of_values) / n_rows)
        of_noise = (weights * (self._inverse @ weights)).sum(axis=0) * alone * size
        rest = (1.0 - followed) * within * difference
        of_rest = _OF_REST + _OF_REST_IF_LINKED * linked
        leaves_choice = sums[1] > 0
        return (
            np.where(leaves_choice, followed * difference, 0.0),
            np.where(leaves_choice, _OF_NOISE * followed * of_noise + of_rest * rest**2, 0.0),
        )
