"""How large the groups should be: the sizes that ceilings allow, chosen for the least expected loss.

Without ceilings all groups have the least size allowed (or one more). With ceilings, value v may occur at most
floor(ceiling_v * size) times in a group, so rare values need large groups; a small integer program (HiGHS) decides how
many groups of which size there are and how many records of each value go to each size, so that most records can sit in
small groups. The loss of a group is taken to grow as a power of its size; the search that follows works on what it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.grouptest import counts_allowed, tally_for
from lookalike.requirement import GroupRule

Ceilings = Sequence[Fraction]

# Measured on census data: the loss by record of a group grows about as size^0.7.
_GROWTH = 0.7
_MOST_CANDIDATES = 48
_SECONDS = 2.0


def expected_loss(size: int, slack: float) -> float:
    """A guess at the loss by record of groups of a size whose rooms add up to `slack` times the size.

    Without slack every group must hold the same values and has no choice of neighbours.
    """
    return float(size**_GROWTH * (1 + 1 / max(slack - 1, 0.02)) ** 0.5)


def even_sizes(n_rows: int, size: int) -> NDArray[np.int64]:
    """As many groups of at least `size` as fit, as even as can be."""
    n_groups = max(n_rows // size, 1)
    sizes = np.full(n_groups, n_rows // n_groups, dtype=np.int64)
    sizes[: n_rows % n_groups] += 1
    return sizes


def rooms_for(size: int, ceilings: Ceilings) -> NDArray[np.int64]:
    """How often each value may occur in a group of that size."""
    return np.array([min(math.floor(ceiling * size), size) for ceiling in ceilings], dtype=np.int64)


@dataclass(frozen=True)
class Plan:
    """Sizes of groups that can hold all records, and how the first column's values are to be spread over them."""

    sizes: NDArray[np.int64]
    allotment: dict[int, NDArray[np.int64]] | None = None
    """For each size how many records of each value its groups get; None: as it comes."""


def planned_sizes(counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], min_size: int) -> Plan | None:
    """Group sizes that have room for every value under every column's ceilings; None if none was found."""
    n_rows = int(counts[0].sum())
    candidates = _candidates(n_rows, counts, ceilings, min_size)
    if not candidates:
        return None
    even = _even(n_rows, counts, ceilings, candidates[0])
    if even is not None:
        return Plan(even)
    # First in fractions of groups, over all candidates; then in whole groups, over the sizes that were wanted.
    wanted = _program(n_rows, counts, ceilings, candidates, whole=False)
    if wanted is None:
        return None
    near = {size + step for size in np.unique(wanted.sizes).tolist() for step in (0, 1)}
    return _program(n_rows, counts, ceilings, sorted(near | {candidates[-1]}), whole=True)


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
    tally = tally_for(rule)
    rules = [index for index in range(len(rule.settings)) if rule.settings[index]["column"] == column]

    def fine(quotas: NDArray[np.int64]) -> bool:
        return all(
            counts_allowed(rule, index, group, int(group.sum()), tally)
            for group in np.unique(quotas, axis=0)
            for index in rules
        )

    n_rows, size = int(counts.sum()), max(rule.min_size, 2)
    while size <= n_rows // 2:
        n_groups = n_rows // size
        quotas = quotas_in_turn(np.full(n_groups, size), {size: counts}, len(counts))
        if fine(quotas):
            return quotas
        size = size + max(1, size // 8)
    return counts[None, :] if n_rows >= rule.min_size and fine(counts[None, :]) else None


def _candidates(
    n_rows: int, counts: Sequence[NDArray[np.int64]], ceilings: Sequence[Ceilings], min_size: int
) -> list[int]:
    """Sizes worth considering: from the least that can be filled to the least that has room for every value."""

    def fillable(size: int) -> bool:
        return all(
            int(np.minimum(rooms_for(size, bounds), number).sum()) >= size
            for bounds, number in zip(ceilings, counts, strict=True)
        )

    rarest = min(
        ceiling
        for bounds, number in zip(ceilings, counts, strict=True)
        for ceiling, count in zip(bounds, number, strict=True)
        if count and ceiling > 0
    )
    largest = min(n_rows, max(math.ceil(1 / rarest) * 2, min_size + 1))
    sizes = [size for size in range(max(min_size, 1), largest + 1) if fillable(size)]
    if len(sizes) <= _MOST_CANDIDATES:
        return sizes
    # All the small ones, which matter most, and ever fewer of the large ones.
    spaced = np.unique(np.geomspace(1, len(sizes), _MOST_CANDIDATES).astype(int) - 1)
    return [sizes[place] for place in spaced]


def _even(
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


def _program(
    n_rows: int,
    counts: Sequence[NDArray[np.int64]],
    ceilings: Sequence[Ceilings],
    candidates: list[int],
    *,
    whole: bool,
) -> Plan | None:
    """Minimise sum of b_j * S_j * loss(S_j) over numbers b_j of groups of size S_j that the values can fill.

    For each column: sum_j v_ij = n_i, sum_i v_ij = S_j b_j, v_ij <= room_i(S_j) b_j. For given b this is a transport
    problem, whose corners are whole numbers, so only b needs to be whole. Without `whole` the plan names each size
    that would be used, once.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_matrix

    n_sizes = len(candidates)
    present = [np.flatnonzero(number) for number in counts]
    n_flows = sum(len(codes) for codes in present) * n_sizes
    sizes = np.array(candidates)
    slacks = [min(rooms_for(size, bounds).sum() / size for bounds in ceilings) for size in candidates]
    losses = [expected_loss(size, slack) for size, slack in zip(candidates, slacks, strict=True)]
    cost = np.concatenate([sizes * np.array(losses), np.zeros(n_flows)])
    n_equal = sum(len(codes) for codes in present) + len(present) * n_sizes
    equal, target = lil_matrix((n_equal, n_sizes + n_flows)), np.zeros(n_equal)
    below = lil_matrix((n_flows, n_sizes + n_flows))
    row, flow = 0, n_sizes
    for codes, number, bounds in zip(present, counts, ceilings, strict=True):
        rooms = np.array([rooms_for(size, bounds) for size in candidates])
        for size in range(n_sizes):
            equal[row + len(codes) + size, size] = -sizes[size]
        for place, code in enumerate(codes):
            target[row + place] = number[code]
            for size in range(n_sizes):
                equal[row + place, flow] = 1
                equal[row + len(codes) + size, flow] = 1
                below[flow - n_sizes, flow] = 1
                below[flow - n_sizes, size] = -rooms[size, code]
                flow += 1
        row += len(codes) + n_sizes
    solved = milp(
        cost,
        integrality=np.concatenate([np.full(n_sizes, int(whole)), np.zeros(n_flows)]),
        bounds=Bounds(0, n_rows),
        constraints=[LinearConstraint(equal.tocsr(), target, target), LinearConstraint(below.tocsr(), -np.inf, 0)],
        options={"time_limit": _SECONDS, "mip_rel_gap": 0.02},
    )
    if solved.x is None:
        return None
    if not whole:
        return Plan(sizes[solved.x[:n_sizes] > 0.5])
    numbers = np.round(solved.x[:n_sizes]).astype(np.int64)
    if int(numbers @ sizes) != n_rows:
        return None
    flows = np.round(solved.x[n_sizes : n_sizes + len(present[0]) * n_sizes]).astype(np.int64)
    flows = flows.reshape(len(present[0]), n_sizes)
    if (flows.sum(axis=0) != numbers * sizes).any() or (flows.sum(axis=1) != counts[0][present[0]]).any():
        return Plan(np.repeat(sizes, numbers))
    allotment = {}
    for used in np.flatnonzero(numbers):
        allotment[int(sizes[used])] = np.zeros(len(counts[0]), dtype=np.int64)
        allotment[int(sizes[used])][present[0]] = flows[:, used]
    return Plan(np.repeat(sizes, numbers), allotment)
