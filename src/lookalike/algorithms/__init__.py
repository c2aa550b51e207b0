"""Methods that turn microdata into a release. One file per method, named after it; what several share is in shared/.

Adding one: a file with a frozen dataclass that fits `contracts.Algorithm` (`Method` has the usual answers), a line in
the table below, a page in docs, a test.
The exam in `tests/exams` examines it from then on.
"""

from __future__ import annotations

from typing import Any

from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.burel import Burel
from lookalike.algorithms.dmondrian import DMondrian
from lookalike.algorithms.freeform import Freeform
from lookalike.algorithms.greedy_grouping import GreedyGrouping
from lookalike.algorithms.groups import Groups
from lookalike.algorithms.heterogeneous import Heterogeneous
from lookalike.algorithms.lmondrian import LMondrian
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.mondrian_strict import StrictMondrian
from lookalike.algorithms.multi_size import MultiSize
from lookalike.algorithms.optimal_buckets import OptimalBuckets
from lookalike.algorithms.perturbation import Perturbation
from lookalike.algorithms.privbayes import PrivBayes
from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.algorithms.ring import Ring
from lookalike.algorithms.sabre import Sabre
from lookalike.algorithms.symmetric_grouping import SymmetricGrouping
from lookalike.algorithms.tmondrian import TMondrian
from lookalike.algorithms.two_size import TwoSize
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Algorithm
from lookalike.data.parameters import describe, parse_component
from lookalike.errors import Unsupported

# Where none is named, the first that serves every promise is taken.
ALGORITHMS: dict[str, type[Algorithm]] = {
    Groups.name: Groups,
    Mondrian.name: Mondrian,
    StrictMondrian.name: StrictMondrian,
    Freeform.name: Freeform,
    Heterogeneous.name: Heterogeneous,
    Ring.name: Ring,
    Burel.name: Burel,
    Sabre.name: Sabre,
    LMondrian.name: LMondrian,
    DMondrian.name: DMondrian,
    TMondrian.name: TMondrian,
    Perturbation.name: Perturbation,
    Anatomy.name: Anatomy,
    TwoSize.name: TwoSize,
    MultiSize.name: MultiSize,
    OptimalBuckets.name: OptimalBuckets,
    GreedyGrouping.name: GreedyGrouping,
    RandomGrouping.name: RandomGrouping,
    SymmetricGrouping.name: SymmetricGrouping,
}

__all__ = [
    "ALGORITHMS",
    "Anatomy",
    "Burel",
    "DMondrian",
    "Freeform",
    "GreedyGrouping",
    "Groups",
    "Heterogeneous",
    "LMondrian",
    "Mondrian",
    "MultiSize",
    "OptimalBuckets",
    "Perturbation",
    "RandomGrouping",
    "Ring",
    "Sabre",
    "StrictMondrian",
    "SymmetricGrouping",
    "TMondrian",
    "TwoSize",
    "describe_algorithms",
    "parse_algorithm",
]


def parse_algorithm(text: str) -> Algorithm:
    """
    >>> parse_algorithm("mondrian:cuts=1")
    Mondrian(cuts=1, choose='gain')
    """
    if text.strip().partition(":")[0] == PrivBayes.name:
        raise Unsupported(PrivBayes.instead)
    return parse_component(text, "algorithm", ALGORITHMS)


def describe_algorithms() -> list[dict[str, Any]]:
    """One plain row an algorithm: name, form, adversary, meaning and parameters."""
    return [
        {**row, "form": method.form, "adversary": method.facing(KNOWS_METHOD).adversary}
        for row in describe(ALGORITHMS)
        for method in [ALGORITHMS[row["name"]]()]
    ]
