"""A classifier that was learned from a release, judged: what it guesses and believes of each person.

Guesses are held against the baseline. Probabilities are the attacker's own, and classifiers of this kind are far too
sure
of themselves; a certainty without ground discloses nothing. So it is also said what the evidence is worth: the power
between 0 and 1 to be given to it that fits the truth best, and 0 (which leaves what was believed before) unless another
clearly fits better.

Where persons have several rows a classifier guesses the value of the row that is known, and is right about the person
if some row has it. What it believes of the row says nothing exact about the person, so it is held against no promise.

Works through the records in blocks, so a million of them take little memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.attack import Shares, exposure_of, find_ceilings, majority, score_guesses, score_known
from lookalike.attacks.shared.bayes import logs_of
from lookalike.attacks.shared.control import Guess, People, Seen, guess_alike
from lookalike.attacks.shared.persons import PersonClasses
from lookalike.attacks.shared.reader import Reader
from lookalike.attacks.shared.whereabouts import SLACK, Whereabouts
from lookalike.data.contracts import Attack, Finding, Score, Target
from lookalike.data.microdata import Codes
from lookalike.data.release import Bucketized, Grouped, Matched, Release
from lookalike.errors import Unsupported
from lookalike.progress import Progress
from lookalike.randomness import Randomness

BLOCK = 2_000_000
"""Beliefs (records times values) that are worked out at once."""
EXPOSED = 16_000_000
"""Beliefs that are kept for an exposure; of larger tables only the counts are."""
_SAMPLE = 20_000
"""Records on which it is found out what the evidence is worth."""
_POWERS = tuple(step / 20 for step in range(21))
_TIE = 1e-9


class Classifier(Protocol):
    """What a learned classifier says of quasi-identifiers, as logarithms."""

    @property
    def frequencies(self) -> Shares:
        """[values] how often each value is in the release, as far as it can be read."""

    def log_likelihood(self, quasi: Codes) -> Shares:
        """[records, values] how well the quasi-identifiers go with each value, whatever its frequency."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What a classifier achieved on one column."""

    guesses: NDArray[np.int64]
    beliefs: Shares | None
    """[records, values] the attacker's own; None if they are too many to keep."""
    n_affected: int | None
    """Records believed above a ceiling by the attacker."""
    n_affected_in_truth: int | None
    """Records believed above a ceiling by who knows what the evidence is worth."""
    confidence: float
    """How sure the attacker is of its guesses, on average. Far above the share of right ones: it is overconfident."""
    power: float
    """What its evidence is worth: 0 nothing, 1 as much as it thinks."""
    honest: dict[str, float]


@dataclass(frozen=True)
class Strangers:
    """Guesses about people whose rows a classifier has not learned from, beside those about them when it has."""

    unseen: Score
    seen: Score

    @property
    def as_well(self) -> bool:
        """Whether it hardly matters, by enough people to tell: then what it knows is general."""
        return self.unseen.n_guesses >= 1000 and self.unseen.share >= 0.9 * self.seen.share


def judge_records(
    where: Whereabouts, column: int, classifier: Classifier, *, within: str, progress: Progress
) -> Judged:
    """Guesses and probabilities about every record, among all values or those that the plain reader leaves."""
    original = where.target.original
    by_persons = original.persons is not None
    ceilings = None if by_persons else find_ceilings(where.target, column)
    n_records, n_values = original.n_rows, original.domains.sensitive[column].n_codes
    classes = PersonClasses.of(where.target) if by_persons else None
    overlapping = by_persons and classes is None and isinstance(where.target.release, Grouped)
    needed = within == "unit" or overlapping
    views = _Views(where, column, classifier, within, _reader(where, column, needed=needed))
    order = np.argsort(-classifier.frequencies, kind="stable")
    power = views.power()
    guesses = np.zeros(n_records, dtype=np.int64)
    honest_guesses = np.zeros(n_records, dtype=np.int64)
    kept = np.zeros((n_records, n_values)) if n_records * n_values <= EXPOSED and not by_persons else None
    n_affected = n_affected_in_truth = 0
    sum_confidence = sum_honest = 0.0
    for block in _blocks(n_records, n_values):
        progress("guessing", block[0] / n_records)
        true_values, each = original.sensitive[block, column], np.arange(len(block))
        honest, base, evidence = views.of(block)
        guesses[block] = pick_best(_weigh(base, evidence, 1.0), order)
        beliefs = posteriors(base, evidence, 1.0)
        sum_confidence += float(beliefs[each, guesses[block]].sum())
        if kept is not None:
            kept[block] = beliefs
        if ceilings is not None:
            n_affected += _count_above(beliefs, ceilings)
            n_affected_in_truth += _count_above(posteriors(base, evidence, power), ceilings)
        if honest is not None:
            sum_honest += float(honest[each, true_values].sum())
            honest_guesses[block] = pick_best(honest, order)
    baselines = {"most frequent value": majority(original, column)}
    if classes is not None:
        baselines["likeliest value of the group"] = score_known(original, column, classes.guesses(column)).share
    elif by_persons and views.reader is not None:
        baselines["likeliest value of the group"] = score_known(original, column, honest_guesses).share
    elif views.reader is not None:
        baselines["values of the group"] = sum_honest / n_records
        baselines["likeliest value of the group"] = score_known(original, column, honest_guesses).share
    elif not by_persons and isinstance(where.target.release, Grouped):
        baselines |= _honest_in_groups(where, column)
    return Judged(
        guesses,
        kept,
        None if ceilings is None else n_affected,
        None if ceilings is None else n_affected_in_truth,
        sum_confidence / n_records,
        power,
        baselines,
    )


def _count_above(beliefs: Shares, ceilings: Shares) -> int:
    return int(np.count_nonzero((beliefs > ceilings * (1 + SLACK) + SLACK).any(axis=1)))


@dataclass(frozen=True, eq=False)
class _Views:
    """What is believed of records before the classifier is asked, and what it adds."""

    where: Whereabouts
    column: int
    classifier: Classifier
    within: str
    reader: tuple[Any, Any] | None
    """Places and stocks."""

    def of(self, records: NDArray[np.int64]) -> tuple[Shares | None, Shares, Shares]:
        """The plain reader's certainty (if known), and logarithms of what is believed before and of the evidence."""
        honest: Shares | None = None
        if self.reader is not None:
            honest = np.asarray((self.reader[0][records] @ self.reader[1]).toarray())
        evidence = self.classifier.log_likelihood(self.where.target.original.quasi[records])
        frequencies = self.classifier.frequencies / max(float(self.classifier.frequencies.sum()), 1e-300)
        base = np.broadcast_to(logs_of(frequencies), evidence.shape)
        if self.within == "unit" and honest is not None:
            nowhere = honest.sum(axis=1) == 0
            base = np.where(nowhere[:, None], base, logs_of(honest))
        return honest, base, evidence

    def power(self) -> float:
        """The power of the evidence that fits best on a sample, by the squares of what is believed beside the truth."""
        original = self.where.target.original
        sample = np.unique(np.linspace(0, original.n_rows - 1, _SAMPLE).astype(np.int64))
        truth = original.sensitive[sample, self.column]
        misses = np.zeros((len(_POWERS), len(sample)))
        for block in _blocks(len(sample), original.domains.sensitive[self.column].n_codes):
            _, base, evidence = self.of(sample[block])
            for place, power in enumerate(_POWERS):
                beliefs = posteriors(base, evidence, power)
                believed = beliefs[np.arange(len(block)), truth[block]]
                misses[place, block] = (beliefs**2).sum(axis=1) - 2 * believed
        best = int(misses.mean(axis=1).argmin())
        saved = misses[0] - misses[best]
        clearly = saved.mean() > 3 * saved.std() / math.sqrt(len(saved))
        return _POWERS[best] if clearly else 0.0


PERSONS_COUNTED = (
    " Each {noun} is counted once, by one known row; a guess is right if any row of the {noun} has the value."
)
LEARNED_REMEDY = "It learns what is true of people in general; a promise of smaller probabilities leaves it less."


def judge_learned(
    attack: Attack,
    where: Whereabouts,
    column: int,
    learnt: Classifier,
    learn: Callable[[Whereabouts], Classifier],
    within: str,
    said: str,
    figures: dict[str, float],
    rng: Randomness,
    progress: Progress,
) -> Finding:
    """What a classifier achieves that `learn` gave, and, where it does well, how much of that is about strangers."""
    judged = judge_records(where, column, learnt, within=within, progress=progress)
    score = score_known(where.target.original, column, judged.guesses)
    strangers = None
    if within == "unit":
        said += ", choosing among the values left for each person,"
    elif score.interval[0] > judged.honest["most frequent value"]:
        strangers = right_about_strangers(where, column, judged.guesses, learn, rng)
    found = finding(attack, where.target, column, judged, score, said, figures, strangers)
    return add_control(found, where.target, column, learnt, within, rng)


def add_control(
    found: Finding, target: Target, column: int, learnt: Classifier, within: str, rng: Randomness
) -> Finding:
    """The finding with the same classifier's guesses about people in the table and about a control group."""
    target.worked_out[name_learned(found.attack, column)] = learnt
    residual = guess_alike(target, column, guess_with(target, column, learnt, within=within), rng.child("control"))
    if residual is None:
        return found
    return replace(found, residual=residual, sentence=f"{found.sentence} {residual.sentence()}")


def name_learned(attack: str, column: int) -> str:
    """Under which name a target keeps what an attack learned, for attacks that are made after it."""
    return f"learned by {attack} about {column}"


def guess_with(target: Target, column: int, learnt: Classifier, *, within: str) -> Guess:
    """What a classifier guesses of anybody: among all values, or those of the rows that the person fits."""

    def guess(people: People) -> NDArray[np.int64]:
        order = np.argsort(-learnt.frequencies, kind="stable")
        if within != "unit":
            return _guess_among_all(learnt, people.near)
        reader = Reader.of(Seen.of(target).wide)
        base = logs_of(learnt.frequencies / max(float(learnt.frequencies.sum()), 1e-300))
        guesses = np.zeros(len(people), dtype=np.int64)
        for block in _blocks(len(people), len(order)):
            read = np.asarray(reader.beliefs(people.wide[block], column).toarray())
            nowhere = read.sum(axis=1, keepdims=True) == 0
            evidence = learnt.log_likelihood(people.near[block])
            guesses[block] = pick_best(_weigh(np.where(nowhere, base, logs_of(read)), evidence, 1.0), order)
        return guesses

    return guess


def finding(
    attack: Attack,
    target: Target,
    column: int,
    judged: Judged,
    score: Score,
    said: str,
    figures: dict[str, float],
    strangers: Strangers | None = None,
) -> Finding:
    """The finding with its sentence; `said` begins it: "A naive Bayes classifier learned from the release"."""
    name = target.original.domains.sensitive[column].name
    low, high = score.interval
    sentence = (
        f'{said} is right about "{name}" of {_percent(score.share)} ({_number(low)} to {_percent(high)}) of people; '
        f"guessing the most frequent value is right for {_percent(judged.honest['most frequent value'])}"
    )
    group = max((judged.honest[key] for key in _OF_THE_GROUP if key in judged.honest), default=None)
    sentence += "." if group is None else f", reading what the release says of a person for {_percent(group)}."
    succeeds = low > max(judged.honest.values())
    sentence += f" It {'clearly does' if succeeds else 'does not clearly do'} better than the baseline."
    numbers = {"confidence": judged.confidence, "worth of the evidence": judged.power, **figures}
    if strangers is not None:
        numbers["right about people it has not learned from"] = strangers.unseen.share
        numbers["right about them when it has"] = strangers.seen.share
        sentence += (
            f" Without their rows to learn from it is right about {_percent(strangers.unseen.share)} of people"
            f" instead of {_percent(strangers.seen.share)}"
        )
        sentence += ": what it knows is general, and as true of people outside the release." * strangers.as_well or "."
    if judged.n_affected_in_truth is not None:
        numbers["affected by what the evidence is worth"] = float(judged.n_affected_in_truth)
    if target.original.persons is not None:
        sentence += PERSONS_COUNTED.format(noun=target.original.schema.unit_name)
    elif judged.beliefs is None:
        numbers["records without exposure"] = float(target.original.n_rows)
    return Finding(
        attack=str(attack),
        column=name,
        sentence=sentence,
        score=score,
        baselines=judged.honest,
        n_affected=judged.n_affected,
        exposure=None if judged.beliefs is None else exposure_of(target, column, judged.beliefs, attack.name),
        figures=numbers,
    )


def _guess_among_all(classifier: Classifier, quasi: Codes) -> NDArray[np.int64]:
    """The likeliest value of all, for each row of quasi-identifiers."""
    order = np.argsort(-classifier.frequencies, kind="stable")
    base = logs_of(classifier.frequencies / max(float(classifier.frequencies.sum()), 1e-300))
    guesses = np.zeros(len(quasi), dtype=np.int64)
    for block in _blocks(len(quasi), len(order)):
        evidence = classifier.log_likelihood(quasi[block])
        guesses[block] = pick_best(_weigh(np.broadcast_to(base, evidence.shape), evidence, 1.0), order)
    return guesses


def pick_best(scores: Shares, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value with the highest score in each row; among equals (or if all are impossible) the first in `order`."""
    ranked = scores[:, order]
    best = ranked.max(axis=1, keepdims=True)
    picked: NDArray[np.int64] = order[(ranked >= best - _TIE).argmax(axis=1)]
    return picked


def _weigh(base: Shares, evidence: Shares, power: float) -> Shares:
    """Logarithms of probabilities; what the evidence makes altogether impossible is left as it was."""
    if power == 0:
        return base
    scores = base + power * evidence
    hopeless = np.isneginf(scores.max(axis=1))
    scores[hopeless] = base[hopeless]
    return scores


def posteriors(base: Shares, evidence: Shares, power: float) -> Shares:
    """[records, values] probabilities, from logarithms of what was believed before and of evidence of some power."""
    scores = _weigh(base, evidence, power)
    beliefs: Shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    return beliefs


_OF_THE_GROUP = ("values of the group", "likeliest value of the group")


def _reader(where: Whereabouts, column: int, *, needed: bool) -> tuple[Any, Any] | None:
    """Places and stocks of the plain reader; None where nobody needs them and they cost far more than the attack."""
    if isinstance(where.target.release, Grouped) and not needed:
        return None
    try:
        return where.places, where.stocks(column)
    except Unsupported:
        if needed:
            raise
        return None


def _honest_in_groups(where: Whereabouts, column: int) -> dict[str, float]:
    """Rows are people: nobody has to be found in a group to count how often its readers are right."""
    told = ~where.reading.is_told_dummy
    n_values = where.target.original.domains.sensitive[column].n_codes
    values = where.target.release.sensitive[told, column]
    keys, counts = np.unique(where.unit_of_row[told] * n_values + values, return_counts=True)
    units = keys // n_values
    sizes, most = np.zeros(where.n_units), np.zeros(where.n_units)
    np.add.at(sizes, units, counts)
    np.maximum.at(most, units, counts)
    proportional = float((counts**2 / sizes[units]).sum() / sizes.sum())
    return {"values of the group": proportional, "likeliest value of the group": float(most.sum() / sizes.sum())}


def _blocks(n_records: int, n_values: int) -> Iterator[NDArray[np.int64]]:
    step = max(BLOCK // max(n_values, 1), 1)
    for first in range(0, n_records, step):
        yield np.arange(first, min(first + step, n_records))


def _percent(share: float) -> str:
    return f"{_number(share)} %"


def _number(share: float) -> str:
    return f"{100 * share:.1f}"


MOST_RECORDS = 200_000
"""Of larger tables it is not found out: people would have to be found in their units first."""


def right_about_strangers(
    where: Whereabouts,
    column: int,
    guesses: NDArray[np.int64],
    learn: Callable[[Whereabouts], Classifier],
    rng: Randomness,
) -> Strangers | None:
    """How often the classifier is right about people whose units it has not learned from; None if nobody can say.

    `guesses` are those of the classifier that has learned from all units.
    """
    target = where.target
    if isinstance(target.release, Matched) or target.original.n_rows > MOST_RECORDS or where.n_units < 2:
        return None
    if target.original.persons is not None:
        # Other rows of a person lie in units that were learned from.
        return None
    truth = target.original.sensitive[:, column]
    is_second = rng.permutation(where.n_units) % 2 == 1
    guesses_unseen = np.full(len(truth), -1, dtype=np.int64)
    asked = np.zeros(len(truth), dtype=bool)
    for held_back in (is_second, ~is_second):
        learned_from = _only(target.release, ~held_back[where.unit_of_row])
        learnt = learn(Whereabouts(replace(target, release=learned_from)))
        mine = np.flatnonzero(where.places @ held_back.astype(np.float64) > 1 - 1e-9)
        guesses_unseen[mine] = _guess_among_all(learnt, target.original.quasi[mine])
        asked[mine] = True
    if not asked.any():
        return None
    return Strangers(score_guesses(guesses_unseen[asked], truth[asked]), score_guesses(guesses[asked], truth[asked]))


def _only(release: Release, rows: NDArray[np.bool_]) -> Release:
    """The release with some rows of sensitive values, and what belongs to them."""
    assert not isinstance(release, Matched)
    sensitive, carried = release.sensitive[rows], release.carried[rows]
    if isinstance(release, Grouped):
        return replace(release, group_of_row=release.group_of_row[rows], sensitive=sensitive, carried=carried)
    if isinstance(release, Bucketized):
        buckets = release.bucket_of_sensitive[rows]
        listed = np.isin(release.bucket_of_quasi, buckets)
        return replace(
            release,
            quasi=release.quasi[listed],
            bucket_of_quasi=release.bucket_of_quasi[listed],
            sensitive=sensitive,
            carried=carried,
            bucket_of_sensitive=buckets,
        )
    return replace(release, quasi=release.quasi[rows], sensitive=sensitive, carried=carried)
