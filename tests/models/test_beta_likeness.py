from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import RecipeError
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.shared.exact import sign_of
from tests.models.building import exposure_of, partitions, weighed


def test_gains_are_exact() -> None:
    exposure = exposure_of([[2, 3], [1, 4]])
    level = BetaLikeness(1).level(exposure)
    assert (level.value, level.unit) == (Fraction(1, 3), 0)


def test_enhanced_level_is_infinite_beyond_every_beta() -> None:
    # p = 1/2: p (1 - ln p) = 0.8466 is the limit for every beta.
    inside, beyond = exposure_of([[16, 3]], prior=[1, 1]), exposure_of([[17, 3]], prior=[1, 1])
    assert BetaLikeness(9).level(inside).value == Fraction(13, 19)
    assert BetaLikeness(9).level(beyond).value == math.inf
    assert BetaLikeness(9, bound="basic").level(beyond).value == Fraction(7, 10)


@settings(deadline=None)
@given(partitions())
def test_the_level_is_the_smallest_beta_that_holds(groups: list[list[int]]) -> None:
    exposure = exposure_of(groups)
    for bound in ("basic", "enhanced"):
        reached = BetaLikeness(1, bound=bound).level(exposure).value
        if math.isinf(reached):
            assert not BetaLikeness(10**6, bound=bound).holds(BetaLikeness(10**6, bound=bound).level(exposure))
            continue
        at = BetaLikeness(Fraction(reached), bound=bound)
        assert at.holds(at.level(exposure))
        if reached > 0:
            under = BetaLikeness(Fraction(reached) * Fraction(999, 1000), bound=bound)
            assert not under.holds(under.level(exposure))


@settings(deadline=None)
@given(
    st.fractions(0, 6, max_denominator=1000),
    st.lists(st.integers(1, 10**9), min_size=2, max_size=4),
)
def test_enhanced_ceilings_are_safe_and_close(beta: Fraction, prior: list[int]) -> None:
    ceilings = BetaLikeness(beta).requirement(np.array(prior), None, 0).ceilings
    assert ceilings is not None
    for number, ceiling in zip(prior, ceilings, strict=True):
        share = Fraction(number, sum(prior))
        log_share = (Fraction(1), share)
        assert share <= ceiling <= (1 + beta) * share
        # ceiling / share - 1 <= -ln share
        assert sign_of(ceiling / share - 1, [log_share]) <= 0
        if ceiling < (1 + beta) * share:
            assert sign_of((ceiling + Fraction(2, 2**60)) / share - 1, [log_share]) > 0


def test_negative_bounds_in_both_forms() -> None:
    exposure = exposure_of([[1, 3], [3, 1]])
    ratio, relative = BetaLikeness(1, "basic", 1), BetaLikeness(1, "basic", "0.5", "relative")
    for model in (ratio, relative):
        level = model.level(exposure)
        assert (level.value, model.holds(level)) == (Fraction(1, 2), True)
        assert "negative bound reached" in level.detail
    for model in (BetaLikeness(1, "basic", "0.99"), BetaLikeness(1, "basic", "0.49", "relative")):
        level = model.level(exposure)
        assert (level.value, model.holds(level)) == (math.inf, False)
    prior = np.array([1, 3])
    assert BetaLikeness(1, "basic", 1).requirement(prior, None, 0).floors == (Fraction(1, 8), Fraction(3, 8))
    assert BetaLikeness(1, "basic", "0.5", "relative").requirement(prior, None, 0).floors == (
        Fraction(1, 8),
        Fraction(3, 8),
    )


def test_an_absent_value_breaks_every_ratio_but_not_the_empty_relative_bound() -> None:
    exposure = exposure_of([[0, 1, 1], [1, 1, 1]])
    ratio = BetaLikeness(3, "basic", 1000).level(exposure)
    assert (ratio.value, ratio.unit) == (math.inf, 0)
    vacuous = BetaLikeness(3, "basic", 1, "relative")
    assert vacuous.holds(vacuous.level(exposure))


def test_invented_values_are_an_infinite_gain() -> None:
    level = BetaLikeness(3).level(exposure_of([[1, 1, 1]], prior=[5, 0, 5]))
    assert (level.value, level.unit) == (math.inf, 0)
    assert BetaLikeness(3).requirement(np.array([5, 0, 5]), None, 0).ceilings[1] == 0  # type: ignore[index]


def test_a_value_that_everybody_has_gains_nothing() -> None:
    model = BetaLikeness(2)
    assert model.level(exposure_of([[3], [2]])).value == 0
    assert model.requirement(np.array([5]), None, 0).ceilings == (1,)


def test_beliefs_of_perturbed_columns_are_read_like_counts() -> None:
    big = 10**17
    exposure = weighed([[3 * big, big], [big, 3 * big]], [1, 1])
    assert BetaLikeness(1).level(exposure).value == Fraction(1, 2)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"beta": -1}, "beta is -1. It must be a number at least 0."),
        ({"beta": 1, "bound": "best"}, 'no choice "best"'),
        ({"beta": 1, "negative_form": "relative"}, "without negative"),
        ({"beta": 1, "negative": "1.5", "negative_form": "relative"}, "above 0 and at most 1"),
        ({"beta": 1, "negative": 0, "negative_form": "relative"}, "above 0 and at most 1"),
    ],
)
def test_parts_that_do_not_fit_are_refused(settings_: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        BetaLikeness(**settings_)  # type: ignore[arg-type]


def test_nothing_published_gains_nothing() -> None:
    model = BetaLikeness(0, negative=0)
    assert model.holds(model.level(weighed([], [1, 1], form="grouped")))
