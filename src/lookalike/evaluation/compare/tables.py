"""A comparison as rows of text, for the terminal, and as CSV, for everything else."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Mapping, Sequence

from lookalike.data.release import Bucketized, Perturbed
from lookalike.evaluation.compare.runs import DONE, Run

_HEADINGS = "promise algorithm against form result loss queries k l t beta belief attack honest seconds"
HEADINGS = ("", *_HEADINGS.split())
_FIGURES = """
    gcp ail msbs average_group_size discernibility values_changed query_error query_coverage k l l_distinct l_entropy t
    beta delta largest_belief attack suppressed seconds peak_mb
"""


def short_promise(run: Run, sensitive: Sequence[str]) -> str:
    """The promise without the name of the column, where there is only one."""
    if len(sensitive) != 1:
        return run.promise
    return " + ".join(part.removeprefix(f"{sensitive[0]}=") for part in run.promise.split(" + "))


def _honest_share(run: Run) -> float | None:
    """What honest guessing is right in, against the best attack on values."""
    made = [one for one in run.attacks if one["accuracy"] is not None and one["column"] is not None]
    if not made:
        return None
    best = max(made, key=lambda one: one["accuracy"])
    return max(best["baselines"].values(), default=None)


def to_csv(runs: Sequence[Run], best: Collection[int]) -> str:
    """All figures of all runs, with the names that they have in JSON."""
    names = _FIGURES.split()
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


def row(run: Run, best: bool, sensitive: Sequence[str]) -> tuple[str, ...]:
    """One run as text; a star marks those on the frontier."""
    known = ("*" if best else "", short_promise(run, sensitive), run.algorithm, run.adversary)
    if run.status != DONE:
        return (*known, "", run.status.upper() if run.status == "audit failed" else run.status, *[""] * 10)
    figures = run.figures
    seconds = figures.get("seconds")
    return (
        *known,
        run.form,
        "passed",
        loss_text(run.form, figures),
        _percent(figures.get("query_error")),
        *(_number(figures.get(name)) for name in ("k", "l", "t", "beta")),
        *(_percent(share) for share in (figures.get("largest_belief"), figures.get("attack"), _honest_share(run))),
        "" if seconds is None else f"{seconds:.1f}",
    )


def loss_text(form: str, figures: Mapping[str, float]) -> str:
    """The loss that says something about the form."""
    if form == Bucketized.form:
        shown = f"MSBS {figures['msbs']:.3g}"
    elif form == Perturbed.form:
        shown = f"{100 * figures['values_changed']:.0f} % changed"
    else:
        shown = f"GCP {figures['gcp']:.4f}"
    suppressed = int(figures.get("suppressed", 0))
    return f"{shown}, {suppressed:,} suppressed" if suppressed else shown


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "infinite" if math.isinf(value) else f"{value:.3g}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
