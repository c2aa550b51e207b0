"""tmondrian: median cuts while both halves keep t-closeness, by the distance that was asked for."""

from __future__ import annotations

import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.tmondrian import TMondrian
from lookalike.errors import RecipeError
from tests.algorithms.tables import census_data, groups, microdata


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("t-closeness:0.3", [[1, 4, 2, 3], [1, 4, 2, 3]]),
        ("t-closeness:0.3,distance=ordered", [[1, 4], [2, 3], [1, 4], [2, 3]]),
        ("t-closeness:0.5", [[1, 4], [2, 3], [1, 4], [2, 3]]),
    ],
)
def test_halves_are_cut_while_both_keep_t_closeness(model: str, expected: list[list[int]]) -> None:
    """Two of four values are 1/2 away from the table; 1 and 4, or 2 and 3, only 1/6 where order counts."""
    values = [1, 4, 2, 3, 1, 4, 2, 3]
    data = microdata(age=[*range(8)], s=[*values])
    assert [[values[record] for record in group] for group in groups(data, TMondrian(), model)] == expected


def test_it_is_mondrian_with_one_cut_of_the_widest_attribute() -> None:
    data = census_data(500)
    widest = groups(data, Mondrian(cuts=1, choose="widest"), "t-closeness:0.4")
    assert groups(data, TMondrian(), "t-closeness:0.4") == widest
    assert len(widest) > 2
    assert groups(data, Mondrian(), "t-closeness:0.4") != widest


def test_it_has_no_parameters() -> None:
    assert str(parse_algorithm("tmondrian")) == "tmondrian"
    with pytest.raises(RecipeError, match="choose"):
        parse_algorithm("tmondrian:choose=gain")
