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
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.attacks.shared.uniqueness import ClassSizes, estimate_uniques
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.cells import joint_ids
from lookalike.data.contracts import Finding, Target
from lookalike.data.exposure import Exposure
from lookalike.data.parameters import Exact
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.errors import Unsupported
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

    threshold: Exact = Exact(above=0, high=1, default=Fraction(1, 5))
    """A person is at risk if found with a probability above this."""
    fraction: Exact = Exact(above=0, high=1, default=Fraction(1, 10))
    """Which share of the population the table is."""

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        narrowed = narrowed_down(target)
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
        original = original_classes(target)
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


def narrowed_down(target: Target) -> Narrowed:
    """What persons are narrowed down to. Whoever fits no row is left out."""
    release, reading = target.release, Whereabouts.of(target).reading
    if isinstance(release, Matched):
        if reading.fits is None:
            raise Unsupported(
                "Records fit far too many rows of this matched release to list them. Attack a sample of it."
            )
        starts, rows = reading.fits
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


def original_classes(target: Target) -> ClassSizes:
    """Class sizes of the original's quasi-identifiers, as if it were published as it is."""
    original = target.original
    return ClassSizes.of(np.bincount(joint_ids(tuple(original.quasi.T), original.n_rows)))


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
