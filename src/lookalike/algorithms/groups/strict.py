"""Strict mode: groups chosen from quasi-identifiers alone, against an adversary who also knows the method.

A cell's records are laid out in columns by their sensitive values alone (`columns`); a group takes one record of each
column of a zone, and which ones is decided from the quasi-identifiers alone. So if every group's values move along any
exchange of a zone's columns, the very same groups come out with the same probability: whoever knows all about the
method still finds each value of a group as likely as its share of the group, exactly (docs/algorithms/groups.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.boxes import choose_strict_box_size, cut_boxes_by_attributes
from lookalike.algorithms.groups.columns import Blocks, blocks_for, pure_zones, tables_for
from lookalike.algorithms.groups.effort import Effort, Run
from lookalike.algorithms.groups.sizes import plan_sizes, proportional_quotas
from lookalike.algorithms.groups.transversals import transversals
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import GroupRule, Requirement
from lookalike.errors import Infeasible, Unsupported, quoted
from lookalike.kernels.axes import Axes
from lookalike.randomness import Randomness

Records = NDArray[np.int64]


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
    columns = sorted({requirement.column or 0 for requirement in about_values})
    if len(columns) > 1:
        names = " and ".join(quoted(data.domains.sensitive[column].name) for column in columns)
        raise Unsupported(
            f"Against an adversary who knows the method, one sensitive column can be protected, not {names} "
            "together: columns that suit the values of one do not suit the other's. Promise for one of them, join them "
            "to one column, or use --adversary reads-release."
        )
    rule, counts = rule_of(data, requirements), data.counts(columns[0])
    whole = [Fraction(1)] * len(counts)
    given = [requirement.ceilings for requirement in about_values if requirement.ceilings is not None]
    ceilings = [min(shares) for shares in zip(whole, *given, strict=True)]
    cell, unit = data.n_rows, 1
    if all(requirement.only_ceilings for requirement in about_values):
        sizes = plan_sizes([counts], [ceilings], rule.min_size)
        if sizes is not None:
            cell = choose_strict_box_size(counts, ceilings, int(sizes.sizes.min()))
            unit = int(sizes.sizes.min()) if sizes.allotment is None else 1
    return columns[0], Plan(about_values, rule, ceilings, cell, unit)


def _layout(
    counts: NDArray[np.int64], plan: Plan, remark: Callable[[str], None] = lambda sentence: None
) -> Blocks | None:
    """The blocks of a cell with these counts of the sensitive column; None if it cannot keep the promise by itself.

    It depends on the counts of the cell alone, and so does what `remark` is told.
    """
    n_rows = int(counts.sum())
    if not all(requirement.only_ceilings for requirement in plan.requirements):
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
