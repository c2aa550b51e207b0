"""Composition: several releases about the same records, read together.

A release that is safe by itself may not be beside another one: a value must be possible in every one of them. If
releases were drawn independently given the table, Bayes multiplies: the certainty in v is proportional to the product
of
the probabilities b_k(v) that K releases leave, divided by share(v)^(K - 1), and zero where any release rules v out.

Where persons have several rows this is about the row that the attacker knows: its value is one of the person's, and a
person counts if some row tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.attack import (
    WrittenAttack,
    build_exposure,
    find_ceilings,
    majority,
    needs_sensitive,
    row_max,
    rows_above,
    score_known,
)
from lookalike.attacks.shared.consequence import NO_GAIN, PERMITTED, Consequence, Result
from lookalike.attacks.shared.judging import PERSONS_COUNTED
from lookalike.attacks.shared.persons import count_owners, refuse_linked
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts, honest_guesses, normalise
from lookalike.data.contracts import Finding, Target
from lookalike.data.microdata import Domains
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_ONE_ONLY = "there is one release only. Give at least one more about the same records."


@dataclass(frozen=True)
class Composition(WrittenAttack):
    """Reads several releases about the same records together."""

    name: ClassVar[str] = "composition"
    remedy: ClassVar[str] = "Publish later releases of the same people with --after, or as a series."

    def lacks(self, target: Target) -> str | None:
        return None if target.others else _ONE_ONLY

    def explain(self, result: Result) -> Consequence:
        if not result.finding.n_affected:
            return Consequence(
                NO_GAIN, f"Reading the releases together makes nobody's {result.column} known or too certain."
            )
        limits = (
            f"{result.limits} is about one release alone" if result.promises else f"No promise is about {result.column}"
        )
        what = f"more certain than {result.limits} allows" if result.promises else "certain only by both together"
        return Consequence(
            PERMITTED,
            f"{limits}. Read together, these releases make the {result.column} of {result.share_of_people()} {what}: "
            f"do not hand out both. {self.remedy}",
        )

    def refuses(self, target: Target) -> str | None:
        if not target.others:
            return _ONE_ONLY
        if any(_shape_of(other.domains) != _shape_of(target.original.domains) for other in target.others):
            return "the releases do not have the same columns and values. Give releases of the same table."
        return super().refuses(target) or needs_sensitive(target)

    def refuses_persons(self, target: Target) -> str | None:
        return refuse_linked(target)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        readers = [
            Whereabouts(replace(target, release=release, others=(), graph=None))
            for release in (target.release, *target.others)
        ]
        return [self._on(target, readers, column) for column in range(len(target.original.domains.sensitive))]

    def _on(self, target: Target, readers: list[Whereabouts], column: int) -> Finding:
        original = target.original
        prior = original.counts(column)
        single = [reader.beliefs(column) for reader in readers]
        beliefs, n_torn = combine_beliefs(single, prior)
        score = score_known(original, column, honest_guesses(beliefs, prior))
        alone = [score_known(original, column, honest_guesses(found, prior)).share for found in single]
        n_left = count_owners(original, row_max(beliefs) >= 1 - SLACK)
        n_left_alone = count_owners(original, np.max([row_max(found) for found in single], axis=0) >= 1 - SLACK)
        ceilings = find_ceilings(target, column)
        n_above = None if ceilings is None else count_owners(original, rows_above(beliefs, ceilings))
        name, noun, by_persons = original.domains.sensitive[column].name, "person", original.persons is not None
        whose = "for"
        if by_persons:
            noun = original.schema.unit_name
            whose = "for some row of"
        sentence = (
            f'{len(readers)} releases together leave one value of "{name}" {whose} {n_left:,} of '
            f"{original.n_persons:,} {noun}s, where one of them alone does for {n_left_alone:,}. Guessing the "
            f"likeliest value is right in {score.share:.1%}, and in {max(alone):.1%} from the best single release."
        )
        if by_persons:
            sentence += PERSONS_COUNTED.format(noun=noun)
        if n_torn:
            sentence += (
                f" The releases contradict each other about {counted(n_torn, 'person')}: "
                "they may not be about the same records."
            )
        return Finding(
            attack=str(self),
            column=name,
            sentence=sentence,
            score=score,
            baselines={"most frequent value": majority(original, column), "values of the group": max(alone)},
            n_affected=n_left - n_left_alone if n_above is None else n_above,
            exposure=None if by_persons else build_exposure(target, column, beliefs, f"reads {len(readers)} releases"),
            figures={
                f"{noun if by_persons else 'record'}s left with one value": float(n_left),
                f"{noun if by_persons else 'record'}s left with one value by one release": float(n_left_alone),
                "highest certainty": float(row_max(beliefs).max(initial=0.0)),
                "contradicted records": float(n_torn),
            },
        )


def combine_beliefs(single: list[Any], prior: NDArray[np.int64]) -> tuple[Any, int]:
    """Beliefs from all releases together, and about how many records they contradict each other.

    A record that a release says nothing about is read from the others; of a contradiction the first release remains.
    """
    shares = prior / max(int(prior.sum()), 1)
    inverse = np.divide(1.0, shares, where=shares > 0, out=np.zeros(len(shares)))
    together = single[0]
    silent = np.diff(together.indptr) == 0
    for found in single[1:]:
        quiet = np.diff(found.indptr) == 0
        product = sparse.csr_array((together * found) @ sparse.diags_array(inverse))
        # Scaled at once: many small factors would vanish.
        together = normalise(_choose_rows([product, found, together], np.where(silent, 1, np.where(quiet, 2, 0))))
        silent &= quiet
    torn = (np.diff(together.indptr) == 0) & ~silent
    return _choose_rows([together, single[0]], torn.astype(np.int64)), int(torn.sum())


def _choose_rows(matrices: list[Any], which: NDArray[np.int64]) -> Any:
    """Row i of the matrix which[i]."""
    return sparse.csr_array(
        sum(sparse.diags_array((which == index).astype(np.float64)) @ part for index, part in enumerate(matrices))
    )


def _shape_of(domains: Domains) -> list[tuple[str, int]]:
    return [(domain.name, domain.n_codes) for domain in (*domains.quasi, *domains.sensitive)]
