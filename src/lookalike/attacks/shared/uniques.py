"""How many are unique in a population of which a table is a sample, by the sizes of the table's classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, logit

Numbers = NDArray[np.float64]
_SMALL_FRACTION = 0.1
"""Up to here Dankar's rule takes Pitman."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """A histogram of class sizes: `classes[i]` classes have `sizes[i]` persons each."""

    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> ClassSizes:
        """From the size of each class; empty ones do not count."""
        counts = np.bincount(sizes)
        present = np.flatnonzero(counts[1:]) + 1 if len(counts) > 1 else np.zeros(0, dtype=np.int64)
        return cls(present.astype(np.int64), counts[present].astype(np.int64))

    @property
    def n_persons(self) -> int:
        return int(self.sizes @ self.classes)

    @property
    def n_classes(self) -> int:
        return int(self.classes.sum())

    @property
    def n_unique(self) -> int:
        return int(self.classes[self.sizes == 1].sum())


@dataclass(frozen=True)
class Estimates:
    """Numbers of population uniques; NaN where a fit failed."""

    zayatz: float
    pitman: float
    snb: float
    dankar: float
    chosen: str
    """Whose estimate Dankar's rule took."""


def estimate_uniques(sample: ClassSizes, fraction: float) -> Estimates:
    """Population uniques of a population of which the sample is that fraction."""
    n_unique = float(sample.n_unique)
    if n_unique == 0 or fraction >= 1:
        # No sample unique: nothing to estimate from. The whole population: nothing to estimate.
        return Estimates(n_unique, n_unique, n_unique, n_unique, "sample")
    bayes, fitted, slid = zayatz(sample, fraction), pitman(sample, fraction), snb(sample, fraction)
    if fraction <= _SMALL_FRACTION:
        ruled, chosen = (bayes, "zayatz") if math.isnan(fitted) else (fitted, "pitman")
    else:
        ruled, chosen = (bayes, "zayatz") if math.isnan(slid) or bayes < slid else (slid, "snb")
    return Estimates(bayes, fitted, slid, ruled, chosen)


def zayatz(sample: ClassSizes, fraction: float) -> float:
    """
    >>> round(zayatz(ClassSizes(np.array([1, 2]), np.array([6, 2])), 0.5), 4)
    8.8831
    """
    n, total = sample.n_persons, round(sample.n_persons / fraction)
    sizes = sample.sizes[sample.sizes <= total - n + 1].astype(np.float64)
    classes = sample.classes[: len(sizes)]
    # One of the j persons of a class is drawn, hypergeometric: j * C(N - j, n - 1) / C(N, n).
    log_once = np.log(sizes) + _log_choose(total - sizes, n - 1) - _log_choose(total, n)
    shown = classes * np.exp(log_once)
    alone = shown[sizes == 1].sum() / shown.sum()
    return float(min(sample.n_unique * alone / fraction, total))


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


class _Fitted(NamedTuple):
    """Parameters of an Ewens-Pitman partition."""

    alpha: float
    """In [0, 1): 0 means no more rare classes than a Dirichlet process has."""
    theta: float
    """Above -alpha."""


def fit_pitman(sample: ClassSizes) -> _Fitted | None:
    """The parameters by maximum likelihood; None where the likelihood has no top inside."""
    n, n_classes = sample.n_persons, sample.n_classes
    if not 1 < n_classes < n:
        # All alike or all different.
        return None
    sizes, classes = sample.sizes.astype(np.float64), sample.classes.astype(np.float64)
    steps = np.arange(1, n_classes, dtype=np.float64)

    def loss(point: Numbers) -> tuple[float, Numbers]:
        alpha, raised = float(expit(point[0])), math.exp(float(point[1]))
        theta = raised - alpha
        opened = raised + alpha * (steps - 1)
        value = (
            np.log(opened).sum()
            - (gammaln(theta + n) - gammaln(theta + 1))
            + classes @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        )
        by_theta = (1 / opened).sum() - (digamma(theta + n) - digamma(theta + 1))
        by_alpha = (steps / opened).sum() - classes @ (digamma(sizes - alpha) - digamma(1 - alpha))
        # theta = raised - alpha moves with alpha when `raised` is held.
        slopes = np.array([(by_alpha - by_theta) * alpha * (1 - alpha), by_theta * raised])
        return -float(value) / n, -slopes / n

    starts = [(alpha, theta) for alpha in (0.5, 0.1, 0.9) for theta in (n_classes / 2, 1.0)]
    bounds = [(-12.0, 12.0), (-12.0, math.log(1e3 * n))]
    point = _fit(loss, [np.array([logit(alpha), math.log(alpha + theta)]) for alpha, theta in starts], bounds)
    if point is None or point[0] >= bounds[0][1] - 1e-6 or point[1] >= bounds[1][1] - 1e-6:
        return None
    alpha = float(expit(point[0]))
    return _Fitted(alpha, math.exp(float(point[1])) - alpha)


def pitman(sample: ClassSizes, fraction: float) -> float:
    """The expected number of uniques among N, by the parameters that fit the sample best."""
    fitted = fit_pitman(sample)
    if fitted is None:
        return math.nan
    alpha, theta = fitted
    raised, total = alpha + theta, sample.n_persons / fraction
    log_alone = gammaln(raised + total - 1) - gammaln(raised) - gammaln(theta + total) + gammaln(theta + 1)
    return float(min(total * math.exp(log_alone), total))


def snb(sample: ClassSizes, fraction: float) -> float:
    """Shape and p' by maximum likelihood over the classes that are seen; uniques = classes * p ^ shape."""
    if len(sample.sizes) < 2:
        return math.nan
    sizes, classes = sample.sizes.astype(np.float64), sample.classes.astype(np.float64)
    n_classes = classes.sum()

    def loss(point: Numbers) -> float:
        shape, p = math.exp(float(point[0])), float(expit(point[1]))
        log_p, log_q = -np.logaddexp(0, -point[1]), -np.logaddexp(0, point[1])

        def log_nb(number: Numbers) -> Numbers:
            found: Numbers = (
                gammaln(shape + number) - gammaln(shape) - gammaln(number + 1) + shape * log_p + number * log_q
            )
            return found

        shown = np.logaddexp(math.log1p(-fraction) + log_nb(sizes), math.log(fraction) + log_nb(sizes - 1))
        unseen = (1 - fraction) * p**shape
        return -float(classes @ shown / n_classes - math.log1p(-unseen))

    starts = [np.array([math.log(shape), logit(p)]) for shape in (0.5, 2.0, 0.05) for p in (0.5, 0.1, 0.9, 0.99)]
    bounds = [(-9.0, 9.0), (-20.0, 20.0)]
    point = _fit(loss, starts, bounds)
    if point is None or any(
        value <= low + 1e-6 or value >= high - 1e-6 for value, (low, high) in zip(point, bounds, strict=True)
    ):
        return math.nan
    shape, shown = math.exp(float(point[0])), float(expit(point[1]))
    p = shown * fraction / (1 - shown + shown * fraction)
    found = n_classes / (1 - (1 - fraction) * shown**shape) * p**shape
    return float(min(found, sample.n_persons / fraction))


def _fit(loss: Callable[[Numbers], Any], starts: list[Numbers], bounds: list[tuple[float, float]]) -> Numbers | None:
    """The best of several descents, or the first that a second one confirms; None if none came to rest."""
    with_slope = isinstance(loss(starts[0]), tuple)
    best: Any = None
    with np.errstate(all="ignore"):
        for start in starts:
            found = minimize(loss, start, jac=with_slope, method="L-BFGS-B", bounds=bounds)
            # A line search that finds nothing better has arrived as well as one whose slope is gone.
            rests = found.success or found.status == 2
            if not rests or not np.isfinite(found.fun):
                continue
            if best is not None and np.allclose(found.x, best.x, rtol=1e-3, atol=1e-3):
                return np.asarray(min(found, best, key=lambda end: end.fun).x, dtype=np.float64)
            if best is None or found.fun < best.fun:
                best = found
    return None if best is None else np.asarray(best.x, dtype=np.float64)
