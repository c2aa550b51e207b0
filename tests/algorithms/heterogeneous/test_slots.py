"""Buckets of one size: the published tables, and what no bucket may do to a ceiling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.groups.sizes import rooms_for
from lookalike.algorithms.heterogeneous.slots import (
    POLICIES,
    ascending,
    buckets_under,
    pack_values,
    through_diversity,
)
from tests.examples import examples

A6_B7_D12 = np.array([6, 7, 12])


def test_the_layouts_that_the_paper_prints() -> None:
    assert ascending(A6_B7_D12, 5).tolist() == [[5, 0, 0], [1, 4, 0], [0, 3, 2], [0, 0, 5], [0, 0, 5]]
    assert pack_values(A6_B7_D12, 6).tolist() == [[6, 0, 0], [0, 6, 0], [0, 0, 6], [0, 0, 6], [0, 1, 0]]


BETA_SEVEN_TENTHS = [Fraction(17, 10) * int(count) / 25 for count in A6_B7_D12]


def test_two_blocks_need_no_more_buckets_and_no_dummies() -> None:
    blocks = buckets_under(A6_B7_D12, BETA_SEVEN_TENTHS, ["descending"], 1)
    assert blocks is not None
    assert max(len(layout) for _, (layout,) in blocks) <= 5


def test_beta_zero_has_pure_buckets() -> None:
    counts = np.array([6, 4, 10])
    ((_, (layout,)),) = buckets_under(counts, [Fraction(int(count), 20) for count in counts], [*POLICIES], 1) or []
    assert layout.shape == (10, 3)
    assert (np.count_nonzero(layout, axis=1) == 1).all()


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=6),
    st.fractions(Fraction(1, 4), 4, max_denominator=8),
    st.sampled_from([*POLICIES]),
)
def test_buckets_hold_everybody_and_keep_ceilings(numbers: list[int], beta: Fraction, policy: str) -> None:
    counts = np.array(numbers)
    ceilings = [min((1 + beta) * Fraction(count, sum(numbers)), Fraction(1)) for count in numbers]
    blocks = buckets_under(counts, ceilings, [policy], 1)
    if blocks is None:
        return
    assert (sum(part for part, _ in blocks) == counts).all()
    for part, (layout,) in blocks:
        assert (layout.sum(axis=0) == part).all()
        assert len(set(layout.sum(axis=1).tolist())) == 1
        assert (np.count_nonzero(layout, axis=0) <= rooms_for(len(layout), ceilings)).all()


def test_the_way_through_l_diversity_needs_a_whole_l_and_few_of_the_most_frequent() -> None:
    """Frequencies 3/10, 4/10, 3/10: beta = 1 allows 6/10, so l = 2."""
    counts = np.array([3, 4, 3])
    assert through_diversity(counts, [Fraction(2 * int(count), 10) for count in counts], 1) == 2
    # 1/l <= 3/10 needs l = 4, and four of ten are one value.
    assert through_diversity(counts, [Fraction(3, 10)] * 3, 1) is None
