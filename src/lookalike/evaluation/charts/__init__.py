"""The pictures, once: for reports, studies and comparisons. Data in, SVG out: charts are in the words of Vega-Lite, and
vl-convert draws them.

plots     every kind of chart       style     colours, marks, axes
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from lookalike import memory
from lookalike.evaluation.charts.plots import bars, boxes, columns, lines, scatter, spans, tiles
from lookalike.evaluation.charts.style import COLOURS, INK, Chart, Row

__all__ = [
    "COLOURS",
    "INK",
    "NOT_DRAWN",
    "Chart",
    "Row",
    "bars",
    "boxes",
    "can_draw",
    "columns",
    "lines",
    "scatter",
    "spans",
    "svg",
    "tiles",
    "write_svg",
]


def svg(chart: Chart) -> str:
    """The picture as text, to stand in a page or a file by itself."""
    import vl_convert

    if not can_draw():
        memory.check_addresses(_SPACE)
    drawn: str = vl_convert.vegalite_to_svg(_drawable(chart))
    return drawn


def write_svg(chart: Chart, path: Path) -> None:
    path.write_text(svg(chart), encoding="utf-8")


_SPACE = 65 << 30
"""Addresses that the library which draws reserves, without using any memory behind them. It aborts otherwise."""
NOT_DRAWN = "Pictures are left out: a limit on addresses (ulimit -v) leaves too few to draw them."


@cache
def can_draw() -> bool:
    """Whether a limit on addresses leaves room for pictures; asked once, before the first one reserves it."""
    left = memory.address_space_left()
    return left is None or left >= _SPACE


_NOT_IN_PICTURES = re.compile("[^\t\n\r\x20-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Values may hold such characters. XML does not, and who draws it ends the whole process over one; and the library's
expressions break at the two that part lines and paragraphs."""


def _drawable(spec: Any) -> Any:
    """A description of a picture without characters that no picture can hold."""
    if isinstance(spec, str):
        return _NOT_IN_PICTURES.sub("\N{REPLACEMENT CHARACTER}", spec)
    if isinstance(spec, dict):
        return {_drawable(key): _drawable(value) for key, value in spec.items()}
    return [_drawable(entry) for entry in spec] if isinstance(spec, list) else spec
