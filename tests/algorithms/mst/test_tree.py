"""What is measured: noise on every cell, rare values merged, scores and their sensitivity, choices, links."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from lookalike.algorithms.mst.budget import ZcdpBudget
from lookalike.algorithms.mst.tree import (
    SCORE_SENSITIVITY,
    Measured,
    choose_tree,
    count_pair,
    link_columns,
    measure_column,
    measure_tree,
    merge_rare,
    score_pair,
    settle_counts,
    sum_merged,
)
from lookalike.algorithms.shared.drawing import Link
from lookalike.algorithms.shared.mechanisms import DiscreteGaussian
from lookalike.progress import silent
from lookalike.randomness import Randomness


def test_every_count_gets_noise_of_the_variance_asked_for() -> None:
    cells, noise = np.zeros(50, dtype=np.int64), DiscreteGaussian.at_least(Fraction(25))
    drawn = np.array([measure_column(cells, 4, noise, Randomness(seed)) for seed in range(3000)])
    assert drawn.mean(axis=0) == pytest.approx([50, 0, 0, 0], abs=5 * 5 / math.sqrt(3000))
    assert drawn.std(axis=0) == pytest.approx([5] * 4, rel=0.08)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 0.1


def test_values_below_three_deviations_become_one() -> None:
    merging = merge_rare(np.array([100, 29, -200, 30, 5]), Fraction(100))
    assert merging.merged.tolist() == [0, 2, 2, 1, 2]
    assert merging.n_merged == 3
    assert merging.weights == pytest.approx([1, 1 / 3, 1 / 3, 1, 1 / 3])
    summed = sum_merged(np.array([100, 29, -200, 30, 5]), merging, 7, Fraction(100))
    assert summed.columns == (7,)
    assert (summed.counts.tolist(), summed.variances.tolist()) == ([100, 30, -166], [100, 100, 300])
    assert merge_rare(np.array([40, 50]), Fraction(100)).merged.tolist() == [0, 1]
    assert merge_rare(np.array([1, 2, 3]), Fraction(100)).n_merged == 1


@given(
    st.lists(st.tuples(st.integers(-50, 100), st.integers(1, 9)), min_size=1, max_size=5),
    st.integers(1, 200),
)
def test_settled_counts_are_the_nearest_ones(cells: list[tuple[int, int]], n_rows: int) -> None:
    counts, variances = (np.array(one, dtype=np.float64) for one in zip(*cells, strict=True))
    settled = settle_counts(Measured((0,), counts, variances), n_rows)
    assert settled.min() >= 0
    assert settled.sum() == pytest.approx(n_rows)
    best = minimize(
        lambda x: ((x - counts) ** 2 / variances).sum(),
        np.full(len(counts), n_rows / len(counts)),
        bounds=[(0, None)] * len(counts),
        constraints={"type": "eq", "fun": lambda x: x.sum() - n_rows},
        method="SLSQP",
    )
    distance = ((settled - counts) ** 2 / variances).sum()
    assert distance <= best.fun * (1 + 1e-6) + 1e-6


@given(st.integers(0, 2**32 - 1))
def test_replacing_one_record_changes_a_score_by_two_at_most(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, n = [int(size) for size in rng.integers(1, 5, 2)], int(rng.integers(1, 12))
    cells = np.column_stack([rng.integers(0, size, n) for size in sizes])
    expected = rng.random(sizes) * n
    other = cells.copy()
    other[rng.integers(n)] = [rng.integers(size) for size in sizes]
    scores = [score_pair(count_pair(one, (0, 1), sizes), expected) for one in (cells, other)]
    # Exactly: scores are multiples of 1/1024.
    assert abs(scores[0] - scores[1]) <= SCORE_SENSITIVITY


def test_the_sensitivity_is_met() -> None:
    expected = np.array([[3.0, 0.0], [0.0, 0.0]])
    assert score_pair(np.array([[2, 1], [0, 0]]), expected) - score_pair(np.array([[3, 0], [0, 0]]), expected) == 2


def test_choices_are_exponential_in_the_scores() -> None:
    """Of three columns two pairs are chosen; the first as the exponential mechanism has it."""
    rng = np.random.default_rng(5)
    first = rng.integers(0, 2, 40)
    cells = np.column_stack([first, np.where(rng.random(40) < 0.2, 1 - first, first), rng.integers(0, 2, 40)])
    settled = [np.array([20.0, 20.0])] * 3
    pairs = [(0, 1), (0, 2), (1, 2)]
    scores = np.array([score_pair(count_pair(cells, pair, [2, 2, 2]), np.full((2, 2), 10.0)) for pair in pairs])
    epsilon = Fraction(1, 5)
    expected = np.exp(scores * float(epsilon) / 4)
    expected /= expected.sum()
    draws = 3000
    found = Counter(choose_tree(cells, settled, epsilon, Randomness(seed), silent)[0] for seed in range(draws))
    for pair, share in zip(pairs, expected, strict=True):
        assert abs(found[pair] / draws - share) < 5 * math.sqrt(share * (1 - share) / draws)


def test_a_tree_links_all_columns_and_finds_the_strongest_pairs() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 3, (2, 3000))
    cells = np.column_stack([one, two, one, two, rng.integers(0, 3, 3000)])
    settled = [np.full(3, 1000.0)] * 5
    chosen = choose_tree(cells, settled, Fraction(1), Randomness(2), silent)
    assert {(0, 2), (1, 3)} == set(chosen[:2])
    links = link_columns(5, chosen)
    assert sorted(link.column for link in links) == list(range(5))
    assert [link.parents for link in links].count(()) == 1


def test_links_follow_the_tree_and_parts_stay_apart() -> None:
    assert link_columns(4, [(1, 2), (0, 2)]) == [Link(0, ()), Link(2, (0,)), Link(1, (2,)), Link(3, ())]
    assert link_columns(2, []) == [Link(0, ()), Link(1, ())]


def test_the_outputs_of_neighbouring_tables_are_as_near_as_promised() -> None:
    """The first measured count, over many runs: no event is likelier than e^epsilon times and delta."""
    budget = ZcdpBudget.of(Fraction(1), Fraction(1, 100), 2)
    tables = [np.zeros((6, 2), dtype=np.int64) for _ in range(2)]
    tables[1][0] = 1
    runs = 1500
    seen = []
    for place, cells in enumerate(tables):
        made = [measure_tree(cells, [2, 2], budget, Randomness(runs * place + run), silent) for run in range(runs)]
        # Noise is wide here, so values merge; the sum over both columns tells most about the record.
        seen.append(
            np.array([sum(one.counts[0] for one in tree.columns) + tree.pairs[0].counts.ravel()[0] for tree in made])
        )
    for limit in np.quantile(np.concatenate(seen), np.linspace(0.02, 0.98, 25)):
        for one, other in (seen, seen[::-1]):
            for inside in (np.less_equal, np.greater):
                share, against = (float(inside(values, limit).mean()) for values in (one, other))
                slack = 5 * math.sqrt(0.25 / runs) * (1 + math.e)
                assert share <= math.e * against + 0.01 + slack
