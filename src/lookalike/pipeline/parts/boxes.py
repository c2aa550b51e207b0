"""Boxes: parts of a table by quasi-identifiers, as a tree of cuts that any machine can follow.

Cut is where two records of a box come nearer to each other on average, between two values of one column; a taxonomy
is cut into the children of a node. So boxes do not overlap, and so is what is published of their
records: a reader tells boxes apart anyway, and a record fits rows of its own box alone.

Where to cut is decided from a sample of the records. Then all records of all boxes are counted; boxes that could not be
published by themselves are put together again with those they were cut from, and what is too large is cut once more, by
exact counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Domains
from lookalike.data.release import Grouped, Ranges, Release
from lookalike.data.schema import Kind

Counts = NDArray[np.int64]
_FEW_VALUES, _POSITIONS = 100, tuple(part / 40 for part in range(1, 40))
"""Up to so many values a column is cut between any two; one of more at these shares of the records."""
TIERS = (0.8, 0.88, 0.95, 1.0)
"""How much of its room a box's fullest value may take: cuts that leave more room for further ones come first."""
LEAST_SHARE = 0.25
"""A box is not cut into boxes of less than this share of what a part may have."""
_LEAST_SAMPLE = 40
"""Sampled records below which nothing is decided."""


@dataclass(frozen=True, eq=False)
class Box:
    """A box of codes, both ends included; `number` is None where it was cut."""

    lows: tuple[int, ...]
    highs: tuple[int, ...]
    number: int | None = None
    attr: int = -1
    """The column it was cut by."""
    lasts: tuple[int, ...] = ()
    """The last code of each of its parts."""
    parts: tuple[Box, ...] = ()

    def leaves(self) -> Iterator[Box]:
        if self.parts:
            for part in self.parts:
                yield from part.leaves()
        else:
            yield self


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Fits `contracts.Fragments`."""

    root: Box
    sizes: tuple[int, ...] = ()
    """How many records each has; empty if nobody counted."""

    is_ranked = False

    @classmethod
    def of(cls, root: Box) -> BoxTree:
        """The leaves numbered from left to right."""
        numbers = itertools.count()

        def numbered(box: Box) -> Box:
            if not box.parts:
                return Box(box.lows, box.highs, next(numbers))
            return replace(box, parts=tuple(map(numbered, box.parts)))

        return cls(numbered(root))

    @property
    def n_parts(self) -> int:
        return sum(1 for _ in self.root.leaves())

    def order(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        raise NotImplementedError("cells rank nothing")

    def part_of(self, codes: Codes, ranks: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        parts = np.empty(len(codes), dtype=np.int32)
        stack = [(self.root, np.arange(len(codes)))]
        while stack:
            box, rows = stack.pop()
            if not box.parts:
                assert box.number is not None
                parts[rows] = box.number
                continue
            side = np.searchsorted(box.lasts, codes[rows, box.attr], side="left")
            stack += [(part, rows[side == place]) for place, part in enumerate(box.parts)]
        return parts

    def limits(self, number: int) -> list[tuple[int, int]]:
        """The least and the largest code that a part may hold, by column."""
        box = next(box for box in self.root.leaves() if box.number == number)
        return list(zip(box.lows, box.highs, strict=True))

    def strays(self, number: int, codes: Codes, release: Release) -> int:
        """How many records, and groups of a grouped release, do not lie in its box."""
        outside = int(np.count_nonzero(self.part_of(codes) != number))
        return outside + self._reaching_out(number, release) if isinstance(release, Grouped) else outside

    def _reaching_out(self, number: int, release: Grouped) -> int:
        box = next(box for box in self.root.leaves() if box.number == number)
        out = np.zeros(len(release.extents[0]), dtype=bool)
        for attr, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True)):
            low, high = box.lows[attr], box.highs[attr]
            if isinstance(extents, Ranges):
                empty = extents.highs < extents.lows
                out |= ~empty & ((extents.lows < low) | (extents.highs > high))
                out |= extents.missing & (high < domain.missing_code)
            else:
                unit = np.repeat(np.arange(len(extents)), extents.sizes)
                out[unit[(extents.members < low) | (extents.members > high)]] = True
        return int(np.count_nonzero(out))


def grow_boxes(
    sample: Codes,
    domains: Domains,
    n_rows: int,
    part_rows: int,
    fullness: Callable[[Codes], float],
) -> BoxTree:
    """Boxes of about `part_rows` records at most, as a sample of the whole has it.

    `fullness` says of sampled records how much of the room that the promises leave them they take; above 1 they could
    not be published by themselves. A box that is nearly full can hardly be cut again, so that is put off.
    """
    weight = n_rows / max(len(sample), 1)
    least = max(_LEAST_SAMPLE, int(part_rows * LEAST_SHARE / weight))
    axes = [Axis(domain) for domain in domains.quasi]

    def cut(box: Box, rows: Codes) -> Box:
        if len(rows) * weight <= part_rows or len(rows) < 2 * _LEAST_SAMPLE:
            return box
        counts = [np.bincount(rows[:, attr], minlength=axis.n_codes) for attr, axis in enumerate(axes)]

        def full(attr: int, lasts: Sequence[int]) -> float:
            return max(map(fullness, _sides(rows, attr, lasts)))

        found = cut_once(box, counts, axes, least, full)
        parts = zip(found.parts, _sides(rows, found.attr, found.lasts), strict=True)
        return replace(found, parts=tuple(cut(part, side) for part, side in parts))

    tops = tuple(max(domain.n_codes - 1, 0) for domain in domains.quasi)
    return BoxTree.of(cut(Box((0,) * len(tops), tops), sample))


def _sides(rows: Codes, attr: int, lasts: Sequence[int]) -> list[Codes]:
    """The records on each side of a cut."""
    sides = np.searchsorted(lasts, rows[:, attr], side="left")
    return [rows[sides == side] for side in range(len(lasts))]


def cut_once(
    box: Box, counts: Sequence[Counts], axes: Sequence[Axis], least: int, full: Callable[[int, list[int]], float]
) -> Box:
    """The box cut in the best way, or as it is if there is none.

    `counts`: how often each code of each quasi-identifier occurs in it; `full` says how full the fullest side of a cut
    would be.
    """
    cut = _find_best(list_cuts(counts, axes, box, least), full)
    return box if cut is None else cut_at(box, *cut)


def cut_at(box: Box, attr: int, lasts: Sequence[int]) -> Box:
    """The box cut into parts by one column; the last code of each part is given."""
    parts = tuple(
        Box(_with(box.lows, attr, first), _with(box.highs, attr, last)) for first, last in _runs(box, attr, lasts)
    )
    return Box(box.lows, box.highs, None, attr, tuple(lasts), parts)


def _runs(box: Box, attr: int, lasts: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last code of each side of a cut."""
    return list(zip([box.lows[attr], *(last + 1 for last in lasts[:-1])], lasts, strict=True))


def _find_best(
    candidates: list[tuple[float, int, list[int]]], full: Callable[[int, list[int]], float]
) -> tuple[int, list[int]] | None:
    """The first candidate in the lowest tier that has one."""
    chosen, tier = None, len(TIERS)
    for _, attr, lasts in candidates:
        found = int(np.searchsorted(TIERS, full(attr, lasts), side="left"))
        if found < tier:
            chosen, tier = (attr, lasts), found
        if tier == 0:
            break
    return chosen


def _with(ends: tuple[int, ...], attr: int, end: int) -> tuple[int, ...]:
    return (*ends[:attr], end, *ends[attr + 1 :])


def list_cuts(
    counts: Sequence[Counts], axes: Sequence[Axis], box: Box, least: int
) -> list[tuple[float, int, list[int]]]:
    """Ways to cut that leave so many records on each side; the one that brings records nearest first."""
    found = []
    for attr, (axis, here) in enumerate(zip(axes, counts, strict=True)):
        before = axis.measure_spread(here) * int(here.sum())
        for lasts in axis.ways(here, box.lows[attr], box.highs[attr]):
            sides = [np.zeros_like(here) for _ in lasts]
            for side, (first, last) in zip(sides, _runs(box, attr, lasts), strict=True):
                side[first : last + 1] = here[first : last + 1]
            if min(int(side.sum()) for side in sides) >= least:
                after = sum(axis.measure_spread(side) * int(side.sum()) for side in sides)
                found.append(((before - after) * axis.weight, attr, lasts))
    return sorted(found, key=lambda one: (-one[0], one[1], one[2]))


class Axis:
    """How far values of a column are from each other, as loss: 0 for the same, 1 for the whole domain."""

    def __init__(self, domain: Domain) -> None:
        self.n_codes = max(domain.n_codes, 1)
        self.weight = float(domain.attribute.weight)
        self.tree = domain.taxonomy
        self.is_set = domain.kind is Kind.CATEGORICAL and self.tree is None
        # A cell that would list too many values is published as any value, which no part but the whole holds.
        self.is_cut = not self.is_set or domain.longest_set >= domain.n_codes
        span = domain.high - domain.low if domain.kind is Kind.NUMERIC else float(domain.size - 1)
        # A missing value loses everything next to another: it stands one domain farther.
        places = (domain.points - domain.low) if domain.kind is Kind.NUMERIC else np.arange(len(domain.values))
        self.points = np.append(places / span if span > 0 else np.zeros(len(places)), 2.0)[: self.n_codes]
        if self.tree is not None:
            widths = (self.tree.lasts - self.tree.firsts) / max(self.tree.n_leaves - 1, 1)
            above = np.where(self.tree.parents >= 0, widths[np.maximum(self.tree.parents, 0)], 0.0)
            self.rises = widths - above

    def measure_spread(self, counts: Counts) -> float:
        """The mean loss of two records put together."""
        total = int(counts.sum())
        if not total:
            return 0.0
        if self.tree is not None:
            ends = np.concatenate([[0], np.cumsum(counts)])
            masses = (ends[self.tree.lasts + 1] - ends[self.tree.firsts]) / total
            return float((masses**2 * self.rises).sum())
        shares = counts / total
        if self.is_set:
            return float(1.0 - (shares**2).sum()) / max(self.n_codes - 1, 1)
        below = np.cumsum(shares)[:-1]
        return float(2.0 * (below * (1.0 - below) * np.diff(self.points)).sum())

    def ways(self, counts: Counts, low: int, high: int) -> list[list[int]]:
        """Ways to cut the codes from low to high: the last code of each side."""
        present = np.flatnonzero(counts)
        if len(present) < 2 or not self.is_cut:
            return []
        if self.tree is not None:
            node = int(self.tree.closures(np.array([low], dtype=np.int32), np.array([high], dtype=np.int32))[0])
            children = np.flatnonzero(self.tree.parents == node)
            return [sorted(int(last) for last in self.tree.lasts[children])] if len(children) > 1 else []
        if len(present) <= _FEW_VALUES:
            lasts = set(present[:-1].tolist())
        else:
            shares = np.cumsum(counts) / counts.sum()
            lasts = {int(np.searchsorted(shares, position)) - after for position in _POSITIONS for after in (0, 1)}
        return [[last, high] for last in sorted(lasts) if low <= last < high]


def exchange_boxes(boxes: BoxTree, others: Mapping[int, Box]) -> BoxTree:
    """The boxes with some of them, by their numbers, in another shape."""

    def mended(box: Box) -> Box:
        if not box.parts:
            return others.get(box.number, box) if box.number is not None else box
        return replace(box, parts=tuple(mended(part) for part in box.parts))

    return BoxTree.of(mended(boxes.root))


def put_together(boxes: BoxTree, fits: Callable[[list[int]], bool]) -> BoxTree:
    """Boxes of which each fits: those that do not are put together again with those they were cut from.

    `fits` says of some boxes, by their numbers, whether their records may be published together by themselves. All
    together do.
    """

    def numbers(box: Box) -> list[int]:
        return [leaf.number for leaf in box.leaves() if leaf.number is not None]

    def mended(box: Box) -> Box:
        if not box.parts:
            return box
        parts = tuple(mended(part) for part in box.parts)
        if all(after.parts or fits(numbers(before)) for after, before in zip(parts, box.parts, strict=True)):
            return replace(box, parts=parts)
        return Box(box.lows, box.highs)

    return BoxTree.of(mended(boxes.root))
