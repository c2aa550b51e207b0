"""All metrics together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.data.release import Grouped, cover
from lookalike.metrics import FIDELITY, METRICS
from lookalike.metrics.ail import AverageInformationLoss
from lookalike.metrics.shared.cells import loss_by_column
from tests.metrics.making import data_of, quasi


def test_metrics_weigh_rows_not_groups() -> None:
    data = data_of(quasi("age", low=0, high=10), age=[0, 10, 5, 5, 5, 5])
    groups = np.array([0, 0, 1, 1, 1, 1], dtype=np.int32)
    empty = np.zeros((6, 0), dtype=np.int32)
    release = Grouped(
        domains=data.domains,
        extents=(cover(data.domains.quasi[0], data.quasi[:, 0], groups, 2),),
        group_of_row=groups,
        sensitive=empty,
        carried=empty,
    )
    assert loss_by_column(release) == {"age": pytest.approx(2 / 6)}
    assert AverageInformationLoss().measure(data, release) == pytest.approx(2 / 6)
    assert {name: kind().measure(data, release) for name, kind in METRICS.items()} == {
        "gcp": pytest.approx(1 / 3),
        "ail": pytest.approx(1 / 3),
        "discernibility": 20.0,
        "average_group_size": 3.0,
        "msbs": 2.0,
        "values_changed": pytest.approx(math.nan, nan_ok=True),
    }


def test_what_is_on_request_is_not_computed_for_every_release() -> None:
    assert not set(FIDELITY) & set(METRICS)
    assert all(kind.name == name for name, kind in FIDELITY.items())
