from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import RecipeError
from lookalike.models.rho_privacy import RhoPrivacy, find_most_within
from tests.models.building import exposure_of, partitions, weighed


@settings(deadline=None)
@given(partitions(), st.sampled_from(["0.05", "0.2", "1/3", "0.5", "0.9"]))
def test_the_level_is_the_worst_of_all_properties(groups: list[list[int]], rho1: str) -> None:
    exposure = exposure_of(groups)
    model = RhoPrivacy(rho1, 1)
    prior = exposure.prior.tolist()
    worst = Fraction(0)
    for size in range(len(prior) + 1):
        for chosen in itertools.combinations(range(len(prior)), size):
            if Fraction(sum(prior[code] for code in chosen), sum(prior)) <= model.rho1:
                for counts in groups:
                    worst = max(worst, Fraction(sum(counts[code] for code in chosen), sum(counts)))
    assert model.level(exposure).value == worst


@given(st.integers(0, 30), st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), max_size=7))
def test_the_knapsack_agrees_with_all_subsets(capacity: int, items: list[tuple[int, int]]) -> None:
    sums = (
        (sum(cost for cost, _ in chosen), sum(gain for _, gain in chosen))
        for size in range(len(items) + 1)
        for chosen in itertools.combinations(items, size)
    )
    assert find_most_within(capacity, items) == max(gain for cost, gain in sums if cost <= capacity)


def test_unlikely_values_grow_together() -> None:
    # Two values of 5 % each: every one stays within rho2 alone, together they do not.
    exposure = exposure_of([[3, 3, 4]], prior=[5, 5, 90])
    model = RhoPrivacy("0.1", "0.5")
    level = model.level(exposure)
    assert (level.value, level.unit) == (Fraction(3, 5), 0)
    assert not model.holds(level)
    assert model.requirement(np.array([5, 5, 90]), None, 0).ceilings == (Fraction(1, 4), Fraction(1, 4), 1)


def test_large_weights_stay_exact() -> None:
    big = 2**59
    exposure = weighed([[big, big + 1, 2 * big], [1, 1, 2]], [1, 1, 8])
    assert RhoPrivacy("0.1", 1).level(exposure).value == Fraction(big + 1, 4 * big + 1)


def test_invented_values_are_part_of_every_property() -> None:
    exposure = exposure_of([[1, 1, 2]], prior=[0, 1, 9])
    assert RhoPrivacy("0.05", 1).level(exposure).value == Fraction(1, 4)
    assert RhoPrivacy("0.1", 1).level(exposure).value == Fraction(1, 2)


@pytest.mark.parametrize(("rho1", "rho2"), [("0.5", "0.5"), ("0.5", "0.4"), (0, "0.5"), (1, 1), ("0.5", "1.1")])
def test_thresholds_out_of_order_are_refused(rho1: str, rho2: str) -> None:
    with pytest.raises(RecipeError, match="rho-privacy: rho"):
        RhoPrivacy(rho1, rho2)


def test_nothing_published_makes_nothing_likely() -> None:
    model = RhoPrivacy("0.1", "0.2")
    assert model.holds(model.level(weighed([], [1, 1], form="grouped")))
