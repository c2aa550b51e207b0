"""Coins, noise and choices have the distributions that they are said to have."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.shared.mechanisms import (
    GRID,
    DiscreteGaussian,
    choose,
    coins,
    discrete_laplace,
    epsilon_of_beta,
    exponents,
    noise_scale,
)
from lookalike.errors import RecipeError
from lookalike.randomness import Randomness

DRAWS = 40_000


def near(share: float, expected: float, draws: int = DRAWS) -> bool:
    """Within five standard errors: by chance once in two million."""
    return abs(share - expected) <= 5 * math.sqrt(expected * (1 - expected) / draws) + 1e-12


@pytest.mark.parametrize("numerator", [0, 1, 3, 7, 10, 15, 40])
def test_coins_show_heads_with_the_exponential_probability(numerator: int) -> None:
    heads = coins(Randomness(1), np.full(DRAWS, numerator), 10)
    assert near(float(heads.mean()), math.exp(-numerator / 10))


def test_coins_of_many_exponents_at_once_do_not_mix() -> None:
    heads = coins(Randomness(2), np.tile([0, 5, 2000 * 10], DRAWS), 10).reshape(-1, 3)
    assert heads[:, 0].all()
    assert near(float(heads[:, 1].mean()), math.exp(-0.5))
    assert not heads[:, 2].any()


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(40)])
def test_noise_is_discrete_laplace(scale: Fraction) -> None:
    drawn = discrete_laplace(Randomness(3), scale, DRAWS)
    assert drawn.dtype == np.int64
    assert len(drawn) == DRAWS
    ratio = math.exp(-1 / scale)
    for z in (-7, -2, -1, 0, 1, 2, 7):
        assert near(float((drawn == z).mean()), (1 - ratio) / (1 + ratio) * ratio ** abs(z)), z


def test_noise_of_a_tiny_scale_is_none_and_of_a_huge_scale_large() -> None:
    assert not discrete_laplace(Randomness(4), noise_scale(Fraction(10**6), 2), 1000).any()
    wide = discrete_laplace(Randomness(4), noise_scale(Fraction(1, 10**7), 2), 1000)
    assert 1e7 < np.abs(wide).mean() < 4e7


@given(st.fractions(Fraction(1, 10**8), 10**6), st.integers(1, 5))
def test_the_scale_is_never_rounded_down(epsilon: Fraction, sensitivity: int) -> None:
    scale = noise_scale(epsilon, sensitivity)
    assert sensitivity / scale <= epsilon
    assert scale - sensitivity / epsilon < Fraction(1, 1 << 20)


def test_a_choice_is_exponential_in_the_weights() -> None:
    weights = np.array([0, GRID // 2, GRID, 3 * GRID])
    drawn = [choose(Randomness(seed), weights) for seed in range(4000)]
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    expected = np.exp(weights / GRID) / np.exp(weights / GRID).sum()
    assert all(near(share, wanted, len(drawn)) for share, wanted in zip(shares, expected, strict=True))


def test_a_hopeless_candidate_among_many_does_not_stop_the_choice() -> None:
    weights = np.zeros(5000, dtype=np.int64)
    weights[1234] = 10**6 * GRID
    assert choose(Randomness(5), weights) == 1234


@given(
    st.lists(st.tuples(st.floats(0, 8), st.floats(-1, 1)), min_size=1, max_size=8),
    st.fractions(Fraction(1, 10**8), 10**5),
    st.floats(1e-7, 2),
)
def test_exponents_move_by_half_of_epsilon_at_most(
    pairs: list[tuple[float, float]], epsilon: Fraction, sensitivity: float
) -> None:
    """Scores that differ by the sensitivity, and not exactly even then: floats."""
    scores = np.array([score for score, _ in pairs])
    others = np.array([max(score + shift * sensitivity, 0.0) for score, shift in pairs])
    moved = np.abs(exponents(scores, epsilon, sensitivity) - exponents(others, epsilon, sensitivity))
    assert all(Fraction(int(move), GRID) <= epsilon / 2 for move in moved)


def test_exponents_rise_with_the_score() -> None:
    found = exponents(np.array([0.0, 0.5, 1.0]), Fraction(2), 0.5)
    assert found[0] == 0
    assert found / GRID == pytest.approx([0.0, 1.0, 2.0], rel=1e-5)
    assert exponents(np.array([5.0]), Fraction(10**6), 1e-12)[0] > 0


@pytest.mark.parametrize("variance", ["1/100", "1/3", "1", "7/2", "100", "12345.678"])
def test_noise_is_discrete_gaussian(variance: str) -> None:
    noise = DiscreteGaussian.at_least(Fraction(variance))
    drawn = noise.draw(Randomness(6), DRAWS)
    assert (drawn.dtype, len(drawn)) == (np.int64, DRAWS)
    around = np.arange(-2000, 2001)
    weights = np.exp(-(around**2) / (2 * float(noise.variance)))
    for z in (-30, -3, -1, 0, 1, 2, 3, 30):
        assert near(float((drawn == z).mean()), float(weights[around == z][0] / weights.sum())), z
    squares = drawn.astype(float) ** 2
    expected = float((around**2 * weights).sum() / weights.sum())
    assert abs(squares.mean() - expected) <= 5 * squares.std() / math.sqrt(DRAWS) + 1e-12
    assert abs(drawn.mean()) <= 5 * drawn.std() / math.sqrt(DRAWS)


@given(st.fractions(Fraction(1, 10**6), 10**13))
def test_the_variance_is_never_rounded_down(variance: Fraction) -> None:
    noise = DiscreteGaussian.at_least(variance)
    assert variance <= noise.variance <= variance * (1 + Fraction(1, 10**5)) + Fraction(1, 10**6)
    # What a draw compares fits into a machine word, with room for the turns of a coin.
    assert 2 * noise.spread * noise.units * noise.parts < 1 << 53


def test_wide_noise_is_as_wide_as_it_says_and_too_wide_is_refused() -> None:
    noise = DiscreteGaussian.at_least(Fraction(10**13))
    assert noise.draw(Randomness(8), 4000).std() == pytest.approx(math.sqrt(10**13), rel=0.06)
    with pytest.raises(RecipeError, match="Raise epsilon"):
        DiscreteGaussian.at_least(Fraction(10**16))


def test_beta_becomes_its_logarithm_rounded_down() -> None:
    assert epsilon_of_beta("3") == Fraction("1.386294361119")
    for beta in ("0.001", "1/3", "5", "1e250"):
        exact = math.log1p(float(Fraction(beta)))
        assert 0 <= exact - epsilon_of_beta(beta) < 1e-12 + 1e-14 * exact
    for wrong in ("0", "-1", "much", "nan"):
        with pytest.raises(RecipeError, match="above 0"):
            epsilon_of_beta(wrong)
