"""Exact probabilities of someone who knows the method: on tiny tables by running it in every world, else by a formula.

Worlds: every way to give the values to the records is as likely before the release is seen. In each the method is run
with the same seeds; those runs that give the release as published, up to the order of rows and the numbers of buckets,
tell what the records may have. Seeds stand for the method's own randomness: with few of them a release that many
choices lead to is found in few worlds only, so probabilities come out too sharp rather than too mild.

Formula, for groups that grew bucket by bucket until at most one record in l was positive: a bucket has l records.
Anyone who knows that a group of m buckets was not closed earlier knows that every shorter run held too many positives,
or
that a coin (probability p) made it grow on. A world has weight p^(shorter runs that might have stood); Cormode et al.
(PVLDB 2010), with the weights for more than two buckets fixed. All in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Algorithm
from lookalike.data.ends import Ends, round_ends
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Extents, Grouped, Matched, Ranges, Release
from lookalike.data.requirement import Requirement
from lookalike.errors import LookalikeError
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


@dataclass(frozen=True, eq=False)
class Posteriors:
    """For each release that came out: how often each record had each row of values."""

    data: Microdata
    rows: NDArray[np.int32]
    """[k, columns] the different rows of sensitive values, with what is carried beside them."""
    found: dict[Hashable, NDArray[np.int64]]
    """[records, k] by release as published."""

    def of(self, release: Release, column: int = 0) -> list[list[Fraction]] | None:
        """P(value | release) for each record; None if the release never came out."""
        counts = self.found.get(as_published(release))
        if counts is None:
            return None
        # Records with equal quasi-identifiers cannot be told apart, whatever the seeds tried say.
        kind = np.unique(self.data.quasi, axis=0, return_inverse=True)[1].reshape(-1)
        together = np.zeros((int(kind.max()) + 1, len(self.rows)), dtype=np.int64)
        np.add.at(together, kind, counts)
        by_value = np.zeros((len(together), self.data.domains.sensitive[column].n_codes), dtype=np.int64)
        np.add.at(by_value.T, self.rows[:, column], together.T)
        return [[Fraction(int(part), int(by_value[one].sum())) for part in by_value[one]] for one in kind.tolist()]


def enumerate_posteriors(
    algorithm: Algorithm,
    data: Microdata,
    requirements: Sequence[Requirement],
    seeds: Sequence[int],
    progress: Progress = silent,
    ends: Ends | None = None,
) -> Posteriors:
    """Run the method in every world with every seed. Worlds in which it makes nothing do not count.

    `ends`: how the ends of ranges are rounded then, by the rule that `publish` has; exact, if left out.
    """
    joint = np.concatenate((data.sensitive, data.carried), axis=1)
    rows, counts = np.unique(joint, axis=0, return_counts=True)
    n_sensitive, n_all = data.sensitive.shape[1], n_worlds(data)
    found: dict[Hashable, NDArray[np.int64]] = {}
    places = np.arange(data.n_rows)
    for number, world in enumerate(_dealings(counts.tolist())):
        dealt = np.asarray(world)
        # A table lays out its codes by itself.
        there = replace(data, sensitive=rows[dealt, :n_sensitive], carried=rows[dealt, n_sensitive:])
        for seed in seeds:
            try:
                release, _ = algorithm.anonymize(there, requirements, Randomness(seed), silent)
            except LookalikeError:
                continue
            if ends is not None:
                release, _ = round_ends(release, ends)
            seen = found.setdefault(as_published(release), np.zeros((data.n_rows, len(rows)), dtype=np.int64))
            seen[places, dealt] += 1
        progress("worlds", (number + 1) / n_all)
    return Posteriors(data, rows, found)


def n_worlds(data: Microdata) -> int:
    """The number of ways to give the rows of values to the records."""
    joint = np.concatenate((data.sensitive, data.carried), axis=1)
    _, counts = np.unique(joint, axis=0, return_counts=True)
    return math.factorial(data.n_rows) // math.prod(math.factorial(count) for count in counts.tolist())


def _dealings(counts: list[int]) -> Iterator[list[int]]:
    """All different sequences with so many of each number."""
    if not any(counts):
        yield []
        return
    for number, count in enumerate(counts):
        if count:
            counts[number] -= 1
            for rest in _dealings(counts):
                yield [number, *rest]
            counts[number] += 1


def as_published(release: Release) -> Hashable:
    """All that a reader sees, without the order of rows and the numbers of buckets: those are drawn for themselves."""
    values = _tuples(np.concatenate((release.sensitive, release.carried), axis=1))
    if isinstance(release, Bucketized):
        buckets: dict[int, tuple[list[Any], list[Any]]] = {}
        for bucket, row in zip(release.bucket_of_quasi.tolist(), _tuples(release.quasi), strict=True):
            buckets.setdefault(bucket, ([], []))[0].append(row)
        for bucket, row in zip(release.bucket_of_sensitive.tolist(), values, strict=True):
            buckets.setdefault(bucket, ([], []))[1].append(row)
        return tuple(sorted((tuple(sorted(quasi)), tuple(sorted(inside))) for quasi, inside in buckets.values()))
    if isinstance(release, Grouped | Matched):
        boxes = [box_key(release.extents, unit) for unit in range(len(release.extents[0]))]
        return tuple(sorted(zip((boxes[unit] for unit in release.unit_of_row.tolist()), values, strict=True)))
    return tuple(sorted(zip(_tuples(release.quasi), values, strict=True)))


def box_key(extents: Sequence[Extents], unit: int) -> tuple[tuple[float, ...], ...]:
    """The cells of one unit, to be compared."""
    return tuple(
        (int(part.lows[unit]), int(part.highs[unit]), int(part.missing[unit]), *_ends_of(part, unit))
        if isinstance(part, Ranges)
        else tuple(part.members[part.starts[unit] : part.starts[unit + 1]].tolist())
        for part in extents
    )


def _ends_of(ranges: Ranges, unit: int) -> tuple[float, ...]:
    """What is printed; nothing for a cell that holds no number."""
    low, high = float(ranges.low_points[unit]), float(ranges.high_points[unit])
    return () if math.isnan(low) else (low, high)


def _tuples(codes: NDArray[np.int32]) -> list[tuple[int, ...]]:
    return [tuple(row) for row in codes.tolist()]


def bucket_shares(
    ell: int, m: int, positives: int, p: Fraction = Fraction(0), ceiling: Fraction | None = None
) -> tuple[Fraction, ...] | None:
    """P(positive) of a record in each bucket of a group of m buckets of l; None if no such group is ever made.

    >>> [str(6 * share) for share in bucket_shares(6, 3, 3)]
    ['24/11', '9/11', '0']
    """
    return _shares(ell, m, positives, Fraction(p), Fraction(1, ell) if ceiling is None else ceiling)[0]


def acceptance(ell: int, m: int, positives: int, p: Fraction = Fraction(0)) -> Fraction:
    """The mean weight of a dealing: the share of them that sampling by rejection accepts.

    >>> str(acceptance(6, 2, 2))
    '5/22'
    """
    return _shares(ell, m, positives, Fraction(p), Fraction(1, ell))[1]


def first_bucket_limit(ell: int) -> Fraction:
    """What l times the certainty in the first bucket tends to from below as greedy groups grow.

    >>> str(first_bucket_limit(3))
    '9/4'
    """
    return Fraction(ell, ell - 1) ** (ell - 1)


@lru_cache(maxsize=4096)
def _shares(
    ell: int, m: int, positives: int, p: Fraction, ceiling: Fraction
) -> tuple[tuple[Fraction, ...] | None, Fraction]:
    if positives > ceiling * m * ell:
        return None, Fraction(0)

    def factor(buckets: int, found: int) -> int:
        """The weight of a shorter run times the denominator of p, so that all stays whole."""
        return p.numerator if found <= ceiling * buckets * ell else p.denominator

    ways = [math.comb(ell, found) for found in range(ell + 1)]
    # behind[j][c]: the weight of all ways to go on from c positives in the first j buckets.
    behind = [[0] * (positives + 1) for _ in range(m + 1)]
    behind[m][positives] = 1
    for bucket in range(m - 1, -1, -1):
        for before in range(min(positives, bucket * ell) + 1):
            behind[bucket][before] = sum(
                ways[here]
                * (factor(bucket + 1, before + here) if bucket + 1 < m else 1)
                * behind[bucket + 1][before + here]
                for here in range(min(ell, positives - before) + 1)
            )
    total = behind[0][0]
    accepted = Fraction(total, math.comb(m * ell, positives) * p.denominator ** (m - 1))
    if total == 0:
        return None, accepted
    shares = []
    ahead = [1] + [0] * positives
    for bucket in range(m):
        reached, sum_here = [0] * (positives + 1), 0
        for before, weight in enumerate(ahead):
            if weight:
                for here in range(min(ell, positives - before) + 1):
                    found = before + here
                    step = weight * ways[here] * (factor(bucket + 1, found) if bucket + 1 < m else 1)
                    reached[found] += step
                    sum_here += here * step * behind[bucket + 1][found]
        shares.append(Fraction(sum_here, total * ell))
        ahead = reached
    return tuple(shares), accepted
