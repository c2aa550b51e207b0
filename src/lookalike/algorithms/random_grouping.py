"""random-grouping: as greedy-grouping, but a coin may make a group grow on although it need not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from lookalike.algorithms.shared.order_runs import READER, Growing
from lookalike.data.contracts import Undivided
from lookalike.data.parameters import Exact


@dataclass(frozen=True)
class RandomGrouping(Growing):
    """Greedy grouping, but a coin may make a group grow on although it need not.

    >>> str(RandomGrouping(p="0.65"))
    'random-grouping:p=0.65'
    """

    name: ClassVar[str] = "random-grouping"
    in_parts: ClassVar[Undivided] = Undivided(
        "it takes records in one order through the whole table; use groups with --adversary knows-method"
    )

    p: Exact = Exact(low=0, below=1, default=Fraction(1, 2))
    """The probability that a group which may stand grows on; 0 is greedy grouping."""

    @property
    def again(self) -> Fraction:
        return self.p

    def cautions(self) -> list[str]:
        return [
            "random-grouping blurs when a group was closed, but a group that is as full of a value as it may be still "
            f"tells anyone who knows the method that the value is rather among its first records. {READER} Use "
            f"groups or "
            "symmetric-grouping otherwise."
        ]
