"""Retrieval: which records a group takes of each bucket, decided from quasi-identifiers alone.

A method may have finished groups split further where their actual values allow it: the split itself still follows
quasi-identifiers, but whether it is made depends on sensitive values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Microdata
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Counts = NDArray[np.int64]


class Drawing:
    """How many records a group may take of each bucket."""

    def __init__(self, buckets: Sequence[Sequence[int]]) -> None:
        self.buckets = buckets
        """The values of each."""
        self.n_buckets = len(buckets)
        self._known: dict[bytes, bool] = {}
        self._counted: dict[bytes, int] = {}

    def sizes(self, counts: Counts) -> Counts:
        """Records of each bucket, by how many there are of each value."""
        return np.array([int(counts[list(bucket)].sum()) for bucket in self.buckets])

    def bucket_of(self, values: NDArray[np.int32]) -> NDArray[np.int64]:
        """The bucket of each record."""
        number_of = np.zeros(max(max(bucket) for bucket in self.buckets) + 1, dtype=np.int64)
        for number, bucket in enumerate(self.buckets):
            number_of[list(bucket)] = number
        return np.asarray(number_of[values], dtype=np.int64)

    def is_fine(self, draws: Counts) -> bool:
        """Whether a group with these draws keeps the promise, whatever records of the buckets it gets."""
        raise NotImplementedError

    def halves(self, draws: Counts) -> tuple[Counts, Counts] | None:
        """Both halves of a draw, if each keeps every bound."""
        left = draws // 2
        key = draws.tobytes()
        # There are only few different draws.
        if key not in self._known:
            self._known[key] = self.is_fine(left) and self.is_fine(draws - left)
        return (left, draws - left) if self._known[key] else None

    def n_groups(self, draws: Counts) -> int:
        """How many groups `halve_all` gives."""
        key = draws.tobytes()
        if key not in self._counted:
            halves = self.halves(draws)
            self._counted[key] = 1 if halves is None else sum(map(self.n_groups, halves))
        return self._counted[key]

    def halve_all(self, draws: Counts) -> Counts:
        """[groups, buckets] a draw halved again and again, as long as halves keep every bound."""
        leaves, stack = [], [draws]
        while stack:
            draws = stack.pop()
            halves = self.halves(draws)
            if halves is None:
                leaves.append(draws)
            else:
                stack += halves[::-1]
        return np.array(leaves, dtype=np.int64)


Made = TypeVar("Made", bound=Drawing)


def most_groups(attempts: Iterable[Made], counts: Counts) -> Made:
    """Of several ways to make buckets the one with the most groups for its number of buckets.

    Small groups lose less, and so do few buckets. The power was found on census data of 10,000 to a million records
    with beta from 1 to 5.
    """
    return max(attempts, key=lambda made: made.n_groups(made.sizes(counts)) / made.n_buckets**2)


Records = NDArray[np.int64]
MayStand = Callable[[Records], bool]
"""Whether records may form a group, by the values they have."""
_KEY_BITS, _MOST_BITS = 62, 10


class Retrieval(Protocol):
    """How to retrieve: the parameters of a method."""

    @property
    def retrieve(self) -> str: ...
    @property
    def window(self) -> int: ...
    @property
    def seeds(self) -> int: ...


def retrieve_groups(
    data: Microdata,
    bucket_of_record: Records,
    drawing: Drawing,
    retrieval: Retrieval,
    rng: Randomness,
    progress: Progress,
    may_stand: MayStand | None = None,
    keys: Records | None = None,
) -> tuple[NDArray[np.int32], int]:
    """The group of each record, and the number of groups.

    With `may_stand` a group whose draw cannot be halved is still halved, if both halves may stand as groups. `keys` are
    the places of the records on the curve, those of `curve_keys` by default.
    """
    from lookalike.algorithms.shared.axes import axes_of
    from lookalike.kernels.hilbert import retrieve

    # Records that are alike come in random order, whatever their order in the table.
    order = rng.child("ties").permutation(data.n_rows)
    if retrieval.retrieve == "cuts":
        return _retrieve_by_cuts(data, order, bucket_of_record, drawing, progress, may_stand)
    sizes = np.bincount(bucket_of_record, minlength=drawing.n_buckets)
    draws = drawing.halve_all(sizes)
    keys = curve_keys(data) if keys is None else keys
    order = order[np.lexsort((keys[order], bucket_of_record[order]))]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    words = rng.child("seeds").words(len(draws) * retrieval.seeds * 2).reshape(len(draws), retrieval.seeds, 2)
    turns = np.ascontiguousarray(draws[rng.child("groups").permutation(len(draws))])
    group_of_record = np.empty(data.n_rows, dtype=np.int32)
    window = {"curve": 1, "neighbours": 0}.get(retrieval.retrieve, int(retrieval.window))
    at_random = retrieval.retrieve == "random"
    ranks = rng.child("ranks").permutation(data.n_rows).astype(np.float64) if at_random else np.empty(0)
    retrieve(axes_of(data), keys[order], order, starts, turns, words, window, ranks, group_of_record)
    if may_stand is None:
        return group_of_record, len(draws)
    return _split_along(order, bucket_of_record, group_of_record, len(draws), may_stand, progress)


def _split_along(
    order: Records,
    bucket_of_record: Records,
    group_of_record: NDArray[np.int32],
    n_groups: int,
    may_stand: MayStand,
    progress: Progress,
) -> tuple[NDArray[np.int32], int]:
    """Groups halved again and again while both halves may stand: of every bucket the part that comes first in order.

    `order` is sorted by bucket and along the curve; a half keeps this order.
    """
    by_group = order[np.argsort(group_of_record[order], kind="stable")]
    ends = np.cumsum(np.bincount(group_of_record, minlength=n_groups))
    stack = np.split(by_group, ends[:-1])
    finer, n_finer, done = np.empty_like(group_of_record), 0, 0
    while stack:
        members = stack.pop()
        buckets = bucket_of_record[members]
        counts = np.bincount(buckets)
        begins = np.cumsum(counts) - counts
        goes_left = np.arange(len(members)) - begins[buckets] < (counts // 2)[buckets]
        halves = members[goes_left], members[~goes_left]
        if may_stand(halves[0]) and may_stand(halves[1]):
            stack += halves
            continue
        finer[members] = n_finer
        n_finer, done = n_finer + 1, done + len(members)
        progress("splitting", done / len(order), f"{n_finer:,} groups")
    return finer, n_finer


def _retrieve_by_cuts(
    data: Microdata,
    order: Records,
    bucket_of_record: Records,
    drawing: Drawing,
    progress: Progress,
    may_stand: MayStand | None,
) -> tuple[NDArray[np.int32], int]:
    """The halves of every draw taken along one attribute, again and again."""
    from lookalike.algorithms.shared.axes import axes_of
    from lookalike.kernels.halving import cut_in_two

    axes, group_of_record = axes_of(data), np.empty(data.n_rows, dtype=np.int32)
    stack, n_groups, done = [order], 0, 0
    while stack:
        members = stack.pop()
        buckets = bucket_of_record[members]
        draws = np.bincount(buckets, minlength=drawing.n_buckets)
        left = draws // 2
        is_bounded = drawing.halves(draws) is not None
        if is_bounded or (may_stand is not None and left.any()):
            halves = cut_in_two(axes, members, buckets, left)
            if is_bounded or (may_stand is not None and all(map(may_stand, halves))):
                stack += halves
                continue
        group_of_record[members] = n_groups
        n_groups, done = n_groups + 1, done + len(members)
        progress("dividing", done / data.n_rows, f"{n_groups:,} groups")
    return group_of_record, n_groups


def curve_keys(data: Microdata) -> NDArray[np.int64]:
    """The place of each record on the curve. Values of a taxonomy are in its order, others by size or name."""
    from lookalike.kernels.hilbert import hilbert_keys

    domains = data.domains.quasi[:_KEY_BITS]
    bits = min(_MOST_BITS, _KEY_BITS // len(domains))
    top = (1 << bits) - 1
    cells = np.empty((data.n_rows, len(domains)), dtype=np.int64)
    for attr, domain in enumerate(domains):
        points = domain.points
        low, high = (float(points.min()), float(points.max())) if len(points) else (0.0, 0.0)
        share = (points - low) / (high - low) if high > low else np.zeros(len(points))
        # A missing value is at the far end.
        places = np.append(np.round(share * top), top).astype(np.int64)
        cells[:, attr] = places[np.minimum(data.quasi[:, attr], len(points))]
    return np.asarray(hilbert_keys(cells, bits), dtype=np.int64)
