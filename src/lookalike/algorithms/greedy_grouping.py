"""greedy-grouping: grow a group along an order of the records until it may stand, then start the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.algorithms.shared.order_runs import READER, Growing
from lookalike.data.contracts import Undivided


@dataclass(frozen=True)
class GreedyGrouping(Growing):
    """Groups that grow along an order and close as soon as they may; to be attacked.

    >>> str(GreedyGrouping(recode="permute"))
    'greedy-grouping:recode=permute'
    """

    name: ClassVar[str] = "greedy-grouping"
    in_parts: ClassVar[Undivided] = Undivided("it takes records in one order through the whole table; use groups")

    def cautions(self) -> list[str]:
        return [
            "greedy-grouping closes a group at the first moment at which it may. Anyone who knows that and everybody's "
            "quasi-identifiers knows that no shorter run would have done, and may believe a value up to 2.7 times as "
            f"much as promised, of small groups even for certain. {READER} Use groups or symmetric-grouping otherwise."
        ]
