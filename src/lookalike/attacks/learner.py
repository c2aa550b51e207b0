"""A stronger learner than naive Bayes: trees from scikit-learn, trained on plain tables drawn from the release.

    Grouped, Matched   a published row becomes a record with a value drawn evenly from each of its cells
    Bucketized         a row of quasi-identifiers gets a value drawn from those of its bucket
    Perturbed          the rows as published; the matrix is taken back from what the trees predict

Cost: trees times rows to train, trees times records times values to guess. Boosting grows its trees for each value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import OnValues, Shares
from lookalike.attacks.shared.bayes import frequencies_of, logs_of, take_back
from lookalike.attacks.shared.judging import LEARNED_REMEDY, judge_learned
from lookalike.attacks.shared.persons import refuse_linked
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Target
from lookalike.data.microdata import Codes
from lookalike.data.parameters import Choice, Whole
from lookalike.data.release import Bucketized, Perturbed
from lookalike.data.worlds import draw_from_cells, nth_of
from lookalike.errors import MissingPart
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_LEAST_LEAF = 10
"""Rows that a leaf of a tree must have: smaller ones only remember."""
_DOUBT = 0.001
"""What is taken from a prediction and given to all values by frequency: a tree's "never" is no proof."""


@dataclass(frozen=True)
class LearnerAttack(OnValues):
    """Trees trained on plain tables drawn from the release."""

    name: ClassVar[str] = "learner"
    remedy: ClassVar[str] = LEARNED_REMEDY

    kind: Choice = Choice("forest", "boosting", default="forest")
    """Random forest, or gradient boosting."""
    trees: Whole = Whole(low=1, high=10_000, default=50)
    """Trees of the forest, or rounds of boosting (a tree for each value in each)."""
    rows: Whole = Whole(low=10, default=50_000)
    """Most rows to train on."""
    worlds: Whole = Whole(low=1, high=1000, default=3)
    """Times that a small release is drawn from, until there are enough rows."""
    within: Choice = Choice("all", "unit", default="all")
    """What it guesses among: all values, or those that the release leaves for a person's own group."""

    def refuses_persons(self, target: Target) -> str | None:
        return refuse_linked(target)

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        untrained = _choose_learner(self.kind, self.trees)
        progress("training", column / len(where.target.original.domains.sensitive))
        learn = partial(self._learn, column=column, untrained=untrained, rng=rng.child(column))
        learnt, said, strangers = self.fit(where, column, rng), _SAID[self.kind], rng.child(column, "strangers")
        figures = {"rows trained on": float(learnt.n_rows)}
        return judge_learned(self, where, column, learnt, learn, self.within, said, figures, strangers, progress)

    def fit(self, where: Whereabouts, column: int, rng: Randomness) -> Trees:
        """What it learns from the release about a sensitive column."""
        return self._learn(where, column, _choose_learner(self.kind, self.trees), rng.child(column))

    def _learn(self, where: Whereabouts, column: int, untrained: Callable[[int], Any], rng: Randomness) -> Trees:
        quasi, values = draw_rows(where, column, self.rows, self.worlds, rng.child("draw"))
        seed = int(rng.child("train").integers(1 << 31, 1)[0])
        return Trees(where, column, _train(untrained, seed, quasi, values), len(values))


_SAID = {
    "forest": "A random forest trained on the release",
    "boosting": "Gradient boosting trained on the release",
}


@dataclass(frozen=True, eq=False)
class Trees:
    """A trained model as a classifier that can be judged."""

    where: Whereabouts
    column: int
    predicted: Callable[[Codes], tuple[Ints, Shares]]
    """Values that were trained on, and the shares [records, these values] predicted."""
    n_rows: int = 0
    """Rows trained on."""

    @cached_property
    def frequencies(self) -> Shares:
        return frequencies_of(self.where, self.column)

    def log_likelihood(self, quasi: Codes) -> Shares:
        prior = self.frequencies / self.frequencies.sum()
        values, predicted = self.predicted(quasi)
        shares = np.zeros((len(quasi), len(prior)))
        shares[:, values] = predicted
        release = self.where.target.release
        if isinstance(release, Perturbed):
            shares = take_back(shares, release.randomizers[self.column])
            shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        shares = (1 - _DOUBT) * shares + _DOUBT * prior
        likelihood: Shares = np.where(prior > 0, logs_of(shares) - np.where(prior > 0, logs_of(prior), 0.0), -np.inf)
        return likelihood


def draw_rows(where: Whereabouts, column: int, most: int, worlds: int, rng: Randomness) -> tuple[Codes, Ints]:
    """Quasi-identifiers and values of rows drawn from the release: all of them once, then again, until enough."""
    release = where.target.release
    told = np.flatnonzero(~where.reading.is_told_dummy)
    if isinstance(release, Bucketized):
        told = np.flatnonzero(np.isin(release.bucket_of_quasi, release.bucket_of_sensitive[told]))
    turns = [
        told[rng.child("order", world).permutation(len(told))] for world in range(min(worlds, -(-most // len(told))))
    ]
    rows = np.concatenate(turns)[:most]
    if isinstance(release, Bucketized):
        return release.quasi[rows], _draw_from_buckets(where, release, column, rows, rng.child("values"))
    if isinstance(release, Perturbed):
        return release.quasi[rows], release.sensitive[rows, column].astype(np.int64)
    units = release.unit_of_row[rows].astype(np.int64)
    columns = [
        draw_from_cells(domain, extents, units, rng.child("cells", place))
        for place, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True))
    ]
    return np.column_stack(columns).astype(np.int32), release.sensitive[rows, column].astype(np.int64)


def _draw_from_buckets(where: Whereabouts, release: Bucketized, column: int, rows: Ints, rng: Randomness) -> Ints:
    told = ~where.reading.is_told_dummy
    buckets, values = release.bucket_of_sensitive[told], release.sensitive[told, column].astype(np.int64)
    order = np.argsort(buckets, kind="stable")
    mine = release.bucket_of_quasi[rows]
    first = np.searchsorted(buckets[order], mine)
    sizes = np.searchsorted(buckets[order], mine, side="right") - first
    drawn: Ints = values[order][first + nth_of(sizes, rng)]
    return drawn


def _choose_learner(kind: str, trees: int) -> Callable[[int], Any]:
    """What makes a model of a seed."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    except ImportError:
        raise MissingPart(
            "The attack learner needs scikit-learn, which is missing. Install it: pip install 'lookalike[attacks]'."
        ) from None
    if kind == "forest":
        return lambda seed: RandomForestClassifier(trees, min_samples_leaf=_LEAST_LEAF, random_state=seed)
    return lambda seed: HistGradientBoostingClassifier(
        max_iter=trees, min_samples_leaf=_LEAST_LEAF, early_stopping=False, random_state=seed
    )


def _train(
    untrained: Callable[[int], Any], seed: int, quasi: Codes, values: Ints
) -> Callable[[Codes], tuple[Ints, Shares]]:
    known = np.unique(values)
    if len(known) == 1:
        return lambda quasi: (known, np.ones((len(quasi), 1)))
    from threadpoolctl import threadpool_limits

    model = untrained(seed)

    def predicted(quasi: Codes) -> tuple[Ints, Shares]:
        with threadpool_limits(1):
            return model.classes_, model.predict_proba(quasi.astype(np.float32))

    # Boosting's threads wait for each other in a busy loop: on a machine with other work one is far quicker.
    with threadpool_limits(1):
        model.fit(quasi.astype(np.float32), values)
    return predicted
