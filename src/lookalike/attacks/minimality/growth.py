"""Exact beliefs about groups that grew bucket by bucket until at most one record in l was positive.

A bucket has l records. Whoever knows that a group of m buckets was not closed earlier knows that every shorter run held
too many positives, or that a coin (probability p) made it grow on. A world has weight p^(shorter runs that might have
stood); Cormode et al. (PVLDB 2010), with the weights for more than two buckets mended. All in whole numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache


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
    """What l times the belief in the first bucket tends to from below as greedy groups grow.

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
