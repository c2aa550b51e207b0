"""Fitting by NumPy against kernels and brute force: sets with gaps, missing values, blocks, empty ones."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.audit import containment
from lookalike.audit.reading import Reading
from tests.audit.making import grouped, mixed_table, random_groups
from tests.examples import examples
from tests.oracles import containment as oracle


def both(function: Any, *given: Any) -> tuple[Any, Any]:
    """What NumPy says, and what the kernel says."""
    with mock.patch.object(containment, "_FEW", -1):
        return function(*given), _unpatched(function, *given)


def _unpatched(function: Any, *given: Any) -> Any:
    with mock.patch.object(containment, "_FEW", 1_000_000):
        return function(*given)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 6))
@settings(max_examples=examples(150), deadline=None)
def test_numpy_kernels_and_brute_force_agree(seed: int, n_rows: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, n_rows, n_values=int(rng.integers(1, 4)))
    release = grouped(data, random_groups(rng, n_rows, size), rng.permutation(n_rows))
    boxes, codes = Reading(release, data).boxes, np.ascontiguousarray(data.quasi)
    table = oracle.fit_table(release, data)

    records, rows = (places.ravel() for places in np.meshgrid(np.arange(n_rows), np.arange(n_rows), indexing="ij"))
    for held in both(containment.holds_each, boxes.cells, boxes.class_of_row[rows], codes, records):
        assert (held.reshape(table.shape) == table).all()

    # Blocks of records with blocks of rows, some of them empty.
    item_starts, record_starts = (np.sort(np.append(rng.integers(0, n_rows + 1, 3), [0, n_rows])) for _ in range(2))
    block = np.repeat(np.arange(4), np.diff(record_starts))
    own = np.zeros_like(table)
    for number in range(4):
        own[record_starts[number] : record_starts[number + 1], item_starts[number] : item_starts[number + 1]] = True
    given = boxes.cells, boxes.class_of_row, item_starts, codes, record_starts
    for starts, items in both(containment.list_fitting, *given, n_rows**2):
        assert (starts == np.concatenate(([0], np.cumsum((table & own).sum(axis=1))))).all()
        assert (items == np.nonzero(table & own)[1]).all()
    limit = int((table & own).sum()) - 1
    if limit >= 0:
        assert all(
            starts[-1] > limit and not len(items) for starts, items in both(containment.list_fitting, *given, limit)
        )

    weights, chosen = rng.integers(0, 5, n_rows), rng.permutation(n_rows)[: n_rows // 2 + 1]
    wanted = ((table & own) * weights).sum(axis=1)[chosen]
    given = boxes.cells, boxes.class_of_row, weights, item_starts, codes, chosen, block
    for sums in both(containment.weight_fitting, *given):
        assert (sums == wanted).all()
