"""The report as one HTML file with its charts: no script, no network, readable on paper, in light and in dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from lookalike.errors import MissingPart
from lookalike.evaluation import charts
from lookalike.evaluation.before_after import draw_shares, draw_trust
from lookalike.evaluation.evaluate import SELECTIVITIES, bound_names
from lookalike.evaluation.plain import json_text
from lookalike.evaluation.report.basis import Basis, BeliefTable
from lookalike.evaluation.report.pdf import find_browser, to_pdf
from lookalike.evaluation.report.short_lists import clip
from lookalike.evaluation.tradeoff import Tradeoff
from lookalike.metrics import METRICS
from lookalike.metrics.shared.metric import title_metric

if TYPE_CHECKING:
    from lookalike.evaluation.report.contents import Report
    from lookalike.files.releases.describe import Manifest
    from lookalike.files.releases.write import NewRelease


def to_html(report: Report) -> str:
    # Charts escape all text in them.
    shown = {name: Markup(svg) for name, svg in report.pictures.items()}
    return _template().render(report=report, pictures=shown)


def _shorten(number: str | None) -> str:
    """The audit's exact decimal text, rounded for reading."""
    if number is None:
        return "not measured"
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number


def _shorten_figure(figure: float | str) -> str:
    number = float(figure)
    if math.isinf(number):
        return "infinite"
    return f"{number:,.4g}" if number < 1e6 else f"{number:,.0f}"


_REPORTS = "lookalike.evaluation.report"
"""The package with the templates of reports."""
_FILTERS: dict[str, Callable[..., Any]] = {
    "percent": lambda share: f"{100 * share:.3g} %",
    "figure": _shorten_figure,
    "reached": _shorten,
    "shorten": clip,
    "clip": lambda text, most=None: text,  # Where the studio shortens, the report does not.
    "loss_name": lambda name, unit=None: title_metric(METRICS[name], unit) if name in METRICS else name,
}
"""How numbers and texts are shown, wherever a report is."""


def environment_of(package: str) -> jinja2.Environment:
    """The templates of a package, with those of reports, all text escaped and numbers shown as in reports."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in dict.fromkeys((package, _REPORTS))]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    return environment


@cache
def _template() -> jinja2.Template:
    return environment_of(_REPORTS).get_template("report.html")


AUDIT, REPORT_PAGE, REPORT, PAPER = "audit.json", "report.html", "report.json", "report.pdf"
REPORTS = (REPORT_PAGE, REPORT)
"""What a report is written as, on paper or not."""


def audit_json(basis: Basis) -> bytes:
    """The audit for programs."""
    return _as_json({**basis.audit.to_plain(), "loss": basis.losses, "loss_by_column": basis.loss_by_column})


def report_documents(report: Report, pdf: bool | None = False) -> dict[str, bytes]:
    """A report for people and for programs, and on paper; `pdf` None: if a browser is there that can print it."""
    documents = {REPORT_PAGE: report.page.encode(), REPORT: _as_json(report.to_plain())}
    if pdf or (pdf is None and find_browser() is not None):
        try:
            documents[PAPER] = to_pdf(report.page)
        except MissingPart:
            if pdf:
                raise
    return documents


def add_reports(
    out: NewRelease, manifest: Manifest, report_of: Callable[[Mapping[str, str]], Report], pdf: bool | None
) -> list[str]:
    """Describe a release folder and add its report, which has the digests of all other files; returns all files."""
    wants_paper = pdf or (pdf is None and find_browser() is not None)
    for with_paper in (True, False) if wants_paper else (False,):
        digests = out.describe(manifest, (*REPORTS, PAPER) if with_paper else REPORTS)
        try:
            out.add(report_documents(report_of(digests), with_paper))
        except MissingPart:
            if pdf or not with_paper:
                raise
            continue
        break
    return out.names


def _as_json(plain: Any) -> bytes:
    return (json_text(plain) + "\n").encode()


_WIDE = 430


def draw_pictures(report: Report) -> dict[str, str]:
    """Every picture of a report by name; empty where there is nothing to draw. `beliefs-N` is that of column N."""
    drawn = {
        **{
            f"beliefs-{place}": _beliefs(table, report.unit) if table.lines else None
            for place, table in enumerate(report.beliefs)
        },
        "risks": _risks(report),
        "sizes": _sizes(report) if report.sizes else None,
        "attacks": _attacks(report) if any(line.honest is not None for line in report.attacks) else None,
        "losses": _losses(report) if any(line.loss for line in report.columns) else None,
        "tradeoff": None if report.tradeoff is None else _tradeoff(report.tradeoff),
        "answers": _answers(report) if report.answers else None,
        **_before_after(report),
    }
    return {name: "" if chart is None else charts.svg(chart) for name, chart in drawn.items()}


def _risks(report: Report) -> charts.Chart | None:
    """The highest chance before and after, question by question."""
    rows = [
        {
            "question": line.what if line.column is None else f"guessing {clip(line.column)}",
            "before": line.before.highest,
            "after": line.after.highest if line.after.highest is not None else line.promised,
        }
        for line in report.certificate.risks[:5]
    ]
    if all(row["after"] is None for row in rows):
        return None
    before = "before" if report.internal else "unchanged table, at most"
    return charts.spans(rows, "question", {"before": before, "after": "after"}, width=230)


def _beliefs(table: BeliefTable, unit: str | None) -> charts.Chart:
    """Share, highest certainty and ceiling of each value."""
    rows = [asdict(line) for line in table.lines]
    share = "share in the table" if unit is None else f"share of {unit}s who have it"
    marks = {"share": share, "belief": "highest certainty", "ceiling": "ceiling of the promise"}
    return charts.spans(rows, "value", marks, x_title="belief", limit="ceiling", width=_WIDE)


def _losses(report: Report) -> charts.Chart:
    """Loss by column, the costliest first."""
    lost = sorted((line for line in report.columns if line.loss is not None), key=lambda line: -(line.loss or 0.0))
    rows = [{"column": line.name, "loss": line.loss} for line in lost]
    return charts.bars(rows, "loss", "column", x_title="mean loss", percent=True, width=_WIDE)


def _sizes(report: Report) -> charts.Chart:
    """Share of the people by the number of rows they are hidden among."""
    rows = [asdict(line) for line in report.sizes]
    across, upwards = "rows that a person may be behind", "share of people"
    if report.unit:
        across, upwards = f"different {report.unit}s with rows in one group", f"share of {report.unit}s"
    return charts.columns(rows, "rows", "share", x_title=across, y_title=upwards, width=_WIDE, height=170)


def _attacks(report: Report) -> charts.Chart:
    """Right guesses against baselines."""
    rows = [
        {"attack": line.attack, "right": line.right, "honest": line.honest}
        for line in report.attacks
        if line.right is not None and line.honest is not None
    ]
    marks = {"honest": "baseline", "right": "the attack"}
    return charts.spans(rows, "attack", marks, x_title="right guesses", width=_WIDE)


def _answers(report: Report) -> charts.Chart:
    """Error of count queries."""
    rows = [
        {"error": name, "share": share, "columns": f"{line.columns} column{'s' if line.columns > 1 else ''}"}
        for line in report.answers
        if line.selectivity == SELECTIVITIES[0]
        for name, share in zip(bound_names(), line.shares, strict=True)
    ]
    across, upwards = "how far the answer is off", "share of queries"
    return charts.columns(rows, "error", "share", "columns", x_title=across, y_title=upwards, width=_WIDE)


def _before_after(report: Report) -> dict[str, charts.Chart | None]:
    """`shares-N` is that of column N."""
    found = report.before_after
    if found is None:
        return {}
    shares = {f"shares-{place}": draw_shares(column, _WIDE) for place, column in enumerate(found.columns)}
    return {**shares, "trust": draw_trust(found) if found.pairs else None}


def _tradeoff(around: Tradeoff) -> charts.Chart:
    """Loss against certainty for the promise and those around it."""
    rows = [
        {
            "promise": one.promise,
            "belief": one.belief,
            "loss": one.loss,
            "which": "this release" if one.is_asked else "other promises",
        }
        for one in sorted(around.settings, key=lambda one: not one.is_asked)
    ]
    return charts.scatter(
        rows,
        "belief",
        "loss",
        "which",
        label="promise",
        x_title=around.belief_name,
        y_title=around.loss_name,
        frontier=sorted(rows, key=lambda row: float(str(row["belief"]))),
        percent=True,
        width=_WIDE,
        height=240,
    )
