"""What metrics share: what holds of one that does not say otherwise, and how figures of parts are joined."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from lookalike.data.contracts import ORIGINAL, Compared, Metric
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.metrics.shared.cells import count_records


class WrittenMetric:
    """The base of metrics. One that does not say what it needs is about the original, and stays private."""

    name: ClassVar[str]
    needs: ClassVar[str] = ORIGINAL
    title: ClassVar[str] = ""
    axis: ClassVar[str | None] = ""
    forms: ClassVar[frozenset[str] | None] = None
    more_is_better: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = True
    """Whether every published row counts alike, also where persons have several."""
    over_columns: ClassVar[bool] = False
    """Whether it is the mean of a loss by column that is NCP for ranges of numbers."""
    joins: ClassVar[bool] = False

    @abstractmethod
    def measure(self, original: Microdata, release: Release) -> float:
        """Not a number where the form of the release has no such figure."""
        raise NotImplementedError

    def of_part(self, original: Microdata, release: Release) -> Any:
        return None

    def join(self, parts: Sequence[Any]) -> float:
        return math.nan

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        found = self.measure(original, release)
        return [] if math.isnan(found) else [Compared(self.name, self.title or self.name, 0.0, found)]


def title_metric(kind: type[Metric], unit: str | None = None) -> str:
    """What a report calls a metric; `unit`: what promises count where it has several rows, as person."""
    title = kind.title or kind.name
    if unit is None:
        return title
    return f"{title}, by {'row' if getattr(kind, 'counts_rows', True) else unit}s"


class MeanOverRows(WrittenMetric):
    """The base of metrics that are means over rows: parts hand on sums."""

    joins = True
    counts_suppressed: ClassVar[bool] = False
    """Whether the mean is over suppressed rows too, each with the loss 1 (`cells.with_suppressed`)."""

    def of_part(self, original: Microdata, release: Release) -> tuple[float, int] | None:
        mean = self.measure(original, release)
        n_rows = count_records(release) if self.counts_suppressed else release.n_rows
        return None if math.isnan(mean) else (mean * n_rows, n_rows)

    def join(self, parts: Sequence[tuple[float, int] | None]) -> float:
        known = [part for part in parts if part is not None]
        return math.fsum(total for total, _ in known) / max(sum(n for _, n in known), 1) if known else math.nan
