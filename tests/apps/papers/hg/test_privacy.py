"""The arithmetic of HG's theorems."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lookalike.apps.papers.hg.privacy import gains_with_dummies


def test_gains_after_dummies_are_taken_out() -> None:
    """Counts 1, 1 and 3 in buckets of two: equation 7 says 1, a person can see 3/2."""
    assert gains_with_dummies(np.array([1, 1, 3]), 2) == (1, Fraction(3, 2))
    printed, reached = gains_with_dummies(np.array([2, 4]), 2)
    assert printed == reached == 0
