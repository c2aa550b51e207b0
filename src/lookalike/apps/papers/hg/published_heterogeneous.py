"""The method as it was published, to be studied: its buckets, its dummies, its threshold, its parts, and its draw.

What comes out does not keep the promise (docs/algorithms/heterogeneous.md) and is never released: the method refuses
every promise, so that it runs from Python alone, by `anonymize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.columns import Counts, tables_for
from lookalike.algorithms.groups.linear_programs import Ceilings
from lookalike.algorithms.groups.sizes import Plan, even_sizes, in_blocks
from lookalike.algorithms.groups.strict import plan_column
from lookalike.algorithms.heterogeneous.slots import (
    POLICIES,
    Layout,
    Slots,
    buckets_under,
    slots_by_assignment,
    slots_in_turn,
)
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.matchers import MATCHERS, Labels, NoAssignment, Records
from lookalike.algorithms.shared.method import (
    Method,
    SlotGraph,
    draw_assignment,
    publish_matched,
    slots_of,
    through_diversity,
)
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Domains, Microdata
from lookalike.data.parameters import Choice, OptionalExact, Whole
from lookalike.data.release import Matched, MatchGraph, RecordMap, Withheld
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, Unsupported
from lookalike.kernels.axes import Axes, pair_distances
from lookalike.kernels.pairing import cheapest_slots, greedy_slots
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class HeterogeneousAsPublished(Method):
    """The whole method as published: its buckets for l-diversity, slots that hold no value twice, and its draw."""

    name: ClassVar[str] = "heterogeneous-as-published"
    form: ClassVar[str] = Matched.form
    is_studied: ClassVar[bool] = True
    """Experiments measure it without an audit, which it would fail."""

    matcher: Choice = Choice("auto", "greedy", "sorted", "hungarian", default="auto")
    """greedy, sorted or hungarian on the whole table; auto: hungarian."""
    buckets: Choice = Choice("equal", *POLICIES, "through-l", default="equal")
    """Of promises other than l-diversity: buckets of one size, filled in any or in one of these ways; or through l."""
    fill: Choice = Choice("random", "sorted", default="random")
    """Which records of a value go to which bucket: any, as printed; or in order, as in the authors' program."""
    dummies: Choice = Choice("no", "yes", default="no")
    """yes: records are made up to fill the buckets."""
    tau: OptionalExact = OptionalExact(low=0, high=1)
    """Records go to the bucket farthest from them, if that far on average."""
    part: Whole = Whole(low=0, default=0)
    """Most slots of a bucket that are matched together; 0: all."""

    def refuses(self, promise: Promise, requirement: Requirement) -> str:
        return "a person can see one value several times, which breaks the promise, so it is never released"

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Matched, RecordMap]:
        column, plan = plan_column(data, requirements)
        counts = data.counts(column)
        ell = _diversity(plan.ceilings)
        if ell is None and self.tau is not None:
            raise Unsupported("tau is about the published buckets for l-diversity; for this promise leave it out.")
        if ell is not None and self.buckets != "equal":
            raise Unsupported(
                f"The published buckets for l-diversity are of one kind; leave buckets={self.buckets} out."
            )
        if self.fill == "sorted" and (ell is not None or self.buckets == "through-l" or self.dummies == "no"):
            raise Unsupported("fill=sorted is about buckets of one size that dummies fill up; leave it out.")
        if self.buckets == "through-l":
            ell = through_diversity(counts, plan.ceilings, plan.rule.min_size)
            if ell is None:
                raise Infeasible("No l-diversity that this table can have keeps the promise. Use buckets=ascending.")
        everybody = _with_unique_dummies(data, column, ell, rng) if ell and self.dummies == "yes" else data
        if ell is not None:
            tables = _tables_of_diversity(everybody, column, ell, self.tau, rng)
            labels = everybody.sensitive[:, column].astype(np.int64)
            # A dummy's value is its own.
            labels[data.n_rows :] = labels.max(initial=0) + 1 + np.arange(len(labels) - data.n_rows)
        else:
            everybody, tables = self._lay_out(data, column, plan.ceilings, plan.rule.min_size, rng)
            labels = np.arange(everybody.n_rows)
        if self.part:
            tables = [part for table in tables for part in cut_buckets(everybody, column, table, self.part)]

        records, slots, givers = [], [], np.empty(everybody.n_rows, dtype=np.int64)
        for number, (table, found) in enumerate(self._match(axes_of(everybody), labels, tables, rng)):
            records.append(found.ravel())
            slots.append(np.repeat(table.T.ravel(), found.shape[2]))
            givers[table.T] = mix_columns(found, rng.child("draw", number))
        graph = SlotGraph(np.concatenate(records), np.concatenate(slots), givers)
        return _without_dummies(data, *publish_matched(everybody, graph, rng, _count_dummies(data, everybody)))

    def _lay_out(
        self, data: Microdata, column: int, ceilings: Ceilings, fewest: int, rng: Randomness
    ) -> tuple[Microdata, list[Records]]:
        """Buckets of one size for promises other than l-diversity."""
        counts = data.counts(column)
        policies = [*POLICIES] if self.buckets == "equal" else [self.buckets]
        if self.dummies == "yes":
            padded = largest_to_pad(counts, ceilings, policies, fewest)
            if padded is None:
                raise Infeasible("No size of buckets keeps the promise. Use heterogeneous.")
            return _with_copies(data, column, *padded, self.fill, rng)
        blocks = buckets_under(counts, ceilings, policies, fewest)
        if blocks is None:
            raise Infeasible("No number of buckets keeps the promise. Use heterogeneous.")
        return data, tables_for(np.arange(data.n_rows), data.sensitive[:, column], blocks, rng.child("cell", 0))

    def _match(
        self, axes: Axes, labels: Labels, tables: Sequence[Records], rng: Randomness
    ) -> list[tuple[Records, Slots]]:
        """The slots of each table; parts that cannot be matched without a repeated value are joined with the next."""
        name = "hungarian" if self.matcher == "auto" else self.matcher
        # Where every record is a label of its own, nothing is forbidden.
        is_free = len(np.unique(labels)) == len(labels)
        waiting, done = list(reversed(tables)), list[tuple[Records, Slots]]()
        while waiting:
            table = waiting.pop()
            try:
                if is_free:
                    found = match_freely(name, axes, labels, table)
                else:
                    found = slots_in_turn(axes, labels, table, MATCHERS[name], rng.child("part", len(done)))
            except NoAssignment:
                if not waiting and not done:
                    raise
                waiting.append(np.concatenate([table, waiting.pop() if waiting else done.pop()[0]]))
            else:
                done.append((table, found))
        return done


def match_freely(matcher: str, axes: Axes, labels: Labels, table: Records) -> Slots:
    """The slots of a table in which every slot may take every record, in compiled loops."""
    if matcher == "hungarian":
        return slots_by_assignment(axes, table)
    slots = np.empty((table.shape[1], *table.shape), dtype=np.int64)
    if matcher == "greedy":
        greedy_slots(axes, labels, np.ascontiguousarray(table), slots)
    else:
        cheapest_slots(axes, np.ascontiguousarray(table), slots)
    return slots


def cut_buckets(data: Microdata, column: int, table: Records, most: int) -> list[Records]:
    """Parts of at most so many slots of each bucket, as the authors' program cuts them.

    In every bucket values stand one after the other, the most frequent first, the records of each by their columns.
    """
    sorted_table = np.empty_like(table)
    for bucket, members in enumerate(table.T):
        values = data.sensitive[members, column]
        frequency = np.bincount(values)[values]
        sorted_table[:, bucket] = members[np.lexsort((*data.quasi[members].T[::-1], values, -frequency))]
    return [sorted_table[start : start + most] for start in range(0, len(table), most)]


def largest_to_pad(
    counts: Counts, ceilings: Ceilings, policies: Sequence[str], fewest: int
) -> tuple[Layout, int] | None:
    """As published: the largest size of buckets that a policy fills within the ceilings, dummies where they are short.

    The test is the printed one, on the number of records without dummies.
    """
    n_rows = int(counts.sum())
    for size in range(int(counts.max()), 0, -1):
        for policy in policies:
            layout = POLICIES[policy](counts, size)
            spread = np.count_nonzero(layout, axis=0)
            kept = all(int(times) * size <= ceiling * n_rows for times, ceiling in zip(spread, ceilings, strict=True))
            if kept and len(layout) >= fewest:
                return layout, size
    return None


def fewest_first(counts: Counts, n_buckets: int) -> Layout:
    """The published buckets for l-diversity: the l most frequent values open one each, others go to the emptiest.

    Needs enough values, none above a bucket, and even buckets."""
    order = np.argsort(-counts, kind="stable")
    size = int(counts.sum()) // n_buckets
    layout = np.zeros((n_buckets, len(counts)), dtype=np.int64)
    layout[np.arange(n_buckets), order[:n_buckets]] = counts[order[:n_buckets]]
    for value in order[n_buckets:].tolist():
        left = int(counts[value])
        loads = layout.sum(axis=1)
        for bucket in np.argsort(loads, kind="stable").tolist():
            taken = min(left, size - int(loads[bucket]))
            layout[bucket, value] += taken
            left -= taken
    return layout


def mix_columns(slots: Slots, rng: Randomness) -> Records:
    """[d, rows] the record whose values each slot shows, by any of the disjoint assignments of the graph."""
    degree, n_rows, _ = slots.shape
    flat = slots.reshape(degree * n_rows, degree)
    given = np.empty(degree * n_rows, dtype=np.int64)
    given[draw_assignment(slots_of(flat), rng)] = np.unique(flat)
    return given.reshape(degree, n_rows)


def _diversity(ceilings: Ceilings) -> int | None:
    """l where the promise is l-diversity: every ceiling is 1/l."""
    (least, most) = min(ceilings), max(ceilings)
    return least.denominator if least == most and least.numerator == 1 else None


def _tables_of_diversity(
    data: Microdata, column: int, ell: int, tau: Fraction | None, rng: Randomness
) -> list[Records]:
    """[rows, l] the records in the published buckets; two tables where their number is no multiple of l."""
    values, counts = data.sensitive[:, column], data.counts(column)
    ceilings = [Fraction(1, ell)] * len(counts)
    blocks = in_blocks(Plan(even_sizes(len(values), ell)), counts, ceilings)
    laid_out = [(numbers, [fewest_first(numbers, width)]) for width, numbers in blocks.items()]
    tables = tables_for(np.arange(len(values)), values, laid_out, rng.child("cell", 0))
    if tau is None:
        return tables
    axes = axes_of(data)
    return [_far_apart(axes, values, table, tau) for table in tables]


def _far_apart(axes: Axes, values: NDArray[np.int32], table: Records, tau: Fraction) -> Records:
    """The threshold: one by one, records of values that open no bucket go to the bucket with room farthest from them.

    Where none is `tau` away on average, to the emptiest. What the paper says of it leaves the formula open.
    """
    n_rows, degree = table.shape
    members = table.ravel()
    counts = np.bincount(values[members])
    openers = np.argsort(-counts, kind="stable")[:degree]
    buckets = [members[values[members] == value].tolist() for value in openers]
    others = members[~np.isin(values[members], openers)]
    others = others[np.argsort(-counts[values[others]], kind="stable")]
    plain, scaled = np.empty(len(axes.codes)), np.empty(len(axes.codes))
    factors, n_attrs = np.ones(axes.codes.shape[1]), axes.codes.shape[1]
    for record in others.tolist():
        pair_distances(axes, record, factors, plain, scaled)
        open_ones = [bucket for bucket in buckets if len(bucket) < n_rows]
        means = [float(plain[bucket].mean()) / n_attrs if bucket else 0.0 for bucket in open_ones]
        far = int(np.argmax(means))
        chosen = open_ones[far] if means[far] >= tau else min(open_ones, key=len)
        chosen.append(record)
    return np.array(buckets, dtype=np.int64).T


def _with_unique_dummies(data: Microdata, column: int, ell: int, rng: Randomness) -> Microdata:
    """As many more records as a multiple of l wants, with a value that no record has."""
    missing = -data.n_rows % ell
    if not missing:
        return data
    copied = rng.child("dummies").permutation(data.n_rows)[:missing]
    extended = _extend(data, copied)
    domains = list(data.domains.sensitive)
    domains[column] = replace(domains[column], has_missing=True)
    sensitive = extended.sensitive.copy()
    sensitive[data.n_rows :, column] = domains[column].missing_code
    known = Domains(data.domains.quasi, tuple(domains), data.domains.carried)
    return replace(extended, domains=known, sensitive=sensitive)


def _with_copies(
    data: Microdata, column: int, layout: Layout, size: int, fill: str, rng: Randomness
) -> tuple[Microdata, list[Records]]:
    """Buckets filled up with copies of any records, which get a value that the bucket already has.

    The paper does not say what a dummy's quasi-identifiers are. Copies of a single record would all look alike, and
    every slot that must cover one of them would lose more for it.
    """
    values = data.sensitive[:, column]
    ordered = np.lexsort(data.quasi.T[::-1]) if fill == "sorted" else rng.child("records").permutation(data.n_rows)
    by_value = ordered[np.argsort(values[ordered], kind="stable")]
    drawn = rng.child("dummies").permutation(data.n_rows)
    taken = np.cumsum(data.counts(column)) - data.counts(column)
    buckets: list[Records] = []
    dummy_values: list[int] = []
    for bucket in layout:
        mine = np.concatenate([by_value[start : start + times] for start, times in zip(taken, bucket, strict=True)])
        taken += bucket
        short = size - len(mine)
        numbers = data.n_rows + len(dummy_values) + np.arange(short)
        dummy_values += [int(values[mine[0]])] * short
        buckets.append(np.concatenate([mine, numbers]))
    if len(dummy_values) != layout.shape[0] * size - int(layout.sum()):
        raise AssertionError("buckets were not filled up")
    order = rng.child("columns").permutation(len(buckets))
    table = np.sort(np.array(buckets)[order], axis=1).T
    everybody = _extend(data, drawn[: len(dummy_values)])
    sensitive = everybody.sensitive.copy()
    sensitive[data.n_rows :, column] = dummy_values
    return replace(everybody, sensitive=sensitive), [np.ascontiguousarray(table)]


def _extend(data: Microdata, copied: Records) -> Microdata:
    return replace(
        data,
        quasi=np.concatenate([data.quasi, data.quasi[copied]]),
        sensitive=np.concatenate([data.sensitive, data.sensitive[copied]]),
        carried=np.concatenate([data.carried, data.carried[copied]]),
    )


def _count_dummies(data: Microdata, everybody: Microdata) -> Withheld:
    n_more = everybody.n_rows - data.n_rows
    if not n_more:
        return Withheld()
    made_up = [
        np.bincount(everybody.sensitive[data.n_rows :, index], minlength=domain.n_codes)
        for index, domain in enumerate(everybody.domains.sensitive)
    ]
    return Withheld(dummies=tuple(made_up), n_dummies=n_more)


def _without_dummies(data: Microdata, release: Matched, record_map: RecordMap) -> tuple[Matched, RecordMap]:
    """Dummies are behind rows but are nobody: the graph and the record map are about records."""
    assert record_map.graph is not None
    starts = record_map.graph.starts[: data.n_rows + 1]
    graph = MatchGraph(starts, record_map.graph.rows[: starts[-1]])
    return release, RecordMap(
        np.where(record_map.record_of_row < data.n_rows, record_map.record_of_row, -1), graph=graph
    )
