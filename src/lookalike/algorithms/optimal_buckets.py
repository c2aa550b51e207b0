"""optimal-buckets: the bucket sizes that lose least of all, as an integer program of limited work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.linear_programs import send_values, solve_relaxed, ways_to_round
from lookalike.algorithms.shared.bucket_sizes import Found, Part, Range, Sized, loss_of, several_sizes
from lookalike.algorithms.shared.buckets import Asked, Counts
from lookalike.algorithms.shared.method import BY_SECONDS
from lookalike.data.contracts import Slices, Undivided
from lookalike.data.parameters import OptionalExact, Whole, number_text
from lookalike.errors import counted
from lookalike.progress import Progress

_FIRST_SIZES, _MOST_ROUNDED, _TINY = 24, 60, 1e-9
# Sizes times values that an integer program may have: 40 CPU seconds, most of them before its first node is done.
_MOST_ROOMS = 10_000


@dataclass(frozen=True)
class OptimalBuckets(Sized):
    """Buckets of the sizes that lose least of all, by an integer program of limited work.

    >>> str(OptimalBuckets(nodes=50))
    'optimal-buckets:nodes=50'
    """

    name: ClassVar[str] = "optimal-buckets"

    nodes: Whole = Whole(low=1, default=1000)
    """When to stop: nodes of the search; the best found by then is taken, with a note on how far it may be off."""
    seconds: OptionalExact = OptionalExact(above=0)
    """When to stop instead: seconds; the result then depends on the machine."""

    @property
    def in_parts(self) -> Slices | Undivided:
        return super().in_parts if self.seconds is None else Undivided(f"{BY_SECONDS}; use nodes")

    def hurry(self) -> Self:
        return replace(self, seconds=None)

    def search_sizes(self, asked: Asked, tried: Range, progress: Progress) -> tuple[Found | None, tuple[str, ...]]:
        fallback = several_sizes(asked.counts, tried)
        if fallback is None:
            return None, ()
        progress("sizes", 0.1, "integer program")
        seconds = None if self.seconds is None else float(self.seconds)
        solved = all_sizes(asked.counts, tried, fallback.parts, self.nodes, seconds)
        parts = fallback.parts if solved.parts is None else solved.parts
        loss = loss_of(parts)
        if loss <= solved.bound:
            return Found(parts), (f"No setting with sizes up to {int(tried.sizes[-1])} loses less.",)
        gap = (loss - solved.bound) / loss
        spent = counted(self.nodes, "node") if self.seconds is None else f"{number_text(self.seconds)} seconds"
        said = f"after {spent} a loss {gap:.1%} lower could not be ruled out"
        return Found(parts), (f"The integer program was stopped: {said}.",)


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
    ways = ways_to_round(int(counts.sum()), wanted)
    by_loss = sorted(ways, key=lambda way: sum(number * (size - 1) ** 2 for size, number in way.items()))
    for way in by_loss[:_MOST_ROUNDED]:
        numbers = np.array([way.get(size, 0) for size in tried.sizes.tolist()])
        if (parts := deal_values(counts, tried, numbers)) is not None:
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
        solved = solve_relaxed([counts], [tried.rooms[taken]], tried.sizes[taken], losses[taken])
        if solved is None:
            if len(taken) == len(tried.sizes):
                return None
            taken = np.arange(len(tried.sizes))
            continue
        numbers, (prices,) = solved
        dearest = np.argsort(-prices, kind="stable")
        rooms = np.minimum(tried.rooms, counts)[:, dearest]
        before = np.cumsum(rooms, axis=1) - rooms
        filled = np.clip(tried.sizes[:, None] - before, 0, rooms)
        reduced = losses - filled @ prices[dearest]
        wanting = np.argsort(reduced, kind="stable")[:_FIRST_SIZES]
        wanting = np.setdiff1d(wanting[reduced[wanting] < -_TINY * losses[wanting]], taken)
        if not len(wanting):
            shares[taken] = numbers
            # Prices that are a little too high for some size are lowered until no bucket is worth more than it loses.
            worth = losses - reduced
            scale = float(np.min(np.where(worth > losses, losses / np.maximum(worth, _TINY), 1.0)))
            return float(scale * (counts @ prices)), losses - scale * worth, shares
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
    return deal_values(counts, tried, np.rint(result.x[:n_sizes]).astype(np.int64)), bound


def deal_values(counts: Counts, tried: Range, n_buckets: Counts) -> tuple[Part, ...] | None:
    """The values dealt to so many buckets of each size, in whole numbers. None if they do not fit."""
    used = np.flatnonzero(n_buckets)
    sent = send_values(counts, tried.rooms[used], tried.sizes[used], n_buckets[used])
    if sent is None:
        return None
    return tuple(
        Part(int(tried.sizes[size]), int(n_buckets[size]), sent[:, place]) for place, size in enumerate(used.tolist())
    )
