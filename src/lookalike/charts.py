"""The pictures, once: for reports, studies and comparisons. Data in, SVG out; Altair says what, vl-convert draws.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart, and every series has a mark
of its own as well. Text and axes are of a grey that shows on white and on black, and there is no background, so the
same picture stands on a light page, on a dark one and on paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Chart = Any
"""An Altair chart. The library is loaded by those who draw."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
INK = "#808080"
_MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
_FONT = "Helvetica, Arial, sans-serif"


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

    x_axis, y_axis = _axis(alt.X, x, x_title, log_x, rows), _axis(alt.Y, y, y_title or y, log_y)
    plain = alt.Chart(_data(rows)).encode(x=x_axis)
    marked = plain
    if series is not None:
        order = list(dict.fromkeys(str(row[series]) for row in rows))
        plain = plain.encode(color=_colour(series, order))
        marked = plain.encode(shape=_shape(series, order))
    layers = [
        plain.mark_line(strokeWidth=1.8).encode(y=y_axis),
        marked.mark_point(filled=True, size=45).encode(y=y_axis),
    ]
    if low is not None and high is not None:
        ends = plain.encode(y=_axis(alt.Y, low, y_title or y, log_y), y2=f"{high}:Q")
        layers.insert(0, ends.mark_rule(strokeWidth=1.2))
    return _finished(alt.layer(*layers), title, width, height)


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
    width: int = 480,
    height: int = 320,
) -> Chart:
    """A mark for each row, with its label beside it; `frontier` rows are joined by a line of steps."""
    import altair as alt

    order = list(dict.fromkeys(str(row[series]) for row in rows))
    x_axis, y_axis = _axis(alt.X, x, x_title, log_x), _axis(alt.Y, y, y_title, log_y)
    base = alt.Chart(_data(rows)).encode(x=x_axis, y=y_axis)
    layers = [base.mark_point(filled=True, size=70).encode(color=_colour(series, order), shape=_shape(series, order))]
    if frontier:
        steps = alt.Chart(_data(frontier)).encode(x=x_axis, y=y_axis)
        layers.insert(0, steps.mark_line(interpolate="step-after", strokeDash=[4, 3], color=INK, strokeWidth=1.2))
    if label is not None:
        layers.append(base.mark_text(align="left", dx=7, dy=-5, fontSize=10, color=INK).encode(text=f"{label}:N"))
    return _finished(alt.layer(*layers), title, width, height)


def bars(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str | None = None,
    *,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    width: int = 400,
) -> Chart:
    """Horizontal bars, y being the names, in the order of the rows."""
    import altair as alt

    names = list(dict.fromkeys(str(row[y]) for row in rows))
    base = alt.Chart(_data(rows)).encode(
        x=_axis(alt.X, x, x_title, log=False), y=alt.Y(f"{y}:N", sort=names, title=y_title or None)
    )
    if series is None:
        drawn = base.mark_bar(color=COLOURS[0])
    else:
        order = list(dict.fromkeys(str(row[series]) for row in rows))
        drawn = base.mark_bar().encode(color=_colour(series, order), yOffset=alt.YOffset(f"{series}:N", sort=order))
    n_bars = len(names) * (1 if series is None else len({str(row[series]) for row in rows}))
    return _finished(drawn, title, width, max(40, 14 * n_bars))


def svg(chart: Chart) -> str:
    """The picture as text, to stand in a page or a file by itself."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return drawn


def write_svg(chart: Chart, path: Path) -> None:
    path.write_text(svg(chart), encoding="utf-8")


def write_png(chart: Chart, path: Path, scale: float = 2.0) -> None:
    import vl_convert

    path.write_bytes(vl_convert.vegalite_to_png(chart.to_dict(), scale=scale))


def _data(rows: Sequence[Row]) -> Any:
    import altair as alt

    made: Any = alt.Data
    return made(values=[dict(row) for row in rows])


def _axis(kind: Any, name: str, title: str | None, log: bool, rows: Sequence[Row] = ()) -> Any:
    import altair as alt

    shown = name if title is None else title
    if any(isinstance(row.get(name), str) for row in rows):
        return kind(f"{name}:N", title=shown, sort=None, axis=alt.Axis(labelAngle=0))
    return kind(f"{name}:Q", title=shown, scale=alt.Scale(type="log") if log else alt.Scale(zero=kind is alt.Y))


def _colour(series: str, order: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=order, range=[COLOURS[turn % len(COLOURS)] for turn in range(len(order))])
    return alt.Color(f"{series}:N", scale=scale, sort=order, title=None)


def _shape(series: str, order: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=order, range=[_MARKS[turn % len(_MARKS)] for turn in range(len(order))])
    return alt.Shape(f"{series}:N", scale=scale, sort=order, title=None)


def _finished(chart: Chart, title: str, width: int, height: int) -> Chart:
    return (
        chart.properties(title=title, width=width, height=height, background="transparent")
        .configure(font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            domainColor=INK,
            tickColor=INK,
            gridColor=INK,
            gridOpacity=0.2,
            titleFontWeight="normal",
        )
        .configure_legend(labelColor=INK, titleColor=INK, symbolStrokeWidth=1.5, labelLimit=260)
        .configure_title(color=INK, fontSize=13, anchor="start", fontWeight="bold")
    )
