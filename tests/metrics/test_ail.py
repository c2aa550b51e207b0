"""AIL: sets and nodes count their values."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata
from lookalike.data.release import cover
from lookalike.data.schema import Kind
from lookalike.metrics.ail import information_loss
from lookalike.metrics.shared.cells import certainty_penalty
from tests.examples import examples
from tests.metrics.making import data_of, quasi
from tests.strategies import microdatas


def test_full_gender_costs_one_in_both_measures() -> None:
    data = data_of(quasi("gender", Kind.CATEGORICAL), gender=["f", "m"])
    extents = cover(data.domains.quasi[0], data.quasi[:, 0], np.zeros(2, dtype=np.int32), 1)
    assert certainty_penalty(data.domains.quasi[0], extents).tolist() == [1.0]
    assert information_loss(data.domains.quasi[0], extents).tolist() == [1.0]


def test_three_of_six_leaves_under_one_node() -> None:
    """2/5 in NCP (exactly those three values), 1/2 in IL."""
    tree = {"tree": {"any": {"heart": ["a", "b", "c"], "head": ["d", "e", "f"]}}}
    data = data_of(quasi("disease", Kind.CATEGORICAL, taxonomy=tree), disease=list("abcdef"))
    extents = cover(data.domains.quasi[0], data.quasi[:3, 0], np.zeros(3, dtype=np.int32), 1)
    assert certainty_penalty(data.domains.quasi[0], extents).tolist() == [2 / 5]
    assert information_loss(data.domains.quasi[0], extents).tolist() == [1 / 2]
    single = cover(data.domains.quasi[0], data.quasi[:1, 0], np.zeros(1, dtype=np.int32), 1)
    assert information_loss(data.domains.quasi[0], single).tolist() == [0.0]


@settings(max_examples=examples(60), deadline=None)
@given(microdatas(), st.data())
def test_losses_lie_between_nothing_and_everything_and_grow_with_the_group(
    data: Microdata, draw: st.DataObject
) -> None:
    members = draw.draw(st.lists(st.integers(0, data.n_rows - 1), min_size=2, unique=False))
    for attr, domain in enumerate(data.domains.quasi):
        codes = data.quasi[members, attr]
        zeros = np.zeros(len(codes), dtype=np.int32)
        part = cover(domain, codes[:1], zeros[:1], 1)
        whole = cover(domain, codes, zeros, 1)
        for loss in (certainty_penalty, information_loss):
            small, large = float(loss(domain, part)[0]), float(loss(domain, whole)[0])
            assert 0.0 <= small <= large <= 1.0
