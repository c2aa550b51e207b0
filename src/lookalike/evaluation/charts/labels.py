"""Where the labels of a scatter lie: beside their marks, on no other mark and on no other label.

Places are in pixels, from the left and from the top.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from lookalike.evaluation.charts.canvas import Anchor, Box, Point
from lookalike.evaluation.charts.style import measure_text

Side = tuple[int, int, Anchor]
"""How far a label is to the right and down of its mark, and which end of it that is."""
_ACROSS: tuple[tuple[int, Anchor], ...] = ((8, "start"), (-8, "end"), (0, "middle"))
_SIDES: tuple[Side, ...] = tuple(
    (right, down, anchor)
    for down in (-6, 6, 0, -13, 13, -20, 20)
    for right, anchor in _ACROSS
    if right or abs(down) > 9
)
_LINE, _MARK = 10.0, 5.0


def label_sides(
    marks: Sequence[Point], labels: Sequence[str], line: Sequence[Point], width: float, height: float
) -> list[Side | None]:
    """For each label in turn the best side with room, if it can be off the line; None if there is no room."""
    parts = [
        (min(x, to_x) - 1, min(y, to_y) - 1, max(x, to_x) + 1, max(y, to_y) + 1)
        for (x, y), (to_x, to_y) in itertools.pairwise(line)
    ]
    taken: list[Box] = [(left - _MARK, top - _MARK, left + _MARK, top + _MARK) for left, top in marks]
    found: list[Side | None] = []
    for (left, top), label in zip(marks, labels, strict=True):
        boxes = [(side, label_box(left, top, label, side)) for side in _SIDES]
        free = [
            (side, box)
            for side, box in boxes
            if box[0] >= 0 and box[2] <= width + _MARK and box[1] >= -_LINE and box[3] <= height
            if not any(overlap(box, other) for other in taken)
        ]
        chosen = min(free, key=lambda one: _doubt(one[1], (left, top), marks, parts), default=None)
        if chosen is not None:
            begin, above, end, below = chosen[1]
            taken.append((begin - 4, above, end + 4, below))
        found.append(None if chosen is None else chosen[0])
    return found


def _doubt(box: Box, own: Point, marks: Sequence[Point], parts: Sequence[Box]) -> int:
    """How hard a label is to read there: another mark is as near as its own (2), or lies on a line (1)."""
    beyond = _distance(box, own)
    nearer = any(mark != own and _distance(box, mark) <= beyond for mark in marks)
    return 2 * nearer + any(overlap(box, part) for part in parts)


def _distance(box: Box, mark: Point) -> float:
    across = max(box[0] - mark[0], mark[0] - box[2], 0.0)
    return math.hypot(across, max(box[1] - mark[1], mark[1] - box[3], 0.0))


def line_of_steps(corners: Sequence[Point]) -> list[Point]:
    """From each corner along to the next, then up or down to it."""
    steps = [step for (x, y), (next_x, _) in itertools.pairwise(corners) for step in ((x, y), (next_x, y))]
    return [*steps, *corners[-1:]]


def label_box(left: float, top: float, label: str, side: Side) -> Box:
    length, (right, down, anchor) = measure_text(label), side
    begin = left + right - {"start": 0.0, "middle": length / 2, "end": length}[anchor]
    return begin, top + down - _LINE / 2, begin + length, top + down + _LINE / 2


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
