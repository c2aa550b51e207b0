"""Conditionals, and records drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms.shared.drawing import Link, NoisyTable, conditional, draw_records
from lookalike.progress import silent
from lookalike.randomness import Randomness


@given(st.permutations([0, 1, 2]), st.integers(0, 2), st.randoms(use_true_random=False))
def test_conditionals_are_shares_of_the_smallest_table(order: list[int], n_parents: int, random: object) -> None:
    sizes = [2, 3, 4]
    counts = np.random.default_rng(random.randint(0, 99)).integers(0, 5, sizes)  # type: ignore[attr-defined]
    big = NoisyTable((0, 1, 2, 3), np.stack([counts, counts + 1], axis=3))
    link = Link(order[0], tuple(order[1 : 1 + n_parents]))
    found = conditional(link, [big, NoisyTable((0, 1, 2), counts)], [*sizes, 2])
    rest = tuple(axis for axis in range(3) if axis not in link.members)
    kept = [axis for axis in range(3) if axis in link.members]
    joint = counts.sum(axis=rest).transpose([kept.index(axis) for axis in (*link.parents, link.column)])
    for row, shares in zip(joint.reshape(-1, sizes[link.column]), found, strict=True):
        assert shares.sum() == pytest.approx(1.0)
        if row.any():
            assert shares == pytest.approx(row / row.sum())


def test_parents_that_never_occur_get_the_overall_shares() -> None:
    table = NoisyTable((0, 1), np.array([[3, 1], [0, 0]]))
    assert conditional(Link(1, (0,)), [table], [2, 2]).tolist() == [[0.75, 0.25], [0.75, 0.25]]
    empty = NoisyTable((0, 1), np.zeros((2, 2), dtype=np.int64))
    assert conditional(Link(1, (0,)), [empty], [2, 2]).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert conditional(Link(0, ()), [empty], [2, 2]).tolist() == [[0.5, 0.5]]


def test_records_follow_the_tables() -> None:
    sizes = [3, 2]
    table = NoisyTable((0, 1), np.array([[10, 30], [0, 0], [60, 0]]))
    network = (Link(1, ()), Link(0, (1,)))
    drawn = draw_records(network, [table], sizes, 50_000, Randomness(1), silent)
    shares = np.bincount(drawn[:, 0] * 2 + drawn[:, 1], minlength=6).reshape(3, 2) / len(drawn)
    assert shares == pytest.approx(table.counts / 100, abs=0.015)
    assert (shares[table.counts == 0] == 0).all()


def test_values_without_a_share_are_not_drawn_through_rounding() -> None:
    """Thirds add up to a little less than 1; the cells after them have no share."""
    counts = np.array([1, 1, 1, 0, 0])
    drawn = draw_records([Link(0, ())], [NoisyTable((0,), counts)], [5], 1, TopUniforms(1), silent)
    assert drawn.tolist() == [[2]]


class TopUniforms(Randomness):
    """Draws as near to 1 as there are."""

    def child(self, *label: str | int) -> Randomness:
        return self

    def uniforms(self, count: int) -> np.ndarray:
        return np.full(count, 1.0 - 2.0**-53)
