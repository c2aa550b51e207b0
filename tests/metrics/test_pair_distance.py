"""Distances of pairs of columns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.metrics.correlation_difference import CorrelationDifference
from lookalike.metrics.marginal_distance import MarginalDistance
from lookalike.metrics.pair_distance import PairDistance
from tests.metrics.making import table
from tests.strategies import column_of


def test_one_column_has_no_pairs() -> None:
    column = column_of("q", [1, 2, 3], ValueType.INTEGER)
    data = Microdata.encode(Table((column,)), Schema((Attribute(name="q", role=Role.QUASI, kind=Kind.NUMERIC),)))
    extents = (cover(data.domains.quasi[0], data.quasi[:, 0], np.zeros(3, dtype=int), 1),)
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=np.zeros(3, dtype=np.int32),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert MarginalDistance().measure(data, release) == pytest.approx(0)
    assert math.isnan(PairDistance().measure(data, release))
    assert math.isnan(CorrelationDifference().measure(data, release))


def test_random_buckets_lose_what_goes_with_what_and_nothing_else() -> None:
    data = table(q=["x"] * 50 + ["y"] * 50, s=["a"] * 50 + ["b"] * 50)
    everybody = np.zeros(100, dtype=np.int32)
    release = Bucketized(
        domains=data.domains,
        quasi=data.quasi,
        bucket_of_quasi=everybody,
        sensitive=data.sensitive,
        carried=data.carried,
        bucket_of_sensitive=everybody,
    )
    assert MarginalDistance().measure(data, release) == pytest.approx(0)
    assert PairDistance().measure(data, release) == pytest.approx(0.5)
    assert CorrelationDifference().measure(data, release) == pytest.approx(1)
