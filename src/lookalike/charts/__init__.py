"""The pictures, once: for reports, studies and comparisons. Data in, SVG out; Altair says what, vl-convert draws.

curves    lines, scatter            areas     boxes, tiles
bars      bars, columns, spans      style     colours, marks, axes
"""

from __future__ import annotations

from pathlib import Path

from lookalike.charts.amounts import bars, columns, spans
from lookalike.charts.areas import boxes, tiles
from lookalike.charts.curves import lines, scatter
from lookalike.charts.style import COLOURS, INK, Chart, Row

__all__ = [
    "COLOURS",
    "INK",
    "Chart",
    "Row",
    "bars",
    "boxes",
    "columns",
    "lines",
    "scatter",
    "spans",
    "svg",
    "tiles",
    "write_png",
    "write_svg",
]


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
