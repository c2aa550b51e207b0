"""GCP: the mean loss (NCP) of all published cells of quasi-identifiers, every column alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lookalike.data.contracts import DOMAINS
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, Matched, Release
from lookalike.metrics.shared.cells import ColumnLosses, join_columns, loss_by_column, mean_loss
from lookalike.metrics.shared.metric import WrittenMetric


@dataclass(frozen=True)
class GlobalCertaintyPenalty(WrittenMetric):
    """The mean share of a quasi-identifier's domain that a published cell spans."""

    name: ClassVar[str] = "gcp"
    needs: ClassVar[str] = DOMAINS
    title: ClassVar[str] = "Mean loss over all quasi-identifier cells (GCP, 0 to 1)"
    axis: ClassVar[str | None] = "loss (GCP)"
    forms: ClassVar[frozenset[str] | None] = frozenset({Grouped.form, Matched.form})
    joins: ClassVar[bool] = True

    def measure(self, original: Microdata, release: Release) -> float:
        return mean_loss(loss_by_column(release))

    def of_part(self, original: Microdata, release: Release) -> ColumnLosses:
        return ColumnLosses.of(release)

    def join(self, parts: Sequence[ColumnLosses]) -> float:
        return mean_loss(join_columns(parts))
