"""The pictures, once: for reports, studies and comparisons. Data in, SVG out; Altair says what, vl-convert draws.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart, and every series has a mark
of its own as well. Text and axes are of a grey that shows on white and on black, and there is no background, so the
same picture stands on a light page, on a dark one and on paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.charts.labels import label_sides, line_of_steps

Row = Mapping[str, Any]
Chart = Any
"""An Altair chart. The library is loaded by those who draw."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
INK = "#808080"
_DARK = (0,)
"""The places of the colours on which letters are white."""
_SHADES = ("#DCE9F5", "#003A66")
_MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
_WALL = "M-0.2,-1.5h0.4v3h-0.4Z"
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
    x_scale = _Scale.of([row[x] for row in rows], log_x, width)
    y_scale = _Scale.of([row[y] for row in rows], log_y, height, zero=True)
    axis = _percent() if percent else alt.Axis()
    x_axis = alt.X(f"{x}:Q", title=x if x_title is None else x_title, scale=x_scale.drawn(), axis=axis)
    y_axis = alt.Y(f"{y}:Q", title=y if y_title is None else y_title, scale=y_scale.drawn(), axis=axis)
    base = alt.Chart(_data(rows)).encode(x=x_axis, y=y_axis)
    layers = [base.mark_point(filled=True, size=70).encode(color=_colour(series, order), shape=_shape(series, order))]
    if frontier:
        steps = alt.Chart(_data(frontier)).encode(x=x_axis, y=y_axis)
        layers.insert(0, steps.mark_line(interpolate="step-after", strokeDash=[4, 3], color=INK, strokeWidth=1.2))
    if label is not None:
        ordered = [*(row for row in rows if row in frontier), *(row for row in rows if row not in frontier)]
        marks = [(x_scale.place(row[x]), height - y_scale.place(row[y])) for row in ordered]
        corners = [(x_scale.place(row[x]), height - y_scale.place(row[y])) for row in frontier]
        sides = label_sides(marks, [str(row[label]) for row in ordered], line_of_steps(sorted(corners)), width, height)
        for side in dict.fromkeys(side for side in sides if side is not None):
            beside = [row for row, chosen in zip(ordered, sides, strict=True) if chosen == side]
            text = alt.Chart(_data(beside)).encode(x=x_axis, y=y_axis, text=f"{label}:N")
            right, down, align = side
            layers.append(text.mark_text(align=align, dx=right, dy=down, baseline="middle", fontSize=10, color=INK))
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
    percent: bool = False,
    width: int = 400,
) -> Chart:
    """Horizontal bars, y being the names, in the order of the rows."""
    import altair as alt

    names = list(dict.fromkeys(str(row[y]) for row in rows))
    base = alt.Chart(_data(rows)).encode(
        x=_axis(alt.X, x, x_title, log=False).axis(_percent() if percent else alt.Undefined),
        y=alt.Y(f"{y}:N", sort=names, title=y_title or None),
    )
    if series is None:
        drawn = base.mark_bar(color=COLOURS[0])
    else:
        order = list(dict.fromkeys(str(row[series]) for row in rows))
        drawn = base.mark_bar().encode(color=_colour(series, order), yOffset=alt.YOffset(f"{series}:N", sort=order))
    n_bars = len(names) * (1 if series is None else len({str(row[series]) for row in rows}))
    return _finished(drawn, title, width, max(40, 14 * n_bars))


def columns(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str | None = None,
    *,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    percent: bool = False,
    width: int = 400,
    height: int = 200,
) -> Chart:
    """Upright bars, x being the names, in the order of the rows; side by side for each series."""
    import altair as alt

    names = list(dict.fromkeys(str(row[x]) for row in rows))
    upright = alt.Y(f"{y}:Q", title=y if y_title is None else y_title, axis=_percent() if percent else alt.Axis())
    across = alt.X(f"{x}:N", sort=names, title=x if x_title is None else x_title, axis=alt.Axis(labelAngle=0))
    base = alt.Chart(_data([{**row, x: str(row[x])} for row in rows])).encode(x=across, y=upright)
    if series is None:
        return _finished(base.mark_bar(color=COLOURS[0]), title, width, height)
    order = list(dict.fromkeys(str(row[series]) for row in rows))
    drawn = base.mark_bar().encode(color=_colour(series, order), xOffset=alt.XOffset(f"{series}:N", sort=order))
    return _finished(drawn, title, width, height)


def spans(
    rows: Sequence[Row],
    y: str,
    marks: Mapping[str, str],
    *,
    title: str = "",
    x_title: str = "",
    limit: str | None = None,
    percent: bool = True,
    width: int = 400,
) -> Chart:
    """A line for each row, y being its name, from the least to the greatest of its marks.

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
    axis = _percent() if percent else alt.Axis()
    upright = alt.Y(f"{y}:N", sort=names, title=None, axis=alt.Axis(labelLimit=220))
    lines = alt.Chart(_data(ends)).mark_rule(color=INK, strokeWidth=1.2, opacity=0.7)
    dots = alt.Chart(_data(points)).mark_point(filled=True, size=60, opacity=1)
    drawn = alt.layer(
        lines.encode(x=alt.X("low:Q", title=x_title, scale=scale, axis=axis), x2="high:Q", y=upright),
        dots.encode(
            x=alt.X("at:Q", title=x_title, scale=scale, axis=axis),
            y=upright,
            color=_colour("mark", shown),
            shape=_shape("mark", shown, walls),
        ),
    )
    return _finished(drawn, title, width, max(40, 20 * len(names)), legend="top")


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
    colour = _colour(series, order).legend(alt.Legend(symbolOpacity=1) if legend else None)
    kinds_of_axis: tuple[Any, Any] = alt.X, alt.Y
    x_axis, y_axis = (
        made(f"{name}:Q", title=name if shown is None else shown, scale=_Scale.of(ends, False, 1).drawn())
        for made, name, shown in zip(kinds_of_axis, (x, y), (x_title, y_title), strict=True)
        for ends in [[row[name] for row in (*frames, *points)] + [row[f"{name}_end"] for row in frames]]
    )
    drawn = alt.Chart(_data(frames)).encode(x=x_axis, x2=f"{x}_end:Q", y=y_axis, y2=f"{y}_end:Q")
    marks = alt.Chart(_data(points)).encode(x=x_axis, y=y_axis)
    kinds = list(dict.fromkeys(str(row[shape]) for row in points))
    marks = marks.encode(shape=_shape(shape, kinds))
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
    return _finished(alt.layer(*layers), title, width, height, legend="bottom")


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
    base = alt.Chart(_data(rows)).encode(
        x=alt.X(f"{x}:N", sort=across, title=x if x_title is None else x_title, scale=gap),
        y=alt.Y(f"{y}:N", sort=along[::-1] if up else along, title=y if y_title is None else y_title, scale=gap),
    )
    if any(isinstance(row[fill], str) for row in rows):
        order = sorted({str(row[fill]) for row in rows})
        colour = _colour(fill, order)
        dark = [name for turn, name in enumerate(order) if turn % len(COLOURS) in _DARK]
        on_dark: Any = alt.FieldOneOfPredicate(field=fill, oneOf=dark)
    else:
        most = max(row[fill] for row in rows)
        colour = alt.Color(f"{fill}:Q", scale=alt.Scale(domain=[0, most], range=list(_SHADES)), title=None)
        on_dark = alt.FieldGTPredicate(field=fill, gt=most / 2)
    colour = colour if legend else colour.legend(None)
    letters = alt.condition(on_dark, alt.value("white"), alt.value("black"))
    drawn = alt.layer(
        base.mark_rect().encode(color=colour),
        base.mark_text(fontSize=10).encode(text=f"{label}:N", color=letters),
    )
    return _finished(drawn, title, size * len(across), size * len(along), legend="bottom")


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


def _percent() -> Any:
    import altair as alt

    return alt.Axis(format=".3~p", tickCount=8, labelFlush=False)


@dataclass(frozen=True)
class _Scale:
    """An axis whose ends are known before it is drawn, so that it is known where its points will lie."""

    low: float
    high: float
    log: bool
    pixels: int

    @classmethod
    def of(cls, values: Sequence[float], log: bool, pixels: int, zero: bool = False) -> _Scale:
        """An axis over the values, with some room at both ends."""
        least, most = min(values, default=0.0), max(values, default=1.0)
        if log:
            room = max(most / least, 1.1) ** 0.07
            return cls(least / room, most * room, log, pixels)
        if zero:
            least = min(least, 0.0)
        room = 0.07 * (most - least or abs(most) or 1.0)
        low = max(0.0, least - room) if least >= 0 else least - room
        return cls(low, most + room, log, pixels)

    def drawn(self) -> Any:
        import altair as alt

        return alt.Scale(type="log" if self.log else "linear", domain=[self.low, self.high], nice=False, zero=False)

    def place(self, value: float) -> float:
        """Pixels from the low end."""
        low, high, value = (math.log(end) if self.log else end for end in (self.low, self.high, value))
        return (value - low) / (high - low) * self.pixels


def _colour(series: str, order: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=order, range=[COLOURS[turn % len(COLOURS)] for turn in range(len(order))])
    return alt.Color(f"{series}:N", scale=scale, sort=order, title=None)


def _shape(series: str, order: list[str], walls: Sequence[str] = ()) -> Any:
    import altair as alt

    drawn = [_WALL if name in walls else _MARKS[turn % len(_MARKS)] for turn, name in enumerate(order)]
    scale = alt.Scale(domain=order, range=drawn)
    return alt.Shape(f"{series}:N", scale=scale, sort=order, title=None)


def _finished(chart: Chart, title: str, width: int, height: int, legend: str = "right") -> Chart:
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
        .configure_legend(
            labelColor=INK,
            titleColor=INK,
            symbolStrokeWidth=1.5,
            symbolBaseFillColor=INK,
            symbolBaseStrokeColor=INK,
            labelLimit=260,
            orient=legend,
        )
        .configure_title(color=INK, fontSize=13, anchor="start", fontWeight="bold")
    )
