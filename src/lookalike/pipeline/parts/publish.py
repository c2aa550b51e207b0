"""From a table that lies elsewhere to an audited release in parts; the driver holds counts, a sample and summaries.

    survey -> prepare -> encode -> cut -> (each part: anonymize, write, audit) -> join

The records of a part come in any order, so they are sorted by their codes first; randomness comes from the secret of
the release and the number of the part. So a part that is done again, elsewhere or later, comes out the same to the
byte. The sorted order depends on sensitive values: `Method.anonymize` numbers the records at random before the method
sees them.

Nothing that looks like a release is there until all of it is: parts are written beside a hidden folder, which is moved
into place once its documents are written (`publication`).
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms import ALGORITHMS
from lookalike.audit import PartAudit, audit_part, join_carried
from lookalike.audit.joining import join_audits
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Boxes, Metric, PrivacyModel, Promise, Slices
from lookalike.data.ends import Ends, Step, round_ends
from lookalike.data.guests import explain_fault
from lookalike.data.microdata import Codes, Domains, Microdata
from lookalike.data.release import (
    Bucketized,
    Grouped,
    Matched,
    Perturbed,
    Randomizer,
    Ranges,
    RecordMap,
    Release,
    Sets,
    Withheld,
)
from lookalike.data.requirement import Requirement
from lookalike.errors import AuditFailed, DataError, LookalikeError, Unsupported, counted
from lookalike.files.identifiers.values import refuse_identifiers
from lookalike.files.releases.parts import WrittenPart, write_part
from lookalike.metrics import METRICS
from lookalike.metrics.shared.cells import loss_by_column
from lookalike.metrics.shared.losses import PartLosses, ShownRanges, join_losses
from lookalike.pipeline.backends import Backend, Fragments
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.carried import refuse_carried
from lookalike.pipeline.parts.boxes import BoxTree
from lookalike.pipeline.parts.cut import cut, cutting_for
from lookalike.pipeline.parts.persons import refuse_cutting, refuse_settings, select_persons
from lookalike.pipeline.parts.repeated import refuse_repeated_elsewhere
from lookalike.pipeline.parts.slices import SlicedBoxes
from lookalike.pipeline.parts.survey import Survey, survey
from lookalike.pipeline.recipe import Recipe, drop_persons, prepare, refuse_persons, stronger
from lookalike.pipeline.run import (
    MadeInParts,
    RoundedEnds,
    Stopwatch,
    compile_kernels,
    describe_ends,
    measure_sizes,
    notes_on,
    refuse_failed,
    standard_measures,
)
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


def run_in_parts(
    recipe: Recipe,
    backend: Backend,
    folder: Path,
    *,
    part_rows: int,
    options: Sequence[str] = (),
    fragments: Fragments | None = None,
    progress: Progress = silent,
) -> MadeInParts:
    """As `run`, part by part, with the files of all parts written beside `folder`.

    `fragments`: where to cut, to do on one back end what was done on another; else it is decided from the table.
    """
    watch, rng = Stopwatch(), Randomness(recipe.seed)
    try:
        progress("survey", 0.0)
        refuse_settings(recipe.persons)
        with watch.step("survey"):
            refuse_repeated_elsewhere(backend, recipe.schema, recipe.persons)
            seen = survey(backend, recipe.schema)
            identifiers = refuse_identifiers(seen.data.domains)
            if not seen.counts_persons:
                recipe = drop_persons(recipe)
            backend.encode(seen.names, seen.coding)
            seen, left_out = select_persons(backend, seen, recipe.persons, rng.child("kept rows"))
        ways = Boxes if seen.counts_persons else Boxes | Slices
        divided = [kind for kind in ALGORITHMS.values() if isinstance(kind().in_parts, ways)]
        prepared = prepare(recipe, seen.data, among=divided)
        prepared = replace(prepared, notes=(*identifiers, *seen.notes, *left_out, *prepared.notes))
        algorithm = prepared.algorithm
        cutting = cutting_for(algorithm, recipe.adversary)
        if seen.counts_persons:
            refuse_cutting(algorithm)
        progress("cut", 0.0)
        with watch.step("cut"):
            if fragments is None:
                fragments, cutting = cut(
                    backend,
                    seen,
                    prepared.promises,
                    prepared.requirements,
                    cutting,
                    recipe.adversary,
                    part_rows,
                    rng.child("cuts"),
                )
            elif fragments.is_ranked and isinstance(cutting, Boxes) and cutting.otherwise is not None:
                cutting = cutting.otherwise
        # A method is as safe from who knows it only if the cuts are blind as well.
        is_blind = cutting.blind if isinstance(cutting, Boxes) else cutting.at_random
        is_blind &= refuse_persons(algorithm, prepared.promises, seen.data, algorithm.adversary) is None
        work = _PartWork(
            survey=seen,
            promises=prepared.promises,
            requirements=prepared.requirements,
            algorithm=algorithm,
            adversary=stronger(recipe.adversary, algorithm.adversary if is_blind else READS_RELEASE),
            fragments=fragments,
            secret=rng,
            folder=folder,
            ends=recipe.ends,
        )
        if isinstance(backend, LocalBackend):
            # Elsewhere every machine compiles for itself.
            with watch.step("compile"):
                compile_kernels([algorithm], part_rows, progress)
        with watch.step("parts"):
            done = _run_parts(backend, work, fragments, progress)
    finally:
        backend.close()
    with watch.step("join"):
        found = join_audits([part.audit for part in done])
        n_records = sum(part.n_rows for part in done)
        if n_records != seen.n_rows:
            raise AuditFailed(
                f"The table had {seen.n_rows:,} records when it was surveyed and {n_records:,} when it was published. "
                "Publish a copy that nobody writes to. Nothing is written."
            )
        refuse_failed(found.audit, algorithm)
        risks = join_carried([part.audit.carried for part in done])
        known = refuse_carried(risks, seen.data.domains)
        losses, by_column = join_losses([part.losses for part in done], work.metrics)
        if found.audit.n_persons is not None and found.sizes:
            losses |= measure_sizes(found.sizes)
    ends = _join_ends(done, seen.data.domains, by_column)
    columns = ((index, found.exposure(domain.name)) for index, domain in enumerate(seen.data.domains.sensitive))
    apart = [kind.name for kind in work.metrics if not kind.joins]
    not_joined = [f"Not measured, as no part sees the whole release: {', '.join(apart)}."] if apart else []
    remarks = dict.fromkeys(remark for part in done for remark in part.remarks)
    return MadeInParts(
        recipe=recipe,
        promises=prepared.promises,
        algorithm=algorithm,
        domains=seen.data.domains,
        audit=found.audit,
        withheld=found.withheld,
        seen={index: exposure for index, exposure in columns if exposure is not None},
        crowds=found.sizes,
        losses=losses,
        loss_by_column=by_column,
        ranges=ShownRanges.join([part.losses.shown for part in done]),
        notes=notes_on(
            prepared,
            (
                *known,
                f"Made in {counted(len(done), 'part')}. {cutting.why}",
                *remarks,
                *not_joined,
                *describe_ends(ends),
            ),
            by_column,
            found.audit.n_suppressed,
        ),
        seconds=watch.seconds,
        ends=ends,
        carried=risks,
        parts=tuple(part.written for part in done),
        bare=skeleton(seen, algorithm.form, found.withheld, done[0].randomizers),
        options=tuple(options),
    )


def _run_parts(backend: Backend, work: _PartWork, fragments: Fragments, progress: Progress) -> list[_Done]:
    """Every part's summary."""
    waiting = work.folder.with_name(f"{work.folder.name}.attempts")

    def watch() -> None:
        # Files of parts that are done; one table has two, and two tables four.
        n_files = sum(1 for _ in waiting.iterdir()) if waiting.is_dir() else 0
        each = 4 if work.algorithm.form == Bucketized.form else 2
        n_done = min(n_files // each, fragments.n_parts)
        progress("parts", n_done / max(fragments.n_parts, 1), f"{n_done:,} of {fragments.n_parts:,} parts")

    return load_results(backend.map(work, fragments, watch))


def load_results(results: Sequence[bytes]) -> list[Any]:
    """What tasks handed on, each with the number of its part, in that order; the first fault among it is raised."""
    found = [result for _, result in sorted((pickle.loads(one) for one in results), key=itemgetter(0))]
    for result in found:
        if isinstance(result, LookalikeError):
            raise result
    return found


def skeleton(seen: Survey, form: str, withheld: Withheld, randomizers: tuple[Randomizer, ...]) -> Release:
    """The release without its rows: form, domains, matrices, and what was withheld in all parts."""
    nobody, none = seen.data, np.zeros(0, dtype=np.int32)
    known: dict[str, Any] = {
        "domains": nobody.domains,
        "sensitive": nobody.sensitive,
        "carried": nobody.carried,
        "withheld": withheld,
    }
    if form == Perturbed.form:
        return Perturbed(quasi=nobody.quasi, randomizers=randomizers, **known)
    if form == Bucketized.form:
        return Bucketized(quasi=nobody.quasi, bucket_of_quasi=none, bucket_of_sensitive=none, **known)
    extents = tuple(
        Ranges.of(domain, none, none) if domain.in_ranges else Sets(np.zeros(1, dtype=np.int64), none)
        for domain in nobody.domains.quasi
    )
    return (
        Matched(extents=extents, **known)
        if form == Matched.form
        else Grouped(extents=extents, group_of_row=none, **known)
    )


@dataclass(frozen=True, eq=False)
class _Done:
    """What is reported of a part that was published: no rows, and nothing that grows with them."""

    n_rows: int
    written: WrittenPart
    audit: PartAudit
    losses: PartLosses
    randomizers: tuple[Randomizer, ...]
    remarks: tuple[str, ...]
    steps: dict[str, Step]
    """To what the ends of the ranges were rounded, by column: every part chooses by itself."""
    losses_by_column: dict[str, float]
    exact_losses: dict[str, float]
    """The loss by column with and without that; empty where nothing was rounded."""


def _join_ends(done: Sequence[_Done], domains: Domains, losses: Mapping[str, float]) -> dict[str, RoundedEnds]:
    """What rounding the ends costs, by column, over all parts."""
    made = {}
    n_rows = sum(part.n_rows for part in done)
    for domain in domains.quasi:
        steps = {step.describe(domain.type): step.width for part in done if (step := part.steps.get(domain.name))}
        if steps:
            risen = sum(
                (part.losses_by_column[domain.name] - part.exact_losses[domain.name]) * part.n_rows
                for part in done
                if domain.name in part.steps
            )
            loss = losses[domain.name]
            said = " or ".join(sorted(steps, key=steps.__getitem__))
            made[domain.name] = RoundedEnds(said, loss - risen / n_rows, loss)
    return made


@dataclass(frozen=True, eq=False, kw_only=True)
class _PartWork:
    """The work on a part, ready to be sent."""

    survey: Survey
    promises: Sequence[Promise]
    requirements: Sequence[Requirement]
    algorithm: Algorithm
    adversary: str
    fragments: Fragments
    secret: Randomness
    folder: Path
    ends: Ends
    measures: Sequence[PrivacyModel] = field(default_factory=standard_measures)
    metrics: Sequence[type[Metric]] = field(default_factory=lambda: tuple(METRICS.values()))
    """Taken along: where the work is done, only what was imported is registered."""

    def __call__(self, number: int, codes: Codes) -> bytes:
        outcome: _Done | LookalikeError
        try:
            outcome = self.publish(number, codes)
        except LookalikeError as error:
            outcome = error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            outcome = DataError(f"A part could not be written: {reason}. Nothing is published.")
        return pickle.dumps((number, outcome))

    def publish(self, number: int, codes: Codes) -> _Done:
        if not self.folder.parent.is_dir():
            raise DataError(
                f"The machines that do the work cannot see the folder beside {self.folder.parent.parent}. Publish to a "
                "folder that all of them share under one name."
            )
        codes = codes[np.lexsort(codes.T[::-1])]
        data = self.survey.records(codes)
        exact, record_map = self._anonymize(number, data)
        release, steps = self._round_ends(number, exact)
        written, read = write_part(self.folder, number, release)
        audit = audit_part(
            data,
            read,
            self.promises,
            measures=self.measures,
            graph=record_map.graph,
            adversary=self.adversary,
            record_of_row=None if data.persons is None else record_map.record_of_row,
            number_known=data.number_known,
            owners=codes[:, self.survey.n_published] if self.survey.counts_persons else None,
        )
        self._check_inside(number, codes, read)
        return _Done(
            n_rows=data.n_rows,
            written=written,
            audit=audit,
            losses=PartLosses.of(data, read, self.metrics),
            randomizers=release.randomizers if isinstance(release, Perturbed) else (),
            remarks=record_map.remarks,
            steps=steps,
            losses_by_column=loss_by_column(release) if steps else {},
            exact_losses=loss_by_column(exact) if steps else {},
        )

    def _round_ends(self, number: int, release: Release) -> tuple[Release, dict[str, Step]]:
        """No end lets a value of another part in, so that cells of different parts do not overlap."""
        limits = self.fragments.limits(number) if isinstance(self.fragments, BoxTree | SlicedBoxes) else None
        return round_ends(release, self.ends, limits=limits)

    def _anonymize(self, number: int, data: Microdata) -> tuple[Release, RecordMap]:
        release, record_map = self.algorithm.anonymize(
            data, self.requirements, self.secret.child("part", number), silent
        )
        if isinstance(release, Bucketized):
            release = replace(
                release,
                bucket_of_quasi=self._set_apart(number, release.bucket_of_quasi),
                bucket_of_sensitive=self._set_apart(number, release.bucket_of_sensitive),
            )
        return release, record_map

    def _set_apart(self, number: int, buckets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Bucket numbers that no other part has."""
        numbers = buckets.astype(np.int64) * self.fragments.n_parts + number
        if int(numbers.max(initial=0)) > np.iinfo(np.int32).max:
            raise Unsupported("There would be more than 2 billion bucket numbers. Make parts larger (--part-rows).")
        return numbers.astype(np.int32)

    def _check_inside(self, number: int, codes: Codes, read: Release) -> None:
        """Cells do not overlap, neither their records nor what is published of them: the audit in parts rests on it."""
        if not isinstance(self.fragments, BoxTree | SlicedBoxes):
            return
        strays = self.fragments.strays(number, codes, read)
        if strays:
            raise AuditFailed(
                f"Part {number} has {strays:,} records or groups that belong to another part. Nothing is written. "
                f"{explain_fault(type(self.algorithm), 'algorithm')}"
            )
