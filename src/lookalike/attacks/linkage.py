"""Linkage: how far a known person can be narrowed down to published rows, and how unique persons are.

Three attackers, by what they know:

    prosecutor   the target is in the table: one row among those that fit is the target's
    journalist   the target is in a population of which the table is a fraction
    marketer     wants as many as possible right on average

Rows that fit: Grouped, the class of identical rows; Bucketized and Perturbed, the rows with exactly the person's
quasi-identifiers, which both publish as they are; Matched, all rows whose cells hold the person's record.
No sensitive value is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, logit

from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import Finding, Target
from lookalike.data.exposure import Exposure
from lookalike.data.parameters import Exact
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_EXACTLY_UP_TO = 50


class Narrowed(NamedTuple):
    """How many rows persons are narrowed down to."""

    units: NDArray[np.int64]
    """Rows of each unit: a class, or what one person fits."""
    persons: NDArray[np.int64]
    """How many persons are narrowed down to that unit."""


@dataclass(frozen=True)
class Linkage(WrittenAttack):
    """Finds known persons among the rows: prosecutor, journalist and marketer risk, and uniqueness."""

    name: ClassVar[str] = "linkage"
    most_records: ClassVar[int | None] = None

    threshold: Exact = Exact(above=0, high=1, default=Fraction(1, 5))
    """A person is at risk if found with a probability above this."""
    fraction: Exact = Exact(above=0, high=1, default=Fraction(1, 10))
    """Which share of the population the table is."""

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        narrowed = narrow_down(target)
        n_persons = max(int(narrowed.persons.sum()), 1)
        risks = 1 / narrowed.units
        n_at_risk = int(narrowed.persons[risks > float(self.threshold)].sum())
        mean = float(narrowed.persons @ risks) / n_persons
        highest = float(risks.max(initial=0.0))
        in_population = journalist_risks(narrowed.units, float(self.fraction))
        figures = {
            "smallest unit": float(narrowed.units.min()) if len(narrowed.units) else 0.0,
            "highest prosecutor risk": highest,
            "mean prosecutor risk": mean,
            "share at risk": n_at_risk / n_persons,
            "highest journalist risk": float(in_population.max(initial=0.0)),
            "mean journalist risk": float(narrowed.persons @ in_population) / n_persons,
            "marketer risk": mean,
            "unique in the release": float(narrowed.persons[narrowed.units == 1].sum()) / n_persons,
        }
        # As if the original were published as it is.
        original = ClassSizes.of(np.bincount(joint_ids(tuple(target.original.quasi.T), target.original.n_rows)))
        figures["unique in the original"] = original.n_unique / max(original.n_persons, 1)
        samples = {"original": original}
        if not isinstance(target.release, Matched):
            samples["release"] = ClassSizes.of(narrowed.units)
        failed = []
        for which, sample in samples.items():
            shares = self._population(sample, which)
            figures |= {key: share for key, share in shares.items() if not math.isnan(share)}
            failed += [key for key, share in shares.items() if math.isnan(share)]
        sentence = (
            f"Whoever knows that a person is in the table and knows their quasi-identifiers finds their row with a "
            f"probability of {highest:.1%} at most and {mean:.1%} on average; {n_at_risk:,} of {n_persons:,} persons "
            f"are found with more than {float(self.threshold):.1%}. "
            f"{figures['unique in the release']:.1%} are unique in the release, "
            f"{figures['unique in the original']:.1%} in the original."
        )
        if failed:
            sentence += f" Estimates that could not be made are left out: {'; '.join(failed)}."
        if isinstance(target.release, Bucketized | Perturbed):
            sentence += " This form publishes quasi-identifiers as they are and protects values, not identities."
        return [
            Finding(
                attack=str(self),
                column=None,
                sentence=sentence,
                n_affected=n_at_risk,
                exposure=_identity(target, narrowed),
                figures=figures,
            )
        ]

    def _population(self, sample: ClassSizes, which: str) -> dict[str, float]:
        """Estimated shares of the population that are unique; NaN where an estimate failed."""
        found = estimate_uniques(sample, float(self.fraction))
        size = sample.n_persons / float(self.fraction)
        numbers = {"Pitman": found.pitman, "Zayatz": found.zayatz, "SNB": found.snb, "Dankar": found.dankar}
        return {
            f"unique in the population by the {which}, {name}": number / size
            for name, number in numbers.items()
            if size
        }


def narrow_down(target: Target) -> Narrowed:
    """What persons are narrowed down to. Whoever fits no row is left out."""
    release, where = target.release, Whereabouts.of(target)
    reading = where.reading
    if isinstance(release, Matched):
        starts, rows = where.fits
        kept = np.concatenate(([0], np.cumsum(~reading.is_told_dummy[rows])))
        counts = np.bincount(kept[starts[1:]] - kept[starts[:-1]])
        sizes = np.flatnonzero(counts[1:]) + 1
        return Narrowed(sizes.astype(np.int64), counts[sizes].astype(np.int64))
    if isinstance(release, Grouped):
        counts = np.bincount(reading.boxes.class_of_row[~reading.is_told_dummy])
    else:
        counts = np.bincount(reading.point_of_row)
    sizes = counts[counts > 0].astype(np.int64)
    return Narrowed(sizes, sizes)


def journalist_risks(sizes: NDArray[np.int64], fraction: float) -> NDArray[np.float64]:
    """The expected 1 / F of a class that shows f persons in a sample with that rate.

    F - f, those not drawn, is negative binomial (f, fraction), as mu-Argus has it; then the expectation is
    I_f = int_0^1 w^(f-1) * fraction / (fraction + (1 - fraction) w) dw, with I_f + I_(f+1) * (1 - fraction) / fraction
    = 1 / f. Large classes by the first terms of a series.

    >>> round(float(journalist_risks(np.array([1]), 0.5)[0]), 4), round(math.log(2), 4)
    (0.6931, 0.6931)
    """
    if fraction >= 1:
        return 1 / sizes
    rest = 1 - fraction
    risks: NDArray[np.float64] = _of_large(sizes.astype(np.float64), fraction)
    exactly = np.empty(_EXACTLY_UP_TO + 1)
    # The recurrence is run in the direction in which errors shrink.
    if fraction <= rest:
        exactly[1] = fraction / rest * math.log(1 / fraction)
        for size in range(1, _EXACTLY_UP_TO):
            exactly[size + 1] = fraction / rest * (1 / size - exactly[size])
    else:
        exactly[-1] = _of_large(np.float64(_EXACTLY_UP_TO), fraction)
        for size in range(_EXACTLY_UP_TO - 1, 0, -1):
            exactly[size] = 1 / size - rest / fraction * exactly[size + 1]
    small = sizes <= _EXACTLY_UP_TO
    risks[small] = exactly[sizes[small]]
    return risks


def _of_large(sizes: Any, fraction: float) -> Any:
    return fraction / sizes * (1 + (1 - fraction) / sizes)


def _identity(target: Target, narrowed: Narrowed) -> Exposure:
    """One unit a unit: nothing but its size."""
    n_units = len(narrowed.units)
    return Exposure(
        adversary="knows who is in the table",
        form=target.release.form,
        column=None,
        prior=np.array([target.original.n_rows], dtype=np.int64),
        starts=np.arange(n_units + 1, dtype=np.int64),
        values=np.zeros(n_units, dtype=np.int32),
        weights=narrowed.units,
        sizes=narrowed.units,
    )


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


def pitman(sample: ClassSizes, fraction: float) -> float:
    """Parameters by maximum likelihood, alpha in [0, 1) and theta > -alpha; the expected number of uniques of N."""
    n, n_classes = sample.n_persons, sample.n_classes
    if n_classes in (1, n):
        # All alike or all different: the likelihood has no top inside.
        return math.nan
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
        return math.nan
    alpha, raised = float(expit(point[0])), math.exp(float(point[1]))
    theta, total = raised - alpha, n / fraction
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
