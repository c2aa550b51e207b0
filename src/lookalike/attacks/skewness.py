"""Skewness: where a rare value is frequent among the rows that a person can be behind, the certainty in it has risen
many
times, although many values may be there.

Nothing is worked out beyond the plain reader's probabilities (`Whereabouts`): the attack looks where they are extreme.
By persons, probabilities and shares are those of different persons who have a value in some row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import OnClasses, find_ceilings, score_guesses
from lookalike.attacks.shared.consequence import (
    AS_PROMISED,
    FAILED,
    NO_GAIN,
    PERMITTED,
    Consequence,
    Result,
    join_names,
)
from lookalike.attacks.shared.persons import PersonClasses, are_right, list_known, shares_of_values
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts, owners_of
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.parameters import Exact
from lookalike.data.release import Matched
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_RISE = "highest rise"


@dataclass(frozen=True)
class Skewness(OnClasses):
    """Looks for persons about whom the certainty about a value rises many times above its share."""

    name: ClassVar[str] = "skewness"
    remedy: ClassVar[str] = (
        "A promise of how far a certainty may rise above a value's share (beta-likeness, t-closeness) limits it."
    )
    most_records: ClassVar[int | None] = None
    most_cells: ClassVar[int | None] = None

    times: Exact = Exact(above=1, default=Fraction(10))
    """A certainty above so many times the value's share in the table counts."""

    def explain(self, result: Result) -> Consequence:
        target, highest, affected = result.target, result.finding.figures[_RISE], result.finding.n_affected
        name = str(result.finding.column)
        said = (
            f"the certainty about a value of {result.column} rises to {_times(highest)} its share in the table at most"
        )
        by_share = [str(promise.model) for promise in result.promises if promise.model.by_share]
        if not by_share:
            if not affected:
                return Consequence(NO_GAIN, f"No certainty rises much: {said}.")
            about = f"{result.limits} does not limit this" if result.limits else f"No promise is about {result.column}"
            many = f"for {result.share_of_people()} it rises more than {float(self.times):g} times"
            return Consequence(PERMITTED, f"{about}: {said}, and {many}. {self.remedy}")
        place = [domain.name for domain in target.original.domains.sensitive].index(name)
        ceilings, shares = find_ceilings(target, place), shares_of_values(target.original, place)
        if ceilings is not None and target.release.form != Matched.form:
            there = shares > 0
            if highest > float((ceilings[there] / shares[there]).max(initial=1.0)) * (1 + SLACK) + SLACK:
                return Consequence(FAILED, f"{join_names(by_share)} allows less, and {said}. Do not sign.")
        return Consequence(AS_PROMISED, f"{join_names(by_share)} limits this, and {said}.")

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        original = where.target.original
        beliefs = where.beliefs(column)
        shares = original.counts(column) / original.n_rows
        rises = rises_of(beliefs, shares)
        records, guesses = _steepest(beliefs, rises, float(self.times))
        highest = float(rises.max(initial=0.0))
        name = original.domains.sensitive[column].name
        sentence = (
            f'The certainty about a value of "{name}" rises to {highest:.3g} times its share in the table at most; for '
            f"{len(records):,} of {original.n_rows:,} persons one rises to more than {float(self.times):g} times."
        )
        score = score_guesses(guesses, original.sensitive[records, column]) if len(records) else Score(0, 0)
        expected = float(shares[guesses].mean()) if len(records) else 0.0
        return Finding(
            attack=str(self),
            column=name,
            sentence=sentence,
            score=score,
            baselines={"share of the guessed values": expected},
            n_affected=len(records),
            figures={_RISE: highest, "mean share of the guessed values": expected},
        )

    def on_persons(self, target: Target, classes: PersonClasses, column: int, rng: Randomness) -> Finding:
        original, noun = target.original, target.original.schema.unit_name
        beliefs, shares = classes.shares(column), shares_of_values(original, column)
        rises = rises_of(beliefs, shares)
        units, values = _steepest(beliefs, rises, float(self.times))
        value_of_class = np.full(classes.n_classes, -1, dtype=np.int64)
        value_of_class[units] = values
        n_affected = int(classes.any_of(value_of_class >= 0).sum())
        value_of_record = np.full(original.n_rows, -1, dtype=np.int64)
        value_of_record[classes.records] = value_of_class[classes.units]
        known = list_known(original)
        known = known[value_of_record[known] >= 0]
        guesses = value_of_record[known]
        score = Score(int(are_right(original, column, guesses, known).sum()), len(known))
        expected = float(shares[guesses].mean()) if len(known) else 0.0
        highest, by_number = float(rises.max(initial=0.0)), classes.rises_by_number(column, shares)
        name = original.domains.sensitive[column].name
        return Finding(
            attack=str(self),
            column=name,
            sentence=(
                f'The certainty that a {noun} has a value of "{name}" rises to {highest:.3g} times the share of '
                f"{noun}s "
                f"who have it at most, and to {by_number:.3g} times for an attacker who knows how many rows of a group "
                f"are theirs; for {n_affected:,} of {counted(classes.n_persons, noun)} one rises to more than "
                f"{float(self.times):g} times."
            ),
            score=score,
            baselines={"share of the guessed values": expected},
            n_affected=n_affected,
            figures={
                _RISE: highest,
                "highest rise if the number of rows is known": by_number,
                "mean share of the guessed values": expected,
            },
        )


def _times(rise: float) -> str:
    return "less than twice" if rise < 2 else f"about {rise:,.0f} times"


def rises_of(beliefs: Any, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many times its share each certainty is; entry by entry."""
    below = shares[beliefs.indices]
    rises: NDArray[np.float64] = np.divide(beliefs.data, below, where=below > 0, out=np.zeros(len(below)))
    return rises


def _steepest(beliefs: Any, rises: NDArray[np.float64], times: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Records with a certainty risen above so many times, and the value that rose most for each."""
    entries = np.flatnonzero(rises > times * (1 + SLACK))
    owners = owners_of(beliefs)[entries]
    # Written in rising order: the last of a record stays.
    order = np.lexsort((rises[entries], owners))
    steepest = np.full(beliefs.shape[0], -1, dtype=np.int64)
    steepest[owners[order]] = beliefs.indices[entries[order]]
    records = np.flatnonzero(steepest >= 0)
    return records, steepest[records]
