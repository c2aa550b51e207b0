"""GCP: the mean loss (NCP) of all cells of quasi-identifiers, every column alike; those of a suppressed row lose 1."""

from __future__ import annotations

from lookalike.data.contracts import DOMAINS
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, Matched, Release
from lookalike.metrics.shared.cells import loss_by_column, mean_loss
from lookalike.metrics.shared.metric import MeanOverRows


class GlobalCertaintyPenalty(MeanOverRows):
    """The mean share of a quasi-identifier's domain that a published cell spans."""

    name = "gcp"
    needs = DOMAINS
    title = "Mean loss over all quasi-identifier cells (GCP, 0 to 1)"
    axis = "loss (GCP)"
    forms = frozenset({Grouped.form, Matched.form})
    counts_suppressed = True
    over_columns = True

    def measure(self, original: Microdata, release: Release) -> float:
        return mean_loss(loss_by_column(release))
