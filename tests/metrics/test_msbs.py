"""MSBS: buckets of one size, and both ends."""

from __future__ import annotations

import pytest

from lookalike.data.microdata import Microdata
from lookalike.metrics.msbs import MeanSquaredBucketSize
from tests.metrics.making import N_ROWS, bucketized, twelve


@pytest.fixture
def data() -> Microdata:
    return twelve()


@pytest.mark.parametrize("ell", [2, 3, 4, 6])
def test_msbs_of_buckets_of_one_size(data: Microdata, ell: int) -> None:
    release = bucketized(data, [row // ell for row in range(N_ROWS)])
    expected = (N_ROWS / ell) * (ell - 1) ** 2 / (N_ROWS - 1)
    assert MeanSquaredBucketSize().measure(data, release) == pytest.approx(expected)


def test_msbs_ends(data: Microdata) -> None:
    assert MeanSquaredBucketSize().measure(data, bucketized(data, list(range(N_ROWS)))) == 0
    assert MeanSquaredBucketSize().measure(data, bucketized(data, [0] * N_ROWS)) == N_ROWS - 1
