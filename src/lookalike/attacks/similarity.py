"""Similarity: values that differ but mean much the same.

A group may hold many values and still tell that a person has some disease of the nerves. The attack replaces every
value by its ancestor in the taxonomy of the sensitive column and reads the probabilities in ancestors. On level h
stands, for
each value, its highest ancestor of height h at most, so that the levels of an uneven tree are partitions as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.attack import (
    Shares,
    WrittenAttack,
    best_guess_share,
    find_ceilings,
    n_certain,
    n_rows_above,
    needs_sensitive,
    row_max,
    rows_above,
    score_guesses,
)
from lookalike.attacks.shared.consequence import NO_GAIN, PERMITTED, Consequence, Result
from lookalike.attacks.shared.persons import (
    PersonClasses,
    are_right,
    count_kinds,
    lack_classes,
    list_known,
    refuse_classes,
)
from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs, honest_guesses
from lookalike.attacks.skewness import rises_of
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.parameters import OptionalExact
from lookalike.data.taxonomy import Taxonomy
from lookalike.errors import LookalikeError, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness


class _Reached(NamedTuple):
    """What is believed on one level."""

    level: int
    highest: float
    gain: float
    beliefs: Any
    ancestor_of_value: NDArray[np.int64]
    prior: NDArray[np.int64]


@dataclass(frozen=True)
class Similarity(WrittenAttack):
    """Reads probabilities in kinds of values, by the taxonomy of the sensitive column."""

    name: ClassVar[str] = "similarity"
    remedy: ClassVar[str] = "It is about kinds of values: t-closeness with distance=hierarchical limits it."
    most_records: ClassVar[int | None] = None
    most_cells: ClassVar[int | None] = None

    level: OptionalExact = OptionalExact(low=1)
    """Level of the taxonomy, 1 just above the values; all below the root, and the worst reported, if left out."""

    def refuses(self, target: Target) -> str | None:
        reason = needs_sensitive(target)
        if reason is not None:
            return reason
        if self.level is not None and self.level.denominator != 1:
            return "the level must be a whole number, 1 for the one just above the values."
        domains = target.original.domains.sensitive
        if all(domain.taxonomy is None for domain in domains):
            return "no sensitive column has a taxonomy that says which values are alike. Give one in the schema."
        if not any(self._levels(domain.taxonomy) for domain in domains if domain.taxonomy is not None):
            return "the taxonomy has no such level between the values and the root. Give one that has more levels."
        return super().refuses(target)

    def refuses_persons(self, target: Target) -> str | None:
        return refuse_classes(target)

    def lacks(self, target: Target) -> str | None:
        return lack_classes(target)

    def explain(self, result: Result) -> Consequence:
        column, name = result.column, str(result.finding.column)
        place = [domain.name for domain in result.target.original.domains.sensitive].index(name)
        limited = find_ceilings(result.target, place) is not None
        if not result.finding.n_affected:
            more = f"more certain than {result.limits} allows single values to be" if limited else "certain for anybody"
            return Consequence(NO_GAIN, f"No kind of {column} (such as a group of alike values) is {more}.")
        what = f"more certain than the limit of {result.limits}" if limited else "certain"
        about = f"{result.limits} is about single values" if result.promises else f"No promise is about {column}"
        return Consequence(
            PERMITTED,
            f"{about}. The kind of {column} (such as a group of alike values) is {what} for "
            f"{result.share_of_people()}. {self.remedy}",
        )

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        whereabouts = Whereabouts.of(target)
        return [
            self._on(whereabouts, column, domain.taxonomy)
            for column, domain in enumerate(target.original.domains.sensitive)
            if domain.taxonomy is not None and self._levels(domain.taxonomy)
        ]

    def _levels(self, tree: Taxonomy) -> list[int]:
        inner = range(1, int(tree.heights[0]))
        return [level for level in inner if self.level is None or level == self.level]

    def _on(self, whereabouts: Whereabouts, column: int, tree: Taxonomy) -> Finding:
        target = whereabouts.target
        original = target.original
        if original.persons is not None:
            return self._on_persons(target, column, tree)
        values, prior = whereabouts.beliefs(column), original.counts(column)
        reached = [_measure_level(values, prior, tree, level) for level in self._levels(tree)]
        worst = max(reached, key=lambda found: (round(found.highest, 9), found.gain))
        truth = original.sensitive[:, column]
        kinds = worst.ancestor_of_value[truth].astype(np.int32)
        score = score_guesses(honest_guesses(worst.beliefs, worst.prior), kinds)
        highest_value = row_max(values)
        n_sure_kinds = n_certain(row_max(worst.beliefs))
        n_sure_values = n_certain(highest_value)
        ceilings = _ceilings_on_kinds(target, column, worst.prior)
        name = original.domains.sensitive[column].name
        sentence = (
            f'On level {worst.level} of the taxonomy of "{name}" a kind of value is believed with {worst.highest:.1%} '
            f"at most, where a single value is with {float(highest_value.max(initial=0.0)):.1%}; the kind is certain "
            f"for {n_sure_kinds:,} of {original.n_rows:,} persons, the value for {n_sure_values:,}. The certainty in a "
            f"kind grows by {worst.gain:.3g} times its share at most."
        )
        figures = {
            "highest certainty in a value": float(highest_value.max(initial=0.0)),
            "records certain of kind": float(n_sure_kinds),
        }
        for found in reached:
            figures[f"highest certainty, level {found.level}"] = found.highest
            figures[f"highest gain (beta), level {found.level}"] = found.gain
        return Finding(
            attack=str(self),
            column=name,
            sentence=sentence,
            score=score,
            baselines={
                "most frequent value": float(worst.prior.max() / original.n_rows),
                "values of the group": best_guess_share(values, prior, truth),
            },
            n_affected=n_sure_kinds if ceilings is None else n_rows_above(worst.beliefs, ceilings),
            figures=figures,
        )

    def _on_persons(self, target: Target, column: int, tree: Taxonomy) -> Finding:
        """Persons have a kind if they have some value of it; kinds are counted, not values added up."""
        original, classes = target.original, PersonClasses.of(target)
        assert classes is not None
        reached = [_measure_persons(classes, column, tree, level) for level in self._levels(tree)]
        worst = max(reached, key=lambda found: (round(found.highest, 9), found.gain))
        known, kind_of_value = list_known(original), worst.ancestor_of_value
        guessed = np.full(original.n_rows, int(np.argmax(worst.prior)), dtype=np.int64)
        guessed[classes.records] = honest_guesses(worst.beliefs, np.asarray(worst.prior))[classes.units]
        right = are_right(original, column, guessed[known], known, kind_of_value)
        by_values = are_right(original, column, classes.guesses(column)[known], known)
        highest_value, highest_kind = row_max(classes.shares(column)), row_max(worst.beliefs)
        n_sure_values, n_sure_kinds = (n_certain(classes.highest(highest)) for highest in (highest_value, highest_kind))
        ceilings, noun = _ceilings_on_kinds(target, column, worst.prior), original.schema.unit_name
        n_affected = n_sure_kinds
        if ceilings is not None:
            n_affected = int(classes.any_of(rows_above(worst.beliefs, ceilings)).sum())
        name = original.domains.sensitive[column].name
        figures = {
            "highest certainty in a value": float(highest_value.max(initial=0.0)),
            f"{noun}s certain of kind": float(n_sure_kinds),
        }
        for found in reached:
            figures[f"highest certainty, level {found.level}"] = found.highest
            figures[f"highest gain (beta), level {found.level}"] = found.gain
        return Finding(
            attack=str(self),
            column=name,
            sentence=(
                f'On level {worst.level} of the taxonomy of "{name}" a kind of value of a {noun} is believed with '
                f"{worst.highest:.1%} at most, where a single value is with "
                f"{float(highest_value.max(initial=0.0)):.1%}; a kind is certain for {n_sure_kinds:,} of "
                f"{counted(classes.n_persons, noun)}, a value for {n_sure_values:,}. The certainty in a kind grows by "
                f"{worst.gain:.3g} times the share of {noun}s who have it at most."
            ),
            score=Score(int(right.sum()), len(known)),
            baselines={
                "most frequent value": float(worst.prior.max() / classes.n_persons),
                "values of the group": float(by_values.mean()),
            },
            n_affected=n_affected,
            figures=figures,
        )


def ancestors_on(tree: Taxonomy, level: int) -> NDArray[np.int64]:
    """The node that stands for each leaf on a level: its highest ancestor of that height at most."""
    nodes = tree.leaf_nodes.astype(np.int64)
    while True:
        above = tree.parents[nodes]
        lifted = np.where((above >= 0) & (tree.heights[above] <= level), above, nodes)
        if (lifted == nodes).all():
            return nodes
        nodes = lifted


def _measure_level(values: Any, prior: NDArray[np.int64], tree: Taxonomy, level: int) -> _Reached:
    _, kind_of_value = np.unique(ancestors_on(tree, level), return_inverse=True)
    kind_of_value = kind_of_value.reshape(-1).astype(np.int64)
    n_values, n_kinds = len(kind_of_value), int(kind_of_value.max()) + 1
    beliefs = sparse.csr_array(values @ count_pairs(np.arange(n_values), kind_of_value, (n_values, n_kinds)))
    kinds = np.bincount(kind_of_value, weights=prior, minlength=n_kinds).astype(np.int64)
    gain = float(rises_of(beliefs, kinds / max(int(kinds.sum()), 1)).max(initial=1.0)) - 1
    return _Reached(level, float(row_max(beliefs).max(initial=0.0)), gain, beliefs, kind_of_value, kinds)


def _measure_persons(classes: PersonClasses, column: int, tree: Taxonomy, level: int) -> _Reached:
    kind_of_value = np.unique(ancestors_on(tree, level), return_inverse=True)[1].reshape(-1).astype(np.int64)
    beliefs = classes.shares(column, kind_of_value)
    kinds = count_kinds(classes.original, column, kind_of_value)
    gain = float(rises_of(beliefs, np.asarray(kinds) / classes.n_persons).max(initial=1.0)) - 1
    return _Reached(level, float(row_max(beliefs).max(initial=0.0)), gain, beliefs, kind_of_value, kinds)


def _ceilings_on_kinds(target: Target, column: int, prior: NDArray[np.int64]) -> Shares | None:
    """The least ceilings that the promises would set if kinds were values; None if they set none."""
    found = []
    for promise in target.promises:
        if promise.column != target.original.domains.sensitive[column].name:
            continue
        try:
            required = promise.model.requirement(prior, None, column)
        except LookalikeError:
            # The promise is about values that it names.
            continue
        if required.ceilings is not None:
            found.append([float(ceiling) for ceiling in required.ceilings])
    return np.min(found, axis=0) if found else None
