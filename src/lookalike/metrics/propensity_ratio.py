"""pMSE divided by that of labels at random. About 1: the tree finds nothing; there is no upper end."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.data.contracts import Compared
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.metrics.propensity_pmse import propensity
from lookalike.metrics.shared.metric import WrittenMetric


class PropensityRatio(WrittenMetric):
    """The same, against what it would find in nothing."""

    name = "propensity_ratio"
    title = "told apart by a tree (1: no better than chance)"

    def measure(self, original: Microdata, release: Release) -> float:
        return propensity(original, release).ratio

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        return [Compared(self.name, self.title, 1.0, propensity(original, release, seed=seed).ratio)]
