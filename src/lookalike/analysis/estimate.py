"""A count that was estimated, with what is known about its error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

LEVEL = 0.95


def spread(level: float) -> float:
    """How many standard errors an interval reaches to each side so that it covers with that probability."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}. It must lie between 0 and 1, for example 0.95.")
    return NormalDist().inv_cdf(0.5 + level / 2)


@dataclass(frozen=True)
class Estimate:
    """An estimated count.

    >>> print(Estimate(1234.4, 56.0, 5000, "reconstruction"))
    1,234 (95 %: 1,125 to 1,344; reconstruction over 5,000 rows)
    """

    unclipped: float
    """What the estimator says. It has no bias, and may lie below 0 or above the number of rows."""
    error: float
    """Its standard error."""
    n_rows: int
    """Rows that satisfy the conditions on exact columns; no count can be larger."""
    method: str

    @property
    def value(self) -> float:
        """The estimate, within what is possible."""
        return self._clip(self.unclipped)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Where the true count lies with about that probability; by the normal law, so rough below some ten rows."""
        reach = spread(level) * self.error
        return self._clip(self.unclipped - reach), self._clip(self.unclipped + reach)

    def _clip(self, number: float) -> float:
        return min(max(number, 0.0), float(self.n_rows))

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        rows = f"{self.method} over {self.n_rows:,} rows"
        if math.isnan(self.error):
            return f"{self.value:,.0f} ({rows}; its error is not known)"
        low, high = self.interval()
        return f"{self.value:,.0f} ({LEVEL:.0%}: {low:,.0f} to {high:,.0f}; {rows})".replace("%:", " %:")
