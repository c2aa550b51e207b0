"""A tree finds nothing to tell in the table itself."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.metrics.propensity_pmse import propensity
from lookalike.metrics.propensity_ratio import PropensityRatio
from tests.metrics.making import bucketized, stays

pytest.importorskip("sklearn")


def test_a_table_cannot_be_told_from_itself() -> None:
    data = stays()
    found = propensity(data, bucketized(data, np.arange(data.n_rows)))
    assert 0.8 < found.ratio < 1.25
    assert PropensityRatio().measure(data, bucketized(data, np.arange(data.n_rows))) == found.ratio
