from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from lookalike.data.exposure import Exposure
from lookalike.models import t_closeness
from lookalike.models.shared.exact import enclosure
from tests.examples import examples
from tests.models.building import categories, exposure_of, partitions, weighed, with_tree
from tests.models.test_agreement import TREES
from tests.oracles import group_rule


def shares_and_beliefs(groups: list[list[int]]) -> tuple[list[Fraction], list[list[Fraction]]]:
    prior = [sum(counts) for counts in zip(*groups, strict=True)]
    shares = [Fraction(number, sum(prior)) for number in prior]
    return shares, [[Fraction(count, sum(counts)) for count in counts] for counts in groups]


@settings(deadline=None)
@given(partitions())
def test_moves_agree_with_the_definitions(groups: list[list[int]]) -> None:
    shares, beliefs = shares_and_beliefs(groups)
    n_codes = len(shares)
    exposure = exposure_of(groups)
    column = with_tree(TREES[n_codes])
    assert column.taxonomy is not None
    height = int(column.taxonomy.heights[0])
    whole = [exposure.n_records * int(size) for size in exposure.sizes]
    equal, ordered = t_closeness.equal_moves(exposure), t_closeness.ordered_moves(exposure)
    tree = t_closeness.hierarchical_moves(exposure, column.taxonomy)
    for unit, belief in enumerate(beliefs):
        assert Fraction(int(equal[unit]), whole[unit]) == group_rule.equal_emd(shares, belief)
        assert Fraction(int(ordered[unit]), whole[unit] * (n_codes - 1)) == group_rule.ordered_emd(shares, belief)
        expected = group_rule.hierarchical_emd(column.taxonomy, shares, belief)
        assert Fraction(int(tree[unit]), whole[unit] * height) == expected


@settings(deadline=None)
@given(partitions())
def test_divergences_agree_with_the_definitions(groups: list[list[int]]) -> None:
    shares, beliefs = shares_and_beliefs(groups)
    exposure = exposure_of(groups)
    kl, js = t_closeness.kullback_leibler_bits(exposure), t_closeness.jensen_shannon_bits(exposure)
    assert kl == pytest.approx([group_rule.kl_bits(shares, belief) for belief in beliefs], abs=1e-12)
    assert js == pytest.approx([group_rule.js_bits(shares, belief) for belief in beliefs], abs=1e-12)


@settings(deadline=None, max_examples=examples(30))
@given(partitions())
def test_sums_of_logarithms_are_the_divergences(groups: list[list[int]]) -> None:
    exposure = exposure_of(groups)
    prior = exposure.prior.tolist()
    kl, js = t_closeness.kullback_leibler_bits(exposure), t_closeness.jensen_shannon_bits(exposure)
    for unit, counts in enumerate(groups):
        held = {code: count for code, count in enumerate(counts) if count}
        low, _ = enclosure(Fraction(0), t_closeness.jensen_shannon_terms(prior, held))
        assert float(low) / np.log(2) == pytest.approx(js[unit], abs=1e-12)
        if np.isfinite(kl[unit]):
            low, _ = enclosure(Fraction(0), t_closeness.kullback_leibler_terms(prior, held))
            assert float(low) / np.log(2) == pytest.approx(kl[unit], abs=1e-12)


def test_entries_may_stand_in_any_order() -> None:
    exposure = exposure_of([[1, 4, 0, 2], [3, 0, 2, 2]])
    tree = with_tree(TREES[4]).taxonomy
    assert tree is not None
    turned = np.concatenate([np.arange(2, -1, -1), np.arange(5, 2, -1)])
    mixed = Exposure(
        **{
            **{name: getattr(exposure, name) for name in ("adversary", "form", "column", "prior", "starts", "sizes")},
            "values": exposure.values[turned],
            "weights": exposure.weights[turned],
        }
    )
    assert t_closeness.ordered_moves(mixed).tolist() == t_closeness.ordered_moves(exposure).tolist()
    assert (
        t_closeness.hierarchical_moves(mixed, tree).tolist() == t_closeness.hierarchical_moves(exposure, tree).tolist()
    )


def test_weights_beyond_64_bits_stay_exact() -> None:
    big = 2**60
    small = weighed([[3, 1, 0], [0, 1, 2]], [30, 20, 50])
    large = weighed([[3 * big, big, 0], [0, big, 2 * big]], [30, 20, 50])
    tree = with_tree(TREES[3]).taxonomy
    assert tree is not None
    for measure in (
        t_closeness.equal_moves,
        t_closeness.ordered_moves,
        lambda exposure: t_closeness.hierarchical_moves(exposure, tree),
    ):
        assert [int(moved) for moved in measure(large)] == [int(moved) * big for moved in measure(small)]


def test_one_value_is_at_no_distance() -> None:
    exposure = exposure_of([[2], [3]], categories(1))
    assert t_closeness.ordered_moves(exposure).tolist() == [0, 0]
    assert t_closeness.equal_moves(exposure).tolist() == [0, 0]
