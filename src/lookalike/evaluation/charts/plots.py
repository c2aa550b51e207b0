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
    SHADES,
    Chart,
    Row,
    Scale,
    axis_of,
    colour_of,
    data_of,
    finish_chart,
    names_of,
    percents,
    shape_of,
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
    import altair as alt

    x_axis, y_axis = axis_of(alt.X, x, x_title, log_x, rows), axis_of(alt.Y, y, y_title or y, log_y)
    plain = alt.Chart(data_of(rows)).encode(x=x_axis)
    marked = plain
    if series is not None:
        order = names_of(rows, series)
        plain = plain.encode(color=colour_of(series, order))
        marked = plain.encode(shape=shape_of(series, order))
    layers = [
        plain.mark_line(strokeWidth=1.8).encode(y=y_axis),
        marked.mark_point(filled=True, size=45).encode(y=y_axis),
    ]
    if low is not None and high is not None:
        ends = plain.encode(y=axis_of(alt.Y, low, y_title or y, log_y), y2=f"{high}:Q")
        layers.insert(0, ends.mark_rule(strokeWidth=1.2))
    return finish_chart(alt.layer(*layers), title, width, height)


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
    import altair as alt

    order = names_of(rows, series)
    x_scale = Scale.of([row[x] for row in rows], log_x, width)
    y_scale = Scale.of([row[y] for row in rows], log_y, height, zero=True)
    axis = percents() if percent else alt.Axis()
    x_axis = alt.X(f"{x}:Q", title=x if x_title is None else x_title, scale=x_scale.draw(), axis=axis)
    y_axis = alt.Y(f"{y}:Q", title=y if y_title is None else y_title, scale=y_scale.draw(), axis=axis)
    base = alt.Chart(data_of(rows)).encode(x=x_axis, y=y_axis)
    layers = [
        base.mark_point(filled=True, size=70).encode(color=colour_of(series, order), shape=shape_of(series, order))
    ]
    if frontier:
        steps = alt.Chart(data_of(frontier)).encode(x=x_axis, y=y_axis)
        layers.insert(0, steps.mark_line(interpolate="step-after", strokeDash=[4, 3], color=INK, strokeWidth=1.2))
    ordered = [*(row for row in rows if row in frontier), *(row for row in rows if row not in frontier)]
    marks = [(x_scale.place(row[x]), height - y_scale.place(row[y])) for row in ordered]
    corners = [(x_scale.place(row[x]), height - y_scale.place(row[y])) for row in frontier]
    sides = label_sides(marks, [str(row[label]) for row in ordered], line_of_steps(sorted(corners)), width, height)
    for side in dict.fromkeys(side for side in sides if side is not None):
        beside = [row for row, chosen in zip(ordered, sides, strict=True) if chosen == side]
        text = alt.Chart(data_of(beside)).encode(x=x_axis, y=y_axis, text=f"{label}:N")
        right, down, align = side
        layers.append(text.mark_text(align=align, dx=right, dy=down, baseline="middle", fontSize=10, color=INK))
    return finish_chart(alt.layer(*layers), title, width, height)


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
    import altair as alt

    names = names_of(rows, y)
    base = alt.Chart(data_of(rows)).encode(
        x=axis_of(alt.X, x, x_title, log=False).axis(percents() if percent else alt.Undefined),
        y=alt.Y(f"{y}:N", sort=names, title=None),
    )
    drawn, order = base.mark_bar(color=COLOURS[0]), [""]
    if series is not None:
        order = names_of(rows, series)
        drawn = base.mark_bar().encode(color=colour_of(series, order), yOffset=alt.YOffset(f"{series}:N", sort=order))
    return finish_chart(drawn, title, width, max(40, 14 * len(names) * len(order)))


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
    import altair as alt

    names = names_of(rows, x)
    upright = alt.Y(f"{y}:Q", title=y if y_title is None else y_title, axis=percents())
    across = alt.X(f"{x}:N", sort=names, title=x if x_title is None else x_title, axis=alt.Axis(labelAngle=0))
    base = alt.Chart(data_of([{**row, x: str(row[x])} for row in rows])).encode(x=across, y=upright)
    drawn = base.mark_bar(color=COLOURS[0])
    if series is not None:
        order = names_of(rows, series)
        drawn = base.mark_bar().encode(color=colour_of(series, order), xOffset=alt.XOffset(f"{series}:N", sort=order))
    return finish_chart(drawn, "", width, height)


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
    import altair as alt

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
    scale = alt.Scale(zero=True)
    walls = [] if limit is None else [marks[limit]]
    axis = percents()
    upright = alt.Y(f"{y}:N", sort=names, title=None, axis=alt.Axis(labelLimit=220))
    lines = alt.Chart(data_of(ends)).mark_rule(color=INK, strokeWidth=1.2, opacity=0.7)
    dots = alt.Chart(data_of(points)).mark_point(filled=True, size=60, opacity=1)
    drawn = alt.layer(
        lines.encode(x=alt.X("low:Q", title=x_title, scale=scale, axis=axis), x2="high:Q", y=upright),
        dots.encode(
            x=alt.X("at:Q", title=x_title, scale=scale, axis=axis),
            y=upright,
            color=colour_of("mark", shown),
            shape=shape_of("mark", shown, walls),
        ),
    )
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
    import altair as alt

    order = names_of(frames, series)
    colour = colour_of(series, order).legend(alt.Legend(symbolOpacity=1) if legend else None)
    kinds_of_axis: tuple[Any, Any] = alt.X, alt.Y
    x_axis, y_axis = (
        made(f"{name}:Q", title=name if shown is None else shown, scale=Scale.of(ends, False, 1).draw())
        for made, name, shown in zip(kinds_of_axis, (x, y), (None, y_title), strict=True)
        for ends in [[row[name] for row in (*frames, *points)] + [row[f"{name}_end"] for row in frames]]
    )
    drawn = alt.Chart(data_of(frames)).encode(x=x_axis, x2=f"{x}_end:Q", y=y_axis, y2=f"{y}_end:Q")
    marks = alt.Chart(data_of(points)).encode(x=x_axis, y=y_axis)
    kinds = names_of(points, shape)
    marks = marks.encode(shape=shape_of(shape, kinds))
    if all(series in row for row in points):
        marks = marks.mark_point(filled=True, size=42, opacity=1).encode(color=colour)
    else:
        usual = alt.FieldEqualPredicate(field=shape, equal=kinds[0])
        sizes = alt.condition(usual, alt.value(22), alt.value(130))
        marks = marks.mark_point(filled=True, opacity=1, color=INK).encode(size=sizes)
    layers = [
        drawn.mark_rect(opacity=0.14).encode(color=colour),
        drawn.mark_rect(filled=False, strokeWidth=1.4).encode(color=colour),
        marks,
    ]
    return finish_chart(alt.layer(*layers), title, width, height, legend="bottom")


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
    import altair as alt

    gap = alt.Scale(paddingInner=0.06, paddingOuter=0.06)
    across, along = names_of(rows, x), names_of(rows, y)
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X(f"{x}:N", sort=across, title=x if x_title is None else x_title, scale=gap),
        y=alt.Y(f"{y}:N", sort=along[::-1] if up else along, title=y if y_title is None else y_title, scale=gap),
    )
    if any(isinstance(row[fill], str) for row in rows):
        order = sorted({str(row[fill]) for row in rows})
        colour = colour_of(fill, order)
        dark = [name for turn, name in enumerate(order) if turn % len(COLOURS) in DARK]
        on_dark: Any = alt.FieldOneOfPredicate(field=fill, oneOf=dark)
    else:
        most = max(row[fill] for row in rows)
        colour = alt.Color(f"{fill}:Q", scale=alt.Scale(domain=[0, most], range=list(SHADES)), title=None)
        on_dark = alt.FieldGTPredicate(field=fill, gt=most / 2)
    colour = colour if legend else colour.legend(None)
    letters = alt.condition(on_dark, alt.value("white"), alt.value("black"))
    drawn = alt.layer(
        base.mark_rect().encode(color=colour),
        base.mark_text(fontSize=10).encode(text=f"{label}:N", color=letters),
    )
    return finish_chart(drawn, title, size * len(across), size * len(along), legend="bottom")


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
