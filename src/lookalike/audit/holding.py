"""A model held against an exposure: what it reaches, whether that keeps the promise, and how many units break it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from lookalike.audit.cells import Ints
from lookalike.audit.exposures import part
from lookalike.audit.verdicts import Verdict
from lookalike.data.contracts import Level, PrivacyModel, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.release import Matched

NOTHING = "nothing is published"
_LOOKS = 2000
"""How many parts of an exposure are looked at to count the units that fail."""


def held(promise: Promise, exposure: Exposure) -> Verdict:
    """The verdict, with the number of units that break the promise."""
    verdict = level_held(promise, exposure)
    failing = np.zeros(0, dtype=np.int64) if verdict.passed else _failing_units(promise.model, exposure)
    return replace(
        verdict,
        failing_units=None if failing is None else len(failing),
        failing_records=None if failing is None else _records_in(exposure, failing),
    )


def level_held(promise: Promise, exposure: Exposure) -> Verdict:
    """The verdict by the level alone."""
    level = promise.model.level(exposure)
    unit_size = _size_of(level, exposure)
    return verdict_of(promise, level, promise.model.holds(level), level.detail, exposure.form, unit_size=unit_size)


def measured(promise: Promise, exposure: Exposure | str) -> Verdict:
    """The level of a model that nobody asked for, or the reason why there is none."""
    if isinstance(exposure, str):
        verdict = verdict_of(promise, None, None, exposure, None)
    else:
        level = promise.model.level(exposure)
        verdict = verdict_of(promise, level, None, level.detail, exposure.form, unit_size=_size_of(level, exposure))
    return replace(verdict, model=_without_letter(str(promise.model)), asked=None)


def verdict_of(
    promise: Promise,
    level: Level | None,
    passed: bool | None,
    detail: str,
    form: str | None,
    *,
    unit_size: int | None = None,
) -> Verdict:
    """What is said of a promise about a release of that form; without a level, the detail says why there is none."""
    model = promise.model
    return Verdict(
        promise=model.promise(promise.column, form),
        model=str(model),
        column=promise.column,
        letter=model.letter,
        asked=_exact(model.asked),
        reached=None if level is None else _exact(level.value),
        passed=passed,
        detail=detail,
        unit_size=unit_size,
    )


def _without_letter(model: str) -> str:
    """A model's text without the parameter that nobody asked for.

    >>> _without_letter("l-diversity:1,kind=distinct"), _without_letter("t-closeness:1")
    ('l-diversity (kind=distinct)', 't-closeness')
    """
    name, _, parameters = model.partition(":")
    rest = parameters.partition(",")[2]
    return f"{name} ({rest.replace(',', ', ')})" if rest else name


def _size_of(level: Level, exposure: Exposure) -> int | None:
    return None if level.unit is None or not exposure.counts_rows else int(exposure.sizes[level.unit])


def _exact(number: Fraction | float) -> Fraction | float:
    return number if isinstance(number, Fraction | float) else Fraction(number)


def _failing_units(model: PrivacyModel, exposure: Exposure) -> Ints | None:
    """Units that break the promise by themselves, by halving; None if that takes too many looks."""
    failing: list[int] = []
    stack = [np.arange(exposure.n_units)]
    for _ in range(_LOOKS):
        if not stack:
            return np.array(failing, dtype=np.int64)
        units = stack.pop()
        if model.holds(model.level(part(exposure, units))):
            continue
        if len(units) == 1:
            failing.append(int(units[0]))
        else:
            stack += [units[: len(units) // 2], units[len(units) // 2 :]]
    return None


def _records_in(exposure: Exposure, units: Ints) -> int | None:
    if exposure.form == Matched.form:
        return len(units)
    return int(exposure.sizes[units].sum()) if exposure.counts_rows else None
