"""Methods that turn microdata into a release, each in the file of its name; what several share is in shared/.

Synthesizers are beside them: they draw records under differential privacy, and `publish` refuses them.

Adding one: a file with a frozen dataclass that fits `contracts.Algorithm` (`Method` has the usual answers), its name in
the list below, a page in docs, a test.
The exam in `tests/exams` examines it from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.algorithms.shared.m_invariant import MInvariant
from lookalike.algorithms.shared.synthesis import DEFAULT, Synthesizer
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Algorithm
from lookalike.data.families import Family
from lookalike.data.parameters import Number, describe, escape_name, parse_component
from lookalike.errors import Unsupported

# Where none is named, the first that serves every promise is taken.
_NAMES = """groups mondrian mondrian-strict freeform heterogeneous ring burel sabre lmondrian dmondrian tmondrian
    perturbation anatomy two-size multi-size optimal-buckets greedy-grouping random-grouping symmetric-grouping"""
ALGORITHMS = Family[Algorithm](__name__, *_NAMES.split())
SYNTHESIZERS = Family[Synthesizer](__name__, "privbayes", "mst")


def parse_algorithm(text: str) -> Algorithm:
    """
    >>> parse_algorithm("mondrian:cuts=1")
    Mondrian(cuts=1, choose='gain')
    """
    name = text.strip().partition(":")[0]
    if name == FixedCells.name:
        # No method that anybody chooses: the text names how a release was made by `lookalike apply`.
        return parse_component(text, "algorithm", {name: FixedCells})
    if name in SYNTHESIZERS:
        raise Unsupported(SYNTHESIZERS[name].refusal())
    if name == MInvariant.name:
        # Needs the ledger of a series, so nobody names it for a release by itself; releases say it.
        return parse_component(text, "algorithm", {name: MInvariant})
    return parse_component(text, "algorithm", ALGORITHMS)


def parse_synthesizer(text: str | None = None, settings: Mapping[str, Number] | None = None) -> Synthesizer:
    """A synthesizer from its text and settings that stand elsewhere, such as in their own options.

    >>> str(parse_synthesizer("privbayes:theta=6", {"epsilon": "1.5"}))
    'privbayes:1.5,theta=6'
    """
    asked = (text or DEFAULT).strip()
    further = ",".join(f"{key}={escape_name(str(value))}" for key, value in (settings or {}).items())
    joined = f"{asked}{',' if ':' in asked else ':'}{further}" if further else asked
    return parse_component(joined, "synthesizer", SYNTHESIZERS)


def describe_algorithms() -> list[dict[str, Any]]:
    """One plain row per algorithm: name, form, adversary, meaning and parameters."""
    return [
        {**row, "form": method.form, "adversary": method.facing(KNOWS_METHOD).adversary}
        for row in describe(ALGORITHMS)
        for method in [ALGORITHMS[row["name"]]()]
    ]
