"""The report that goes with a release: plain data first, a self-contained page second, paper third.

It is published with the release. So it holds no seed, no path, no record and no timing, and what was scored against the
original is rounded (`contents`); example rows are made up from the release alone (`examples`). Every text that comes
from a table is escaped by the template engine or by the one that draws.

    basis       what it is made from: probabilities against ceilings, among how many rows people are hidden
    contents    what the report says          examples    made-up rows before and after
    certificate page one                      risk        before and after
    uses        what it is useful for
    page        the HTML and its charts       pdf         on paper, by a browser that is there
    folder      where they are written        check       the same again, to audit it
"""

from __future__ import annotations

from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.contents import Report
from lookalike.evaluation.report.examples import Examples, make_up_examples
from lookalike.evaluation.report.folder import choose_private, describe_release, open_destination, wants_full_report
from lookalike.evaluation.report.page import AUDIT, REPORTS, add_reports, audit_json, report_documents, to_html
from lookalike.evaluation.report.pdf import find_browser, to_pdf

__all__ = [
    "AUDIT",
    "REPORTS",
    "Basis",
    "Examples",
    "Report",
    "add_reports",
    "audit_json",
    "choose_private",
    "describe_release",
    "find_browser",
    "make_up_examples",
    "open_destination",
    "report_documents",
    "to_html",
    "to_pdf",
    "wants_full_report",
]
