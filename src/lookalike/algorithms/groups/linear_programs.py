"""How many groups of each size: a linear program, then whole numbers near its answer, tested by flows.

Only the numbers of groups need to be whole. Whether given groups can hold the values is a transport problem for each
sensitive column, which a maximum flow decides exactly and answers in whole numbers. So the linear program names the
sizes worth using, and a short list of ways to round its numbers is tested, the one with the least loss first.

All work is counted: candidates, pivots, ways to round and flows have their own limits. Nothing here looks at a
clock, so a busy machine comes to the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Ceilings = Sequence[Fraction]
Numbers = dict[int, int]
"""How many groups there are of each size."""
Loss = Callable[[int], float]
"""What a group of a size is expected to lose in all."""

_MOST_PIVOTS = 200_000
# Sizes whose number is rounded both ways; all others down.
_MOST_ROUNDED = 9
_MOST_WAYS, _MOST_FLOWS = 400, 80
_MOST_STEPS = 6
_MOST_DIVISIONS, _MOST_CUTS = 60, 16
_DRAWN_ONCE, _MOST_DRAWN = 1, 4
_TINY, _NEAR_WHOLE = 1e-6, 1e-9


def rooms_at(sizes: Sequence[int], ceilings: Ceilings) -> NDArray[np.int64]:
    """[sizes, values] how often each value may occur in a group of each size: floor(ceiling * size), exactly."""
    width = np.array(sizes, dtype=np.int64)[:, None]
    products = np.array([float(ceiling) for ceiling in ceilings])[None, :] * width
    rooms = np.floor(products)
    # Floating point cannot tell on which side of a whole number these are.
    for place, value in np.argwhere(np.abs(products - np.rint(products)) < _NEAR_WHOLE * np.maximum(products, 1)):
        rooms[place, value] = ceilings[value] * int(width[place, 0]) // 1
    return np.minimum(rooms.astype(np.int64), width)


def numbers_of_groups(
    counts: Sequence[Counts], ceilings: Sequence[Ceilings], candidates: Sequence[int], loss: Loss, least: int
) -> Numbers | None:
    """Whole numbers of groups that the values can fill, of nearly the least loss; None if none was found.

    No group has fewer than `least` records.
    """
    wanted = fractions_of_groups(counts, ceilings, candidates, loss)
    if wanted is None:
        return None
    n_rows = int(counts[0].sum())
    ways = {
        tuple(sorted(way.items())): sum(number * loss(size) for size, number in way.items())
        for way in ways_to_round(n_rows, wanted)
        if min(way) >= least
    }
    tried = islice(sorted(ways, key=lambda one: (ways[one], one)), _MOST_FLOWS)
    return next((dict(way) for way in tried if can_fill(counts, ceilings, dict(way))), None)


def fractions_of_groups(
    counts: Sequence[Counts], ceilings: Sequence[Ceilings], candidates: Sequence[int], loss: Loss
) -> dict[int, float] | None:
    """The numbers of groups of each size that minimise the loss, if groups could be divided."""
    rooms = [rooms_at(candidates, bounds) for bounds in ceilings]
    solved = solve_relaxed(counts, rooms, np.array(candidates), np.array([loss(size) for size in candidates]))
    if solved is None:
        return None
    return {size: float(share) for size, share in zip(candidates, solved[0], strict=True) if share > _TINY}


def solve_relaxed(
    counts: Sequence[Counts], rooms: Sequence[Counts], sizes: Counts, losses: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]] | None:
    """Minimise the loss over numbers of groups b_j of sizes S_j that the values can fill, if groups could be divided.

    Returns b, and for each column [values] what one record more of a value adds to the loss; 0 where there are none.

    For each column, with rooms [sizes, values]: sum_j v_ij = n_i, sum_i v_ij = S_j b_j, v_ij <= room_ij b_j. Values
    that occur equally often and have the same rooms get the same shares, so they are one variable.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, csr_array, hstack, identity, kron, vstack

    # Variables: b [sizes], then v [sizes, kinds of values] of each column.
    n_sizes = len(sizes)
    of_numbers, of_flows, target, room_parts, kinds_of = [], [], [], [], []
    for number, room in zip(counts, rooms, strict=True):
        kinds, kind_of_value, times = _kinds_of_values(number, room)
        of_numbers.append(vstack([csr_array((len(times), n_sizes)), -csr_array(np.diag(1.0 * sizes))]))
        placed = kron(np.ones((1, n_sizes)), identity(len(times)))
        of_flows.append(vstack([placed, kron(identity(n_sizes), times[None, :] * 1.0)]))
        target.append(np.concatenate([kinds[0] * 1.0, np.zeros(n_sizes)]))
        cells = np.arange(n_sizes * len(times))
        part = csr_array((-1.0 * kinds[1:].ravel(), (cells, cells // len(times))), shape=(len(cells), n_sizes))
        room_parts.append(part)
        kinds_of.append((kind_of_value, times))
    equal = hstack([vstack(of_numbers), block_diag(of_flows)])
    below = hstack([vstack(room_parts), identity(sum(one.shape[0] for one in room_parts))])
    solved = linprog(
        np.concatenate([losses, np.zeros(below.shape[1] - n_sizes)]),
        A_ub=below.tocsr(),
        b_ub=np.zeros(below.shape[0]),
        A_eq=equal.tocsr(),
        b_eq=np.concatenate(target),
        method="highs-ds",
        options={"maxiter": _MOST_PIVOTS},
    )
    if solved.status != 0:
        return None
    prices, begin = [], 0
    for number, (kind_of_value, times) in zip(counts, kinds_of, strict=True):
        # The price of a kind is that of one record more of each of its values.
        price = np.zeros(len(number))
        price[number > 0] = (solved.eqlin.marginals[begin : begin + len(times)] / times)[kind_of_value]
        prices.append(price)
        begin += len(times) + n_sizes
    return solved.x[:n_sizes], prices


def _kinds_of_values(counts: Counts, rooms: Counts) -> tuple[Counts, Counts, Counts]:
    """[1 + sizes, kinds] count and rooms of each kind of value that occurs, the kind of each, and how many it has."""
    alike = np.vstack([counts, rooms])[:, counts > 0]
    kinds, kind_of_value, times = np.unique(alike, axis=1, return_inverse=True, return_counts=True)
    return kinds, kind_of_value.ravel(), times


def ways_to_round(n_rows: int, wanted: dict[int, float]) -> Iterator[Numbers]:
    """Numbers of groups near those wanted, with just so many records in all.

    Numbers are rounded up or down; what is then missing or left over is made up for by groups that are a record larger
    or smaller, or left over records are their own groups.
    """
    sizes = np.array(sorted(wanted), dtype=np.int64)
    shares = np.array([wanted[size] for size in sizes.tolist()])
    down = np.floor(shares + _TINY).astype(np.int64)
    broken = np.flatnonzero(shares - down > _TINY)
    rounded = np.sort(broken[np.argsort(-((shares - down) * sizes)[broken], kind="stable")][:_MOST_ROUNDED])
    usual = int(np.argmax(down))
    tried = []
    for steps in product((0, 1), repeat=len(rounded)):
        for more in (0, -1, 1, -2, 2):
            numbers = down.copy()
            numbers[rounded] += np.array(steps, dtype=np.int64)
            numbers[usual] += more
            rest = n_rows - int(numbers @ sizes)
            if numbers.min() >= 0 and numbers.sum() > 0:
                tried.append((abs(rest), numbers.tolist(), rest))
    for _, numbers, rest in sorted(tried)[:_MOST_WAYS]:
        for smallest_first in (True, False):
            way = _resize_groups(dict(zip(sizes.tolist(), numbers, strict=True)), rest, smallest_first)
            if way is not None:
                yield way
    for less in range(min(4, int(down.max()) + 1)):
        numbers = down.copy()
        numbers[usual] -= less
        rest = n_rows - int(numbers @ sizes)
        for n_more in range(1, min(8, rest) + 1):
            way = {int(size): int(number) for size, number in zip(sizes, numbers, strict=True) if number}
            for place in range(n_more):
                size = rest // n_more + (place < rest % n_more)
                way[size] = way.get(size, 0) + 1
            yield way


def _resize_groups(numbers: Numbers, rest: int, smallest_first: bool) -> Numbers | None:
    """The same groups with `rest` records more (or fewer), one each in turn; None if that are too many."""
    step = 1 if rest > 0 else -1
    for _ in range(_MOST_STEPS):
        if not rest:
            break
        changed: Numbers = {}
        for size in sorted(numbers, reverse=not smallest_first):
            moved = min(abs(rest), numbers[size]) if size + step > 0 else 0
            for place, number in ((size, numbers[size] - moved), (size + step, moved)):
                changed[place] = changed.get(place, 0) + number
            rest -= step * moved
        numbers = {size: number for size, number in changed.items() if number}
    return None if rest else {size: number for size, number in numbers.items() if number}


def divide_further(
    counts: Sequence[Counts], ceilings: Sequence[Ceilings], numbers: Numbers, loss: Loss, least: int
) -> Numbers:
    """Groups that can be filled, divided in two one after the other while that loses less and the halves can be filled.

    Two groups that can be filled can be filled as one, so every plan is reached from a single group by such steps;
    which are taken is greedy.
    """
    for _ in range(_MOST_DIVISIONS):
        steps = []
        for size in numbers:
            cuts = np.unique(np.geomspace(least, max(size // 2, least), _MOST_CUTS).round().astype(np.int64))
            steps += [
                (loss(cut) + loss(size - cut) - loss(size), size, cut) for cut in cuts.tolist() if size >= 2 * cut
            ]
        for gain, size, cut in islice(sorted(steps), _MOST_FLOWS):
            smaller = dict(numbers)
            for place, change in ((size, -1), (cut, 1), (size - cut, 1)):
                smaller[place] = smaller.get(place, 0) + change
            smaller = {place: number for place, number in smaller.items() if number}
            if gain < 0 and can_fill(counts, ceilings, smaller):
                numbers = smaller
                break
        else:
            return numbers
    return numbers


def can_fill(counts: Sequence[Counts], ceilings: Sequence[Ceilings], numbers: Numbers) -> bool:
    """Whether the values of every column can fill so many groups of each size."""
    return all(allot_values(*column, numbers) is not None for column in zip(counts, ceilings, strict=True))


def allot_values(counts: Counts, ceilings: Ceilings, numbers: Numbers) -> dict[int, Counts] | None:
    """For each size how many records of each value its groups get. None if they do not fit."""
    sizes = sorted(numbers)
    n_groups = np.array([numbers[size] for size in sizes], dtype=np.int64)
    sent = send_values(counts, rooms_at(sizes, ceilings), np.array(sizes, dtype=np.int64), n_groups)
    return None if sent is None else {size: sent[:, place] for place, size in enumerate(sizes)}


def send_values(counts: Counts, rooms: Counts, sizes: Counts, n_groups: Counts) -> Counts | None:
    """[values, sizes] the records of each value in so many groups of each size: a maximum flow. None if too many."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n_values, records = len(counts), sizes * n_groups
    capacities = np.minimum(rooms * n_groups[:, None], counts)
    if (
        int(records.sum()) != int(counts.sum())
        or (capacities.sum(axis=1) < records).any()
        or (capacities.sum(axis=0) < counts).any()
    ):
        return None
    source, sink = n_values + len(sizes), n_values + len(sizes) + 1
    network = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    network[source, :n_values] = counts
    network[:n_values, n_values:source] = capacities.T
    network[n_values:source, sink] = records
    flow = maximum_flow(csr_array(network), source, sink)
    if flow.flow_value != int(counts.sum()):
        return None
    sent: Counts = flow.flow[:n_values, n_values:source].toarray().astype(np.int64)
    return sent


def allotments(counts: Counts, ceilings: Ceilings, numbers: Numbers) -> Iterator[dict[int, Counts]]:
    """Further ways to share out the values, for groups that can hold them: corners of the transport problem.

    Corners differ in how well columns can be made of them, and only trying tells. Which corners, is settled by prices
    that favour large rooms, whole columns, or frequent values in small groups, and by some that were drawn once.
    """
    from scipy.optimize import linprog
    from scipy.sparse import identity, kron, vstack

    sizes = np.array(sorted(numbers), dtype=np.int64)
    n_groups = np.array([numbers[size] for size in sizes.tolist()], dtype=np.int64)
    rooms = rooms_at(sizes.tolist(), ceilings)
    most = rooms * n_groups[:, None]
    each_value = kron(np.ones((1, len(sizes))), identity(len(counts)))
    each_size = kron(identity(len(sizes)), np.ones((1, len(counts))))
    rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    prices = [
        -rooms / sizes[:, None],
        -1.0 * (most <= counts),
        1.0 * np.arange(len(sizes))[:, None] * rank,
        -1 / (np.abs(np.minimum(most, counts) - counts) + 1),
        *np.random.default_rng(_DRAWN_ONCE).random((_MOST_DRAWN, *most.shape)),
    ]
    for price in prices:
        solved = linprog(
            price.ravel(),
            A_eq=vstack([each_value, each_size]).tocsr(),
            b_eq=np.concatenate([counts, sizes * n_groups]),
            bounds=np.stack([np.zeros(most.size), np.minimum(most, counts).ravel()], axis=1),
            method="highs-ds",
            options={"maxiter": _MOST_PIVOTS},
        )
        if solved.status != 0:
            continue
        shared = np.rint(solved.x).astype(np.int64).reshape(most.shape)
        fits = (shared <= most).all() and (shared.sum(axis=0) == counts).all()
        if fits and (shared.sum(axis=1) == sizes * n_groups).all():
            yield {int(size): shared[place] for place, size in enumerate(sizes)}
