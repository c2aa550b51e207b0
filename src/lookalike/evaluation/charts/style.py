"""What all pictures share: colours, marks, axes, and how a finished one looks.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart, and every series has a mark
of its own as well. Text and axes are of a grey that shows on white and on black, and there is no background, so the
same picture stands on a light page, on a dark one and on paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
Chart = Any
"""An Altair chart. The library is loaded by those who draw."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
INK = "#808080"
DARK = (0,)
"""The places of the colours on which letters are white."""
SHADES = ("#DCE9F5", "#003A66")
_MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
_WALL = "M-0.2,-1.5h0.4v3h-0.4Z"
_FONT = "Helvetica, Arial, sans-serif"


def data_of(rows: Sequence[Row]) -> Any:
    import altair as alt

    made: Any = alt.Data
    return made(values=[dict(row) for row in rows])


def names_of(rows: Sequence[Row], column: str) -> list[str]:
    """What a column says, each once, in the order of the rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def axis_of(kind: Any, name: str, title: str | None, log: bool, rows: Sequence[Row] = ()) -> Any:
    import altair as alt

    shown = name if title is None else title
    if any(isinstance(row.get(name), str) for row in rows):
        return kind(f"{name}:N", title=shown, sort=None, axis=alt.Axis(labelAngle=0))
    return kind(f"{name}:Q", title=shown, scale=alt.Scale(type="log") if log else alt.Scale(zero=kind is alt.Y))


def percents() -> Any:
    import altair as alt

    return alt.Axis(format=".3~p", tickCount=8, labelFlush=False)


@dataclass(frozen=True)
class Scale:
    """An axis whose ends are known before it is drawn, so that it is known where its points will lie."""

    low: float
    high: float
    log: bool
    pixels: int

    @classmethod
    def of(cls, values: Sequence[float], log: bool, pixels: int, zero: bool = False) -> Scale:
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

    def draw(self) -> Any:
        import altair as alt

        return alt.Scale(type="log" if self.log else "linear", domain=[self.low, self.high], nice=False, zero=False)

    def place(self, value: float) -> float:
        """Pixels from the low end."""
        low, high, value = (math.log(end) if self.log else end for end in (self.low, self.high, value))
        return (value - low) / (high - low) * self.pixels


def colour_of(series: str, order: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=order, range=[COLOURS[turn % len(COLOURS)] for turn in range(len(order))])
    return alt.Color(f"{series}:N", scale=scale, sort=order, title=None)


def shape_of(series: str, order: list[str], walls: Sequence[str] = ()) -> Any:
    import altair as alt

    drawn = [_WALL if name in walls else _MARKS[turn % len(_MARKS)] for turn, name in enumerate(order)]
    scale = alt.Scale(domain=order, range=drawn)
    return alt.Shape(f"{series}:N", scale=scale, sort=order, title=None)


def finish_chart(chart: Chart, title: str, width: int, height: int, legend: str = "right") -> Chart:
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
