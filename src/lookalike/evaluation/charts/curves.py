"""Points in a plane: lines by series, and scattered marks with labels and a frontier."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.evaluation.charts.labels import label_sides, line_of_steps
from lookalike.evaluation.charts.style import (
    INK,
    Chart,
    Row,
    Scale,
    axis_of,
    colour_of,
    data_of,
    finish_chart,
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
        order = list(dict.fromkeys(str(row[series]) for row in rows))
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
    label: str | None = None,
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

    order = list(dict.fromkeys(str(row[series]) for row in rows))
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
    if label is not None:
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
