"""The picture of a comparison: loss across, risk upwards, and a line along the runs that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike import charts
from lookalike.comparison.frontier import LOSSES, RISKS, frontier
from lookalike.comparison.results import Run
from lookalike.comparison.tabulating import short_promise

_WIDE = 30
"""Where the largest value is so many times the least, the axis is logarithmic."""


def picture(runs: Sequence[Run], x: str, y: str, sensitive: Sequence[str]) -> charts.Chart | None:
    """A mark for each run that has both figures; None if none has."""
    across, upwards = LOSSES[x], RISKS[y]
    best = frontier(runs, across, upwards)
    # Those on the line choose the room for their labels first.
    points: list[dict[str, Any]] = [
        {x: loss, y: risk, "algorithm": run.algorithm, "promise": short_promise(run, sensitive)}
        for run in (*best, *(run for run in runs if run not in best))
        if (loss := across.of(run)) is not None and (risk := upwards.of(run)) is not None
    ]
    if not points:
        return None
    risks = [point[y] for point in points]
    return charts.scatter(
        points,
        x,
        y,
        "algorithm",
        label="promise",
        title=f"Better to the left and {'above' if upwards.more_is_better else 'below'}",
        x_title=across.title,
        y_title=upwards.title,
        log_y=min(risks) > 0 and max(risks) / min(risks) > _WIDE,
        frontier=points[: len(best)],
        width=560,
        height=360,
    )
