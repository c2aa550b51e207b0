"""Losses of parts, joined, are those of the whole."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import RecipeError
from lookalike.metrics import METRICS
from lookalike.metrics.shared.losses import PartLosses, join_losses
from lookalike.pipeline.run import measure
from tests.audit.making import bucketized, grouped, mixed_table, mixing_matrix, perturbed, ring
from tests.examples import examples

N_ROWS = 40


def of_groups(rng: np.random.Generator, data: Microdata, groups: np.ndarray) -> Release:
    return grouped(data, groups, rng.permutation(data.n_rows))


def of_buckets(rng: np.random.Generator, data: Microdata, groups: np.ndarray) -> Release:
    return bucketized(data, groups, rng.permutation(data.n_rows), rng.permutation(data.n_rows))


def of_rings(rng: np.random.Generator, data: Microdata, groups: np.ndarray) -> Release:
    return ring(rng, data, 2)[0]


def of_matrices(rng: np.random.Generator, data: Microdata, groups: np.ndarray) -> Release:
    return perturbed(rng, data, [mixing_matrix(4, 4, 10)], rng.permutation(data.n_rows))


Making = Callable[[np.random.Generator, Microdata, np.ndarray], Release]


@pytest.mark.parametrize("making", [of_groups, of_buckets, of_matrices])
@given(seed=st.integers(0, 2**32 - 1), n_parts=st.integers(1, 4))
@settings(max_examples=examples(10), deadline=None)
def test_joined_losses_are_those_of_the_whole(making: Making, seed: int, n_parts: int) -> None:
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, N_ROWS)
    if data.domains.sensitive[0].n_codes < 4:
        return
    part = np.sort(rng.permutation(np.arange(N_ROWS) % n_parts))
    # Parts are told apart by an age that is theirs alone, so that no group is in two of them.
    quasi = data.quasi.copy()
    quasi[:, 0] = part
    data = replace(data, quasi=quasi)
    groups = np.unique(part + n_parts * rng.integers(0, 4, N_ROWS), return_inverse=True)[1]
    parts = []
    for number in range(n_parts):
        records = np.flatnonzero(part == number)
        own = replace(data, quasi=data.quasi[records], sensitive=data.sensitive[records], carried=data.carried[records])
        local = np.unique(groups[records], return_inverse=True)[1]
        parts.append(PartLosses.of(own, making(rng, own, local), METRICS.values()))
    wanted, wanted_by_column = measure(data, making(rng, data, groups))
    losses, by_column = join_losses(pickle.loads(pickle.dumps(parts)), METRICS.values())
    assert list(losses) == list(wanted)
    assert losses == pytest.approx(wanted, rel=1e-12)
    assert by_column == pytest.approx(wanted_by_column, rel=1e-12)


def test_matched_rows_are_weighed_by_their_number() -> None:
    rng = np.random.default_rng(1)
    tables = [mixed_table(rng, n_rows, missing=False) for n_rows in (10, 30)]
    releases = [of_rings(rng, data, np.zeros(0)) for data in tables]
    found, by_column = join_losses(
        [PartLosses.of(data, release, METRICS.values()) for release, data in zip(releases, tables, strict=True)],
        METRICS.values(),
    )
    alone = [measure(data, release) for release, data in zip(releases, tables, strict=True)]
    assert set(found) == {"gcp", "ail"}
    for name, value in found.items():
        assert value == pytest.approx((10 * alone[0][0][name] + 30 * alone[1][0][name]) / 40)
    assert by_column["age"] == pytest.approx((10 * alone[0][1]["age"] + 30 * alone[1][1]["age"]) / 40)


def test_something_must_be_joined() -> None:
    with pytest.raises(RecipeError, match="no part"):
        join_losses([], METRICS.values())
