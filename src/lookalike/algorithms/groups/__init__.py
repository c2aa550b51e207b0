"""Groups: homogeneous groups found by seeding and by swaps that cool down, for the least loss.

Our own method. The table is cut into cells of some thousand records that keep the promise as a whole; inside a cell,
groups of the sizes that the promise allows are seeded and then improved by swapping records between neighbouring
groups, at first also where that costs a little (simulated annealing), in the end only where it pays. Every state on the
way keeps the promise, nothing is suppressed and nothing is made up. Promises that are ceilings are seeded by dealing
records out value by value; k-anonymity by an even spread; all others start from Mondrian's groups.

The groups depend on quasi-identifiers and sensitive values together, so the promise is kept against an adversary who
reads the release, not against one who also knows the method. Cost: about O(n) for cells of fixed size, memory O(n).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.adversary import READS_RELEASE
from lookalike.algorithms.mondrian import Mondrian
from lookalike.contracts import Progress, Promise, silent
from lookalike.microdata import Microdata
from lookalike.notation import part_text
from lookalike.parameters import Choice, Whole
from lookalike.randomness import Randomness
from lookalike.release import Grouped, Linkage
from lookalike.requirement import Requirement

_LEAST_CELL, _MOST_IN_CELL, _MOST_GROUPS = 3500, 16_000, 1000


@dataclass(frozen=True)
class Groups:
    """Groups improved by swaps of records: the least loss.

    >>> str(Groups(effort="best"))
    'groups:effort=best'
    """

    name: ClassVar[str] = "groups"
    form: ClassVar[str] = Grouped.form
    adversary: ClassVar[str] = READS_RELEASE

    effort: Choice = Choice("fast", "balanced", "best", default="balanced")
    """How long to search: fast, balanced or best."""
    cell: Whole = Whole(low=0, default=0)
    """Least number of records in a cell that is searched by itself; 0: chosen to suit the table."""

    def __str__(self) -> str:
        return part_text(self)

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        """Every requirement can be tested on a group."""
        return None

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, Linkage]:
        from lookalike.algorithms.grouped import grouped_release

        group_of_record, n_groups = self.partition(data, requirements, rng, progress)
        return grouped_release(data, group_of_record, n_groups, rng)

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        """The group of each record, and the number of groups. The same whatever the number of threads."""
        cells = self._cells(data, requirements, rng)
        shares, losses = [0.0] * len(cells), [0.0] * len(cells)
        table_cells = [len(rows) * data.quasi.shape[1] for rows in cells]
        stop = threading.Event()

        def report(number: int, share: float, loss: float) -> None:
            shares[number], losses[number] = share, loss
            under_way = sum(size for size, done in zip(table_cells, shares, strict=True) if done)
            progress("searching", sum(shares) / len(shares), f"loss {sum(losses) / under_way:.4f}")

        def search(number: int) -> NDArray[np.int64]:
            cell_rng = rng.child("cell", number)
            return self._search(data, requirements, cells[number], cell_rng, partial(report, number), stop.is_set)

        with ThreadPoolExecutor(max_workers=min(len(cells), os.cpu_count() or 1)) as pool:
            futures = [pool.submit(search, number) for number in range(len(cells))]
            try:
                found = [future.result() for future in futures]
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        group_of_record = np.empty(data.n_rows, dtype=np.int32)
        n_groups = 0
        for rows, groups in zip(cells, found, strict=True):
            group_of_record[rows] = n_groups + groups
            n_groups += int(groups.max()) + 1
        return group_of_record, n_groups

    def _cells(self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> list[NDArray[np.int64]]:
        """Parts of the table that keep the promise as a whole, by Mondrian's cuts."""
        size = self.cell or cell_size(data.n_rows, requirements)
        if data.n_rows < 2 * size:
            return [np.arange(data.n_rows)]
        coarse = [*requirements, Requirement(min_size=size)]
        cell_of_record, n_cells = Mondrian().partition(data, coarse, rng.child("cells"), silent)
        order = np.argsort(cell_of_record, kind="stable")
        return np.split(order, np.cumsum(np.bincount(cell_of_record, minlength=n_cells))[:-1])

    def _search(
        self,
        data: Microdata,
        requirements: Sequence[Requirement],
        rows: NDArray[np.int64],
        rng: Randomness,
        report: Callable[[float, float], None],
        stopped: Callable[[], bool],
    ) -> NDArray[np.int64]:
        """The groups of one cell."""
        from lookalike.algorithms.axes import axes_of, rule_of
        from lookalike.algorithms.groups.search import EFFORTS, Cell

        rule = rule_of(data, requirements)

        def by_mondrian() -> NDArray[np.int64]:
            part = replace(data, quasi=data.quasi[rows], sensitive=data.sensitive[rows], carried=data.carried[rows])
            groups, _ = Mondrian().partition(part, requirements, rng.child("mondrian"), silent, rule)
            return groups.astype(np.int64)

        def searched(name: str, dealt: bool) -> tuple[Cell, bool]:
            cell = Cell(data, axes_of(data), rule, requirements, rows, rng.child(name))
            undecided = cell.seed(by_mondrian, dealt=dealt)
            cell.improve(EFFORTS[self.effort], report, stopped)
            return cell, undecided

        best, undecided = searched("dealt", True)
        if undecided:
            best = min(best, searched("cut", False)[0], key=Cell.loss)
        return best.group_of_record()


def cell_size(n_rows: int, requirements: Sequence[Requirement]) -> int:
    """Large enough for good neighbours, small enough to deal records out to all groups of a cell."""
    shares = [max(requirement.ceilings) for requirement in requirements if requirement.ceilings]
    least_group = max([2, *(requirement.min_size for requirement in requirements), *(int(1 / s) for s in shares if s)])
    return min(max(n_rows // 6, _LEAST_CELL), _MOST_IN_CELL, max(_MOST_GROUPS * least_group, _LEAST_CELL))
