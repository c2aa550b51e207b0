"""Linkage: how far a known person can be narrowed down to published rows, and how unique persons are.

Three attackers, by what they know:

    prosecutor   the target is in the table: one row among those that fit is the target's (1 / f)
    journalist   the target is in a population that the table was drawn from (1 / F, `shared.outsiders`)
    marketer     links every row to someone of the population, and wants as many as possible right (mean of 1 / F)

Of the last two nothing is said unless the population is known: by a table, by its size, or by the share that the table
is of it. F is counted in the table, or estimated, and each figure names how.

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
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.attacks.shared.consequence import AS_PROMISED, FAILED, PERMITTED, Consequence, Result, percent
from lookalike.attacks.shared.narrowing import Narrowed, count_persons, count_persons_of_points, narrow_down
from lookalike.attacks.shared.outsiders import (
    COUNTED,
    Outsiders,
    Persons,
    count_outsiders,
    count_unique,
    estimate_outsiders,
    least_size,
    name_figure,
)
from lookalike.attacks.shared.persons import (
    PersonClasses,
    is_linked,
    lack_classes,
    refuse_classes,
)
from lookalike.attacks.shared.population import MU_ARGUS, PITMAN, WHOLE, estimate_population
from lookalike.attacks.shared.uniques import ClassSizes, estimate_uniques
from lookalike.attacks.shared.whereabouts import SLACK
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import Finding, Target
from lookalike.data.exposure import Exposure
from lookalike.data.parameters import Choice, Exact, OptionalExact, OptionalText, OptionalWhole, number_text
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.errors import DataError, RecipeError, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_ESTIMATORS = {"pitman": PITMAN, "mu-argus": MU_ARGUS}
_UNKNOWN = (
    " Left out: the chance that someone finds the row who only knows that the person is in the population (journalist, "
    "marketer). It takes a table of the population (linkage:population=FILE), its size (population-size=NUMBER) or the "
    "share of it that the table is (fraction=0.05)."
)
_HIGHEST, _MEAN = "highest prosecutor risk", "mean prosecutor risk"


@dataclass(frozen=True)
class Linkage(WrittenAttack):
    """Finds known persons among the rows: prosecutor, journalist and marketer risk, and uniqueness."""

    name: ClassVar[str] = "linkage"
    headline: ClassVar[str | None] = _HIGHEST
    most_records: ClassVar[int | None] = None
    most_cells: ClassVar[int | None] = None

    threshold: Exact = Exact(above=0, high=1, default=Fraction(1, 5))
    """A person is at risk if found with a probability above this."""
    fraction: OptionalExact = OptionalExact(above=0, high=1)
    """Which share of the population the table is; without it, journalist and marketer need one of the next two."""
    population_size: OptionalWhole = OptionalWhole(low=1)
    """How many people the population has, those of the table included."""
    population: OptionalText = OptionalText()
    """A file with everybody of the population, those of the table included, one row per person."""
    estimator: Choice = Choice(*_ESTIMATORS, default="pitman")
    """How F is estimated where no table of the population is given: Ewens-Pitman (pitman) or mu-argus."""

    def __post_init__(self) -> None:
        given = {"fraction": self.fraction, "population-size": self.population_size, "population": self.population}
        names = [name for name, value in given.items() if value is not None]
        if len(names) > 1:
            raise RecipeError(f"linkage: {' and '.join(names)} say the same in different ways. Give one of them.")

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        if target.original.persons is not None:
            return [self._find_persons(target)]
        narrowed = narrow_down(target)
        n_persons = max(int(narrowed.persons.sum()), 1)
        risks = 1 / narrowed.units
        n_at_risk = int(narrowed.persons[narrowed.units < least_size(self.threshold)].sum())
        mean = float(narrowed.persons @ risks) / n_persons
        highest = float(risks.max(initial=0.0))
        figures = {
            "smallest unit": float(narrowed.units.min()) if len(narrowed.units) else 0.0,
            _HIGHEST: highest,
            _MEAN: mean,
            "share at risk": n_at_risk / n_persons,
            "unique in the release": float(narrowed.persons[narrowed.units == 1].sum()) / n_persons,
        }
        are_classes = not isinstance(target.release, Matched)
        classes = narrowed.units if are_classes else None
        found, outside = self._find_outside(target, Persons(*narrowed, are_classes), n_persons, classes)
        figures |= {} if found is None else found.figures
        # As if the original were published as it is.
        original = ClassSizes.of(np.bincount(joint_ids(tuple(target.original.quasi.T), target.original.n_rows)))
        figures["unique in the original"] = original.n_unique / max(original.n_persons, 1)
        samples = {"original": original}
        if are_classes:
            samples["release"] = ClassSizes.of(narrowed.units)
        uniques, failed = self._find_uniques(target, samples)
        figures |= uniques
        sentence = (
            f"An attacker who knows that a person is in the table and knows the person's quasi-identifiers finds the "
            f"row with a chance of {highest:.1%} at most and {mean:.1%} on average; {n_at_risk:,} of {n_persons:,} "
            f"people are found with more than {_limit(self.threshold)}. "
            f"{figures['unique in the release']:.1%} are unique in the release, "
            f"{figures['unique in the original']:.1%} in the original."
        )
        sentence += outside + failed + _note_on(self.threshold)
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
        outside = next((name for name in figures if name.startswith("highest journalist risk")), None)
        if outside is not None:
            source = outside.partition("(")[2].rstrip(")")
            chance += (
                f", and someone who only knows that the {person} is in the population with a chance of "
                f"{_chance(figures[outside])} at most ({source})"
                if figures[outside]
                else ""
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

    def refuses(self, target: Target) -> str | None:
        return super().refuses(target) or self._lack_population(target)

    def lacks(self, target: Target) -> str | None:
        lacking = lack_classes(target) if self.refuses_persons(target) is not None else None
        return lacking or self._lack_population(target)

    def _lack_population(self, target: Target) -> str | None:
        if self.population is None or target.population is not None:
            return None
        return "the table of the population is read by lookalike attack and la.attack alone. Make the attack there."

    def refuses_persons(self, target: Target) -> str | None:
        if self.population is not None:
            return (
                "a table of the population has one row per person, and persons of this table have several. Give the "
                "size of the population (population-size) or the share that the table is of it (fraction)."
            )
        if isinstance(target.release, Perturbed) or (
            isinstance(target.release, Bucketized) and not target.release.withheld.n_suppressed
        ):
            return None
        return refuse_classes(target)

    def _find_persons(self, target: Target) -> Finding:
        original, noun = target.original, target.original.schema.unit_name
        published, at_once = count_persons(target), count_persons_of_points(original)
        n_persons = original.n_persons
        # Someone without any row in the release is not found.
        smallest = published.smallest[published.smallest > 0]
        risks = 1 / smallest
        n_at_risk, n_certain = int((smallest < least_size(self.threshold)).sum()), int((smallest == 1).sum())
        highest, mean = float(risks.max(initial=0.0)), float(risks.sum()) / n_persons
        figures = {
            "smallest unit": float(smallest.min(initial=n_persons)),
            _HIGHEST: highest,
            _MEAN: mean,
            "share at risk": n_at_risk / n_persons,
            "unique in the release": n_certain / n_persons,
        }
        each = Persons(smallest, np.ones(len(smallest), dtype=np.int64), are_classes=False)
        found, outside = self._find_outside(target, each, n_persons, published.sizes if published.once else None)
        figures |= {} if found is None else found.figures
        known = "all rows" if is_linked(target) else "one row"
        said = ""
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
        knows_share = self.fraction is not None or self.population_size is not None
        if knows_share and (apart := [which for which, counts in samples.items() if not counts.once]):
            where = " and the ".join(apart)
            said += f" No population is estimated by the {where}: some {noun}s have rows in several classes."
        parted = {which: ClassSizes.of(counts.sizes) for which, counts in samples.items() if counts.once}
        uniques, failed = self._find_uniques(target, parted)
        figures |= uniques
        said += outside + failed + _note_on(self.threshold)
        if isinstance(target.release, Bucketized | Perturbed):
            said += " This form publishes quasi-identifiers as they are and protects values, not identities."
        return Finding(
            attack=str(self),
            column=None,
            sentence=(
                f"An attacker who knows that a {noun} is in the table, and the quasi-identifiers of {known}, finds the "
                f"{noun} among all with a row in the same class with a probability of {highest:.1%} at most and "
                f"{mean:.1%} on average; {n_at_risk:,} of {counted(n_persons, noun)} are found with more than "
                f"{_limit(self.threshold)}, {n_certain:,} with certainty.{said}"
            ),
            n_affected=n_at_risk,
            exposure=_identity(target, Narrowed(published.sizes, published.sizes), n_classes=len(published.sizes)),
            figures=figures,
        )

    def _size_of_population(self, target: Target) -> int | None:
        """How many people the population has; None: not known."""
        n_persons = target.original.n_persons
        if self.fraction is not None:
            return max(round(n_persons / self.fraction), n_persons)
        if self.population_size is not None and self.population_size < n_persons:
            raise DataError(
                f"linkage: population-size is {self.population_size:,}, and the table alone has "
                f"{counted(n_persons, target.original.schema.unit_name)}. Give the number of people in the population, "
                "those of the table included."
            )
        return self.population_size

    def _find_outside(
        self, target: Target, persons: Persons, n_persons: int, classes: NDArray[np.int64] | None
    ) -> tuple[Outsiders | None, str]:
        """What journalist and marketer achieve, and a sentence about it, or about what is missing.

        `classes`: sizes that a model of the population can be fitted to; None: there are none.
        """
        if self.population is not None:
            found = count_outsiders(target, self.threshold)
            return found, f" {found.sentence}"
        size = self._size_of_population(target)
        if size is None:
            return None, _UNKNOWN
        posterior, instead = estimate_population(classes, target.original.n_persons, size, _ESTIMATORS[self.estimator])
        found = estimate_outsiders(posterior, persons, self.threshold, n_persons)
        said = f" {found.sentence}"
        if found.source == WHOLE:
            return found, f"{said} The table is taken as the whole population, so nothing is estimated."
        said += f" The table is taken as a random sample of {size:,} people."
        if instead is not None:
            said += (
                f" Ewens-Pitman could not be fitted, because {instead}: mu-Argus stands in, which is too low where "
                "many classes are rare."
            )
        return found, said

    def _find_uniques(self, target: Target, samples: dict[str, ClassSizes]) -> tuple[dict[str, float], str]:
        """Shares of the population that are unique, by samples, and a sentence about estimates that failed."""
        if self.population is not None:
            return {name_figure("unique in the population by the original", COUNTED): count_unique(target)}, ""
        whole = self._size_of_population(target)
        if whole is None:
            return {}, ""
        figures, failed = {}, []
        for which, sample in samples.items():
            rate = target.original.n_persons / whole
            found = estimate_uniques(sample, rate)
            size = sample.n_persons / rate
            numbers = {"Pitman": found.pitman, "Zayatz": found.zayatz, "SNB": found.snb, "Dankar": found.dankar}
            for name, number in numbers.items():
                key = f"unique in the population by the {which}, {name}"
                if math.isnan(number):
                    failed.append(key)
                elif size:
                    figures[key] = number / size
        said = f" Estimates that could not be made are left out: {'; '.join(failed)}." if failed else ""
        return figures, said


def _limit(threshold: Fraction) -> str:
    """
    >>> _limit(Fraction(1, 5)), _limit(Fraction("0.09")), _limit(Fraction(1, 11))
    ('20.0%', '9.0%', '1/11 (9.1%)')
    """
    shown = f"{float(threshold):.1%}"
    return shown if (threshold * 1000).denominator == 1 else f"{number_text(threshold)} ({shown})"


def _note_on(threshold: Fraction) -> str:
    """That a rounded threshold asks for one person more than the class size that it was rounded from.

    >>> _note_on(Fraction("0.09"))
    ' A chance of 0.09 needs classes of 12; classes of 11 are written 1/11.'
    >>> _note_on(Fraction(1, 11)), _note_on(Fraction("0.05"))
    ('', '')
    """
    least, text = least_size(threshold), number_text(threshold)
    places = len(text.partition(".")[2])
    if threshold.numerator == 1 or not places or least < 2 or round(1 / (least - 1), places) != float(threshold):
        return ""
    return f" A chance of {text} needs classes of {least}; classes of {least - 1} are written 1/{least - 1}."


def _chance(risk: float) -> str:
    """
    >>> _chance(0.25), _chance(1.0), _chance(0.3)
    ('1 in 4', '1 in 1', '30 %')
    """
    whole = round(1 / risk)
    return f"1 in {whole:,}" if abs(risk * whole - 1) < SLACK else percent(risk)


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
