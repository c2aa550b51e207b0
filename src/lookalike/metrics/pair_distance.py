"""The mean over pairs of columns of the total variation distance between original and release."""

from __future__ import annotations

import numpy as np

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.metrics.shared.expected import list_pairs, total_variation
from lookalike.metrics.shared.metric import WrittenMetric


class PairDistance(WrittenMetric):
    """How far the counts of pairs of columns are off, on average; not a number if there is only one column."""

    name = "pair_distance"
    title = "distance of pairs of columns"

    def measure(self, original: Microdata, release: Release) -> float:
        found = self.by_pair(original, release)
        return float(np.mean(list(found.values()))) if found else float("nan")

    def by_pair(self, original: Microdata, release: Release) -> dict[tuple[str, str], float]:
        return {
            (one.domain.name, other.domain.name): total_variation(after, before)
            for one, other, before, after in list_pairs(original, release)
        }
