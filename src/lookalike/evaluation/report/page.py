"""The report as one HTML file: no script, no network, readable on paper, in light and in dark."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.contents import Report
from lookalike.metrics import METRICS
from lookalike.metrics.shared.metric import title_of


def _loss_name(name: str) -> str:
    """What a metric is called in reports; its name, if nobody here knows it."""
    return title_of(METRICS[name]) if name in METRICS else name


def to_html(report: Report) -> str:
    # The SVG comes from the library that draws, which escapes all text in it.
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


def _keep_whole(text: str, most: int | None = None) -> str:
    """Where the studio shortens, the report does not."""
    return text


_REPORTS = "lookalike.evaluation.report"
"""The package with the templates of reports."""
_FILTERS = {
    "percent": lambda share: f"{100 * share:.3g} %",
    "figure": lambda number: f"{number:,.4g}" if number < 1e6 else f"{number:,.0f}",
    "reached": _shorten,
    "clip": _keep_whole,
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
    environment.filters["loss_name"] = _loss_name
    return environment


@cache
def _template() -> jinja2.Template:
    return environment_of(_REPORTS).get_template("report.html")


AUDIT, REPORT_PAGE, REPORT = "audit.json", "report.html", "report.json"


def audit_json(basis: Basis) -> bytes:
    """The audit for programs."""
    return as_json({**basis.audit.to_plain(), "loss": basis.losses, "loss_by_column": basis.loss_by_column})


def report_documents(report: Report) -> dict[str, bytes]:
    """A report for people and for programs."""
    return {REPORT_PAGE: report.page.encode(), REPORT: as_json(report.to_plain())}


def as_json(plain: Any) -> bytes:
    return (json.dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()
