"""Heterogeneous: promises about values in which every published row has its own extents.

After "Heterogeneous l-diversity and beta-likeness by bipartite matching": records are laid out in d columns ("buckets")
by sensitive values alone; for each column a table of slots starts with its records, and every slot takes one record of
each other column, matched by quasi-identifiers. So every slot covers d records, every record is in d slots, one for
each column, and one assignment of records to slots is drawn.

How it is drawn is where the published method fails: a random assignment of the graph mixes columns, so that a person
can see one value several times among their rows, often with certainty about it. Here the columns are exchanged as a
whole: the records of column y give their values to the slots of one column drawn for y. Then each person sees the
values of each column once, and anyone who knows the method finds all exchanges of columns equally likely
(docs/algorithms/heterogeneous.md). The columns come in zones, as in strict groups. The method as published is in
apps/papers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lookalike.algorithms.freeform import Freeform
from lookalike.algorithms.groups import warn_of_given_cell
from lookalike.algorithms.shared.method import Method, SlotGraph, left_out, publish_matched, start_threads
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Boxes, Slices, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, Whole
from lookalike.data.release import Matched, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.errors import RecipeError
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Heterogeneous(Method):
    """Every row has its own extents; l-diversity, beta-likeness and other promises about one column's values.

    >>> str(Heterogeneous(matcher="hungarian"))
    'heterogeneous:matcher=hungarian'
    """

    name: ClassVar[str] = "heterogeneous"
    kernels: ClassVar[Collection[str]] = ("matching.match_in_turn", "matching.match_slots")
    form: ClassVar[str] = Matched.form
    suits: ClassVar[Collection[str]] = ("alpha-k", "l-diversity")

    matcher: Choice = Choice("auto", "greedy", "sorted", "hungarian", default="auto")
    """greedy, sorted or hungarian on the whole table; auto: hungarian in cells and small parts."""
    buckets: Choice = Choice("zones", "equal", "descending", "ascending", "packed", "through-l", default="zones")
    """zones: as in strict groups; equal: all of one size, filled in any of the next three ways; through-l: by l."""
    remainder: Choice = Choice("blocks", "suppress", default="blocks")
    """blocks: some rows cover one record more; suppress: the few records too many are left out."""
    part: Whole = Whole(low=0, default=0)
    """Most slots of a column that are matched together; 0: as many as suits the matcher."""
    cell: Whole = Whole(low=0, default=0)
    """Least number of records in a cell with its own columns; 0: auto chooses it, others take the whole table."""

    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("randomization", "dummies", "tau"),
        "The method as published breaks its own promise and is never released; to study it, see "
        "lookalike.apps.papers.hg.published_heterogeneous.",
    )

    def __post_init__(self) -> None:
        if self.cell and self.buckets != "zones":
            raise RecipeError(f"{self.name}: buckets={self.buckets} takes the whole table, so cell has no effect.")

    @property
    def in_parts(self) -> Boxes | Undivided:
        if self.buckets != "zones" or self.remainder != "blocks":
            return Undivided(
                "buckets of one size, and records left out, are decided for the whole table; leave buckets and "
                "remainder as they are"
            )
        why = (
            "The rows that a record may be behind lie in its part. Columns are laid out and exchanged inside parts, "
            "and the ceilings follow from the whole table."
        )
        # Who is dealt to a slice along the curve depends on others of the same value, so cells are tried first. That
        # they fit is no secret: the values of each cell are published.
        return Boxes(why, blind=True, otherwise=Slices(why))

    @property
    def adversary(self) -> str:
        # Anyone who works out who was left out knows that they had one of the most frequent values.
        return KNOWS_METHOD if self.remainder == "blocks" else READS_RELEASE

    def cautions(self) -> list[str]:
        return warn_of_given_cell(self.cell)

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Matched, RecordMap]:
        from lookalike.algorithms.heterogeneous.slots import drop_remainder, slot_graph

        if all(requirement.column is None for requirement in requirements):
            # Nothing is promised about values: then there are no columns to keep apart.
            return Freeform(matcher=self.matcher, part=self.part).make_release(data, requirements, rng, progress)
        kept = np.arange(data.n_rows)
        if self.remainder == "suppress":
            kept = drop_remainder(data, requirements, self, rng.child("suppressed"))
        remarks: list[str] = []
        with start_threads() as pool:
            graph = slot_graph(data.take(kept), requirements, self, rng, pool, progress, remarks.append)
        kept_graph = SlotGraph(kept[graph.records], graph.slots, kept[graph.givers])
        withheld = left_out(data, ~np.isin(np.arange(data.n_rows), kept))
        release, record_map = publish_matched(data, kept_graph, rng, withheld)
        return release, replace(record_map, remarks=tuple(dict.fromkeys(remarks)))
