"""Latent classes: which values go together, fitted to the cells of a release.

A row belongs to one of some classes, and inside a class its columns are independent:

    P(cells of a row) = sum over classes z of  pi_z * product over columns of  sum over bins b of  S[cell, b] * f_z[b]

S is how a cell gives away its weight of 1 if nothing else is known (`fitted_columns`: the weights that `query` uses), f
how much likelier a class makes a bin than that. EM fits pi and f to all published rows together: a row counts for a bin
as far as its cell, seen from its class, is in it. After every step the f of a column are scaled such that all classes
together give each bin the share that the weights give it: classes say what goes with what, not how frequent values
are. They start from the values of the first sensitive column, in two halves each that differ by chance.

Cost: a step takes rows x bins per cell x classes; sums are sparse, so no result depends on threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.spreading import Numbers
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
MOST_FITTED = 12_000
"""Rows that classes are fitted to."""
_MOST_STARTED, _HALVES, _OWN_HALF = 40, 2, 0.65
_ROWS_PER_CLASS = 60
_STEPS, _SCALINGS = 30, 3
_SURE = 0.9
"""How far a row belongs to its class in the beginning."""
_PRIOR = 4.0
"""So many rows of each class are taken to be spread like the whole table."""
_TINY, _LEAST_SHARE, _LARGEST = 1e-300, 1e-12, 1e9
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Classes:
    """Shares of classes, and by column [bins, classes] how much likelier each class makes each bin."""

    shares: Numbers
    factors: tuple[Numbers, ...]

    def weigh_rows(self, cells: Sequence[Any]) -> Numbers:
        """[rows, classes] logarithms of how likely each class makes each row; `cells`: [rows, bins] by column.

        Only the first columns count if there are fewer `cells`.
        """
        found = np.tile(np.log(np.maximum(self.shares, _TINY)), (cells[0].shape[0], 1))
        for held, factor in zip(cells, self.factors, strict=False):
            found += np.log(np.maximum(held @ factor, _TINY))
        return found

    def join_people(self, logs: Numbers, people: Ints) -> Numbers:
        """The same where all rows of a person are of one class."""
        prior = np.log(np.maximum(self.shares, _TINY))
        sums = np.zeros((int(people.max(initial=-1)) + 1, len(prior)))
        np.add.at(sums, people, logs - prior)
        return np.asarray((sums + prior)[people])


def normalise_rows(logs: Numbers) -> Numbers:
    """[rows, classes] the chance of each class."""
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class _Columns:
    """Cells of rows that classes are fitted to, [rows, bins] by column, and turned."""

    cells: list[Any]
    turned: list[Any]
    bases: list[Numbers]
    """[bins] by column: the share of each."""

    @classmethod
    def of(cls, cells: Sequence[Numbers]) -> _Columns:
        from scipy import sparse

        held = [sparse.csr_array(each) for each in cells]
        bases = [np.maximum(each.mean(axis=0), _TINY) for each in cells]
        return cls(held, [each.T.tocsr() for each in held], bases)

    def find_factors(self, belongs: Numbers, before: Classes | None) -> Classes:
        sizes = belongs.sum(axis=0)
        shares = sizes / sizes.sum()
        factors = []
        for place, (held, back, base) in enumerate(zip(self.cells, self.turned, self.bases, strict=True)):
            if before is None:
                counts = back @ belongs
            else:
                factor = before.factors[place]
                counts = factor * (back @ (belongs / np.maximum(held @ factor, _TINY)))
            chances = (counts + _PRIOR * base[:, None]) / (sizes + _PRIOR)
            for _ in range(_SCALINGS):
                chances *= (base / np.maximum(chances @ shares, _TINY))[:, None]
                chances /= np.maximum(chances.sum(axis=0), _TINY)
            factors.append(np.minimum(chances / base[:, None], _LARGEST))
        return Classes(shares, tuple(factors))


def fit_classes(cells: Sequence[Numbers], first: int, rng: Randomness, people: Ints | None = None) -> Classes:
    """Classes of rows by their cells, [rows, bins] by column.

    `first`: the column whose bins classes start from. `people`: whose row each row is, if all rows of a person are to
    be of one class.
    """
    columns = _Columns.of(cells)
    found = columns.find_factors(_start(cells[first], rng), None)
    for _ in range(_STEPS):
        logs = found.weigh_rows(columns.cells)
        if people is not None:
            logs = found.join_people(logs, people)
        found = columns.find_factors(normalise_rows(logs), found)
    return Classes(found.shares.round(_DIGITS), tuple(factor.round(_DIGITS) for factor in found.factors))


def _n_started(n_rows: int) -> int:
    """How many values classes start from."""
    return min(_MOST_STARTED, n_rows // (_HALVES * _ROWS_PER_CLASS) + 1)


def _start(held: Numbers, rng: Randomness) -> Numbers:
    """[rows, classes] by the bin of a column; all rare bins are one."""
    frequent = np.argsort(-held.sum(axis=0), kind="stable")[: _n_started(len(held))]
    found = np.column_stack((held[:, frequent], 1.0 - held[:, frequent].sum(axis=1)))
    found = found[:, found.sum(axis=0) > 0.5]
    half = rng.child("halves").integers(_HALVES, len(held))
    halves = [found * np.where(half == place, _OWN_HALF, 1.0 - _OWN_HALF)[:, None] for place in range(_HALVES)]
    both = np.concatenate(halves, axis=1)
    both /= np.maximum(both.sum(axis=1, keepdims=True), _TINY)
    return np.asarray(_SURE * both + (1.0 - _SURE) / both.shape[1])
