"""How much of a table's use is left in its release: one comparison, line by line, original / release / lost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import MissingPart
from lookalike.metrics.fidelity import CorrelationDifference, MarginalDistance, PairDistance
from lookalike.metrics.learning import accuracies, propensity
from lookalike.progress import Progress, silent


@dataclass(frozen=True)
class Compared:
    """One figure of the original and of the release."""

    metric: str
    what: str
    """In words."""
    original: float
    release: float

    @property
    def lost(self) -> float:
        """How far apart they are; of a prediction, how much less often it is right."""
        gap = self.original - self.release
        return gap if self.metric == "accuracy_loss" else abs(gap)


@dataclass(frozen=True)
class Fidelity:
    """What a release kept of its original, as a table to work with."""

    lines: tuple[Compared, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, metric: str) -> float:
        """The mean of what was lost over the lines of a metric."""
        lost = [line.lost for line in self.lines if line.metric == metric]
        if not lost:
            raise KeyError(metric)
        return sum(lost) / len(lost)

    def __str__(self) -> str:
        width = max((len(line.what) for line in self.lines), default=0)
        head = f"{'':{width}}  original  release     lost"
        rows = (
            f"{line.what:{width}}  {line.original:8.3f} {line.release:8.3f} {line.lost:8.3f}" for line in self.lines
        )
        return "\n".join((head, *rows))

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "lines": [
                {
                    "metric": line.metric,
                    "what": line.what,
                    "original": line.original,
                    "release": line.release,
                    "lost": line.lost,
                }
                for line in self.lines
            ],
            "notes": list(self.notes),
        }


def compare(release: Release, original: Microdata, seed: int = 0, progress: Progress = silent) -> Fidelity:
    """All lines; those that need scikit-learn are left out where it is missing, and a note says so."""
    progress("comparing", 0.0)
    lines = [
        Compared(
            MarginalDistance.name, "distance of single columns", 0.0, MarginalDistance().measure(release, original)
        )
    ]
    progress("comparing", 0.1)
    pairs = PairDistance().measure(release, original)
    if not math.isnan(pairs):
        lines.append(Compared(PairDistance.name, "distance of pairs of columns", 0.0, pairs))
        progress("comparing", 0.2)
        found = CorrelationDifference().associations(release, original)
        worst = max(found, key=lambda one: one.difference)
        said = f"correlation of {worst.columns[0]} and {worst.columns[1]} (changed most)"
        lines.append(Compared(CorrelationDifference.name, said, worst.original, worst.release))
    try:
        progress("comparing", 0.3)
        told = propensity(release, original, seed=seed)
        lines.append(Compared("propensity_ratio", "told apart by a tree (1: no better than chance)", 1.0, told.ratio))
        progress("comparing", 0.5)
        for one in accuracies(release, original, seed=seed):
            said = f"{one.column} predicted rightly (guessing: {one.guessing:.2f})"
            lines.append(Compared("accuracy_loss", said, one.original, one.release))
    except MissingPart as missing:
        return Fidelity(tuple(lines), (f"Nothing was learnt from the release. {missing}",))
    progress("comparing", 1.0)
    return Fidelity(tuple(lines))
