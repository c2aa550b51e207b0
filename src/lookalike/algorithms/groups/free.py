"""Free mode: boxes that keep the promise as a whole, each searched by itself.

A box is seeded, then records are swapped between its groups, at first freely, then ever more strictly. It has a few
thousand records that are independent of all others, its own random stream and its own state, so boxes can run in
threads, in any order, with the same result. All random choices come from the stream; passes are counted, not timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups import EFFORTS, Effort, Pace, Run
from lookalike.algorithms.groups.columns import blocks_for, tables_for, transversals
from lookalike.algorithms.groups.linear_programs import Ceilings
from lookalike.algorithms.groups.sizes import (
    Plan,
    count_proportional,
    even_sizes,
    plan_sizes,
    quotas_in_turn,
    rooms_for,
)
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.axes import axes_at, axes_of, cutting_of, rule_of
from lookalike.algorithms.shared.matchers import Records
from lookalike.data.microdata import Codes, Microdata, rank_within, read_only
from lookalike.data.requirement import GroupRule, Requirement
from lookalike.kernels.axes import SET, Axes
from lookalike.kernels.grouptest import are_groups_allowed, tally_for
from lookalike.kernels.improving import Limits, anneal_pass, swap_pass, total_loss
from lookalike.kernels.neighbourhood import Layout, Scratch
from lookalike.kernels.seeding import deal, spread
from lookalike.progress import available_threads, silent
from lookalike.randomness import Randomness

_SEED_SHARES = np.arange(1, 8) / 8
_LEAST_CELL, _MOST_IN_CELL, _MOST_SIZES = 3500, 16_000, 8
_MOST_GROUPS, _MOST_GROUPS_UNDER_CEILINGS = 1000, 1600
# Heat at the begin and at the end, for each record of a group and each attribute's weight.
_HOT, _COOL = 0.012, 0.0015
# Groups in a neighbourhood while it cools and when only the best swaps are made, and the most records in one.
_NEAR_GROUPS, _FINAL_GROUPS, _MOST_RECORDS = 14, 64, 1600
_FINAL_PASSES = 3
# Numbers of values up to which all values of the table are counted in every cell; above, those that it has. And the
# most quotas, groups times values, that are dealt out one by one.
_FEW_VALUES, _MOST_QUOTAS = 1024, 1 << 22
_SMALL_GROUP, _LARGE_GROUP = 12, 60


_State = tuple[Axes, Limits, Codes, Layout, Records, Records]


class Box:
    """Some records, their groups, and the search for better ones."""

    def __init__(
        self,
        data: Microdata,
        axes: Axes,
        rule: GroupRule,
        requirements: Sequence[Requirement],
        rows: NDArray[np.int64],
        rng: Randomness,
    ) -> None:
        self.rows, self.rng, self.rule = rows, rng, rule
        self.requirements = requirements
        self.axes = axes._replace(codes=_renumber_codes(axes, rows))
        self._own = read_only(data.sensitive[rows])
        # Values are numbered anew: a cell has no more of them than records, however many the table has.
        self._values = [
            np.arange(domain.n_codes) if domain.n_codes <= _FEW_VALUES else np.unique(column).astype(np.int64)
            for domain, column in zip(data.domains.sensitive, self._own.T, strict=True)
        ]
        codes = [np.searchsorted(*pair) for pair in zip(self._values, self._own.T, strict=True)]
        self.sensitive = read_only(np.column_stack([self._own[:, :0], *codes]).astype(np.int32))
        self.cutting = cutting_of(data, strict=False, by_gain=True, shares=_SEED_SHARES)
        self.tally = tally_for(rule)
        widest = int(self.axes.codes.max(initial=0)) + 1
        met, number = np.zeros((2, self.axes.codes.shape[1], widest), dtype=np.int64)
        met_values, number_of_value = np.zeros((2, len(codes), self._n_values), dtype=np.int64)
        self.scratch = Scratch(met, number, np.zeros(1, dtype=np.int64), met_values, number_of_value)
        self.only_ceilings = all(requirement.only_ceilings for requirement in requirements)
        self._take(np.array([len(rows)]))
        self.makeshift = False

    @property
    def _n_values(self) -> int:
        return max([1, *map(len, self._values)])

    def seed(self, by_cuts: Callable[[], NDArray[np.int64]], *, dealt: bool = True) -> bool:
        """A first state that keeps the rule: spread or dealt where that works, else the groups that `by_cuts` gives.

        Returns whether cutting might have been as good: records were dealt, but not as freely as could be.
        """
        about_values = [requirement for requirement in self.requirements if requirement.column is not None]
        if not about_values:
            self._take(even_sizes(len(self.rows), self.rule.min_size))
            self.layout.members[:] = self._spread()
            return False
        if dealt and self.only_ceilings and self._deal(about_values) and self._keeps_rule():
            sizes = np.diff(self.layout.starts)
            return self.makeshift or int(sizes.max()) > 2 * int(sizes.min())
        if dealt and not self.only_ceilings and self._deal_in_proportion(about_values[0].column or 0):
            return True
        self.begin(by_cuts())
        return False

    def begin(self, group_of_record: NDArray[np.int64]) -> None:
        """Groups that keep the rule, to begin with."""
        self._take(np.bincount(group_of_record))
        self.layout.members[:] = np.argsort(group_of_record, kind="stable")

    def improve(self, effort: Effort, report: Callable[[float, float], None], stopped: Callable[[], bool]) -> None:
        """Swaps that cool down, then only the best ones; every state on the way keeps the rule.

        `report` gets how far the search is and the loss so far.
        """
        if len(self.layout.starts) < 3:
            return
        # In large groups a swap takes longer and gains less; in small ones fewer neighbours are worth a try.
        usual = float(np.diff(self.layout.starts).mean())
        tries = max(2, round(effort.tries * min(1.0, usual / _SMALL_GROUP, _LARGE_GROUP / usual)))
        loss, weight = self.loss(), float(self.axes.attributes["weight"].mean())
        state = self.rng.child("swaps").words(1).copy()
        n_passes = effort.passes + _FINAL_PASSES
        pace = Pace(effort.passes, effort.seconds, stopped)
        number = 0
        while (share := pace.share(number)) < 1.0:
            heat = usual * weight * _HOT * (_COOL / _HOT) ** share
            loss -= anneal_pass(
                *self._neighbourhoods(_NEAR_GROUPS, number), heat, tries, state, self.scratch, self.tally
            )
            number += 1
            report(share * effort.passes / n_passes, loss)
        for last in range(_FINAL_PASSES):
            if stopped():
                return
            loss -= swap_pass(*self._neighbourhoods(_FINAL_GROUPS, number + last), self.scratch, self.tally)
            report((effort.passes + last + 1) / n_passes, loss)

    def loss(self) -> float:
        """The loss of the state, summed over records and attributes."""
        n_groups = len(self.layout.starts) - 1
        bounds = np.append(np.arange(0, n_groups, _FINAL_GROUPS), n_groups)
        return float(total_loss(*self._state(np.arange(n_groups), bounds), self.scratch))

    def _state(self, order: Records, bounds: Records) -> _State:
        """What kernels work on, chunk after chunk of the groups in that order."""
        return self.axes, self.limits, self.sensitive, self.layout, order, bounds

    def groups(self) -> list[NDArray[np.int64]]:
        """The records of each group; fails closed."""
        if not self._keeps_rule():
            raise AssertionError("a group broke its rule during the search")
        return np.split(self.rows[self.layout.members], self.layout.starts[1:-1])

    def _keeps_rule(self) -> bool:
        starts = self.layout.starts
        return bool(are_groups_allowed(self.rule, self._own, self.layout.members, starts, self.tally))

    def _take(self, sizes: NDArray[np.int64]) -> None:
        self.layout = Layout(np.empty(len(self.rows), dtype=np.int64), np.concatenate([[0], np.cumsum(sizes)]))
        sizes = np.unique(sizes)
        size_class = np.zeros(int(sizes.max()) + 1, dtype=np.int64)
        size_class[sizes] = np.arange(len(sizes))
        n_columns = self.sensitive.shape[1]
        codes = np.zeros((n_columns, self._n_values), dtype=np.int64)
        for column, values in enumerate(self._values):
            codes[column, : len(values)] = values
        rooms = np.full((len(sizes), n_columns, self._n_values), len(self.rows), dtype=np.int64)
        for column, values in enumerate(self._values):
            for ceilings in self._ceilings(column):
                for place, size in enumerate(sizes):
                    part = rooms[place, column, : len(values)]
                    np.minimum(part, rooms_for(int(size), ceilings), out=part)
        self.limits = Limits(self.rule, self.only_ceilings, size_class, rooms, codes)

    def _ceilings(self, column: int) -> list[list[Fraction]]:
        """The ceilings of the cell's values of a column, promise by promise."""
        given = [one.ceilings for one in self.requirements if one.column == column and one.ceilings is not None]
        return [[ceilings[code] for code in self._values[column].tolist()] for ceilings in given]

    def _deal(self, about_values: Sequence[Requirement]) -> bool:
        columns = [requirement.column or 0 for requirement in about_values]
        counts = [np.bincount(self.sensitive[:, column], minlength=len(self._values[column])) for column in columns]
        ceilings = [
            [(requirement.ceilings or ())[code] for code in self._values[column].tolist()]
            for column, requirement in zip(columns, about_values, strict=True)
        ]
        plan = plan_sizes(counts, ceilings, self.rule.min_size)
        if plan is None:
            return False
        self.makeshift = plan.makeshift
        if plan.allotment is not None and len(about_values) == 1:
            return self._match(plan, counts[0], ceilings[0], columns[0])
        self._take(self.rng.child("sizes").shuffle(plan.sizes))
        members = self._spread()
        first = self.sensitive[:, columns[0]]
        order = self._order_by_frequency(first, counts[0])
        size_of_record = np.zeros(len(self.rows), dtype=np.int64)
        for size, numbers in (plan.allotment or {}).items():
            open_rows = order[size_of_record[order] == 0]
            rank = rank_within(first[open_rows])
            size_of_record[open_rows[rank < numbers[first[open_rows]]]] = size
        seeds, offsets, sizes = self._seeds(members), self._offsets(), np.diff(self.layout.starts)
        # The group in which the spread put each record.
        home = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(members)]
        tables = [(self.limits.rooms, self.limits.size_class[sizes])]
        if plan.allotment is not None:
            # Where greed leaves someone over, fixed quotas do not.
            quotas = np.repeat(self.limits.rooms[:1], len(sizes), axis=0)
            quotas[:, columns[0], :] = quotas_in_turn(sizes, plan.allotment, quotas.shape[2])
            tables.append((quotas, np.arange(len(sizes))))
        return any(
            deal(self.axes, rooms, classes, self.sensitive, self.layout, seeds, home, order, offsets, size_of_record)
            for rooms, classes in tables
        )

    def _match(self, plan: Plan, counts: NDArray[np.int64], ceilings: Ceilings, column: int) -> bool:
        """Groups of several sizes: one record of each column of values, matched by quasi-identifiers."""
        blocks = blocks_for(plan, counts, ceilings)
        tables = tables_for(np.arange(len(self.rows)), self.sensitive[:, column], blocks, self.rng.child("columns"))
        run = Run(self.rng.child("match"), map, lambda share, loss: None, lambda: False)
        found = transversals(self.axes, tables, EFFORTS["fast"], run)
        self._take(np.repeat([table.shape[1] for table in found], [len(table) for table in found]))
        self.layout.members[:] = np.concatenate([table.ravel() for table in found])
        return True

    def _deal_in_proportion(self, column: int) -> bool:
        """Groups that all have the box's mix of one column's values, as small as the rule allows."""
        values = self.sensitive[:, column]
        counts = np.bincount(values, minlength=self._n_values)
        own = self._values[column]
        n_groups = count_proportional(counts[: len(own)], self.rule, own, column)
        if n_groups is None or n_groups < 2:
            return False
        if n_groups * self._n_values > _MOST_QUOTAS:
            return self._deal_in_turn(values, n_groups)
        quotas = quotas_in_turn(np.ones(n_groups, dtype=np.int64), {1: counts}, self._n_values)
        self._take(quotas.sum(axis=1))
        members = self._spread()
        rooms = np.full((len(quotas), self.sensitive.shape[1], quotas.shape[1]), len(self.rows), dtype=np.int64)
        rooms[:, column, :] = quotas
        order = self._order_by_frequency(values, counts)
        seeds, offsets, anywhere = self._seeds(members), self._offsets(), np.zeros(len(self.rows), dtype=np.int64)
        classes = np.arange(len(quotas))
        dealt = deal(self.axes, rooms, classes, self.sensitive, self.layout, seeds, anywhere, order, offsets, anywhere)
        return bool(dealt) and self._keeps_rule()

    def _deal_in_turn(self, values: NDArray[np.int32], n_groups: int) -> bool:
        """The same of so many values that hardly any record has a choice: the next value, the next group."""
        shuffled = self.rng.child("deal").permutation(len(self.rows))
        group_of_record = np.empty(len(self.rows), dtype=np.int64)
        group_of_record[shuffled[np.argsort(values[shuffled], kind="stable")]] = np.arange(len(self.rows)) % n_groups
        self.begin(group_of_record)
        return self._keeps_rule()

    def _spread(self) -> Records:
        """Records in groups that lie near each other, whatever their values."""
        members = self.rng.child("spread").permutation(len(self.rows))
        spread(self.axes, self.cutting, members, self.layout.starts)
        return members

    def _order_by_frequency(self, values: NDArray[np.int32], counts: NDArray[np.int64]) -> Records:
        """Frequent values first: they have the least choice."""
        shuffled = self.rng.child("deal").permutation(len(self.rows))
        return shuffled[np.argsort(-counts[values[shuffled]], kind="stable")]

    def _seeds(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """The middle record of each group of the spread, attribute by attribute."""
        starts = self.layout.starts
        seeds = np.empty((len(starts) - 1, self.axes.codes.shape[1]), dtype=np.int64)
        for group in range(len(starts) - 1):
            codes = np.sort(self.axes.codes[members[starts[group] : starts[group + 1]]], axis=0)
            seeds[group] = codes[len(codes) // 2]
        return seeds

    def _offsets(self) -> NDArray[np.int64]:
        is_set = self.axes.attributes["kind"] == SET
        widths = np.where(is_set, self.axes.codes.max(axis=0) + 1, 0)
        return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)

    def _neighbourhoods(self, most: int, number: int) -> _State:
        """Groups in an order in which neighbours lie together, cut into chunks: a kd tree over one member of each."""
        words = self.rng.child("pass", number).words(4096)
        starts, n_groups = self.layout.starts, len(self.layout.starts) - 1
        sizes = np.diff(starts)
        per_chunk = max(2, min(most, int(_MOST_RECORDS / max(sizes.mean(), 1))))
        pick = starts[:-1] + (words[np.arange(n_groups) % len(words)] % sizes.astype(np.uint64)).astype(np.int64)
        stand_ins = self.layout.members[pick]
        order = self.rng.child("order", int(words[0])).permutation(n_groups)
        bounds = np.linspace(0, n_groups, max(1, n_groups // per_chunk) + 1).astype(np.int64)
        spread(axes_at(self.axes, stand_ins), self.cutting, order, bounds)
        return self._state(order, bounds)


def _renumber_codes(axes: Axes, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """The box's codes, categories renumbered to those that occur."""
    codes = axes.codes[rows]
    for attr in np.flatnonzero(axes.attributes["kind"] == SET):
        codes[:, attr] = np.unique(codes[:, attr], return_inverse=True)[1]
    return read_only(codes)


def choose_box_size(n_rows: int, requirements: Sequence[Requirement]) -> int:
    """Large enough for good neighbours, small enough to deal records out to all groups of a box."""
    ceilings = [[share for share in one.ceilings if share] for one in requirements if one.ceilings]
    sizes = [requirement.min_size for requirement in requirements]
    least_group = max([2, *sizes, *(int(1 / max(shares)) for shares in ceilings if shares)])
    largest_group = max([2, *sizes, *(math.ceil(1 / min(shares)) for shares in ceilings if shares)])
    if largest_group > 2 * least_group:
        # Groups of several sizes: a box should have some of the largest, and then neighbours matter more.
        return max(_MOST_SIZES * largest_group, min(n_rows // 12, _MOST_IN_CELL // 2))
    usual = min(max(n_rows // 6, _LEAST_CELL), _MOST_IN_CELL)
    if not all(requirement.only_ceilings for requirement in requirements):
        return usual
    most_groups = _MOST_GROUPS if not ceilings else _MOST_GROUPS_UNDER_CEILINGS
    return min(usual, max(most_groups * least_group, _LEAST_CELL))


def _cut_boxes(data: Microdata, requirements: Sequence[Requirement], size: int, rng: Randomness) -> list[Records]:
    """Boxes that keep the promise as a whole, by Mondrian's cuts."""
    if data.n_rows < 2 * size:
        return [np.arange(data.n_rows)]
    coarse = [*requirements, Requirement(min_size=size)]
    box_of_record, n_boxes = Mondrian().partition(data, coarse, rng.child("cells"), silent)
    order = np.argsort(box_of_record, kind="stable")
    return np.split(order, np.cumsum(np.bincount(box_of_record, minlength=n_boxes))[:-1])


def free_groups(
    data: Microdata, requirements: Sequence[Requirement], cell: int, effort: Effort, run: Run
) -> list[Records]:
    """The members of each group."""
    boxes = _cut_boxes(data, requirements, cell or choose_box_size(data.n_rows, requirements), run.rng)
    shares, losses = [0.0] * len(boxes), [0.0] * len(boxes)
    table_boxes = [len(rows) * data.quasi.shape[1] for rows in boxes]
    n_threads = min(len(boxes), available_threads())

    def report(number: int, share: float, loss: float) -> None:
        shares[number], losses[number] = share, loss
        under_way = sum(size for size, done in zip(table_boxes, shares, strict=True) if done)
        run.report(sum(shares) / len(shares), sum(losses) / max(under_way, 1))

    def search(number: int) -> list[Records]:
        rows, own = boxes[number], effort
        if effort.seconds is not None:
            own = replace(effort, seconds=effort.seconds * n_threads * len(rows) / data.n_rows)
        rng = run.rng.child("cell", number)
        return search_box(data, requirements, rows, rng, own, partial(report, number), run.stopped)

    return [members for groups in run.map(search, range(len(boxes))) for members in groups]


def search_box(
    data: Microdata,
    requirements: Sequence[Requirement],
    rows: Records,
    rng: Randomness,
    effort: Effort,
    report: Callable[[float, float], None],
    stopped: Callable[[], bool],
) -> list[Records]:
    """The groups of one cell."""
    rule = rule_of(data, requirements)

    def by_mondrian() -> Records:
        part = data.take(rows)
        groups, _ = Mondrian().partition(part, requirements, rng.child("mondrian"), silent, rule)
        return groups.astype(np.int64)

    def searched(name: str, dealt: bool) -> tuple[Box, bool]:
        cell = Box(data, axes_of(data), rule, requirements, rows, rng.child(name))
        undecided = cell.seed(by_mondrian, dealt=dealt)
        # Two searches share the seconds that were given to one.
        halved = effort.seconds is not None and (undecided or not dealt)
        cell.improve(replace(effort, seconds=(effort.seconds or 0) / 2) if halved else effort, report, stopped)
        return cell, undecided

    best, undecided = searched("dealt", True)
    if undecided:
        best = min(best, searched("cut", False)[0], key=Box.loss)
    return best.groups()
