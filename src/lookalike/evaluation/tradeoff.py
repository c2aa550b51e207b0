"""What a stronger or a weaker promise would cost: the same method on the same table, or on a part of it, again.

The number in the promise is doubled and halved; what cannot be kept is left out. Each setting is made once and held
against the table: the highest certainty that anybody can reach (or, where only identities are promised, the chance to
find
a person), and what was lost. Nothing of these releases is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lookalike.audit import examine, expose
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import PersonSettings
from lookalike.data.persons import renumber
from lookalike.errors import LookalikeError
from lookalike.metrics.query_error import MedianQueryError
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import measure
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

MOST_RECORDS = 2000
_FACTORS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
_ERROR = MedianQueryError(columns=2, n_queries=200, seed=0)


@dataclass(frozen=True)
class Setting:
    """One promise, and what it comes to."""

    promise: str
    belief: float
    """The highest certainty in a value, or the chance to find a person, that any unit allows."""
    loss: float
    is_asked: bool
    """Whether it is the promise of the release itself."""


@dataclass(frozen=True)
class Tradeoff:
    """Settings from weak to strong."""

    settings: tuple[Setting, ...]
    belief_name: str
    loss_name: str
    """What is measured: the mean loss of cells (GCP), or the median error of queries where cells are exact."""
    n_records: int
    """How many of the records each setting was made for."""


def tradeoff(
    data: Microdata,
    promises: Sequence[Promise],
    algorithm: Algorithm,
    adversary: str,
    rng: Randomness,
    progress: Progress = silent,
) -> Tradeoff:
    """The promise's own number and those around it."""
    column = promises[-1].column
    index = None if column is None else data.domains.sensitive_index(column)
    part = some_records(data, MOST_RECORDS, rng.child("part"))
    quick = algorithm.hurry()
    by_cells = quick.form in ("grouped", "matched")
    variants = vary_promises(promises)
    persons = PersonSettings(number_known=data.number_known) if data.persons is not None else PersonSettings()
    settings: list[Setting] = []
    # A method that is set up for these people knows nothing of a sample of them.
    serves = part is data or algorithm.bound_to() is None
    for place, (text, variant) in enumerate(variants if serves else ()):
        progress("trade-off", place / len(variants), text)
        try:
            recipe = Recipe(schema=part.schema, promises=variant, algorithm=quick, adversary=adversary, persons=persons)
            release, record_map = prepare(recipe, part).anonymize(rng.child("made", text))
        except LookalikeError:
            continue
        lost = measure(part, release)[0]["gcp"] if by_cells else _ERROR.measure(part, release)
        if math.isnan(lost):
            continue
        if part.persons is None:
            seen = expose(part, release, index, graph=record_map.graph, adversary=adversary)
        else:
            whose, number_known = record_map.record_of_row, part.number_known
            found = examine(part, release, (), adversary=adversary, record_of_row=whose, number_known=number_known)
            seen = found.exposure(index)
        settings.append(Setting(text, _belief(seen, variant[-1]), lost, variant == tuple(promises)))
    progress("trade-off", 1.0)
    whom = "a person's row" if data.persons is None else f"a {data.schema.unit_name}"
    belief = f"highest chance to find {whom}" if column is None else f"highest certainty in a value of {column}"
    loss = "mean loss of cells (GCP)" if by_cells else "median error of queries"
    return Tradeoff(tuple(settings), belief, loss, part.n_rows)


def some_records(data: Microdata, most: int, rng: Randomness) -> Microdata:
    """At most so many records, drawn at random, over the same domains; of persons with several all or none."""
    if data.n_rows <= most:
        return data
    if data.persons is None:
        return data.take(np.sort(rng.permutation(data.n_rows)[:most]))
    numbers = renumber(data.persons)
    drawn = rng.permutation(data.n_persons)
    n_before = np.cumsum(np.bincount(numbers)[drawn])
    return data.take(np.flatnonzero(np.isin(numbers, drawn[: max(1, int(np.count_nonzero(n_before <= most)))])))


def vary_promises(
    promises: Sequence[Promise], factors: Sequence[Fraction] = _FACTORS
) -> list[tuple[str, tuple[Promise, ...]]]:
    """The promises with the number of the last one made smaller and larger; a name for each."""
    *others, last = promises
    found = []
    for factor in factors:
        model = last.model if factor == 1 else _scale_model(last.model, factor)
        if model is not None:
            found.append((str(model), (*others, Promise(model, last.column))))
    return found


def _scale_model(model: Any, factor: Fraction) -> Any | None:
    """The model with its first parameter so many times as large; None if that is no number, or no such model."""
    name = fields(model)[0].name
    value = getattr(model, name)
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return None
    scaled = Fraction(round(value * factor)) if model.whole else value * factor
    if scaled == value or (model.whole and scaled < 2):
        return None
    try:
        return replace(model, **{name: int(scaled) if scaled.denominator == 1 else scaled})
    except LookalikeError:
        return None


def _belief(seen: Exposure, promise: Promise) -> float:
    if promise.column is None:
        return float(1 / promise.model.level(seen).value)
    return float((seen.weights / seen.sizes[seen.unit_of_entry]).max(initial=0.0))
