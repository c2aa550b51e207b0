from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.models.shared.exposures import (
    highest_beliefs,
    in_blocks,
    largest_ratio,
    lowest_beliefs,
    unit_lacking,
    unit_sums,
)
from tests.models.building import exposure_of, partitions, weighed


@settings(deadline=None)
@given(partitions())
def test_extremes_are_those_of_all_groups(groups: list[list[int]]) -> None:
    exposure = exposure_of(groups)
    highest, lowest = highest_beliefs(exposure), lowest_beliefs(exposure)
    for code in range(len(groups[0])):
        beliefs = [Fraction(counts[code], sum(counts)) for counts in groups]
        assert highest.beliefs[code] == max(beliefs) == beliefs[highest.units[code]]
        assert lowest.beliefs[code] == min(beliefs)
        where = lowest.units[code] if lowest.beliefs[code] else unit_lacking(exposure, code)
        assert beliefs[where] == min(beliefs)


@given(st.lists(st.tuples(st.integers(0, 2**62), st.integers(1, 2**62)), min_size=1, max_size=8))
def test_the_largest_of_large_quotients(pairs: list[tuple[int, int]]) -> None:
    numerators, denominators = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    quotients = [Fraction(*pair) for pair in pairs]
    assert quotients[largest_ratio(numerators, denominators)] == max(quotients)


def test_quotients_that_floats_cannot_tell_apart() -> None:
    big = 2**60
    numerators = np.array([big - 1, big, big - 2], dtype=np.int64)
    denominators = np.array([big, big + 1, big], dtype=np.int64)
    assert len(set((numerators / denominators).tolist())) == 1
    assert largest_ratio(numerators, denominators) == 1


def test_large_weights_are_compared_exactly() -> None:
    big = 2**61
    exposure = weighed([[big, big - 1], [big - 1, big], [big, big]], [1, 1])
    highest = highest_beliefs(exposure)
    assert highest.beliefs == (Fraction(big, 2 * big - 1),) * 2
    assert highest.units == (0, 1)


def test_sums_of_units_survive_overflow_of_the_running_sum() -> None:
    numbers = np.full(6, 2**61, dtype=np.int64)
    assert unit_sums(numbers, np.array([0, 2, 4, 4, 6])).tolist() == [2**62, 2**62, 0, 2**62]


def test_blocks_leave_no_unit_out() -> None:
    counts = np.random.default_rng(5).integers(1, 4, size=(3000, 40))
    exposure = weighed(counts.tolist(), counts.sum(axis=0).tolist(), form="grouped")
    sizes = in_blocks(exposure, lambda block: unit_sums(block.weights, block.starts))
    assert np.array_equal(sizes, exposure.sizes)
