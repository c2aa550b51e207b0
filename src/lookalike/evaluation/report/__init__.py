"""The report that goes with a release: plain data first, a self-contained page second, paper third.

It is published with the release. So it holds no seed, no path, no record and no timing, and what was scored against the
original is rounded (`contents`); example rows are made up from the release alone (`examples`). Every text that comes
from a table is escaped by the template engine or by the one that draws.

    basis       what it is made from          contents    what the report says
    beliefs     beliefs against ceilings      examples    made-up rows before and after
    crowds      among how many rows           pictures    its charts
    page        the HTML                      paper       the PDF, by a browser that is there
    documents   what is written of them       rebuilding  the same again, to audit it
"""

from __future__ import annotations

from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.contents import Report
from lookalike.evaluation.report.examples import Examples, make_up_examples
from lookalike.evaluation.report.page import AUDIT, REPORT, REPORT_PAGE, as_json, audit_json, report_documents, to_html
from lookalike.evaluation.report.paper import find_browser, to_pdf
from lookalike.evaluation.report.pictures import draw_pictures
from lookalike.evaluation.report.rebuilding import has_examples, rebuild

__all__ = [
    "AUDIT",
    "REPORT",
    "REPORT_PAGE",
    "Basis",
    "Examples",
    "Report",
    "as_json",
    "audit_json",
    "draw_pictures",
    "find_browser",
    "has_examples",
    "make_up_examples",
    "rebuild",
    "report_documents",
    "to_html",
    "to_pdf",
]
