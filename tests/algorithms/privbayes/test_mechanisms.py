"""Coins, noise and choices have the distributions that they are said to have."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.privbayes.mechanisms import GRID, choose, coins, discrete_laplace, exponents, noise_scale
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
