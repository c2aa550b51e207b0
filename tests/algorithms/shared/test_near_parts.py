"""Parts that grow: different values, nothing left over, and each record the nearest that may be taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lookalike.algorithms.shared import near_parts as module
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.matchers import chunks_of
from lookalike.algorithms.shared.near_parts import near_parts
from lookalike.data.microdata import Microdata
from lookalike.kernels.axes import Axes
from lookalike.kernels.matching import row_losses
from lookalike.progress import silent
from tests.examples import examples
from tests.strategies import microdatas
from tests.worlds import tiny_table

ROUNDING = 1e-9


def loss_of(axes: Axes, records: list[int]) -> float:
    marks = np.empty(int(axes.codes.max(initial=0)) + 1, dtype=np.int64)
    return float(row_losses(axes, np.array([records], dtype=np.int64), marks)[0])


def check_parts(parts: list[NDArray[np.int64]], values: NDArray[np.int64], degree: int) -> None:
    assert len(parts) == len(values) // degree
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(values)))
    for part in parts:
        assert len(set(values[part].tolist())) == len(part) >= degree


def check_nearest(axes: Axes, near: list[int], parts: list[NDArray[np.int64]], values: NDArray[np.int64]) -> None:
    """Play the growing again, the slow way: what could each part have taken instead?"""
    left = list(near)
    for number, part in enumerate(parts):
        to_come = len(parts) - number
        due = {value for value in set(values.tolist()) if sum(values[one] == value for one in left) == to_come}
        taken: list[int] = []
        for record in part.tolist():
            held = set(values[taken].tolist())
            allowed = [one for one in left if one not in taken and values[one] not in held]
            if len(part) - len(taken) <= len(due - held):
                allowed = [one for one in allowed if values[one] in due]
            assert record in allowed
            if not taken and left[0] in allowed:
                assert record == left[0]
            elif taken:
                least = min(loss_of(axes, [*taken, one]) for one in allowed)
                assert loss_of(axes, [*taken, record]) <= least + ROUNDING
            taken.append(record)
        left = [one for one in left if one not in taken]


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_parts_have_different_values_and_take_the_nearest(draw: st.DataObject) -> None:
    data: Microdata = draw.draw(microdatas(min_rows=2, max_rows=24))
    codes = st.lists(st.integers(0, 6), min_size=data.n_rows, max_size=data.n_rows)
    values = np.array(draw.draw(codes), dtype=np.int64)
    degree = draw.draw(st.integers(1, len(values) // int(np.bincount(values).max())))
    axes = axes_of(data)
    order = np.random.default_rng(draw.draw(st.integers(0, 99))).permutation(data.n_rows)
    parts = near_parts(axes, order, values, degree, silent)
    check_parts(parts, values, degree)
    near = order[np.concatenate(chunks_of(axes, order, 1))].tolist()
    check_nearest(axes, near, parts, values)


def line(codes: NDArray[np.int64]) -> Axes:
    return axes_of(tiny_table("a" * len(codes), codes.tolist()))


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=9),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_however_short_sighted_every_eligible_table_is_divided(
    counts: list[int], degree: int, most: int, most_alike: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = np.repeat(np.arange(len(counts)), counts)
    # Sorted by value along the line, or mixed: runs of one value are what starves a part.
    values = values if seed % 2 else rng.permutation(values)
    assume(max(counts) <= len(values) // degree)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LOOKED_AT", most)
        patch.setattr(module, "_OF_ONE_VALUE", most_alike)
        patch.setattr(module, "_RECORDS_BY_CALL", 3)
        parts = near_parts(line(np.arange(len(values))), rng.permutation(len(values)), values, degree, silent)
    check_parts(parts, values, degree)


def test_values_that_fill_their_share_are_in_every_part() -> None:
    values = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4], dtype=np.int64)
    parts = near_parts(line(np.arange(9)), np.arange(9), values, 3, silent)
    check_parts(parts, values, 3)
    assert all({0, 1} <= set(values[part].tolist()) for part in parts)


def test_what_is_left_over_goes_to_the_last_part() -> None:
    values = np.arange(11)
    parts = near_parts(line(values), np.arange(11), values, 4, silent)
    assert [len(part) for part in parts] == [4, 7]
