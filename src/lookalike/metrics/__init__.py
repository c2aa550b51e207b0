"""How good or how bad a release is. Every metric reads a `Release` and its original, never the record map.

`METRICS` are computed for every release; those that need no original are in its folder (`shared.losses`). `FIDELITY`
compares distributions with those of the original: slower, and about the original, so they stay with its owner.
`QUERIES` are errors of answers, which every form has: computed to compare methods.
"""

from __future__ import annotations

from lookalike.data.contracts import Metric
from lookalike.data.families import Family

METRICS = Family[Metric](__name__, "gcp", "ail", "discernibility", "average_group_size", "msbs", "values_changed")
_FIDELITY = "marginal_distance pair_distance correlation_difference propensity_pmse propensity_ratio accuracy_loss"
FIDELITY = Family[Metric](__name__, *_FIDELITY.split())
QUERIES = Family[Metric](__name__, "query_error")
