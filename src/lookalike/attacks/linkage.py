"""Linkage: how far a known person can be narrowed down to published rows, and how unique persons are.

Three attackers, by what they know:

    prosecutor   the target is in the table: one row among those that fit is the target's
    journalist   the target is in a population of which the table is a fraction
    marketer     wants as many as possible right on average

Rows that fit: Grouped, the class of identical rows; Bucketized and Perturbed, the rows with exactly the person's
quasi-identifiers, which both publish as they are; Matched, all rows whose cells hold the person's record.
No sensitive value is read.

Where persons have several rows, the different persons behind the rows that fit are counted. The attacker knows one row
of a person, any of them; the risk of a person is that of the row which says most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.attacks.shared.consequence import AS_PROMISED, FAILED, PERMITTED, Consequence, Result, percent
from lookalike.attacks.shared.persons import (
    PersonClasses,
    is_linked,
    lack_classes,
    owners_of_records,
    refuse_classes,
)
from lookalike.attacks.shared.uniques import ClassSizes, estimate_uniques
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import Finding, Target
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Exact
from lookalike.data.persons import number_pairs
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_EXACTLY_UP_TO = 50
_HIGHEST, _MEAN = "highest prosecutor risk", "mean prosecutor risk"


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
    headline: ClassVar[str | None] = _HIGHEST
    most_records: ClassVar[int | None] = None
    most_cells: ClassVar[int | None] = None

    threshold: Exact = Exact(above=0, high=1, default=Fraction(1, 5))
    """A person is at risk if found with a probability above this."""
    fraction: Exact = Exact(above=0, high=1, default=Fraction(1, 10))
    """Which share of the population the table is."""

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        if target.original.persons is not None:
            return [self._find_persons(target)]
        narrowed = narrow_down(target)
        n_persons = max(int(narrowed.persons.sum()), 1)
        risks = 1 / narrowed.units
        n_at_risk = int(narrowed.persons[risks > float(self.threshold)].sum())
        mean = float(narrowed.persons @ risks) / n_persons
        highest = float(risks.max(initial=0.0))
        in_population = journalist_risks(narrowed.units, float(self.fraction))
        figures = {
            "smallest unit": float(narrowed.units.min()) if len(narrowed.units) else 0.0,
            _HIGHEST: highest,
            _MEAN: mean,
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
            f"An attacker who knows that a person is in the table and knows the person's quasi-identifiers finds the "
            f"row with a chance of {highest:.1%} at most and {mean:.1%} on average; {n_at_risk:,} of {n_persons:,} "
            f"people are found with more than {float(self.threshold):.1%}. "
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

    def explain(self, result: Result) -> Consequence:
        target, figures, person = result.target, result.finding.figures, result.person
        highest, mean = figures[_HIGHEST], figures[_MEAN]
        chance = (
            f"someone who knows {result.known} of a {person} finds the right row with a chance of {_chance(highest)} "
            f"at most, and of {percent(mean)} on average"
        )
        if not highest:
            return Consequence(AS_PROMISED, f"Nobody's row is found by {result.known}.")
        # What counts rows that are possible, likely or not, says nothing about chances.
        sizes = [one.model for one in result.promises if one.model.letter == "k"]
        asked = max((float(model.asked) for model in sizes if not getattr(model, "by_possible", False)), default=0.0)
        if isinstance(target.release, Bucketized | Perturbed):
            said = f"{chance}, because this form shows these columns exactly. "
            about = (
                "The promise is about values, not about whose row is whose."
                if asked <= 1
                else (f"{result.limits} counts the values behind a row here, not the rows.")
            )
            return Consequence(PERMITTED, said[0].upper() + said[1:] + about)
        if not asked:
            return Consequence(PERMITTED, f"No promise limits this: {chance}. k-anonymity limits it.")
        if highest * asked > 1 + SLACK and isinstance(target.release, Grouped):
            return Consequence(
                FAILED, f"{result.limits} promises a chance of 1 in {asked:.0f} at most, and {chance}. Do not sign."
            )
        return Consequence(AS_PROMISED, f"{result.limits} holds: {chance}.")

    def lacks(self, target: Target) -> str | None:
        return lack_classes(target) if self.refuses_persons(target) is not None else None

    def refuses_persons(self, target: Target) -> str | None:
        if isinstance(target.release, Perturbed) or (
            isinstance(target.release, Bucketized) and not target.release.withheld.n_suppressed
        ):
            return None
        return refuse_classes(target)

    def _find_persons(self, target: Target) -> Finding:
        original, noun = target.original, target.original.schema.unit_name
        published, at_once = _count_persons(target), _count_persons_of_points(original)
        n_persons, threshold = original.n_persons, float(self.threshold)
        # Someone without any row in the release is not found.
        smallest = published.smallest[published.smallest > 0]
        risks, in_population = 1 / smallest, journalist_risks(smallest, float(self.fraction))
        n_at_risk, n_certain = int((risks > threshold).sum()), int((smallest == 1).sum())
        highest, mean = float(risks.max(initial=0.0)), float(risks.sum()) / n_persons
        figures = {
            "smallest unit": float(smallest.min(initial=n_persons)),
            _HIGHEST: highest,
            _MEAN: mean,
            "share at risk": n_at_risk / n_persons,
            "highest journalist risk": float(in_population.max(initial=0.0)),
            "mean journalist risk": float(in_population.sum()) / n_persons,
            "marketer risk": mean,
            "unique in the release": n_certain / n_persons,
        }
        known = "all rows" if is_linked(target) else "one row"
        said, failed = "", []
        classes = PersonClasses.of(target)
        if classes is not None and known == "one row":
            parts = classes.largest_parts()
            figures["highest share of a class's rows"] = largest = float(parts.max(initial=0.0))
            figures["mean share of a class's rows"] = float(parts.mean())
            said = f" Of the rows of a class up to {largest:.1%} are of one {noun}."
        if known == "one row":
            # Someone who knows all rows of a person would find more in the original than this counts.
            figures["unique in the original"] = alone = float((at_once.smallest == 1).mean())
            said += f" {alone:.1%} would be found with certainty in the original."
        samples = {"original": at_once, "release": published} if known == "one row" else {"release": published}
        if apart := [which for which, counts in samples.items() if not counts.once]:
            where = " and the ".join(apart)
            said += f" No population is estimated by the {where}: some {noun}s have rows in several classes."
        for which, counts in samples.items():
            if not counts.once:
                continue
            shares = self._population(ClassSizes.of(counts.sizes), which)
            figures |= {key: share for key, share in shares.items() if not math.isnan(share)}
            failed += [key for key, share in shares.items() if math.isnan(share)]
        if failed:
            said += f" Estimates that could not be made are left out: {'; '.join(failed)}."
        if isinstance(target.release, Bucketized | Perturbed):
            said += " This form publishes quasi-identifiers as they are and protects values, not identities."
        return Finding(
            attack=str(self),
            column=None,
            sentence=(
                f"An attacker who knows that a {noun} is in the table, and the quasi-identifiers of {known}, finds the "
                f"{noun} among all with a row in the same class with a probability of {highest:.1%} at most and "
                f"{mean:.1%} on average; {n_at_risk:,} of {counted(n_persons, noun)} are found with more than "
                f"{threshold:.1%}, {n_certain:,} with certainty.{said}"
            ),
            n_affected=n_at_risk,
            exposure=_identity(target, Narrowed(published.sizes, published.sizes), n_classes=len(published.sizes)),
            figures=figures,
        )

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


def _chance(risk: float) -> str:
    """
    >>> _chance(0.25), _chance(1.0), _chance(0.3)
    ('1 in 4', '1 in 1', '30 %')
    """
    whole = round(1 / risk)
    return f"1 in {whole:,}" if abs(risk * whole - 1) < SLACK else percent(risk)


def narrow_down(target: Target) -> Narrowed:
    """What persons are narrowed down to. Anyone who fits no row is left out."""
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


class _Counted(NamedTuple):
    """Different persons by class."""

    sizes: NDArray[np.int64]
    """Persons of each class."""
    smallest: NDArray[np.int64]
    """For each person the size of the smallest class with a row of this person; 0 without a row."""
    once: bool
    """Whether every person is in one class only."""


def _count_persons(target: Target) -> _Counted:
    """Persons that an attacker who knows one row cannot tell apart."""
    if not isinstance(target.release, Grouped):
        # Quasi-identifiers are published as they are, and records left out tell persons apart no better.
        classes = PersonClasses.of(target)
        left = classes.records if classes is not None and target.release.withheld.n_suppressed else None
        return _count_persons_of_points(target.original, left)
    classes = PersonClasses.of(target)
    assert classes is not None
    return _count_by_class(classes.units, classes.owners, classes.n_persons)


def _count_persons_of_points(original: Microdata, records: NDArray[np.int64] | None = None) -> _Counted:
    """Persons with exactly the same quasi-identifiers in some row."""
    records = np.arange(original.n_rows) if records is None else records
    points = joint_ids(tuple(original.quasi[records].T), len(records))
    return _count_by_class(points, owners_of_records(original)[records], original.n_persons)


def _count_by_class(units: NDArray[np.int64], owners: NDArray[np.int64], n_persons: int) -> _Counted:
    firsts = np.unique(number_pairs(units, owners), return_index=True)[1]
    units, owners = units[firsts], owners[firsts]
    sizes = np.bincount(units).astype(np.int64)
    smallest = np.full(n_persons, n_persons + 1, dtype=np.int64)
    np.minimum.at(smallest, owners, sizes[units])
    smallest[smallest > n_persons] = 0
    return _Counted(sizes, smallest, len(np.unique(owners)) == len(owners))


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


def _identity(target: Target, narrowed: Narrowed, n_classes: int | None = None) -> Exposure:
    """One unit a unit: nothing but its size. `n_classes`: so many classes, of which persons were counted."""
    n_units = len(narrowed.units)
    return Exposure(
        adversary="knows who is in the table",
        form=target.release.form,
        column=None,
        prior=target.original.prior(None),
        n_classes=n_classes,
        starts=np.arange(n_units + 1, dtype=np.int64),
        values=np.zeros(n_units, dtype=np.int32),
        weights=narrowed.units,
        sizes=narrowed.units,
    )
