"""Beliefs in each sensitive value: before the release, at most after it, and what the promises allow.

Shares are those of the published values. In a report that goes with its release, ceilings are left out where records
were suppressed: they follow from the original's shares, which would reveal what the suppressed records had.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.release import Perturbed
from lookalike.evaluation.report.basis import Basis

_MOST_VALUES = 40


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
        said = [f"belief in {_quote(line.value)} {_rise(line)}" for line in dict.fromkeys((rare, common))]
        return f"Of the values shown, {' and '.join(said)}."


def belief_table(basis: Basis, index: int) -> BeliefTable:
    """The table of one sensitive column."""
    domain, seen = basis.domains.sensitive[index], basis.seen[index]
    counts = _count_published(basis, index, seen)
    shares = counts / max(int(counts.sum()), 1)
    highest = np.zeros(len(seen.prior))
    np.maximum.at(highest, seen.values, (seen.weights / seen.sizes[seen.unit_of_entry]).astype(float))
    ceilings = _ceilings(basis, index, domain, seen.prior)
    present = np.flatnonzero(shares > 0)
    growth = highest[present] / shares[present]
    shown = present[np.argsort(-growth, kind="stable")][:_MOST_VALUES]
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
    if not found or (basis.withheld.n_suppressed and not basis.internal):
        return None
    return [min(shares) for shares in zip(*found, strict=True)]


def _count_published(basis: Basis, index: int, seen: Exposure) -> NDArray[np.int64]:
    """How often each value is published, made-up records set aside: what the audit found, all less the suppressed."""
    if basis.form == Perturbed.form or not basis.withheld.n_suppressed:
        return seen.prior
    return seen.prior - basis.withheld.suppressed[index]


def _rise(line: BeliefLine) -> str:
    allowed = "" if line.ceiling is None else f" ({100 * line.ceiling:.3g} % would be allowed)"
    return f"may rise from {100 * line.share:.3g} % to at most {100 * line.belief:.3g} %{allowed}"


def _quote(text: str) -> str:
    return f'"{text}"'
