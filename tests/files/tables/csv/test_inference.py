"""Texts to typed values: what counts as which type, and what stays text."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import texts_of
from lookalike.data.schema import ValueType
from lookalike.files.tables.csv.inference import MARKERS, Settled, distinct_texts, settle


def settled(texts: list[str], asked: ValueType | None = None, missing: tuple[str, ...] = ()) -> Settled:
    return settle("c", pl.Series(texts, dtype=pl.String), asked, missing)


def cells(found: Settled) -> list[str | None]:
    """Each text as its value prints; None: missing."""
    printed = [*texts_of(found.values, found.type), None]
    return [printed[code] for code in found.codes]


@pytest.mark.parametrize(
    ("texts", "type"),
    [
        (["1", "-2", "0"], ValueType.INTEGER),
        (["9223372036854775807", "-9223372036854775808"], ValueType.INTEGER),
        (["1.5", "2", "-.5", "3.", "1e3", "2E-5"], ValueType.NUMBER),
        (["00123", "123"], ValueType.STRING),
        (["007.5", "1"], ValueType.STRING),
        (["+5", "5"], ValueType.STRING),
        (["1,5", "2"], ValueType.NUMBER),
        (["1,234", "2"], ValueType.STRING),
        (["1,5", "2.5"], ValueType.STRING),
        (["1,5", "1,2,3"], ValueType.STRING),
        (["01,5", "2"], ValueType.STRING),
        (["1 000", "2"], ValueType.INTEGER),
        (["1 00", "2"], ValueType.STRING),
        (["inf", "1"], ValueType.STRING),
        (["1e999", "1"], ValueType.STRING),
        (["0x10", "1"], ValueType.STRING),
        (["٣", "4"], ValueType.STRING),  # digits, but not ASCII ones
        (["2020-02-29", "1999-12-31"], ValueType.DATE),
        (["2019-02-29", "1999-12-31"], ValueType.STRING),
        (["0000-01-01"], ValueType.STRING),
        (["31.12.1999", "1.2.2020"], ValueType.DATE),
        (["31.12.1999", "2020-01-01"], ValueType.STRING),
        (["1999/12/31"], ValueType.DATE),
        (["12/31/1999"], ValueType.DATE),
        (["2020-01-01T10:00", "2020-01-01 10:00:01", "2020-01-01T10:00:01.25"], ValueType.DATETIME),
        (["2020-01-01T25:00"], ValueType.STRING),
        (["2020-01-01T10:00Z", "2020-01-01T10:00"], ValueType.STRING),
        (["TRUE", "false", "True"], ValueType.BOOLEAN),
        (["true", "1"], ValueType.STRING),
        (["yes", "no"], ValueType.STRING),
        (["", ""], ValueType.STRING),
        ([], ValueType.STRING),
    ],
)
def test_the_type_is_the_one_that_all_texts_fit(texts: list[str], type: ValueType) -> None:
    assert settled(texts).type is type


def test_one_odd_text_far_down_keeps_the_column_text() -> None:
    assert settled([*map(str, range(5000)), "x"]).type is ValueType.STRING


def test_values_are_distinct_sorted_and_merged() -> None:
    found = settled(["10", "9", "", "10", "-0"])
    assert found.values.tolist() == [-0, 9, 10]
    assert found.values.dtype == np.int64
    assert found.codes.tolist() == [2, 1, 3, 2, 0]
    assert found.codes.dtype == np.int32
    found = settled(["1.50", "1.5", "-0.0", "0.0"])
    assert found.values.tolist() == [0.0, 1.5]
    assert not np.signbit(found.values[0])
    assert found.codes.tolist() == [1, 1, 0, 0]


def test_spaces_around_numbers_do_not_matter_and_around_words_they_do() -> None:
    assert cells(settled([" 5", "6 ", "  "])) == ["5", "6", None]
    assert settled([" a", "a"]).values.tolist() == [" a", "a"]


def test_all_missing_is_text_without_values() -> None:
    found = settled(["", ""])
    assert found.values.dtype == object
    assert len(found.values) == 0
    assert found.codes.tolist() == [0, 0]


@pytest.mark.parametrize("marker", MARKERS)
def test_markers_mean_missing_among_typed_values_only(marker: str) -> None:
    for value in ("5", "1.5", "2020-01-01", "2020-01-01T10:00:00", "true"):
        found = settled([value, marker])
        assert cells(found) == [value, None]
        assert "read as missing" in found.notes[0]
    found = settled(["Angola", marker])
    assert cells(found) == ["Angola", marker]
    assert found.notes == ()
    assert cells(settled([marker])) == [marker]


def test_what_the_user_calls_missing_is_missing_everywhere() -> None:
    assert cells(settled(["-99", "5"], missing=("-99",))) == [None, "5"]
    assert cells(settled(["unknown", "x", " unknown "], missing=("unknown",))) == [None, "x", None]
    assert settled(["none", "5"], missing=("none",)).type is ValueType.INTEGER
    assert cells(settled(["none", "5"], ValueType.STRING, missing=("none",))) == [None, "5"]


def test_dates_and_times_are_days_and_microseconds() -> None:
    assert settled(["1970-01-02", "1969-12-31"]).values.tolist() == [-1, 1]
    assert cells(settled(["1.2.2020"])) == ["2020-02-01"]
    assert settled(["1970-01-01 00:00:01.000002"]).values.tolist() == [1_000_002]
    assert settled(["1969-12-31T23:59:59.5"]).values.tolist() == [-500_000]
    assert cells(settled(["2020-01-01", "2020-01-01T10:00"])) == ["2020-01-01T00:00:00", "2020-01-01T10:00:00"]


def test_other_layouts_of_dates_are_told() -> None:
    assert "DD.MM.YYYY" in settled(["31.12.1999"]).notes[0]
    assert "YYYY/MM/DD" in settled(["1999/12/31"]).notes[0]
    assert settled(["1999-12-31"]).notes == ()


def test_time_zones_become_utc_and_are_told() -> None:
    found = settled(["2020-01-01T10:00+02:00", "2020-01-01T10:00Z", "2020-01-01 10:00-0530", "2020-01-01 10:00:00+00"])
    assert cells(found) == ["2020-01-01T08:00:00", "2020-01-01T10:00:00", "2020-01-01T15:30:00", "2020-01-01T10:00:00"]
    assert "UTC" in found.notes[0]


def test_whole_numbers_beyond_64_bits_are_numbers_and_told() -> None:
    found = settled(["9223372036854775808", "1"])
    assert found.type is ValueType.NUMBER
    assert found.values.tolist() == [1.0, 2.0**63]
    assert "64 bits" in found.notes[0]


@pytest.mark.parametrize(
    ("texts", "asked", "printed"),
    [
        (["00123", "+5", "7.0", "NA", ""], ValueType.INTEGER, ["123", "5", "7", None, None]),
        (["007.50", "+1", "x"], ValueType.NUMBER, None),
        (["007.50", "+1", "?"], ValueType.NUMBER, ["7.5", "1", None]),
        (["1", "2"], ValueType.STRING, ["1", "2"]),
        (["NA", "00"], ValueType.STRING, ["NA", "00"]),
        (["31.12.1999", ""], ValueType.DATE, ["1999-12-31", None]),
        (["2020-01-01"], ValueType.DATETIME, ["2020-01-01T00:00:00"]),
        (["1.5"], ValueType.INTEGER, None),
        (["9223372036854775808"], ValueType.INTEGER, None),
        (["1e999"], ValueType.NUMBER, None),
        (["1"], ValueType.BOOLEAN, None),
        (["NA", ""], ValueType.INTEGER, [None, None]),
    ],
)
def test_a_type_asked_for_is_taken_or_its_misfits_told(
    texts: list[str], asked: ValueType, printed: list[str | None] | None
) -> None:
    found = settled(texts, asked)
    assert found.type is asked
    assert bool(found.misfits.any()) is (printed is None)
    if printed is not None:
        assert cells(found) == printed


def test_misfits_are_the_texts_that_do_not_fit() -> None:
    assert settled(["1", "x", "", "y"], ValueType.INTEGER).misfits.tolist() == [False, True, False, True]
    zones = ["2020-01-01T10:00Z", "2020-01-01T10:00Z", "2020-01-01T10:00"]
    assert settled(zones, ValueType.DATETIME).misfits.tolist() == [False, False, True]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4)))
def test_distinct_texts_are_those_of_a_set(texts: list[str]) -> None:
    values, codes = distinct_texts(pl.Series(texts, dtype=pl.String))
    assert values.tolist() == sorted(set(texts))
    assert [values[code] for code in codes] == texts


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_whole_numbers_survive(numbers: list[int]) -> None:
    found = settled([str(number) for number in numbers])
    assert found.type is ValueType.INTEGER
    assert found.values[found.codes].tolist() == numbers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_survive(numbers: list[float]) -> None:
    found = settled([repr(number) for number in numbers])
    whole = all(number.is_integer() and abs(number) < 1e15 for number in numbers)
    assert found.type is (ValueType.INTEGER if whole else ValueType.NUMBER)
    assert found.values[found.codes].tolist() == numbers


@given(st.lists(st.datetimes(), min_size=1), st.sampled_from(["T", " "]))
def test_moments_survive(moments: list[datetime.datetime], between: str) -> None:
    found = settled([moment.isoformat(between) for moment in moments])
    assert found.type is ValueType.DATETIME
    assert found.values[found.codes].astype("datetime64[us]").tolist() == moments


@given(st.lists(st.dates(), min_size=1))
def test_dates_survive(dates: list[datetime.date]) -> None:
    found = settled([date.isoformat() for date in dates])
    assert found.type is ValueType.DATE
    assert found.values[found.codes].astype("datetime64[D]").tolist() == dates


def test_a_decimal_comma_is_read_where_it_can_be_nothing_else() -> None:
    for asked in (None, ValueType.NUMBER):
        found = settled(["101,2", "-0,5", "7", "1,250"], asked)
        assert found.type is ValueType.NUMBER
        assert found.values.tolist() == [-0.5, 1.25, 7.0, 101.2]
        assert not found.misfits.any()
        assert "decimal comma" in found.notes[0]


def test_commas_that_may_stand_before_thousands_are_not_guessed_at() -> None:
    found = settled(["1,234", "12,500", "7"])
    assert found.type is ValueType.STRING
    assert "thousands" in found.notes[0]
    assert settled(["1,234"], ValueType.NUMBER).misfits.all()
    assert settled(["Smith, John", "7"]).notes == ()


def test_whole_numbers_written_with_a_point_and_zero_are_whole() -> None:
    """Programs write whole numbers so where some are missing."""
    settled = settle("id", pl.Series(["243.0", "", "7.0", "12"]), None)
    assert settled.type is ValueType.INTEGER
    assert settled.values.tolist() == [7, 12, 243]
    assert "written with .0" in settled.notes[0]
    assert settle("x", pl.Series(["1.0", "1.5"]), None).type is ValueType.NUMBER
    assert settle("x", pl.Series(["01.0", "2.0"]), None).type is ValueType.STRING
    assert settle("x", pl.Series(["1.0", "2.0"]), ValueType.NUMBER).type is ValueType.NUMBER


def test_limits_among_numbers_are_noted() -> None:
    found = settled(["<5", "7", "9.5", ">100", "NA"])
    assert found.type is ValueType.STRING
    assert "limits such as <5 or >100" in found.notes[0]
    assert "by a number" in found.notes[0]
    assert settled(["<5", "7", "low"]).notes == ()
    assert settled(["<18", "18-64", ">64"]).notes == ()
    assert settled(["<1,5", "2,5"]).notes
