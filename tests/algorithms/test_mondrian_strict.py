"""Strict Mondrian: records of one value stay together, and groups do not overlap."""

from __future__ import annotations

from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.mondrian_strict import StrictMondrian
from tests.algorithms.tables import groups, microdata


def test_relaxed_divides_equal_values_and_strict_does_not() -> None:
    data = microdata(age=[1, 2, 2, 2, 2, 2, 2, 9])
    relaxed = groups(data, Mondrian(cuts=1, choose="widest"), "k-anonymity:4")
    assert [len(group) for group in relaxed] == [4, 4]
    assert groups(data, StrictMondrian(), "k-anonymity:4") == [list(range(8))]


def test_strict_groups_do_not_overlap() -> None:
    data = microdata(age=[1, 1, 1, 4, 4, 7, 7, 7, 7, 9], height=[3, 3, 1, 1, 2, 2, 2, 5, 5, 5])
    parts = groups(data, StrictMondrian(), "k-anonymity:2")
    boxes = [(data.quasi[part].min(axis=0), data.quasi[part].max(axis=0)) for part in parts]
    for one, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[one + 1 :]:
            assert ((other_low > high) | (other_high < low)).any()
