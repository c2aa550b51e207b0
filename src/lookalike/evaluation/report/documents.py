"""The documents of a release folder as bytes: audit.json, report.json and report.html.

Publishing writes them; an audit writes them again from what it read, and compares.
"""

from __future__ import annotations

import json
from typing import Any

from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.contents import Report
from lookalike.evaluation.report.page import to_html

AUDIT, REPORT_PAGE, REPORT = "audit.json", "report.html", "report.json"


def audit_json(basis: Basis) -> bytes:
    """The audit for programs."""
    return as_json({**basis.audit.to_plain(), "loss": basis.losses, "loss_by_column": basis.loss_by_column})


def report_documents(report: Report) -> dict[str, bytes]:
    """A report for people and for programs."""
    return {REPORT_PAGE: to_html(report).encode(), REPORT: as_json(report.to_plain())}


def as_json(plain: Any) -> bytes:
    return (json.dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()
