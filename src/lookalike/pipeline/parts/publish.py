"""From a table that lies elsewhere to an audited release folder; the driver holds counts, a sample and summaries.

    survey -> settle the promises -> choose a method -> encode -> cut -> (each part: anonymize, write, audit) -> join

Nothing that looks like a release is there until all of it is: parts are written beside a hidden folder, which is moved
into place in the end.
"""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lookalike.algorithms import ALGORITHMS
from lookalike.audit import Audit
from lookalike.audit.joining import joined
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Backend, Boxes, Cutting, Fragments, Metric, Promise, Undivided
from lookalike.data.microdata import Domains
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Randomizer, Ranges, Release, Sets, Withheld
from lookalike.errors import AuditFailed, RecipeError, counted
from lookalike.evaluation.report import AUDIT, Basis, Report, audit_json, report_documents
from lookalike.files.atomic import check_target, placed
from lookalike.files.releases.describe import DESCRIPTOR, Manifest, check_titles, stated_promise
from lookalike.files.releases.parts import complete
from lookalike.metrics import joined_losses
from lookalike.pipeline.parts.cut import cut, cutting_for
from lookalike.pipeline.parts.part import Done, Failed, PartWork
from lookalike.pipeline.parts.survey import Survey, survey
from lookalike.pipeline.recipe import Recipe, choose, required, settle, stronger
from lookalike.pipeline.run import Stopwatch, cautions, loss_text, nothing_left, types_of_suppressed
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

PART_ROWS = 100_000
_LEAST_PART = 1_000


@dataclass(frozen=True, eq=False, kw_only=True)
class PartedPublication:
    """A release that was made in parts and written: what is known about it without its rows."""

    folder: Path
    title: str
    domains: Domains
    promises: tuple[Promise, ...]
    algorithm: Algorithm
    adversary: str
    form: str
    audit: Audit
    losses: dict[str, float]
    loss_by_column: dict[str, float]
    n_rows: int
    n_suppressed: int
    n_parts: int
    notes: tuple[str, ...]
    seconds: dict[str, float]
    files: list[str] = field(repr=False)

    def __str__(self) -> str:
        promises = ", ".join(str(promise) for promise in self.promises)
        loss = loss_text(self.form, self.losses)
        return f"{self.n_rows:,} rows in {counted(self.n_parts, 'part')} that keep {promises}; {loss}\n{self.audit}"


def publish_in_parts(
    backend: Backend,
    recipe: Recipe,
    out: str | Path,
    *,
    title: str = "Anonymised table",
    recipient: str | None = None,
    overwrite: bool = False,
    part_rows: int = PART_ROWS,
    options: Sequence[str] = (),
    fragments: Fragments | None = None,
    missing: Collection[str] = (),
    source: str = "the table",
    progress: Progress = silent,
) -> PartedPublication:
    """Publish a table part by part; raises rather than leave a release that does not keep every promise.

    `options`: what the command needs besides to make such a release again, for the report. `fragments`: where to cut,
    to do on one back end what was done on another; else it is decided from the table.
    """
    if part_rows < _LEAST_PART:
        raise RecipeError(f"Parts of {part_rows:,} records are too small. Give at least {_LEAST_PART:,} (--part-rows).")
    check_titles(title=title, recipient=recipient)
    folder, watch = Path(out), Stopwatch()
    check_target(folder, marker=DESCRIPTOR, overwrite=overwrite)
    rng = Randomness(recipe.seed)
    try:
        progress("survey", 0.0)
        with watch.step("survey"):
            seen = survey(backend, recipe.schema, missing, source)
        promises = settle(recipe.promises, seen.data)
        requirements = required(promises, seen.data)
        divided = [kind for kind in ALGORITHMS.values() if not isinstance(kind().in_parts, Undivided)]
        algorithm, reason = choose(recipe, promises, requirements, seen.data.domains, divided)
        cutting = cutting_for(algorithm, recipe.adversary)
        progress("cut", 0.0)
        with watch.step("cut"):
            backend.encode(seen.names, seen.coding)
            if fragments is None:
                fragments, cutting = cut(
                    backend, seen, promises, requirements, cutting, recipe.adversary, part_rows, rng.child("cuts")
                )
            elif fragments.is_ranked and isinstance(cutting, Boxes) and cutting.otherwise is not None:
                cutting = cutting.otherwise
        made_for = _made_for(recipe, algorithm, cutting)
        with placed(folder, marker=DESCRIPTOR, overwrite=overwrite) as building:
            work = PartWork(
                survey=seen,
                promises=promises,
                requirements=requirements,
                algorithm=algorithm,
                adversary=made_for,
                fragments=fragments,
                secret=rng,
                folder=building,
            )
            with watch.step("parts"):
                done = _done(backend, work, fragments, progress)
            with watch.step("join"):
                found = joined([part.audit for part in done])
                _refuse_failed(found.audit, algorithm, done, seen)
                losses, by_column = joined_losses([part.losses for part in done], work.metrics)
                bare = skeleton(seen, algorithm.form, found.withheld, done[0].randomizers)
            notes = (
                *seen.notes,
                *reason,
                *algorithm.cautions(),
                *cautions(seen.data, promises, recipe),
                f"Made in {counted(len(done), 'part')}. {cutting.why}",
                *dict.fromkeys(remark for part in done for remark in part.remarks),
                *nothing_left(by_column),
                *_not_joined(work.metrics),
                *types_of_suppressed(found.audit.n_suppressed, recipe.schema),
            )
            stated = tuple(stated_promise(promise, algorithm.form, made_for) for promise in promises)
            public = Basis.of_parts(
                found,
                promises=promises,
                algorithm=algorithm,
                domains=seen.data.domains,
                losses=losses,
                loss_by_column=by_column,
                asked_adversary=recipe.adversary,
                options=options,
            ).public()
            report = Report.on(public, title, recipient=recipient)
            with watch.step("write"):
                files = complete(
                    building,
                    [part.written for part in done],
                    bare,
                    documents={
                        AUDIT: audit_json(public).decode(),
                        **{name: content.decode() for name, content in report_documents(report).items()},
                    },
                    manifest=Manifest(
                        title=title,
                        promises=stated,
                        algorithm=str(algorithm),
                        adversary=made_for,
                        created=datetime.date.today(),
                    ),
                )
    finally:
        backend.close()
    progress("write", 1.0)
    return PartedPublication(
        folder=folder,
        title=title,
        domains=seen.data.domains,
        promises=promises,
        algorithm=algorithm,
        adversary=made_for,
        form=algorithm.form,
        audit=found.audit,
        losses=losses,
        loss_by_column=by_column,
        n_rows=found.audit.n_rows,
        n_suppressed=found.audit.n_suppressed,
        n_parts=len(done),
        notes=notes,
        seconds=watch.seconds,
        files=files,
    )


def _not_joined(metrics: Sequence[type[Metric]]) -> list[str]:
    """What to say of metrics that a release in parts does not have."""
    apart = [kind.name for kind in metrics if not kind.joins]
    return [f"Not measured, as no part sees the whole release: {', '.join(apart)}."] if apart else []


def _made_for(recipe: Recipe, algorithm: Algorithm, cutting: Cutting) -> str:
    """Whom the release is made for. A method is as safe from who knows it only if the cuts are blind as well."""
    is_blind = cutting.blind if isinstance(cutting, Boxes) else cutting.at_random
    return stronger(recipe.adversary, algorithm.adversary if is_blind else READS_RELEASE)


def _done(backend: Backend, work: PartWork, fragments: Fragments, progress: Progress) -> list[Done]:
    """Every part's summary, in the order of their numbers; the first that failed is what goes wrong."""
    waiting = work.folder.with_name(f"{work.folder.name}.attempts")

    def watch() -> None:
        # Files of parts that are done; one table has two, and two tables four.
        n_files = sum(1 for _ in waiting.iterdir()) if waiting.is_dir() else 0
        each = 4 if work.algorithm.form == Bucketized.form else 2
        n_done = min(n_files // each, fragments.n_parts)
        progress("parts", n_done / max(fragments.n_parts, 1), f"{n_done:,} of {fragments.n_parts:,} parts")

    results: list[Done | Failed] = [pickle.loads(result) for result in backend.map(work, fragments, watch)]
    failed = sorted((result for result in results if isinstance(result, Failed)), key=lambda one: one.number)
    if failed:
        raise failed[0].error
    return sorted((result for result in results if isinstance(result, Done)), key=lambda one: one.number)


def _refuse_failed(audit: Audit, algorithm: Algorithm, done: Sequence[Done], seen: Survey) -> None:
    n_records = sum(part.n_rows for part in done)
    if n_records != seen.n_rows:
        raise AuditFailed(
            f"The table had {seen.n_rows:,} records when it was surveyed and {n_records:,} when it was published. "
            "Publish a copy that nobody writes to. Nothing is written."
        )
    if not audit.passed:
        known = " ".join(algorithm.cautions()) or "This is a fault of the software, please report it."
        raise AuditFailed(
            f"The release made by {algorithm} does not pass its audit; nothing is written. {known}\n{audit}"
        )


def skeleton(seen: Survey, form: str, withheld: Withheld, randomizers: tuple[Randomizer, ...]) -> Release:
    """The release without its rows: form, domains, matrices, and what was withheld in all parts."""
    domains = seen.data.domains
    nobody = seen.data
    if form == Perturbed.form:
        return Perturbed(
            domains=domains,
            quasi=nobody.quasi,
            sensitive=nobody.sensitive,
            carried=nobody.carried,
            randomizers=randomizers,
            withheld=withheld,
        )
    none = np.zeros(0, dtype=np.int32)
    if form == Bucketized.form:
        return Bucketized(
            domains=domains,
            quasi=nobody.quasi,
            bucket_of_quasi=none,
            sensitive=nobody.sensitive,
            carried=nobody.carried,
            bucket_of_sensitive=none,
            withheld=withheld,
        )
    extents = tuple(
        Ranges.of(domain, none, none) if domain.in_ranges else Sets(np.zeros(1, dtype=np.int64), none)
        for domain in domains.quasi
    )
    if form == Matched.form:
        return Matched(
            domains=domains, extents=extents, sensitive=nobody.sensitive, carried=nobody.carried, withheld=withheld
        )
    return Grouped(
        domains=domains,
        extents=extents,
        group_of_row=none,
        sensitive=nobody.sensitive,
        carried=nobody.carried,
        withheld=withheld,
    )
