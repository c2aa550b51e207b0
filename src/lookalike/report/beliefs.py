"""Beliefs in each sensitive value: before the release, at most after it, and what the promises allow.

A report goes with its release, so shares are those of the published values: next to the original's they would tell what
the suppressed records had. Ceilings that follow from the original's shares are left out for the same reason where
records were suppressed. Of redrawn values the true shares are told only where the promise holds against who knows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.adversary import READS_RELEASE
from lookalike.exposure import Exposure
from lookalike.microdata import Domain
from lookalike.release import Perturbed
from lookalike.report.basis import Basis

MOST_VALUES = 40


@dataclass(frozen=True)
class BeliefLine:
    """One sensitive value: its share of the table, the highest belief a reader can reach, what the promises allow."""

    value: str
    share: float
    belief: float
    ceiling: float | None


@dataclass(frozen=True)
class BeliefTable:
    """Values of a column, the most frequent first: all, or those whose belief grows most."""

    column: str
    lines: tuple[BeliefLine, ...]
    n_values: int

    @property
    def sentence(self) -> str:
        """The rarest and the most frequent of the lines in words."""
        rare, common = (pick(self.lines, key=lambda line: line.share) for pick in (min, max))
        said = [f"belief in {_quoted(line.value)} {_rise(line)}" for line in dict.fromkeys((rare, common))]
        return f"Of the values shown, {' and '.join(said)}."


def may_be_told(basis: Basis) -> bool:
    """Whether the promise holds against a reader who knows how often each value occurs."""
    return basis.form != Perturbed.form or basis.adversary != READS_RELEASE


def belief_table(basis: Basis, index: int) -> BeliefTable:
    """The table of one sensitive column."""
    domain, seen = basis.domains.sensitive[index], basis.seen[index]
    counts = _published(basis, index, seen)
    shares = counts / max(int(counts.sum()), 1)
    highest = np.zeros(len(seen.prior))
    np.maximum.at(highest, seen.values, (seen.weights / seen.sizes[seen.unit_of_entry]).astype(float))
    ceilings = _ceilings(basis, index, domain, seen.prior)
    present = np.flatnonzero(shares > 0)
    growth = highest[present] / shares[present]
    shown = present[np.argsort(-growth, kind="stable")][:MOST_VALUES]
    shown = shown[np.argsort(-shares[shown], kind="stable")]
    lines = tuple(
        BeliefLine(
            domain.texts[code],
            float(shares[code]),
            float(highest[code]),
            None if ceilings is None else min(1.0, float(ceilings[code])),
        )
        for code in shown
    )
    return BeliefTable(domain.name, lines, len(present))


def _ceilings(basis: Basis, index: int, domain: Domain, prior: NDArray[np.int64]) -> list[Fraction] | None:
    """The least ceiling that the promises set for each value."""
    found = [
        requirement.ceilings
        for promise in basis.promises
        if promise.column == domain.name
        and (requirement := promise.model.requirement(prior, domain, index)).ceilings is not None
    ]
    least = [min(shares) for shares in zip(*found, strict=True)] if found else None
    if least is not None and basis.withheld.n_suppressed and len(set(least)) > 1:
        return None
    return least


def _published(basis: Basis, index: int, seen: Exposure) -> NDArray[np.int64]:
    """How often each value is published, made-up records set aside: what the audit found, all less the suppressed."""
    if basis.form == Perturbed.form or not basis.withheld.n_suppressed:
        return seen.prior
    return seen.prior - basis.withheld.suppressed[index]


def _rise(line: BeliefLine) -> str:
    allowed = "" if line.ceiling is None else f" ({100 * line.ceiling:.3g} % would be allowed)"
    return f"may rise from {100 * line.share:.3g} % to at most {100 * line.belief:.3g} %{allowed}"


def _quoted(text: str) -> str:
    return f'"{text}"'
