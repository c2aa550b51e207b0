"""Slices: parts that each have every sensitive value in the proportion of the table.

The records of a value are laid in an order and dealt out to the parts, as many to each as its quota says: by their
order along a Hilbert curve (near records stay together), or at random (then who is in a part says nothing). Quotas come
from the counts of the whole table alone, and each part keeps every promise as a whole, exactly: that is tested before
a single record moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domains, Microdata
from lookalike.data.release import Release
from lookalike.data.schema import Schema
from lookalike.pipeline.parts.boxes import BoxTree
from lookalike.randomness import Randomness

Counts = NDArray[np.int64]
_BLOCK = 1 << 16
"""Ranks that are dealt out at random together."""
_BLOCKS_KEPT = 64


def _mix(codes: Codes) -> NDArray[np.int64]:
    """A number for each record that spreads evenly; not secret, only to have an order that can be cut anywhere."""
    mixed: NDArray[np.uint64] = np.zeros(len(codes), dtype=np.uint64)
    for attr in range(codes.shape[1]):
        mixed = (mixed ^ codes[:, attr].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed.astype(np.int64)


def even_quotas(counts: Counts, n_parts: int, fits: Callable[[Counts], bool], units: Iterable[int]) -> Counts:
    """[parts, values] how many records of each value a part gets; as many parts as can keep the promises by themselves.

    `fits` says whether records with these counts may be published by themselves; `units`: the numbers that the sizes of
    parts are tried as multiples of. The whole table fits, so one part always does.
    """
    tried = [*dict.fromkeys(units), 1]
    while n_parts > 1:
        for unit in tried:
            quotas = _deal_quotas(counts, n_parts, unit)
            if all(fits(row) for row in np.unique(quotas, axis=0)):
                return quotas
        n_parts //= 2
    return counts[None, :].copy()


def _deal_quotas(counts: Counts, n_parts: int, unit: int) -> Counts:
    """Each part its share of what is left: rounded down, then the largest remainders first."""
    left = counts.astype(np.int64)
    quotas = np.zeros((n_parts, len(counts)), dtype=np.int64)
    for part in range(n_parts - 1):
        total = int(left.sum())
        size = max(unit, round(total / (n_parts - part) / unit) * unit)
        if size >= total:
            break
        # In whole numbers: floats would round large counts.
        products = left.astype(object) * size
        taken = np.array([product // total for product in products], dtype=np.int64)
        rests = np.array([product % total for product in products], dtype=np.int64)
        taken[np.argsort(-rests, kind="stable")[: size - int(taken.sum())]] += 1
        quotas[part] = taken
        left = left - taken
    quotas[n_parts - 1] = left
    taking_part: Counts = quotas[quotas.sum(axis=1) > 0]
    return taking_part


@dataclass(frozen=True, eq=False)
class Slices:
    """Fits `contracts.Fragments`."""

    schema: Schema
    domains: Domains
    column: int | None
    """The sensitive column whose values are dealt out; None: all records are of one kind."""
    quotas: Counts
    """[parts, values]"""
    secret: Randomness | None = None
    """None: records are dealt in the order of a Hilbert curve; else at random."""
    _labels: dict[tuple[int, int], NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)
    _blocks: dict[int, Counts] = field(default_factory=dict, init=False, repr=False)

    is_ranked = True

    @property
    def n_parts(self) -> int:
        return len(self.quotas)

    @property
    def n_strata(self) -> int:
        return int(self.quotas.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many records each part has."""
        return tuple(self.quotas.sum(axis=1).tolist())

    def _strata(self, codes: Codes) -> NDArray[np.int64]:
        if self.column is None:
            return np.zeros(len(codes), dtype=np.int64)
        return codes[:, len(self.domains.quasi) + self.column].astype(np.int64)

    def order(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        strata = self._strata(codes)
        if self.secret is not None:
            return strata, _mix(codes)
        from lookalike.algorithms.shared.value_buckets import curve_keys

        quasi = codes[:, : len(self.domains.quasi)]
        nothing = np.zeros((len(codes), 0), dtype=np.int32)
        return strata, curve_keys(Microdata(self.schema, self.domains, quasi, nothing, nothing))

    def part_of(self, codes: Codes, ranks: NDArray[np.int64] | None) -> NDArray[np.int32]:
        assert ranks is not None
        strata = self._strata(codes)
        parts = np.empty(len(codes), dtype=np.int32)
        for stratum in np.unique(strata).tolist():
            here = np.flatnonzero(strata == stratum)
            parts[here] = self._deal_ranks(stratum, ranks[here])
        return parts

    def _deal_ranks(self, stratum: int, ranks: NDArray[np.int64]) -> NDArray[np.int32]:
        if self.secret is None:
            ends = np.cumsum(self.quotas[:, stratum])
            return np.searchsorted(ends, ranks, side="right").astype(np.int32)
        parts = np.empty(len(ranks), dtype=np.int32)
        for block in np.unique(ranks // _BLOCK).tolist():
            here = ranks // _BLOCK == block
            parts[here] = self._block(stratum, block)[ranks[here] % _BLOCK]
        return parts

    def _block(self, stratum: int, block: int) -> NDArray[np.int32]:
        """The parts of a block of ranks, in random order. Who computes it, when and where makes no difference.

        How many of a block go to each part is drawn block by block without replacement, so all ways to deal the
        records of a value out to the quotas are equally likely.
        """
        assert self.secret is not None
        if (stratum, block) not in self._labels:
            if len(self._labels) >= _BLOCKS_KEPT:
                self._labels.clear()
            numbers = self._splits(stratum)[block]
            labels = np.repeat(np.arange(self.n_parts, dtype=np.int32), numbers)
            order = self.secret.child("slice", stratum, block).permutation(len(labels))
            self._labels[stratum, block] = labels[order]
        return self._labels[stratum, block]

    def _splits(self, stratum: int) -> Counts:
        """[blocks, parts] how many of each block go to each part."""
        assert self.secret is not None
        if stratum not in self._blocks:
            left = self.quotas[:, stratum].copy()
            draws = np.random.Generator(np.random.Philox(key=self.secret.child("blocks", stratum).words(2)))
            rows = []
            while (total := int(left.sum())) > 0:
                row = left.copy()
                if total > _BLOCK:
                    row = draws.multivariate_hypergeometric(left, _BLOCK, method="marginals")
                rows.append(row)
                left = left - row
            self._blocks[stratum] = np.array(rows, dtype=np.int64)
        return self._blocks[stratum]


@dataclass(frozen=True, eq=False)
class SlicedBoxes:
    """Fits `contracts.Fragments`."""

    boxes: BoxTree
    slices: Mapping[int, Slices]
    """By the number of the box."""

    is_ranked = True

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first part of each box, and the number of all parts."""
        each = [self.slices[box].n_parts if box in self.slices else 1 for box in range(self.boxes.n_parts)]
        return np.cumsum([0, *each])

    @property
    def n_parts(self) -> int:
        return int(self.firsts[-1])

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(
            size
            for box, whole in enumerate(self.boxes.sizes)
            for size in (self.slices[box].sizes if box in self.slices else (whole,))
        )

    def order(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        some = next(iter(self.slices.values()))
        strata, keys = some.order(codes)
        return self.boxes.part_of(codes).astype(np.int64) * some.n_strata + strata, keys

    def part_of(self, codes: Codes, ranks: NDArray[np.int64] | None) -> NDArray[np.int32]:
        assert ranks is not None
        box_of_record = self.boxes.part_of(codes)
        parts = self.firsts[box_of_record].astype(np.int32)
        for box, slices in self.slices.items():
            here = np.flatnonzero(box_of_record == box)
            if len(here):
                parts[here] += slices.part_of(codes[here], ranks[here])
        return parts

    def _box_of(self, number: int) -> int:
        return int(np.searchsorted(self.firsts, number, side="right")) - 1

    def limits(self, number: int) -> list[tuple[int, int]]:
        """The least and the largest code that the box of the part may hold, by column."""
        return self.boxes.limits(self._box_of(number))

    def strays(self, number: int, codes: Codes, release: Release) -> int:
        """How many records and groups do not lie in the box of the part."""
        return self.boxes.strays(self._box_of(number), codes, release)
