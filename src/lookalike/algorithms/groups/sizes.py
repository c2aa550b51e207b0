"""How large the groups should be: the sizes that ceilings allow, chosen for the least expected loss.

Without ceilings all groups have the least size allowed (or one more). With ceilings, value v may occur at most
floor(ceiling_v * size) times in a group, so rare values need large groups; `linear_programs` decides how many groups
there are of which size, so that most records can be in small groups. The loss of a group is taken to grow as a power of
its size; the search that follows works on what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.linear_programs import (
    Ceilings,
    Numbers,
    allot_values,
    can_fill,
    divide_further,
    numbers_of_groups,
    rooms_at,
)
from lookalike.data.microdata import read_only
from lookalike.data.requirement import GroupRule
from lookalike.kernels.grouptest import are_groups_allowed, tally_for

# Measured on census data: the loss by record of a group grows about as size^0.7.
_GROWTH = 0.7
_MOST_CANDIDATES = 48
# Rooms that are worked out at once.
_MOST_ROOMS = 1_000_000


def even_sizes(n_rows: int, size: int) -> NDArray[np.int64]:
    """As many groups of at least `size` as fit, as even as can be."""
    n_groups = max(n_rows // size, 1)
    sizes = np.full(n_groups, n_rows // n_groups, dtype=np.int64)
    sizes[: n_rows % n_groups] += 1
    return sizes


def rooms_for(size: int, ceilings: Ceilings) -> NDArray[np.int64]:
    """How often each value may occur in a group of that size."""
    return np.asarray(rooms_at([size], ceilings)[0], dtype=np.int64)


@dataclass(frozen=True)
class Plan:
    """Sizes of groups that can hold all records, and how the first column's values are to be spread over them."""

    sizes: NDArray[np.int64]
    allotment: dict[int, NDArray[np.int64]] | None = None
    """For each size how many records of each value its groups get; None: as it comes."""
    makeshift: bool = False
    """Whether the search for the least loss found nothing, so that these groups are larger than they might be."""


def plan_sizes(counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], min_size: int) -> Plan | None:
    """Group sizes that have room for every value under every column's ceilings; None if even one group has not."""
    n_rows = int(counts[0].sum())
    candidates = candidates_for(counts, ceilings, min_size)
    if candidates:
        even = _plan_even(n_rows, counts, ceilings, candidates[0])
        if even is not None:
            return Plan(even)
        numbers = numbers_of_groups(counts, ceilings, candidates, loss_of_group(ceilings), least=max(min_size, 1))
        if numbers is not None:
            return _plan_of(numbers, counts, ceilings)
    return _makeshift(n_rows, counts, ceilings, min_size)


def loss_of_group(ceilings: Sequence[Ceilings]) -> Callable[[int], float]:
    """A guess at what a group of a size loses in all. The rooms of its values add up to `slack` times its size.

    Without slack every group must hold the same values and has no choice of neighbours.
    """

    @cache
    def loss(size: int) -> float:
        slack = min(float(rooms_for(size, bounds).sum()) / size for bounds in ceilings)
        return size * float(size**_GROWTH * (1 + 1 / max(slack - 1, 0.02)) ** 0.5)

    return loss


def _makeshift(
    n_rows: int, counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], min_size: int
) -> Plan | None:
    """Even groups as small as can be filled, else one group divided as often as it can be."""
    size = max(min_size, 1)
    while size <= n_rows // 2:
        sizes = _plan_even(n_rows, counts, ceilings, size)
        if sizes is not None:
            return Plan(sizes, makeshift=True)
        size += max(1, size // 16)
    whole = {n_rows: 1}
    if n_rows < min_size or not can_fill(counts, ceilings, whole):
        return None
    numbers = divide_further(counts, ceilings, whole, loss_of_group(ceilings), max(min_size, 1))
    return _plan_of(numbers, counts, ceilings, makeshift=True)


def _plan_of(
    numbers: Numbers, counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], *, makeshift: bool = False
) -> Plan:
    sizes = np.repeat(sorted(numbers), [numbers[size] for size in sorted(numbers)])
    return Plan(sizes, allot_values(counts[0], ceilings[0], numbers), makeshift)


def quotas_in_turn(
    sizes: NDArray[np.int64], allotment: dict[int, NDArray[np.int64]], n_values: int
) -> NDArray[np.int64]:
    """[groups, values] how many records of each value a group gets if each size's values are dealt out in turn.

    Value after value, record after record, to the next group of the size: every group gets its share rounded down or
    up, which the ceilings allow, and exactly its size in all.
    """
    quotas = np.zeros((len(sizes), n_values), dtype=np.int64)
    for size, numbers in allotment.items():
        groups = np.flatnonzero(sizes == size)
        dealt = np.repeat(np.arange(len(numbers)), numbers)
        np.add.at(quotas, (groups[np.arange(len(dealt)) % len(groups)], dealt), 1)
    return quotas


def in_blocks(plan: Plan, counts: NDArray[np.int64], ceilings: Ceilings) -> dict[int, NDArray[np.int64]]:
    """For each size of the plan how many records of each value its groups get, of a single column."""
    if plan.allotment is not None:
        return plan.allotment
    sizes, times = np.unique(plan.sizes, return_counts=True)
    if len(sizes) == 1:
        return {int(sizes[0]): counts}
    # Even sizes differ by one. Every value in proportion, as far as both blocks have room for it.
    small, large = int(sizes[0]), int(sizes[1])
    wanted = small * int(times[0])
    least, most = _limits_of_smaller(plan.sizes, counts, ceilings)
    share = counts * (wanted / int(counts.sum()))
    taken = np.clip(np.floor(share).astype(np.int64), least, most)
    while (missing := wanted - int(taken.sum())) != 0:
        step = 1 if missing > 0 else -1
        movable = taken < most if step > 0 else taken > least
        taken[np.argmax(np.where(movable, step * (share - taken), -np.inf))] += step
    return {small: taken, large: counts - taken}


def proportional_quotas(counts: NDArray[np.int64], rule: GroupRule, column: int = 0) -> NDArray[np.int64] | None:
    """[groups, values] groups that all have about the same mix of one column's values, as small as the rule allows."""
    n_groups = count_proportional(counts, rule, np.arange(len(counts)), column)
    if n_groups is None:
        return None
    return quotas_in_turn(np.ones(n_groups, dtype=np.int64), {1: counts}, len(counts))


def count_proportional(
    counts: NDArray[np.int64], rule: GroupRule, codes: NDArray[np.int64], column: int = 0
) -> int | None:
    """The most groups, among those tried, that keep the rule if the values of a column are dealt to them in turn.

    `codes` are the values that `counts` are of. None if not even one group of all records keeps it.
    """
    mine = np.flatnonzero(rule.settings["column"] == column)
    rule = rule._replace(
        min_size=max(rule.min_size, 1), settings=rule.settings[mine], values=rule.values[mine], nodes=rule.nodes[mine]
    )
    n_rows, size = int(counts.sum()), max(rule.min_size, 2)
    dealt = np.zeros((n_rows, column + 1), dtype=np.int32)
    dealt[:, column] = np.repeat(codes, counts)
    tally = tally_for(rule)

    def fine(n_groups: int) -> bool:
        members = np.argsort(np.arange(n_rows) % n_groups, kind="stable")
        starts = np.concatenate(([0], np.cumsum(even_sizes(n_rows, n_rows // n_groups)))).astype(np.int64)
        return bool(are_groups_allowed(rule, read_only(dealt), members, starts, tally))

    while size <= n_rows // 2:
        if fine(n_rows // size):
            return n_rows // size
        size = size + max(1, size // 8)
    return 1 if fine(1) else None


def candidates_for(counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], min_size: int) -> list[int]:
    """Sizes worth considering: from the least that can be filled to the least that has room for every value."""
    n_rows = int(counts[0].sum())
    rarest = min(
        ceiling
        for bounds, number in zip(ceilings, counts, strict=True)
        for ceiling, count in zip(bounds, number, strict=True)
        if count and ceiling > 0
    )
    largest = min(n_rows, max(math.ceil(1 / rarest) * 2, min_size + 1))
    tried = np.arange(max(min_size, 1), largest + 1)
    fillable = np.ones(len(tried), dtype=np.bool_)
    for bounds, number in zip(ceilings, counts, strict=True):
        step = max(1, _MOST_ROOMS // len(bounds))
        for start in range(0, len(tried), step):
            some = tried[start : start + step]
            held = np.minimum(rooms_at(some.tolist(), bounds), number).sum(axis=1)
            fillable[start : start + step] &= held >= some
    sizes: list[int] = tried[fillable].tolist()
    if len(sizes) <= _MOST_CANDIDATES:
        return sizes
    # All the small ones, which matter most, and ever fewer of the large ones.
    spaced = np.unique(np.geomspace(1, len(sizes), _MOST_CANDIDATES).astype(int) - 1)
    return [sizes[place] for place in spaced]


def _plan_even(
    n_rows: int, counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], size: int
) -> NDArray[np.int64] | None:
    """Even sizes, if they have room for every value and can be filled (as under l-diversity)."""
    sizes = even_sizes(n_rows, size)
    fits = all(splits_evenly(sizes, number, bounds) for bounds, number in zip(ceilings, counts, strict=True))
    return sizes if fits else None


def splits_evenly(sizes: NDArray[np.int64], counts: NDArray[np.int64], ceilings: Ceilings) -> bool:
    """Whether groups of one size, or of two, have room for every value and can be filled."""
    least, most = _limits_of_smaller(sizes, counts, ceilings)
    n_small = int(sizes[sizes == sizes.min()].sum())
    return bool((least <= most).all() and least.sum() <= n_small <= most.sum())


def _limits_of_smaller(
    sizes: NDArray[np.int64], counts: NDArray[np.int64], ceilings: Ceilings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each value, how many records the smaller of two sizes of groups must take at least, and can at most."""
    small, large = int(sizes.min()), int(sizes.max())
    n_small, n_large = np.count_nonzero(sizes == small), np.count_nonzero(sizes == large)
    room = rooms_for(large, ceilings) * n_large if large > small else 0
    return np.maximum(counts - room, 0), np.minimum(counts, rooms_for(small, ceilings) * n_small)
