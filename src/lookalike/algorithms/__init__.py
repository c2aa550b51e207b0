"""Methods that turn microdata into a release, each in the file of its name; what several share is in shared/.

Adding one: a file with a frozen dataclass that fits `contracts.Algorithm` (`Method` has the usual answers), its name in
the list below, a page in docs, a test.
The exam in `tests/exams` examines it from then on.
"""

from __future__ import annotations

from typing import Any

from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Algorithm
from lookalike.data.families import Family
from lookalike.data.parameters import describe, parse_component
from lookalike.errors import Unsupported

# Where none is named, the first that serves every promise is taken.
_NAMES = """groups mondrian mondrian-strict freeform heterogeneous ring burel sabre lmondrian dmondrian tmondrian
    perturbation anatomy two-size multi-size optimal-buckets greedy-grouping random-grouping symmetric-grouping"""
ALGORITHMS = Family[Algorithm](__name__, *_NAMES.split())


def parse_algorithm(text: str) -> Algorithm:
    """
    >>> parse_algorithm("mondrian:cuts=1")
    Mondrian(cuts=1, choose='gain')
    """
    if text.strip().partition(":")[0] == "privbayes":
        from lookalike.algorithms.privbayes import PrivBayes

        raise Unsupported(PrivBayes.instead)
    return parse_component(text, "algorithm", ALGORITHMS)


def describe_algorithms() -> list[dict[str, Any]]:
    """One plain row per algorithm: name, form, adversary, meaning and parameters."""
    return [
        {**row, "form": method.form, "adversary": method.facing(KNOWS_METHOD).adversary}
        for row in describe(ALGORITHMS)
        for method in [ALGORITHMS[row["name"]]()]
    ]
