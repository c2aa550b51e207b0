"""Where a table is cut: decided on the driver, from counts of all records and a sample of their codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Algorithm, Boxes, Cutting, Promise, Undivided
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Codes
from lookalike.data.release import Grouped
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, Unsupported, quoted
from lookalike.pipeline.backends import Backend, Fragments
from lookalike.pipeline.parts.boxes import (
    LEAST_SHARE,
    Axis,
    BoxTree,
    cut_once,
    exchange_boxes,
    grow_boxes,
    put_together,
)
from lookalike.pipeline.parts.person_boxes import cut_by_persons
from lookalike.pipeline.parts.slices import SlicedBoxes, Slices, even_quotas
from lookalike.pipeline.parts.survey import Survey
from lookalike.randomness import Randomness

Counts = NDArray[np.int64]
_SAMPLE = 300_000
_ROUNDS = 8
_CUT_ABOVE, _DEALT_ABOVE, _DEALT_INTO = 1.5, 5, 4
"""Boxes larger than so many parts are cut again; those that cannot be are dealt out in slices, which lose more."""
MOST_IN_A_PART = 20_000_000
"""Records that one task can be given."""


class Fitting:
    """Whether records with given counts may be published by themselves, exactly: the promises held against one unit."""

    def __init__(self, survey: Survey, promises: Sequence[Promise], adversary: str) -> None:
        self._survey, self._promises, self._adversary = survey, promises, adversary

    def __call__(self, counts: Sequence[Counts]) -> bool:
        """`counts`: of each sensitive column; without one, the number of records."""
        size = int(counts[0].sum())
        return size > 0 and all(self._holds(promise, size, counts) for promise in self._promises)

    def _holds(self, promise: Promise, size: int, counts: Sequence[Counts]) -> bool:
        domains, whole = self._survey.data.domains, self._survey.data
        index = None if promise.column is None else domains.sensitive_index(promise.column)
        values = np.zeros(1, dtype=np.int64) if index is None else np.flatnonzero(counts[index])
        weights = np.array([size]) if index is None else counts[index][values]
        unit = Exposure(
            adversary=self._adversary,
            form=Grouped.form,
            column=None if index is None else domains.sensitive[index],
            prior=whole.prior(index),
            starts=np.array([0, len(values)], dtype=np.int64),
            values=values.astype(np.int32),
            weights=weights.astype(np.int64),
            sizes=np.array([size], dtype=np.int64),
        )
        return promise.model.holds(promise.model.level(unit))


def cutting_for(algorithm: Algorithm, adversary: str) -> Cutting:
    """How the table is cut for this method against this adversary; raises `Unsupported` with the reason."""
    cutting = algorithm.in_parts
    if isinstance(cutting, Undivided):
        raise Unsupported(f"{algorithm.name} cannot publish a table in parts: {cutting.why}.")
    if isinstance(cutting, Boxes):
        # A mode that was chosen for such an adversary is worth nothing if the cuts look at values.
        blind = cutting.blind or KNOWS_METHOD in (adversary, algorithm.adversary)
        return replace(cutting, blind=blind, otherwise=None if adversary == KNOWS_METHOD else cutting.otherwise)
    if adversary == KNOWS_METHOD and not cutting.at_random:
        raise Unsupported(
            f"{algorithm.name} cannot publish a table in parts against an adversary who knows the method: who is dealt "
            "to a slice along a curve depends on others of the same value."
        )
    return cutting


def cut(
    backend: Backend,
    survey: Survey,
    promises: Sequence[Promise],
    requirements: Sequence[Requirement],
    cutting: Cutting,
    adversary: str,
    part_rows: int,
    rng: Randomness,
) -> tuple[Fragments, Cutting]:
    """Parts of about `part_rows` records that each can keep every promise by itself, and the way they were cut."""
    fits = Fitting(survey, promises, adversary)
    if survey.counts_persons:
        assert isinstance(cutting, Boxes)
        by_persons = cut_by_persons(backend, survey, promises, requirements, cutting, adversary, part_rows, rng)
        _refuse_large(by_persons)
        return by_persons, cutting
    if isinstance(cutting, Boxes):
        boxes = _cut_boxes(backend, survey, requirements, cutting, fits, part_rows, rng)
        if boxes is not None:
            return boxes, cutting
        assert cutting.otherwise is not None
        cutting = cutting.otherwise
    data = survey.data
    counts = [data.prior(index) for index in range(len(data.domains.sensitive))] or [data.prior(None)]
    slices = _slices(survey, requirements, counts, fits, part_rows, rng.child("slices") if cutting.at_random else None)
    if max(slices.sizes) > MOST_IN_A_PART:
        raise Unsupported(
            "The promise leaves so little room that the table cannot be cut into parts that keep it by themselves. "
            "Promise a little less."
        )
    return slices, cutting


def _cut_boxes(
    backend: Backend,
    survey: Survey,
    requirements: Sequence[Requirement],
    cutting: Boxes,
    fits: Fitting,
    part_rows: int,
    rng: Randomness,
) -> BoxTree | SlicedBoxes | None:
    """None: boxes that look at no value do not fit, and there is another way."""
    sample = backend.sample(_SAMPLE, rng.child("sample"))
    looks = cutting.keep_promises and not cutting.blind
    fullness = _fullness(requirements if looks else (), len(survey.data.domains.quasi))
    boxes = grow_boxes(sample, survey.data.domains, survey.n_rows, part_rows, fullness)
    boxes, counts = _count_values(backend, survey, boxes)
    if not cutting.keep_promises:
        return boxes
    if cutting.blind:
        unfit = sum(not fits([column[number] for column in counts]) for number in range(boxes.n_parts))
        if unfit and cutting.otherwise is not None:
            return None
        if unfit:
            raise Infeasible(
                f"{unfit} of {boxes.n_parts} parts of about {part_rows:,} records cannot keep the promise by "
                "themselves. Parts are cut without a look at the sensitive values; that is what the promise against an "
                "adversary who knows the method rests on. Make parts larger (--part-rows), promise less, or use "
                "--adversary reads-release."
            )
        return boxes
    boxes = put_together(boxes, lambda numbers: fits([column[numbers].sum(axis=0) for column in counts]))
    boxes, counts = _cut_again(backend, survey, requirements, boxes, fits, part_rows)
    fragments = _slice_boxes(survey, boxes, counts, requirements, fits, part_rows)
    _refuse_large(fragments)
    return fragments


def _refuse_large(fragments: BoxTree | SlicedBoxes) -> None:
    largest = max(fragments.sizes)
    if largest > MOST_IN_A_PART:
        raise Unsupported(
            f"The table cannot be cut into parts that keep the promise by themselves: one would have {largest:,} "
            "records. Quasi-identifiers and sensitive values go together too closely for this promise; promise less, "
            "or use a bucket method (two-size), whose parts have the distribution of the table."
        )


def _slice_boxes(
    survey: Survey,
    boxes: BoxTree,
    counts: Sequence[Counts],
    requirements: Sequence[Requirement],
    fits: Fitting,
    part_rows: int,
) -> BoxTree | SlicedBoxes:
    """Boxes that no cut makes smaller dealt out in slices; the promises must be about one column at most."""
    if len({rule.column for rule in requirements if rule.column is not None}) > 1:
        return boxes
    found = {}
    for number, size in enumerate(boxes.sizes):
        if size > _DEALT_ABOVE * part_rows:
            mine = [column[number] for column in counts]
            slices = _slices(survey, requirements, mine, fits, _DEALT_INTO * part_rows, None)
            if slices.n_parts > 1:
                found[number] = slices
    return SlicedBoxes(boxes, found) if found else boxes


def _fullness(requirements: Sequence[Requirement], n_quasi: int) -> Callable[[Codes], float]:
    """The largest share of its room that a value takes among sampled records, with two standard deviations to spare.

    What is no ceiling is left to the count of all records.
    """
    bounds = [
        (n_quasi + (rule.column or 0), np.array([float(share) for share in rule.ceilings]))
        for rule in requirements
        if rule.ceilings is not None
    ]

    def fullness(records: Codes) -> float:
        fullest = 0.0
        for column, ceilings in bounds:
            counts = np.bincount(records[:, column], minlength=len(ceilings))
            taken = (counts + 2 * np.sqrt(counts)) / np.maximum(ceilings * len(records), 1e-9)
            fullest = max(fullest, float(taken[(ceilings < 1) & (counts > 0)].max(initial=0.0)))
        return fullest

    return fullness


def _count_values(backend: Backend, survey: Survey, boxes: BoxTree) -> tuple[BoxTree, list[Counts]]:
    """The boxes with their sizes; and [boxes, values] of each sensitive column (without one, [boxes, 1])."""

    def places(codes: Codes) -> tuple[Codes, Counts]:
        return codes, boxes.part_of(codes).astype(np.int64)[:, None]

    counts = _count_tables(backend, survey, (boxes.n_parts,), places)
    return replace(boxes, sizes=tuple(counts[0].sum(axis=1).tolist())), counts


def _count_tables(
    backend: Backend, survey: Survey, shape: tuple[int, ...], places: Callable[[Codes], tuple[Codes, Counts]]
) -> list[Counts]:
    """[*shape, values] of each sensitive column; without one, a single table of one value.

    `places` says which records count, and at which places of the shape, as if it were flat: one or several each.
    """
    domains = survey.data.domains
    n_quasi, n_sensitive = len(domains.quasi), len(domains.sensitive)
    widths = [domain.n_codes for domain in domains.sensitive] or [1]
    starts = np.cumsum([0, *(prod(shape) * width for width in widths)])

    def keys(codes: Codes) -> Counts:
        codes, at = places(codes)
        values = codes[:, n_quasi : n_quasi + n_sensitive] if n_sensitive else np.zeros((len(codes), 1), np.int64)
        each = [starts[j] + at * width + values[:, j : j + 1] for j, width in enumerate(widths)]
        return np.concatenate(each, axis=1).ravel()

    found, times = backend.count(keys)
    flat = np.zeros(int(starts[-1]), dtype=np.int64)
    flat[found] = times
    return [flat[starts[j] : starts[j + 1]].reshape(*shape, width) for j, width in enumerate(widths)]


def _cut_again(
    backend: Backend,
    survey: Survey,
    requirements: Sequence[Requirement],
    boxes: BoxTree,
    fits: Fitting,
    part_rows: int,
) -> tuple[BoxTree, list[Counts]]:
    """What is still too large, cut by exact counts: a sample cannot tell what keeps a promise by a hair.

    Each round counts, in the boxes that are too large, how often every value of a quasi-identifier meets every
    sensitive value, which decides about all single cuts.
    """
    axes, hopeless = [Axis(domain) for domain in survey.data.domains.quasi], set[tuple[tuple[int, ...], ...]]()
    least = int(part_rows * LEAST_SHARE)
    for _ in range(_ROUNDS):
        boxes, counts = _count_values(backend, survey, boxes)
        leaves = list(boxes.root.leaves())
        large = [
            number
            for number, leaf in enumerate(leaves)
            if boxes.sizes[number] > _CUT_ABOVE * part_rows and (leaf.lows, leaf.highs) not in hopeless
        ]
        if not large:
            return boxes, counts
        meetings = Meetings.count(backend, survey, boxes, large)
        full = partial(meetings.fullness, requirements, fits)
        others = {
            number: cut_once(leaves[number], meetings.codes(place), axes, least, partial(full, place))
            for place, number in enumerate(large)
        }
        hopeless |= {(box.lows, box.highs) for box in others.values() if not box.parts}
        boxes = exchange_boxes(boxes, others)
    return _count_values(backend, survey, boxes)


@dataclass(frozen=True, eq=False)
class Meetings:
    """How often each code of each quasi-identifier meets each sensitive value, in some boxes."""

    starts: Counts
    """Where the codes of each quasi-identifier begin."""
    tables: list[Counts]
    """One a sensitive column (without one, a single table of one value): [boxes, codes, values]"""

    @classmethod
    def count(cls, backend: Backend, survey: Survey, boxes: BoxTree, numbers: Sequence[int]) -> Meetings:
        n_codes = [max(domain.n_codes, 1) for domain in survey.data.domains.quasi]
        starts = np.cumsum([0, *n_codes])
        number_of_box = np.full(boxes.n_parts, -1, dtype=np.int64)
        number_of_box[list(numbers)] = np.arange(len(numbers))

        def places(codes: Codes) -> tuple[Codes, Counts]:
            number = number_of_box[boxes.part_of(codes)]
            codes, number = codes[number >= 0], number[number >= 0]
            return codes, number[:, None] * int(starts[-1]) + starts[:-1] + codes[:, : len(n_codes)]

        return cls(starts, _count_tables(backend, survey, (len(numbers), int(starts[-1])), places))

    def codes(self, place: int) -> list[Counts]:
        """How often each code of each quasi-identifier occurs in a box."""
        return [
            self.tables[0][place, first:last].sum(axis=1)
            for first, last in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]

    def fullness(
        self, requirements: Sequence[Requirement], fits: Fitting, place: int, attr: int, lasts: Sequence[int]
    ) -> float:
        """How full the fullest side of a cut is, exactly; 2 if one of them could not be published by itself."""
        first, fullest = 0, 0.0
        for last in lasts:
            codes = slice(int(self.starts[attr]) + first, int(self.starts[attr]) + last + 1)
            counts = [table[place, codes].sum(axis=0) for table in self.tables]
            first = last + 1
            if not fits(counts):
                return 2.0
            size = int(counts[0].sum())
            for rule in requirements:
                if rule.ceilings is not None and rule.column is not None:
                    ceilings = np.array([float(share) for share in rule.ceilings])
                    shares = counts[rule.column] / size
                    fullest = max(fullest, float((shares / np.maximum(ceilings, 1e-9))[ceilings < 1].max(initial=0.0)))
        return min(fullest, 1.0)


def _slices(
    survey: Survey,
    requirements: Sequence[Requirement],
    counts: Sequence[Counts],
    fits: Fitting,
    part_rows: int,
    secret: Randomness | None,
) -> Slices:
    """Slices of records with these counts of each sensitive column (without one, the number of records)."""
    data = survey.data
    columns = sorted({requirement.column for requirement in requirements if requirement.column is not None})
    if len(columns) > 1:
        names = " and ".join(quoted(data.domains.sensitive[index].name) for index in columns)
        raise Unsupported(f"Parts can have the proportions of one sensitive column, not of {names}. Use groups.")
    column = columns[0] if columns else None
    dealt = counts[column] if column is not None else np.array([int(counts[0].sum())])
    shares = [share for rule in requirements for share in rule.ceilings or () if 0 < share < 1]
    least = max([1, *(rule.min_size for rule in requirements)])
    units = [max(least, ceil(1 / max(shares))) if shares else least, least]

    def alone(quota: Counts) -> bool:
        size = np.array([int(quota.sum())])
        # Promises look at the column that is dealt out, and at how many records there are.
        return fits([quota if index == column else size for index in range(max(len(data.domains.sensitive), 1))])

    n_parts = max(1, ceil(Fraction(int(dealt.sum()), part_rows)))
    return Slices(data.schema, data.domains, column, even_quotas(dealt, n_parts, alone, units), secret)
