"""AIL, the measure of the beta-likeness paper: as GCP, but a set or node counts its share of the domain."""

from __future__ import annotations

import numpy as np

from lookalike.data.contracts import DOMAINS
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Extents, Grouped, Matched, Ranges, Release
from lookalike.metrics.shared.cells import Losses, certainty_penalty, count_values, loss_by_column, mean_loss
from lookalike.metrics.shared.metric import MeanOverRows


def information_loss(domain: Domain, extents: Extents) -> Losses:
    """IL of each unit's cell: NCP for intervals; otherwise 0 for one value, else the share of the domain's values."""
    if isinstance(extents, Ranges) and domain.taxonomy is None:
        return certainty_penalty(domain, extents)
    counts = count_values(domain, extents)
    return np.where(counts <= 1, 0.0, counts / domain.size)


class AverageInformationLoss(MeanOverRows):
    """The loss measure used with BUREL: taxonomy nodes count their leaves."""

    name = "ail"
    needs = DOMAINS
    title = "Average information loss (AIL, 0 to 1)"
    axis = "loss (AIL)"
    forms = frozenset({Grouped.form, Matched.form})
    counts_suppressed = True
    over_columns = True

    def measure(self, original: Microdata, release: Release) -> float:
        return mean_loss(loss_by_column(release, information_loss))
