"""`verify`: the checks of a release in order, then a verdict for each promise.

The audit gets the release, the original and the promises; of the algorithm it knows nothing and believes nothing.
A matched release may come with its private graph; without it a promise is shown only where the ranges leave no choice
of a graph. Whatever cannot be decided is not passed.

A release folder may hold what follows from the release itself (`public_audit`, decision 17). An audit holds the release
against the original, so its details may say more than the release does: how many redrawn rows kept their value, what a
private graph reaches, what suppressed records had. The owner keeps those. Public is that no check found a fault, and
the levels of promises that anybody with the release can work out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lookalike.audit import buckets, matching, persons, perturbation, preconditions
from lookalike.audit.exposures import concealment, expose_blocks, expose_reading, part
from lookalike.audit.knowing import find_carried, learn_carried, learn_graph
from lookalike.audit.linked import check_linked
from lookalike.audit.order import row_order
from lookalike.audit.reading import Ints, Reading
from lookalike.audit.verdicts import (
    NO_FAULT,
    NOTHING,
    OPEN,
    Audit,
    Check,
    Verdict,
    judge_promise,
    measure_level,
    verdict_of,
)
from lookalike.data.adversary import ADVERSARIES, KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Codes, Microdata
from lookalike.data.person_settings import Unit
from lookalike.data.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, Release
from lookalike.data.wording import Wording
from lookalike.errors import RecipeError, unknown_name
from lookalike.progress import Progress, silent

_PLACING = ("containment.holds_each", "containment.list_fitting", "containment.weight_fitting")
_LEVELS = {Grouped.form: "group", Bucketized.form: "bucket", Perturbed.form: "posterior"}
_SMALL = 2_000
"""Rows up to which NumPy compares nearly all pairs of a record and a cell (see `containment`)."""
_CONFIRMATION = "level B"
"""How a check begins that confirms a verdict without the private graph."""
_WITH_THE_OWNER = "the level reached depends on more than the release: the owner of the original has it"
_NOT_SHOWN = (
    f"{OPEN}: what a matched release reveals depends on the graph that it was drawn from. Audit it with the private "
    "folder (--private DIR), if its publisher kept one; releases in parts have none"
)


@dataclass(frozen=True, eq=False)
class Examined:
    """An audit, and what each of its verdicts was read from: an exposure, or in words why there was none."""

    audit: Audit
    sound: bool
    """Whether release and graph are well formed; nothing else is looked at if not."""
    reading: Reading
    promised: tuple[tuple[Promise, Exposure | str], ...]
    measured: tuple[tuple[Promise, Exposure | str], ...]
    graph: MatchGraph | None = None

    def exposure(self, column: int | None) -> Exposure:
        """What the adversary can infer about a sensitive column (None: about identity); worked out once.

        By persons, where they may have several rows: an exposure without units where that is not known.
        """
        by_rows = partial(expose_reading, self.reading, column, self.graph, self.audit.adversary)
        if self.reading.original.persons is None:
            return by_rows()
        key = column, self.audit.adversary, False
        if key not in self.reading.of_persons:
            self.reading.of_persons[key] = persons.expose_persons(self.reading, column, key[1], mixed=False)
        seen = self.reading.of_persons[key]
        return seen if isinstance(seen, Exposure) else replace(part(by_rows(), np.zeros(0, np.int64)), n_classes=0)


def examine_knowing(examined: Examined, columns: Sequence[str]) -> Examined:
    """The same release and promises, judged against someone who also knows these carried columns of a person.

    Checks of the release itself stay as they are: they do not depend on what an attacker knows.
    """
    places = find_carried(examined.reading.original, columns)
    names = tuple(examined.reading.original.domains.carried[place].name for place in places)
    audit = replace(examined.audit, knows_carried=names)
    if not examined.sound or not places:
        return replace(examined, audit=audit)
    reading = learn_carried(examined.reading, places)
    graph = None if examined.graph is None else learn_graph(examined.graph, examined.reading, places)
    promises = [promise for promise, _ in examined.promised]
    unasked = [promise for promise, _ in examined.measured]
    judged = [_judge(reading, promise, graph, audit.adversary, confirm=False) for promise in promises]
    levels = [expose_promise(reading, promise, graph, audit.adversary) for promise in unasked]
    wording = replace(_word(examined.reading.original, examined.reading.release, audit.adversary), also=names)
    audit = replace(
        audit,
        verdicts=tuple(
            replace(verdict, promise=promise.sentence(wording))
            for (verdict, _, _), promise in zip(judged, promises, strict=True)
        ),
        measured=tuple(measure_level(promise, exposure) for promise, exposure in zip(unasked, levels, strict=True)),
    )
    return Examined(
        audit,
        examined.sound,
        reading,
        tuple((promise, seen) for promise, (_, seen, _) in zip(promises, judged, strict=True)),
        tuple(zip(unasked, levels, strict=True)),
        graph,
    )


def name_kernels(form: str, n_rows: int) -> tuple[str, ...]:
    """Kernels that the audit of such a release calls, as module.name."""
    if form == Bucketized.form:
        return ("transport.send_most",)
    return _PLACING if form in (Grouped.form, Matched.form) and n_rows > _SMALL else ()


def verify(original: Microdata, release: Release, promises: Sequence[Promise], **known: Any) -> Audit:
    """Hold a release against its promises; `known` are further arguments of `examine`."""
    return examine(original, release, promises, **known).audit


def examine(
    original: Microdata,
    release: Release,
    promises: Sequence[Promise],
    *,
    measures: Sequence[PrivacyModel] = (),
    graph: MatchGraph | None = None,
    adversary: str = READS_RELEASE,
    unpublished: Mapping[str, Codes] | None = None,
    parts: Mapping[str, Ints] | None = None,
    record_of_row: Ints | None = None,
    number_known: bool = True,
    progress: Progress = silent,
) -> Examined:
    """Hold a release against its promises, and keep what the verdicts were read from.

    `measures` are models whose levels are always reported. `unpublished` are columns of the original that the release
    leaves out, as ranks: the order of rows must not show them either. `parts` has, for each table of a release in
    parts, the part that each row is in. `record_of_row` is the private record map, for promises about persons;
    `number_known`: whether the attacker may know how many rows a person has.
    """
    if adversary not in ADVERSARIES:
        raise RecipeError(unknown_name("adversary", adversary, ADVERSARIES))
    for promise in promises:
        _column_index(promise, original)
    # Each model over every sensitive column, or once if it speaks of identity alone.
    names = [domain.name for domain in original.domains.sensitive]
    unasked = tuple(Promise(model, name) for model in measures for name in ([None] if model.about_identity else names))
    original = _with_a_missing_value(original, release)
    reading = Reading(release, original, unpublished or {}, parts or {}, record_of_row, number_known)
    checks = [preconditions.well_formed(original, release)]
    if not isinstance(release, Matched):
        graph = None
    if checks[0].passed and graph is not None:
        complaint = matching.graph_complaint(graph, reading)
        if complaint is not None:
            checks.append(Check("graph well formed", False, complaint))
    verdicts: list[Verdict] = []
    looked_at: list[Exposure | str] = []
    levels: list[Exposure | str] = []
    sound = all(check.passed for check in checks)
    if sound:
        for check in _checks(reading, graph, adversary):
            checks.append(check)
            progress("audit", min(0.9, len(checks) / 12), check.name)
        for promise in promises:
            verdict, exposure, confirmation = _judge(reading, promise, graph, adversary)
            verdicts.append(verdict)
            looked_at.append(exposure)
            checks += confirmation
        levels = [expose_promise(reading, promise, graph, adversary) for promise in unasked]
    else:
        reason = "not run: the release is not well formed"
        verdicts = [verdict_of(promise, False, reason, release.form) for promise in promises]
        looked_at, unasked = [reason] * len(verdicts), ()
    wording = _word(original, release, adversary)
    audit = Audit(
        form=release.form,
        adversary=adversary,
        level=_LEVELS.get(release.form, "B" if graph is None else "A"),
        checks=tuple(checks),
        verdicts=tuple(
            replace(verdict, promise=promise.sentence(wording))
            for verdict, promise in zip(verdicts, promises, strict=True)
        ),
        measured=(
            *(measure_level(promise, exposure) for promise, exposure in zip(unasked, levels, strict=True)),
            *(_measure_individuals(reading, promises, unasked, adversary) if sound else ()),
        ),
        n_records=original.n_rows,
        n_persons=None if original.persons is None else original.n_persons,
        unit=wording.unit or Unit(),
        n_rows=release.n_rows,
        n_suppressed=release.withheld.n_suppressed,
        n_dummies=release.withheld.n_dummies,
    )
    progress("audit", 1.0)
    return Examined(
        audit,
        sound,
        reading,
        tuple(zip(promises, looked_at, strict=True)),
        tuple(zip(unasked, levels, strict=True)),
        graph,
    )


def _word(original: Microdata, release: Release, adversary: str) -> Wording:
    """Who the promises are about, and against which attacker they are held."""
    is_linked = isinstance(release, Grouped) and release.linked is not None
    unit = Unit(original.schema.unit_name, "all rows" if is_linked else "one row")
    return Wording(
        form=release.form,
        adversary=adversary,
        known=tuple(domain.name for domain in original.domains.quasi),
        unit=None if original.persons is None else unit,
    )


def _measure_individuals(
    reading: Reading, asked: Sequence[Promise], unasked: Sequence[Promise], adversary: str
) -> Iterator[Verdict]:
    """Where households are counted, and persons are known too: sizes, largest probabilities and what was asked, by
    persons.

    k households are at least k persons, but a limit on the share of households says nothing of the share of persons:
    one large household may have a value that the small ones lack.
    """
    original = reading.original
    if original.persons is None or original.schema.household is None or original.schema.person is None:
        return
    individuals = original.individuals
    # No number: no person has two records.
    owners = np.arange(original.n_rows, dtype=np.int32) if individuals is None else individuals
    by_person = replace(
        reading, original=replace(original, persons=owners, individuals=None), exposures={}, of_persons={}
    )
    names = {"l-diversity", *(promise.model.name for promise in asked)}
    for promise in unasked:
        model = promise.model
        if model.by_possible or model.by_distribution:
            continue
        if model.about_identity or model.name in names:
            column = _column_index(promise, original)
            measured = measure_level(promise, _expose_person_model(by_person, model, column, adversary))
            yield replace(measured, model=f"{measured.model} (persons)")


def _with_a_missing_value(original: Microdata, release: Release) -> Microdata:
    """Records that were made up may lack a sensitive value where every record has one: anybody tells them by that."""
    if not release.withheld.n_dummies or original.whole is not None:
        return original
    own, published = original.domains.sensitive, release.domains.sensitive
    if len(own) != len(published):
        return original
    known = tuple(
        replace(domain, has_missing=domain.has_missing or other.has_missing)
        for domain, other in zip(own, published, strict=True)
    )
    return replace(original, domains=replace(original.domains, sensitive=known))


def _checks(reading: Reading, graph: MatchGraph | None, adversary: str) -> Iterator[Check]:
    release = reading.release
    yield preconditions.row_count(reading)
    about_map = persons.check_map(reading)
    if about_map is not None:
        yield about_map
    about_rows = persons.check_rows(reading) if about_map is None or about_map.passed else None
    if about_rows is not None:
        yield about_rows
    if isinstance(release, Perturbed):
        yield preconditions.check_points(reading)
        if release.carried.shape[1]:
            yield perturbation.check_carried(reading)
        for redrawn in perturbation.redrawings(reading):
            yield from perturbation.matrix_checks(redrawn)
    else:
        yield preconditions.values_kept(reading)
        about_dummies = preconditions.dummies_known(reading, adversary)
        if about_dummies is not None:
            yield about_dummies
        if isinstance(release, Bucketized):
            yield preconditions.check_points(reading)
            yield buckets.buckets_match(reading)
            yield buckets.everyone_has_a_bucket(reading)
        else:
            yield preconditions.everyone_has_a_row(reading)
            if isinstance(release, Matched) and graph is not None:
                yield from matching.graph_checks(graph, reading)
    if isinstance(release, Grouped) and release.linked is not None:
        yield from check_linked(reading, release.linked)
    in_parts = preconditions.parts_check(reading, graph)
    if in_parts is not None:
        yield in_parts
    yield row_order(reading)


def _column_index(promise: Promise, original: Microdata) -> int | None:
    if promise.model.about_identity:
        return None
    if promise.column is None:
        raise RecipeError(
            f"{promise.model.name} speaks of a sensitive column, but none is named. Write column={promise}."
        )
    return original.domains.sensitive_index(promise.column)


def _judge(
    reading: Reading, promise: Promise, graph: MatchGraph | None, adversary: str, *, confirm: bool = True
) -> tuple[Verdict, Exposure | str, list[Check]]:
    """A verdict, what it was read from and, for a matched release with its graph, the flow test that confirms it.

    Without the graph a matched release is judged by the groups that it is, where it is one; elsewhere nothing is shown.
    """
    model, release = promise.model, reading.release
    by_flow = isinstance(release, Matched) and model.refuses_form(release.form) is None and not model.by_possible
    column = _column_index(promise, reading.original)
    if not by_flow or graph is None:
        seen = expose_promise(reading, promise, graph, adversary)
        if isinstance(seen, Exposure):
            return judge_promise(promise, seen), seen, []
        if by_flow and (exists := _existence(reading, model, column, None)).exists is False:
            seen = f"broken whatever the graph is: {exists.detail}"
        return verdict_of(promise, False, seen, release.form), seen, []
    if not confirm:
        exposure = expose_reading(reading, column, graph, adversary)
        return judge_promise(promise, exposure), exposure, []
    exists = _existence(reading, model, column, graph)
    name = f"{_CONFIRMATION}: {promise}"
    if exists.exists is None:
        confirmation = Check.not_run(name, exists.detail, decides=False)
    else:
        confirmation = Check(name, exists.exists, exists.detail)
    exposure = expose_reading(reading, column, graph, adversary)
    return judge_promise(promise, exposure), exposure, [confirmation]


def expose_promise(reading: Reading, promise: Promise, graph: MatchGraph | None, adversary: str) -> Exposure | str:
    """What the model is to look at, or why there is nothing."""
    reason = promise.model.refuses_form(reading.release.form)
    if reason is not None:
        return reason
    index = _column_index(promise, reading.original)
    if isinstance(reading.release, Perturbed) and index is not None:
        problem = perturbation.matrix_problem(reading.release.randomizers[index])
        if problem is not None:
            return f"not run: the matrix is none, {problem}"
    if isinstance(reading.release, Perturbed) and adversary == KNOWS_METHOD and not promise.model.value_by_value:
        return (
            "not decided: against someone who knows the method only the certainty about each value by itself is bounded"
        )
    if isinstance(reading.release, Perturbed) and reading.original.whole is not None and reading.original.carried.size:
        return "not decided: how often values occur beside what a row carries is known of this part alone"
    exposure: Exposure | None
    if reading.original.persons is not None:
        return _expose_person_model(reading, promise.model, index, adversary)
    if isinstance(reading.release, Matched) and promise.model.by_possible:
        exposure = concealment(reading, adversary)
        if exposure is None:
            return "not run: records fit far too many rows to list them"
        if reading.fits_several_parts:
            return f"{OPEN}: records fit rows of several parts, and a reader tells the parts apart"
    elif isinstance(reading.release, Matched) and graph is None:
        if reading.blocks is None:
            return _NOT_SHOWN
        exposure = expose_blocks(reading, reading.blocks, index, adversary)
    else:
        exposure = expose_reading(reading, index, graph, adversary)
    return exposure if exposure.n_units else NOTHING


def _expose_person_model(reading: Reading, model: PrivacyModel, column: int | None, adversary: str) -> Exposure | str:
    """What a model about persons is to look at, or why there is nothing; worked out once."""
    key = column, adversary, model.by_distribution
    if key not in reading.of_persons:
        reading.of_persons[key] = persons.expose_persons(reading, column, adversary, mixed=model.by_distribution)
    seen = reading.of_persons[key]
    if isinstance(seen, Exposure) and seen.possible_sizes is not None:
        least, most = model.level(seen), model.level(replace(seen, sizes=seen.possible_sizes))
        # Sizes are bounds: a promise that only the greatest possible ones keep is not decided.
        return persons.NEEDS_MAP if not model.holds(least) and model.holds(most) else seen
    return seen


def _existence(
    reading: Reading, model: PrivacyModel, column: int | None, graph: MatchGraph | None
) -> matching.Existence:
    original = reading.original
    domain = None if column is None else original.domains.sensitive[column]
    return matching.existence(reading, model.requirement(original.prior(column), domain, column), column, graph)


def public_audit(audit: Audit) -> Audit:
    """The audit without what depends on more of the original than its release shows."""
    return replace(
        audit,
        # How many persons there are does not follow from rows that do not show whose they are.
        n_persons=None,
        checks=tuple(
            _public_check(check, audit)
            for check in audit.checks
            if not check.name.startswith(_CONFIRMATION) and check.name != persons.RECORD_MAP
        ),
        verdicts=tuple(_public_verdict(verdict, audit) for verdict in audit.verdicts),
        measured=tuple(
            verdict for verdict in audit.measured if verdict.reached is not None and _shows_level(audit, verdict.column)
        ),
    )


def _shows_level(audit: Audit, column: str | None) -> bool:
    """Whether the release shows how far a promise about this column (None: about identity) is kept.

    Suppressed records count in the shares that values are compared with, and made-up rows do not: shares would tell
    which values were made up. Whom a matched row may belong to is in the private graph, and what was redrawn is known
    to the owner alone.
    """
    if audit.n_persons is not None:
        # Whose row it is, and so how many persons a group holds, is not published.
        return False
    if column is None:
        return audit.form != Matched.form
    return shows_beliefs(audit) and not audit.n_suppressed and not audit.n_dummies


def shows_beliefs(audit: Audit) -> bool:
    """Whether the release shows which people share which values: in groups and buckets."""
    return audit.form in (Grouped.form, Bucketized.form)


def _public_check(check: Check, audit: Audit) -> Check:
    if check.blocks:
        return replace(check, detail="")
    return Check(check.name, True, preconditions.describe_totals(check.name, audit) or "", NO_FAULT)


def _public_verdict(verdict: Verdict, audit: Audit) -> Verdict:
    if _shows_level(audit, verdict.column):
        return verdict
    return replace(
        verdict, reached=None, detail=_WITH_THE_OWNER, unit_size=None, failing_units=None, failing_records=None
    )
