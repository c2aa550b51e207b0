"""What buckets together say about how the rows that match go with values, and what that adds to an error.

Within a bucket nobody knows whose value is whose. If rows were put into buckets without regard to values, the number of
rows that match in a bucket is the sum over its values of how likely those who have them match; by least squares over
all buckets that gives another answer than bucket by bucket. How far the two lie apart is what is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Links:
    """The values of all buckets, ready for least squares."""

    stock: Any
    """Sparse, buckets x values: how often each occurs."""
    inverse: Numbers

    @classmethod
    def of(cls, bucket_of_entry: NDArray[Any], value_of_entry: NDArray[Any], n_buckets: int, n_values: int) -> Links:
        from scipy import sparse

        ones = np.ones(len(value_of_entry))
        stock = sparse.coo_array((ones, (bucket_of_entry, value_of_entry)), shape=(n_buckets, n_values)).tocsr()
        return cls(stock, np.linalg.pinv((stock.T @ stock).toarray(), hermitian=True))

    @property
    def counts(self) -> Numbers:
        """[values] how often each occurs in all."""
        return np.asarray(self.stock.sum(axis=0), dtype=np.float64).reshape(-1)

    def likely(self, together: Numbers) -> Numbers:
        """[values, questions] how likely those with a value match; `together`: matching rows of their buckets."""
        return np.asarray(self.inverse @ together)

    def variances(self, by_chance: Numbers, estimates: Numbers, otherwise: Numbers, most: Numbers) -> Numbers:
        """The variance of estimates with what the other answer adds.

        Nothing where no bucket leaves a choice, or where there are too few buckets to say something about each value;
        the other answer stays within what is possible, 0 to `most`.
        """
        if self.stock.shape[0] <= 2 * self.stock.shape[1]:
            return by_chance
        apart = np.where(by_chance > 0, estimates - np.clip(otherwise, 0.0, most), 0.0)
        return np.asarray(by_chance + apart**2)
