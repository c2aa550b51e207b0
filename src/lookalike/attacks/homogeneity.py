"""Homogeneity: where all rows that a person can be behind carry one value, that value is known.

Nothing is worked out beyond the honest reader's beliefs (`Whereabouts`): the attack looks where they are extreme.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from lookalike.attacks.shared.attack import OnValues, majority, row_max, score_guesses
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts, honest_guesses
from lookalike.data.contracts import Finding
from lookalike.data.parameters import Exact
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Homogeneity(OnValues):
    """Looks for persons about whom the rows leave one value."""

    name: ClassVar[str] = "homogeneity"
    remedy: ClassVar[str] = "l-diversity prevents it."
    most_records: ClassVar[int | None] = None

    share: Exact = Exact(above=0, high=1, default=Fraction(1))
    """Rows count as homogeneous from this share of one value on."""

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
            sentence=f"{sentence} The highest belief about anybody is {highest.max(initial=0.0):.1%}.",
            score=score,
            baselines={"most frequent value": majority(original, column)},
            n_affected=len(caught),
            figures={
                "highest belief": float(highest.max(initial=0.0)),
                "mean highest belief": float(highest.mean()),
                "share of records caught": len(caught) / original.n_rows,
            },
        )
