"""Scales, axes and legends: where numbers and names lie, which ticks are shown, and what marks mean.

Ticks are 1, 2 or 5 times a power of ten, as many as have room for their labels. They are made from decimal text, and
powers of ten are read from it, so that they do not depend on how a machine rounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from lookalike.evaluation.charts.canvas import Chart
from lookalike.evaluation.charts.style import MEDIUM, Look, clean, measure_text

Ticks = tuple[tuple[float, str], ...]
Axis = tuple[float, float, Ticks]
"""Its ends and its ticks."""
_LEAST, _MOST = 1e-100, 1e100
"""Beyond these, numbers are drawn at the end of the axis."""
_LEADS = (1, 2, 5)


@dataclass(frozen=True)
class Numbers:
    """An axis of numbers, to the right or upwards."""

    low: float
    high: float
    ticks: Ticks
    pixels: float
    log: bool
    upward: bool

    @classmethod
    def over(
        cls, values: Sequence[float], pixels: float, *, log: bool = False, zero: bool = False, room: bool = False,
        percent: bool = False, upward: bool = False, whole: bool = False,
    ) -> Numbers:  # fmt: skip
        """An axis over the values (and over 0) that ends at ticks, or has some room at both ends.

        `whole` allows ticks at whole numbers only; a logarithmic axis does not look at it.
        """
        known = [min(max(value, _LEAST if log else -_MOST), _MOST) for value in values] or [1.0, 10.0 if log else 0.0]
        low, high = min(known), max(known)
        if zero and not log:
            low, high = min(low, 0.0), max(high, 0.0)
        size = max(abs(low), abs(high))
        if high - low <= max(1e-9 * size, _LEAST):
            beyond = 0.1 * size if size > _LEAST else 1.0
            low, high = (low / 2, high * 2) if log else (low - beyond, high + beyond)
        if room and log:
            beyond = (high / low) ** 0.07
            low, high = low / beyond, high * beyond
        elif room:
            beyond = 0.07 * (high - low)
            low, high = max(0.0, low - beyond) if low >= 0 else low - beyond, high + beyond
        apart = 25 if upward else 36
        found = _logarithmic(low, high, room) if log else _linear(low, high, room, percent, pixels / apart, whole)
        for begin, end, ticks in found:
            scale = cls(begin, end, ticks, pixels, log, upward)
            if scale._fits():
                break
        return scale

    def place(self, value: float) -> float:
        """Pixels from the left, or from the top."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        share = (at - low) / (high - low)
        return self.pixels * (1 - share if self.upward else share)

    @property
    def labels(self) -> list[tuple[float, str]]:
        return [(self.place(at), label) for at, label in self.ticks]

    def _fits(self) -> bool:
        """Whether no label is too near to the next."""
        ends = [(at, 10.0 if self.upward else measure_text(label) / 2 + 5) for at, label in self.labels]
        return all(abs(at - other) >= half + next_half for (at, half), (other, next_half) in itertools.pairwise(ends))


def _linear(low: float, high: float, room: bool, percent: bool, most: float, whole: bool = False) -> Iterable[Axis]:
    """Axes with ever wider steps between ticks, while there are two ticks."""
    first, slack = _power_of(high - low) - 2, -1e-9 if room else 1e-9
    places: list[float] = []
    for power, lead in itertools.product(range(first, first + 4), _LEADS):
        step = _round(lead, power)
        if (high - low) / step > max(2, most) or (whole and power < 0):
            continue
        begin, end = math.floor(low / step + slack) + room, math.ceil(high / step - slack) - room
        if places and end <= begin:
            return
        places = [_round(lead * count, power) for count in range(begin, end + 1)] or [low]
        ticks = tuple((at, f"{_say(100 * at, power + 2)}%" if percent else _say(at, power)) for at in places)
        yield (low, high, ticks) if room else (places[0], places[-1], ticks)


def _logarithmic(low: float, high: float, room: bool) -> Iterable[Axis]:
    """Axes with ever fewer ticks: nine leading digits, three, one, then not every power of ten."""
    powers = range(_power_of(low), _power_of(high) + 2)
    if not room:
        ends = [_round(lead, power) for power in powers for lead in _LEADS]
        low, high = max(at for at in ends if at <= low), min(at for at in ends if at >= high)
    found: list[Axis] = []
    for leads, every in ((range(1, 10), 1), (_LEADS, 1), *(((1,), every) for every in (1, 2, 3, 5, 10, 20, 50, 100))):
        tried = [(_round(lead, power), power) for power in powers if power % every == 0 for lead in leads]
        found.append((low, high, tuple((at, _say(at, power)) for at, power in tried if low <= at <= high)))
    return [axis for axis in found if len(axis[2]) > 1] or _linear(low, high, True, False, 4)


def _round(lead: int, power: int) -> float:
    return float(f"{lead}e{power}")


def _power_of(number: float) -> int:
    """The power of ten of the first digit."""
    return int(f"{number:.16e}".partition("e")[2])


def _say(number: float, power: int) -> str:
    """A number, to the decimal of that power of ten."""
    return f"{number:,.{max(0, -power)}f}" if -7 < power < 9 else f"{number:.6g}"


@dataclass(frozen=True)
class Names:
    """An axis of names, each with a band of equal size, of which the share `gap` stays free."""

    names: tuple[str, ...]
    pixels: float
    gap: float = 0.1

    @property
    def step(self) -> float:
        return self.pixels / max(1, len(self.names))

    @property
    def band(self) -> float:
        return self.step * (1 - self.gap)

    def place(self, name: object) -> float:
        """The middle of its band."""
        return self.step * (self._turns[str(name)] + 0.5)

    @property
    def labels(self) -> list[tuple[float, str]]:
        return [(self.place(name), name) for name in self.names]

    @cached_property
    def _turns(self) -> dict[str, int]:
        return {name: turn for turn, name in enumerate(self.names)}


Scale = Numbers | Names


def begin_chart(x: Scale, y: Scale, x_title: str, y_title: str, limit: float = 180) -> Chart:
    """A picture with its axes; labels at the left have so many pixels."""
    chart = Chart(x.pixels, y.pixels, " by ".join(title for title in (y_title, x_title) if title) or "chart")
    right, down = x.pixels, y.pixels
    grid = [[(at, 0.0), (at, down)] for at, _ in x.labels if isinstance(x, Numbers)]
    grid += [[(0.0, at), (right, at)] for at, _ in y.labels if isinstance(y, Numbers)]
    ticks = [[(at, down), (at, down + 5)] for at, _ in x.labels] + [[(-5.0, at), (0.0, at)] for at, _ in y.labels]
    chart.trace(grid, stroke_opacity=0.2, shape_rendering="crispEdges")
    chart.trace([[(0.0, 0.0), (0.0, down), (right, down)], *ticks], shape_rendering="crispEdges")
    _label_across(chart, x)
    for at, label in y.labels:
        chart.write(label, -8, at, "end", most=limit)
    if x_title:
        chart.write(x_title, right / 2, chart.box[3] + 10, "middle", size=MEDIUM, most=max(240, right))
    if y_title:
        chart.write(y_title, chart.box[0] - 10, down / 2, "middle", size=MEDIUM, most=max(240, down), turned=True)
    return chart


def _label_across(chart: Chart, scale: Scale) -> None:
    """Labels wider than their place are shortened, or turned where it is narrow; some are left out where all touch."""
    most = scale.step - 4 if isinstance(scale, Names) else scale.pixels
    turned = most < min(45, max((measure_text(clean(label)) for _, label in scale.labels), default=most))
    for at, label in scale.labels[:: math.ceil(11 / scale.step) if turned and isinstance(scale, Names) else 1]:
        if turned:
            chart.write(label, at, chart.height + 8, "end", most=180, turned=True)
        else:
            chart.write(label, at, chart.height + 14, "middle", most=most)


LegendSide = Literal["right", "top", "bottom"]
_LINE, _LONGEST = 15, 260


def draw_legend(chart: Chart, looks: dict[str, Look], side: LegendSide = "right") -> None:
    """What the marks mean: below each other at the right, or in lines above or below."""
    places: list[tuple[float, float]] = []
    along, line = 0.0, 0
    for name in looks:
        wide = 30 + min(measure_text(clean(name)), _LONGEST)
        if places and (side == "right" or along + wide > chart.width):
            along, line = 0.0, line + 1
        places.append((along, line * _LINE))
        along += wide
    left, top, right, bottom = chart.box
    corner = {"right": (right + 20, 6.0), "top": (6.0, top - 10 - line * _LINE), "bottom": (6.0, bottom + 14)}[side]
    for (name, look), (across, down) in zip(looks.items(), places, strict=True):
        chart.mark(corner[0] + across, corner[1] + down, look, 64)
        chart.write(name, corner[0] + across + 9, corner[1] + down, most=_LONGEST)
