"""pMSE: how well a tree tells rows of drawn worlds from rows of the original.

The mean square of what it believes beyond one half, on the rows it was trained on; at most 1/4. As many rows of both
sides are taken with replacement, so even a table compared with itself is two samples of one distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.worlds import WorldModel
from lookalike.data.contracts import Compared
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.data.worlds import World
from lookalike.metrics.shared.metric import WrittenMetric
from lookalike.metrics.shared.trees import MOST_ROWS, Ints, import_trees, least_leaf
from lookalike.randomness import Randomness


class Propensity(NamedTuple):
    """How well rows of a release can be told from rows of its original."""

    pmse: float
    by_chance: float
    """The same where labels are at random."""

    @property
    def ratio(self) -> float:
        return self.pmse / self.by_chance if self.by_chance > 0 else float("nan")


def propensity(original: Microdata, release: Release, *, worlds: int = 5, seed: int = 0) -> Propensity:
    """The mean over some worlds."""
    tree, _ = import_trees()
    rng = Randomness(seed).child("propensity")
    true = _join_columns(original)
    found, chance = [], []
    drawn_from = WorldModel.of(release)
    for turn in range(worlds):
        draws = rng.child("world", turn)
        drawn = _join_columns(drawn_from.draw(draws.child("draw")))
        n_rows = min(MOST_ROWS, len(true), len(drawn))
        rows = np.concatenate(
            [side[draws.child(name).integers(len(side), n_rows)] for name, side in (("true", true), ("drawn", drawn))]
        )
        labels = np.repeat([0, 1], n_rows)
        state = int(draws.child("tree").integers(1 << 31, 1)[0])
        model = tree(min_samples_leaf=least_leaf(n_rows), random_state=state)
        found.append(_pmse(model, rows, labels))
        chance.append(_pmse(model, rows, labels[draws.child("labels").permutation(len(labels))]))
    return Propensity(float(np.mean(found)), float(np.mean(chance)))


def _pmse(model: Any, rows: NDArray[np.float32], labels: Ints) -> float:
    believed = model.fit(rows, labels).predict_proba(rows)[:, 1]
    return float(((believed - 0.5) ** 2).mean())


def _join_columns(table: Microdata | World) -> NDArray[np.float32]:
    return np.column_stack((table.quasi, table.sensitive)).astype(np.float32)


class PropensityMeanSquaredError(WrittenMetric):
    """How well a tree tells rows of the release from rows of the original."""

    name = "propensity_pmse"
    title = "pMSE of a tree that tells release from original"

    def measure(self, original: Microdata, release: Release) -> float:
        return propensity(original, release).pmse

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        """Nothing: the ratio says it."""
        return []
