"""Checks the audit and the report in a release folder: writes them again from the release and compares.

Everything in them follows from the release (`Basis.public`), except the date of the report, its recipient, purpose and
the like, and the names of removed columns where the original given here has others. These are read from the report
within limits, and listed as stated by the publisher. A report that cannot be written again
here (because it has scores, or other library versions wrote it) is listed as not checked, with the reason.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lookalike.audit import Check, Examined
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import StatedPersons
from lookalike.data.release import Release
from lookalike.data.statement import Statement
from lookalike.errors import SchemaError, quoted
from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.columns import may_be_named
from lookalike.evaluation.report.contents import Report
from lookalike.evaluation.report.examples import Examples, make_up_examples
from lookalike.evaluation.report.page import AUDIT, PAPER, REPORT, REPORT_PAGE, REPORTS, audit_json, report_documents
from lookalike.files.releases.describe import REWRITTEN, quote_text
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import digests_of
from lookalike.files.tables.formats import MOST_FIELDS
from lookalike.metrics.shared.losses import ShownRanges, public_losses, round_figure, same_figure
from lookalike.pipeline.hidden_data.folder import can_be_audited_alike, first_difference
from lookalike.pipeline.run import measure
from lookalike.untrusted import load_json, read_bytes

OWN_REPORT, _OWN_AUDIT = "stated report", "stated audit"
_BOTH = f"{REPORT_PAGE}, {REPORT}"
_SCORED = (
    "attacks",
    "attacks_not_made",
    "attacks_not_run",
    "answers",
    "before_after",
    "uses",
    "tradeoff",
    "bound_sentence",
)
"""What a published report has only with scores."""
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,30}")


@dataclass(frozen=True)
class Documents:
    """What a folder says of itself besides its description."""

    title: str
    contents: Mapping[str, bytes]
    """By the name of the file."""
    examples: Examples | None
    """Made-up people, made again from the release."""
    same_types: bool
    """Whether the original was read with the types that its publisher read; values are sorted by them."""
    series: str | None = None
    """How the release was held against others, as its description states."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Of the files that a report has the digests of."""
    removed: tuple[str, ...] = ()
    """The columns of the original that are not published."""


@dataclass(frozen=True)
class Rebuilt:
    """What was found of the documents."""

    checks: tuple[Check, ...] = ()
    stated: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    only_digests: bool = False
    """Whether all that is wrong with the report are digests of other files."""

    def beside(self, checks: Sequence[Check]) -> Rebuilt:
        """What to say of it where `checks` of the files themselves say already that one was changed."""
        others = [check for check in self.checks if check.name != OWN_REPORT]
        if not self.only_digests or all(check.passed for check in (*checks, *others)):
            return self
        said = f"{_BOTH} (files that it has the digests of were changed)"
        return replace(self, checks=tuple(others), not_checked=(*self.not_checked, said))


def read_documents(opened: ReleaseFolder, data: Microdata, names: Sequence[str] = ()) -> Documents | None:
    """The documents of a folder; None if an audit does not have their words. `names`: the columns of the original."""
    manifest = opened.manifest
    if not can_be_audited_alike(manifest):
        return None
    contents = {}
    for name in REWRITTEN:
        if name in manifest.files:
            try:
                contents[name] = read_bytes(opened.path / name)
            except OSError:
                contents[name] = b""
    examples = None
    # A brief report has none.
    if (_parse_object(contents.get(REPORT, b"")) or {}).get("examples") is not None:
        examples = make_up_examples(opened)
    fields = {field.name: field.type for listed in manifest.tables.values() for field in listed}
    same_types = all(fields.get(domain.name) is domain.type for domain in data.domains.sensitive)
    published = {attribute.name for attribute in opened.schema.attributes}
    return Documents(
        manifest.title,
        contents,
        examples,
        same_types,
        manifest.series,
        digests_of(opened.path, [name for name in manifest.files if name not in (*REPORTS, PAPER)]),
        tuple(name for name in names if name not in published),
    )


def check_documents(
    documents: Documents,
    data: Microdata,
    release: Release,
    examined: Examined,
    promises: tuple[Promise, ...],
    algorithm: Algorithm | None,
    *,
    persons: StatedPersons | None = None,
) -> Rebuilt:
    """Audit and report of a folder, held against what lookalike writes for this release."""
    contents = dict(documents.contents)
    if algorithm is None:
        # Said by the check of the description.
        return Rebuilt(not_checked=(f"{', '.join(contents)} (of no known method)",))
    losses, by_column = measure(data, release)
    basis = Basis.of_reading(
        release,
        examined,
        promises=promises,
        algorithm=algorithm,
        losses=losses,
        loss_by_column=by_column,
        series=documents.series,
        persons=persons,
        removed=documents.removed,
    ).public()
    checks: tuple[Check, ...] = ()
    if (text := contents.pop(AUDIT, None)) is not None:
        exact = public_losses(
            losses,
            by_column,
            basis.domains,
            basis.form,
            release.withheld.n_suppressed,
            ShownRanges.of(release),
            rounding=lambda loss: loss,
            by_persons=data.persons is not None,
        )
        basis = _with_stated_losses(basis, text, exact)
        checks = (_check_audit(text, basis),)
    if not contents:
        return Rebuilt(checks)
    if not documents.same_types:
        said = f"{', '.join(contents)} (the original was read with other types of values)"
        return Rebuilt(checks, not_checked=(said,))
    found = _check_report(contents, basis, documents)
    return replace(found, checks=(*checks, *found.checks))


def _with_stated_losses(basis: Basis, text: bytes, exact: tuple[Mapping[str, float], Mapping[str, float]]) -> Basis:
    """Losses as audit.json states them, where that is how they round on this machine or on another."""
    stated = _parse_object(text) or {}
    found: list[dict[str, float]] = []
    for key, figures in zip(("loss", "loss_by_column"), exact, strict=True):
        known = stated[key] if isinstance(stated.get(key), dict) else {}
        found.append(
            {
                name: known[name] if same_figure(known.get(name), figure) else round_figure(figure)
                for name, figure in figures.items()
            }
        )
    return replace(basis, losses=found[0], loss_by_column=found[1])


def _check_audit(text: bytes, basis: Basis) -> Check:
    """Whether the audit that is in the folder is, byte for byte, what this one writes."""
    own = audit_json(basis)
    if text == own:
        return Check(_OWN_AUDIT, True, "audit.json is what this audit writes, byte for byte")
    try:
        place = first_difference(load_json(text.decode()), json.loads(own))
    except ValueError:
        return Check(_OWN_AUDIT, False, "audit.json is not valid JSON")
    detail = "audit.json has other white space, spellings, keys or an other order of keys than lookalike writes"
    if place is not None:
        detail = f"audit.json says something else than this audit finds: {quoted(place)}"
    return Check(_OWN_AUDIT, False, detail)


def _check_report(contents: Mapping[str, bytes], basis: Basis, documents: Documents) -> Rebuilt:
    """Hold the report among the documents of a folder against what the public basis gives."""
    if set(contents) != set(REPORTS):
        return _fail(f"the folder has only one of {_BOTH}")
    stated = _parse_object(contents[REPORT])
    if stated is None:
        return _fail(f"{REPORT} is not valid JSON")
    if any(stated.get(key) for key in _SCORED):
        return _not_checked("with figures that are scored on the original, which an audit does not work out")
    date = _date(stated.get("date"))
    if date is None:
        return _fail(f"{REPORT}, date: it is no date")
    try:
        given = Statement.from_plain({**stated.get("stated", {}), "recipient": stated.get("recipient")}, REPORT)
    except (TypeError, SchemaError) as error:
        return _fail(str(error) if isinstance(error, SchemaError) else f"{REPORT}, stated: it is no mapping")
    removed, n_unnamed = _read_removed(stated)
    other_columns = (removed, n_unnamed) != (basis.removed, basis.n_removed_unnamed)
    if other_columns:
        if not set(removed) <= set(documents.removed) or not may_be_named(removed):
            return _fail(f"{REPORT} names removed columns that the original given here lacks, or publishes")
        basis = replace(basis, removed=removed, n_removed_unnamed=n_unnamed)
    asked = replace(given, title=documents.title, date=date)
    made = Report.on(basis, asked, examples=documents.examples, digests=documents.digests)
    versions = stated.get("versions")
    other = _other_versions(versions, made.versions)
    if other and isinstance(versions, dict):
        made = replace(made, versions=versions)
    said = [f"that its report is of {date.isoformat()}"]
    said += _list_stated(given)
    if other_columns:
        said.append("which columns of the original were removed")
    found = _compare(contents, stated, report_documents(made))
    digests = _read_digests(stated)
    if not all(check.passed for check in found.checks) and digests is not None and digests != documents.digests:
        alike = Report.on(basis, asked, examples=documents.examples, digests=digests)
        again = replace(alike, versions=made.versions)
        if all(check.passed for check in _compare(contents, stated, report_documents(again)).checks):
            changed = [
                name for name in {**digests, **documents.digests} if digests.get(name) != documents.digests.get(name)
            ]
            said_of = ", ".join(map(quoted, changed))
            return replace(_fail(f"{REPORT} has other digests than the files: {said_of}"), only_digests=True)
    if other and not all(check.passed for check in found.checks):
        return _not_checked(f"made with {', '.join(other)}, and so by other words or draws than here")
    return replace(found, stated=tuple(said))


_STATED = {
    "recipient": "that it is made for",
    "purpose": "that its purpose is",
    "legal_basis": "that its legal basis is",
    "review_date": "that it is looked at again by",
    "contact": "that the contact is",
    "population": "that its people are a random sample of a population of",
}


def _list_stated(given: Statement) -> list[str]:
    return [f"{said} {quote_text(str(text))}" for name, said in _STATED.items() if (text := getattr(given, name))]


def _read_removed(stated: Mapping[str, Any]) -> tuple[tuple[str, ...], int]:
    """The removed columns that a report names, and the number of further ones."""
    try:
        listed = stated["certificate"]["columns"][0]
        names, n_others = listed["names"], listed["n_others"]
    except (KeyError, IndexError, TypeError):
        return (), 0
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return (), 0
    if not isinstance(n_others, int) or isinstance(n_others, bool) or not 0 <= n_others <= MOST_FIELDS:
        return (), 0
    return tuple(names), n_others


def _read_digests(stated: Mapping[str, Any]) -> dict[str, str] | None:
    """The digests of files that a report states; None where they are none."""
    try:
        digests = stated["certificate"]["digests"]
    except (KeyError, TypeError):
        return None
    if not isinstance(digests, dict) or not all(isinstance(text, str) for text in digests.values()):
        return None
    return dict(digests)


def _compare(documents: Mapping[str, bytes], stated: Any, own: Mapping[str, bytes]) -> Rebuilt:
    if documents[REPORT] != own[REPORT]:
        place = first_difference(stated, json.loads(own[REPORT]))
        if place is None:
            return _fail(f"{REPORT} has other white space, spellings or an other order of keys than lookalike writes")
        return _fail(f"{REPORT} says something else than the release: {quoted(place)}")
    if documents[REPORT_PAGE] == own[REPORT_PAGE]:
        return Rebuilt((Check(OWN_REPORT, True, f"{_BOTH}: byte for byte what lookalike writes for this release"),))
    return _fail(f"{REPORT_PAGE} is not the page that lookalike writes for this release")


def _parse_object(text: bytes) -> dict[str, Any] | None:
    try:
        stated = load_json(text.decode())
    except ValueError:
        return None
    return stated if isinstance(stated, dict) else None


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
    return Rebuilt((Check(OWN_REPORT, False, detail),))


def _not_checked(reason: str) -> Rebuilt:
    return Rebuilt(not_checked=(f"{_BOTH} ({reason})",))
