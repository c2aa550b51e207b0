"""Without scikit-learn."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lookalike.errors import MissingPart
from lookalike.metrics.accuracy_loss import AccuracyLoss
from lookalike.metrics.propensity_ratio import PropensityRatio
from tests.metrics.making import bucketized, stays

pytest.importorskip("sklearn")


def test_without_scikit_learn_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    data = stays()
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    for metric in (PropensityRatio(), AccuracyLoss()):
        with pytest.raises(MissingPart, match="scikit-learn"):
            metric.measure(data, bucketized(data, np.arange(data.n_rows)))
