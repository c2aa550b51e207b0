"""The kinds of charts: lines, scattered marks with a frontier, bars, columns, spans between marks, boxes and tiles.

Labels of a scatter stand beside their marks, on no other mark and on no other label; their places are in pixels, from
the left and from the top.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lookalike.evaluation.charts.style import (
    COLOURS,
    DARK,
    INK,
    PERCENTS,
    SHADES,
    Chart,
    Row,
    Scale,
    axis_of,
    colour_of,
    finish_chart,
    layer_of,
    names_of,
    numbers,
    shape_of,
    words,
)


def lines(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str | None = None,
    *,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    low: str | None = None,
    high: str | None = None,
    width: int = 400,
    height: int = 260,
) -> Chart:
    """A line for each series, a mark at each point; from `low` to `high` a rule where both are named."""
    encoding = {"x": axis_of(x, x_title, log_x, False, rows)}
    upright = axis_of(y, y_title or y, log_y, True)
    marked: dict[str, Any] = {}
    if series is not None:
        order = names_of(rows, series)
        encoding["color"] = colour_of(series, order)
        marked = {"shape": shape_of(series, order)}
    layers = [
        layer_of("line", rows, {**encoding, "y": upright}, strokeWidth=1.8),
        layer_of("point", rows, {**encoding, **marked, "y": upright}, filled=True, size=45),
    ]
    if low is not None and high is not None:
        ends = {"y": axis_of(low, y_title or y, log_y, True), "y2": {"field": high}}
        layers.insert(0, layer_of("rule", rows, {**encoding, **ends}, strokeWidth=1.2))
    return finish_chart(layers, title, width, height)


def scatter(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str,
    *,
    label: str,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    frontier: Sequence[Row] = (),
    percent: bool = False,
    width: int = 480,
    height: int = 320,
) -> Chart:
    """A mark for each row, with its label beside it; `frontier` rows are joined by a line of steps.

    A label goes where it covers no mark and no other label; those of the frontier choose first, and one that finds no
    room is left out.
    """
    order = names_of(rows, series)
    x_scale = Scale.of([row[x] for row in rows], log_x, width)
    y_scale = Scale.of([row[y] for row in rows], log_y, height, zero=True)
    axis = PERCENTS if percent else {}
    places = {
        "x": numbers(x, x_title, scale=x_scale.draw(), axis=axis),
        "y": numbers(y, y_title, scale=y_scale.draw(), axis=axis),
    }
    seen = {"color": colour_of(series, order), "shape": shape_of(series, order)}
    layers = [layer_of("point", rows, {**places, **seen}, filled=True, size=70)]
    if frontier:
        steps = layer_of(
            "line", frontier, places, interpolate="step-after", strokeDash=[4, 3], color=INK, strokeWidth=1.2
        )
        layers.insert(0, steps)
    ordered = [*(row for row in rows if row in frontier), *(row for row in rows if row not in frontier)]
    marks = [(x_scale.place(row[x]), height - y_scale.place(row[y])) for row in ordered]
    corners = [(x_scale.place(row[x]), height - y_scale.place(row[y])) for row in frontier]
    sides = label_sides(marks, [str(row[label]) for row in ordered], line_of_steps(sorted(corners)), width, height)
    for side in dict.fromkeys(side for side in sides if side is not None):
        beside = [row for row, chosen in zip(ordered, sides, strict=True) if chosen == side]
        right, down, align = side
        text = {**places, "text": {"field": label, "type": "nominal"}}
        look = {"align": align, "dx": right, "dy": down, "baseline": "middle", "fontSize": 10, "color": INK}
        layers.append(layer_of("text", beside, text, **look))
    return finish_chart(layers, title, width, height)


def bars(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str | None = None,
    *,
    title: str = "",
    x_title: str | None = None,
    percent: bool = False,
    width: int = 400,
) -> Chart:
    """Horizontal bars, y being the names, in the order of the rows."""
    names, order = names_of(rows, y), [""]
    along = axis_of(x, x_title, log=False, zero=False) | ({"axis": PERCENTS} if percent else {})
    encoding = {"x": along, "y": words(y, names, title=None)}
    style: dict[str, Any] = {"color": COLOURS[0]}
    if series is not None:
        order, style = names_of(rows, series), {}
        encoding |= {"color": colour_of(series, order), "yOffset": words(series, order)}
    drawn = layer_of("bar", rows, encoding, **style)
    return finish_chart([drawn], title, width, max(40, 14 * len(names) * len(order)))


def columns(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str | None = None,
    *,
    x_title: str | None = None,
    y_title: str | None = None,
    width: int = 400,
    height: int = 200,
) -> Chart:
    """Upright bars of shares, x being the names, in the order of the rows; side by side for each series."""
    across = words(x, names_of(rows, x), title=x if x_title is None else x_title, axis={"labelAngle": 0})
    encoding = {"x": across, "y": numbers(y, y_title, axis=PERCENTS)}
    style: dict[str, Any] = {"color": COLOURS[0]}
    if series is not None:
        order, style = names_of(rows, series), {}
        encoding |= {"color": colour_of(series, order), "xOffset": words(series, order)}
    drawn = layer_of("bar", [{**row, x: str(row[x])} for row in rows], encoding, **style)
    return finish_chart([drawn], "", width, height)


def spans(
    rows: Sequence[Row],
    y: str,
    marks: Mapping[str, str],
    *,
    x_title: str = "",
    limit: str | None = None,
    width: int = 400,
) -> Chart:
    """A line for each row, y being its name, from the least to the greatest of its marks, which are shares.

    `marks` gives what each number of a row is called; rows may lack some (None). The one named `limit` is drawn as a
    wall.
    """
    names = [str(row[y]) for row in rows]
    points = [
        {y: str(row[y]), "mark": called, "at": row[field]}
        for row in rows
        for field, called in marks.items()
        if row.get(field) is not None
    ]
    ends = [
        {y: name, "low": min(at), "high": max(at)}
        for name, row in zip(names, rows, strict=True)
        if (at := [row[field] for field in marks if row.get(field) is not None])
    ]
    shown = [called for called in marks.values() if any(point["mark"] == called for point in points)]
    walls = [] if limit is None else [marks[limit]]
    shares = {"scale": {"zero": True}, "axis": PERCENTS}
    upright = words(y, names, title=None, axis={"labelLimit": 220})
    reach = {"x": numbers("low", x_title, **shares), "x2": {"field": "high"}, "y": upright}
    seen = {"color": colour_of("mark", shown), "shape": shape_of("mark", shown, walls)}
    drawn = [
        layer_of("rule", ends, reach, color=INK, strokeWidth=1.2, opacity=0.7),
        layer_of(
            "point",
            points,
            {"x": numbers("at", x_title, **shares), "y": upright, **seen},
            filled=True,
            size=60,
            opacity=1,
        ),
    ]
    return finish_chart(drawn, "", width, max(40, 20 * len(names)), legend="top")


def boxes(
    frames: Sequence[Row],
    points: Sequence[Row],
    x: str,
    y: str,
    series: str,
    *,
    shape: str,
    title: str = "",
    y_title: str | None = None,
    legend: bool = False,
    width: int = 420,
    height: int = 280,
) -> Chart:
    """Rectangles over two columns, and points: what a published row covers, and what lies in it.

    A frame has `x`, `y` and their other ends under the same names with `_end`. Frames and points of one `series` have
    one colour. Points without one are grey, and large if they are not of the first `shape`. Points have a mark for each
    `shape`, in the order of first appearance. The legend explains shapes, and colours if `legend` asks for it.
    """
    order, kinds = names_of(frames, series), names_of(points, shape)
    colour = {"color": colour_of(series, order) | {"legend": {"symbolOpacity": 1} if legend else None}}
    places = {
        axis: numbers(name, shown, scale=Scale.of(ends, False, 1).draw())
        for axis, name, shown in (("x", x, None), ("y", y, y_title))
        for ends in [[row[name] for row in (*frames, *points)] + [row[f"{name}_end"] for row in frames]]
    }
    framed = {**places, "x2": {"field": f"{x}_end"}, "y2": {"field": f"{y}_end"}, **colour}
    marked = {**places, "shape": shape_of(shape, kinds)}
    if all(series in row for row in points):
        marks = layer_of("point", points, {**marked, **colour}, filled=True, size=42, opacity=1)
    else:
        usual = {"condition": {"test": {"field": shape, "equal": kinds[0]}, "value": 22}, "value": 130}
        marks = layer_of("point", points, {**marked, "size": usual}, filled=True, opacity=1, color=INK)
    layers = [
        layer_of("rect", frames, framed, opacity=0.14),
        layer_of("rect", frames, framed, filled=False, strokeWidth=1.4),
        marks,
    ]
    return finish_chart(layers, title, width, height, legend="bottom")


def tiles(
    rows: Sequence[Row],
    x: str,
    y: str,
    fill: str,
    *,
    label: str,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    legend: bool = True,
    size: int = 22,
    up: bool = False,
) -> Chart:
    """A tile for each row, coloured by `fill`: a name has its colour, a number is the darker the larger.

    Every tile has its label in it, so nobody depends on the colours. Columns and lines keep the order of the rows;
    `up` has the first line at the bottom.
    """
    gap = {"paddingInner": 0.06, "paddingOuter": 0.06}
    across, along = names_of(rows, x), names_of(rows, y)
    places = {
        "x": words(x, across, title=x if x_title is None else x_title, scale=gap),
        "y": words(y, along[::-1] if up else along, title=y if y_title is None else y_title, scale=gap),
    }
    if any(isinstance(row[fill], str) for row in rows):
        order = sorted({str(row[fill]) for row in rows})
        colour = colour_of(fill, order)
        dark: Any = {"field": fill, "oneOf": [name for turn, name in enumerate(order) if turn % len(COLOURS) in DARK]}
    else:
        most = max(row[fill] for row in rows)
        colour = numbers(fill, scale={"domain": [0, most], "range": list(SHADES)}) | {"title": None}
        dark = {"field": fill, "gt": most / 2}
    colour |= {} if legend else {"legend": None}
    letters = {"condition": {"test": dark, "value": "white"}, "value": "black"}
    label_text = {"text": {"field": label, "type": "nominal"}, "color": letters}
    layers = [
        layer_of("rect", rows, {**places, "color": colour}),
        layer_of("text", rows, {**places, **label_text}, fontSize=10),
    ]
    return finish_chart(layers, title, size * len(across), size * len(along), legend="bottom")


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
