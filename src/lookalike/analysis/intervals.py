"""Answers with their intervals: how far the truth may be from an estimate, within what is possible.

An interval never leaves what a release makes certain: rows that certainly satisfy a query lie below it, rows that
possibly do above it. Between these two ends an estimate is put on the scale asin(sqrt(share)), on which errors are
about alike everywhere, as binomial ones are; its standard error there is that of the estimate over the slope. So
intervals are longer on the side where there is more room, and end where possibility ends.

How far the shares inside cells are off is not known but modelled (`spreading`), and it differs more between releases
than the normal law allows; Student's t with `_FREEDOM` degrees of freedom makes up for that. Errors of answers from
buckets follow the normal law on the same scale. Errors of perturbed counts are known exactly, and a count may be
estimated below 0: they follow the normal law as they are.
"""

from __future__ import annotations

import math
from enum import Enum
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
LEVEL = 0.95
_FREEDOM = 8
_HALF = 0.5
"""A whole number is where everything within half of it is."""


def _spread(level: float) -> float:
    """How many standard errors an interval reaches to each side by the normal law so that it covers as often."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}. It must lie between 0 and 1, for example 0.95.")
    return NormalDist().inv_cdf(0.5 + level / 2)


def _spread_wide(level: float) -> float:
    """The same by Student's t."""
    from scipy.special import stdtrit

    _spread(level)
    return float(stdtrit(_FREEDOM, 0.5 + level / 2))


class Law(Enum):
    """How far the truth lies from estimates, in standard errors."""

    EXACT = "exact"
    DEALT = "dealt"
    MODELLED = "modelled"


def standard_errors(level: float, law: Law) -> float:
    """How many standard errors an interval reaches to each side so that it holds the truth that often."""
    return _spread_wide(level) if law is Law.MODELLED else _spread(level)


class Answers(NamedTuple):
    """Estimated counts, their standard errors, and between which counts the truth lies for certain; one per query."""

    counts: Numbers
    errors: Numbers
    least: Numbers
    most: Numbers
    law: Law = Law.MODELLED
    whole: bool = True
    """Whether the truth is a whole number."""

    @classmethod
    def of_another(cls, counts: Numbers, errors: Numbers | None = None) -> Answers:
        """Answers of an estimator of which no more is known; counts without errors are their own intervals."""
        nothing = np.zeros(len(counts))
        most = np.full(len(counts), math.inf)
        return cls(counts, nothing if errors is None else errors, nothing, most, Law.EXACT)

    @property
    def figures(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """All that there is one of per query."""
        return self.counts, self.errors, self.least, self.most

    def intervals(self, level: float = LEVEL) -> tuple[Numbers, Numbers]:
        """From which count to which the truth lies with about that probability: whole numbers, if the truth is one."""
        return _find_intervals(self, level)


def _find_intervals(answers: Answers, level: float) -> tuple[Numbers, Numbers]:
    """An estimate without error is its own interval."""
    counts, errors, least, most, law, whole = answers
    if law is Law.EXACT:
        reach = _spread(level) * errors
        low, high = counts - reach, counts + reach
    else:
        floor, room = least - _HALF, most - least + 2 * _HALF
        share = np.clip((counts - floor) / room, _HALF / room, 1.0 - _HALF / room)
        place = np.arcsin(np.sqrt(share))
        slope = 2.0 * room * np.sqrt(np.maximum(share * (1.0 - share), 1e-12))
        reach = standard_errors(level, law) * errors / slope
        low = floor + room * np.sin(np.maximum(place - reach, 0.0)) ** 2
        high = floor + room * np.sin(np.minimum(place + reach, math.pi / 2)) ** 2
    within = np.clip(counts, least, most)
    lowest, highest = (np.ceil(least - 1e-6), np.floor(most + 1e-6)) if whole else (least, most)
    low, high = (np.clip(np.rint(end) if whole else end, lowest, highest) for end in (low, high))
    exact = errors == 0
    return np.where(exact, within, np.minimum(low, high)), np.where(exact, within, high)
