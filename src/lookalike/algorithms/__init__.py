"""Methods that turn microdata into a release. One file a method; the table below is all there is to registration.

Adding one: a file with a frozen dataclass that fits `contracts.Algorithm`, a line in the table, a page in docs, a test.
The exam in `tests/exams` examines it from then on.
"""

from __future__ import annotations

from lookalike.algorithms.mondrian import Mondrian, StrictMondrian
from lookalike.contracts import Algorithm
from lookalike.notation import build

ALGORITHMS: dict[str, type[Algorithm]] = {
    Mondrian.name: Mondrian,
    StrictMondrian.name: StrictMondrian,
}

DEFAULT = Mondrian.name

__all__ = ["ALGORITHMS", "DEFAULT", "Mondrian", "StrictMondrian", "parse_algorithm"]


def parse_algorithm(text: str) -> Algorithm:
    """
    >>> parse_algorithm("mondrian:cuts=1")
    Mondrian(cuts=1, choose='gain')
    """
    return build("algorithm", ALGORITHMS, text)
