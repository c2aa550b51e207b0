"""Homogeneity and skewness: what the values that lie together give away to whoever simply reads them.

Homogeneity: where all rows that a person can be behind carry one value, that value is known. Skewness: where a rare
value is frequent among those rows, the belief in it has risen many times, although many values may be there. Nothing
is worked out beyond the honest reader's beliefs (`Whereabouts`): these attacks look where they are extreme.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import WrittenAttack, needs_sensitive
from lookalike.attacks.shared.beliefs import majority, owners_of, row_max, scored
from lookalike.attacks.shared.whereabouts import Whereabouts, honest_guesses
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.parameters import Exact
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_SLACK = 1e-9


class _OnBeliefs(WrittenAttack):
    """An attack that looks at the honest reader's beliefs, column by column."""

    def refuses(self, target: Target) -> str | None:
        return needs_sensitive(target)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        whereabouts = Whereabouts.of(target)
        return [self._on(whereabouts, column) for column in range(len(target.original.domains.sensitive))]

    def _on(self, whereabouts: Whereabouts, column: int) -> Finding:
        raise NotImplementedError


@dataclass(frozen=True)
class Homogeneity(_OnBeliefs):
    """Looks for persons about whom the rows leave one value."""

    name: ClassVar[str] = "homogeneity"

    share: Exact = Exact(above=0, high=1, default=Fraction(1))
    """Rows count as homogeneous from this share of one value on."""

    def _on(self, whereabouts: Whereabouts, column: int) -> Finding:
        original = whereabouts.target.original
        beliefs = whereabouts.beliefs(column)
        highest = row_max(beliefs)
        caught = np.flatnonzero(highest >= float(self.share) - _SLACK)
        guesses = honest_guesses(beliefs[caught], original.counts(column))
        score = scored(guesses, original.sensitive[caught, column])
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


@dataclass(frozen=True)
class Skewness(_OnBeliefs):
    """Looks for persons about whom the belief in a value rises many times above its share."""

    name: ClassVar[str] = "skewness"

    times: Exact = Exact(above=1, default=Fraction(10))
    """A belief above so many times the value's share in the table counts."""

    def _on(self, whereabouts: Whereabouts, column: int) -> Finding:
        original = whereabouts.target.original
        beliefs = whereabouts.beliefs(column)
        shares = original.counts(column) / original.n_rows
        rises = rises_of(beliefs, shares)
        records, guesses = steepest(beliefs, rises, float(self.times))
        highest = float(rises.max(initial=0.0))
        name = original.domains.sensitive[column].name
        sentence = (
            f'The belief in a value of "{name}" rises to {highest:.3g} times its share in the table at most; for '
            f"{len(records):,} of {original.n_rows:,} persons one rises to more than {float(self.times):g} times."
        )
        score = scored(guesses, original.sensitive[records, column]) if len(records) else Score(0, 0)
        expected = float(shares[guesses].mean()) if len(records) else 0.0
        return Finding(
            attack=str(self),
            column=name,
            sentence=sentence,
            score=score,
            baselines={"share of the guessed values": expected},
            n_affected=len(records),
            figures={"highest rise": highest, "mean share of the guessed values": expected},
        )


def rises_of(beliefs: Any, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many times its share each belief is; entry by entry."""
    below = shares[beliefs.indices]
    rises: NDArray[np.float64] = np.divide(beliefs.data, below, where=below > 0, out=np.zeros(len(below)))
    return rises


def steepest(beliefs: Any, rises: NDArray[np.float64], times: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Records with a belief risen above so many times, and the value that rose most for each."""
    entries = np.flatnonzero(rises > times * (1 + _SLACK))
    owners = owners_of(beliefs)[entries]
    order = np.lexsort((rises[entries], owners))
    last = np.flatnonzero(np.append(owners[order][1:] != owners[order][:-1], True)) if len(order) else order
    chosen = order[last]
    return owners[chosen], beliefs.indices[entries[chosen]].astype(np.int64)
