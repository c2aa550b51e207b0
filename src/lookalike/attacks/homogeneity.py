"""Homogeneity: where all rows that a person can be behind carry one value, that value is known.

Nothing is worked out beyond the plain reader's probabilities (`Whereabouts`): the attack looks where they are extreme.
By persons a value is known where all persons of a class have it in some row of the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from lookalike.attacks.shared.attack import OnClasses, find_ceilings, majority, n_certain, row_max, score_guesses
from lookalike.attacks.shared.consequence import AS_PROMISED, FAILED, NO_GAIN, PERMITTED, Consequence, Result
from lookalike.attacks.shared.persons import PersonClasses, are_right, list_known
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts, honest_guesses
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.parameters import Exact
from lookalike.data.release import Matched
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Homogeneity(OnClasses):
    """Looks for persons about whom the rows leave one value."""

    name: ClassVar[str] = "homogeneity"
    remedy: ClassVar[str] = "l-diversity prevents it."
    most_records: ClassVar[int | None] = None
    most_cells: ClassVar[int | None] = None

    share: Exact = Exact(above=0, high=1, default=Fraction(1))
    """Rows count as homogeneous from this share of one value on."""

    def explain(self, result: Result) -> Consequence:
        target, column = result.target, result.column
        caught, limits = result.finding.n_affected or 0, result.limits
        certain = "certain" if self.share == 1 else f"at least {float(self.share):.0%} certain"
        if not caught:
            said = f"Nobody's {column} is {certain} to someone who knows {result.known}"
            if not limits:
                return Consequence(NO_GAIN, f"{said}, although no promise requires that.")
            return Consequence(AS_PROMISED, f"{said}; {limits} is there to prevent that.")
        said = f"the {column} of {result.share_of_people()} is {certain} to someone who knows {result.known}"
        if not limits:
            return Consequence(PERMITTED, f"No promise is about {column}, and {said}. {self.remedy}")
        # Rows that fit a person are not all equally likely in a matched release, unless all of them say the same.
        judged = self.share == 1 or target.release.form != Matched.form
        place = [domain.name for domain in target.original.domains.sensitive].index(str(result.finding.column))
        ceilings = find_ceilings(target, place)
        if judged and ceilings is not None and ceilings.max() < float(self.share) - SLACK:
            return Consequence(FAILED, f"{limits} rules this out, and {said}. Do not sign.")
        return Consequence(PERMITTED, f"{limits} does not rule this out, and {said}. {self.remedy}")

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        original = where.target.original
        beliefs = where.beliefs(column)
        highest = row_max(beliefs)
        caught = np.flatnonzero(highest >= float(self.share) - SLACK)
        guesses = honest_guesses(beliefs[caught], original.counts(column))
        score = score_guesses(guesses, original.sensitive[caught, column])
        name = original.domains.sensitive[column].name
        about = "one value only" if self.share == 1 else f"one value in {float(self.share):.1%} of them or more"
        sentence = (
            f"For {len(caught):,} of {original.n_rows:,} persons the rows that they can be behind carry {about} of "
            f'"{name}"'
        )
        sentence += f"; guessing it is right for {score.share:.1%} of them." if len(caught) else "."
        return Finding(
            attack=str(self),
            column=name,
            sentence=f"{sentence} The highest certainty about anybody is {highest.max(initial=0.0):.1%}.",
            score=score,
            baselines={"most frequent value": majority(original, column)},
            n_affected=len(caught),
            figures={
                "highest certainty": float(highest.max(initial=0.0)),
                "mean highest certainty": float(highest.mean()),
                "share of records caught": len(caught) / original.n_rows,
            },
        )

    def on_persons(self, target: Target, classes: PersonClasses, column: int, rng: Randomness) -> Finding:
        original, noun = target.original, target.original.schema.unit_name
        beliefs = classes.shares(column)
        in_class = row_max(beliefs)
        highest = classes.highest(in_class)
        caught = highest >= float(self.share) - SLACK
        # Of those known by a row of such a class the value that all have is guessed.
        known = list_known(original)
        known = known[np.isin(known, classes.records[in_class[classes.units] >= float(self.share) - SLACK])]
        score = Score(int(are_right(original, column, classes.guesses(column)[known], known).sum()), len(known))
        by_number = classes.highest_by_number(column)
        name, n_caught = original.domains.sensitive[column].name, int(caught.sum())
        about = "one value" if self.share == 1 else f"one value for {float(self.share):.1%} of them or more"
        sentence = (
            f"For {n_caught:,} of {counted(classes.n_persons, noun)} all {noun}s with a row in the same group as some "
            f'row of theirs have {about} of "{name}" in common'
        )
        sentence += f"; guessing it is right for {score.share:.1%} of those known by such a row." if len(known) else "."
        return Finding(
            attack=str(self),
            column=name,
            sentence=(
                f"{sentence} The highest certainty about any {noun} is {highest.max(initial=0.0):.1%}; of "
                f"{n_certain(by_number):,} a value is certain to an attacker who knows how many rows of the group are "
                "theirs."
            ),
            score=score,
            baselines={"most frequent value": majority(original, column)},
            n_affected=n_caught,
            figures={
                "highest certainty": float(highest.max(initial=0.0)),
                "mean highest certainty": float(highest.mean()),
                f"share of {noun}s caught": n_caught / classes.n_persons,
                "highest certainty if the number of rows is known": float(by_number.max(initial=0.0)),
                f"{noun}s with a certain value if the number of rows is known": float(n_certain(by_number)),
            },
        )
