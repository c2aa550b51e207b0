from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.models.l_diversity import distinct_values, entropies, entropy_reaches, most_frequent_and_rest
from tests.models.building import exposure_of, partitions, weighed

counts_lists = st.lists(st.integers(1, 12), min_size=1, max_size=6)


@given(counts_lists, st.fractions(1, 6, max_denominator=8))
def test_entropy_is_decided_as_by_powers_of_big_integers(counts: list[int], ell: Fraction) -> None:
    size = sum(counts)
    left = ell.numerator**size * math.prod(count**count for count in counts)
    assert entropy_reaches(counts, ell) == (left <= size**size * ell.denominator**size)


@given(counts_lists)
def test_floats_of_entropy_are_near(counts: list[int]) -> None:
    found = entropies(np.array(counts), np.zeros(len(counts), dtype=np.int64), 2)
    size = sum(counts)
    assert found[0] == pytest.approx(-sum(count / size * math.log(count / size) for count in counts), abs=1e-12)
    assert found[1] == -math.inf


@settings(deadline=None)
@given(partitions(), st.integers(1, 6))
def test_tops_and_rests(groups: list[list[int]], ell: int) -> None:
    exposure = exposure_of(groups)
    tops, rests = most_frequent_and_rest(exposure, ell)
    for unit, counts in enumerate(groups):
        falling = sorted(counts, reverse=True)
        assert (tops[unit], rests[unit]) == (falling[0], sum(falling[ell - 1 :]))
    assert distinct_values(exposure).tolist() == [sum(count > 0 for count in counts) for counts in groups]


def test_tops_and_rests_of_large_weights() -> None:
    big = 2**60
    tops, rests = most_frequent_and_rest(weighed([[big, 3 * big, 2 * big], [1, 2, 0]], [1, 1, 1]), 2)
    assert tops.tolist() == [3 * big, 2]
    assert rests.tolist() == [3 * big, 1]
