"""How good or how bad a release is. One table from name to metric; every metric reads a `Release` alone or with its
original, never the linkage.
"""

from __future__ import annotations

from lookalike.contracts import Metric
from lookalike.metrics.grouping import AverageGroupSize, Discernibility, MeanSquaredBucketSize
from lookalike.metrics.loss import AverageInformationLoss, GlobalCertaintyPenalty, loss_by_column
from lookalike.metrics.redrawing import ValuesChanged

METRICS: dict[str, type[Metric]] = {
    GlobalCertaintyPenalty.name: GlobalCertaintyPenalty,
    AverageInformationLoss.name: AverageInformationLoss,
    Discernibility.name: Discernibility,
    AverageGroupSize.name: AverageGroupSize,
    MeanSquaredBucketSize.name: MeanSquaredBucketSize,
    ValuesChanged.name: ValuesChanged,
}

__all__ = [
    "METRICS",
    "AverageGroupSize",
    "AverageInformationLoss",
    "Discernibility",
    "GlobalCertaintyPenalty",
    "MeanSquaredBucketSize",
    "ValuesChanged",
    "loss_by_column",
]
