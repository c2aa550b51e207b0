"""A guest: a model, a method, an attack, two metrics and a format in a file outside the package.

They say no more than they must: what else the package wants to know of them has to have a default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from lookalike.extend import (
    ANY_RELEASE,
    GROUPS_IN_BOXES,
    Asked,
    Boxes,
    Domain,
    Exact,
    Exposure,
    Finding,
    Format,
    Grouping,
    Infeasible,
    Level,
    MeanOverRows,
    Microdata,
    PrivacyModel,
    Release,
    Requirement,
    Target,
    Whereabouts,
    Wording,
    WrittenAttack,
    WrittenMetric,
    WrittenModel,
    highest_beliefs,
    honest_guesses,
    majority,
    register_algorithm,
    register_attack,
    register_format,
    register_metric,
    register_model,
    score_guesses,
)


@register_model
@dataclass(frozen=True)
class AtMost(WrittenModel):
    """No sensitive value has more than a share in any group."""

    name: ClassVar[str] = "at-most"
    letter: ClassVar[str] = "share"

    share: Exact = Exact(above=0, high=1)
    """highest certainty in a value."""

    @property
    def scale(self) -> str:
        return "share"

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        return wording.sentence(f"can be at most {float(self.share):.0%} sure of any value of {wording.name(column)}")

    def check_eligible(self, prior: Any, column: Domain | None) -> None:
        top = Fraction(int(prior.max()), int(prior.sum()))
        if top > self.share:
            raise Infeasible(f"{self} is less than the largest share in the whole table.", f"{self.name}:{float(top)}")

    def requirement(self, prior: Any, column: Domain | None, index: int | None) -> Requirement:
        return Requirement(column=index, ceilings=(self.share,) * len(prior))

    def level(self, exposure: Exposure) -> Level:
        return Level(max(highest_beliefs(exposure).beliefs))

    def holds(self, level: Level) -> bool:
        return level.value <= self.share

    @classmethod
    def proposals(cls, prior: Any, column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        return [(cls(Fraction(int(prior.max()), int(prior.sum()))), "the least share")]


@register_algorithm
@dataclass(frozen=True)
class OneGroup(Grouping):
    """Publishes the whole table as one group. It keeps whatever can be kept, and says almost nothing."""

    name: ClassVar[str] = "one-group"
    in_parts: ClassVar[Boxes] = GROUPS_IN_BOXES

    def partition(self, data: Microdata, requirements: Sequence[Requirement], rng: Any, progress: Any) -> Any:
        return np.zeros(data.n_rows, dtype=np.int32), 1


@register_attack
@dataclass(frozen=True)
class Reader(WrittenAttack):
    """Guesses what is most frequent among the rows that a person can be behind."""

    name: ClassVar[str] = "reader"
    remedy: ClassVar[str] = "Hand over nothing."

    def run(self, target: Target, rng: Any, progress: Any) -> list[Finding]:
        self.check(target)
        original = target.original
        score = score_guesses(
            honest_guesses(Whereabouts.of(target).beliefs(0), original.counts(0)), original.sensitive[:, 0]
        )
        return [
            Finding(
                attack=str(self),
                column=original.domains.sensitive[0].name,
                sentence=f"Someone who reads the release is right about {score.share:.0%} of people.",
                score=score,
                baselines={"most frequent value": majority(original, 0)},
            )
        ]


@register_metric
@dataclass(frozen=True)
class LargestGroup(WrittenMetric):
    """The number of rows in the largest group."""

    name: ClassVar[str] = "largest_group"
    needs: ClassVar[str] = "release"
    title: ClassVar[str] = "Rows of the largest group"

    def measure(self, original: Microdata, release: Release) -> float:
        return float(np.bincount(release.group_of_row).max()) if release.form == "grouped" else float("nan")


@register_metric
@dataclass(frozen=True)
class EvenRows(MeanOverRows):
    """The share of rows whose first sensitive value has an even code."""

    name: ClassVar[str] = "even_rows"

    def measure(self, original: Microdata, release: Release) -> float:
        return float((release.sensitive[:, 0] % 2 == 0).mean()) if release.n_rows else 0.0


@register_format
class Lines(Format):
    """One JSON object per line."""

    name, endings, about = "JSON lines", (".jsonl",), "one object per line"

    def scan(self, path: Path, asked: Asked) -> tuple[pl.DataFrame, list[str]]:
        return pl.read_ndjson(path), []
