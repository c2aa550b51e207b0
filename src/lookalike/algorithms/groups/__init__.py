"""Groups: homogeneous groups of near records, searched for the least loss. Our own method, in two modes.

*free*, against anyone who reads the release: the table is cut into cells of some thousand records that keep the
promise as
a whole; inside a cell, groups of the sizes that the promise allows are seeded and then improved by swapping records
between neighbouring groups, at first also where that costs a little (simulated annealing), in the end only where it
pays. Quasi-identifiers and sensitive values decide together, so someone who also knows the method may learn more.

*strict*, against anyone who also knows the method: cells are cut by quasi-identifiers alone, records are laid out in
columns by sensitive values alone, and groups take one record of each column, chosen by quasi-identifiers alone.

In both every state on the way keeps the promise, nothing is suppressed and nothing is made up. Cells are independent of
each other and have random their own streams: they run in threads, with the same result for any number of threads.
Cost: about O(n) for cells of fixed size, memory O(n).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import (
    BY_SECONDS,
    GROUPS_IN_BOXES,
    Grouping,
    check_single_group,
    publish_groups,
    start_threads,
)
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import EVERY_MODEL, Boxes, Promise, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, ChoiceOrNumber, Whole
from lookalike.data.release import Grouped, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.progress import SEARCHING, Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Effort:
    """What a search may cost."""

    passes: int
    """free: times that all neighbourhoods are gone through, each time other ones."""
    tries: int
    """free: random swaps tried for each record in a pass."""
    rounds: int
    """strict: times that every column is matched anew."""
    matched_rows: int
    """strict: most groups that are matched at once."""
    seconds: float | None = None
    """Search until so much time has passed; the numbers of passes and rounds do not count then."""

    def scale_to(self, n_rows: int) -> Effort:
        """For a table of that size: small ones are searched for longer, large ones gain less by it."""
        longer = min(2.5, max(1.0, (_SMALL_TABLE / max(n_rows, 1)) ** 0.75))
        shorter = max(0.2, min(1.0, (_LARGE_TABLE / max(n_rows, 1)) ** 0.55))
        passes, rows = round(self.passes * longer * shorter), round(self.matched_rows * min(longer, 1.25))
        return replace(self, passes=passes, matched_rows=rows)


_SMALL_TABLE, _LARGE_TABLE = 30_000, 100_000
EFFORTS = {
    "fast": Effort(passes=10, tries=30, rounds=1, matched_rows=120),
    "balanced": Effort(passes=60, tries=50, rounds=4, matched_rows=700),
    "best": Effort(passes=300, tries=60, rounds=15, matched_rows=1500),
}


@dataclass(frozen=True)
class Run:
    """What a search works with: its randomness, its threads, whom it tells how far it is, and when to stop."""

    rng: Randomness
    map: Callable[..., Iterator[Any]]
    """As the built-in one, or that of a pool of threads."""
    report: Callable[[float, float], None]
    """Told the share done and the loss so far."""
    stopped: Callable[[], bool]
    """Whether to stop and give the best state so far."""
    remark: Callable[[str], None] = lambda sentence: None
    """Told what the person who publishes should know about this run."""


class Pace:
    """How far a search is: by its steps, or by the clock where it was given seconds."""

    def __init__(self, steps: int, seconds: float | None, stopped: Callable[[], bool]) -> None:
        self._steps, self._seconds, self._stopped = steps, seconds, stopped
        self._begin = time.monotonic()

    def share(self, done: int) -> float:
        """Between 0 and 1; 1 if it is time to stop."""
        if self._stopped():
            return 1.0
        if self._seconds is None:
            return min(1.0, done / max(self._steps, 1))
        return min(1.0, (time.monotonic() - self._begin) / self._seconds)


def warn_of_given_cell(cell: int) -> list[str]:
    """What to know where the size of cells that are cut without a look at values was given by hand."""
    if not cell:
        return []
    return [
        f"The size of cells was given (cell={cell}). If it was chosen because smaller cells were refused, anyone who "
        "knows that can infer something about records in them; a size settled beforehand tells nothing."
    ]


@dataclass(frozen=True)
class Groups(Grouping):
    """Groups of near records, searched for the least loss.

    >>> str(Groups(effort="best"))
    'groups:effort=best'
    """

    name: ClassVar[str] = "groups"
    suits: ClassVar[Collection[str]] = (EVERY_MODEL,)
    kernels: ClassVar[Collection[str]] = (
        "improving.anneal_pass",
        "improving.swap_pass",
        "improving.total_loss",
        "seeding.deal",
        "seeding.spread",
        "grouptest.is_group_allowed",
    )

    mode: Choice = Choice("auto", "free", "strict", default="auto")
    """free: against anyone who reads the release; strict: also against anyone who knows the method; auto: as asked
    for.
    """
    effort: ChoiceOrNumber = ChoiceOrNumber("fast", "balanced", "best", default="balanced")
    """How long to search: fast, balanced, best, or a number of seconds."""
    cell: Whole = Whole(low=0, default=0)
    """Least number of records in a cell that is searched by itself; 0: chosen to suit the table."""

    @property
    def in_parts(self) -> Boxes | Undivided:
        if self.effort in EFFORTS:
            return GROUPS_IN_BOXES
        return Undivided(f"{BY_SECONDS}; use effort=fast, balanced or best")

    def hurry(self) -> Self:
        return replace(self, effort="fast")

    @property
    def adversary(self) -> str:
        return KNOWS_METHOD if self.mode == "strict" else READS_RELEASE

    def facing(self, adversary: str) -> Self:
        if self.mode != "auto":
            return self
        return replace(self, mode="strict" if adversary == KNOWS_METHOD else "free")

    def refuses_persons(self, promises: Sequence[Promise], adversary: str) -> str | None:
        about_values = any(not promise.model.about_identity for promise in promises)
        if about_values and self.facing(adversary).mode == "strict":
            return (
                "against an attacker who knows the method it keeps promises about values for one row per person only "
                "(--rows one)"
            )
        return None

    def refuses_linked_rows(self, requirements: Sequence[Requirement]) -> str | None:
        if any(requirement.distinct > 1 for requirement in requirements):
            return "of linked rows it keeps limits on each value by itself, and not numbers of different values"
        return None

    def cautions(self) -> list[str]:
        return warn_of_given_cell(self.cell) if self.mode == "strict" else []

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, RecordMap]:
        if data.visits is not None:
            return self._link_rows(data, requirements, rng, progress)
        remarks: list[str] = []
        group_of_record, n_groups = self.partition(data, requirements, rng, progress, remarks.append)
        check_single_group(data, requirements, n_groups)
        release, record_map = publish_groups(data, group_of_record, n_groups, rng)
        return release, replace(record_map, remarks=tuple(dict.fromkeys(remarks)))

    def _link_rows(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, RecordMap]:
        """A release of whole persons, whose rows carry a person number."""
        from lookalike.algorithms.groups.linked import group_persons, publish_linked

        stop = threading.Event()

        def report(share: float, loss: float) -> None:
            if progress(SEARCHING, share, f"loss {loss:.4f}"):
                stop.set()

        with start_threads(stop.set) as pool:
            run = Run(rng, pool.map, report, stop.is_set)
            units = group_persons(data, requirements, self.cell, self._effort, run)
        return publish_linked(data, units, rng)

    @property
    def _effort(self) -> Effort:
        return EFFORTS.get(self.effort) or replace(EFFORTS["balanced"], seconds=float(self.effort))

    def partition(
        self,
        data: Microdata,
        requirements: Sequence[Requirement],
        rng: Randomness,
        progress: Progress,
        remark: Callable[[str], None] = lambda sentence: None,
    ) -> tuple[NDArray[np.int32], int]:
        """The group of each record, and the number of groups. The same whatever the number of threads."""
        from lookalike.algorithms.groups.free import free_groups
        from lookalike.algorithms.groups.persons import person_groups
        from lookalike.algorithms.groups.strict import strict_groups

        stop = threading.Event()

        def report(share: float, loss: float) -> None:
            if progress(SEARCHING, share, f"loss {loss:.4f}"):
                stop.set()

        # What does not look at values is as safe from those who know the method.
        strict = self.mode == "strict" and any(requirement.column is not None for requirement in requirements)
        search = strict_groups if strict else free_groups
        if data.persons is not None:
            search = person_groups
        with start_threads(stop.set) as pool:
            run = Run(rng, pool.map, report, stop.is_set, remark)
            found = search(data, requirements, self.cell, self._effort.scale_to(data.n_rows), run)
        group_of_record = np.empty(data.n_rows, dtype=np.int32)
        sizes = [len(members) for members in found]
        group_of_record[np.concatenate(found)] = np.repeat(np.arange(len(found), dtype=np.int32), sizes)
        return group_of_record, len(found)
