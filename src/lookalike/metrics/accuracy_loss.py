"""How much less often a forest is right that learned from drawn worlds instead of the original.

It predicts a column from the others, and is tested on held-out records of the original. The release was made with these
records too: large leaves remember little of them, but a small loss may come out as a small gain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lookalike.analysis.worlds import draw_worlds
from lookalike.data.contracts import Compared
from lookalike.data.microdata import Codes, Microdata
from lookalike.data.release import Release
from lookalike.data.worlds import World
from lookalike.metrics.shared.expected import Parts
from lookalike.metrics.shared.metric import WrittenMetric
from lookalike.metrics.shared.trees import MOST_ROWS, Ints, import_trees, least_leaf
from lookalike.randomness import Randomness

_N_CLASSES = 4
"""Parts that a numeric column is predicted in."""
_HELD_OUT = 0.3
_TREES = 50


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
    drawn = draw_worlds(release, worlds, rng)
    return learned_accuracies(original, drawn, seed=seed)


def learned_accuracies(original: Microdata, tables: Sequence[World | Microdata], *, seed: int = 0) -> list[Accuracy]:
    """The same for forests that learn from these tables, whose codes are those of the original."""
    rng = Randomness(seed).child("accuracy")
    held, kept = _hold_out(original, rng.child("held out"))
    if not len(kept):
        return []
    learned = []
    for turn, table in enumerate(tables):
        rows = rng.child("rows", turn).permutation(len(table.quasi))[: len(kept)]
        learned.append(table.only(rows) if isinstance(table, World) else table.take(rows))
    found = []
    for target in _targets(original):
        classes, inputs = target.split(original)
        train, test = classes[kept], classes[held]
        name = target.parts.domain.name
        state = rng.child("forest", name)
        by_original = _score_forest(inputs[kept], train, inputs[held], test, state)
        by_tables = [
            _score_forest(inputs_of_table, classes_of_table, inputs[held], test, state.child(turn))
            for turn, (classes_of_table, inputs_of_table) in enumerate(map(target.split, learned))
        ]
        by_release = float(np.mean(by_tables)) if by_tables else math.nan
        guess = np.bincount(train).argmax()
        found.append(Accuracy(name, by_original, by_release, float((test == guess).mean())))
    return found


def _hold_out(original: Microdata, rng: Randomness) -> tuple[Ints, Ints]:
    """Records to be predicted, and others to learn from: of a person with several rows all are on the same side."""
    order = rng.permutation(original.n_rows)
    n_held = max(1, min(round(_HELD_OUT * original.n_rows), MOST_ROWS))
    if original.persons is None:
        return order[:n_held], order[n_held:][:MOST_ROWS]
    drawn = rng.child("persons").permutation(int(original.persons.max()) + 1)
    before = np.cumsum(np.bincount(original.persons)[drawn]) - np.bincount(original.persons)[drawn]
    is_held = np.isin(original.persons[order], drawn[before < n_held])
    return order[is_held][:n_held], order[~is_held][:MOST_ROWS]


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
    _, forest = import_trees()
    model = forest(_TREES, min_samples_leaf=least_leaf(len(classes)), random_state=int(rng.integers(1 << 31, 1)[0]))
    guesses = model.fit(inputs.astype(np.float32), classes).predict(asked.astype(np.float32))
    return float((guesses == truth).mean())


class AccuracyLoss(WrittenMetric):
    """How much less often forests are right that learned from the release; the mean over what is predicted."""

    name = "accuracy_loss"
    title = "predictions lost"

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
