"""Discernibility, average group size and MSBS."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Perturbed, Randomizer, Ranges, Sets
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.metrics.group_sizes import AverageGroupSize, Discernibility, MeanSquaredBucketSize, group_sizes
from tests.strategies import column_of

N_ROWS = 12


@pytest.fixture
def data() -> Microdata:
    columns = (
        column_of("age", list(range(N_ROWS)), ValueType.INTEGER),
        column_of("s", list("ab" * 6), ValueType.STRING),
    )
    schema = Schema(
        (
            Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC),
            Attribute(name="s", role=Role.SENSITIVE, kind=Kind.CATEGORICAL),
        )
    )
    return Microdata.encode(Table(columns), schema)


def bucketized(data: Microdata, buckets: list[int]) -> Bucketized:
    number = np.array(buckets, dtype=np.int32)
    return Bucketized(
        domains=data.domains,
        quasi=data.quasi,
        bucket_of_quasi=number,
        sensitive=data.sensitive,
        carried=data.carried,
        bucket_of_sensitive=number,
    )


@pytest.mark.parametrize("ell", [2, 3, 4, 6])
def test_msbs_of_buckets_of_one_size(data: Microdata, ell: int) -> None:
    release = bucketized(data, [row // ell for row in range(N_ROWS)])
    expected = (N_ROWS / ell) * (ell - 1) ** 2 / (N_ROWS - 1)
    assert MeanSquaredBucketSize().measure(data, release) == pytest.approx(expected)


def test_msbs_ends(data: Microdata) -> None:
    assert MeanSquaredBucketSize().measure(data, bucketized(data, list(range(N_ROWS)))) == 0
    assert MeanSquaredBucketSize().measure(data, bucketized(data, [0] * N_ROWS)) == N_ROWS - 1


def test_groups_that_look_alike_are_one_group(data: Microdata) -> None:
    """Four stored groups, two of them with the same extents: a reader sees three."""
    lows, highs = np.array([0, 3, 0, 9], dtype=np.int32), np.array([2, 5, 2, 11], dtype=np.int32)
    release = Grouped(
        domains=data.domains,
        extents=(Ranges.of(data.domains.quasi[0], lows, highs),),
        group_of_row=np.repeat(np.arange(4, dtype=np.int32), 3),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert sorted(group_sizes(release).tolist()) == [3, 3, 6]
    assert Discernibility().measure(data, release) == 9 + 9 + 36
    assert AverageGroupSize().measure(data, release) == 4


def test_sets_tell_groups_apart_by_their_members(data: Microdata) -> None:
    sets = Sets(np.array([0, 2, 3, 5]), np.array([0, 1, 4, 0, 1], dtype=np.int32))
    release = Grouped(
        domains=data.domains,
        extents=(sets,),
        group_of_row=np.repeat(np.arange(3, dtype=np.int32), 4),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert sorted(group_sizes(release).tolist()) == [4, 8]


def test_forms_without_groups_have_no_such_figure(data: Microdata) -> None:
    release = Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=data.sensitive,
        carried=data.carried,
        randomizers=(Randomizer(np.array([[1, 0], [0, 1]]), 1),),
    )
    assert math.isnan(Discernibility().measure(data, release))
