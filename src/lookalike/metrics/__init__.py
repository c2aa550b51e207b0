"""How good or how bad a release is. Every metric reads a `Release` and its original, never the record map.

`METRICS` are computed for every release; those that need no original are in its folder (`shared.losses`). `FIDELITY`
compares distributions with those of the original: slower, and about the original, so they stay with its owner. Metrics
with one formula share a file, which is listed beside their names.
"""

from __future__ import annotations

from lookalike.data.contracts import Metric
from lookalike.data.families import Family

METRICS = Family[Metric](
    __name__,
    gcp="loss",
    ail="loss",
    discernibility="group_sizes",
    average_group_size="group_sizes",
    msbs="group_sizes",
    values_changed="values_changed",
)
FIDELITY = Family[Metric](
    __name__,
    marginal_distance="fidelity",
    pair_distance="fidelity",
    correlation_difference="fidelity",
    propensity_pmse="learning",
    propensity_ratio="learning",
    accuracy_loss="learning",
)
