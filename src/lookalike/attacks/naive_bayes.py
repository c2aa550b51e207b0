"""Naive Bayes learned from the release alone, and asked about everybody.

    guess(t) = argmax_v Pr[v] * prod_j Pr[t_j | v],   Pr[t_j | v] = (count(t_j | v) + a) / (count(v) + a * |QI_j|)

Cost: one pass over the published rows an attribute, then records times attributes times values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from lookalike.attacks.shared.attack import OnValues
from lookalike.attacks.shared.bayes import NaiveBayes, counts_of
from lookalike.attacks.shared.judging import LEARNED_REMEDY, judge_learned
from lookalike.attacks.shared.persons import refuse_linked
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Target
from lookalike.data.parameters import Choice
from lookalike.progress import Progress
from lookalike.randomness import Randomness

SMOOTHING = {"classic": 0.0, "laplace": 1.0, "volume": 1.0}


@dataclass(frozen=True)
class NaiveBayesAttack(OnValues):
    """A classifier that learns from the release how quasi-identifiers go with sensitive values."""

    name: ClassVar[str] = "naive-bayes"
    remedy: ClassVar[str] = LEARNED_REMEDY
    most_records: ClassVar[int | None] = None

    kind: Choice = Choice("classic", "laplace", "volume", default="laplace")
    """How it counts: as is, with one more of each, or also with less for each value of a wide cell."""
    within: Choice = Choice("all", "unit", default="all")
    """What it guesses among: all values, or those that the release leaves for a person's own group."""

    def refuses_persons(self, target: Target) -> str | None:
        return refuse_linked(target)

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        learn = partial(self._learn, column=column)
        said, learnt = "A naive Bayes classifier learned from the release", self.fit(where, column, rng)
        return judge_learned(self, where, column, learnt, learn, self.within, said, {}, rng.child(column), progress)

    def fit(self, where: Whereabouts, column: int, rng: Randomness) -> NaiveBayes:
        """What it learns from the release about a sensitive column."""
        return self._learn(where, column)

    def _learn(self, where: Whereabouts, column: int) -> NaiveBayes:
        return NaiveBayes.learn(counts_of(where, column, by_volume=self.kind == "volume"), SMOOTHING[self.kind])
