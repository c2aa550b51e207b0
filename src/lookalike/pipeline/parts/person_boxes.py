"""Boxes of a table in which persons have several rows: each box keeps the promises by the distinct persons in it.

A person may have rows in several boxes, so numbers of persons do not add up: neither over boxes that are put together,
nor over the values of a column. Cuts are therefore tried from a sample and from counts of rows, and then the distinct
persons of every box and of every box it was cut from are counted in all records. Boxes that could not be published by
themselves are put together again, by these counts. Nothing is dealt out in slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Boxes, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Codes
from lookalike.data.persons import chance_of_value, count_persons_by_value
from lookalike.data.release import Grouped
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible
from lookalike.pipeline.backends import Backend
from lookalike.pipeline.parts.boxes import (
    LEAST_SHARE,
    TIERS,
    Axis,
    Box,
    BoxTree,
    cut_at,
    exchange_boxes,
    grow_boxes,
    list_cuts,
)
from lookalike.pipeline.parts.survey import Survey
from lookalike.randomness import Randomness

Counts = NDArray[np.int64]
_SAMPLE = 300_000
_ROUNDS = 8
_CUT_ABOVE = 1.5
"""Boxes larger than so many parts are cut again."""
_WAYS = 12
"""So many ways to cut a box are counted at once."""


@dataclass(frozen=True, eq=False)
class _BoxCounts:
    """What was counted in one box."""

    n_rows: int
    n_persons: int
    most: int
    """The most rows that one person has in it."""
    persons: Sequence[Counts]
    """Of each sensitive column, how many persons have each value in some row of the box."""
    rows: Sequence[Counts]
    """And how many rows."""


class _PersonFitting:
    """Whether all rows of a box may be one group, exactly: then it can be published by itself."""

    def __init__(
        self, survey: Survey, promises: Sequence[Promise], requirements: Sequence[Requirement], adversary: str
    ) -> None:
        self._data, self._adversary = survey.data, adversary
        self._promises, self._requirements = promises, requirements

    def __call__(self, box: _BoxCounts) -> bool:
        return (
            box.n_persons > 0
            and all(self._holds(promise, box) for promise in self._promises)
            and all(self._hides_known_numbers(requirement, box) for requirement in self._requirements)
        )

    def _holds(self, promise: Promise, box: _BoxCounts) -> bool:
        domains = self._data.domains
        index = None if promise.column is None else domains.sensitive_index(promise.column)
        values = np.zeros(1, dtype=np.int64) if index is None else np.flatnonzero(box.persons[index])
        weights = np.array([box.n_persons]) if index is None else box.persons[index][values]
        group = Exposure(
            adversary=self._adversary,
            form=Grouped.form,
            column=None if index is None else domains.sensitive[index],
            prior=self._data.prior(index),
            starts=np.array([0, len(values)], dtype=np.int64),
            values=values.astype(np.int32),
            weights=weights.astype(np.int64),
            sizes=np.array([box.n_persons], dtype=np.int64),
            n_classes=1,
        )
        return promise.model.holds(promise.model.level(group))

    def _hides_known_numbers(self, requirement: Requirement, box: _BoxCounts) -> bool:
        """Whether as many rows of the box as one person has show each value with at most its ceiling."""
        if requirement.column is None or requirement.ceilings is None or box.most < 2 or not self._data.number_known:
            return True
        rows = box.rows[requirement.column].tolist()
        return all(
            chance_of_value(box.n_rows, count, box.most) <= ceiling
            for count, ceiling in zip(rows, requirement.ceilings, strict=True)
            if count and ceiling < 1
        )


def cut_by_persons(
    backend: Backend,
    survey: Survey,
    promises: Sequence[Promise],
    requirements: Sequence[Requirement],
    cutting: Boxes,
    adversary: str,
    part_rows: int,
    rng: Randomness,
) -> BoxTree:
    """Boxes of about `part_rows` rows that each keep every promise by the distinct persons in them."""
    fits = _PersonFitting(survey, promises, requirements, adversary)
    least = max([1, *(rule.min_size for rule in requirements)])
    # Blind cuts look at no sensitive value; how many persons are where is no such value.
    seen = () if cutting.blind else requirements
    allowed = (lambda box: box.n_persons >= least) if cutting.blind else fits
    sample = backend.sample(_SAMPLE, rng.child("sample"))
    full = partial(_guess_fullness, survey, seen, least)
    boxes = grow_boxes(sample, survey.data.domains, survey.n_rows, part_rows, full)
    boxes, counts = _put_together(backend, survey, boxes, allowed)
    hopeless = set[tuple[tuple[int, ...], ...]]()
    for _ in range(_ROUNDS):
        large = [
            box
            for box in boxes.root.leaves()
            if counts[box].n_rows > _CUT_ABOVE * part_rows and (box.lows, box.highs) not in hopeless
        ]
        if not large:
            break
        tried = _cut_once(backend, survey, boxes, large, allowed, seen, int(part_rows * LEAST_SHARE))
        hopeless |= {(box.lows, box.highs) for box in tried.values() if not box.parts}
        boxes = exchange_boxes(boxes, tried)
        counts = _count_tree(backend, survey, boxes)
    unfit = sum(not fits(counts[box]) for box in boxes.root.leaves())
    if unfit and cutting.blind:
        raise Infeasible(
            f"{unfit} of {boxes.n_parts} parts of about {part_rows:,} rows cannot keep the promise by the distinct "
            "persons in them. Parts are cut without a look at the sensitive values; that is what the promise against "
            "an adversary who knows the method rests on. Make parts larger (--part-rows), promise less, or use "
            "--adversary reads-release."
        )
    return replace(boxes, sizes=tuple(counts[box].n_rows for box in boxes.root.leaves()))


def _guess_fullness(survey: Survey, requirements: Sequence[Requirement], least: int, records: Codes) -> float:
    """The largest share of its room that a value, or the least size, takes among the persons of sampled rows."""
    n_quasi, persons = len(survey.data.domains.quasi), records[:, survey.n_published]
    n_persons = len(np.unique(persons))
    fullest = least / max(n_persons, 1)
    for rule in requirements:
        if rule.column is not None and rule.ceilings is not None:
            counts = count_persons_by_value(persons, records[:, n_quasi + rule.column], len(rule.ceilings))
            fullest = max(fullest, _room_taken(rule, counts + 2 * np.sqrt(counts), n_persons))
    return fullest


def _room_taken(rule: Requirement, counts: NDArray[Any], n_persons: int) -> float:
    """The largest share of its room that a value takes, of so many persons with each value."""
    ceilings = np.array([float(share) for share in rule.ceilings or ()])
    taken = counts / np.maximum(ceilings * n_persons, 1e-9)
    return float(taken[(ceilings < 1) & (counts > 0)].max(initial=0.0))


def _walk(box: Box) -> Iterator[Box]:
    """The box and all boxes it was cut into, each before its parts."""
    yield box
    for part in box.parts:
        yield from _walk(part)


def _put_together(
    backend: Backend, survey: Survey, boxes: BoxTree, fits: Callable[[_BoxCounts], bool]
) -> tuple[BoxTree, dict[Box, _BoxCounts]]:
    """The boxes, with those that do not fit put together with the others they were cut with; and the counts of each."""
    counts = _count_tree(backend, survey, boxes)

    def joined(box: Box) -> Box:
        parts = tuple(joined(part) for part in box.parts)
        if all(after.parts or fits(counts[before]) for after, before in zip(parts, box.parts, strict=True)):
            return replace(box, parts=parts)
        return Box(box.lows, box.highs)

    kept = BoxTree.of(joined(boxes.root))
    by_ends = {(box.lows, box.highs): found for box, found in counts.items()}
    return kept, {box: by_ends[box.lows, box.highs] for box in _walk(kept.root)}


def _count_tree(backend: Backend, survey: Survey, boxes: BoxTree) -> dict[Box, _BoxCounts]:
    """The counts of every box of the tree, those that were cut included."""
    listed = [*_walk(boxes.root)]
    number_of_box = {box: number for number, box in enumerate(listed)}

    def places(codes: Codes) -> tuple[Counts, Counts]:
        at: list[Counts] = []
        rows: list[Counts] = []
        stack = [(boxes.root, np.arange(len(codes)))]
        while stack:
            box, here = stack.pop()
            at.append(np.full(len(here), number_of_box[box]))
            rows.append(here)
            if box.parts:
                side = np.searchsorted(box.lasts, codes[here, box.attr], side="left")
                stack += [(part, here[side == place]) for place, part in enumerate(box.parts)]
        return np.concatenate(at), np.concatenate(rows)

    return dict(zip(listed, _count_places(backend, survey, len(listed), places), strict=True))


def _count_places(
    backend: Backend, survey: Survey, n_places: int, places: Callable[[Codes], tuple[Counts, Counts]]
) -> list[_BoxCounts]:
    """What is counted at each place; `places` gives places and rows, one or several for each row."""
    n_quasi, owner = len(survey.data.domains.quasi), survey.n_published
    widths = [1, *(domain.n_codes for domain in survey.data.domains.sensitive)]
    starts = n_places * np.cumsum([0, *widths])

    def keys(codes: Codes) -> tuple[Counts, Counts]:
        at, rows = places(codes)
        found = [at.astype(np.int64)]
        for index, width in enumerate(widths[1:]):
            found.append(starts[index + 1] + at * width + codes[rows, n_quasi + index])
        return np.concatenate(found), np.tile(codes[rows, owner].astype(np.int64), len(found))

    found = backend.count_owners(keys)
    flat = np.zeros((3, int(starts[-1])), dtype=np.int64)
    flat[:, found.keys] = found.records, found.owners, found.most
    rows, persons = (
        [table[starts[index] : starts[index + 1]].reshape(n_places, -1) for index in range(1, len(widths))]
        for table in flat[:2]
    )
    return [
        _BoxCounts(
            n_rows=int(flat[0, place]),
            n_persons=int(flat[1, place]),
            most=int(flat[2, place]),
            persons=[table[place] for table in persons],
            rows=[table[place] for table in rows],
        )
        for place in range(n_places)
    ]


def _cut_once(
    backend: Backend,
    survey: Survey,
    boxes: BoxTree,
    large: Sequence[Box],
    fits: Callable[[_BoxCounts], bool],
    requirements: Sequence[Requirement],
    least: int,
) -> dict[int, Box]:
    """These boxes cut in the best of a few ways, or as they are; the persons on each side are counted in all rows."""
    axes = [Axis(domain) for domain in survey.data.domains.quasi]
    codes_of_box = _count_codes(backend, survey, boxes, large)
    ways = [
        [cut_at(box, attr, lasts) for _, attr, lasts in list_cuts(counts, axes, box, least)[:_WAYS]]
        for box, counts in zip(large, codes_of_box, strict=True)
    ]
    firsts = np.cumsum([0, *(len(way.parts) for tried in ways for way in tried)])
    ways_of_box: dict[int | None, list[tuple[int, Box]]] = {}
    place = 0
    for box, tried in zip(large, ways, strict=True):
        ways_of_box[box.number] = [(int(firsts[place + index]), way) for index, way in enumerate(tried)]
        place += len(tried)

    def places(codes: Codes) -> tuple[Counts, Counts]:
        box_of_row, at, rows = boxes.part_of(codes), [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for number, tried in ways_of_box.items():
            here = np.flatnonzero(box_of_row == number)
            for first, way in tried:
                at.append(first + np.searchsorted(way.lasts, codes[here, way.attr], side="left"))
                rows.append(here)
        return np.concatenate(at), np.concatenate(rows)

    sides = _count_places(backend, survey, int(firsts[-1]), places)
    chosen = {}
    for box in large:
        assert box.number is not None
        allowed = [
            (_tier(requirements, counts), way)
            for first, way in ways_of_box[box.number]
            if all(map(fits, counts := sides[first : first + len(way.parts)]))
        ]
        # Of those that leave most room for further cuts the one that brings rows nearest, which comes first.
        chosen[box.number] = min(allowed, key=itemgetter(0))[1] if allowed else Box(box.lows, box.highs)
    return chosen


def _tier(requirements: Sequence[Requirement], sides: Sequence[_BoxCounts]) -> int:
    taken = [
        _room_taken(rule, side.persons[rule.column], side.n_persons)
        for side in sides
        for rule in requirements
        if rule.column is not None and rule.ceilings is not None
    ]
    return int(np.searchsorted(TIERS, max(taken, default=0.0), side="left"))


def _count_codes(backend: Backend, survey: Survey, boxes: BoxTree, large: Sequence[Box]) -> list[list[Counts]]:
    """How many rows of each of these boxes have each code of each quasi-identifier."""
    n_codes = [max(domain.n_codes, 1) for domain in survey.data.domains.quasi]
    starts = np.cumsum([0, *n_codes])
    place_of_box = np.full(boxes.n_parts, -1, dtype=np.int64)
    place_of_box[np.array([leaf.number for leaf in large])] = np.arange(len(large))

    def keys(codes: Codes) -> Counts:
        place = place_of_box[boxes.part_of(codes)]
        codes, place = codes[place >= 0], place[place >= 0]
        at: Counts = place[:, None] * int(starts[-1]) + starts[:-1] + codes[:, : len(n_codes)]
        return at.ravel()

    found, times = backend.count(keys)
    flat = np.zeros(len(large) * int(starts[-1]), dtype=np.int64)
    flat[found] = times
    tables = flat.reshape(len(large), int(starts[-1]))
    return [[table[first:last] for first, last in zip(starts[:-1], starts[1:], strict=True)] for table in tables]
