"""The search for bucket sizes: the best two, more by dividing again, and the best of all as an integer program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.bucket_sizes.settings import Counts, Part, divided, loss_of, one_size_valid, rooms
from lookalike.algorithms.groups.programs import relaxed, ways_to_round

PRUNINGS = {"none": 0, "loss": 1, "full": 2}
_MOST_PAIRS_OF_SIZES, _SIZES_BEYOND = 1500, 200
_FIRST_SIZES, _MOST_ROUNDED, _TINY = 24, 60, 1e-9
# Sizes times values that an integer program may have: 40 CPU seconds, most of them before its first node is done.
_MOST_ROOMS = 10_000


@dataclass(frozen=True)
class Range:
    """The bucket sizes that are tried, and what a bucket of each may hold."""

    sizes: Counts
    rooms: Counts
    """[sizes, values]"""

    @classmethod
    def between(cls, smallest: int, largest: int, ceilings: Sequence[Fraction]) -> Range:
        return cls.of(range(smallest, largest + 1), ceilings)

    @classmethod
    def of(cls, sizes: Sequence[int], ceilings: Sequence[Fraction]) -> Range:
        return cls(np.array(sizes, dtype=np.int64), rooms(ceilings, sizes))

    def room(self, size: int) -> Counts:
        found: Counts = self.rooms[np.searchsorted(self.sizes, size)]
        return found


@dataclass(frozen=True)
class Found:
    """The parts of a setting and how many tests of all values it took to find."""

    parts: tuple[Part, ...]
    tests: int = 0


def smallest_size(ceilings: Iterable[Fraction], least: int) -> int:
    """Smaller buckets than this can hold nothing."""
    return max(least, min(-(-ceiling.denominator // ceiling.numerator) for ceiling in ceilings))


def ranges(ceilings: Sequence[Fraction], least: int, largest: str, n_rows: int) -> Iterable[Range]:
    """What to try, one range after another: up to the size asked for, or sizes in which every value finds room."""
    smallest = min(smallest_size(ceilings, least), n_rows)
    if largest != "auto":
        yield Range.between(smallest, min(max(int(largest), smallest), n_rows), ceilings)
        return
    # A bucket that holds the most restricted value once; of twice that size, to have a choice.
    widest = max(-(-ceiling.denominator // ceiling.numerator) for ceiling in ceilings)
    top = min(max(50, 2 * widest, smallest + 1), max(_MOST_PAIRS_OF_SIZES, smallest + 1), n_rows)
    while True:
        yield Range.between(smallest, top, ceilings)
        if top >= min(n_rows, _MOST_PAIRS_OF_SIZES):
            break
        top = min(2 * top, n_rows, _MOST_PAIRS_OF_SIZES)
    if widest > top:
        # The most restricted value needs larger buckets than can all be tried: every size up to here, and some beyond.
        beyond = np.linspace(top, min(2 * widest, n_rows), _SIZES_BEYOND).astype(np.int64)
        yield Range.of([*range(smallest, top), *np.unique([*beyond, min(widest, n_rows)]).tolist()], ceilings)


def two_sizes(counts: Counts, tried: Range, pruning: str = "full") -> Found | None:
    """The setting of two sizes (or one) with the least loss; None if none is valid."""
    from lookalike.kernels.bucketsizes import best_pair

    n_rows = int(counts.sum())
    size1, b1, size2, b2, _, tests = (
        int(number) for number in best_pair(tried.rooms, tried.sizes, counts, PRUNINGS[pruning])
    )
    if size1 == 0:
        # A single size has no pair; neither has the only size of a range.
        alone = [
            Part(size, n_rows // size, counts)
            for size in tried.sizes.tolist()
            if n_rows % size == 0 and one_size_valid(counts, tried.room(size), n_rows // size)
        ]
        return Found((min(alone, key=lambda part: part.loss),), tests) if alone else None
    split = divided(counts, (tried.room(size1), tried.room(size2)), (b1, b2), (size1, size2))
    parts = (Part(size1, b1, split[0]), Part(size2, b2, split[1]))
    return Found(tuple(part for part in parts if part.n_buckets), tests)


def many_sizes(part: Part, tried: Range) -> Found:
    """A part divided into two sizes again and again while that loses less; ceilings stay what they were."""
    found = two_sizes(part.counts, tried)
    if found is None or loss_of(found.parts) >= part.loss:
        return Found((part,), 0 if found is None else found.tests)
    below = [many_sizes(smaller, tried) for smaller in found.parts]
    return Found(tuple(piece for one in below for piece in one.parts), found.tests + sum(one.tests for one in below))


@dataclass(frozen=True)
class Solved:
    """What the integer program found, and the least loss that any setting of these sizes can have."""

    parts: tuple[Part, ...] | None
    bound: int


def all_sizes(
    counts: Counts, tried: Range, known: tuple[Part, ...] | None = None, nodes: int = 1000, seconds: float | None = None
) -> Solved:
    """The best setting of any number of sizes, or one that is `known`: numbers of buckets as integers, by HiGHS.

    How many records of a value go to buckets of a size needs no integers: for whole numbers of buckets it is a flow,
    and flows with whole capacities have whole solutions.

    Sizes whose reduced loss in the linear program is above the gap between its bound and a known setting cannot be in a
    better one, so the integer program has only those left; of very many, those with the least reduced loss, and then
    its bound says nothing of the others. It ends after so many nodes, or seconds if they are given.
    """
    usable = (tried.rooms.sum(axis=1) >= tried.sizes) & (tried.sizes <= int(counts.sum()))
    if not usable.any():
        return Solved(known, 0)
    tried = Range(tried.sizes[usable], tried.rooms[usable])
    losses = ((tried.sizes - 1) ** 2).astype(np.float64)
    found = _least_by_fractions(counts, tried, losses)
    if found is None:
        return Solved(known, 0)
    bound, reduced, shares = found
    wanted = {int(size): float(share) for size, share in zip(tried.sizes, shares, strict=True) if share > _TINY}
    settings = [known] if known else []
    for way in sorted(ways_to_round(int(counts.sum()), wanted), key=_loss_of_numbers)[:_MOST_ROUNDED]:
        numbers = np.array([way.get(size, 0) for size in tried.sizes.tolist()])
        if numbers @ tried.sizes == counts.sum() and (parts := flowed(counts, tried, numbers)) is not None:
            settings.append(parts)
            break
    best = min(settings, key=loss_of, default=None)
    least = _whole_bound(bound)
    if best is not None and loss_of(best) <= least:
        return Solved(best, least)
    better = reduced <= np.inf if best is None else reduced <= loss_of(best) - bound + _TINY * loss_of(best)
    most = int(np.count_nonzero(better)) if seconds is not None else max(_MOST_ROOMS // len(counts), 1)
    kept = np.sort(np.flatnonzero(better)[np.argsort(reduced[better], kind="stable")[:most]])
    parts, reached = _by_integers(counts, Range(tried.sizes[kept], tried.rooms[kept]), losses[kept], nodes, seconds)
    if len(kept) < np.count_nonzero(better):
        reached = 0
    if parts is not None:
        best = min([parts, *([best] if best else [])], key=loss_of)
    # Settings with other sizes lose at least what the best one does.
    least = max(least, reached if best is None else min(reached, loss_of(best)))
    return Solved(best, least)


def _loss_of_numbers(numbers: dict[int, int]) -> int:
    return sum(number * (size - 1) ** 2 for size, number in numbers.items())


def _whole_bound(bound: float) -> int:
    return max(int(np.ceil(bound - _TINY * max(bound, 1))), 0)


def _least_by_fractions(
    counts: Counts, tried: Range, losses: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]] | None:
    """The least loss if buckets could be divided, the reduced loss of each size and how many buckets of it there are.

    Sizes join the linear program as they are needed: with the prices of records in it, a bucket of another size is
    worth at most what the dearest records that it has room for are worth together.
    """
    shares = np.zeros(len(tried.sizes))
    spaced = np.geomspace(1, len(tried.sizes), _FIRST_SIZES).round().astype(np.int64) - 1
    taken = np.unique(np.append(spaced, len(tried.sizes) - 1))
    while True:
        solved = relaxed([counts], [tried.rooms[taken]], tried.sizes[taken], losses[taken])
        if solved is None:
            rest = np.setdiff1d(np.arange(len(tried.sizes)), taken)
            if not len(rest):
                return None
            taken = np.arange(len(tried.sizes))
            continue
        dearest = np.argsort(-solved.prices[0], kind="stable")
        rooms = np.minimum(tried.rooms, counts)[:, dearest]
        before = np.cumsum(rooms, axis=1) - rooms
        filled = np.clip(tried.sizes[:, None] - before, 0, rooms)
        reduced = losses - filled @ solved.prices[0][dearest]
        wanting = np.argsort(reduced, kind="stable")[:_FIRST_SIZES]
        wanting = np.setdiff1d(wanting[reduced[wanting] < -_TINY * losses[wanting]], taken)
        if not len(wanting):
            shares[taken] = solved.numbers
            # Prices that are a little too high for some size are lowered until no bucket is worth more than it loses.
            worth = losses - reduced
            scale = float(np.min(np.where(worth > losses, losses / np.maximum(worth, _TINY), 1.0)))
            return float(scale * (counts @ solved.prices[0])), losses - scale * worth, shares
        taken = np.union1d(taken, wanting)


def _by_integers(
    counts: Counts, tried: Range, losses: NDArray[np.float64], nodes: int, seconds: float | None
) -> tuple[tuple[Part, ...] | None, int]:
    """A setting by integer programming, and a bound on the loss of all settings of these sizes."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, identity, kron, vstack

    n_rows, n_sizes, n_values = int(counts.sum()), len(tried.sizes), len(counts)
    # Variables: b [sizes], then v [sizes, values].
    cells = np.arange(n_sizes * n_values)
    room = tried.rooms.reshape(-1).astype(np.float64)
    held = csr_array((room, (cells, cells // n_values)), shape=(len(cells), n_sizes))
    within = hstack([held, -identity(n_sizes * n_values)])
    placed = hstack([csr_array((n_values, n_sizes)), kron(np.ones((1, n_sizes)), identity(n_values))])
    filled = hstack([-csr_array(np.diag(1.0 * tried.sizes)), kron(identity(n_sizes), np.ones((1, n_values)))])
    limit = {"node_limit": nodes} if seconds is None else {"time_limit": seconds}
    result = milp(
        np.concatenate([losses, np.zeros(n_sizes * n_values)]),
        constraints=[
            LinearConstraint(within, 0, np.inf),
            LinearConstraint(vstack([placed, filled]), *(np.concatenate([counts, np.zeros(n_sizes)]),) * 2),
        ],
        integrality=np.concatenate([np.ones(n_sizes), np.zeros(n_sizes * n_values)]),
        bounds=Bounds(0, np.concatenate([n_rows // tried.sizes, np.tile(counts, n_sizes)])),
        options={**limit, "mip_rel_gap": 0.0},
    )
    infeasible = result.status == 2
    bound = n_rows**2 if infeasible else 0 if result.mip_dual_bound is None else _whole_bound(result.mip_dual_bound)
    if result.x is None:
        return None, bound
    return flowed(counts, tried, np.rint(result.x[:n_sizes]).astype(np.int64)), bound


def flowed(counts: Counts, tried: Range, n_buckets: Counts) -> tuple[Part, ...] | None:
    """The values dealt to so many buckets of each size, in whole numbers: a maximum flow. None if they do not fit."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    used = np.flatnonzero(n_buckets)
    if int((tried.sizes * n_buckets).sum()) != int(counts.sum()):
        return None
    n_values, n_used = len(counts), len(used)
    source, sink = n_values + n_used, n_values + n_used + 1
    capacity = np.minimum(tried.rooms[used] * n_buckets[used][:, np.newaxis], counts)
    network = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    network[source, :n_values] = counts
    network[:n_values, n_values:source] = capacity.T
    network[n_values:source, sink] = tried.sizes[used] * n_buckets[used]
    flow = maximum_flow(csr_array(network), source, sink)
    if flow.flow_value != int(counts.sum()):
        return None
    sent = flow.flow.toarray()[:n_values, n_values:source]
    return tuple(
        Part(int(tried.sizes[size]), int(n_buckets[size]), sent[:, place].astype(np.int64))
        for place, size in enumerate(used.tolist())
    )
