"""How good or how bad a release is. Tables from name to metric; every metric reads a `Release` and its original, never
the linkage.

`METRICS` are computed for every release; those that need no original are in its folder (`public_losses`). `FIDELITY`
compares distributions with those of the original: slower, and about the original, so they stay with its owner.
`PartLosses` are sums that parts of a release hand on, and `join_losses` makes `METRICS` of the whole from them.
"""

from __future__ import annotations

from lookalike.data.contracts import Metric
from lookalike.metrics.fidelity import CorrelationDifference, MarginalDistance, PairDistance
from lookalike.metrics.group_sizes import AverageGroupSize, Discernibility, MeanSquaredBucketSize
from lookalike.metrics.learning import AccuracyLoss, PropensityMeanSquaredError, PropensityRatio
from lookalike.metrics.loss import AverageInformationLoss, GlobalCertaintyPenalty, loss_by_column
from lookalike.metrics.shared.losses import PartLosses, join_losses, public_losses, round_figure, same_figure
from lookalike.metrics.values_changed import ValuesChanged

METRICS: dict[str, type[Metric]] = {
    GlobalCertaintyPenalty.name: GlobalCertaintyPenalty,
    AverageInformationLoss.name: AverageInformationLoss,
    Discernibility.name: Discernibility,
    AverageGroupSize.name: AverageGroupSize,
    MeanSquaredBucketSize.name: MeanSquaredBucketSize,
    ValuesChanged.name: ValuesChanged,
}

FIDELITY: dict[str, type[Metric]] = {
    MarginalDistance.name: MarginalDistance,
    PairDistance.name: PairDistance,
    CorrelationDifference.name: CorrelationDifference,
    PropensityMeanSquaredError.name: PropensityMeanSquaredError,
    PropensityRatio.name: PropensityRatio,
    AccuracyLoss.name: AccuracyLoss,
}

__all__ = [
    "FIDELITY",
    "METRICS",
    "PartLosses",
    "join_losses",
    "loss_by_column",
    "public_losses",
    "round_figure",
    "same_figure",
]
