from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.data.suspect_codes import find_codes, note_codes_of


def codes_in(values: list[Any]) -> list[str]:
    (column,) = la.read_table(pl.DataFrame({"x": values})).columns
    return [code.text for code in find_codes(column, np.bincount(column.codes)[: len(column.values)])]


AGES = [*range(18, 88)] * 3


@pytest.mark.parametrize("code", [-9, -99, -999, 999, 9999, 99999])
def test_codes_that_stand_apart_are_noticed(code: int) -> None:
    assert codes_in([*AGES, *[code] * 20]) == [str(code)]


def test_several_codes_of_a_column_are_noticed() -> None:
    assert codes_in([*AGES, *[-9] * 20, *[999] * 15, *[9999] * 12]) == ["-9", "999", "9999"]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*AGES, *[-9] * 9, *[-8] * 12, *[-1] * 8], ["-9", "-8", "-1"]),
        ([*range(18, 80)] * 4 + [997] * 5 + [998] * 5 + [999] * 9, ["997", "998", "999"]),
        ([*AGES, *[-9] * 6, *[99999] * 4], ["-9", "99999"]),
        ([*range(6)] * 60 + [99] * 9, ["99"]),
        ([round(90 + step / 10, 1) for step in range(700)] + [999.9] * 6, ["999.9"]),
        ([*range(1000, 9000, 7)] + [9999999] * 5, ["9999999"]),
    ],
)
def test_codes_as_surveys_have_them_are_noticed(values: list[Any], codes: list[str]) -> None:
    assert codes_in(values) == codes


@pytest.mark.parametrize(
    "values",
    [
        [*AGES, 99],
        [*range(-5, 40)] * 4,
        [*range(90, 100)] * 9,
        [0, 1, 99] * 40,
        [*range(100)] * 3,
        [*range(-20, 20)] * 5,
        [-1, 0, 1] * 50,
        [*range(1000)] * 3,
        [round(2 ** (step / 20)) for step in range(280)],
        [*range(900, 1000)] * 4,
        [-9.0, -8.5, -7.25, *[step / 4 for step in range(-30, 60)]] * 3,
    ],
)
def test_values_like_the_others_are_none(values: list[Any]) -> None:
    assert codes_in(values) == []


def test_words_in_text_are_noticed() -> None:
    assert codes_in(["a", "b", "N/A", "Unknown", ".", "a"]) == [".", "N/A", "Unknown"]
    assert codes_in([*"abcdefghijklmn", "99"]) == ["99"]
    assert codes_in(["none", "mild", "severe", "other", "no"]) == []


def test_a_word_among_numbers_is_said_to_make_text_of_them() -> None:
    table = la.read_table(pl.DataFrame({"x": [*map(str, range(30)), "unknown"], "y": ["-"] + ["a"] * 30}))
    first, second = note_codes_of(table, ["x", "y"])
    assert "without it the column is one of numbers" in first
    assert "--missing x=unknown" in first
    assert "--missing y='-'" in second


def test_the_same_code_in_several_columns_is_one_sentence() -> None:
    table = la.read_table(pl.DataFrame({f"x{number}": ["a", "b", "."] for number in range(8)}))
    (said,) = note_codes_of(table, table.names)
    assert "and 3 more have" in said
    assert "--missing '.'" in said


def test_the_option_that_is_named_works() -> None:
    frame = pl.DataFrame({"age": [*AGES, *[-9] * 20], "ill": ["ab"[row % 2] for row in range(230)]})
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "ill", "model": "k-anonymity:5", "algorithm": "mondrian"}
    before, after = la.publish(frame, **asked), la.publish(frame, missing={"age": [-9]}, **asked)
    assert any('20 rows have "-9"' in note for note in before.notes)
    assert not any("-9" in note for note in after.notes)
    assert after.made.domains.quasi[0].has_missing
    assert before.made.domains.quasi[0].low == -9


def test_dates_that_mean_never_are_noticed() -> None:
    import datetime

    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(40)]
    assert codes_in([*days, *[datetime.date(9999, 12, 31)] * 3]) == ["9999-12-31"]
    assert codes_in(days) == []
