from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from lookalike.models.alpha_k import AlphaK
from tests.models.building import categories, exposure_of


def test_alpha_k_needs_both() -> None:
    exposure = exposure_of([[2, 2, 0], [1, 1, 1]])
    level = AlphaK("0.5", 3).level(exposure)
    assert (level.value, level.detail) == (Fraction(1, 2), "smallest group 3")
    assert AlphaK("0.5", 3).holds(level)
    assert not AlphaK("0.49", 3).holds(level)
    small = AlphaK("1", 4).level(exposure)
    assert (small.value, small.unit, small.detail) == (math.inf, 1, "smallest group 3")
    assert not AlphaK("1", 4).holds(small)


def test_alpha_bounds_only_the_designated_values() -> None:
    exposure = exposure_of([[3, 1, 0], [0, 1, 3]])
    assert AlphaK("0.25", 2, subset="b").level(exposure).value == Fraction(1, 4)
    requirement = AlphaK("0.25", 2, subset="b").requirement(exposure.prior, categories(3), 0)
    assert requirement.ceilings == (1, Fraction(1, 4), 1)
    assert requirement.min_size == 2


def test_copies_for_a_nearest_keep_everything_else() -> None:
    assert str(replace(AlphaK("0.3", 7, subset="a"), k=4)) == "alpha-k:alpha=0.3,k=4,subset=a"
