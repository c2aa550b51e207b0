"""Which runs are worth a choice, in a list and in a picture: those that no other beats in both loss and risk.

A figure is compared only among the forms that it speaks of. Exact quasi-identifiers have no GCP to lose: a bucketized
or perturbed release would always win by it, at the price of what it does not measure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lookalike.data.contracts import ORIGINAL
from lookalike.errors import RecipeError, unknown_name
from lookalike.evaluation import charts
from lookalike.evaluation.compare.runs import DONE, Run
from lookalike.metrics import METRICS, QUERIES
from lookalike.pipeline.run import standard_measures


@dataclass(frozen=True)
class Axis:
    """A figure that runs are compared by."""

    figure: str
    title: str
    forms: frozenset[str] | None = None
    """The forms it speaks of; None: all."""
    more_is_better: bool = False
    share: str = ""
    """Of a share, which tables show in percent: the heading of its column."""

    def figure_of(self, run: Run) -> float | None:
        """What a run has reached; None if the figure says nothing about it."""
        speaks = run.status == DONE and (self.forms is None or run.form in self.forms)
        return run.figures.get(self.figure) if speaks else None

    def of(self, run: Run) -> float | None:
        """Where a run lies on the axis; None if it has no place there."""
        value = self.figure_of(run)
        return value if value is not None and math.isfinite(value) else None


def loss_axes() -> dict[str, Axis]:
    """What a release costs those who analyse it, across: first what the release alone shows."""
    return {
        name.replace("_", "-"): Axis(name, kind.axis or kind.title or name, kind.forms, kind.more_is_better, share)
        for name, kind in sorted({**QUERIES, **METRICS}.items(), key=lambda one: one[1].needs == ORIGINAL)
        for share in ["queries" if name in QUERIES else ""]
        if kind.axis is not None
    }


def risk_axes() -> dict[str, Axis]:
    """What it leaves to those who attack it, upwards: probabilities, right guesses, then numbers of people and
    values.
    """
    levels = {
        model.level_name: Axis(model.level_name, model.level_title, None, model.rises)
        for model in standard_measures()
        if model.level_name
    }
    axes = [
        *(levels[name] for name in sorted(levels) if not levels[name].more_is_better),
        Axis("largest_belief", "highest certainty in a value", share="certainty"),
        Axis("attack", "right guesses of the best attack", share="attack"),
        *(levels[name] for name in sorted(levels) if levels[name].more_is_better),
    ]
    return {axis.figure.replace("_", "-"): axis for axis in axes}


def check_axes(x: str | None, y: str | None) -> None:
    """Refuse an axis that does not exist, before the long work."""
    for axes, name in ((loss_axes(), x), (risk_axes(), y)):
        if name is not None and name not in axes:
            raise RecipeError(unknown_name("axis", name, axes))


def axis_of(axes: dict[str, Axis], name: str | None, runs: Sequence[Run]) -> str:
    """The axis asked for, or the first on which a run has a place."""
    usable = (known for known, axis in axes.items() if any(axis.of(run) is not None for run in runs))
    return name or next(usable, next(iter(axes)))


def frontier(runs: Sequence[Run], x: Axis, y: Axis) -> list[Run]:
    """The runs that no other run is at least as good as in both and better in one, from the least loss on."""
    placed = [
        (-across if x.more_is_better else across, -upwards if y.more_is_better else upwards, run)
        for run in runs
        if (across := x.of(run)) is not None and (upwards := y.of(run)) is not None
    ]
    found: list[Run] = []
    last = (-math.inf, math.inf)
    for across, upwards, run in sorted(placed, key=lambda one: one[:2]):
        if upwards < last[1] or (across, upwards) == last:
            found.append(run)
            last = (across, upwards)
    return found


_WIDE = 30
"""Where the largest value is more than so many times the least, the axis is logarithmic."""


def picture(runs: Sequence[Run], x: str, y: str, sensitive: Sequence[str]) -> charts.Chart | None:
    """A mark for each run that has both figures; None if none has."""
    across, upwards = loss_axes()[x], risk_axes()[y]

    def point(run: Run) -> dict[str, Any]:
        promise = run.short_promise(sensitive)
        return {x: across.of(run), y: upwards.of(run), "algorithm": run.algorithm, "promise": promise}

    points = [point(run) for run in runs if across.of(run) is not None and upwards.of(run) is not None]
    if not points:
        return None
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
