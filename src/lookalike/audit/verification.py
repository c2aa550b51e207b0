"""`verify`: the checks of a release in order, then a verdict for each promise.

The audit gets the release, the original and the promises; of the algorithm it knows nothing and believes nothing.
A matched release may come with its private graph; without it the verdicts say whether a graph that keeps the promise
exists at all. Whatever cannot be decided is not passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from lookalike.adversary import ADVERSARIES, KNOWS_METHOD, READS_RELEASE
from lookalike.audit import matching, perturbation, preconditions
from lookalike.audit.cells import Ints
from lookalike.audit.exposures import concealment, expose_reading, part
from lookalike.audit.order import row_order
from lookalike.audit.reading import Reading
from lookalike.audit.verdicts import Audit, Check, Verdict
from lookalike.contracts import Level, PrivacyModel, Promise
from lookalike.errors import RecipeError, unknown_name
from lookalike.exposure import Exposure
from lookalike.microdata import Microdata
from lookalike.progress import Progress, silent
from lookalike.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, Release

CONCEALMENT = "k-concealment"
_LOOKS = 2000
"""How many parts of an exposure are looked at to count the units that fail."""


def verify(
    release: Release,
    original: Microdata,
    promises: Sequence[Promise],
    *,
    measures: Sequence[PrivacyModel] = (),
    graph: MatchGraph | None = None,
    adversary: str = READS_RELEASE,
    progress: Progress = silent,
) -> Audit:
    """Hold a release against its promises; `measures` are models whose levels are reported unasked."""
    if adversary not in ADVERSARIES:
        raise RecipeError(unknown_name("adversary", adversary, ADVERSARIES))
    for promise in promises:
        _column_index(promise, original)
    reading = Reading(release, original)
    checks = [preconditions.well_formed(release, original)]
    if not isinstance(release, Matched):
        graph = None
    if checks[0].passed and graph is not None:
        complaint = matching.graph_complaint(graph, reading)
        if complaint is not None:
            checks.append(Check("graph well formed", False, complaint))
    sound = all(check.passed for check in checks)
    verdicts, measured = [], []
    if sound:
        for check in _checks(reading, graph):
            checks.append(check)
            progress("audit", min(0.9, len(checks) / 12), check.name)
        for promise in promises:
            verdict, confirmation = _judge(reading, promise, graph, adversary)
            verdicts.append(verdict)
            checks += confirmation
        measured = [_level_only(reading, promise, graph, adversary) for promise in _everywhere(measures, original)]
    else:
        verdicts = [_verdict(promise, None, False, "not run: the release is not well formed") for promise in promises]
    progress("audit", 1.0)
    return Audit(
        form=release.form,
        adversary=adversary,
        level=_level_name(release, graph),
        checks=tuple(checks),
        verdicts=tuple(verdicts),
        measured=tuple(measured),
        n_records=original.n_rows,
        n_rows=release.n_rows,
        n_suppressed=release.withheld.n_suppressed,
        n_dummies=release.withheld.n_dummies,
    )


def _level_name(release: Release, graph: MatchGraph | None) -> str:
    if isinstance(release, Matched):
        return "B" if graph is None else "A"
    return {Grouped.form: "group", Bucketized.form: "bucket", Perturbed.form: "posterior"}[release.form]


def _checks(reading: Reading, graph: MatchGraph | None) -> Iterator[Check]:
    release = reading.release
    yield preconditions.row_count(reading)
    if isinstance(release, Perturbed):
        yield preconditions.points_kept(reading)
        if release.carried.shape[1]:
            yield perturbation.carried_kept(reading)
        yield from perturbation.matrix_checks(reading)
    else:
        yield preconditions.values_kept(reading)
        about_dummies = preconditions.dummies_known(reading)
        if about_dummies is not None:
            yield about_dummies
        if isinstance(release, Bucketized):
            yield preconditions.points_kept(reading)
            yield preconditions.buckets_match(release)
            yield preconditions.everyone_has_a_bucket(reading)
        else:
            yield preconditions.everyone_has_a_row(reading)
            if isinstance(release, Matched) and graph is not None:
                yield from matching.graph_checks(graph, reading)
    yield row_order(reading)


def _column_index(promise: Promise, original: Microdata) -> int | None:
    if promise.model.about_identity:
        return None
    if promise.column is None:
        raise RecipeError(
            f"{promise.model.name} speaks of a sensitive column, but none is named. Write column={promise}."
        )
    return original.domains.sensitive_index(promise.column)


def _everywhere(models: Sequence[PrivacyModel], original: Microdata) -> Iterator[Promise]:
    """Each model over every sensitive column, or once if it speaks of identity alone."""
    for model in models:
        if model.about_identity:
            yield Promise(model)
        else:
            yield from (Promise(model, domain.name) for domain in original.domains.sensitive)


def _judge(reading: Reading, promise: Promise, graph: MatchGraph | None, adversary: str) -> tuple[Verdict, list[Check]]:
    """A verdict and, for a matched release with its graph, the flow test that confirms it."""
    model, release = promise.model, reading.release
    if not isinstance(release, Matched) or model.refuses_form(release.form) is not None or model.name == CONCEALMENT:
        exposure = _exposure_or_reason(reading, promise, graph, adversary)
        return (_verdict(promise, None, False, exposure) if isinstance(exposure, str) else _held(promise, exposure)), []
    column = _column_index(promise, reading.original)
    exists = _existence(reading, model, column, graph)
    if graph is None:
        return _verdict(promise, None, exists.exists is True, exists.detail), []
    name = f"level B: {promise}"
    if exists.exists is None:
        confirmation = Check.not_run(name, exists.detail, decides=False)
    else:
        confirmation = Check(name, exists.exists, exists.detail)
    return _held(promise, expose_reading(reading, column, graph, adversary)), [confirmation]


def _level_only(reading: Reading, promise: Promise, graph: MatchGraph | None, adversary: str) -> Verdict:
    exposure = _exposure_or_reason(reading, promise, graph, adversary)
    if isinstance(exposure, str):
        verdict = _verdict(promise, None, None, exposure)
    else:
        level = promise.model.level(exposure)
        verdict = _verdict(promise, level, None, level.detail, unit_size=_size_of(level, exposure))
    return replace(verdict, model=_without_letter(str(promise.model)), asked=None)


def _without_letter(model: str) -> str:
    """A model's text without the parameter that nobody asked for.

    >>> _without_letter("l-diversity:1,kind=distinct"), _without_letter("t-closeness:1")
    ('l-diversity (kind=distinct)', 't-closeness')
    """
    name, _, parameters = model.partition(":")
    rest = parameters.partition(",")[2]
    return f"{name} ({rest.replace(',', ', ')})" if rest else name


def _exposure_or_reason(reading: Reading, promise: Promise, graph: MatchGraph | None, adversary: str) -> Exposure | str:
    """What the model is to look at, or why there is nothing."""
    reason = promise.model.refuses_form(reading.release.form)
    if reason is not None:
        return reason
    if isinstance(reading.release, Perturbed) and adversary == KNOWS_METHOD and not promise.model.value_by_value:
        return "not decided: against who knows the method only the belief in each value by itself is bounded"
    exposure: Exposure | None
    if isinstance(reading.release, Matched) and promise.model.name == CONCEALMENT:
        exposure = concealment(reading, adversary)
        if exposure is None:
            return "not run: records fit far too many rows to list them"
    elif isinstance(reading.release, Matched) and graph is None:
        return "not measured: a matched release shows its level only with its graph"
    else:
        exposure = expose_reading(reading, _column_index(promise, reading.original), graph, adversary)
    return exposure if exposure.n_units else "nothing is published"


def _existence(
    reading: Reading, model: PrivacyModel, column: int | None, graph: MatchGraph | None
) -> matching.Existence:
    original = reading.original
    domain = None if column is None else original.domains.sensitive[column]
    return matching.existence(reading, model.requirement(original.prior(column), domain, column), column, graph)


def _held(promise: Promise, exposure: Exposure) -> Verdict:
    """The model held against the exposure, with the number of units that break the promise."""
    level = promise.model.level(exposure)
    passed = promise.model.holds(level)
    failing = np.zeros(0, dtype=np.int64) if passed else _failing_units(promise.model, exposure)
    return _verdict(
        promise,
        level,
        passed,
        level.detail,
        unit_size=_size_of(level, exposure),
        failing_units=None if failing is None else len(failing),
        failing_records=None if failing is None else _records_in(exposure, failing),
    )


def _size_of(level: Level, exposure: Exposure) -> int | None:
    return None if level.unit is None or not exposure.counts_rows else int(exposure.sizes[level.unit])


def _verdict(
    promise: Promise,
    level: Level | None,
    passed: bool | None,
    detail: str,
    *,
    unit_size: int | None = None,
    failing_units: int | None = None,
    failing_records: int | None = None,
) -> Verdict:
    model = promise.model
    return Verdict(
        promise=model.promise(promise.column),
        model=str(model),
        column=promise.column,
        letter=model.letter,
        asked=_exact(model.asked),
        reached=None if level is None else _exact(level.value),
        passed=passed,
        detail=detail,
        unit_size=unit_size,
        failing_units=failing_units,
        failing_records=failing_records,
    )


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
