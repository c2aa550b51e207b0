"""The picture of a comparison: loss across, risk upwards, and a line along the runs that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.evaluation import charts
from lookalike.evaluation.compare.frontier import frontier, loss_axes, risk_axes
from lookalike.evaluation.compare.results import Run
from lookalike.evaluation.compare.tabulating import short_promise

_WIDE = 30
"""Where the largest value is more than so many times the least, the axis is logarithmic."""


def picture(runs: Sequence[Run], x: str, y: str, sensitive: Sequence[str]) -> charts.Chart | None:
    """A mark for each run that has both figures; None if none has."""
    across, upwards = loss_axes()[x], risk_axes()[y]
    placed = [run for run in runs if across.of(run) is not None and upwards.of(run) is not None]
    if not placed:
        return None

    def point(run: Run) -> dict[str, Any]:
        promise = short_promise(run, sensitive)
        return {x: across.of(run), y: upwards.of(run), "algorithm": run.algorithm, "promise": promise}

    points = [point(run) for run in placed]
    return charts.scatter(
        points,
        x,
        y,
        "algorithm",
        label="promise",
        title=f"Better to the left and {'above' if upwards.more_is_better else 'below'}",
        x_title=across.title,
        y_title=upwards.title,
        log_x=_is_wide([row[x] for row in points]),
        log_y=_is_wide([row[y] for row in points]),
        frontier=[point(run) for run in frontier(runs, across, upwards)],
        width=560,
        height=360,
    )


def _is_wide(values: Sequence[float]) -> bool:
    """Whether the values span orders of magnitude; shares, which end at 1, stay as they are."""
    return max(values) > 1 and min(values) > 0 and max(values) / min(values) > _WIDE
