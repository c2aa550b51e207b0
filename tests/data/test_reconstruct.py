"""The way back through a matrix: printed digits, closed form against linear algebra, errors that cover."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.perturbation import ONE, Bounds, alphas, matrix, redraw
from lookalike.data.reconstruct import Reconstruction
from lookalike.data.release import Randomizer
from lookalike.errors import DataError
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.randomness import Randomness
from tests.examples import examples


def worked() -> Reconstruction:
    """Shares 0.2, 0.3 and 0.5, beta = 1, every gamma as it is."""
    counts = np.array([200, 300, 500])
    bounds = Bounds.of(counts, [BetaLikeness(1).requirement(counts, None, 0)])
    return Reconstruction(matrix(bounds, bounds.find_keeps(alphas(bounds, Fraction(0)), "free")))


def even(keeps: list[int]) -> Randomizer:
    m = len(keeps)
    weights = np.tile(ONE - np.array(keeps, dtype=np.int64), (m, 1))
    weights[np.arange(m), np.arange(m)] += m * np.array(keeps, dtype=np.int64)
    return Randomizer(weights, m * ONE)


def test_the_printed_reconstructions() -> None:
    back = worked()
    expected = back.matrix @ np.array([200, 300, 500])
    assert expected.round(3).tolist() == [217.617, 270.706, 511.676]
    assert (back.inverse @ expected).round(6).tolist() == [200, 300, 500]
    assert back.inverse @ np.array([260, 330, 410]) == pytest.approx([327.119, 405.816, 267.064], abs=1e-3)
    assert back.inverse @ np.array([100, 330, 570]) == pytest.approx([-775.02, 1034.28, 740.74], abs=1e-2)


chances = st.lists(st.integers(ONE // 1000, ONE - 1), min_size=2, max_size=12)


@settings(max_examples=examples(200), deadline=None)
@given(keeps=chances, seed=st.integers(0, 1000))
def test_the_closed_form_is_the_inverse(keeps: list[int], seed: int) -> None:
    back = Reconstruction(even(keeps))
    observed = np.random.default_rng(seed).integers(0, 5000, len(keeps)).astype(float)
    exact = np.linalg.solve(back.matrix, observed)
    scale = np.abs(exact).max() + 1
    assert (back.inverse @ observed) / scale == pytest.approx(exact / scale, abs=1e-6)
    assert (back.inverse @ observed).sum() == pytest.approx(observed.sum(), abs=1e-6 * scale)
    assert back.inverse @ back.matrix == pytest.approx(np.eye(len(keeps)), abs=1e-6)


@settings(max_examples=examples(50), deadline=None)
@given(seed=st.integers(0, 1000), size=st.integers(2, 6))
def test_a_matrix_of_another_make_is_inverted_too(seed: int, size: int) -> None:
    drawn = np.random.default_rng(seed).integers(1, 100, (size, size))
    drawn[np.arange(size), np.arange(size)] += 100 * size
    total = int(drawn.sum(axis=0).max()) + 1
    drawn[0] += total - drawn.sum(axis=0)
    back = Reconstruction(Randomizer(drawn, total))
    truth = np.arange(1.0, size + 1)
    assert (back.inverse @ (back.matrix @ truth)) == pytest.approx(truth)


def test_a_matrix_that_forgets_is_refused() -> None:
    back = Reconstruction(Randomizer(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 2]]), 2))
    with pytest.raises(DataError, match="cannot be inverted"):
        back.inverse @ np.array([1.0, 1.0, 1.0])


def test_values_that_are_never_drawn_are_left_out() -> None:
    bounds = Bounds.of(np.array([30, 0, 50, 20]), [BetaLikeness(1).requirement(np.array([30, 0, 50, 20]), None, 0)])
    back = Reconstruction(matrix(bounds, bounds.find_keeps(alphas(bounds, Fraction(1, 2)), "free")))
    assert back.drawn.tolist() == [0, 2, 3]
    assert (back.inverse @ np.array([40, 0, 30, 30]))[1] == 0
    assert (back.inverse @ np.array([40, 0, 30, 30])).sum() == pytest.approx(100)


def test_estimates_have_no_bias_and_intervals_cover() -> None:
    """2,000 releases of one table: the mean estimate, the spread, and how often 95 % intervals hold the true count."""
    counts = np.array([300, 500, 900, 1300])
    bounds = Bounds.of(counts, [BetaLikeness(2).requirement(counts, None, 0)])
    keeps = bounds.find_keeps(alphas(bounds, Fraction(1, 2)), "free")
    back, chosen = Reconstruction(matrix(bounds, keeps)), np.array([True, False, True, False])
    codes = np.repeat(np.arange(4, dtype=np.int32), counts)
    weights = chosen @ back.inverse
    observed = np.array(
        [np.bincount(redraw(codes, bounds, keeps, Randomness(seed)), minlength=4) for seed in range(2000)]
    )
    estimates = observed @ weights
    errors = np.sqrt(observed @ weights**2 - estimates)
    truth = counts[chosen].sum()
    assert abs(estimates.mean() - truth) < 5 * estimates.std() / np.sqrt(2000)
    assert errors.mean() == pytest.approx(estimates.std(), rel=0.08)
    covered = (np.abs(estimates - truth) < 1.96 * errors).mean()
    assert 0.93 < covered < 0.97
