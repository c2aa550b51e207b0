"""Strict mode: groups chosen from quasi-identifiers alone, against an adversary who also knows the method.

A cell's records are laid out in columns by their sensitive values alone (`columns`); a group takes one record of each
column of a zone, and which ones is decided from the quasi-identifiers alone. So if every group's values move along any
exchange of a zone's columns, the very same groups come out with the same probability: anyone who knows all about the
method still finds each value of a group as likely as its share of the group, exactly (docs/algorithms/groups.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups import Effort, Run
from lookalike.algorithms.groups.columns import Blocks, blocks_for, pure_zones, tables_for, transversals
from lookalike.algorithms.groups.sizes import plan_sizes, proportional_quotas
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.algorithms.shared.matchers import Records
from lookalike.algorithms.shared.method import combine_ceilings, find_column
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import GroupRule, Requirement
from lookalike.errors import Infeasible, Unsupported
from lookalike.kernels.axes import NODE, SET, Axes
from lookalike.kernels.matching import sort_by_costliest
from lookalike.randomness import Randomness

# Groups in a box, at least: with fewer, too few records of a column lie near each other.
_LEAST_GROUPS = 200
# Records times values that columns of one value each are laid out for: a gigabyte.
_MOST_PLACES = 1 << 27


@dataclass(frozen=True, eq=False)
class Plan:
    """What is settled before any record is looked at: from the promise and the counts of the whole table."""

    requirements: list[Requirement]
    """Those about the sensitive column."""
    rule: GroupRule
    ceilings: list[Fraction]
    """The least ceiling of each value."""
    cell: int
    """Least number of records in a cell."""
    unit: int
    """What the numbers of records in cells are multiples of, but for one."""


def strict_groups(
    data: Microdata, requirements: Sequence[Requirement], cell: int, effort: Effort, run: Run
) -> list[Records]:
    """The members of each group."""
    tables = zone_tables(data, requirements, cell, run.rng, run.remark)
    return [members for table in transversals(axes_of(data), tables, effort, run) for members in table]


def zone_tables(
    data: Microdata, requirements: Sequence[Requirement], cell: int, rng: Randomness, remark: Callable[[str], None]
) -> list[Records]:
    """All records laid out in the columns of zones: whatever is taken of each column of a zone makes a good group.

    `cell`: least number of records in a cell; 0: chosen from the promise and the counts of values.
    """
    column, plan = plan_column(data, requirements)
    axes, values, size = axes_of(data), data.sensitive[:, column], cell or plan.cell
    tables = []
    for number, rows in enumerate(cut_boxes_by_attributes(axes, size, plan.unit, rng)):
        blocks = _layout(_counts(values, rows, plan), plan, remark)
        if blocks is None:
            raise _refusal(axes, values, plan, size, rng)
        tables += tables_for(rows, values, blocks, rng.child("cell", number))
    return tables


def plan_column(data: Microdata, requirements: Sequence[Requirement]) -> tuple[int, Plan]:
    """The sensitive column that the promises are about, and what is settled for it."""
    about_values = [requirement for requirement in requirements if requirement.column is not None]
    column = find_column(
        data,
        about_values,
        "Against an adversary who knows the method, one sensitive column can be protected, not {names} together: "
        "columns that suit the values of one do not suit the other's. Promise for one of them, join them to one "
        "column, or use --adversary reads-release.",
    )
    assert column is not None
    rule, counts = rule_of(data, requirements), data.counts(column)
    ceilings = combine_ceilings(data, about_values, column)
    cell, unit = data.n_rows, 1
    if all(requirement.only_ceilings for requirement in about_values):
        sizes = plan_sizes([counts], [ceilings], rule.min_size)
        if sizes is not None:
            cell = choose_strict_box_size(counts, ceilings, int(sizes.sizes.min()))
            unit = int(sizes.sizes.min()) if sizes.allotment is None else 1
    return column, Plan(about_values, rule, ceilings, cell, unit)


def _layout(
    counts: NDArray[np.int64], plan: Plan, remark: Callable[[str], None] = lambda sentence: None
) -> Blocks | None:
    """The blocks of a cell with these counts of the sensitive column; None if it cannot keep the promise by itself.

    It depends on the counts of the cell alone, and so does what `remark` gets.
    """
    n_rows = int(counts.sum())
    if not all(requirement.only_ceilings for requirement in plan.requirements):
        if n_rows * np.count_nonzero(counts) > _MOST_PLACES:
            raise Unsupported(
                f"{np.count_nonzero(counts):,} different values in {n_rows:,} rows are too many to lay out against an "
                "attacker who knows the method. Publish ranges (--round COLUMN=STEP), or use --adversary reads-release."
            )
        quotas = proportional_quotas(counts, plan.rule, plan.requirements[0].column or 0)
        if quotas is not None and len(quotas) == 1:
            remark(_single_group(n_rows))
        return None if quotas is None else [(counts, pure_zones(quotas))]
    sizes = plan_sizes([counts], [plan.ceilings], plan.rule.min_size)
    if sizes is None:
        return None
    if len(sizes.sizes) == 1:
        remark(_single_group(n_rows))
    elif sizes.makeshift:
        remark(
            f"No plan of small groups for {n_rows:,} rows was found within the limits of the search, so their "
            f"{len(sizes.sizes):,} groups have {int(sizes.sizes.min()):,} rows or more. Another algorithm or a "
            "slightly weaker promise may lose less."
        )
    return blocks_for(sizes, counts, plan.ceilings)


def _single_group(n_rows: int) -> str:
    return (
        f"{n_rows:,} rows form a single group, which says next to nothing about each of them: no way to divide them "
        "into smaller groups that keep the promise was found. Promise less, or publish more rows."
    )


def _refusal(axes: Axes, values: NDArray[np.int32], plan: Plan, size: int, rng: Randomness) -> Infeasible:
    """Why a size of cells does not do, and one that does."""
    larger = size
    while larger < len(values):
        larger = min(len(values), larger + larger // 4 + 1)
        cells = cut_boxes_by_attributes(axes, larger, plan.unit, rng)
        if all(_layout(_counts(values, rows, plan), plan) is not None for rows in cells):
            break
    return Infeasible(
        f"With cells of at least {size:,} records, one cell cannot keep the promise by itself. Cells are cut without a "
        f"look at the sensitive values; that is what the promise against an adversary who knows the method rests on. "
        f"Larger cells can: give the method cell={larger}, as in --algorithm groups:cell={larger}. A size chosen after "
        "this refusal, rather than beforehand, tells such an adversary that smaller cells could not, which may say "
        "something about records in them. So does running the same command again until it succeeds.",
    )


def _counts(values: NDArray[np.int32], rows: Records, plan: Plan) -> NDArray[np.int64]:
    return np.bincount(values[rows], minlength=len(plan.ceilings))


def choose_strict_box_size(counts: NDArray[np.int64], ceilings: Sequence[Fraction], least_group: int) -> int:
    """A size at which boxes cut without a look at values can be expected to keep the promise.

    Decided from the counts of the whole table alone, which the release publishes anyway. With every further box the
    share that a value may have in one of them is taken to grow by a quarter of its share of the table, and two standard
    deviations are allowed for chance.
    """
    n_rows, n_boxes = int(counts.sum()), 1
    while True:
        size = n_rows // (n_boxes + 1)
        expected = counts / n_rows * size * (1 + n_boxes / 4)
        rooms = [math.floor(ceiling * size) for ceiling in ceilings]
        allowed = [
            ceiling >= 1 or count == 0 or about + 2 * math.sqrt(about) + 1 <= room
            for ceiling, count, about, room in zip(ceilings, counts, expected, rooms, strict=True)
        ]
        if size < _LEAST_GROUPS * least_group or not all(allowed):
            # Some leave, so that categories can be kept whole.
            return n_rows * 9 // (n_boxes * 10) if n_boxes > 1 else n_rows
        n_boxes += 1


def cut_boxes_by_attributes(axes: Axes, size: int, unit: int, rng: Randomness) -> list[Records]:
    """Boxes of at least `size` records, cut by quasi-identifiers alone; all but one hold a multiple of `unit`.

    Cut is the attribute in which two records lose most on average: categories between two values where that leaves
    enough on both sides, everything else in the middle.
    """
    members = rng.child("cells").permutation(len(axes.codes))
    boxes, stack = [], [(0, len(members))]
    while stack:
        start, stop = stack.pop()
        attr = sort_by_costliest(axes, members, start, stop) if stop - start >= 2 * max(size, unit) else -1
        if attr < 0:
            boxes.append(members[start:stop].copy())
            continue
        places = np.array([(start + stop) // 2])
        if axes.attributes[attr]["kind"] in (SET, NODE):
            codes = axes.codes[members[start:stop], attr]
            between = start + 1 + np.flatnonzero(codes[1:] != codes[:-1])
            fitting = between[(between - start >= size + unit) & (stop - between >= size)]
            places = fitting if len(fitting) else places
        place = int(places[np.argmin(np.abs(places - (start + stop) // 2))])
        # The part on the left has a multiple of the unit; what is left over ends up in one box.
        place -= (place - start) % unit
        stack += [(start, place), (place, stop)]
    return boxes
