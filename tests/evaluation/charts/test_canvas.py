"""SVG elements: escaped, rounded, and inside the picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lookalike.evaluation.charts.canvas import Chart, box_around, element, figure
from lookalike.evaluation.charts.style import CIRCLE, SQUARE, Look

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (-0.0, "0"), (-0.004, "0"), (100, "100"), (1 / 3, "0.33"), (12.5, "12.5"), (1e6, "1000000")],
)
def test_numbers_have_two_decimals_at_most(number: float, text: str) -> None:
    assert figure(number) == text


def test_elements_are_escaped() -> None:
    assert element("a", stroke_width=1.5, title='"<&>"', gone=None) == (
        '<a stroke-width="1.5" title="&quot;&lt;&amp;&gt;&quot;"/>'
    )


def test_the_picture_grows_with_what_is_drawn() -> None:
    chart = Chart(100, 50, "A & B")
    chart.write("to the left", -20, 10, "end")
    chart.write("upwards", 50, -10, turned=True)
    chart.mark(120, 60, Look("#000000", SQUARE), 100, told="<told>")
    chart.mark(0, 0, Look("#000000", CIRCLE), 100)
    chart.trace([[], [(0, 0), (1, 80)]])
    chart.trace([])
    chart.name_it("")
    root = ElementTree.fromstring(chart._repr_svg_())
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    assert left < -20 - 40
    assert top < -10 - 30
    assert left + width > 125
    assert top + height > 80
    assert (root.get("width"), root.get("height")) == (str(int(width)), str(int(height)))
    assert (root.get("role"), root.get("aria-label")) == ("img", "A & B")
    assert [title.text for title in root.iter(f"{SVG}title")] == ["<told>"]
    assert len(list(root.iter(f"{SVG}path"))) == 1


def test_a_title_names_the_picture_and_what_is_too_long_is_told_in_full() -> None:
    chart = Chart(100, 50, "chart")
    chart.name_it("long " * 100)
    root = ElementTree.fromstring(chart._repr_svg_())
    assert root.get("aria-label") == "long " * 100
    (text,) = root.iter(f"{SVG}text")
    assert str(text.text).endswith("\u2026")
    assert text[0].text == "long " * 100
    assert float(str(root.get("width"))) < 800


def test_boxes_are_joined_whichever_corner_comes_first() -> None:
    assert box_around([(5, 0, 1, 2), (0, 9, 3, 4)]) == (0, 0, 5, 9)
