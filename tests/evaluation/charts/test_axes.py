"""Scales: round ticks with room for their labels, and places that follow from the numbers."""

from __future__ import annotations

import itertools
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.evaluation.charts.axes import Names, Numbers, begin_chart, draw_legend
from lookalike.evaluation.charts.style import Look, measure_text

ANY = st.floats(-1e12, 1e12) | st.floats(-1, 1) | st.floats(allow_nan=False, allow_infinity=False)
ABOVE_0 = st.floats(5e-324, 1e308) | st.floats(0.01, 1000)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((0, 7.3), "0 1 2 3 4 5 6 7 8"),
        ((-3, 11), "-4 -2 0 2 4 6 8 10 12"),
        ((0.0021, 0.0093), "0.002 0.003 0.004 0.005 0.006 0.007 0.008 0.009 0.010"),
        ((0, 12_345), "0 2,000 4,000 6,000 8,000 10,000 12,000 14,000"),
        ((1e14, 3e14), "1e+14 1.5e+14 2e+14 2.5e+14 3e+14"),
    ],
)
def test_ticks_are_round(values: tuple[float, ...], labels: str) -> None:
    assert " ".join(label for _, label in Numbers.over(values, 400).ticks) == labels


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((1, 1000), "1 2 5 10 20 50 100 200 500 1,000"),
        ((1, 1_000_000), "1 10 100 1,000 10,000 100,000 1,000,000"),
        ((3, 80), "2 5 10 20 50 100"),
        ((3, 4), "2 3 4 5"),
        ((1e-8, 1e8), "0.000001 0.001 1 1,000 1,000,000"),
    ],
)
def test_ticks_of_logarithms_are_powers_of_ten_and_between(values: tuple[float, ...], labels: str) -> None:
    assert " ".join(label for _, label in Numbers.over(values, 400, log=True).ticks) == labels


@pytest.mark.parametrize(
    ("values", "labels"), [((1, 5), "1 2 3 4 5"), ((2, 3), "2 3"), ((1, 30), "0 5 10 15 20 25 30"), ((4, 4), "3 4 5")]
)
def test_whole_numbers_have_whole_ticks(values: tuple[float, ...], labels: str) -> None:
    axis = Numbers.over(values, 300, whole=True)
    assert " ".join(label for _, label in axis.ticks) == labels


def test_percents_have_no_more_decimals_than_their_step() -> None:
    assert [label for _, label in Numbers.over([0, 0.02], 430, percent=True).ticks][:3] == ["0.0%", "0.2%", "0.4%"]
    assert [label for _, label in Numbers.over([0, 0.7], 200, percent=True).ticks][-1] == "80%"


def test_places_follow_the_numbers() -> None:
    linear = Numbers.over([0, 10], 200)
    assert [linear.place(at) for at in (0, 2.5, 10)] == [0, 50, 200]
    log = Numbers.over([1, 1000], 300, log=True, upward=True)
    assert [log.place(at) for at in (1, 10, 1000)] == pytest.approx([300, 200, 0])
    names = Names(("a", "b"), 100, 0.2)
    assert (names.place("a"), names.place("b"), names.band) == (25, 75, 40)


@given(
    values=st.lists(ANY, max_size=6), room=st.booleans(), zero=st.booleans(), percent=st.booleans(), up=st.booleans()
)
def test_ticks_are_round_and_apart_whatever_the_numbers(
    values: list[float], room: bool, zero: bool, percent: bool, up: bool
) -> None:
    scale = Numbers.over(values, 300, room=room, zero=zero, percent=percent, upward=up)
    _check(scale, values)
    steps = [other - one for (one, _), (other, _) in itertools.pairwise(scale.ticks)]
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-3)
    assert re.fullmatch(r"[125]\.?0*", f"{steps[0]:.2e}".partition("e")[0])
    if zero and not room:
        assert scale.low <= 0 <= scale.high


@given(values=st.lists(ABOVE_0, max_size=6), room=st.booleans(), up=st.booleans())
def test_logarithms_have_two_ticks_whatever_the_numbers(values: list[float], room: bool, up: bool) -> None:
    scale = Numbers.over(values, 300, log=True, room=room, upward=up)
    _check(scale, values)
    assert scale.low > 0


def _check(scale: Numbers, values: list[float]) -> None:
    assert 2 <= len(scale.ticks) <= 30
    assert math.isfinite(scale.low)
    assert scale.low < scale.high < math.inf
    assert all(0 <= scale.place(value) <= 300 for value in values)
    ends = [(at, 6.0 if scale.upward else measure_text(label) / 2) for at, label in scale.labels]
    assert all(abs(one - other) >= half + beside for (one, half), (other, beside) in itertools.pairwise(ends))


def test_names_that_do_not_fit_are_shortened_or_turned() -> None:
    y = Numbers.over([0, 1], 100, upward=True)
    short, long = (begin_chart(Names((text * 9, "b"), 120), y, "", "")._repr_svg_() for text in ("a", "long "))
    narrow = begin_chart(Names(tuple(f"name {turn}" for turn in range(20)), 300), y, "", "")._repr_svg_()
    dense = begin_chart(Names(tuple(f"name {turn}" for turn in range(90)), 300), y, "", "")._repr_svg_()
    assert "<title>" not in short
    assert f"<title>{'long ' * 9}</title>" in long
    assert narrow.count("rotate(-90)") == 20
    assert 20 <= dense.count("rotate(-90)") <= 30


def test_legends_fill_lines_and_do_not_overlap() -> None:
    y = Numbers.over([0, 1], 100, upward=True)
    for side, n_lines in (("right", 8), ("top", 4), ("bottom", 4)):
        chart = begin_chart(Names(("a", "b"), 200), y, "", "")
        plot = chart.box
        draw_legend(chart, {f"a series {turn}": Look() for turn in range(8)}, side)  # type: ignore[arg-type]
        places = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)">a series', chart._repr_svg_())
        assert len(set(places)) == 8
        assert len({down for _, down in places}) == n_lines
        if side == "right":
            assert min(float(across) for across, _ in places) > plot[2]
        elif side == "top":
            assert max(float(down) for _, down in places) <= plot[1] + 4
        else:
            assert min(float(down) for _, down in places) > plot[3]
