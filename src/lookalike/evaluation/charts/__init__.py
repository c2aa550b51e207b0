"""The pictures, once: for reports, studies and comparisons. Data in, SVG out, drawn here without any library.

plots     every kind of chart               labels    where the labels of a scatter lie
axes      scales, ticks, axes, legends      canvas    SVG elements and the box around them
style     colours, shapes, letters
"""

from __future__ import annotations

from pathlib import Path

from lookalike.evaluation.charts.canvas import Chart
from lookalike.evaluation.charts.plots import bars, boxes, columns, lines, scatter, spans, tiles
from lookalike.evaluation.charts.style import COLOURS, INK, Row

__all__ = [
    "COLOURS", "INK", "Chart", "Row", "bars", "boxes", "columns", "lines", "scatter", "spans", "svg", "tiles",
    "write_svg",
]  # fmt: skip


def svg(chart: Chart) -> str:
    """The picture as text, for a page or its own file."""
    return chart._repr_svg_()


def write_svg(chart: Chart, path: Path) -> None:
    path.write_text(svg(chart), encoding="utf-8", newline="\n")
