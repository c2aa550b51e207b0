"""A classifier that was learned from a release, judged: what it guesses and believes of each person, against honest
guessing. Works through the records in blocks, so a million of them take little memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.bayes import logs_of
from lookalike.attacks.beliefs import Shares, exposure_of, majority, n_above, promised_ceilings
from lookalike.attacks.whereabouts import Whereabouts
from lookalike.contracts import Attack, Finding, Score, Target
from lookalike.errors import Unsupported
from lookalike.microdata import Codes
from lookalike.progress import Progress
from lookalike.release import Grouped

BLOCK = 2_000_000
"""Beliefs (records times values) that are worked out at once."""
EXPOSED = 16_000_000
"""Beliefs that are kept for an exposure; of larger tables only the counts are."""
_TIE = 1e-9


class Classifier(Protocol):
    """What a learned classifier says of quasi-identifiers, as logarithms."""

    @property
    def frequencies(self) -> Shares:
        """[values] how often each value is in the release, as far as it can be read."""

    def log_likelihood(self, quasi: Codes) -> Shares:
        """[records, values] how well the quasi-identifiers go with each value, whatever its frequency."""

    def log_posterior(self, quasi: Codes) -> Shares:
        """[records, values] the same, times the frequency."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What a classifier achieved on one column."""

    guesses: NDArray[np.int64]
    beliefs: Shares | None
    """[records, values]; None if they are too many to keep."""
    n_affected: int | None
    n_right_affected: int
    """Of the records believed above a ceiling, those whose likeliest value is the true one."""
    mean_belief: float
    """In the likeliest value, over the records. Far above the share of right guesses: the attacker is overconfident."""
    honest: dict[str, float]


def no_sensitive_column(target: Target) -> str | None:
    return None if target.original.domains.sensitive else "The release has no sensitive column whose values to guess."


def judged(where: Whereabouts, column: int, classifier: Classifier, *, within: str, progress: Progress) -> Judged:
    """Guesses and beliefs about every record, among all values or those that the honest reader leaves."""
    original = where.target.original
    truth, n_values = original.sensitive[:, column], original.domains.sensitive[column].n_codes
    order = np.argsort(-classifier.frequencies, kind="stable")
    fallback = classifier.frequencies / max(classifier.frequencies.sum(), 1e-300)
    ceilings = promised_ceilings(where.target, column)
    reader = _reader(where, column, needed=within == "unit")
    guesses = np.zeros(original.n_rows, dtype=np.int64)
    kept = np.zeros((original.n_rows, n_values)) if original.n_rows * n_values <= EXPOSED else None
    n_affected = n_right_affected = n_honest = 0
    sum_belief = sum_honest = 0.0
    for block in _blocks(original.n_rows, n_values):
        progress("guessing", block.start / original.n_rows)
        true_values = truth[block]
        honest = None if reader is None else (reader[0][block] @ reader[1]).toarray()
        if within == "unit" and honest is not None:
            scores = classifier.log_likelihood(original.quasi[block]) + logs_of(honest)
            hopeless = np.isneginf(scores.max(axis=1))
            scores[hopeless] = logs_of(honest[hopeless])
        else:
            scores = classifier.log_posterior(original.quasi[block])
        guesses[block] = first_best(scores, order)
        beliefs = posteriors(scores, fallback)
        likeliest = beliefs[np.arange(len(beliefs)), guesses[block]]
        sum_belief += float(likeliest.sum())
        if kept is not None:
            kept[block] = beliefs
        if ceilings is not None:
            n_affected += n_above(beliefs, ceilings) or 0
            n_right_affected += n_above(beliefs[guesses[block] == true_values], ceilings) or 0
        if honest is not None:
            sum_honest += float(honest[np.arange(len(honest)), true_values].sum())
            n_honest += int(np.count_nonzero(first_best(honest, order) == true_values))
    baselines = {"most frequent value": majority(original, column)}
    if reader is not None:
        baselines["values of the group"] = sum_honest / original.n_rows
        baselines["likeliest value of the group"] = n_honest / original.n_rows
    elif isinstance(where.target.release, Grouped):
        baselines |= _honest_in_groups(where, column)
    return Judged(
        guesses,
        kept,
        None if ceilings is None else n_affected,
        n_right_affected,
        sum_belief / original.n_rows,
        baselines | _one_over_l(where.target, column),
    )


def finding(
    attack: Attack, target: Target, column: int, judged: Judged, score: Score, said: str, **figures: float
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
    if low > max(judged.honest.values()):
        sentence += " It clearly does better than honest guessing."
    else:
        sentence += " It does not clearly do better than honest guessing."
    numbers = {"mean belief in the guess": judged.mean_belief, **figures}
    if judged.n_affected:
        numbers["share right where believed above the promise"] = judged.n_right_affected / judged.n_affected
    if judged.beliefs is None:
        numbers["records without exposure, for their number"] = float(target.original.n_rows)
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


def first_best(scores: Shares, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value with the highest score in each row; among equals (or if all are impossible) the first in `order`."""
    ranked = scores[:, order]
    best = ranked.max(axis=1, keepdims=True)
    picked: NDArray[np.int64] = order[(ranked >= best - _TIE).argmax(axis=1)]
    return picked


def posteriors(scores: Shares, fallback: Shares) -> Shares:
    """Beliefs from logarithms; where all values are impossible, the fallback."""
    best = scores.max(axis=1, keepdims=True)
    hopeless = np.isneginf(best[:, 0])
    beliefs = np.exp(scores - np.where(np.isneginf(best), 0.0, best))
    beliefs[hopeless] = fallback
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    return beliefs


_OF_THE_GROUP = ("values of the group", "likeliest value of the group")


def _reader(where: Whereabouts, column: int, *, needed: bool) -> tuple[Any, Any] | None:
    """Places and stocks of the honest reader; None where nobody needs them and they cost far more than the attack."""
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


def _one_over_l(target: Target, column: int) -> dict[str, float]:
    name = target.original.domains.sensitive[column].name
    promised = any(promise.model.name == "l-diversity" and promise.column == name for promise in target.promises)
    ceilings = promised_ceilings(target, column) if promised else None
    return {} if ceilings is None else {"1/l": float(ceilings.max())}


def _blocks(n_records: int, n_values: int) -> Iterator[slice]:
    step = max(BLOCK // max(n_values, 1), 1)
    for first in range(0, n_records, step):
        yield slice(first, min(first + step, n_records))


def _percent(share: float) -> str:
    return f"{_number(share)} %"


def _number(share: float) -> str:
    return f"{100 * share:.1f}"
