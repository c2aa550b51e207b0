"""Rubin's rules against their formulas, and intervals that cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike import pool
from lookalike.errors import RecipeError


def test_the_formulas() -> None:
    pooled = pool([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]], [[0.5, 2.0], [1.0, 2.0], [1.5, 2.0]])
    assert pooled.estimate.tolist() == [3.0, 5.0]
    assert pooled.within.tolist() == [1.0, 2.0]
    assert pooled.between.tolist() == [7.0, 0.0]
    total = 1 + 4 / 3 * 7
    assert pooled.variance.tolist() == pytest.approx([total, 2.0])
    assert pooled.error.tolist() == pytest.approx([math.sqrt(total), math.sqrt(2.0)])
    assert pooled.share_open.tolist() == pytest.approx([28 / 3 / total, 0.0])
    assert pooled.degrees.tolist() == pytest.approx([2 * (total / (28 / 3)) ** 2, math.inf])


def test_small_tables_have_fewer_degrees_of_freedom() -> None:
    given, variances = [1.0, 2.0, 6.0], [0.5, 1.0, 1.5]
    share = (28 / 3) / (31 / 3)
    of_table = 21 / 23 * 20 * (1 - share)
    pooled = pool(given, variances, degrees=20)
    assert pooled.degrees == pytest.approx(1 / (share**2 / 2 + 1 / of_table))
    assert pooled.degrees < pool(given, variances).degrees
    # Without any difference between worlds it is nearly the analysis of one table.
    assert pool([1.0, 1.0], [1.0, 1.0], degrees=20).degrees == pytest.approx(21 / 23 * 20)


def test_intervals_are_students() -> None:
    pooled = pool([1.0, 1.0], [4.0, 4.0])
    low, high = pooled.interval(0.95)
    assert (low, high) == (pytest.approx(1 - 2 * 1.959964), pytest.approx(1 + 2 * 1.959964))
    wide = pool([0.0, 2.0], [0.0, 0.0]).interval(0.95)
    # One degree of freedom: the quantile is 12.706, the variance 1.5 times 2.
    assert wide[1] == pytest.approx(1 + 12.7062 * math.sqrt(3), rel=1e-5)


def test_pooled_intervals_cover() -> None:
    """A mean where 40 % of the values are drawn again from a normal whose parameters are drawn, too."""
    generator = np.random.default_rng(1)
    n, n_missing, m, covered = 100, 40, 10, 0
    for _ in range(1000):
        known = generator.normal(3, 2, n - n_missing)
        estimates, variances = [], []
        for _ in range(m):
            spread = known.var(ddof=1) * (len(known) - 1) / generator.chisquare(len(known) - 1)
            centre = generator.normal(known.mean(), math.sqrt(spread / len(known)))
            world = np.append(known, generator.normal(centre, math.sqrt(spread), n_missing))
            estimates.append(world.mean())
            variances.append(world.var(ddof=1) / n)
        low, high = pool(estimates, variances, degrees=n - 1).interval(0.9)
        covered += low <= 3 <= high
    # Four standard deviations of a share of 0.9 in 1,000.
    assert abs(covered / 1000 - 0.9) < 4 * math.sqrt(0.09 / 1000)


@pytest.mark.parametrize(
    ("estimates", "variances", "said"),
    [
        ([1.0], [1.0], "One world"),
        ([1.0, 2.0], [1.0], "shape"),
        (1.0, 1.0, "shape"),
        ([1.0, 2.0], [1.0, -1.0], "not negative"),
        ([1.0, math.nan], [1.0, 1.0], "finite"),
    ],
)
def test_what_is_refused(estimates: object, variances: object, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        pool(estimates, variances)
    with pytest.raises(RecipeError, match="degrees"):
        pool([1.0, 2.0], [1.0, 1.0], degrees=0)
    with pytest.raises(RecipeError, match="level"):
        pool([1.0, 2.0], [1.0, 1.0]).interval(95)
