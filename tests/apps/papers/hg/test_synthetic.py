"""Synthetic records beside HG: their codes, and what naive Bayes learns."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Size
from lookalike.apps.papers.hg.synthetic import OMITTED, naive_bayes, recode, synthesize
from lookalike.data.microdata import Microdata
from tests.attacks.planting import coded

TINY = Size("tiny", rows=300, most_rows=1000, repetitions=1, queries=40)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(Datasets(), TINY)


def test_synthetic_records_have_the_originals_codes(bench: Bench) -> None:
    data = bench.datasets.census(400)
    made = synthesize(data, 3, 0)
    assert made.quasi.shape == data.quasi.shape
    assert made.domains is data.domains
    for column, domain in enumerate(data.domains.quasi):
        assert made.quasi[:, column].max() < domain.n_codes
    assert synthesize(data, 3, 0) is made
    lacking = synthesize(data, 3, 0, is_lacking=True)
    values = data.domains.sensitive[0].values[lacking.sensitive[:, 0]]
    assert 0 < lacking.n_rows <= data.n_rows
    assert not np.isin(values, OMITTED).any()


def test_codes_go_to_the_nearest_value() -> None:
    mine = coded([[1], [5], [9]], [0, 1, 2]).domains.quasi[0]
    theirs = coded([[2], [4], [30]], [0, 1, 2]).domains.quasi[0]
    assert recode(mine, np.array([0, 1, 2], dtype=np.int32), theirs).tolist() == [0, 1, 1]


def test_naive_bayes_learns_what_there_is_to_learn() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, 400)
    data = coded(np.stack((values, rng.integers(0, 3, 400)), axis=1), values)
    assert naive_bayes(data, data, smoothing=0.0, reach=0.0) == 1.0
    shuffled = Microdata(data.schema, data.domains, data.quasi, rng.permutation(data.sensitive), data.carried)
    assert naive_bayes(shuffled, data, smoothing=1.0, reach=0.0) < 0.6
