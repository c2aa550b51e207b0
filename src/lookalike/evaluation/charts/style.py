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
Chart = dict[str, Any]
"""A picture, or a layer of one, in the words of Vega-Lite."""
Channel = dict[str, Any]
"""How a column of the rows is shown: along an axis, as a colour, as a shape."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
INK = "#808080"
DARK = (0,)
"""The places of the colours on which letters are white."""
SHADES = ("#DCE9F5", "#003A66")
_MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
_WALL = "M-0.2,-1.5h0.4v3h-0.4Z"
_FONT = "Helvetica, Arial, sans-serif"


def layer_of(mark: str, rows: Sequence[Row], encoding: Mapping[str, Any], **style: Any) -> Chart:
    """Marks of one kind, one per row."""
    return {"mark": {"type": mark, **style}, "data": {"values": [dict(row) for row in rows]}, "encoding": encoding}


def names_of(rows: Sequence[Row], column: str) -> list[str]:
    """What a column says, each once, in the order of the rows."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def numbers(field: str, title: str | None = None, **style: Any) -> Channel:
    """A channel of numbers; its title is the field's name, if none is given."""
    return {"field": field, "type": "quantitative", "title": field if title is None else title, **style}


def words(field: str, order: Sequence[str] | None, **style: Any) -> Channel:
    """A channel of names, in this order (None: as they come)."""
    return {"field": field, "type": "nominal", "sort": order, **style}


def axis_of(name: str, title: str | None, log: bool, zero: bool, rows: Sequence[Row] = ()) -> Channel:
    """An axis of numbers, or of names where a row has one."""
    if any(isinstance(row.get(name), str) for row in rows):
        return words(name, None, title=name if title is None else title, axis={"labelAngle": 0})
    return numbers(name, title, scale={"type": "log"} if log else {"zero": zero})


PERCENTS = {"format": ".3~p", "tickCount": 8, "labelFlush": False}
"""An axis of shares."""


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

    def draw(self) -> dict[str, Any]:
        kind = "log" if self.log else "linear"
        return {"type": kind, "domain": [self.low, self.high], "nice": False, "zero": False}

    def place(self, value: float) -> float:
        """Pixels from the low end."""
        low, high, value = (math.log(end) if self.log else end for end in (self.low, self.high, value))
        return (value - low) / (high - low) * self.pixels


def colour_of(series: str, order: list[str]) -> Channel:
    colours = [COLOURS[turn % len(COLOURS)] for turn in range(len(order))]
    return words(series, order, title=None, scale={"domain": order, "range": colours})


def shape_of(series: str, order: list[str], walls: Sequence[str] = ()) -> Channel:
    drawn = [_WALL if name in walls else _MARKS[turn % len(_MARKS)] for turn, name in enumerate(order)]
    return words(series, order, title=None, scale={"domain": order, "range": drawn})


def finish_chart(layers: Sequence[Chart], title: str, width: int, height: int, legend: str = "right") -> Chart:
    """One picture of all layers."""
    grey = {"labelColor": INK, "titleColor": INK}
    axis = {"domainColor": INK, "tickColor": INK, "gridColor": INK, "gridOpacity": 0.2, "titleFontWeight": "normal"}
    symbols = {"symbolStrokeWidth": 1.5, "symbolBaseFillColor": INK, "symbolBaseStrokeColor": INK}
    return {
        **({"layer": list(layers)} if len(layers) > 1 else layers[0]),
        "title": title,
        "width": width,
        "height": height,
        "background": "transparent",
        "config": {
            "font": _FONT,
            "view": {"stroke": None},
            "axis": {**grey, **axis},
            "legend": {**grey, **symbols, "labelLimit": 260, "orient": legend},
            "title": {"color": INK, "fontSize": 13, "anchor": "start", "fontWeight": "bold"},
        },
    }
