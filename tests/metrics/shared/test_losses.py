"""Losses of parts, joined, are those of the whole."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.shared.method import left_out
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, Release, Withheld, cover
from lookalike.errors import RecipeError
from lookalike.metrics import METRICS
from lookalike.metrics.shared.group_sizes import group_sizes
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


@given(seed=st.integers(0, 2**32 - 1), n_left_out=st.integers(0, 15))
@settings(max_examples=examples(20), deadline=None)
def test_a_suppressed_row_loses_all_that_a_row_with_blank_cells_does(seed: int, n_left_out: int) -> None:
    """Losses are those of a release that publishes these rows as well, each with cells that say nothing."""
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, N_ROWS, missing=False)
    groups = rng.integers(0, 4, N_ROWS)
    n_kept = N_ROWS - n_left_out
    kept = data.take(np.arange(n_kept))
    groups = np.unique(groups[:n_kept], return_inverse=True)[1]
    published = grouped(kept, groups, rng.permutation(n_kept))
    assert isinstance(published, Grouped)
    suppressing = replace(published, withheld=left_out(data, np.arange(N_ROWS) >= n_kept))
    n_groups = len(published.extents[0])
    # One more group, with cells that everybody fits.
    units = np.append(groups, np.full(N_ROWS, n_groups))
    codes = np.vstack((kept.quasi, data.quasi))
    extents = tuple(
        cover(domain, codes[:, attr], units, n_groups + 1) for attr, domain in enumerate(data.domains.quasi)
    )
    blanked = replace(
        published,
        extents=extents,
        group_of_row=np.append(published.group_of_row, np.full(n_left_out, n_groups)).astype(np.int32),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    found, by_column = measure(data, suppressing)
    wanted, wanted_by_column = measure(data, blanked)
    assert by_column == pytest.approx(wanted_by_column, rel=1e-12)
    assert {name: found[name] for name in ("gcp", "ail")} == pytest.approx(
        {name: wanted[name] for name in ("gcp", "ail")}, rel=1e-12
    )
    # Of sizes, row by row: a suppressed row is charged what a row of one group of everybody is.
    charged = [*np.repeat(sizes := group_sizes(published), sizes).tolist(), *[N_ROWS] * n_left_out]
    assert found["discernibility"] == sum(charged)
    assert found["msbs"] == pytest.approx(sum((size - 1) ** 2 / size for size in charged) / (N_ROWS - 1), rel=1e-12)
    assert found["average_group_size"] == pytest.approx(n_kept / len(sizes))


def test_suppressed_rows_of_every_form_are_lost() -> None:
    rng = np.random.default_rng(2)
    data = mixed_table(rng, N_ROWS)
    kept = data.take(np.arange(30))
    withheld = left_out(data, np.arange(N_ROWS) >= 30)
    for making in (of_groups, of_buckets, of_rings, of_matrices):
        release = replace(making(rng, kept, np.arange(30) // 10), withheld=withheld)
        alone, _ = measure(kept, replace(release, withheld=Withheld()))
        found, by_column = measure(data, release)
        for name in {"gcp", "ail"} & alone.keys():
            assert found[name] == pytest.approx((30 * alone[name] + 10) / 40)
        assert min(by_column.values()) >= 10 / 40
        if "values_changed" in found:
            assert found["values_changed"] >= 10 / 40


def test_suppressed_rows_of_parts_are_joined() -> None:
    rng = np.random.default_rng(3)
    data = mixed_table(rng, N_ROWS)
    data = replace(data, quasi=np.column_stack((np.arange(N_ROWS) // 20, data.quasi[:, 1:])).astype(np.int32))
    parts, groups = [], np.arange(N_ROWS) // 5
    for number, n_lost in enumerate((0, 5)):
        own = data.take(np.arange(20 * number, 20 * number + 20))
        kept = own.take(np.arange(20 - n_lost))
        made = grouped(kept, np.arange(len(kept.quasi)) // 5, np.arange(len(kept.quasi)))
        parts.append((own, replace(made, withheld=left_out(own, np.arange(20) >= 20 - n_lost))))
    joined, by_column = join_losses([PartLosses.of(*part, METRICS.values()) for part in parts], METRICS.values())
    kept = data.take(np.arange(35))
    whole = replace(grouped(kept, groups[:35], np.arange(35)), withheld=left_out(data, np.arange(N_ROWS) >= 35))
    wanted, wanted_by_column = measure(data, whole)
    assert joined == pytest.approx(wanted, rel=1e-12)
    assert by_column == pytest.approx(wanted_by_column, rel=1e-12)
