"""Inference: the sensitive value of a person, guessed from what is known of the person and the release.

    reader        the likeliest value among the rows that the person fits, over all classes whose cells hold the person;
                  of plain tables, among the nearest rows; the most frequent value where there are none
    naive-bayes   what a classifier learns from the release
    learner       what trees learn, where they can be trained soon enough
    definetti     what a classifier learns from dealing the values of each group, among the values the person fits

The same guesses are made about a control group of people who are not in the table (Article 29 Working Party, WP216).
Taking the best of several attackers would flatter it: the best is chosen on one half of the people, in the table and in
the control group, and scored on the other half.

A number counts as right within a share of its column's interquartile range, never within a share of itself.

Cost: records times classes for the reader, and what the classifiers take.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.definetti import DeFinettiAttack
from lookalike.attacks.learner import LearnerAttack
from lookalike.attacks.naive_bayes import NaiveBayesAttack
from lookalike.attacks.shared.attack import OnValues, WrittenAttack, majority
from lookalike.attacks.shared.consequence import Consequence, Result, explain_residual
from lookalike.attacks.shared.control import Guess, People, Seen, points_of
from lookalike.attacks.shared.judging import PERSONS_COUNTED, Classifier, guess_with, name_learned
from lookalike.attacks.shared.persons import is_linked, owners_of_records
from lookalike.attacks.shared.reader import Reader
from lookalike.attacks.shared.whereabouts import Whereabouts, honest_guesses, owners_of
from lookalike.data.contracts import LEAST_GUESSES, Finding, Residual, Score, Target
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Choice, Exact, Whole
from lookalike.data.schema import Kind
from lookalike.errors import MissingPart
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
READER, _NAIVE_BAYES, _LEARNER, _DEFINETTI = _ATTACKERS = ("reader", "naive-bayes", "learner", "definetti")
_BEST = "best"
_LINKED = "this release says which rows are the same person's, and this attacker reads rows one by one."


@dataclass(frozen=True)
class Inference(OnValues):
    """Guesses the sensitive values of people in the table and of a control group."""

    name: ClassVar[str] = "inference"
    looks_for_no_row: ClassVar[bool] = True
    most_records: ClassVar[int | None] = 200_000
    most_cells: ClassVar[int | None] = None
    kernels: ClassVar[Collection[str]] = ("containment.list_fitting",)
    remedy: ClassVar[str] = (
        "Promise something about values: l-diversity, t-closeness or beta-likeness limit what is learned."
    )

    attacker: Choice = Choice(_BEST, *_ATTACKERS, default=_BEST)
    """Who guesses: one of them, or the best, chosen on one half of the people and scored on the other."""
    tolerance: Exact = Exact(low=0, high=1, default=Fraction(1, 20))
    """A number is right within this share of its column's interquartile range."""

    people: Whole = Whole(low=2, default=10_000)
    """Most people to guess about, in the table and in the control group; of more, so many are drawn."""

    def explain(self, result: Result) -> Consequence:
        limits = f"{result.limits} limits how certain {result.column} becomes, and does not make it unknown"
        if not result.promises:
            limits = f"No promise is about {result.column}, so nothing limits this"
        remedy = "" if result.promises else self.remedy
        return explain_residual(result, f"of guesses of {result.column} are right", limits, remedy)

    def refuses_persons(self, target: Target) -> str | None:
        return _LINKED if is_linked(target) else None

    def refuses(self, target: Target) -> str | None:
        reason = super().refuses(target)
        if reason is None and self.attacker == _DEFINETTI:
            reason = DeFinettiAttack().refuses(target)
        return reason

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        target = where.target
        rule = _Rule.of(target, column, float(self.tolerance))
        targets, others = Seen.of(target).draw_alike(rng.child("people"), self.people)
        guesses = self._list_guesses(where, rule, rng)
        halves, other_halves = _halve(targets, rng.child("half")), _halve(others, rng.child("control half"))
        chosen, scored = next(iter(guesses)), (targets, others)
        is_choice = len(guesses) > 1 and len(targets) >= 2 * LEAST_GUESSES
        if is_choice:
            tried = {name: self._score(rule, guess, halves[0], other_halves[0]) for name, guess in guesses.items()}
            chosen = max(tried, key=lambda name: _rank(tried[name]))
            scored = halves[1], other_halves[1]
        progress("guessing", 0.9)
        residual = replace(self._score(rule, guesses[chosen], *scored), kind=chosen)
        name = target.original.domains.sensitive[column].name
        figures: dict[str, float] = {}
        if rule.is_numeric and residual.is_large_enough:
            figures |= {"right by rank": _share_by_rank(rule, guesses[chosen](scored[0]), scored[0])}
            if scored[1] is not None:
                figures["right by rank, control group"] = _share_by_rank(rule, guesses[chosen](scored[1]), scored[1])
        presence, theirs = (_fits(target, people) for people in (targets, others))
        if presence is not None:
            figures["fits some row"] = presence
        if theirs is not None:
            figures["fits some row, control group"] = theirs
        how = f" within {100 * float(self.tolerance):.0f} % of the interquartile range" if rule.is_numeric else ""
        counted_once = ""
        if target.original.persons is not None:
            counted_once = PERSONS_COUNTED.format(noun=target.original.schema.unit_name)
        who = f"The best of {len(guesses)} attackers ({chosen})" if is_choice else f"The attacker {chosen}"
        return Finding(
            attack=str(self),
            column=name,
            sentence=f'{who} guesses "{name}"{how}. {residual.sentence()}{counted_once}',
            score=Score(int(residual.right), residual.n),
            baselines={"most frequent value": residual.baseline or 0.0},
            residual=residual,
            figures=figures,
        )

    def _score(self, rule: _Rule, guess: Guess, targets: People, others: People | None) -> Residual:
        return Residual(
            n=len(targets),
            right=int(rule.are_right(guess(targets), targets).sum()),
            control_n=None if others is None else len(others),
            control_right=None if others is None else int(rule.are_right(guess(others), others).sum()),
            baseline=rule.baseline,
        )

    def _list_guesses(self, where: Whereabouts, rule: _Rule, rng: Randomness) -> Mapping[str, Guess]:
        """The attackers that can be had here, the plain reader first."""
        target, column = where.target, rule.column
        reader = Reader.of(Seen.of(target).wide)

        def read(people: People) -> Ints:
            return rule.pick(reader.beliefs(people.wide, column))

        found: dict[str, Guess] = {READER: read} if self.attacker in (_BEST, READER) else {}
        for name, attack in (
            (_NAIVE_BAYES, NaiveBayesAttack()),
            (_LEARNER, LearnerAttack()),
            (_DEFINETTI, DeFinettiAttack()),
        ):
            if self.attacker not in (_BEST, name) or attack.refuses(target) is not None:
                continue
            if self.attacker == _BEST and _takes_long(target, column, attack):
                continue
            try:
                known = target.worked_out.get(name_learned(str(attack), column))
                learnt = cast(Classifier, known) if known is not None else attack.fit(where, column, rng.child(name))
            except MissingPart:
                if self.attacker == name:
                    raise
                continue
            found[name] = guess_with(target, column, learnt, within="unit" if name == _DEFINETTI else "all")
        return found


def _takes_long(target: Target, column: int, attack: WrittenAttack) -> bool:
    """Whether a learner has too many records, or weighs too many values for each, to be tried by default."""
    n_rows, n_values = target.original.n_rows, target.original.domains.sensitive[column].n_codes
    too_many = attack.most_records is not None and n_rows > attack.most_records
    return too_many or (attack.most_cells is not None and n_rows * n_values > attack.most_cells)


def _halve(people: People | None, rng: Randomness) -> tuple[Any, Any]:
    if people is None:
        return None, None
    order = rng.permutation(len(people))
    middle = len(order) // 2
    return people.only(np.sort(order[:middle])), people.only(np.sort(order[middle:]))


def _rank(found: Residual) -> tuple[float, float]:
    return (found.share if found.uncut is None else found.uncut, found.share)


def _fits(target: Target, people: People | None) -> float | None:
    """The share of people who fit some row."""
    if people is None or len(people) < LEAST_GUESSES:
        return None
    reader = Reader.of(Seen.of(target).wide)
    if reader.is_plain:
        return None
    return float((np.diff(reader.beliefs(people.wide, 0).indptr) > 0).mean())


@dataclass(frozen=True, eq=False)
class _Rule:
    """When a guess of a value is right."""

    column: int
    domain: Domain
    prior: NDArray[np.int64]
    most_frequent: float
    tolerance: float
    """Of numbers: how far a right guess may be off."""
    rank_of_code: NDArray[np.float64]
    """Of numbers: the share of the table's values below each value, half of its equals included."""
    rank_tolerance: float

    @classmethod
    def of(cls, target: Target, column: int, tolerance: float) -> _Rule:
        original = target.original
        domain, counts = original.domains.sensitive[column], original.counts(column)
        off, ranks = 0.0, np.zeros(0)
        if domain.kind is Kind.NUMERIC and domain.taxonomy is None:
            there = counts[: len(domain.values)]
            values = np.repeat(domain.points, there)
            low, high = np.quantile(values, [0.25, 0.75]) if len(values) else (0.0, 0.0)
            off = tolerance * float(high - low)
            ranks = (np.cumsum(there) - there / 2) / max(int(there.sum()), 1)
        return cls(
            column,
            domain,
            original.prior(column),
            majority(original, column),
            off,
            ranks,
            # By rank half of all values lie between the quartiles.
            tolerance / 2,
        )

    @property
    def is_numeric(self) -> bool:
        return self.domain.kind is Kind.NUMERIC and self.domain.taxonomy is None

    @cached_property
    def _near(self) -> Any:
        """[values, values] which values are within the tolerance of each other (CSR)."""
        points = self.domain.points
        firsts = np.searchsorted(points, points - self.tolerance, side="left")
        lasts = np.searchsorted(points, points + self.tolerance, side="right")
        n_values = self.domain.n_codes
        sizes = lasts - firsts
        columns = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes - firsts, sizes)
        starts = np.concatenate(([0], np.cumsum(sizes), np.full(n_values - len(points), sizes.sum())))
        return sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(n_values, n_values))

    @cached_property
    def baseline(self) -> float:
        """How often the best single guess is right."""
        if not self.is_numeric:
            return self.most_frequent
        # One value within the tolerance of as many as can be; a person with several values counts once at most.
        within = self._near @ np.asarray(self.prior, dtype=np.float64)
        return min(float(within.max(initial=0.0)) * self.most_frequent / max(float(np.max(self.prior)), 1.0), 1.0)

    def pick(self, beliefs: Any) -> Ints:
        """The guess for each person; of numbers, the one with most rows within the tolerance."""
        if not self.is_numeric:
            return honest_guesses(beliefs, self.prior)
        prior = np.asarray(self.prior, dtype=np.float64)
        usual = int(np.argmax(self._near @ prior))
        within = sparse.csr_array(beliefs @ self._near)
        weights = within.data + 1e-9 * (self._near @ prior)[within.indices] / max(float(prior.sum()), 1.0)
        guesses = np.full(beliefs.shape[0], usual, dtype=np.int64)
        owners = owners_of(within)
        order = np.lexsort((weights, owners))
        guesses[owners[order]] = within.indices[order]
        return guesses

    def are_right(self, guesses: Ints, people: People) -> NDArray[np.bool_]:
        if not self.is_numeric:
            return people.are_right(self.column, guesses)
        truth = people.points[self.column]
        return _any_row(people, points_of(self.domain, guesses.astype(np.int32)), truth, self.tolerance)

    def are_right_by_rank(self, guesses: Ints, people: People) -> NDArray[np.bool_]:
        places = np.append(self.rank_of_code, [np.nan, np.nan])
        guessed = places[np.minimum(guesses, len(places) - 1)]
        # A number that the table lacks has the rank of where it would be.
        truth = np.interp(people.points[self.column], self.domain.points, self.rank_of_code)
        return _any_row(people, guessed, truth, self.rank_tolerance)


def _share_by_rank(rule: _Rule, guesses: Ints, people: People) -> float:
    return float(rule.are_right_by_rank(guesses, people).mean()) if len(people) else 0.0


_ROUNDING = 1e-12


def _any_row(
    people: People, guesses: NDArray[np.float64], truth: NDArray[np.float64], tolerance: float
) -> NDArray[np.bool_]:
    """Which persons have a row whose value is within the tolerance of the guess; two missing values are equal."""
    reach = tolerance * (1 + _ROUNDING) + _ROUNDING

    def near(guess: NDArray[np.float64], found: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray((np.abs(guess - found) <= reach) | (np.isnan(guess) & np.isnan(found)))

    if people.data.persons is None:
        return near(guesses, truth[people.known])
    owners = owners_of_records(people.data)
    guess_of_owner = np.full(int(owners.max()) + 1, np.inf)
    guess_of_owner[owners[people.known]] = guesses
    right = np.zeros(len(guess_of_owner), dtype=bool)
    np.logical_or.at(right, owners, near(guess_of_owner[owners], truth))
    return np.asarray(right[owners[people.known]])
