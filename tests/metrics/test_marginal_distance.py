"""Distances of single columns: known for one big group, and none where counts can be taken back."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.data.release import Grouped, Perturbed, Randomizer
from lookalike.metrics.correlation_difference import CorrelationDifference
from lookalike.metrics.marginal_distance import MarginalDistance
from lookalike.metrics.pair_distance import PairDistance
from tests.files.releases.release_forms import make_release
from tests.metrics.making import table


def test_one_big_group_has_the_known_distance() -> None:
    data = table(age=[0] * 5 + [9] * 5, sex=["F"] * 8 + ["M"] * 2, s=list("ab" * 5))
    release = make_release(Grouped.form, data, np.zeros(10, dtype=int), np.arange(10))
    # The parts of age are 0, and all above it up to 9: 1/10 against 5/10. Half of each sex instead of 8/10 and 2/10.
    assert MarginalDistance().by_column(data, release) == pytest.approx({"age": 0.4, "sex": 0.3, "s": 0.0})
    assert MarginalDistance().measure(data, release) == pytest.approx(0.7 / 3)
    pairs = PairDistance().by_pair(data, release)
    uniform = np.outer([0.1, 0.9], [0.5, 0.5])
    assert pairs["age", "sex"] == pytest.approx(np.abs(uniform - [[0.5, 0.0], [0.3, 0.2]]).sum() / 2)
    assert pairs["sex", "s"] == pytest.approx(np.abs(np.full((2, 2), 0.25) - [[0.4, 0.4], [0.1, 0.1]]).sum() / 2)
    (lost, *_) = CorrelationDifference().associations(data, release)
    assert lost.columns == ("age", "sex")
    assert lost.original == pytest.approx(0.5)
    assert lost.release == pytest.approx(0)


def test_perturbed_counts_are_taken_back() -> None:
    data = table(sex=["F"] * 600 + ["M"] * 400, s=["a"] * 450 + ["b"] * 150 + ["a"] * 100 + ["b"] * 300)
    noise = Randomizer(np.array([[3, 1], [1, 3]]), 4)
    shown = np.array([0] * 375 + [1] * 225 + [0] * 150 + [1] * 250, dtype=np.int32)[:, None]
    release = Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=shown, carried=data.carried, randomizers=(noise,)
    )
    # What is published is just what the matrix makes of the counts on average.
    assert MarginalDistance().measure(data, release) == pytest.approx(0, abs=1e-4)
    assert PairDistance().measure(data, release) == pytest.approx(0, abs=1e-4)
