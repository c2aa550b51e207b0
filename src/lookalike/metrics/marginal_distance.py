"""The mean over columns of the total variation distance between original and release."""

from __future__ import annotations

import numpy as np

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.metrics.shared.expected import Expected, Observed, all_parts, total_variation
from lookalike.metrics.shared.metric import WrittenMetric


class MarginalDistance(WrittenMetric):
    """How far the counts of single columns are off, on average."""

    name = "marginal_distance"
    title = "distance of single columns"

    def measure(self, original: Microdata, release: Release) -> float:
        return float(np.mean(list(self.by_column(original, release).values())))

    def by_column(self, original: Microdata, release: Release) -> dict[str, float]:
        parts = all_parts(original)
        expected, observed = Expected(release, parts), Observed(original, parts)
        return {
            of.domain.name: total_variation(expected.column(place), observed.column(place))
            for place, of in enumerate(parts)
        }
