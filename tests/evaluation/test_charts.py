"""Pictures: drawn without a network, with a mark for each series, showing what they were given as text."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from lookalike.evaluation import charts
from lookalike.evaluation.charts.plots import label_box, label_sides, line_of_steps, overlap

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


@given(
    marks=st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), min_size=1, max_size=12),
    lengths=st.lists(st.integers(1, 20), min_size=12, max_size=12),
)
def test_labels_cover_no_mark_and_no_other_label(marks: list[tuple[float, float]], lengths: list[int]) -> None:
    labels = ["x" * length for length in lengths[: len(marks)]]
    sides = label_sides(marks, labels, line_of_steps(sorted(marks)), 300, 200)
    boxes = [
        label_box(*mark, label, side)
        for mark, label, side in zip(marks, labels, sides, strict=True)
        if side is not None
    ]
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert not any(overlap(boxes[place], other) for other in boxes[place + 1 :])
        assert not any(left < across < right and top < down < bottom for across, down in marks)
    if len(marks) == 1:
        assert sides != [None] or len(labels[0]) > 15


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
    marks = {"share": "share", "belief": "highest belief", "ceiling": "ceiling"}
    root, _ = drawn(charts.spans(rows, "value", marks, limit="ceiling"))
    words = " ".join(root.itertext())
    assert "<HIV>" in words
    assert "highest belief" in words
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


def test_characters_that_no_picture_can_hold_are_replaced() -> None:
    """Found by hand: an escape character in a value ended the whole process."""
    spec = {"a\x1b": ["\x00red\x1b[0m", {"b": "\ud800\ufffe\u2028\u2029"}], "kept": ["é 日本 \U0001f600\n", 1.5, None]}
    assert charts._drawable(spec) == {
        "a\ufffd": ["\ufffdred\ufffd[0m", {"b": "\ufffd" * 4}],
        "kept": ["é 日本 \U0001f600\n", 1.5, None],
    }
    for job in ("\x1b[31mcook", "cook\u2028"):
        ElementTree.fromstring(charts.svg(charts.bars([{"job": job, "n": 3}], "n", "job")))
