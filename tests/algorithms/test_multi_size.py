"""multi-size: sizes divided again while that loses less, and one bucket where nothing else will do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.multi_size import MultiSize
from lookalike.algorithms.shared.buckets import Asked
from lookalike.algorithms.two_size import TwoSize
from lookalike.errors import RecipeError
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.shared.test_bucket_sizes import family


def test_one_bucket_where_nothing_else_will_do() -> None:
    """A prime number of records, all as frequent as they may be."""
    counts = np.array([1000, 1003])
    ceilings = [Fraction(1000, 2003), Fraction(1003, 2003)]
    slots, remarks = MultiSize().slots(Asked(counts, ceilings, 1, has_values=True), Randomness(1), silent)
    assert slots.n_buckets == 1
    assert remarks[0] == "Bucket sizes: 1 bucket of 2003."
    assert "the whole table is one bucket" in remarks[1]


def test_the_buckets_of_a_size_are_divided_again_while_that_loses_less() -> None:
    """Three buckets of 4 lose 27; two of 2 and two of 4 hold the same records and lose 2 + 18."""
    counts = [8, 5, 2]
    asked = Asked(np.array(counts), family(counts, "2"), 1, has_values=True)
    _, two = TwoSize(largest=12).slots(asked, Randomness(1), silent)
    slots, several = MultiSize(largest=12).slots(asked, Randomness(1), silent)
    assert two == ("Bucket sizes: 3 buckets of 1, 3 buckets of 4.",)
    assert several == ("Bucket sizes: 3 buckets of 1, 2 buckets of 2, 2 buckets of 4.",)
    assert np.bincount(slots.value_of_slot).tolist() == counts
    for bucket in range(slots.n_buckets):
        inside = np.bincount(slots.value_of_slot[slots.bucket_of_slot == bucket], minlength=len(counts)).tolist()
        shares = [Fraction(number, sum(inside)) for number in inside]
        assert all(share <= ceiling for share, ceiling in zip(shares, asked.ceilings, strict=True))


def test_parameters_are_checked() -> None:
    assert str(parse_algorithm("multi-size:largest=60,assign=similar")) == "multi-size:assign=similar,largest=60"
    with pytest.raises(RecipeError, match='largest is "many"'):
        MultiSize(largest="many")
    with pytest.raises(RecipeError, match="pruning"):
        parse_algorithm("multi-size:pruning=none")
