"""The Hilbert curve, and what is taken along it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.shared.axes import axes_of
from lookalike.kernels.hilbert import hilbert_keys, retrieve
from tests.examples import examples
from tests.worlds import tiny_table


@pytest.mark.parametrize(("n_attrs", "bits"), [(1, 4), (2, 1), (2, 3), (3, 2), (4, 2), (5, 1)])
def test_the_curve_visits_every_cell_one_step_at_a_time(n_attrs: int, bits: int) -> None:
    cells = np.array([*itertools.product(range(1 << bits), repeat=n_attrs)])
    keys = hilbert_keys(cells, bits)
    assert sorted(keys.tolist()) == list(range(len(cells)))
    steps = np.abs(np.diff(cells[np.argsort(keys)], axis=0)).sum(axis=1)
    assert (steps == 1).all()


def test_where_the_curve_begins() -> None:
    cells = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (0, 3)])
    assert hilbert_keys(cells, 2).tolist() == [0, 1, 2, 3, 4, 5]


def test_keys_of_62_bits() -> None:
    assert hilbert_keys(np.zeros((1, 31), dtype=np.int64), 2).tolist() == [0]
    corner = np.full((1, 2), (1 << 31) - 1)
    assert 0 < hilbert_keys(corner, 31)[0] < 1 << 62


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any), min_size=1, max_size=6),
    st.sampled_from([0, 1, 3]),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_every_group_gets_what_it_takes_of_each_bucket(
    groups: list[list[int]], window: int, n_seeds: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    draws = np.array(groups)
    sizes = draws.sum(axis=0)
    n_rows = int(sizes.sum())
    data = tiny_table("a" * n_rows, rng.integers(0, 20, n_rows).tolist())
    buckets = np.repeat(np.arange(3), sizes)
    records = rng.permutation(n_rows)
    keys = data.quasi[records, 0].astype(np.int64)
    order = np.lexsort((keys, buckets))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    words = rng.integers(0, 1 << 62, (len(draws), n_seeds, 2)).astype(np.uint64)
    group_of_record = np.full(n_rows, -1, dtype=np.int32)
    retrieve(axes_of(data), keys[order], records[order], starts, draws, words, window, np.empty(0), group_of_record)
    found = np.zeros_like(draws)
    np.add.at(found, (group_of_record[records[order]], np.sort(buckets)), 1)
    assert (found == draws).all()


def test_the_nearest_on_the_curve_are_taken() -> None:
    data = tiny_table("a" * 8, [0, 1, 2, 3, 10, 11, 12, 13])
    keys = data.quasi[:, 0].astype(np.int64)
    group_of_record = np.full(8, -1, dtype=np.int32)
    # The seed is the record at place 5 of the only bucket.
    words = np.array([[[0, 5]], [[0, 0]]], dtype=np.uint64)
    retrieve(
        axes_of(data),
        keys,
        np.arange(8),
        np.array([0, 8]),
        np.array([[3], [5]]),
        words,
        1,
        np.empty(0),
        group_of_record,
    )
    assert group_of_record.tolist() == [1, 1, 1, 1, 0, 0, 0, 1]
