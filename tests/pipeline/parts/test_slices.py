"""Slices: quotas that keep the promise exactly, and dealing that depends on ranks and the secret alone."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema, ValueType
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.parts import slices
from lookalike.pipeline.parts.slices import Slices, even_quotas
from lookalike.randomness import Randomness
from tests.strategies import column_of


@given(st.lists(st.integers(0, 500), min_size=1, max_size=8).filter(any), st.integers(1, 12), st.integers(1, 7))
def test_quotas_add_up_and_each_part_fits(counts: list[int], n_parts: int, ell: int) -> None:
    whole = np.array(counts)
    ell = min(ell, int(whole.sum() // max(whole.max(), 1)))

    def fits(quota: np.ndarray) -> bool:
        return bool(quota.max() * ell <= quota.sum())

    quotas = even_quotas(whole, n_parts, fits, [ell])
    assert (quotas.sum(axis=0) == whole).all()
    assert (quotas >= 0).all()
    assert len(quotas) <= n_parts
    assert all(fits(row) for row in quotas)


def test_a_table_without_any_room_is_still_cut() -> None:
    """The most frequent value stands exactly at 1/l: parts of multiples of l have room for it."""
    whole = np.array([10_000, 9_000, 8_000, 13_000 - 3_000, 3_000])
    ell = int(whole.sum() // whole.max())
    assert whole.max() * ell == whole.sum()
    quotas = even_quotas(whole, 7, lambda quota: bool(quota.max() * ell <= quota.sum()), [ell])
    assert len(quotas) == 7


def small(n_rows: int) -> tuple[Microdata, np.ndarray]:
    rng = np.random.default_rng(3)
    columns = (
        column_of("age", rng.integers(0, 40, n_rows).tolist(), ValueType.INTEGER),
        column_of("ill", rng.integers(0, 3, n_rows).tolist(), ValueType.INTEGER),
    )
    data = Microdata.encode(Table(columns), Schema.of(qi=["age"], sensitive=["ill"]))
    return data, np.column_stack([data.quasi, data.sensitive])


@pytest.mark.parametrize("secret", [None, Randomness(4)])
def test_parts_get_their_quotas_whatever_the_order_of_rows(
    secret: Randomness | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "_BLOCK", 64)
    data, codes = small(1000)
    quotas = even_quotas(data.counts(0), 5, lambda quota: True, [1])
    dealt = Slices(data.schema, data.domains, 0, quotas, secret)
    parts = _parts(dealt, codes)
    for number, rows in parts.items():
        assert np.bincount(rows[:, 1], minlength=3).tolist() == quotas[number].tolist()
    shuffled = codes[np.random.default_rng(1).permutation(len(codes))]
    again = _parts(pickle.loads(pickle.dumps(dealt)), shuffled)
    assert all((parts[number] == again[number]).all() for number in parts)


def _parts(dealt: Slices, codes: np.ndarray) -> dict[int, np.ndarray]:
    import polars as pl

    backend = LocalBackend(pl.DataFrame({"row": np.arange(len(codes))}))
    backend.encode(["row"], lambda cells: codes[cells[0].to_numpy()])

    def work(number: int, rows: np.ndarray) -> bytes:
        return pickle.dumps((number, rows[np.lexsort(rows.T[::-1])]))

    return dict(pickle.loads(result) for result in backend.map(work, dealt, lambda: None))


def test_slices_along_the_curve_keep_neighbours_together() -> None:
    data, codes = small(2000)
    quotas = even_quotas(data.counts(0), 4, lambda quota: True, [1])
    parts = _parts(Slices(data.schema, data.domains, 0, quotas), codes)
    spans = [int(np.ptp(rows[:, 0])) for rows in parts.values()]
    assert max(spans) <= 12


def test_at_random_all_ways_to_deal_are_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four records of one value, two to each of two parts, in blocks of three ranks: six ways."""
    monkeypatch.setattr(slices, "_BLOCK", 3)
    data, _ = small(10)
    quotas = np.array([[2, 0, 0], [2, 0, 0]])
    codes = np.zeros((4, 2), dtype=np.int32)
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(3000):
        dealt = Slices(data.schema, data.domains, 0, quotas, Randomness(seed))
        seen[tuple(dealt.part_of(codes, np.arange(4)).tolist())] += 1
    assert set(seen) == {way for way in itertools.product((0, 1), repeat=4) if sum(way) == 2}
    # 500 each; six standard deviations are 122.
    assert all(abs(times - 500) < 122 for times in seen.values())
