"""Pictures: marks where the numbers say, a mark for each series, text as given, and nothing outside the picture."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.evaluation import charts
from tests.examples import examples

SVG = "{http://www.w3.org/2000/svg}"

ROWS = [
    {"beta": beta, "loss": 1 / (beta + turn), "low": 0.9 / (beta + turn), "high": 1.1 / (beta + turn), "method": name}
    for turn, name in enumerate(["<groups> & co", "burel"])
    for beta in (1, 2, 3)
]


def drawn(chart: charts.Chart) -> tuple[ElementTree.Element, str]:
    text = charts.svg(chart)
    return ElementTree.fromstring(text), text


def test_lines_have_a_path_each_and_ends() -> None:
    root, text = drawn(charts.lines(ROWS, "beta", "loss", "method", title="Loss", low="low", high="high"))
    words = " ".join(root.itertext())
    assert "<groups> & co" in words
    assert "burel" in words
    assert "Loss" in words
    assert charts.COLOURS[0] in text
    assert charts.COLOURS[1] in text


def test_a_ninth_line_is_dashed_and_its_marks_are_outlines() -> None:
    rows = [{"x": at, "y": turn, "series": f"series {turn}"} for turn in range(9) for at in (1, 2)]
    drawn = charts.svg(charts.lines(rows, "x", "y", "series"))
    assert drawn.count('stroke-dasharray="5 3"') == 1
    # Two points and the legend.
    assert drawn.count('fill="none" stroke="#0072B2" stroke-width="1.4"') == 3


def test_logarithms_and_names_on_an_axis() -> None:
    rows = [{"step": name, "seconds": seconds} for name, seconds in (("read", 1), ("write", 1000))]
    words = " ".join(drawn(charts.lines(rows, "step", "seconds", log_y=True))[0].itertext())
    assert "read" in words
    assert "1,000" in words


def test_points_have_labels_and_a_frontier() -> None:
    chart = charts.scatter(ROWS, "loss", "beta", "method", label="method", frontier=ROWS[:3])
    _, text = drawn(chart)
    assert text.count("&lt;groups&gt; &amp; co") >= 3
    assert "stroke-dasharray" in text


def test_bars_keep_their_order() -> None:
    rows = [{"name": name, "loss": loss} for name, loss in (("zip", 0.2), ("age", 0.7))]
    words = list(drawn(charts.bars(rows, "loss", "name"))[0].itertext())
    assert words.index("zip") < words.index("age")


FRAMES = [
    {"age": low, "age_end": low + 9.0, "day": 0.0, "day_end": 30.0, "group": name}
    for low, name in ((20, "a"), (40, "b"))
]


def test_boxes_hold_their_points() -> None:
    points = [
        {"age": 25.0, "day": 4.0, "group": "a", "ill": "flu"},
        {"age": 44.0, "day": 9.0, "group": "b", "ill": "gout"},
    ]
    root, text = drawn(charts.boxes(FRAMES, points, "age", "day", "group", shape="ill", title="Two groups"))
    words = " ".join(root.itertext())
    assert "Two groups" in words
    assert "flu" in words
    assert "gout" in words
    # A filled and an empty rectangle and a mark, in the colour of each group.
    assert min(text.count(charts.COLOURS[0]), text.count(charts.COLOURS[1])) >= 3


def test_points_without_a_group_are_grey_and_colours_are_explained() -> None:
    points = [{"age": 25.0, "day": 4.0, "who": "others"}, {"age": 44.0, "day": 9.0, "who": "a person"}]
    root, text = drawn(charts.boxes(FRAMES, points, "age", "day", "group", shape="who", legend=True))
    assert {"a", "b", "others", "a person"} <= set(root.itertext())
    assert text.count(f'fill="{charts.INK}"') >= 2


def test_tiles_have_their_labels_on_names_and_on_numbers() -> None:
    rows = [
        {"x": x, "y": y, "value": value, "text": text}
        for x, y, value, text in (("1", "1", "b", "B"), ("2", "1", "a", "A"))
    ]
    root, text = drawn(charts.tiles(rows, "x", "y", "value", label="text"))
    assert {"A", "B", "a", "b"} <= set(root.itertext())
    assert charts.COLOURS[1] in text
    shaded = [{**row, "value": share} for row, share in zip(rows, (0.1, 0.9), strict=True)]
    _, text = drawn(charts.tiles(shaded, "x", "y", "value", label="text", legend=False))
    assert 'fill="white"' in text
    assert 'fill="black"' in text


def test_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    charts.write_svg(charts.bars(ROWS, "loss", "beta", "method"), path)
    assert path.read_bytes().startswith(b"<svg")


def test_nothing_is_fetched() -> None:
    _, text = drawn(charts.lines(ROWS, "beta", "loss", "method"))
    assert "href" not in text
    assert "url(http" not in text


def test_spans_run_from_the_least_to_the_greatest_mark_with_a_wall() -> None:
    rows = [
        {"value": "<HIV>", "share": 0.01, "belief": 0.04, "ceiling": None},
        {"value": "flu", "share": 0.2, "belief": 0.3},
    ]
    marks = {"share": "share", "belief": "highest certainty", "ceiling": "ceiling"}
    root, _ = drawn(charts.spans(rows, "value", marks, limit="ceiling"))
    words = " ".join(root.itertext())
    assert "<HIV>" in words
    assert "highest certainty" in words
    assert "ceiling" not in words, "nothing has one"
    rows[0]["ceiling"] = 0.05
    root, text = drawn(charts.spans(rows, "value", marks, limit="ceiling"))
    assert "ceiling" in " ".join(root.itertext())
    assert "%" in " ".join(root.itertext())
    assert charts.COLOURS[2] in text


def test_columns_stand_side_by_side_in_the_order_of_the_rows() -> None:
    rows = [
        {"error": error, "share": share, "asked": asked}
        for asked in ("one", "two")
        for error, share in (("up to 5 %", 0.7), ("more", 0.3))
    ]
    root, text = drawn(charts.columns(rows, "error", "share", "asked"))
    words = " ".join(root.itertext())
    assert words.index("up to 5 %") < words.index("more")
    assert "70%" in words
    assert charts.COLOURS[0] in text
    assert charts.COLOURS[1] in text
    plain = " ".join(drawn(charts.columns(rows[:2], "error", "share", y_title="of all"))[0].itertext())
    assert "of all" in plain


def shapes(root: ElementTree.Element, kind: str, colour: str | None = None) -> list[Mapping[str, str]]:
    return [one.attrib for one in root.iter(f"{SVG}{kind}") if colour is None or one.get("fill") == colour]


def test_bars_are_as_long_as_their_numbers() -> None:
    rows = [{"name": name, "loss": loss} for name, loss in (("zip", 0.25), ("age", 1.0), ("sex", 0.0), ("job", -1))]
    root, _ = drawn(charts.bars(rows, "loss", "name", width=400))
    zip_code, age, sex, job = shapes(root, "rect")
    assert [bar["x"] for bar in (zip_code, age, sex, job)] == ["200", "200", "200", "0"], "the axis is from -1 to 1"
    assert [bar["width"] for bar in (zip_code, age, sex, job)] == ["50", "200", "0", "200"]
    assert len({bar["y"] for bar in (zip_code, age, sex, job)}) == 4


def test_columns_of_one_name_lie_side_by_side_and_are_as_high_as_their_shares() -> None:
    rows = [
        {"x": x, "share": share, "s": s} for x, share, s in (("a", 1.0, "one"), ("a", 0.5, "two"), ("b", 0.2, "two"))
    ]
    root, _ = drawn(charts.columns(rows, "x", "share", "s", width=200, height=100))
    one, two, other = shapes(root, "rect")
    assert [bar["height"] for bar in (one, two, other)] == ["100", "50", "20"]
    assert float(one["x"]) + float(one["width"]) == float(two["x"])
    assert float(other["x"]) - float(two["x"]) == 100


def test_points_lie_where_logarithms_say() -> None:
    rows = [
        {"n": n, "seconds": seconds} for n, seconds in ((1, 10), (10, 1), (100, 100), (0, 5), (5, None), (7, math.inf))
    ]
    root, _ = drawn(charts.lines(rows, "n", "seconds", log_x=True, log_y=True, width=200, height=200))
    places = [(mark["cx"], mark["cy"]) for mark in shapes(root, "circle")]
    assert places == [("0", "100"), ("100", "200"), ("200", "0")], "what has no place on an axis is left out"


def test_lines_run_from_left_to_right() -> None:
    rows = [{"x": x, "y": x} for x in (4, 0, 2)]
    _, text = drawn(charts.lines(rows, "x", "y", width=400, height=400))
    assert 'd="M0 400L200 200L400 0"' in text


def test_the_frontier_has_steps() -> None:
    rows = [{"x": x, "y": y, "s": "a", "l": "b"} for x, y in ((0, 4), (2, 2), (4, 0))]
    root, _ = drawn(charts.scatter(rows, "x", "y", "s", label="l", frontier=rows[::-1]))
    (steps,) = (path["d"] for path in shapes(root, "path") if "stroke-dasharray" in path)
    points = [tuple(map(float, step.split())) for step in steps[1:].split("L")]
    assert [one[0] == other[0] for one, other in zip(points, points[1:], strict=False)] == [False, True, False, True]
    assert points == sorted(points)


def test_a_picture_has_a_name() -> None:
    root, _ = drawn(charts.bars(ROWS, "loss", "beta", title="Loss & risk"))
    assert (root.get("role"), root.get("aria-label")) == ("img", "Loss & risk")
    root, _ = drawn(charts.columns(ROWS, "beta", "loss", y_title="mean loss"))
    assert root.get("aria-label") == "mean loss by beta"
    assert charts.svg(charts.lines([], "a", "b")) == charts.lines([], "a", "b")._repr_svg_()


def test_marks_tell_their_numbers() -> None:
    root, _ = drawn(charts.lines(ROWS, "beta", "loss", "method"))
    assert "beta: 3; loss: 0.3333; method: <groups> & co" in root.itertext()


Draw = Callable[[list[dict[str, Any]]], charts.Chart]
KINDS: dict[str, Draw] = {
    "lines": lambda rows: charts.lines(rows, "x", "y", "name", low="low", high="y", title="Lines"),
    "lines over names": lambda rows: charts.lines(rows, "name", "y", title=rows[0]["name"] if rows else ""),
    "scatter": lambda rows: charts.scatter(rows, "x", "y", "name", label="name", frontier=rows[:3]),
    "scatter of shares": lambda rows: charts.scatter(rows, "low", "y", "other", label="name", percent=True),
    "bars": lambda rows: charts.bars(rows, "y", "name", "other"),
    "bars alone": lambda rows: charts.bars(rows, "y", "name", percent=True),
    "columns": lambda rows: charts.columns(rows, "name", "y", "other"),
    "spans": lambda rows: charts.spans(rows, "name", {"low": "the low", "x": "the x", "y": "the y"}, limit="y"),
    "boxes": lambda rows: charts.boxes(
        [{**row, "x_end": row["low"], "y_end": row["x"]} for row in rows],
        rows,
        "x",
        "y",
        "name",
        shape="other",
        legend=True,
    ),
    "boxes without groups": lambda rows: charts.boxes([], rows, "x", "y", "no such", shape="name"),
    "tiles": lambda rows: charts.tiles(rows, "name", "other", "name", label="other"),
    "shaded tiles": lambda rows: charts.tiles(rows, "name", "other", "x", label="name", up=True),
}


def check(text: str) -> None:
    """Well-formed, all numbers finite, no size below 0, and all shapes inside the picture."""
    root = ElementTree.fromstring(text)
    assert not re.search(
        r'[" ,(ML](?:nan|-?inf|None)\b', re.sub(">[^<]*<", "><", re.sub('aria-label="[^"]*"', "", text))
    )
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    assert min(width, height) > 0
    assert root.get("aria-label")
    for one in root.iter():
        places: list[tuple[float, float]] = []
        if one.tag == f"{SVG}path":
            places = [tuple(map(float, step.split())) for step in re.split("[ML]", one.attrib["d"]) if step]  # type: ignore[misc]
        elif one.tag == f"{SVG}polygon":
            places = [tuple(map(float, step.split(","))) for step in one.attrib["points"].split()]  # type: ignore[misc]
        elif one.tag == f"{SVG}circle":
            at, down, half = (float(one.attrib[name]) for name in ("cx", "cy", "r"))
            places = [(at - half, down - half), (at + half, down + half)]
        elif one.tag == f"{SVG}rect":
            at, down, wide, high = (float(one.attrib[name]) for name in ("x", "y", "width", "height"))
            assert min(wide, high) >= 0
            places = [(at, down), (at + wide, down + high)]
        elif one.tag == f"{SVG}text" and "x" in one.attrib:
            places = [(float(one.attrib["x"]), float(one.attrib["y"]))]
        assert all(left <= at <= left + width and top <= down <= top + height for at, down in places), one.attrib


FINITE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000) | st.floats(0, 1)
ROW = st.fixed_dictionaries(
    {"x": FINITE, "y": FINITE, "low": FINITE, "name": st.text(max_size=40), "other": st.text(max_size=3)}
)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=st.lists(ROW, max_size=8))
@settings(max_examples=examples(40))
def test_whatever_the_rows_pictures_are_whole(kind: str, rows: list[dict[str, Any]]) -> None:
    check(charts.svg(KINDS[kind](rows)))


@given(rows=st.lists(st.fixed_dictionaries({"x": st.floats(5e-324, 1e308), "y": st.floats(1e-9, 1e9)}), max_size=8))
def test_whatever_the_rows_logarithms_are_whole(rows: list[dict[str, Any]]) -> None:
    check(charts.svg(charts.lines(rows, "x", "y", log_x=True, log_y=True)))
    named = [{**row, "name": "a"} for row in rows]
    check(charts.svg(charts.scatter(named, "x", "y", "name", label="name", log_x=True, log_y=True)))


HOSTILE = (
    "constructor", "__proto__", "a.b", "a[0]", "<script>alert(1)</script>", "]]>", "&amp;", '" onload="x',
    "\x1b[31m\x00", "\ud800", "\U0001f600", "\u2028", "x" * 500, "", " ", "{{ 7 * 7 }}", "\u202e",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_only_names(kind: str) -> None:
    """Columns and values of a table may be called anything; with Vega-Lite some broke a picture, or the process."""
    rows = [{"x": turn, "y": turn, "low": 0, "name": name, "other": name} for turn, name in enumerate(HOSTILE)]
    text = charts.svg(KINDS[kind](rows))
    check(text)
    assert {one.tag.removeprefix(SVG) for one in ElementTree.fromstring(text).iter()} <= {
        "svg", "path", "text", "title", "rect", "circle", "polygon",
    }  # fmt: skip
    assert "onload" not in re.sub(">[^<]*<", "><", text).replace("&quot; onload=", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_columns_may_have_any_name(name: str) -> None:
    rows = [{name: turn, "y": f"row {turn}"} for turn in range(3)]
    root, _ = drawn(charts.bars(rows, name, "y", width=200))
    assert [bar["width"] for bar in shapes(root, "rect")] == ["0", "100", "200"]
    check(charts.svg(charts.lines([{name: turn, f"{name} ": turn} for turn in range(3)], name, f"{name} ")))


def test_the_bytes_are_the_same_everywhere() -> None:
    """A release folder's report is made again byte for byte by its audit, by other versions of Python as well."""
    rows = [
        {"x": turn**1.5, "y": math.sqrt(turn) / 3, "low": 0.1, "name": f"n{turn}", "other": "ab"[turn % 2]}
        for turn in range(5)
    ]
    whole = "".join(charts.svg(draw(rows)) for draw in KINDS.values())
    assert hashlib.sha256(whole.encode()).hexdigest()[:16] == "87d2f8be5837bd92"
