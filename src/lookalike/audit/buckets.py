"""Bucketized releases: do both tables have the same buckets, and can every record lie in one of them?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.preconditions import A_BUCKET, describe_buckets
from lookalike.audit.reading import Ints, Reading
from lookalike.audit.verdicts import Check
from lookalike.errors import counted

_EDGE_LIMIT = 20_000_000
_PAIRS_AT_ONCE = 4_000_000


def buckets_match(reading: Reading) -> Check:
    """Both tables have the same buckets, each with as many rows on one side as on the other."""
    n_buckets = 1 + max(int(side.max(initial=-1)) for side in reading.buckets)
    sides = [np.bincount(side, minlength=n_buckets) for side in reading.buckets]
    n_wrong = int(np.count_nonzero(sides[0] != sides[1]))
    detail = f"{counted(n_buckets, 'bucket')}, equally large in both tables"
    if n_wrong:
        detail = f"{n_wrong:,} of {counted(n_buckets, 'bucket')} differ in size between the two tables"
    return Check("buckets match", n_wrong == 0, detail)


def everyone_has_a_bucket(reading: Reading) -> Check:
    """Records can be spread over the buckets that list them so that each finds its own values in its bucket.

    Two marginal tests: for each joint value over the buckets that hold it, and for each combination of
    quasi-identifiers over the buckets that list it. Exact where no two records share their quasi-identifiers.
    """
    wanted = reading.original.n_rows - reading.release.withheld.n_suppressed
    of_points, of_values = reading.buckets
    listed, held = Pairs.of(of_points, reading.point_of_row), Pairs.of(of_values, reading.value_of_row)
    kinds = Pairs.of(reading.point_of_record, reading.value_of_record)
    ways = _ways(kinds, listed, held)
    if ways is None:
        detail = f"not run: more than {_EDGE_LIMIT:,} ways for records to lie in buckets"
        return Check.not_run(A_BUCKET, detail, decides=True)
    kind, listing, holding = ways
    spread = min(
        transport(kinds.counts, held.counts, kind, holding, kinds.seconds, held.seconds),
        transport(kinds.counts, listed.counts, kind, listing, kinds.firsts, listed.seconds),
    )
    n_left = wanted - spread
    detail = describe_buckets(wanted)
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} of {wanted:,} lie in no bucket that holds their own values"
    return Check(A_BUCKET, n_left <= 0, detail)


@dataclass(frozen=True)
class Pairs:
    """Distinct pairs of numbers, sorted by the first, and how often each occurs."""

    firsts: Ints
    seconds: Ints
    counts: Ints

    @classmethod
    def of(cls, firsts: Ints, seconds: Ints) -> Pairs:
        width = int(seconds.max(initial=0)) + 1
        keys, counts = np.unique(firsts * width + seconds, return_counts=True)
        return cls(keys // width, keys % width, counts.astype(np.int64))

    def places(self, firsts: Ints, seconds: Ints) -> Ints:
        """Where these pairs are; -1 for those that are not."""
        width = int(max(self.seconds.max(initial=0), seconds.max(initial=0))) + 1
        keys, wanted = self.firsts * width + self.seconds, firsts * width + seconds
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, found, -1) if len(keys) else np.full(len(wanted), -1)


def _ways(kinds: Pairs, listed: Pairs, held: Pairs) -> tuple[Ints, Ints, Ints] | None:
    """Every way for a kind of record (point, value) to lie in a bucket that lists its point and holds its value.

    Numbers of the kind, of the listing (bucket, point) and of the holding (bucket, value); None if there are too many.
    """
    n_buckets = 1 + int(max(listed.firsts.max(initial=-1), held.firsts.max(initial=-1)))
    first_listing, first_holding = (np.searchsorted(side.firsts, np.arange(n_buckets + 1)) for side in (listed, held))
    n_listings, n_holdings = np.diff(first_listing), np.diff(first_holding)
    products = np.cumsum(n_listings * n_holdings)
    found: list[tuple[Ints, Ints, Ints]] = []
    n_found, begin = 0, 0
    while begin < n_buckets:
        # So many buckets at a time that their pairs fit into memory.
        before = products[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(products, before + _PAIRS_AT_ONCE, side="right")))
        listings = np.arange(first_listing[begin], first_listing[end])
        times = n_holdings[listed.firsts[listings]]
        listing = np.repeat(listings, times)
        place = np.arange(len(listing)) - np.repeat(np.cumsum(times) - times, times)
        holding = first_holding[listed.firsts[listing]] + place
        kind = kinds.places(listed.seconds[listing], held.seconds[holding])
        real = kind >= 0
        found.append((kind[real], listing[real], holding[real]))
        n_found += int(np.count_nonzero(real))
        if n_found > _EDGE_LIMIT:
            return None
        begin = end
    kind, listing, holding = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return kind, listing, holding


def transport(
    supplies: NDArray[np.int64],
    capacities: NDArray[np.int64],
    left: Ints,
    right: Ints,
    block_of_left: Ints,
    block_of_right: Ints,
) -> int:
    """The most that supplies can send along the edges (left, right) into capacities of their own block."""
    from lookalike.kernels.transport import send_most

    n_blocks = 1 + int(max(block_of_left.max(initial=-1), block_of_right.max(initial=-1)))
    lefts, rights = (np.argsort(blocks, kind="stable") for blocks in (block_of_left, block_of_right))
    place_of_left, place_of_right = np.empty_like(lefts), np.empty_like(rights)
    place_of_left[lefts], place_of_right[rights] = np.arange(len(lefts)), np.arange(len(rights))
    tails = place_of_left[left]
    starts = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=len(supplies)))]).astype(np.int64)
    heads = place_of_right[right][np.argsort(tails, kind="stable")]
    blocks = [
        np.concatenate([[0], np.cumsum(np.bincount(of_node, minlength=n_blocks))]).astype(np.int64)
        for of_node in (block_of_left, block_of_right)
    ]
    return int(send_most(supplies[lefts], capacities[rights], starts, heads, *blocks))
