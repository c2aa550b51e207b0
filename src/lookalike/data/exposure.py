"""What a reader can infer: for each unit of the release, the probabilities it leaves about a sensitive value.

A unit is what a known record can be narrowed down to: a class of identical published rows, a bucket, the rows that
one record matches, or one published value of a perturbed column. Its probabilities are whole numbers: `weights` over
`sizes`. Counts for the first three; for a perturbed column the matrix times the prior (Bayes), so the same exact
comparisons serve all forms. Sparse: only values with a positive weight are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain
from lookalike.data.persons import total_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Exposure:
    """Beliefs of one adversary about one sensitive column (or about identity alone, if `column` is None)."""

    adversary: str
    form: str
    column: Domain | None
    prior: NDArray[np.int64]
    """How often each value occurs in the original (length n_codes of the column)."""
    starts: NDArray[np.int64]
    """Unit u holds entries starts[u]:starts[u + 1] of `values` and `weights`."""
    values: NDArray[np.int32]
    weights: NDArray[np.int64]
    sizes: NDArray[np.int64]
    """Sum of the weights of each unit; for counts, the number of published rows in it."""
    concealed: NDArray[np.int64] | None = None
    """Matched releases: for each original the rows it may be behind in some complete assignment."""
    n_classes: int | None = None
    """By persons: so many units are classes, with persons counted; those behind them are what someone believes who
    also knows how many rows a person has. None: rows are counted, and every unit is a class."""
    possible_sizes: NDArray[np.int64] | None = None
    """By persons, where sizes are only the least possible ones: the greatest possible."""
    behind: NDArray[np.int64] | None = None
    """The class of each unit behind the classes, where all units are at hand."""

    @property
    def n_units(self) -> int:
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """What shares in the original are shares of: records, or persons where these are declared."""
        return total_of(self.prior)

    @property
    def counts_rows(self) -> bool:
        """Whether sizes are numbers of published rows, or of persons behind them (not so for perturbed columns)."""
        return self.form != "perturbed"

    @property
    def counts_persons(self) -> bool:
        return self.n_classes is not None

    @property
    def crowds(self) -> dict[int, int]:
        """How many units there are of each size; empty where sizes are no numbers of rows, or only bounds."""
        if not self.counts_rows or self.possible_sizes is not None:
            return {}
        own = self.sizes[: self.n_classes]
        sizes, units = np.unique(own[own > 0], return_counts=True)
        return dict(zip(sizes.tolist(), units.tolist(), strict=True))

    @cached_property
    def unit_of_entry(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.n_units), np.diff(self.starts))

    def unit(self, index: int) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
        """Values, weights and size of one unit."""
        part = slice(int(self.starts[index]), int(self.starts[index + 1]))
        return self.values[part], self.weights[part], int(self.sizes[index])

    def belief(self, entry: int) -> Fraction:
        """The certainty of one entry, exact."""
        return Fraction(int(self.weights[entry]), int(self.sizes[self.unit_of_entry[entry]]))


def counted_exposure(
    unit_of_row: NDArray[np.int64] | NDArray[np.int32],
    codes: NDArray[np.int32] | None,
    n_units: int,
    *,
    adversary: str,
    form: str,
    column: Domain | None,
    prior: NDArray[np.int64],
    concealed: NDArray[np.int64] | None = None,
) -> Exposure:
    """The exposure of rows that fall into units and carry a sensitive code each (or none)."""
    sizes = np.bincount(unit_of_row, minlength=n_units).astype(np.int64)
    if codes is None or column is None:
        starts = np.arange(n_units + 1, dtype=np.int64)
        values, weights = np.zeros(n_units, dtype=np.int32), sizes
    else:
        n_codes = column.n_codes
        keys, weights = np.unique(unit_of_row.astype(np.int64) * n_codes + codes, return_counts=True)
        starts = np.searchsorted(keys, np.arange(n_units + 1, dtype=np.int64) * n_codes)
        values = (keys % n_codes).astype(np.int32)
    return Exposure(
        adversary=adversary,
        form=form,
        column=column,
        prior=prior,
        starts=starts.astype(np.int64),
        values=values,
        weights=weights.astype(np.int64),
        sizes=sizes,
        concealed=concealed,
    )
