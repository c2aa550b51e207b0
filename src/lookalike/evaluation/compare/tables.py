"""A comparison as rows of text, for the terminal, and as CSV, for everything else."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Sequence

from lookalike.data.release import FORMS
from lookalike.evaluation.compare.frontier import Axis, loss_axes, risk_axes
from lookalike.evaluation.compare.runs import DONE, Run
from lookalike.metrics import METRICS, QUERIES
from lookalike.metrics.shared.losses import loss_text
from lookalike.pipeline.run import standard_measures


def list_columns(runs: Sequence[Run], x: str, y: str) -> list[Axis]:
    """Figures shown beside the loss: both axes, errors of queries, levels that are finite, probabilities, guesses."""
    chosen = (loss_axes()[x], risk_axes()[y])
    axes = {axis.figure: axis for axis in (*loss_axes().values(), *risk_axes().values())}
    levels = {model.letter: None for model in standard_measures() if model.level_name == model.letter != ""}
    finite = [name for name in levels if {axes[name].of(run) is None for run in runs if name in run.figures} == {False}]
    usual = [axes[name] for name in (*QUERIES, *finite, "largest_belief", "attack")]
    return [*(axis for axis in chosen if axis not in usual and not _is_headline(axis, runs)), *usual]


def _is_headline(axis: Axis, runs: Sequence[Run]) -> bool:
    """Whether the loss of every run that has the figure is written by it."""
    return all(FORMS[run.form].headline[0] == axis.figure for run in runs if axis.figure_of(run) is not None)


def _honest_share(run: Run) -> float | None:
    """What the baseline is right in, against the best attack on values."""
    made = [one for one in run.attacks if one["accuracy"] is not None and one["column"] is not None]
    if not made:
        return None
    best = max(made, key=lambda one: one["accuracy"])
    return max(best["baselines"].values(), default=None)


def to_csv(runs: Sequence[Run], best: Collection[int]) -> str:
    """All figures of all runs, with the names that they have in JSON."""
    levels = [model.level_name for model in standard_measures() if model.level_name]
    others = ("largest_belief", "attack", "suppressed", "seconds", "peak_mb")
    names = [*METRICS, *QUERIES, "query_coverage", *levels, *others]
    names += sorted({name for run in runs for name in run.figures} - set(names))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["promise", "algorithm", "adversary", "form", "status", "frontier", *names, "honest", "nearest", "reason"]
    )
    for place, run in enumerate(runs):
        known = [run.promise, run.algorithm, run.adversary, run.form, run.status, "yes" if place in best else "no"]
        figures = ["" if (value := run.figures.get(name)) is None else f"{value:.10g}" for name in names]
        honest = _honest_share(run)
        writer.writerow([*known, *figures, "" if honest is None else f"{honest:.10g}", run.nearest or "", run.reason])
    return text.getvalue()


def headings(columns: Sequence[Axis]) -> tuple[str, ...]:
    known = ("", "promise", "algorithm", "against", "form", "result", "loss")
    return (*known, *(axis.share or axis.figure.replace("_", "-") for axis in columns), "honest", "seconds")


def row(run: Run, best: bool, sensitive: Sequence[str], columns: Sequence[Axis]) -> tuple[str, ...]:
    """One run as text; a star marks those on the frontier."""
    known = ("*" if best else "", run.short_promise(sensitive), run.algorithm, run.adversary)
    if run.status != DONE:
        shown = run.status.upper() if run.status == "audit failed" else run.status
        return (*known, "", shown, *[""] * (len(columns) + 3))
    figures = ((_percent if axis.share else _number)(axis.figure_of(run)) for axis in columns)
    ends = (_percent(_honest_share(run)), f"{run.figures['seconds']:.1f}" if "seconds" in run.figures else "")
    return (*known, run.form, "passed", loss_text(run.form, run.figures), *figures, *ends)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "infinite" if math.isinf(value) else f"{value:.3g}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
