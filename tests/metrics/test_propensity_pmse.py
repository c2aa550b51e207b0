"""A tree tells a broken release from its original."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.metrics.propensity_pmse import PropensityMeanSquaredError, propensity
from tests.metrics.making import bucketized, stays

pytest.importorskip("sklearn")


def test_one_bucket_of_everybody_is_told_apart() -> None:
    data = stays()
    release = bucketized(data, np.zeros(data.n_rows))
    found = propensity(data, release)
    assert found.ratio > 2
    assert PropensityMeanSquaredError().measure(data, release) == found.pmse <= 0.25
