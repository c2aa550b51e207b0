"""Common knowledge in the owner's report: each promise without rules and against someone who uses them."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.audit.conditioning import BY_ROWS
from lookalike.audit.verdicts import format_number
from lookalike.evaluation.report.basis import Basis


@dataclass(frozen=True)
class RuledLine:
    """One promise against one attacker who uses the rules."""

    promise: str
    knows_group: bool
    """Whether the attacker also knows who is in each group."""
    asked: str
    without: str
    """What the release reaches against someone who uses no rules."""
    reached: str
    n_broken: int | None
    """Persons for whom the promise does not hold; None: not decided."""
    promised: bool
    """Whether the release is made to withstand this attacker."""
    detail: str


def list_ruled(basis: Basis) -> tuple[RuledLine, ...]:
    """One line per promise and attacker; empty without rules."""
    without = {
        str(promise): format_number(verdict.reached)
        for promise, verdict in zip(basis.promises, basis.audit.verdicts, strict=False)
    }
    return tuple(
        RuledLine(
            promise=str(one.promise),
            knows_group=one.way != BY_ROWS,
            asked=format_number(one.verdict.asked),
            without=without.get(str(one.promise), "-"),
            reached=format_number(one.verdict.reached),
            n_broken=one.n_broken,
            promised=one.verdict.passed is not None,
            detail=one.verdict.detail if one.n_broken is None else "",
        )
        for one in basis.conditioned
    )
