"""Attacks on releases: what known adversaries achieve. One file an attack; the table below registers them.

Adding one: a file with a frozen dataclass that fits `contracts.Attack`, a line in the table, a heading in
docs/attacks.md, a test. The exam in tests/exams examines it from then on.
"""

from __future__ import annotations

from typing import Any

from lookalike.attacks.composition import Composition
from lookalike.attacks.corruption import Corruption
from lookalike.attacks.definetti import DeFinettiAttack
from lookalike.attacks.homogeneity import Homogeneity
from lookalike.attacks.learner import LearnerAttack
from lookalike.attacks.linkage import Linkage
from lookalike.attacks.minimality import Minimality
from lookalike.attacks.naive_bayes import NaiveBayesAttack
from lookalike.attacks.possible_worlds import PossibleWorlds
from lookalike.attacks.repeated_values import RepeatedValues
from lookalike.attacks.similarity import Similarity
from lookalike.attacks.skewness import Skewness
from lookalike.data.contracts import Attack
from lookalike.data.parameters import describe, parse_component

ATTACKS: dict[str, type[Attack]] = {
    Linkage.name: Linkage,
    Homogeneity.name: Homogeneity,
    Skewness.name: Skewness,
    Similarity.name: Similarity,
    NaiveBayesAttack.name: NaiveBayesAttack,
    LearnerAttack.name: LearnerAttack,
    DeFinettiAttack.name: DeFinettiAttack,
    Minimality.name: Minimality,
    Corruption.name: Corruption,
    RepeatedValues.name: RepeatedValues,
    PossibleWorlds.name: PossibleWorlds,
    Composition.name: Composition,
}

__all__ = ["ATTACKS", "describe_attacks", "parse_attack"]


def parse_attack(text: str) -> Attack:
    return parse_component(text, "attack", ATTACKS)


def describe_attacks() -> list[dict[str, Any]]:
    """One plain row an attack: name, meaning and parameters."""
    return describe(ATTACKS)
