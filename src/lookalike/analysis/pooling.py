"""Results from several worlds as one, by Rubin's rules.

Each of m worlds gives an estimate q with its variance u. The pooled estimate is their mean. Its variance has two parts,
what a table of this size leaves open (W, the mean of u) and what the release leaves open (B, the variance of q):

    T = W + (1 + 1/m) B,     degrees of freedom  v = (m - 1) / lambda^2,     lambda = (1 + 1/m) B / T

With the degrees of freedom v_c that the analysis of a whole table would have, Barnard's and Rubin's correction for
small tables applies: 1 / (1/v + 1/v_o), v_o = (v_c + 1) / (v_c + 3) * v_c * (1 - lambda). Intervals are Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.estimate import LEVEL
from lookalike.errors import RecipeError

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pooled:
    """One result from several worlds. Arrays have the shape of one world's estimates."""

    estimate: Numbers
    within: Numbers
    """Mean variance inside a world."""
    between: Numbers
    """Variance of the estimates from world to world."""
    variance: Numbers
    """Both, with what few worlds add."""
    degrees: Numbers
    """Degrees of freedom; infinite where the worlds agree and the table is large."""
    n_worlds: int

    @property
    def error(self) -> Numbers:
        """The standard error."""
        return np.sqrt(self.variance)

    @property
    def share_open(self) -> Numbers:
        """The share of the variance that the release adds (lambda)."""
        added = (1 + 1 / self.n_worlds) * self.between
        return np.divide(added, self.variance, where=self.variance > 0, out=np.zeros_like(added))

    def interval(self, level: float = LEVEL) -> tuple[Numbers, Numbers]:
        """Where the true figure lies with about that probability."""
        from scipy.stats import t

        if not 0 < level < 1:
            raise RecipeError(f"level is {level}. It must lie between 0 and 1, for example 0.95.")
        reach = t.ppf(0.5 + level / 2, self.degrees) * self.error
        return self.estimate - reach, self.estimate + reach

    def __repr__(self) -> str:
        return f"<pooled from {self.n_worlds} worlds: {np.array2string(self.estimate, precision=4, threshold=8)}>"


def pool(estimates: Any, variances: Any, *, degrees: float | None = None) -> Pooled:
    """Pool results of several worlds: first axis worlds, the rest (coefficients) as you have them.

    `variances` are squared standard errors. `degrees` are those of the analysis of one whole table (rows less
    coefficients), for the correction that small tables need; without them the table counts as large.

    >>> pooled = pool([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    >>> float(pooled.estimate), float(pooled.within), float(pooled.between)
    (2.0, 1.0, 1.0)
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if q.shape != u.shape or q.ndim == 0:
        raise RecipeError(
            f"estimates have shape {q.shape} and variances {u.shape}. Give both with one entry a world along the first "
            "axis."
        )
    if len(q) < 2:
        raise RecipeError("One world says nothing about how far worlds differ. Draw two or more, better five.")
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise RecipeError("Estimates must be finite, and variances finite and not negative.")
    if degrees is not None and not degrees > 0:
        raise RecipeError(f"degrees is {degrees}. Give the rows less the coefficients of one world's analysis.")
    m = len(q)
    within, between = u.mean(axis=0), q.var(axis=0, ddof=1)
    variance = within + (1 + 1 / m) * between
    share = np.divide((1 + 1 / m) * between, variance, where=variance > 0, out=np.zeros_like(variance))
    with np.errstate(divide="ignore"):
        freedom = (m - 1) / share**2
        if degrees is not None:
            of_table = (degrees + 1) / (degrees + 3) * degrees * (1 - share)
            freedom = 1 / (1 / freedom + 1 / of_table)
    return Pooled(q.mean(axis=0), within, between, variance, freedom, m)
