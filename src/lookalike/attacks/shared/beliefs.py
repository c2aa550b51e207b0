"""What attacks have in common: guesses scored, and an attacker's beliefs as an exposure that models can read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.whereabouts import honest_guesses
from lookalike.data.contracts import Promise, Score, Target
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata

Shares = NDArray[np.float64]
_FINE = 1 << 30
"""Beliefs of an attacker are whole numbers over about this."""


def score_guesses(guesses: NDArray[np.int64] | NDArray[np.int32], truth: NDArray[np.int32]) -> Score:
    """Guesses of codes against the true ones; a guess of -1 is none, and counts as wrong."""
    return Score(int(np.count_nonzero(guesses == truth)), len(truth))


def majority(original: Microdata, column: int) -> float:
    """How often the most frequent value is right."""
    return float(original.counts(column).max() / original.n_rows)


def exposure_of(target: Target, column: int, beliefs: Shares, adversary: str, tiny: float = 1e-6) -> Exposure:
    """Beliefs [records, values] of an attacker as an exposure: one unit a record.

    Rows need not sum to exactly 1. Beliefs below `tiny` are dropped: an attacker's figures are no finer.
    """
    weights = np.rint(np.where(beliefs < tiny, 0.0, beliefs) * _FINE).astype(np.int64)
    units, values = np.nonzero(weights)
    return Exposure(
        adversary=adversary,
        form=target.release.form,
        column=target.original.domains.sensitive[column],
        prior=target.original.counts(column).astype(np.int64),
        starts=np.searchsorted(units, np.arange(len(weights) + 1)).astype(np.int64),
        values=values.astype(np.int32),
        weights=weights[units, values],
        sizes=weights.sum(axis=1),
    )


def find_ceilings(target: Target, column: int) -> Shares | None:
    """The least ceiling that the promises set for each value of a column; None if they set none."""
    name = target.original.domains.sensitive[column].name
    found = [
        ceilings
        for promise in target.promises
        if promise.column == name and (ceilings := _ceilings(promise, target, column)) is not None
    ]
    return np.min(found, axis=0) if found else None


def _ceilings(promise: Promise, target: Target, column: int) -> Shares | None:
    domain = target.original.domains.sensitive[column]
    required = promise.model.requirement(target.original.counts(column), domain, column)
    return None if required.ceilings is None else np.array([float(ceiling) for ceiling in required.ceilings])


def n_above(beliefs: Shares, ceilings: Shares | None, slack: float = 1e-9) -> int | None:
    """Records about which some value is believed more than its ceiling allows; None without ceilings."""
    if ceilings is None:
        return None
    return int(np.count_nonzero((beliefs > ceilings * (1 + slack) + slack).any(axis=1)))


_MOST_RECORDS = 200_000
"""Beliefs about more records than this are not kept as an exposure."""
_MOST_CELLS = 20_000_000
CERTAIN = 1 - 1e-9


def row_max(beliefs: Any) -> Shares:
    """The highest belief about each record; 0 where nothing is believed."""
    if not beliefs.shape[1]:
        return np.zeros(beliefs.shape[0])
    return np.asarray(beliefs.max(axis=1).todense()).reshape(-1).astype(np.float64)


def owners_of(beliefs: Any) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(beliefs.shape[0]), np.diff(beliefs.indptr)).astype(np.int64)


def n_rows_above(beliefs: Any, ceilings: Shares | None, slack: float = 1e-9) -> int | None:
    """Records about which some value is believed more than its ceiling allows; None without ceilings."""
    if ceilings is None:
        return None
    above = beliefs.data > ceilings[beliefs.indices] * (1 + slack) + slack
    return len(np.unique(owners_of(beliefs)[above]))


def best_guess_share(beliefs: Any, prior: NDArray[np.int64], truth: NDArray[np.int32]) -> float:
    """How often a reader is right who guesses the likeliest value of each record."""
    return score_guesses(honest_guesses(beliefs, prior), truth).share


def build_exposure(target: Target, column: int, beliefs: Any, adversary: str) -> Exposure | None:
    """The beliefs as an exposure unless they are too many. Records that nothing is believed of are left out."""
    beliefs = beliefs[np.flatnonzero(row_max(beliefs) > 0)]
    n_records, n_values = beliefs.shape
    if n_records > _MOST_RECORDS or n_records * n_values > _MOST_CELLS:
        return None
    return exposure_of(target, column, beliefs.toarray(), adversary)
