"""Machines that learn from releases: nothing to tell in the table itself, much in a broken one."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lookalike.apps.samples import hospital
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized
from lookalike.data.schema import Schema
from lookalike.errors import MissingPart
from lookalike.metrics import FIDELITY, METRICS
from lookalike.metrics.learning import AccuracyLoss, PropensityMeanSquaredError, PropensityRatio, accuracies, propensity

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def data() -> Microdata:
    return Microdata.encode(hospital(1500, seed=3), Schema.of(qi=["age", "sex"], sensitive=["diagnosis"]))


def in_buckets(data: Microdata, buckets: np.ndarray) -> Bucketized:
    return Bucketized(
        domains=data.domains,
        quasi=data.quasi,
        bucket_of_quasi=buckets.astype(np.int32),
        sensitive=data.sensitive,
        carried=data.carried,
        bucket_of_sensitive=buckets.astype(np.int32),
    )


def test_a_table_cannot_be_told_from_itself(data: Microdata) -> None:
    found = propensity(data, in_buckets(data, np.arange(data.n_rows)))
    assert 0.8 < found.ratio < 1.25
    assert PropensityRatio().measure(data, in_buckets(data, np.arange(data.n_rows))) == found.ratio


def test_one_bucket_of_everybody_is_told_apart_and_teaches_nothing(data: Microdata) -> None:
    release = in_buckets(data, np.zeros(data.n_rows))
    found = propensity(data, release)
    assert found.ratio > 2
    assert PropensityMeanSquaredError().measure(data, release) == found.pmse <= 0.25
    (diagnosis, sex) = accuracies(data, release)
    assert diagnosis.original > diagnosis.guessing + 0.05
    assert diagnosis.release < diagnosis.guessing + 0.03
    assert diagnosis.original - diagnosis.release > 0.05
    assert (diagnosis.column, sex.column) == ("diagnosis", "sex")


@pytest.mark.slow
def test_the_table_itself_teaches_as_much(data: Microdata) -> None:
    loss = AccuracyLoss().measure(data, in_buckets(data, np.arange(data.n_rows)))
    # Held-out records are in the release: a little gain is possible.
    assert -0.06 < loss < 0.02
    assert loss == AccuracyLoss().measure(data, in_buckets(data, np.arange(data.n_rows)))


def test_without_scikit_learn_it_says_so(data: Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    for metric in (PropensityRatio(), AccuracyLoss()):
        with pytest.raises(MissingPart, match="scikit-learn"):
            metric.measure(data, in_buckets(data, np.arange(data.n_rows)))


def test_what_is_on_request_is_not_computed_for_every_release() -> None:
    assert not set(FIDELITY) & set(METRICS)
    assert all(kind.name == name for name, kind in FIDELITY.items())
