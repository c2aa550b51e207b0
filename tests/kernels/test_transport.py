"""The most that can be sent, against a solver that is not ours."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from lookalike.audit.buckets import transport
from tests.examples import examples


def most_by_scipy(supplies: np.ndarray, capacities: np.ndarray, left: np.ndarray, right: np.ndarray) -> int:
    n_left, n_right = len(supplies), len(capacities)
    network = np.zeros((n_left + n_right + 2, n_left + n_right + 2), dtype=np.int32)
    network[-2, :n_left], network[n_left : n_left + n_right, -1] = supplies, capacities
    network[left, n_left + right] = np.minimum(supplies[left], capacities[right])
    return int(maximum_flow(csr_array(network), n_left + n_right, n_left + n_right + 1).flow_value)


@settings(max_examples=examples(500), deadline=None)
@given(seed=st.integers(0, 10**6), n_blocks=st.integers(1, 3), top=st.integers(1, 6))
def test_as_much_as_another_solver_sends(seed: int, n_blocks: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    n_left, n_right = (int(number) for number in rng.integers(1, 12, 2))
    of_left, of_right = rng.integers(0, n_blocks, n_left), rng.integers(0, n_blocks, n_right)
    joined = (rng.random((n_left, n_right)) < rng.random()) & (of_left[:, np.newaxis] == of_right)
    left, right = np.nonzero(joined)
    order = rng.permutation(len(left))
    left, right = left[order], right[order]
    supplies, capacities = rng.integers(0, top, n_left), rng.integers(0, top, n_right)
    sent = transport(supplies, capacities, left, right, of_left, of_right)
    assert sent == most_by_scipy(supplies, capacities, left, right)


def test_a_long_way_of_rerouting() -> None:
    """Every supply but the last took what the one before it needs."""
    size = 400
    left = np.concatenate([np.arange(size), np.arange(1, size)])
    right = np.concatenate([np.arange(size), np.arange(size - 1)])
    ones, nowhere = np.ones(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    assert transport(ones, ones, left, right, nowhere, nowhere) == size
    assert transport(ones, ones, left[1:], right[1:], nowhere, nowhere) == size - 1
