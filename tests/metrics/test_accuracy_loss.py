"""Forests that learn from releases: as much from the table itself, nothing from a broken one."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.data.microdata import Microdata
from lookalike.metrics.accuracy_loss import AccuracyLoss, accuracies
from tests.metrics.making import bucketized, stays

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def data() -> Microdata:
    return stays()


def test_one_bucket_of_everybody_teaches_nothing(data: Microdata) -> None:
    (diagnosis, sex) = accuracies(data, bucketized(data, np.zeros(data.n_rows)))
    assert diagnosis.original > diagnosis.guessing + 0.05
    assert diagnosis.release < diagnosis.guessing + 0.03
    assert diagnosis.original - diagnosis.release > 0.05
    assert (diagnosis.column, sex.column) == ("diagnosis", "sex")


@pytest.mark.slow
def test_the_table_itself_teaches_as_much(data: Microdata) -> None:
    loss = AccuracyLoss().measure(data, bucketized(data, np.arange(data.n_rows)))
    # Held-out records are in the release: a little gain is possible.
    assert -0.06 < loss < 0.02
    assert loss == AccuracyLoss().measure(data, bucketized(data, np.arange(data.n_rows)))
