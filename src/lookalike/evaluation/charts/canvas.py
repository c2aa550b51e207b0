"""A picture while it is drawn: SVG elements, and the box around them, which becomes the size of the picture.

The top left corner of the plot is the origin, so axes and legends have negative places or lie beyond its ends. All
texts are escaped here, and all numbers rounded, so that the bytes are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Literal

from lookalike.evaluation.charts.style import FONT, INK, LARGE, SMALL, Look, clean, measure_text, shorten

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
_MARGIN = 5
_LONGEST = 700
"""Pixels of a text, beyond which it is shortened."""


class Chart:
    """A picture, with a name for screen readers; notebooks show it."""

    def __init__(self, width: float, height: float, name: str) -> None:
        self.width, self.height, self.name = width, height, name
        self.box: Box = (0, 0, width, height)
        self._elements: list[str] = []

    def _repr_svg_(self) -> str:
        left, top = (math.floor(end) - _MARGIN for end in self.box[:2])
        width, height = math.ceil(self.box[2]) + _MARGIN - left, math.ceil(self.box[3]) + _MARGIN - top
        return element(
            "svg", "\n".join(["", *self._elements, ""]), xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"{left} {top} {width} {height}", role="img", aria_label=self.name, font_family=FONT,
            font_size=SMALL, fill=INK,
        )  # fmt: skip

    def draw(self, kind: str, box: Box, told: str = "", **attributes: Any) -> None:
        """An element; `told` is shown where the pointer rests on it."""
        self._elements.append(element(kind, element("title", _text_of(told)) if told else "", **attributes))
        self._extend(box)

    def trace(self, lines: Iterable[Sequence[Point]], **attributes: Any) -> None:
        """Lines through points, as one element."""
        drawn = [line for line in lines if line]
        if drawn:
            path = "".join("M" + "L".join(f"{figure(x)} {figure(y)}" for x, y in line) for line in drawn)
            box = box_around([(*point, *point) for line in drawn for point in line])
            self.draw("path", box, d=path, **{"fill": "none", "stroke": INK, **attributes})

    def fill(self, corner: Point, other: Point, told: str = "", **attributes: Any) -> None:
        """A rectangle between two corners."""
        left, top, right, bottom = box_around([(*corner, *other)])
        size = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        self.draw("rect", (left, top, right, bottom), told, **size, **attributes)

    def mark(self, x: float, y: float, look: Look, size: float, told: str = "", **attributes: Any) -> None:
        """A mark of a series, `size` being about its area."""
        painted = {"fill": "none", "stroke": look.colour, "stroke_width": 1.4} if look.hollow else {"fill": look.colour}
        half, look_of = math.sqrt(size) / 2, {**painted, **attributes}
        box = (x - 1.5 * half, y - 1.5 * half, x + 1.5 * half, y + 1.5 * half)
        if look.shape:
            corners = " ".join(f"{figure(x + half * right)},{figure(y + half * down)}" for right, down in look.shape)
            self.draw("polygon", box, told, points=corners, **look_of)
        else:
            self.draw("circle", box, told, cx=x, cy=y, r=half, **look_of)

    def write(
        self, text: str, x: float, y: float, anchor: Anchor = "start", *, size: int = SMALL, most: float = _LONGEST,
        turned: bool = False, colour: str | None = None, bold: bool = False,
    ) -> None:  # fmt: skip
        """A text whose middle line is at y; turned, it runs upwards, and its middle line is at x."""
        shown = shorten(clean(text), most, size)
        length, half = measure_text(shown, size) * (1.07 if bold else 1), 0.6 * size
        begin = {"start": 0.0, "middle": length / 2, "end": length}[anchor]
        look: dict[str, Any] = {"text_anchor": None if anchor == "start" else anchor, "fill": colour}
        look |= {"font_size": None if size == SMALL else size, "font_weight": "bold" if bold else None}
        inside = _text_of(shown) + (element("title", _text_of(text)) if shown != clean(text) else "")
        if turned:
            place = {"transform": f"translate({figure(x + 0.35 * size)} {figure(y)}) rotate(-90)"}
            self._extend((x - half, y + begin - length, x + half, y + begin))
        else:
            place = {"x": figure(x), "y": figure(y + 0.35 * size)}
            self._extend((x - begin, y - half, x - begin + length, y + half))
        self._elements.append(element("text", inside, **place, **look))

    def name_it(self, title: str) -> None:
        """The title, above all that is there."""
        if title:
            self.name = title
            self.write(title, self.box[0], self.box[1] - LARGE, size=LARGE, bold=True)

    def _extend(self, box: Box) -> None:
        self.box = box_around([self.box, box])


def box_around(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts + rights), min(tops + bottoms), max(lefts + rights), max(tops + bottoms)


def element(kind: str, inside: str = "", **attributes: Any) -> str:
    """One element of SVG; attributes that are None are left out, and what is inside is escaped already."""
    given = {name.replace("_", "-"): value for name, value in attributes.items() if value is not None}
    texts = {name: _text_of(value) if isinstance(value, str) else figure(value) for name, value in given.items()}
    said = "".join(f' {name}="{text}"' for name, text in texts.items())
    return f"<{kind}{said}>{inside}</{kind}>" if inside else f"<{kind}{said}/>"


def _text_of(text: str) -> str:
    return escape(clean(text))


def figure(number: float) -> str:
    """A number with two decimals at most.

    >>> figure(12.5), figure(-0.001), figure(3)
    ('12.5', '0', '3')
    """
    said = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if said == "-0" else said
