"""Carried columns in a report: what someone achieves who knows one of them, or all, beside what is promised.

In the report that goes with the release these are figures of its rows: how many are alone with their value in a group.
The owner's has what a reader finds who knows persons of the original, and which promises no longer hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.audit import CarriedRisk
from lookalike.evaluation.report.basis import Basis


@dataclass(frozen=True)
class CarriedLine:
    """What is known of someone who knows these columns. Shares are of the persons with a published row."""

    columns: tuple[str, ...]
    """Empty: an attacker who knows no carried column."""
    stated: bool
    """Whether the publisher states that nobody outside knows one of them."""
    n_persons: int
    smallest: int | None
    """Persons in the smallest group that is left."""
    single: float | None
    """Share of persons of whom exactly one row is left."""
    certain: float | None
    """Share of persons whose value of some sensitive column is certain: the highest of these columns."""
    highest: float | None
    """How sure the attacker is of a sensitive value at most."""
    broken: float | None
    """Share of persons for whom a promise no longer holds; None: not decided, or not said."""


def list_carried(basis: Basis) -> tuple[CarriedLine, ...]:
    """One line per attacker; empty where no column is carried, or the release does not show the figures."""
    stated = {domain.name for domain in basis.domains.carried if domain.attribute.carry_anyway}
    return tuple(_line(risk, stated, internal=basis.internal) for risk in basis.carried)


def _line(risk: CarriedRisk, stated: set[str], *, internal: bool) -> CarriedLine:
    by_candidates = risk.n_single_candidate is not None
    single = risk.n_single_candidate if by_candidates else risk.n_alone
    certain = risk.n_certain_candidates if by_candidates else risk.n_certain
    total = max(risk.n_persons, 1)
    return CarriedLine(
        columns=risk.columns,
        stated=not stated.isdisjoint(risk.columns),
        n_persons=risk.n_persons,
        smallest=risk.least,
        single=None if single is None else single / total,
        certain=max(certain.values()) / total if certain else None,
        highest=max((float(belief) for belief in risk.highest.values()), default=None),
        broken=risk.n_broken / total if internal and risk.n_broken is not None else None,
    )
