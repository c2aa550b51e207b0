"""What an experiment is: how it is measured, what is drawn, and what a reproduction must show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lookalike.apps.papers.bench import Bench

Row = dict[str, Any]
"""One measurement: the parameter on the x axis, `series`, `repetition`, and figures by name."""


@dataclass(frozen=True)
class Figure:
    """A picture of the paper: which measured figure it shows, over which parameter."""

    name: str
    """As the paper numbers it, such as hg-6a."""
    x: str
    y: str
    x_title: str
    y_title: str
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, eq=False)
class Results:
    """All measurements of an experiment."""

    rows: tuple[Row, ...]

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(row["series"] for row in self.rows))

    def values(self, x: str, y: str, series: str) -> dict[Any, list[float]]:
        """For each x the repetitions of a figure."""
        found: dict[Any, list[float]] = {}
        for row in self.rows:
            if row["series"] == series and row.get(y) is not None:
                found.setdefault(row[x], []).append(float(row[y]))
        return found

    def means(self, x: str, y: str, series: str) -> dict[Any, float]:
        return {at: float(np.mean(numbers)) for at, numbers in self.values(x, y, series).items()}

    def below(self, x: str, y: str, lower: str, upper: str, slack: float = 0.0) -> bool:
        """Whether one series' mean lies below another's wherever both were measured."""
        low, high = self.means(x, y, lower), self.means(x, y, upper)
        shared = [at for at in low if at in high]
        return bool(shared) and all(low[at] <= high[at] * (1 + slack) for at in shared)

    def falls(self, x: str, y: str, series: str, slack: float = 0.0) -> bool:
        """Whether a series falls from its first to its last x, and nowhere rises by more than the slack."""
        means = self.means(x, y, series)
        numbers = [means[at] for at in sorted(means)]
        steps = all(after <= before * (1 + slack) for before, after in zip(numbers, numbers[1:], strict=False))
        return len(numbers) > 1 and numbers[-1] < numbers[0] and steps

    def rises(self, x: str, y: str, series: str, slack: float = 0.0) -> bool:
        """Whether a series rises from its first to its last x, and nowhere falls by more than the slack."""
        means = self.means(x, y, series)
        numbers = [means[at] for at in sorted(means)]
        steps = all(after >= before * (1 - slack) for before, after in zip(numbers, numbers[1:], strict=False))
        return len(numbers) > 1 and numbers[-1] > numbers[0] and steps


@dataclass(frozen=True)
class Shape:
    """What a reproduction must show, in words and as a test; noise is allowed for in the test."""

    claim: str
    test: Callable[[Results], bool]


@dataclass(frozen=True)
class Experiment:
    """One run of measurements, which one or several of a paper's figures show."""

    paper: str
    """BL, GB, MA, HG or FF."""
    title: str
    setting: str
    """Data set and parameters, in a sentence."""
    reports: str
    """What the paper says it found."""
    figures: tuple[Figure, ...]
    measure: Callable[[Bench], Iterator[Row]]
    shapes: tuple[Shape, ...]
    stand_in: bool = False
    """Whether its data set is never at hand, so that it always runs on a stand-in."""
    differs: str = ""
    """What is done otherwise than in the paper, and why; errors of the paper."""

    @property
    def name(self) -> str:
        return self.figures[0].name

    @property
    def names(self) -> Sequence[str]:
        return [figure.name for figure in self.figures]
