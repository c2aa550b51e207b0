"""Which rows of a person are published or learned from: drawn by chance alone, and said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.data.microdata import Microdata, Table
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import RecipeError
from lookalike.pipeline.person_rows import bound_contribution, describe_left_out, keep_rows
from tests.strategies import column_of

OWNERS = ["p1"] * 5 + ["p2", "p3", "p3", "p2", "p4"]


def visits(ages: list[int], values: list[str]) -> Microdata:
    columns = (
        column_of("patient", OWNERS, ValueType.STRING),
        column_of("age", ages, ValueType.INTEGER),
        column_of("diagnosis", values, ValueType.STRING),
    )
    return Microdata.encode(Table(columns), Schema.of(qi=["age"], sensitive="diagnosis", person="patient"))


def kept_ages(data: Microdata, most: int, salt: str) -> list[int]:
    kept = keep_rows(data, PersonSettings(contribution=most, salt=salt))
    return [int(data.domains.quasi[0].values[code]) for code in kept.quasi[:, 0]]


def test_which_rows_are_kept_depends_on_no_value() -> None:
    ages = [*range(10)]
    one = visits(ages, ["flu", "cold"] * 5)
    other = visits([30 - age for age in ages], ["asthma"] * 3 + ["flu"] * 7)
    for salt in ("1", "2f", "abc"):
        assert kept_ages(one, 2, salt) == [30 - age for age in kept_ages(other, 2, salt)]


def test_every_row_of_a_person_is_as_likely_wherever_it_stands() -> None:
    data, drawn = visits([*range(10)], ["flu"] * 10), np.zeros(10)
    for salt in range(3000):
        drawn[kept_ages(data, 2, f"{salt:x}")] += 1
    # Two of the five rows of p1; all rows of the others.
    assert np.abs(drawn[:5] / 3000 - 2 / 5).max() < 0.05
    assert (drawn[5:] == 3000).all()


def test_pairs_of_rows_are_as_likely_too() -> None:
    data, pairs = visits([*range(10)], ["flu"] * 10), dict[tuple[int, ...], int]()
    for salt in range(4000):
        own = tuple(age for age in kept_ages(data, 2, f"{salt:x}") if age < 5)
        pairs[own] = pairs.get(own, 0) + 1
    assert len(pairs) == 10
    assert max(pairs.values()) < 500
    assert min(pairs.values()) > 300


def test_rows_left_out_and_persons_cut_are_said() -> None:
    data = visits([*range(10)], ["flu"] * 10)
    assert describe_left_out(data, 1) == ("6 rows of 3 persons are left out: at most 1 row per person.",)
    assert describe_left_out(data, 4) == ("1 row of 1 person is left out: at most 4 rows per person.",)
    assert describe_left_out(data, 5) == ()


def test_the_limit_is_the_one_asked_for_even_if_nobody_has_so_many() -> None:
    """A limit read off the table would tell how many records the person with the most has."""
    data = visits([*range(10)], ["flu"] * 10)
    kept, most, said = bound_contribution(data, PersonSettings(contribution=50), None)
    assert (kept.n_rows, most, said) == (10, 50, ())
    single = replace(data.take(np.array([0, 5, 6])), persons=None)
    assert bound_contribution(single, PersonSettings(contribution=4), None)[1] == 4
    with pytest.raises(RecipeError, match="--contribution C"):
        bound_contribution(data, PersonSettings(), None)
