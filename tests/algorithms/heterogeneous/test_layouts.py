"""Buckets of one size: the published tables, and what no bucket may do to a ceiling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.groups.sizes import rooms_for
from lookalike.algorithms.heterogeneous.layouts import (
    POLICIES,
    ascending,
    attainable_beta,
    buckets_under,
    descending,
    fewest_first,
    largest_to_pad,
    n_dummies,
    packed,
    printed_beta,
    through_diversity,
)

A6_B7_D12 = np.array([6, 7, 12])

# Size: the printed beta with each policy, and the dummies that all of them need.
TABLE = {
    12: ("3", "17/7", "1", 11),
    11: ("8/3", "15/7", "5/6", 8),
    10: ("7/3", "13/7", "2/3", 5),
    9: ("11/7", "11/7", "1/2", 2),
    8: ("5/3", "9/7", "1/3", 7),
    7: ("4/3", "3/4", "1/6", 3),
    6: ("5/7", "5/7", "5/7", 5),
    5: ("2/3", "2/3", "2/3", 0),
    4: ("1", "5/7", "1/3", 3),
    3: ("2/7", "2/7", "2/7", 2),
    2: ("1/7", "1/7", "1/7", 1),
    1: ("0", "0", "0", 0),
}


@pytest.mark.parametrize("size", TABLE)
def test_the_25_records(size: int) -> None:
    *betas, dummies = TABLE[size]
    for policy, beta in zip((descending, ascending, packed), betas, strict=True):
        layout = policy(A6_B7_D12, size)
        assert (layout.sum(axis=0) == A6_B7_D12).all()
        assert printed_beta(layout, size, A6_B7_D12) == Fraction(beta)
        assert n_dummies(layout, size) == dummies


def test_what_the_25_records_attain_with_dummies_published() -> None:
    assert attainable_beta(descending(A6_B7_D12, 6), A6_B7_D12) == Fraction(3, 7)
    assert attainable_beta(ascending(A6_B7_D12, 4), A6_B7_D12) == Fraction(26, 49)
    assert attainable_beta(packed(A6_B7_D12, 4), A6_B7_D12) == Fraction(4, 21)
    assert attainable_beta(packed(A6_B7_D12, 7), A6_B7_D12) == Fraction(1, 24)


def test_the_layouts_that_the_paper_prints() -> None:
    assert ascending(A6_B7_D12, 5).tolist() == [[5, 0, 0], [1, 4, 0], [0, 3, 2], [0, 0, 5], [0, 0, 5]]
    assert packed(A6_B7_D12, 6).tolist() == [[6, 0, 0], [0, 6, 0], [0, 0, 6], [0, 0, 6], [0, 1, 0]]


BETA_SEVEN_TENTHS = [Fraction(17, 10) * int(count) / 25 for count in A6_B7_D12]


@pytest.mark.parametrize(("policy", "size"), [("descending", 5), ("packed", 10)])
def test_the_published_search_for_beta_seven_tenths(policy: str, size: int) -> None:
    found = largest_to_pad(A6_B7_D12, BETA_SEVEN_TENTHS, [policy], 1)
    assert found is not None
    layout, chosen = found
    assert chosen == size
    assert printed_beta(layout, chosen, A6_B7_D12) == Fraction(2, 3)


def test_two_blocks_need_no_more_buckets_and_no_dummies() -> None:
    blocks = buckets_under(A6_B7_D12, BETA_SEVEN_TENTHS, ["descending"], 1)
    assert blocks is not None
    assert max(len(layout) for _, (layout,) in blocks) <= 5


def test_beta_zero_has_pure_buckets() -> None:
    counts = np.array([6, 4, 10])
    ((_, (layout,)),) = buckets_under(counts, [Fraction(int(count), 20) for count in counts], [*POLICIES], 1) or []
    assert layout.shape == (10, 3)
    assert (np.count_nonzero(layout, axis=1) == 1).all()


@settings(max_examples=80, deadline=None)
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


def test_the_buckets_of_the_15_records() -> None:
    """a3 b3 c3 d2 e2 f2: five buckets, aaa bbb ccc ddf eef."""
    assert fewest_first(np.array([3, 3, 3, 2, 2, 2]), 5).tolist() == [
        [3, 0, 0, 0, 0, 0],
        [0, 3, 0, 0, 0, 0],
        [0, 0, 3, 0, 0, 0],
        [0, 0, 0, 2, 0, 1],
        [0, 0, 0, 0, 2, 1],
    ]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 8), min_size=2, max_size=12), st.integers(2, 5))
def test_published_buckets_come_out_even(numbers: list[int], ell: int) -> None:
    counts = np.array(numbers)
    size = int(counts.sum()) // ell
    if counts.sum() % ell or counts.max() > size or len(counts) < ell:
        return
    layout = fewest_first(counts, ell)
    assert (layout.sum(axis=0) == counts).all()
    assert (layout.sum(axis=1) == size).all()
