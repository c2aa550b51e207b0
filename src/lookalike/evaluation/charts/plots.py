"""The kinds of charts: lines, scattered marks with a frontier, bars, columns, spans between marks, boxes and tiles.

Rows without a number that an axis can show (none, infinite, or not above 0 on a logarithmic axis) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lookalike.evaluation.charts.axes import LegendSide, Names, Numbers, Scale, begin_chart, draw_legend
from lookalike.evaluation.charts.canvas import Chart
from lookalike.evaluation.charts.labels import label_sides, line_of_steps
from lookalike.evaluation.charts.style import DARK, INK, SQUARE, Look, Row, clean, looks_of, names_of, shade_of, shorten


def lines(
    rows: Sequence[Row], x: str, y: str, series: str | None = None, *, points: Sequence[Row] = (), title: str = "",
    x_title: str | None = None, y_title: str | None = None, log_x: bool = False, log_y: bool = False,
    low: str | None = None, high: str | None = None, whole_x: bool = False, width: int = 400, height: int = 260,
) -> Chart:  # fmt: skip
    """A line for each series, a mark at each point; from `low` to `high` a rule where both are named.

    `points` are series of marks that no line joins. With `whole_x` no tick of x is between whole numbers.
    """
    ends = None if low is None or high is None else (low, high)
    named = any(isinstance(row.get(x), str) for row in rows)
    rows = _keep_shown(_keep_shown(rows, () if named else (x,), log_x), (y, *(ends or ())), log_y)
    points = _keep_shown(_keep_shown(points, () if named else (x,), log_x), (y,), log_y)
    both = [*rows, *points]
    across: Scale = (
        Names(tuple(names_of(both, x)), width)
        if named
        else Numbers.over(_all(both, x), width, log=log_x, whole=whole_x)
    )
    heights = _all(rows, y, *(ends or ())) + _all(points, y)
    upward = Numbers.over(heights, height, log=log_y, zero=True, upward=True)
    chart = begin_chart(across, upward, x if x_title is None else x_title, y_title or y)
    looks = _looks(both, series)
    for name, look in looks.items():
        drawn = sorted((row for row in rows if _name(row, series) == name), key=lambda row: across.place(row[x]))
        places = [(across.place(row[x]), upward.place(row[y])) for row in drawn]
        if ends is not None:
            reach = [[(across.place(row[x]), upward.place(row[end])) for end in ends] for row in drawn]
            chart.trace(reach, stroke=look.colour, stroke_width=1.2)
        chart.trace([places], stroke=look.colour, stroke_width=1.8, stroke_dasharray="5 3" if look.hollow else None)
        for place, row in zip(places, drawn, strict=True):
            chart.mark(*place, look, 45, _tell(row, x, y, series))
        for row in (row for row in points if _name(row, series) == name):
            chart.mark(across.place(row[x]), upward.place(row[y]), look, 60, _tell(row, x, y, series))
    return _finish(chart, title, looks if series else {})


def scatter(
    rows: Sequence[Row], x: str, y: str, series: str, *, label: str, title: str = "", x_title: str | None = None,
    y_title: str | None = None, log_x: bool = False, log_y: bool = False, frontier: Sequence[Row] = (),
    percent: bool = False, width: int = 480, height: int = 320,
) -> Chart:  # fmt: skip
    """A mark for each row, with its label beside it; `frontier` rows are joined by a line of steps.

    A label goes where it covers no mark and no other label; those of the frontier choose first, and one that finds no
    room is left out.
    """
    rows, front = (_keep_shown(_keep_shown(some, (x,), log_x), (y,), log_y) for some in (rows, frontier))
    across = Numbers.over(_all(rows, x), width, log=log_x, room=True, percent=percent)
    upward = Numbers.over(_all(rows, y), height, log=log_y, room=True, percent=percent, zero=True, upward=True)
    chart = begin_chart(across, upward, x if x_title is None else x_title, y if y_title is None else y_title)
    looks = _looks(rows, series)
    ordered = [*(row for row in rows if row in front), *(row for row in rows if row not in front)]
    marks, corners = ([(across.place(row[x]), upward.place(row[y])) for row in some] for some in (ordered, front))
    line = line_of_steps(sorted(corners))
    chart.trace([line], stroke_width=1.2, stroke_dasharray="4 3")
    for place, row in zip(marks, ordered, strict=True):
        chart.mark(*place, looks[str(row[series])], 70, _tell(row, label, series, x, y), fill_opacity=0.8)
    labels = [shorten(clean(str(row[label])), 200) for row in ordered]
    sides = label_sides(marks, labels, line, width, height)
    for (left, top), said, side in zip(marks, labels, sides, strict=True):
        if side is not None:
            chart.write(said, left + side[0], top + side[1], side[2])
    return _finish(chart, title, looks)


def bars(
    rows: Sequence[Row], x: str, y: str, series: str | None = None, *, title: str = "", x_title: str | None = None,
    percent: bool = False, width: int = 400,
) -> Chart:  # fmt: skip
    """Horizontal bars, y being the names, in the order of the rows."""
    rows = _keep_shown(rows, (x,))
    names, looks = tuple(names_of(rows, y)), _looks(rows, series)
    along = Numbers.over(_all(rows, x), width, zero=True, percent=percent)
    bands = Names(names, max(40, 14 * len(names) * len(looks)), 0.2 if series else 0.1)
    chart = begin_chart(along, bands, x if x_title is None else x_title, "")
    return _draw_bars(chart, rows, bands, along, (y, x, series), looks, title)


def columns(
    rows: Sequence[Row], x: str, y: str, series: str | None = None, *, x_title: str | None = None,
    y_title: str | None = None, width: int = 400, height: int = 200,
) -> Chart:  # fmt: skip
    """Upright bars of shares, x being the names, in the order of the rows; side by side for each series."""
    rows = _keep_shown(rows, (y,))
    bands, looks = Names(tuple(names_of(rows, x)), width, 0.2 if series else 0.1), _looks(rows, series)
    upward = Numbers.over(_all(rows, y), height, zero=True, percent=True, upward=True)
    chart = begin_chart(bands, upward, x if x_title is None else x_title, y if y_title is None else y_title)
    return _draw_bars(chart, rows, bands, upward, (x, y, series), looks)


def _draw_bars(
    chart: Chart, rows: Sequence[Row], bands: Names, along: Numbers, fields: tuple[str, str, str | None],
    looks: Mapping[str, Look], title: str = "",
) -> Chart:  # fmt: skip
    """A bar from 0 for each row, those of one name side by side."""
    (name, number, series), thick, turns = fields, bands.band / max(1, len(looks)), list(looks)
    for row in rows:
        begin = bands.place(row[name]) - bands.band / 2 + thick * turns.index(_name(row, series))
        base, end = along.place(0), along.place(row[number])
        corners = ((begin, base), (begin + thick, end)) if along.upward else ((base, begin), (end, begin + thick))
        chart.fill(*corners, _tell(row, name, number, series), fill=looks[_name(row, series)].colour)
    return _finish(chart, title, {name: look._replace(shape=SQUARE) for name, look in looks.items()} if series else {})


def spans(
    rows: Sequence[Row], y: str, marks: Mapping[str, str], *, x_title: str = "", limit: str | None = None,
    width: int = 400,
) -> Chart:  # fmt: skip
    """A line for each row, y being its name, from the least to the greatest of its marks, which are shares.

    `marks` gives what each number of a row is called; rows may lack some (None). The one named `limit` is drawn as a
    wall.
    """
    held = [(row, {mark: row[mark] for mark in marks if _is_shown(row.get(mark))}) for row in rows]
    along = Numbers.over([at for _, found in held for at in found.values()], width, zero=True, percent=True)
    bands = Names(tuple(names_of(rows, y)), max(40, 20 * len(names_of(rows, y))))
    chart = begin_chart(along, bands, x_title, "", limit=220)
    looks = looks_of([mark for mark in marks if any(mark in found for _, found in held)], [limit or ""])
    reach = [[(along.place(end), bands.place(row[y])) for end in sorted(found.values())] for row, found in held]
    chart.trace(reach, stroke_width=1.2, stroke_opacity=0.7)
    for mark, look in looks.items():
        for row, found in held:
            if mark in found:
                told = _tell({y: row[y], marks[mark]: found[mark]}, y, marks[mark])
                chart.mark(along.place(found[mark]), bands.place(row[y]), look, 60, told)
    draw_legend(chart, {marks[mark]: look for mark, look in looks.items()}, "top")
    return chart


def boxes(
    frames: Sequence[Row], points: Sequence[Row], x: str, y: str, series: str, *, shape: str, title: str = "",
    y_title: str | None = None, legend: bool = False, width: int = 420, height: int = 280,
) -> Chart:  # fmt: skip
    """Rectangles over two columns, and points: what a published row covers, and what is in it.

    A frame has `x`, `y` and their other ends under the same names with `_end`. Frames and points of one `series` have
    one colour. Points without one are grey, and large if they are not of the first `shape`. Points have a mark for each
    `shape`, in the order of first appearance. The legend explains shapes, and colours if `legend` asks for it.
    """
    across, upward = (
        Numbers.over(_all(frames, name, f"{name}_end") + _all(points, name), pixels, room=True, upward=name == y)
        for name, pixels in ((x, width), (y, height))
    )
    chart = begin_chart(across, upward, x, y if y_title is None else y_title)
    colours = {name: look._replace(shape=SQUARE) for name, look in looks_of(names_of(frames, series)).items()}
    shapes = {name: look._replace(colour=INK) for name, look in looks_of(names_of(points, shape)).items()}
    for frame in frames:
        begin, end = ((across.place(frame[x + to]), upward.place(frame[y + to])) for to in ("", "_end"))
        colour = colours[str(frame[series])].colour
        chart.fill(begin, end, fill=colour, fill_opacity=0.14, stroke=colour, stroke_width=1.4)
    coloured = all(series in row for row in points)
    for row in points:
        look, first = shapes[str(row[shape])], str(row[shape]) == next(iter(shapes))
        seen = Look(colours[str(row[series])].colour, look.shape) if coloured else look
        chart.mark(across.place(row[x]), upward.place(row[y]), seen, 42 if coloured else 22 if first else 130)
    if legend:
        draw_legend(chart, colours, "bottom")
    return _finish(chart, title, shapes, "bottom")


def tiles(
    rows: Sequence[Row], x: str, y: str, fill: str, *, label: str, title: str = "", x_title: str | None = None,
    y_title: str | None = None, legend: bool = True, size: int = 22, up: bool = False,
) -> Chart:  # fmt: skip
    """A tile for each row, coloured by `fill`: a name has its colour, a number is the darker the larger.

    Every tile has its label in it, so nobody depends on the colours. Columns and lines keep the order of the rows;
    `up` has the first line at the bottom.
    """
    names, lines = names_of(rows, x), names_of(rows, y)
    across, along = (Names(tuple(some), size * len(some), 0.06) for some in (names, lines[::-1] if up else lines))
    chart = begin_chart(across, along, x if x_title is None else x_title, y if y_title is None else y_title)
    if any(isinstance(row[fill], str) for row in rows):
        looks = {name: look._replace(shape=SQUARE) for name, look in looks_of(sorted(names_of(rows, fill))).items()}
        colours = [looks[str(row[fill])].colour for row in rows]
        dark = [colour in DARK for colour in colours]
    else:
        most = max((row[fill] for row in rows), default=0) or 1
        colours, dark = [shade_of(row[fill] / most) for row in rows], [row[fill] > most / 2 for row in rows]
        ticks = Numbers.over([0, most], 200).ticks
        looks = {said: Look(shade_of(at / most), SQUARE) for at, said in ticks if at <= most}
    for row, colour, is_dark in zip(rows, colours, dark, strict=True):
        at, down, half = across.place(row[x]), along.place(row[y]), across.band / 2
        chart.fill((at - half, down - half), (at + half, down + half), fill=colour)
        chart.write(str(row[label]), at, down, "middle", most=size, colour="white" if is_dark else "black")
    return _finish(chart, title, looks if legend else {}, "bottom")


def _finish(chart: Chart, title: str, looks: dict[str, Look], side: LegendSide = "right") -> Chart:
    draw_legend(chart, looks, side)
    chart.name_it(title)
    return chart


def _is_shown(value: Any, log: bool = False) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or not log)


def _keep_shown(rows: Sequence[Row], columns: Sequence[str], log: bool = False) -> list[Row]:
    return [row for row in rows if all(_is_shown(row[column], log) for column in columns)]


def _all(rows: Sequence[Row], *columns: str) -> list[float]:
    return [float(row[column]) for row in rows for column in columns]


def _name(row: Row, series: str | None) -> str:
    return "" if series is None else str(row[series])


def _looks(rows: Sequence[Row], series: str | None) -> dict[str, Look]:
    """Those of the series, or of the only one; bars need one even where there are no rows."""
    return looks_of(list(dict.fromkeys(_name(row, series) for row in rows)) or [""])


def _tell(row: Row, *columns: str | None) -> str:
    """What a mark stands for, in words."""
    said = ((name, row[name]) for name in dict.fromkeys(columns) if name is not None)
    return "; ".join(f"{name}: {f'{value:,.4g}' if isinstance(value, float) else value}" for name, value in said)
