"""How like its original a release is to a machine that learns: can it tell the two apart, and does it learn as much?

    propensity_pmse    a tree is trained to tell rows of a drawn world from rows of the original; the mean square of
                       what it believes beyond one half, on the rows it was trained on; at most 1/4
    propensity_ratio   that, divided by what comes out where there is nothing to tell: the same with labels at random.
                       About 1: the tree finds nothing; there is no upper end
    accuracy_loss      a forest predicts a column from the others, trained on the original and trained on drawn worlds,
                       tested on the same held-out records of the original; how much less often it is right

Rows of both sides are taken with replacement, as many of one as of the other, so that even a table compared with itself
is two samples of one distribution. All choices come from `seed`: the same release gives the same figures.
The release was made with the held-out records too, so a little of what they say is in it; leaves of many rows remember
little of that, but a small loss may come out as a small gain. These metrics take seconds, so they are computed on
request. They need scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Compared
from lookalike.data.microdata import Codes, Microdata
from lookalike.data.release import Release
from lookalike.data.worlds import World, draw_world
from lookalike.errors import MissingPart
from lookalike.metrics.shared.expected import Parts
from lookalike.metrics.shared.metric import WrittenMetric
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_MOST_ROWS = 20_000
"""Rows of a side that are learnt from at most."""
_LEAST_LEAF, _LEAVES = 10, 50
"""A leaf has at least ten rows and a fiftieth of all: smaller ones remember rows, also those of held-out records."""
_N_CLASSES = 4
"""Parts that a numeric column is predicted in."""
_HELD_OUT = 0.3
_TREES = 50


def _trees() -> tuple[Any, Any]:
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingPart(
            "This metric needs scikit-learn, which is missing. Install it: pip install 'lookalike[attacks]'."
        ) from None
    return DecisionTreeClassifier, RandomForestClassifier


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
    tree, _ = _trees()
    rng = Randomness(seed).child("propensity")
    true = _join_columns(original)
    found, chance = [], []
    for turn in range(worlds):
        draws = rng.child("world", turn)
        drawn = _join_columns(draw_world(release, draws.child("draw")))
        n_rows = min(_MOST_ROWS, len(true), len(drawn))
        rows = np.concatenate(
            [side[draws.child(name).integers(len(side), n_rows)] for name, side in (("true", true), ("drawn", drawn))]
        )
        labels = np.repeat([0, 1], n_rows)
        state = int(draws.child("tree").integers(1 << 31, 1)[0])
        model = tree(min_samples_leaf=max(_LEAST_LEAF, n_rows // _LEAVES), random_state=state)
        found.append(_pmse(model, rows, labels))
        chance.append(_pmse(model, rows, labels[draws.child("labels").permutation(len(labels))]))
    return Propensity(float(np.mean(found)), float(np.mean(chance)))


def _pmse(model: Any, rows: NDArray[np.float32], labels: Ints) -> float:
    believed = model.fit(rows, labels).predict_proba(rows)[:, 1]
    return float(((believed - 0.5) ** 2).mean())


def _join_columns(table: Microdata | World) -> NDArray[np.float32]:
    return np.column_stack((table.quasi, table.sensitive)).astype(np.float32)


@dataclass(frozen=True)
class PropensityMeanSquaredError(WrittenMetric):
    """How well a tree tells rows of the release from rows of the original."""

    name: ClassVar[str] = "propensity_pmse"
    title: ClassVar[str] = "pMSE of a tree that tells release from original"

    def measure(self, original: Microdata, release: Release) -> float:
        return propensity(original, release).pmse

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        """Nothing: the ratio says it."""
        return []


@dataclass(frozen=True)
class PropensityRatio(WrittenMetric):
    """The same, against what it would find in nothing."""

    name: ClassVar[str] = "propensity_ratio"
    title: ClassVar[str] = "told apart by a tree (1: no better than chance)"

    def measure(self, original: Microdata, release: Release) -> float:
        return propensity(original, release).ratio

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        return [Compared(self.name, self.title, 1.0, propensity(original, release, seed=seed).ratio)]


class Accuracy(NamedTuple):
    """How often a column is predicted rightly for held-out records."""

    column: str
    original: float
    """By a forest trained on the original."""
    release: float
    """By forests trained on worlds, on average."""
    guessing: float
    """By the most frequent value."""


def accuracies(original: Microdata, release: Release, *, worlds: int = 3, seed: int = 0) -> list[Accuracy]:
    """Of each sensitive column from the quasi-identifiers, and of one quasi-identifier from all else."""
    rng = Randomness(seed).child("accuracy")
    order = rng.child("held out").permutation(original.n_rows)
    n_held = max(1, min(round(_HELD_OUT * original.n_rows), _MOST_ROWS))
    held, kept = order[:n_held], order[n_held:][:_MOST_ROWS]
    if not len(kept):
        return []
    drawn = []
    for turn in range(worlds):
        world = draw_world(release, rng.child("world", turn))
        drawn.append(world.only(rng.child("rows", turn).permutation(len(world))[: len(kept)]))
    found = []
    for target in _targets(original):
        classes, inputs = target.split(original)
        train, test = classes[kept], classes[held]
        name = target.parts.domain.name
        state = rng.child("forest", name)
        by_original = _score_forest(inputs[kept], train, inputs[held], test, state)
        by_worlds = [
            _score_forest(inputs_of_world, classes_of_world, inputs[held], test, state.child(turn))
            for turn, (classes_of_world, inputs_of_world) in enumerate(map(target.split, drawn))
        ]
        guess = np.bincount(train).argmax()
        found.append(Accuracy(name, by_original, float(np.mean(by_worlds)), float((test == guess).mean())))
    return found


class _Target(NamedTuple):
    """A column to be predicted."""

    place: int
    """Among the sensitive columns, or the quasi-identifiers."""
    is_sensitive: bool
    parts: Parts

    def split(self, table: Microdata | World) -> tuple[Ints, Codes]:
        """The classes of the rows, and what they are predicted from."""
        if self.is_sensitive:
            return self.parts.part_of_code[table.sensitive[:, self.place]], table.quasi
        others = np.delete(table.quasi, self.place, axis=1)
        return self.parts.part_of_code[table.quasi[:, self.place]], np.column_stack((others, table.sensitive))


def _targets(original: Microdata) -> list[_Target]:
    targets = [
        _Target(place, True, Parts.of(domain, original.sensitive[:, place], _N_CLASSES))
        for place, domain in enumerate(original.domains.sensitive)
    ]
    if original.quasi.shape[1] + original.sensitive.shape[1] > 1:
        # A category if there is one: it is predicted as it is.
        parts = [
            Parts.of(domain, original.quasi[:, at], _N_CLASSES) for at, domain in enumerate(original.domains.quasi)
        ]
        at = next((at for at, of in enumerate(parts) if not of.is_measured), 0)
        targets.append(_Target(at, False, parts[at]))
    return targets


def _score_forest(inputs: Codes, classes: Ints, asked: Codes, truth: Ints, rng: Randomness) -> float:
    """How often a forest trained on the one is right about the other."""
    _, forest = _trees()
    leaf = max(_LEAST_LEAF, len(classes) // _LEAVES)
    model = forest(_TREES, min_samples_leaf=leaf, random_state=int(rng.integers(1 << 31, 1)[0]))
    guesses = model.fit(inputs.astype(np.float32), classes).predict(asked.astype(np.float32))
    return float((guesses == truth).mean())


@dataclass(frozen=True)
class AccuracyLoss(WrittenMetric):
    """How much less often forests are right that learnt from the release; the mean over what is predicted."""

    name: ClassVar[str] = "accuracy_loss"
    title: ClassVar[str] = "predictions lost"

    def measure(self, original: Microdata, release: Release) -> float:
        found = accuracies(original, release)
        return float(np.mean([one.original - one.release for one in found])) if found else float("nan")

    def compare(self, original: Microdata, release: Release, seed: int) -> Sequence[Compared]:
        found = accuracies(original, release, seed=seed)
        said = "{} predicted rightly (guessing: {:.2f})"
        return [
            Compared(self.name, said.format(one.column, one.guessing), one.original, one.release, signed=True)
            for one in found
        ]
