"""One audit of a release that was made and audited in parts.

A check passes if it passes in every part, and a verdict is the model's own on the units that the parts handed on, which
is the verdict on all of them (`parts` says why). That is exact where no unit has rows in two parts: classes of grouped
releases that do not recur, buckets, matched records; a perturbed column's units, one for each published value, are the
same in every part. Where published classes do recur, or a matched record fits rows of other parts, there are more rows
to hide among than the parts know of, and the audit errs on the side of caution.

What no part can see by itself is looked at here: that no record is missing or doubled between the parts, that they were
held against the same counts, and whether one matrix was used by all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lookalike.audit import perturbation, preconditions
from lookalike.audit.exposures import part as units_of
from lookalike.audit.parts import COUNTED, MIXED, POSSIBLE, PartAudit, Subject
from lookalike.audit.verdicts import (
    FAILED,
    NOT_RUN,
    NOTHING,
    Audit,
    Check,
    Verdict,
    judge_level,
    measure_level,
    verdict_of,
)
from lookalike.data.contracts import Promise
from lookalike.data.exposure import Exposure
from lookalike.data.release import Perturbed, Withheld
from lookalike.errors import RecipeError, counted


@dataclass(frozen=True, eq=False)
class JoinedAudit:
    """The audit of the whole, and what reports show beside it."""

    audit: Audit
    exposures: Mapping[Subject, Exposure]
    """The units of all parts that a level can rest on; not all units."""
    sizes: Mapping[int, int]
    """How many units there are of each size in all parts."""
    withheld: Withheld
    """What all parts left out and made up."""

    def exposure(self, column: str | None) -> Exposure | None:
        """Beliefs about a sensitive column (None: identity); None if nothing was to be seen."""
        return self.exposures.get((column, COUNTED))


def join_audits(parts: Sequence[PartAudit]) -> JoinedAudit:
    """The audit of the release that these are all parts of."""
    if not parts:
        raise RecipeError("There is no part to join. A release has at least one.")
    first = parts[0]
    for other in parts[1:]:
        alike = (getattr(other.audit, name) == getattr(first.audit, name) for name in ("form", "adversary", "level"))
        if other.promises != first.promises or not all(alike):
            raise RecipeError("These parts were not audited alike. Use the same promises, adversary and form for all.")
    subjects = dict.fromkeys(subject for part in parts for subject in part.exposures)
    exposures = {
        subject: _unite_exposures([part.exposures[subject] for part in parts if subject in part.exposures])
        for subject in subjects
    }
    counts = ("n_records", "n_rows", "n_suppressed", "n_dummies")
    totals = replace(
        first.audit,
        **{name: sum(getattr(part.audit, name) for part in parts) for name in counts},
        n_persons=None if first.whole_persons is None else first.whole_persons[0][0],
    )
    unasked = first.measures if all(part.measures == first.measures for part in parts) else ()
    audit = replace(
        totals,
        checks=_checks(parts, totals),
        verdicts=tuple(
            replace(
                _verdict(promise, [part.audit.verdicts[place] for part in parts], exposures, first.audit.form),
                promise=first.audit.verdicts[place].promise,
            )
            for place, promise in enumerate(first.promises)
        ),
        measured=tuple(
            _join_measured(promise, [part.audit.measured[place] for part in parts], exposures)
            for place, promise in enumerate(unasked)
        ),
    )
    sizes = sum((Counter(part.sizes) for part in parts), Counter[int]())
    return JoinedAudit(audit, exposures, dict(sorted(sizes.items())), _sum_withheld(parts))


def _sum_withheld(parts: Sequence[PartAudit]) -> Withheld:
    declared = [part.withheld for part in parts]
    nothing = [np.zeros_like(counts) for counts in parts[0].counts]
    suppressed = [one.suppressed or nothing for one in declared if len(one.suppressed) in (0, len(nothing))]
    dummies = [one.dummies or nothing for one in declared if len(one.dummies) in (0, len(nothing))]
    alike = all(one.indistinguishable for one in declared if one.n_dummies)
    hidden = alike and any(one.n_dummies for one in declared)
    return Withheld(
        suppressed=tuple(np.sum(column, axis=0) for column in zip(*suppressed, strict=True)),
        dummies=() if hidden else tuple(np.sum(column, axis=0) for column in zip(*dummies, strict=True)),
        n_suppressed=sum(one.n_suppressed for one in declared),
        n_dummies=sum(one.n_dummies for one in declared),
        indistinguishable=alike,
    )


def _unite_exposures(exposures: Sequence[Exposure]) -> Exposure:
    """The units of all. Of perturbed columns, where parts have the same ones, each once."""
    if exposures[0].counts_persons:
        return _unite_classes(exposures)
    return _join_units(exposures)


def _unite_classes(exposures: Sequence[Exposure]) -> Exposure:
    """By persons: first the classes of all, then what is believed by someone who knows numbers of rows."""
    classes = [units_of(one, np.arange(one.n_classes or 0)) for one in exposures]
    further = [units_of(one, np.arange(one.n_classes or 0, one.n_units)) for one in exposures]
    n_classes = sum(one.n_units for one in classes)
    return replace(_join_units([*classes, *further]), n_classes=n_classes)


def _join_units(exposures: Sequence[Exposure]) -> Exposure:
    concealed = [exposure.concealed for exposure in exposures if exposure.concealed is not None]
    possible = [exposure.possible_sizes for exposure in exposures if exposure.possible_sizes is not None]
    lengths = np.concatenate([np.diff(exposure.starts) for exposure in exposures])
    union = replace(
        exposures[0],
        starts=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        values=np.concatenate([exposure.values for exposure in exposures]),
        weights=np.concatenate([exposure.weights for exposure in exposures]),
        sizes=np.concatenate([exposure.sizes for exposure in exposures]),
        concealed=np.concatenate(concealed) if len(concealed) == len(exposures) else None,
        possible_sizes=np.concatenate(possible) if len(possible) == len(exposures) else None,
        behind=None,
    )
    return union if union.counts_rows else _each_once(union)


def _each_once(exposure: Exposure) -> Exposure:
    known: dict[tuple[bytes, tuple[int, ...]], int] = {}
    for unit in range(exposure.n_units):
        values, weights, _ = exposure.unit(unit)
        known.setdefault((values.tobytes(), tuple(weights.tolist())), unit)
    return units_of(exposure, np.array(list(known.values()), dtype=np.int64))


def _checks(parts: Sequence[PartAudit], totals: Audit) -> tuple[Check, ...]:
    by_name: dict[str, list[Check]] = {}
    for part in sorted(parts, key=lambda part: -len(part.audit.checks)):
        for check in part.audit.checks:
            by_name.setdefault(check.name, []).append(check)
    checks = {name: _check(found, len(parts), totals) for name, found in by_name.items()}
    for check in _check_matrices(parts):
        if check.name in checks and not checks[check.name].blocks:
            checks[check.name] = check
    about_persons = _check_persons(parts)
    return (*checks.values(), _complete(parts), *([] if about_persons is None else [about_persons]))


def _check(found: Sequence[Check], n_parts: int, totals: Audit) -> Check:
    """Failed if it failed anywhere; not run if it was not run somewhere; passed if it passed wherever it applies."""
    for status in (FAILED, NOT_RUN):
        such = [check for check in found if check.status == status]
        if such:
            decides = any(check.decides for check in such)
            return Check(such[0].name, False, _where([check.detail for check in such], n_parts), status, decides)
    # What is too little to tell in one part is no fault of the others.
    found = [check for check in found if check.passed] or found
    name, details = found[0].name, {check.detail for check in found}
    if (of_whole := preconditions.describe_totals(name, totals)) is not None:
        return replace(found[0], detail=of_whole)
    if len(details) == 1:
        return found[0]
    return replace(found[0], detail=f"in each of {counted(len(found), 'part')}; of the first: {found[0].detail}")


def _where(details: Sequence[str], n_parts: int) -> str:
    if len(details) == n_parts and len(set(details)) == 1:
        return details[0]
    return f"in {len(details):,} of {counted(n_parts, 'part')}: {details[0]}"


def _complete(parts: Sequence[PartAudit]) -> Check:
    """Every record of the table is in one part, as far as numbers and sensitive values tell."""
    name, first = "parts complete", parts[0]
    n_records = sum(part.audit.n_records for part in parts)
    for part in parts[1:]:
        same = len(part.whole_counts) == len(first.whole_counts) and all(
            np.array_equal(one, other) for one, other in zip(part.whole_counts, first.whole_counts, strict=True)
        )
        if not same or part.n_whole != first.n_whole:
            return Check(name, False, "parts were held against different counts of the whole table")
    if n_records != first.n_whole:
        detail = f"{counted(n_records, 'record')} in {counted(len(parts), 'part')}, the table has {first.n_whole:,}"
        return Check(name, False, detail)
    for index, wanted in enumerate(first.whole_counts):
        if not np.array_equal(np.sum([part.counts[index] for part in parts], axis=0), wanted):
            return Check(name, False, "some sensitive values are in the parts more or less often than in the table")
    return Check(name, True, f"{counted(len(parts), 'part')} with every record of the table")


def _check_persons(parts: Sequence[PartAudit]) -> Check | None:
    """Whether the shares that promises are held against are those of the distinct persons in all parts.

    A person may have rows in several parts, so numbers of persons do not add up: the persons themselves are counted.
    """
    name, stated = "persons counted", parts[0].whole_persons
    if stated is None:
        return None
    if any(part.whole_persons != stated for part in parts):
        return Check(name, False, "parts were held against different numbers of persons")
    listed = [part.persons for part in parts if part.persons is not None]
    if len(listed) < len(parts):
        detail = "the table has too many rows to count its persons again; their numbers are taken from the survey"
        return Check.not_run(name, detail, decides=False)
    persons, *pairs = (np.unique(np.concatenate(numbers)) for numbers in zip(*listed, strict=True))
    counts = [(len(persons),)]
    for numbers, wanted in zip(pairs, stated[1:], strict=True):
        counts.append(tuple(np.bincount(numbers % len(wanted), minlength=len(wanted)).tolist()))
    if tuple(counts) != stated:
        return Check(name, False, "persons, or persons with some value, are not as many in the parts as was stated")
    return Check(name, True, f"{counted(len(persons), 'person')} in all parts, each counted once")


def _check_matrices(parts: Sequence[PartAudit]) -> list[Check]:
    """Whether the matrix was used, over all rows: what is too little to tell in any part may be plain in all."""
    if not all(part.redrawn for part in parts):
        return []
    checks: list[Check] = []
    for of_parts in zip(*(part.redrawn for part in parts), strict=True):
        first = of_parts[0].randomizer
        one = all(
            part.randomizer.total == first.total and np.array_equal(part.randomizer.weights, first.weights)
            for part in of_parts
        )
        pooled = list(perturbation.matrix_checks(perturbation.pool_redrawn(of_parts)))
        checks += pooled if one else [replace(pooled[0], passed=False, status=FAILED, detail="parts differ in it")]
    return checks


def _find_unlevelled(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those that were decided without a level, or not at all. A part of which nothing is published tells nothing."""
    return [verdict for verdict in verdicts if verdict.reached is None and verdict.detail != NOTHING]


def _find_exposure(promise: Promise, exposures: Mapping[Subject, Exposure]) -> Exposure | None:
    """What the model looked at in the parts: by rows that are only possible where these were worked out for it."""
    about = None if promise.model.about_identity else promise.column
    kind = POSSIBLE if promise.model.by_possible else MIXED if promise.model.by_distribution else COUNTED
    own = exposures.get((about, kind))
    seen = own if own is not None else exposures.get((about, COUNTED))
    return seen if seen is not None and seen.n_units else None


def _verdict(
    promise: Promise, verdicts: Sequence[Verdict], exposures: Mapping[Subject, Exposure], form: str
) -> Verdict:
    without = _find_unlevelled(verdicts)
    if without:
        telling = [verdict for verdict in without if not verdict.passed] or without
        passed = all(verdict.passed for verdict in without)
        return verdict_of(promise, passed, _where([verdict.detail for verdict in telling], len(verdicts)), form)
    seen = _find_exposure(promise, exposures)
    if seen is None:
        return verdict_of(promise, False, NOTHING, form)
    told = [verdict for verdict in verdicts if verdict.reached is not None]
    return replace(
        judge_level(promise, seen),
        failing_units=_sum_known([verdict.failing_units for verdict in told], seen.form),
        failing_records=_sum_known([verdict.failing_records for verdict in told], seen.form),
    )


def _sum_known(numbers: Sequence[int | None], form: str) -> int | None:
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    # A perturbed column has the same units in every part.
    return max(known, default=0) if form == Perturbed.form else sum(known)


def _join_measured(promise: Promise, verdicts: Sequence[Verdict], exposures: Mapping[Subject, Exposure]) -> Verdict:
    without = _find_unlevelled(verdicts)
    if without:
        return measure_level(promise, _where([verdict.detail for verdict in without], len(verdicts)))
    seen = _find_exposure(promise, exposures)
    return measure_level(promise, NOTHING if seen is None else seen)
