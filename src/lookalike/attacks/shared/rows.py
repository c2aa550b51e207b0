"""Beliefs as sparse rows, one a record: what attacks ask of them without ever making them dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.beliefs import Shares, exposure_of, scored
from lookalike.attacks.shared.whereabouts import honest_guesses
from lookalike.data.contracts import Target
from lookalike.data.exposure import Exposure

MOST_RECORDS = 200_000
"""Beliefs about more records than this are not kept as an exposure."""
MOST_CELLS = 20_000_000
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
    return scored(honest_guesses(beliefs, prior), truth).share


def kept_exposure(target: Target, column: int, beliefs: Any, adversary: str) -> Exposure | None:
    """The beliefs as an exposure unless they are too many. Records that nothing is believed of are left out."""
    beliefs = beliefs[np.flatnonzero(row_max(beliefs) > 0)]
    n_records, n_values = beliefs.shape
    if n_records > MOST_RECORDS or n_records * n_values > MOST_CELLS:
        return None
    return exposure_of(target, column, beliefs.toarray(), adversary)
