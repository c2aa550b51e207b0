"""Cuts and widths against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.shared.axes import axes_of, cutting_of
from lookalike.data.microdata import Microdata
from lookalike.data.release import cover
from lookalike.kernels.axes import ATTRIBUTE, TREE_NODE, Axes, sort_by_code
from lookalike.kernels.partition import widest_first, width
from lookalike.metrics.shared.cells import certainty_penalty
from tests.examples import examples
from tests.strategies import microdatas


@settings(max_examples=examples(80), deadline=None)
@given(microdatas(max_rows=40), st.data())
def test_width_is_the_loss_of_the_least_extent(data: Microdata, draw: st.DataObject) -> None:
    axes = axes_of(data)
    members = np.array(draw.draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1, unique=True)))
    cutting = cutting_of(data, strict=False, by_gain=True, shares=np.array([0.5]))
    for attr, domain in enumerate(data.domains.quasi):
        units = np.zeros(len(members), dtype=np.int32)
        expected = certainty_penalty(domain, cover(domain, data.quasi[members, attr], units, 1))[0]
        assert width(axes, attr, cutting, members, 0, len(members)) == expected


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(0, 70_000), min_size=1, max_size=400))
def test_sort_is_stable_for_small_and_large_codes(codes: list[int]) -> None:
    table = np.array(codes, dtype=np.int32).reshape(-1, 1)
    axes = Axes(
        table,
        np.zeros(1, dtype=ATTRIBUTE),
        np.zeros(1),
        np.zeros(1, dtype=TREE_NODE),
        np.zeros(1, dtype=np.int32),
    )
    members = np.arange(len(codes))
    sort_by_code(axes, 0, members, 0, len(codes))
    assert members.tolist() == sorted(range(len(codes)), key=lambda member: codes[member])


def test_attributes_without_loss_are_not_ranked() -> None:
    assert widest_first(np.array([0.2, 0.0, 0.9, 0.2])).tolist() == [2, 0, 3]
