"""lmondrian: median cuts while both halves keep beta-likeness, and nothing else that Mondrian can do."""

from __future__ import annotations

import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.lmondrian import LMondrian
from lookalike.algorithms.mondrian import Mondrian
from lookalike.errors import RecipeError
from tests.algorithms.tables import census_data, groups, microdata


@pytest.mark.parametrize(
    ("beta", "expected"),
    [
        ("0.5", ["xyyy", "xyyy"]),
        ("1", ["xy", "yy", "xy", "yy"]),
        ("3", ["x", "y", "y", "y", "x", "y", "y", "y"]),
    ],
)
def test_halves_are_cut_while_both_keep_beta_likeness(beta: str, expected: list[str]) -> None:
    """A quarter of the records has x: its share of a group is 3/8, 1/2 and 1 at most."""
    values = "xyyyxyyy"
    data = microdata(age=[*range(8)], s=[*values])
    found = groups(data, LMondrian(), f"beta-likeness:{beta},bound=basic")
    assert ["".join(values[record] for record in group) for group in found] == expected


def test_it_is_mondrian_with_one_cut_of_the_widest_attribute() -> None:
    data = census_data(500)
    widest = groups(data, Mondrian(cuts=1, choose="widest"), "beta-likeness:4")
    assert groups(data, LMondrian(), "beta-likeness:4") == widest
    assert len(widest) > 2
    assert groups(data, Mondrian(), "beta-likeness:4") != widest


def test_it_has_no_parameters() -> None:
    assert str(parse_algorithm("lmondrian")) == "lmondrian"
    with pytest.raises(RecipeError, match="cuts"):
        parse_algorithm("lmondrian:cuts=3")
