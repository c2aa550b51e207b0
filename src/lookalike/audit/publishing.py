"""What of an audit may lie in a release folder: what follows from the release itself (decision 17).

An audit holds the release against the original, so its details may say more than the release does: how many redrawn
rows kept their value, what a private graph reaches, what suppressed records had. The owner keeps those. Public is that
no check found a fault, and the levels of promises that anybody with the release can work out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lookalike.audit import preconditions
from lookalike.audit.verdicts import NO_FAULT, Audit, Check, Verdict
from lookalike.audit.verify import CONFIRMATION
from lookalike.data.release import Bucketized, Grouped, Matched

_WITH_THE_OWNER = "the level reached depends on more than the release: the owner of the original has it"

_FROM_TOTALS: dict[str, Callable[[Audit], str]] = {
    preconditions.ROW_COUNT: lambda audit: preconditions.rows_for_records(
        audit.n_rows, audit.n_records, audit.n_suppressed, audit.n_dummies
    ),
    preconditions.A_ROW: lambda audit: preconditions.describe_rows(audit.n_records - audit.n_suppressed),
    preconditions.A_BUCKET: lambda audit: preconditions.describe_buckets(audit.n_records - audit.n_suppressed),
}
"""Words that need no more than the numbers of rows and records."""


def public_audit(audit: Audit) -> Audit:
    """The audit without what depends on more of the original than its release shows."""
    return replace(
        audit,
        checks=tuple(_public_check(check, audit) for check in audit.checks if not check.name.startswith(CONFIRMATION)),
        verdicts=tuple(_public_verdict(verdict, audit) for verdict in audit.verdicts),
        measured=tuple(
            verdict for verdict in audit.measured if verdict.reached is not None and _shows_level(audit, verdict.column)
        ),
    )


def _shows_level(audit: Audit, column: str | None) -> bool:
    """Whether the release shows how far a promise about this column (None: about identity) is kept.

    Suppressed records count in the shares that values are compared with. Whom a matched row may belong to is in the
    private graph, and what was redrawn is known to the owner alone.
    """
    if column is None:
        return audit.form != Matched.form
    return shows_beliefs(audit) and not audit.n_suppressed


def shows_beliefs(audit: Audit) -> bool:
    """Whether the release shows which people share which values: in groups and buckets."""
    return audit.form in (Grouped.form, Bucketized.form)


def _public_check(check: Check, audit: Audit) -> Check:
    if check.blocks:
        return replace(check, detail="")
    words = _FROM_TOTALS.get(check.name)
    return Check(check.name, True, "" if words is None else words(audit), NO_FAULT)


def _public_verdict(verdict: Verdict, audit: Audit) -> Verdict:
    if _shows_level(audit, verdict.column):
        return verdict
    return replace(
        verdict, reached=None, detail=_WITH_THE_OWNER, unit_size=None, failing_units=None, failing_records=None
    )
