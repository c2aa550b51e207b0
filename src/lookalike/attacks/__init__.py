"""Attacks on releases: what known adversaries achieve, each in the file of its name.

Adding one: a file with a frozen dataclass that fits `contracts.Attack`, its name in the list below, a page in docs, a
test. The exam in tests/exams examines it from then on.
"""

from __future__ import annotations

from typing import Any

from lookalike.data.contracts import Attack
from lookalike.data.families import Family
from lookalike.data.parameters import describe, parse_component

_NAMES = """linkage homogeneity skewness similarity naive-bayes learner definetti minimality corruption repeated-values
    possible-worlds composition singling-out linkability inference"""
ATTACKS = Family[Attack](__name__, *_NAMES.split())


def parse_attack(text: str) -> Attack:
    return parse_component(text, "attack", ATTACKS)


def describe_attacks() -> list[dict[str, Any]]:
    """One plain row per attack: name, meaning and parameters."""
    return describe(ATTACKS)
