"""random-grouping: coins make groups grow on, fresh ones for every release."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.order_groups import groups_of, members_of, required
from tests.worlds import tiny_table


def test_coins_make_groups_grow_on() -> None:
    """p/(1 - p) steps more on average: the paper counts the last toss too (trap 13)."""
    world = "ab" * 4000
    sizes = [len(group) for group in groups_of(world, RandomGrouping(p="0.65"), "k-anonymity:2")]
    assert np.mean(sizes) / 2 - 1 == pytest.approx(0.65 / 0.35, abs=0.25)
    assert {len(group) for group in groups_of(world, RandomGrouping(p=0), "k-anonymity:2")} == {2}


def test_coins_are_fresh() -> None:
    data = tiny_table("ab" * 50, [*range(100)])
    requirements = required(data, "k-anonymity:2")
    made = [members_of(*RandomGrouping().anonymize(data, requirements, Randomness(), silent)) for _ in range(2)]
    assert made[0] != made[1]
