"""How much a perturbed column says about single rows: the share of values that the matrix changes or nobody sees."""

from __future__ import annotations

import numpy as np

from lookalike.data.microdata import Microdata
from lookalike.data.release import Perturbed, Release
from lookalike.metrics.shared.cells import with_suppressed
from lookalike.metrics.shared.metric import MeanOverRows


class ValuesChanged(MeanOverRows):
    """The expected share of sensitive values that are published as another; the mean over perturbed columns."""

    name = "values_changed"
    title = "Share of sensitive values changed (0 to 1)"
    axis = "share of values changed"
    forms = frozenset({Perturbed.form})
    counts_suppressed = True

    def measure(self, original: Microdata, release: Release) -> float:
        if not isinstance(release, Perturbed) or not release.randomizers or not original.n_rows:
            return float("nan")
        kept = [
            float(original.counts(index) @ (np.diag(randomizer.weights) / randomizer.total)) / original.n_rows
            for index, randomizer in enumerate(release.randomizers)
        ]
        return with_suppressed(1 - sum(kept) / len(kept), release)
