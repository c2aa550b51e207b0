"""How much a perturbed column says about single rows: the share of values that the matrix changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.data.contracts import ORIGINAL
from lookalike.data.microdata import Microdata
from lookalike.data.release import Perturbed, Release


@dataclass(frozen=True)
class ValuesChanged:
    """The expected share of sensitive values that are published as another; the mean over perturbed columns."""

    name: ClassVar[str] = "values_changed"
    needs: ClassVar[str] = ORIGINAL

    def measure(self, release: Release, original: Microdata) -> float:
        if not isinstance(release, Perturbed) or not release.randomizers:
            return float("nan")
        kept = [
            float(original.counts(index) @ (np.diag(randomizer.weights) / randomizer.total)) / original.n_rows
            for index, randomizer in enumerate(release.randomizers)
        ]
        return 1 - sum(kept) / len(kept)
