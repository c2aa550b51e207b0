"""Amounts by name: bars, columns, and spans between marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lookalike.evaluation.charts.style import (
    COLOURS,
    INK,
    Chart,
    Row,
    axis_of,
    colour_of,
    data_of,
    finish_chart,
    percents,
    shape_of,
)


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
    base = alt.Chart(data_of(rows)).encode(
        x=axis_of(alt.X, x, x_title, log=False).axis(percents() if percent else alt.Undefined),
        y=alt.Y(f"{y}:N", sort=names, title=y_title or None),
    )
    if series is None:
        drawn = base.mark_bar(color=COLOURS[0])
    else:
        order = list(dict.fromkeys(str(row[series]) for row in rows))
        drawn = base.mark_bar().encode(color=colour_of(series, order), yOffset=alt.YOffset(f"{series}:N", sort=order))
    n_bars = len(names) * (1 if series is None else len({str(row[series]) for row in rows}))
    return finish_chart(drawn, title, width, max(40, 14 * n_bars))


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
    upright = alt.Y(f"{y}:Q", title=y if y_title is None else y_title, axis=percents() if percent else alt.Axis())
    across = alt.X(f"{x}:N", sort=names, title=x if x_title is None else x_title, axis=alt.Axis(labelAngle=0))
    base = alt.Chart(data_of([{**row, x: str(row[x])} for row in rows])).encode(x=across, y=upright)
    if series is None:
        return finish_chart(base.mark_bar(color=COLOURS[0]), title, width, height)
    order = list(dict.fromkeys(str(row[series]) for row in rows))
    drawn = base.mark_bar().encode(color=colour_of(series, order), xOffset=alt.XOffset(f"{series}:N", sort=order))
    return finish_chart(drawn, title, width, height)


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
    axis = percents() if percent else alt.Axis()
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
    return finish_chart(drawn, title, width, max(40, 20 * len(names)), legend="top")
