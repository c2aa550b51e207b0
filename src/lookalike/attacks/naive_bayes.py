"""Naive Bayes learned from the release alone, and asked about everybody.

    guess(t) = argmax_v Pr[v] * prod_j Pr[t_j | v],   Pr[t_j | v] = (count(t_j | v) + a) / (count(v) + a * |QI_j|)

Cost: one pass over the published rows an attribute, then records times attributes times values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from lookalike.attacks.shared.attack import WrittenAttack, needs_sensitive, score_guesses
from lookalike.attacks.shared.bayes import NaiveBayes, counts_of
from lookalike.attacks.shared.judging import finding, judge_records, right_about_strangers
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Target
from lookalike.data.parameters import Choice
from lookalike.progress import Progress
from lookalike.randomness import Randomness

SMOOTHING = {"classic": 0.0, "laplace": 1.0, "volume": 1.0}


@dataclass(frozen=True)
class NaiveBayesAttack(WrittenAttack):
    """A classifier that learns from the release how quasi-identifiers go with sensitive values."""

    name: ClassVar[str] = "naive-bayes"
    remedy: ClassVar[str] = "It learns what is true of people in general; a promise of smaller beliefs leaves it less."
    most_records: ClassVar[int | None] = None

    kind: Choice = Choice("classic", "laplace", "volume", default="laplace")
    """How it counts: as is, with one more of each, or also with less for each value of a wide cell."""
    within: Choice = Choice("all", "unit", default="all")
    """What it guesses among: all values, or those that the release leaves for a person's own group."""

    def refuses(self, target: Target) -> str | None:
        return needs_sensitive(target)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        where = Whereabouts.of(target)
        findings = []
        for column in range(len(target.original.domains.sensitive)):
            learn = partial(self._learn, column=column)
            found = judge_records(where, column, learn(where), within=self.within, progress=progress)
            score = score_guesses(found.guesses, target.original.sensitive[:, column])
            strangers = None
            if self.within == "all" and score.interval[0] > found.honest["most frequent value"]:
                strangers = right_about_strangers(where, column, found.guesses, learn, rng.child(column))
            findings.append(finding(self, target, column, found, score, _SAID[self.within], {}, strangers))
        return findings

    def _learn(self, where: Whereabouts, column: int) -> NaiveBayes:
        return NaiveBayes.learn(counts_of(where, column, by_volume=self.kind == "volume"), SMOOTHING[self.kind])


_SAID = {
    "all": "A naive Bayes classifier learned from the release",
    "unit": "A naive Bayes classifier learned from the release, choosing among the values left for each person,",
}
