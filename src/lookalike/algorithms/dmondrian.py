"""dmondrian: Mondrian as the paper on BUREL adapted it to beta-likeness by way of delta-disclosure, to compare with.

delta = ln(1 + min(beta, -ln p_max)), and delta-disclosure with it implies beta-likeness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from lookalike.algorithms.mondrian import MedianCuts
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import GRID, Requirement

# Smaller than what a count in a table of any size can tell apart.
_HAIR = Fraction(1, GRID)


@dataclass(frozen=True)
class DMondrian(MedianCuts):
    """Mondrian's median cuts while halves keep a delta-disclosure that implies beta-likeness; to compare with."""

    name: ClassVar[str] = "dmondrian"
    model: ClassVar[str] = "beta-likeness"

    def adapt(self, data: Microdata, requirement: Requirement) -> Requirement:
        """Every value strictly between p / e^delta and p e^delta; e^delta is the least ceiling over share."""
        assert requirement.column is not None
        assert requirement.ceilings is not None
        counts = data.prior(requirement.column)
        shares = [Fraction(int(count), int(counts.sum())) for count in counts]
        factor = min(ceiling / share for ceiling, share in zip(requirement.ceilings, shares, strict=True) if share > 0)
        asked = requirement.floors or (Fraction(0),) * len(shares)
        return replace(
            requirement,
            ceilings=tuple(min(share * factor - _HAIR, Fraction(1)) if share else Fraction(0) for share in shares),
            floors=tuple(
                max(share / factor + _HAIR, floor) if share else Fraction(0)
                for share, floor in zip(shares, asked, strict=True)
            ),
        )
