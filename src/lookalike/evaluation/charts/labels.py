"""Where the labels of a scatter stand: beside their marks, on no other mark and on no other label.

All in pixels, from the left and from the top.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal

Side = tuple[int, int, Literal["left", "center", "right"]]
_ACROSS: tuple[tuple[int, Literal["left", "center", "right"]], ...] = ((8, "left"), (-8, "right"), (0, "center"))
_SIDES: tuple[Side, ...] = tuple(
    (right, down, align) for down in (-6, 6, 0, -13, 13, -20, 20) for right, align in _ACROSS if right or abs(down) > 9
)
"""Where a label may stand: how far to the right and down of its mark, and which end of it that is."""
Point = tuple[float, float]
Box = tuple[float, float, float, float]
_LETTER, _LINE, _MARK = 5.4, 10.0, 5.0


def label_sides(
    marks: Sequence[Point], labels: Sequence[str], lines: Sequence[Box], width: int, height: int
) -> list[Side | None]:
    """For each label in turn the best side with room; None if there is no room."""
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
        chosen = min(free, key=lambda one: _doubt(one[1], (left, top), marks, lines), default=None)
        if chosen is not None:
            taken.append(chosen[1])
        found.append(None if chosen is None else chosen[0])
    return found


def _doubt(box: Box, own: Point, marks: Sequence[Point], lines: Sequence[Box]) -> int:
    """How hard a label is to read there: another mark is as near as its own (2), or lies on a line (1)."""
    beyond = _distance(box, own)
    nearer = any(mark != own and _distance(box, mark) <= beyond for mark in marks)
    return 2 * nearer + any(overlap(box, line) for line in lines)


def _distance(box: Box, mark: Point) -> float:
    across = max(box[0] - mark[0], mark[0] - box[2], 0.0)
    return math.hypot(across, max(box[1] - mark[1], mark[1] - box[3], 0.0))


def line_of_steps(corners: Sequence[Point]) -> list[Box]:
    """The line of steps through the corners, as boxes: along to the next corner, then up or down to it."""
    return [
        box
        for (left, top), (right, down) in itertools.pairwise(corners)
        for box in ((left, top - 1, right, top + 1), (right - 1, min(top, down), right + 1, max(top, down)))
    ]


def label_box(left: float, top: float, label: str, side: Side) -> Box:
    length, (right, down, align) = _LETTER * len(label), side
    begin = left + right - {"left": 0.0, "center": length / 2, "right": length}[align]
    return begin, top + down - _LINE / 2, begin + length, top + down + _LINE / 2


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
