"""Bucket numbers say nothing about the persons in the buckets."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.audit.order import row_order
from lookalike.audit.reading import Reading
from tests.audit.making import bucketized, mixed_table

N_ROWS, SIZE = 600, 4


def numbered(seed, figure):
    """A release whose buckets are numbered by a figure of their members (None: at random), and its table."""
    rng = np.random.default_rng(seed)
    # Some records share quasi-identifiers and could be in several buckets.
    data = mixed_table(rng, N_ROWS, missing=False, n_values=6, n_ages=25)
    name = rng.permutation(N_ROWS)
    buckets = rng.permutation(N_ROWS) // SIZE
    if figure is not None:
        members = [np.flatnonzero(buckets == bucket) for bucket in range(N_ROWS // SIZE)]
        figures = [figure(rows, data, name) for rows in members]
        buckets = np.argsort(np.lexsort((rng.permutation(len(figures)), figures)))[buckets]
    return bucketized(data, buckets, rng.permutation(N_ROWS), rng.permutation(N_ROWS)), data, name


def first_by_value(rows, data):
    return min(rows, key=lambda row: (data.sensitive[row, 0], data.quasi[row, 0]))


def agreement(rows, data, name):
    ages, values = data.quasi[rows, 0], data.sensitive[rows, 0]
    return np.cov(ages, values)[0, 1]


FIGURES = {
    "mean age": lambda rows, data, name: data.quasi[rows, 0].mean(),
    "age of who has the first value": lambda rows, data, name: data.quasi[first_by_value(rows, data), 0],
    "first name": lambda rows, data, name: name[rows].min(),
    "first record": lambda rows, data, name: rows.min(),
    "colour of who has the first value": lambda rows, data, name: np.array([3, 0, 5, 1, 4, 2])[
        data.quasi[first_by_value(rows, data), 2]
    ],
    "age by value": agreement,
}


@pytest.mark.parametrize("figure", FIGURES)
def test_buckets_numbered_by_their_members(figure):
    release, data, name = numbered(1, FIGURES[figure])
    found = row_order(Reading(release, data, {"name": name}))
    assert found.blocks
    assert "number" in found.detail
    assert found.detail.endswith("Number the buckets at random")


@pytest.mark.slow
def test_buckets_numbered_at_random():
    for seed in range(60):
        release, data, name = numbered(seed, None)
        assert row_order(Reading(release, data, {"name": name})).passed


def test_each_part_numbers_its_own_buckets():
    """Parts hold other ages, and the larger one has the higher numbers: that is known from the part."""
    rng = np.random.default_rng(2)
    data = mixed_table(rng, N_ROWS, missing=False, n_values=6, n_ages=200)
    by_age = np.argsort(data.quasi[:, 0], kind="stable")
    part_of_record = np.empty(N_ROWS, dtype=np.int64)
    part_of_record[by_age] = np.arange(N_ROWS) // (N_ROWS // 2)
    buckets = np.empty(N_ROWS, dtype=np.int64)
    for part in range(2):
        rows = rng.permutation(np.flatnonzero(part_of_record == part))
        buckets[rows] = np.arange(len(rows)) // SIZE + part * N_ROWS
    points, values = rng.permutation(N_ROWS), rng.permutation(N_ROWS)
    release = bucketized(data, buckets, points, values)
    parts = {"qit": part_of_record[points], "sat": part_of_record[values]}
    assert row_order(Reading(release, data, parts=parts)).passed
    assert row_order(Reading(release, data)).blocks
