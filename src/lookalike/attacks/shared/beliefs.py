"""What attacks have in common: guesses scored, and an attacker's beliefs as an exposure that models can read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Promise, Score, Target
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata

Shares = NDArray[np.float64]
FINE = 1 << 30
"""Beliefs of an attacker are whole numbers over about this."""


def scored(guesses: NDArray[np.int64] | NDArray[np.int32], truth: NDArray[np.int32]) -> Score:
    """Guesses of codes against the true ones; a guess of -1 is none, and counts as wrong."""
    return Score(int(np.count_nonzero(guesses == truth)), len(truth))


def majority(original: Microdata, column: int) -> float:
    """How often the most frequent value is right."""
    return float(original.counts(column).max() / original.n_rows)


def exposure_of(target: Target, column: int, beliefs: Shares, adversary: str, tiny: float = 1e-6) -> Exposure:
    """Beliefs [records, values] of an attacker as an exposure: one unit a record.

    Rows need not sum to exactly 1. Beliefs below `tiny` are dropped: an attacker's figures are no finer.
    """
    weights = np.rint(np.where(beliefs < tiny, 0.0, beliefs) * FINE).astype(np.int64)
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


def promised_ceilings(target: Target, column: int) -> Shares | None:
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
