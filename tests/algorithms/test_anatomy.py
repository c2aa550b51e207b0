"""Anatomy: buckets of different values, taken from the longest lists."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.shared.buckets import Asked
from lookalike.errors import Unsupported
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples


@settings(max_examples=examples(150), deadline=None)
@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=12), ell=st.integers(1, 6), seed=st.integers(0, 99))
def test_anatomy_makes_buckets_of_different_values(counts: list[int], ell: int, seed: int) -> None:
    asked = Asked(np.array(counts), [Fraction(1, ell)] * len(counts), 1, has_values=True)
    if max(counts) * ell > sum(counts):
        with pytest.raises(Unsupported, match="same ceiling"):
            Anatomy().slots(asked, Randomness(seed), silent)
        return
    slots, _ = Anatomy().slots(asked, Randomness(seed), silent)
    assert np.bincount(slots.value_of_slot).tolist() == counts
    assert slots.n_buckets == sum(counts) // ell or sum(counts) // ell > slots.n_buckets
    for bucket in range(slots.n_buckets):
        inside = slots.value_of_slot[slots.bucket_of_slot == bucket]
        assert len(set(inside.tolist())) == len(inside) >= ell


def test_anatomy_takes_the_longest_lists() -> None:
    asked = Asked(np.array([4, 3, 2, 1]), [Fraction(1, 2)] * 4, 1, has_values=True)
    slots, _ = Anatomy().slots(asked, Randomness(1), silent)
    assert slots.n_buckets == 5
    assert sorted(slots.value_of_slot[:2].tolist()) == [0, 1]
