"""symmetric-grouping: even splits, what a refused split tells, buckets inside groups."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from lookalike.algorithms.shared.order_runs import Rules
from lookalike.algorithms.symmetric_grouping import SymmetricGrouping
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.order_groups import BINARY, groups_of, members_of, required
from tests.worlds import tiny_table


def test_halves_are_halved_while_both_may_stand() -> None:
    symmetric = SymmetricGrouping()
    assert groups_of("pnnpnnnn", symmetric, BINARY.format(2)) == ["pn", "np", "nn", "nn"]
    assert groups_of("ppnnnnn", symmetric, BINARY.format(2)) == ["ppnn", "nnn"]
    assert groups_of("nnnnppn", symmetric, BINARY.format(2)) == ["nnnnppn"]
    # Figure 1's sizes: the larger half is the left one.
    assert [len(group) for group in groups_of("n" * 26 + "p", symmetric, BINARY.format(6))] == [7, 7, 7, 6]


@pytest.mark.parametrize(
    ("ell", "size", "positives", "left", "right"),
    [(2, 7, 2, Fraction(0), Fraction(2, 3)), (3, 11, 2, Fraction(0), Fraction(2, 5))],
)
def test_a_refused_split_tells_no_more_than_theorem_five_says(
    ell: int, size: int, positives: int, left: Fraction, right: Fraction
) -> None:
    beliefs = halving_beliefs(ell, size, positives)
    assert set(beliefs[: (size + 1) // 2]) == {left}
    assert set(beliefs[(size + 1) // 2 :]) == {right}
    assert right == 1 / (ell - Fraction(1, 2))


def test_halves_below_l_are_not_even_considered() -> None:
    """Trap 1: with children of 3 and 2 the certainty would be 1/2."""
    assert set(halving_beliefs(3, 5, 1)) == {Fraction(1, 5)}
    assert halving_beliefs(3, 5, 1, least=1)[3:] == [Fraction(1, 2)] * 2


@pytest.mark.parametrize("ell", [2, 3])
def test_no_group_tells_more_than_the_even_split_bound(ell: int) -> None:
    beliefs = [
        max(found)
        for size in range(ell, 12)
        for positives in range(1, size // ell + 1)
        if (found := halving_beliefs(ell, size, positives))
    ]
    assert max(beliefs) == 1 / (ell - Fraction(1, 2))


def halving_beliefs(ell: int, size: int, positives: int, least: int | None = None) -> list[Fraction]:
    """P(positive) of each place of a group that symmetric grouping left whole, over all its worlds."""
    world = "p" * positives + "n" * (size - positives)
    data = tiny_table(world, [*range(size)])
    replay = SymmetricGrouping()._halving(data, Rules.of(data, required(data, BINARY.format(ell))), Randomness(1))
    if least is not None:
        replay.rules.__dict__["rule"] = replay.rules.rule._replace(min_size=least)
    chosen = [*itertools.combinations(range(size), positives)]
    dealings = np.array([[*_dealing(size, places)] for places in chosen])
    weights = replay.weights(data.sensitive, dealings)
    total = int(weights.sum())
    return (
        [Fraction(int(weights[[place in places for places in chosen]].sum()), total) for place in range(size)]
        if total
        else []
    )


def _dealing(size: int, places: Sequence[int]) -> list[int]:
    """Which of the rows (positives first) each place gets."""
    positive, negative = iter(range(len(places))), iter(range(len(places), size))
    return [next(positive) if place in places else next(negative) for place in range(size)]


def test_anatomized_groups_are_smaller_and_as_diverse() -> None:
    data = tiny_table("aabbccabcabbcaccba" * 4, [*range(72)])
    requirements = required(data, "l-diversity:3")
    whole, divided = (
        members_of(
            *SymmetricGrouping(recode="permute", anatomize=word).anonymize(data, requirements, Randomness(1), silent)
        )
        for word in ("false", "true")
    )
    assert len(divided) > len(whole)
    assert all(any(set(part) <= set(group) for group in whole) for part in divided)
