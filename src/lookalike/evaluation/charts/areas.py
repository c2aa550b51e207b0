"""Areas: boxes over two columns, and tiles with labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.evaluation.charts.style import (
    COLOURS,
    DARK,
    INK,
    SHADES,
    Chart,
    Row,
    Scale,
    colour_of,
    data_of,
    finish_chart,
    shape_of,
)


def boxes(
    frames: Sequence[Row],
    points: Sequence[Row],
    x: str,
    y: str,
    series: str,
    *,
    shape: str,
    title: str = "",
    x_title: str | None = None,
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

    order = list(dict.fromkeys(str(row[series]) for row in frames))
    colour = colour_of(series, order).legend(alt.Legend(symbolOpacity=1) if legend else None)
    kinds_of_axis: tuple[Any, Any] = alt.X, alt.Y
    x_axis, y_axis = (
        made(f"{name}:Q", title=name if shown is None else shown, scale=Scale.of(ends, False, 1).draw())
        for made, name, shown in zip(kinds_of_axis, (x, y), (x_title, y_title), strict=True)
        for ends in [[row[name] for row in (*frames, *points)] + [row[f"{name}_end"] for row in frames]]
    )
    drawn = alt.Chart(data_of(frames)).encode(x=x_axis, x2=f"{x}_end:Q", y=y_axis, y2=f"{y}_end:Q")
    marks = alt.Chart(data_of(points)).encode(x=x_axis, y=y_axis)
    kinds = list(dict.fromkeys(str(row[shape]) for row in points))
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
    across, along = ([*dict.fromkeys(str(row[name]) for row in rows)] for name in (x, y))
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
