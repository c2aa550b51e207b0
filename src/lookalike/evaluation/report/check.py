"""The report that lies in a release folder, written again from the release and compared.

What a published report says follows from the release (`Basis.public`), but for its date and its recipient. These are
read from the report, bounded, and said to be stated by the publisher. A report that cannot be written again here (with
scores, or by other versions of libraries) is named as not checked, with the reason.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lookalike.audit import Check
from lookalike.errors import quoted
from lookalike.evaluation import charts
from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.contents import Report
from lookalike.evaluation.report.examples import Examples
from lookalike.evaluation.report.page import REPORT, REPORT_PAGE, report_documents
from lookalike.files.releases.describe import quote_text, title_problem
from lookalike.pipeline.surplus.canonical import first_difference
from lookalike.untrusted import load_json

OWN_REPORT = "stated report"
_BOTH = f"{REPORT_PAGE}, {REPORT}"
_SCORED = ("attacks", "attacks_not_made", "answers", "uses", "tradeoff", "bound_sentence")
"""What a published report has only with scores."""
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,30}")
_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?")


@dataclass(frozen=True)
class Rebuilt:
    """What was found of a report."""

    check: Check | None = None
    stated: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()


def has_examples(report: bytes) -> bool:
    """Whether a report shows made-up people, which take time to make again."""
    stated = _parse_report(report)
    return stated is not None and stated.get("examples") is not None


def rebuild(documents: Mapping[str, bytes], basis: Basis, title: str, examples: Examples | None) -> Rebuilt:
    """Hold the report among the documents of a folder against what the public basis gives."""
    if set(documents) != {REPORT, REPORT_PAGE}:
        return _fail(f"the folder has only one of {_BOTH}")
    stated = _parse_report(documents[REPORT])
    if stated is None:
        return _fail(f"{REPORT} is not valid JSON")
    if any(stated.get(key) for key in _SCORED):
        return _not_checked("with figures that are scored on the original, which an audit does not work out")
    if (charts.NOT_DRAWN in _as_list(stated.get("left_out"))) == charts.can_draw():
        return _not_checked("its charts cannot be drawn here as they were")
    date, recipient = _date(stated.get("date")), stated.get("recipient")
    if date is None:
        return _fail(f"{REPORT}, date: it is no date")
    if recipient is not None and (not isinstance(recipient, str) or title_problem(recipient) is not None):
        return _fail(f"{REPORT}, recipient: it is no short text on one line")
    made = Report.on(basis, title, recipient=recipient, examples=examples, date=date)
    versions = stated.get("versions")
    other = _other_versions(versions, made.versions)
    if other and isinstance(versions, dict):
        made = replace(made, versions=versions)
    said = [f"that its report is of {date.isoformat()}"]
    said += [f"that it is made for {quote_text(recipient)}"] if recipient is not None else []
    found = _compare(documents, stated, report_documents(made))
    if found.check is not None and not found.check.passed and other:
        return _not_checked(f"made with {', '.join(other)}, and so by other words or draws than here")
    return replace(found, stated=tuple(said))


def _compare(documents: Mapping[str, bytes], stated: Any, own: Mapping[str, bytes]) -> Rebuilt:
    if documents[REPORT] != own[REPORT]:
        place = first_difference(stated, json.loads(own[REPORT]))
        if place is None:
            return _fail(f"{REPORT} has other white space, spellings or an other order of keys than lookalike writes")
        return _fail(f"{REPORT} says something else than the release: {quoted(place)}")
    if documents[REPORT_PAGE] == own[REPORT_PAGE]:
        detail = f"{_BOTH}: byte for byte what lookalike writes for this release"
        return Rebuilt(Check(OWN_REPORT, True, detail))
    pages = [page.decode(errors="replace") for page in (documents[REPORT_PAGE], own[REPORT_PAGE])]
    if len({_without_places(page) for page in pages}) == 1:
        detail = f"{_BOTH}: what lookalike writes for this release, but for places in charts"
        return Rebuilt(
            Check(OWN_REPORT, True, detail), (), (f"where {REPORT_PAGE} places what its charts show (other fonts)",)
        )
    return _fail(f"{REPORT_PAGE} is not the page that lookalike writes for this release")


def _without_places(page: str) -> str:
    """A page with the numbers in its charts left out: where texts end depends on the fonts of a machine."""
    return _SVG.sub(lambda chart: _NUMBER.sub("0", chart[0]), page)


def _parse_report(report: bytes) -> dict[str, Any] | None:
    try:
        stated = load_json(report.decode())
    except ValueError:
        return None
    return stated if isinstance(stated, dict) else None


def _as_list(entries: object) -> list[Any]:
    return entries if isinstance(entries, list) else []


def _date(text: object) -> datetime.date | None:
    try:
        date = datetime.date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return date if date is not None and date.isoformat() == text else None


def _other_versions(stated: object, own: Mapping[str, str]) -> list[str]:
    """Libraries whose version differs; none where what is stated are no versions."""
    if not isinstance(stated, dict) or list(stated) != list(own):
        return []
    if not all(isinstance(version, str) and _VERSION.fullmatch(version) for version in stated.values()):
        return []
    return [f"{name} {version}" for name, version in stated.items() if version != own[name]]


def _fail(detail: str) -> Rebuilt:
    return Rebuilt(Check(OWN_REPORT, False, detail))


def _not_checked(reason: str) -> Rebuilt:
    return Rebuilt(not_checked=(f"{_BOTH} ({reason})",))
