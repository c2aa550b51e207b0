"""The charts of a report, each as SVG to stand in the page."""

from __future__ import annotations

from lookalike.evaluation import charts
from lookalike.evaluation.evaluate import bound_names
from lookalike.evaluation.report.beliefs import BeliefTable
from lookalike.evaluation.report.contents import Report

_WIDE = 430
_ONCE = ("sizes", "attacks", "losses", "tradeoff", "answers")


def draw_pictures(report: Report) -> dict[str, str]:
    """Every picture of a report by name; empty where there is nothing to draw. `beliefs-N` is that of column N."""
    if not charts.can_draw():
        return dict.fromkeys((*(f"beliefs-{place}" for place in range(len(report.beliefs))), *_ONCE), "")
    return {
        **{f"beliefs-{place}": _beliefs(table) if table.lines else "" for place, table in enumerate(report.beliefs)},
        "sizes": _sizes(report) if report.sizes else "",
        "attacks": _attacks(report) if any(line.honest is not None for line in report.attacks) else "",
        "losses": _losses(report) if any(line.loss for line in report.columns) else "",
        "tradeoff": _tradeoff(report),
        "answers": _answers(report) if report.answers else "",
    }


def _beliefs(table: BeliefTable) -> str:
    """Share, highest belief and ceiling of each value."""
    rows = [
        {"value": line.value, "share": line.share, "belief": line.belief, "ceiling": line.ceiling}
        for line in table.lines
    ]
    marks = {"share": "share in the table", "belief": "highest belief", "ceiling": "ceiling of the promise"}
    return charts.svg(charts.spans(rows, "value", marks, x_title="belief", limit="ceiling", width=_WIDE))


def _losses(report: Report) -> str:
    """Loss by column, the costliest first."""
    lost = sorted((line for line in report.columns if line.loss is not None), key=lambda line: -(line.loss or 0.0))
    rows = [{"column": line.name, "loss": line.loss} for line in lost]
    return charts.svg(charts.bars(rows, "loss", "column", x_title="mean loss", percent=True, width=_WIDE))


def _sizes(report: Report) -> str:
    """Share of the people by the number of rows they are hidden among."""
    rows = [{"rows": line.rows, "share": line.share} for line in report.sizes]
    return charts.svg(
        charts.columns(
            rows,
            "rows",
            "share",
            x_title="rows that a person may be behind",
            y_title="share of people",
            percent=True,
            width=_WIDE,
            height=170,
        )
    )


def _attacks(report: Report) -> str:
    """Right guesses against honest guesses."""
    rows = [
        {"attack": line.attack, "right": line.right, "honest": line.honest}
        for line in report.attacks
        if line.right is not None and line.honest is not None
    ]
    marks = {"honest": "best honest guess", "right": "the attack"}
    return charts.svg(charts.spans(rows, "attack", marks, x_title="right guesses", width=_WIDE))


def _answers(report: Report) -> str:
    """How many queries are answered how nearly."""
    rows = [
        {"error": name, "share": share, "columns": f"{line.columns} column{'s' if line.columns > 1 else ''}"}
        for line in report.answers
        for name, share in zip(bound_names(), line.shares, strict=True)
    ]
    return charts.svg(
        charts.columns(
            rows,
            "error",
            "share",
            "columns",
            x_title="how far the answer is off",
            y_title="share of queries",
            percent=True,
            width=_WIDE,
        )
    )


def _tradeoff(report: Report) -> str:
    """Loss against belief for the promise and those around it."""
    if report.tradeoff is None:
        return ""
    rows = [
        {
            "promise": one.promise,
            "belief": one.belief,
            "loss": one.loss,
            "which": "this release" if one.is_asked else "other promises",
        }
        for one in sorted(report.tradeoff.settings, key=lambda one: not one.is_asked)
    ]
    along = sorted(rows, key=lambda row: float(str(row["belief"])))
    return charts.svg(
        charts.scatter(
            rows,
            "belief",
            "loss",
            "which",
            label="promise",
            x_title=report.tradeoff.belief_name,
            y_title=report.tradeoff.loss_name,
            frontier=along,
            percent=True,
            width=_WIDE,
            height=240,
        )
    )
