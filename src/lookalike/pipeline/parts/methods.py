"""Which methods can publish a table part by part, and why the promise then holds for the whole table.

Every promise is about units of a release: groups, buckets, the rows behind a record, a redrawn value. A method
distributes if each of its units lies inside one part, and if what it decides from the whole table can be decided from
counts. Then every unit of the whole release is a unit of some part, and each was made and audited against the
distribution of the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.algorithms import (
    Anatomy,
    Burel,
    DMondrian,
    Freeform,
    GreedyGrouping,
    Groups,
    Heterogeneous,
    LMondrian,
    Mondrian,
    MultiSize,
    OptimalBuckets,
    Perturbation,
    RandomGrouping,
    Ring,
    Sabre,
    StrictMondrian,
    SymmetricGrouping,
    TMondrian,
    TwoSize,
)
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Algorithm
from lookalike.errors import Unsupported

CELLS, SLICES = "cells", "slices"


@dataclass(frozen=True)
class Way:
    """How a table is cut for a method, and why that keeps the promise."""

    cut: str
    """cells: boxes of quasi-identifiers; slices: parts with the distribution of the table."""
    why: str
    blind: bool = False
    """Whether cuts may look at no sensitive value, since the release is made for who knows the method."""
    at_random: bool = False
    """Of slices: dealt out at random rather than along a curve."""
    whole_values: bool = True
    """Whether each part must be able to keep the promises by itself."""
    otherwise: Way | None = None
    """What to do where blind cuts leave parts that cannot keep the promises by themselves."""


_GROUPS = (
    "A group lies in one cell, cells do not overlap, and every group is tested against the distribution of the whole "
    "table. A record fits rows of its own cell alone, so the groups of all cells are the groups of the release."
)
_BUCKETS = (
    "A bucket lies in one slice and keeps the ceilings that follow from the whole table. Every slice has the values in "
    "the proportion of the table, so bucket sizes are those that suit the whole."
)
_ROWS = (
    "The rows that a record may be behind lie in its part. Columns are laid out and exchanged inside parts, and the "
    "ceilings follow from the whole table."
)
_REDRAWN = (
    "The matrix follows from the counts of the whole table and is the same in all parts. Every value is redrawn by "
    "itself, so it does not matter with which others."
)

_IN_CELLS = (Groups, Mondrian, StrictMondrian, Burel, LMondrian, DMondrian, TMondrian)
_IN_BUCKETS = (Anatomy, TwoSize, MultiSize, OptimalBuckets)

DISTRIBUTED: tuple[type[Algorithm], ...] = (*_IN_CELLS, *_IN_BUCKETS, Heterogeneous, Perturbation)

REFUSED: dict[type[Algorithm], str] = {
    Freeform: "its cycles through the whole table would be cut; groups keeps k-anonymity on Spark",
    Ring: "it lays the whole table on one ring; use heterogeneous or groups",
    Sabre: "what it draws from its buckets is bounded by the shares of the table, which parts do not have exactly; "
    "groups keeps t-closeness on Spark",
    GreedyGrouping: "it takes records in one order through the whole table; use groups",
    RandomGrouping: "it takes records in one order through the whole table; use groups with --adversary knows-method",
    SymmetricGrouping: "it halves one order of the whole table; use groups with --adversary knows-method",
}


def way_of(algorithm: Algorithm, adversary: str) -> Way:
    """How the table is cut for this method against this adversary; raises `Unsupported` with the reason."""
    reason = refusal(algorithm)
    if reason is not None:
        raise Unsupported(f"{algorithm.name} cannot publish a table in parts: {reason}.")
    knows_method = adversary == KNOWS_METHOD
    if isinstance(algorithm, Perturbation):
        return Way(CELLS, _REDRAWN, blind=True, whole_values=False)
    if isinstance(algorithm, _IN_BUCKETS):
        return Way(SLICES, _BUCKETS, blind=True, at_random=algorithm.assign == "random")
    if isinstance(algorithm, Heterogeneous):
        # Who is dealt to a slice along the curve depends on others of the same value, so cells are tried first. That
        # they fit is no secret: the values of each cell are published.
        return Way(CELLS, _ROWS, blind=True, otherwise=None if knows_method else Way(SLICES, _ROWS))
    # A mode that was chosen for such an adversary is worth nothing if the cuts look at values.
    return Way(CELLS, _GROUPS, blind=KNOWS_METHOD in (adversary, algorithm.adversary))


def refusal(algorithm: Algorithm) -> str | None:
    """Why a method with these settings cannot publish a table in parts, or None."""
    for kind, reason in REFUSED.items():
        if type(algorithm) is kind:
            return reason
    if not isinstance(algorithm, DISTRIBUTED):
        return "it does not say how"
    by_seconds = "a search by seconds ends differently each time, and a part that is done again must come out the same"
    if isinstance(algorithm, Groups) and algorithm.effort.replace(".", "").isdigit():
        return f"{by_seconds}; use effort=fast, balanced or best"
    if isinstance(algorithm, OptimalBuckets) and algorithm.seconds is not None:
        return f"{by_seconds}; use nodes"
    if isinstance(algorithm, Heterogeneous) and (algorithm.buckets != "zones" or algorithm.remainder != "blocks"):
        return (
            "buckets of one size, and records left out, are decided for the whole table; leave buckets and "
            "remainder as they are"
        )
    return None
