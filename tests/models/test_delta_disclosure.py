from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.contracts import Level
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.shared.exact import enclosure, sign_of
from tests.models.building import categories, exposure_of, weighed


def test_changes_up_and_down_count() -> None:
    exposure = exposure_of([[1, 3], [3, 1]])
    level = DeltaDisclosure(1).level(exposure)
    assert float(level.value) == pytest.approx(math.log(2))
    upward = DeltaDisclosure(1).level(exposure_of([[3, 1]], prior=[1, 1]))
    assert float(upward.value) == pytest.approx(math.log(2))


def test_a_delta_next_to_the_level_is_decided_by_digits() -> None:
    # The level is exactly ln 2; its enclosure has 50 digits.
    exposure = exposure_of([[1, 3], [3, 1]])
    low, high = enclosure(Fraction(0), [(Fraction(1), Fraction(2))])
    for delta, held in ((low, False), (high, True)):
        model = DeltaDisclosure(delta)
        assert model.holds(model.level(exposure)) == held


@settings(deadline=None)
@given(
    st.fractions(Fraction(1, 10**6), 8, max_denominator=10**6),
    st.lists(st.integers(1, 10**6), min_size=2, max_size=4),
)
def test_bounds_are_on_the_safe_side_and_close(delta: Fraction, prior: list[int]) -> None:
    requirement = DeltaDisclosure(delta).requirement(np.array(prior), None, 0)
    assert requirement.ceilings is not None
    assert requirement.floors is not None
    for number, ceiling, floor in zip(prior, requirement.ceilings, requirement.floors, strict=True):
        share = Fraction(number, sum(prior))
        assert floor <= share <= ceiling <= 1
        # ln(ceiling / share) < delta and ln(share / floor) < delta, strictly
        assert sign_of(-delta, [(Fraction(1), ceiling / share)]) < 0
        assert sign_of(-delta, [(Fraction(1), share / floor)]) < 0
        if ceiling < 1:
            assert sign_of(-delta, [(Fraction(1), (ceiling + Fraction(2, 2**60)) / share)]) > 0


def test_values_the_table_lacks_need_not_occur_and_must_not() -> None:
    model = DeltaDisclosure(1)
    requirement = model.requirement(np.array([5, 0, 5]), categories(3), 0)
    assert requirement.ceilings is not None
    assert requirement.floors is not None
    assert (requirement.ceilings[1], requirement.floors[1], requirement.min_size) == (0, 0, 2)
    assert model.holds(model.level(exposure_of([[1, 0, 1]], prior=[5, 0, 5])))
    invented = model.level(exposure_of([[1, 1, 1]], prior=[5, 0, 5]))
    assert (invented.value, invented.unit) == (math.inf, 0)


def test_the_unit_that_lacks_a_value_is_named() -> None:
    level = DeltaDisclosure(5).level(exposure_of([[2, 1], [3, 0], [1, 1]]))
    assert (level.value, level.unit) == (math.inf, 1)


def test_huge_deltas_ask_only_for_presence() -> None:
    model = DeltaDisclosure(10**9)
    exposure = exposure_of([[10**4, 1], [1, 10**4]])
    assert model.holds(model.level(exposure))
    requirement = model.requirement(exposure.prior, None, 0)
    assert requirement.ceilings == (1, 1)
    assert requirement.floors is not None
    assert 0 < max(requirement.floors) < Fraction(1, 10**15)


def test_nothing_published_changes_nothing() -> None:
    model = DeltaDisclosure("0.1")
    assert model.holds(model.level(weighed([], [1, 1], form="grouped")))


def test_delta_itself_is_too_much() -> None:
    assert not DeltaDisclosure(1).holds(Level(Fraction(1)))
    assert DeltaDisclosure(1).holds(Level(Fraction(999, 1000)))
