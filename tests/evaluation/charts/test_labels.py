"""Labels of a scatter: none on a mark, none on another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lookalike.evaluation.charts.labels import label_box, label_sides, line_of_steps, overlap
from lookalike.evaluation.charts.style import measure_text


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
        assert sides != [None] or measure_text(labels[0]) > 80


def test_a_label_leaves_the_line_of_the_frontier_free() -> None:
    marks = [(50.0, 100.0), (150.0, 60.0)]
    line = line_of_steps(marks)
    assert line == [(50.0, 100.0), (150.0, 100.0), (150.0, 60.0)]
    free, drawn = (label_sides(marks, ["a label", "another"], way, 300, 200) for way in ([], line))
    assert free[1] == drawn[1]
    for (left, top), side in zip(marks, drawn, strict=True):
        assert side is not None
        box = label_box(left, top, "a label", side)
        assert not overlap(box, (50, 99, 150, 101))
        assert not overlap(box, (149, 60, 151, 100))
