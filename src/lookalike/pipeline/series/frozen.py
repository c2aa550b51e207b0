"""Frozen cells: which rows of a batch may be published, and which rows may leave, in cells that never change.

Release t shows each row with its cell. Anyone who has release t - 1 as well takes one from the other, so what is new
in a
cell is a group by itself. The rule:

    new rows      of a cell are published only if they keep every promise as their own group; else all of them wait
    gone rows     of an earlier group leave only if they, and those that stay behind, keep every promise as groups of
                  their own; else all of them are published again and leave later
    waiting       nothing of a waiting row is published, not even that it waits

So rows are published in *blocks*: rows that appeared in the same cell in the same release and were last published in
the same one. Cells do not depend on values and a block is shuffled inside, so where a reader can work out the values
of every block, what all releases together say about a row is what its block says, and every promise that is a test of
one group holds for the series. Which rows are published in which cell is decided apart from all other cells.

**Coming and going at once.** Where some rows of a block leave a cell and others enter it in one release, the reader
sees the sums alone, and the tables that fit them are not equally diverse: flu flu cold HIV of which two leave while
two enter, and then flu cold flu asthma, says 2/3 flu about those who stay, though flu and cold stayed. So under a
promise on values new rows wait while a part of a block leaves their cell. Blocks that leave as a whole are known. Two
blocks of a cell that both leave in part are left to the audit, which takes the most that each value can be.

**Persons with several rows.** A row of a person who was published before is no new person. Someone who knows one row
of the person, and in which releases it is, and is given which rows of a cell belong together, believes of the block's
persons what all rows of the cell that were ever published say about them. So where persons come back to a cell, each
block there must keep every promise with all rows that its persons ever had in the cell, and so must all rows that the
cell shows now. Not covered, as in a single release: someone who knows several rows of the person that lie in different
cells or blocks.

**What waiting tells.** Under a promise on values whether rows wait depends on their values, and someone who knows the
rule learns from it: two rows that wait under l-diversity:2 are alike. Against `knows-method` only promises about sizes
are served. Against `reads-release` the reader takes the releases for what they show and does not know that rows wait.

Rows that have left never come back, since their second block would be read together with their first one.
A person with a gone row and a new row in one batch looks like a correction, which needs m-invariance: refused.

The functions here are pure: they get numbers for cells, blocks and persons, and a test of groups. Cost O(n log n) and
one test per changed block, more only in cells that persons come back to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.fixed_cells import GroupTest, group_test
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.errors import RecipeError, Unsupported, counted

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NEVER = -1
"""The block of a row that was never published."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenRows:
    """All rows that a series knows of: of the table now, and of earlier tables if they were published."""

    cell: Ints
    """Which cell of the scheme; any numbers that differ for different cells."""
    block: Ints
    """The block in which the row was published; NEVER: it was not."""
    present: Flags
    """Whether the row is in the table now."""
    left: Flags
    """Whether the row was published once and left."""
    person: Ints | None = None
    """Whose row it is; None: no person has two rows."""

    def __post_init__(self) -> None:
        if (self.left & (self.block == NEVER)).any() or (~self.present & (self.block == NEVER)).any():
            raise ValueError("A row that is not in the table now, or has left, was published once.")

    def take(self, rows: Ints | Flags) -> FrozenRows:
        person = None if self.person is None else self.person[rows]
        return FrozenRows(
            cell=self.cell[rows],
            block=self.block[rows],
            present=self.present[rows],
            left=self.left[rows],
            person=person,
        )


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """What becomes of each row in the next release."""

    published: Flags
    """Rows of the next release."""
    enters: Flags
    """Those of them that are new."""
    lingers: Flags
    """Those of them that are not in the table any more, and leave later."""
    leaves: Flags
    """Rows of the last release that the next one does not have."""
    waits: Flags
    """Rows of the table that are not published: the private queue."""
    block: Ints
    """The block of each row from now on."""

    def __str__(self) -> str:
        """For the owner of the table alone: what waits is never published."""
        said = [f"{int(self.enters.sum()):,} of {counted(int((self.enters | self.waits).sum()), 'new row')} published"]
        said += [f"{counted(int(self.waits.sum()), 'row')} waiting"] if self.waits.any() else []
        said += [f"{counted(int(self.leaves.sum()), 'row')} left"] if self.leaves.any() else []
        said += [f"{counted(int(self.lingers.sum()), 'gone row')} still published"] if self.lingers.any() else []
        return ", ".join(said)


def plan_batch(rows: FrozenRows, keeps: GroupTest, *, about_values: bool = False) -> BatchPlan:
    """Decide which rows the next release of a series in frozen cells has.

    `keeps` says of row numbers whether these rows, as a group by themselves, keep every promise; `about_values`:
    whether some promise is about values and not about sizes alone.
    """
    corrected = count_corrections(rows)
    if corrected:
        raise RecipeError(
            f"{counted(corrected, 'person')} lost a published row and got a new one in the same batch, which looks "
            "like a correction. Frozen cells cannot publish corrections: the releases together would show the old and "
            "the new value of one person. Use --mode m-invariance, or keep the old rows in the table and leave the new "
            "ones out."
        )
    enters, leaves = np.zeros(len(rows.cell), dtype=bool), np.zeros(len(rows.cell), dtype=bool)
    is_new = (rows.block == NEVER) & ~_is_held(rows)
    is_gone = (rows.block != NEVER) & ~rows.left & ~rows.present
    order = np.argsort(rows.cell, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(rows.cell[order])) + 1):
        if is_new[members].any() or is_gone[members].any():
            cell = _Cell(rows, members, keeps, about_values)
            enters[members], leaves[members] = cell.decide(is_new[members], is_gone[members])
    published = ((rows.block != NEVER) & ~rows.left & ~leaves) | enters
    return BatchPlan(
        published=published,
        enters=enters,
        lingers=is_gone & ~leaves,
        leaves=leaves,
        waits=rows.present & ~published & ~rows.left,
        block=_number_blocks(rows, enters, leaves),
    )


class _Cell:
    """One cell: its rows, and what every group of them must satisfy."""

    def __init__(self, rows: FrozenRows, members: Ints, keeps: GroupTest, about_values: bool) -> None:
        self.members = members
        self.block = rows.block[members]
        self.left = rows.left[members]
        self.person = None if rows.person is None else rows.person[members]
        self._keeps = keeps
        self._about_values = about_values

    def decide(self, is_new: Flags, is_gone: Flags) -> tuple[Flags, Flags]:
        """Which new rows enter and which gone rows leave: as many kinds of change as pass together, leaving first."""
        may_leave, splits = np.zeros(len(is_gone), dtype=bool), False
        for block in np.unique(self.block[is_gone]):
            own = (self.block == block) & ~self.left
            gone, staying = own & is_gone, own & ~is_gone
            if self._passes(gone) and (not staying.any() or self._passes(staying)):
                may_leave |= gone
                splits |= bool(staying.any())
        closed = self._about_values and splits
        may_enter = is_new & bool(not closed and is_new.any() and self._passes(is_new))
        nothing = np.zeros(len(is_gone), dtype=bool)
        for enters, leaves in ((may_enter, may_leave), (nothing, may_leave), (may_enter, nothing)):
            if (enters.any() or leaves.any()) and self._fits(enters, leaves):
                return enters, leaves
        return nothing, nothing

    def _passes(self, chosen: Flags) -> bool:
        return self._keeps(self.members[chosen])

    def _fits(self, enters: Flags, leaves: Flags) -> bool:
        """Whether each block keeps every promise also with all other rows that its persons had in this cell."""
        if self.person is None:
            return True
        ever = (self.block != NEVER) | enters
        if len(np.unique(self.person[ever])) == int(ever.sum()):
            return True
        after = _split_blocks(self.block, enters, leaves, self.left)
        for block in np.unique(after[ever]):
            persons = self.person[ever & (after == block)]
            if not self._passes(ever & np.isin(self.person, persons)):
                return False
        shown = ((self.block != NEVER) & ~self.left & ~leaves) | enters
        return not shown.any() or self._passes(shown)


def _split_blocks(block: Ints, enters: Flags, leaves: Flags, left: Flags) -> Ints:
    """Numbers that part rows as blocks do after a batch."""
    state = np.where(enters, 1, np.where(leaves, 2, np.where(left, 3, 0)))
    return np.asarray(np.where(enters, 0, (block + 1) * 4) + state, dtype=np.int64)


def _number_blocks(rows: FrozenRows, enters: Flags, leaves: Flags) -> Ints:
    """Old blocks keep their numbers; rows that enter a cell, or leave a block, get the next ones."""
    numbers = rows.block.copy()
    next_block = int(rows.block.max(initial=NEVER)) + 1
    for changed, of in ((enters, rows.cell), (leaves, rows.block)):
        ranks = np.unique(of[changed], return_inverse=True)[1].reshape(-1)
        numbers[changed] = next_block + ranks
        next_block += int(ranks.max(initial=-1)) + 1
    return numbers


def _is_held(rows: FrozenRows) -> Flags:
    """New rows of persons with a row that left in an earlier batch: never published."""
    if rows.person is None:
        return np.zeros(len(rows.cell), dtype=bool)
    return np.asarray((rows.block == NEVER) & np.isin(rows.person, rows.person[rows.left]))


def count_corrections(rows: FrozenRows) -> int:
    """How many persons have a published row that is not in the table any more, and a row that was never published."""
    if rows.person is None:
        return 0
    gone = rows.person[(rows.block != NEVER) & ~rows.left & ~rows.present]
    return len(np.intersect1d(gone, rows.person[rows.block == NEVER]))


def refuse_frozen(promises: Sequence[Promise], adversary: str) -> str | None:
    """Why frozen cells cannot keep these promises against that adversary, or None."""
    for promise in promises:
        model = promise.model
        if not model.about_identity and adversary == KNOWS_METHOD:
            return (
                f"whether rows wait would depend on values, and someone who knows the method learns from it what "
                f"{promise} is to hide. Promise k-anonymity alone, or protect against someone who reads the releases"
            )
        if model.by_share:
            return (
                f"{promise} is measured against the shares of values in the whole table, which change with every "
                "batch. Promise l-diversity, alpha-k or k-anonymity"
            )
    return None


def frozen_test(data: Microdata, promises: Sequence[Promise], adversary: str) -> GroupTest:
    """The test of groups for `plan_batch`, over all rows that the series knows of; `Unsupported` where none holds."""
    reason = refuse_frozen(promises, adversary)
    if reason is not None:
        raise Unsupported(f"Frozen cells cannot keep this: {reason}.")
    return group_test(data, [_require(promise, data) for promise in promises])


def _require(promise: Promise, data: Microdata) -> Requirement:
    index = None if promise.column is None else data.domains.sensitive_index(promise.column)
    domain = None if index is None else data.domains.sensitive[index]
    return promise.model.requirement(data.prior(index), domain, index)
