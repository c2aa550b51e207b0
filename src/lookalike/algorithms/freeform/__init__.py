"""Freeform: k-anonymity in which every published row has extents of its own.

Doka, Xue, Tsoumakos, Karras, "k-Anonymization by freeform generalization" (ASIACCS 2015): every row is a slot that
covers k records, every record is in k slots, and the sensitive values go from records to slots by one of k disjoint
assignments, drawn at random. So each row of a record is the true one with chance exactly 1/k, and the groups that
others need are only a special case. The paper's construction is not in its public part; the rounds here follow what
is said of it: in each round every slot takes one more record, by one of three matchers. For small tables the optimum is
found by an integer program.

The graph depends on quasi-identifiers alone, so it tells nothing to whoever knows the method. Large tables are cut into
parts by quasi-identifiers, each a graph of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.algorithms.shared.method import Method
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, Whole
from lookalike.data.release import Matched, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.errors import RecipeError
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Freeform(Method):
    """Every row has extents of its own; k-anonymity with each match equally likely.

    >>> str(Freeform(matcher="greedy"))
    'freeform:matcher=greedy'
    """

    name: ClassVar[str] = "freeform"
    suits: ClassVar[Collection[str]] = ("k-anonymity", "k-concealment")
    in_parts: ClassVar[Undivided] = Undivided(
        "its cycles through the whole table would be cut; groups keeps k-anonymity on Spark"
    )
    form: ClassVar[str] = Matched.form

    matcher: Choice = Choice("auto", "greedy", "sorted", "hungarian", "exact", default="auto")
    """greedy, sorted, hungarian; exact: the optimum of tables of up to 16 rows; auto: hungarian in small parts."""
    reciprocal: Choice = Choice("no", "yes", default="no")
    """yes: whenever a record may be behind another's row, the other may be behind its row."""
    part: Whole = Whole(low=0, default=0)
    """Most records that are matched together; 0: as many as suits the matcher."""

    def __post_init__(self) -> None:
        if self.reciprocal == "yes" and self.matcher not in ("auto", "exact"):
            raise RecipeError(
                f"{self.name}: reciprocal=yes pairs records up in a way of its own, so matcher={self.matcher} would "
                "not be heard. Leave matcher out, or use matcher=exact for a small table."
            )

    @property
    def adversary(self) -> str:
        return KNOWS_METHOD

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        """It looks at quasi-identifiers alone."""
        return None if requirement.column is None else "it serves k-anonymity only, not promises about values"

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Matched, RecordMap]:
        from lookalike.algorithms.freeform.optimum import least_graph
        from lookalike.algorithms.freeform.rounds import graphs_of_parts
        from lookalike.algorithms.shared.method import SlotGraph, draw_assignment, publish_matched, slots_of

        size = max([1, *(requirement.min_size for requirement in requirements)])
        givers = np.empty(data.n_rows, dtype=np.int64)
        mutual = self.reciprocal == "yes"
        if self.matcher == "exact":
            tables = [least_graph(data, size, mutual=mutual)]
        else:
            tables = graphs_of_parts(data, size, self.matcher, self.part, rng, progress, mutual=mutual)
        for number, table in enumerate(tables):
            # A slot is named after its own record, which stands first; parts come sorted by it.
            own = table[:, 0]
            assigned = draw_assignment(slots_of(table), rng.child("draw", number))
            givers[own[assigned]] = own
        records = np.concatenate([table.ravel() for table in tables])
        slots = np.concatenate([np.repeat(table[:, 0], table.shape[1]) for table in tables])
        return publish_matched(data, SlotGraph(records, slots, givers), rng)
