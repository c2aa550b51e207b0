"""The library's main entry point: `publish` a table, look at the result, `write` it.

import lookalike as la
la.publish(frame, qi=["age", "sex"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.algorithms import parse_synthesizer
from lookalike.algorithms.shared.mechanisms import epsilon_of_beta
from lookalike.algorithms.shared.synthesis import Synthesis, Synthesizer, describe_cautions
from lookalike.audit import Audit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.folding import fold_texts, made_columns
from lookalike.data.microdata import Microdata, Table
from lookalike.data.parameters import Number
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.person_settings import APART, RANDOM, PersonSettings
from lookalike.data.release import Release
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError, counted, unknown_name
from lookalike.evaluation.plain import spell_infinity
from lookalike.files.tables import read_columns
from lookalike.metrics.shared.losses import loss_text
from lookalike.pipeline.backends import BACKENDS, SPARK, Backend, Fragments
from lookalike.pipeline.person_rows import bound_contribution
from lookalike.pipeline.recipe import ModelLike, Prepared, Recipe, prepare
from lookalike.pipeline.run import Made, MadeInParts, MadeWhole, Stopwatch, name_domains, run
from lookalike.pipeline.schemes import make_scheme
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

# What evaluates and writes takes longer to load than a small table to publish: it is loaded when it is first needed.
if TYPE_CHECKING:
    from lookalike.data.scheme import Scheme
    from lookalike.evaluation.against_rows import AgainstRows
    from lookalike.evaluation.evaluate import Evaluation
    from lookalike.evaluation.fidelity import Fidelity
    from lookalike.evaluation.report import Basis, Examples, Report
    from lookalike.pipeline.series.publishing import Asked, Earlier, Step

_PART_ROWS, LEAST_PART = 100_000, 1_000
"""Records of a part: about so many, if nothing is said, and never fewer."""


@dataclass(frozen=True)
class Publication:
    """An audited release: whole in memory, ready to be written, or in parts that lie in their folder already."""

    made: Made
    title: str
    recipient: str | None = None
    """For whom the release is made, as the report says."""
    folder: Path | None = None
    """Where a release in parts lies."""
    files: tuple[str, ...] = field(default=(), repr=False)
    """The files of a release in parts."""
    step: Step | None = field(default=None, repr=False, compare=False)
    """Its part in several releases of the same people, where it has one."""
    recognised: Sequence[str] | None = field(default=None, repr=False, compare=False)
    """The person of each record, where a column says it; for private lists only."""
    scheme_out: Path | None = field(default=None, repr=False)
    """Where `write` also writes the scheme of its cells."""
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _watch: Stopwatch = field(default_factory=Stopwatch, init=False, repr=False, compare=False)

    @property
    def _whole(self) -> MadeWhole:
        if not isinstance(self.made, MadeWhole):
            raise RecipeError(
                f"This release was made in parts: its rows lie in {self.folder}, not in memory. Open that folder with "
                "open_release, or publish without part_rows."
            )
        return self.made

    @property
    def release(self) -> Release:
        return self._whole.release

    @property
    def audit(self) -> Audit:
        return self.made.audit

    @property
    def losses(self) -> dict[str, float]:
        return self.made.losses

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.made.notes, *(() if self.step is None else self.step.notes))

    @property
    def promises(self) -> tuple[Promise, ...]:
        return self.made.promises

    @property
    def algorithm(self) -> Algorithm:
        return self.made.algorithm

    @property
    def adversary(self) -> str:
        """Whom the release was made for."""
        return self.made.adversary

    @property
    def form(self) -> str:
        return self.made.form

    @property
    def n_rows(self) -> int:
        return self.audit.n_rows

    @property
    def n_parts(self) -> int:
        """Into how many parts the table was cut; 0 for a release in one piece."""
        return len(self.made.parts) if isinstance(self.made, MadeInParts) else 0

    @property
    def needs_map(self) -> bool:
        """Whether an audit of the written release needs the record map: persons have several rows."""
        return self.audit.n_persons is not None

    def summary(self) -> dict[str, Any]:
        """What came of it, ready for JSON."""
        made = self.made
        bound = made.loss_bound if isinstance(made, MadeWhole) else None
        return {
            "rows": made.audit.n_rows,
            "suppressed": made.audit.n_suppressed,
            "parts": self.n_parts,
            "model": [str(promise) for promise in made.promises],
            "algorithm": str(made.algorithm),
            "adversary": made.adversary,
            "form": made.form,
            "audit": made.audit.to_plain(),
            **({} if self.step is None else {"series": self.step.to_plain()}),
            "loss": spell_infinity(made.losses),
            "loss_by_column": made.loss_by_column,
            "loss_bound": bound and bound.to_plain(made.losses["gcp"]),
            **({} if self._against_rows is None else {"loss_against_rows": self._against_rows.to_plain()}),
            "domains": name_domains(made.domains),
            "seconds": {step: round(took, 3) for step, took in {**made.seconds, **self._watch.seconds}.items()},
        }

    def frame(self) -> Any:
        """The published table as a Polars data frame (a mapping of frames if there are several tables)."""
        from lookalike.files.releases.write import frames

        made = frames(self.release)
        return next(iter(made.values())) if len(made) == 1 else made

    def evaluate(self, progress: Progress = silent) -> Evaluation:
        """Attacks, queries, fidelity and trade-off, as the owner's report rounds them. Done once, then remembered."""
        from lookalike.evaluation.evaluate import evaluate

        if "evaluation" not in self._kept:
            self._kept["evaluation"] = evaluate(self._whole, progress, self._watch)
        found: Evaluation = self._kept["evaluation"]
        return found

    def fidelity(self, *, seed: int = 0, progress: Progress = silent) -> Fidelity:
        """What distributions, and machines that learn, have left of the original; see `lookalike.fidelity`."""
        from lookalike.evaluation.fidelity import compare

        return compare(self._whole.data, self.release, seed, progress)

    @property
    def _against_rows(self) -> AgainstRows | None:
        """The loss beside that of the same promise by rows, where that was worked out for the owner's report."""
        evaluation: Evaluation | None = self._kept.get("evaluation")
        return None if evaluation is None else evaluation.against_rows

    def owners_report(self) -> Report:
        """The report for the owner of the original, as `write` made it; before that, one that scores nothing."""
        report: Report = self._kept["report"] if "report" in self._kept else self._report(self._basis)
        return report

    def write(
        self,
        folder: str | Path,
        *,
        overwrite: bool = False,
        private: bool | None = None,
        report: str | None = None,
        publish_scores: bool = False,
        pdf: bool | None = False,
        safe_csv: bool = False,
        progress: Progress = silent,
    ) -> list[str]:
        """Write the release folder, all or nothing; returns the names of its files.

        The folder says only what follows from the release. The owner's report, with all that was scored on the original
        (attacks, queries, predictions), goes to a sibling folder that says PRIVATE in its name.

        A URL (s3://bucket/release) is a folder elsewhere: the release is written and read back here, then sent, and
        there is no owner's report.

        `report="brief"` makes no owner's report, and no examples, both of which take time; None: what LOOKALIKE_REPORT
        says, else "full".
        `publish_scores` puts figures that were scored on the original into the report of the folder, too. Anybody who
        reads it may become surer about people than the release alone allows.
        `pdf` also prints the reports, by a browser of the Chromium family; None: if there is one and it can.
        `private` also keeps, in the PRIVATE folder, which record became which row, and the seed if one was given; None:
        where persons have several rows, since an audit of the folder needs it then.
        `safe_csv` puts an apostrophe before cells of CSV files that a spreadsheet would compute.
        """
        from lookalike.evaluation import report as reports
        from lookalike.files.releases.private import Private
        from lookalike.files.releases.write import new_release
        from lookalike.files.urls import is_url

        if self.scheme_out is not None:
            from lookalike.files.schemes import check_scheme_target, write_scheme

            check_scheme_target(self.scheme_out, overwrite=overwrite)
        full, elsewhere = reports.wants_full_report(report, scores=publish_scores), is_url(folder)
        if elsewhere and self.step is not None and self.step.ledger is not None:
            raise RecipeError("A series is written to a folder, beside its ledger. Write to a folder, and send that.")
        if elsewhere and (private or overwrite):
            raise RecipeError("Behind a URL nothing is replaced, and nothing private is kept. Write to a folder.")
        made, owners = self._whole, dict[str, bytes]() if full and not elsewhere else None
        kept = None if elsewhere else reports.choose_private(made, asked=private)
        people = {} if elsewhere or private is False else self._list_people()
        if people and kept is None:
            kept = Private()
        with (
            self._recorded(Path(folder), overwrite=overwrite),
            reports.open_destination(folder, owners, kept, people=people, overwrite=overwrite) as path,
        ):
            evaluation = self.evaluate(progress) if owners is not None or publish_scores else None
            manifest = reports.describe_release(made, self.title, safe_csv=safe_csv, series=self._mode)
            with new_release(path, overwrite=overwrite, progress=progress) as out:
                with self._watch.step("tables"):
                    out.write_tables(made.release, safe_csv=safe_csv)
                    opened = out.check(manifest)
                progress("report", 0.0)
                examples = None
                if full:
                    with self._watch.step("examples"):
                        examples = reports.make_up_examples(opened)
                with self._watch.step("report"):
                    basis = self._basis
                    if owners is not None:
                        reported = self._kept["report"] = self._report(basis, evaluation, examples)
                        owners |= {reports.AUDIT: reports.audit_json(basis), **reports.report_documents(reported, pdf)}
                        progress("report", 0.5)
                    public = basis.public(with_scores=publish_scores)
                    reported = self._report(public, evaluation if publish_scores else None, examples)
                    audited = reports.audit_json(basis.public())
                    out.add({reports.AUDIT: audited, **reports.report_documents(reported, pdf)})
                progress("report", 1.0)
                files = out.describe(manifest)
        if self.scheme_out is not None:
            write_scheme(self.scheme_out, self.scheme(), overwrite=overwrite)
        return files

    def scheme(self) -> Scheme:
        """The cells of this release as a scheme, in which later tables can be published (`apply_scheme`).

        Only methods whose cells do not overlap have one (mondrian-strict).
        """
        return make_scheme(self._whole)

    @cached_property
    def _basis(self) -> Basis:
        from lookalike.evaluation.report import Basis

        return Basis.of(self.made, self._mode)

    @property
    def _mode(self) -> str | None:
        return None if self.step is None else self.step.mode

    def _recorded(self, folder: Path, *, overwrite: bool) -> AbstractContextManager[None]:
        """Enters the release in the ledger of its series while it is written."""
        return nullcontext() if self.step is None else self.step.record(folder, overwrite=overwrite)

    def _list_people(self) -> dict[str, bytes]:
        """Files of the private folder that say who is in which group, where a column says whose row it is."""
        if self.recognised is None:
            return {}
        from lookalike.pipeline.series.people import private_files

        return private_files(self._whole, self.recognised)

    def _report(self, basis: Basis, evaluation: Evaluation | None = None, examples: Examples | None = None) -> Report:
        from lookalike.evaluation.report import Report

        return Report.on(basis, self.title, recipient=self.recipient, evaluation=evaluation, examples=examples)

    def write_tables(self, folder: str | Path, *, safe_csv: bool = False) -> list[str]:
        """Write a new folder as `write` does, without report and audit; returns the names of its files."""
        from lookalike.evaluation.report import describe_release
        from lookalike.files.releases.write import write_release

        if self.step is not None and self.step.ledger is not None:
            raise RecipeError("A release of a series is written with `write`, which enters it in the ledger.")
        manifest = describe_release(self._whole, self.title, safe_csv=safe_csv)
        return write_release(Path(folder), self.release, manifest=manifest)

    def write_to(self, url: str, *, overwrite: bool = False, progress: Progress = silent) -> tuple[str, ...]:
        """Write the published tables into a database, all or nothing; returns their names.

        `url` is as in `postgresql://host/database?table=schema.name`, `sqlite:///file.db?table=name` or
        `duckdb:///file.duckdb?table=name`; one with a password is given as `env:NAME`, the variable that holds it.
        `overwrite` replaces an earlier release; a table that was not made here is never replaced.
        The folder that `write` makes says more (promises, report, audit), and is what can be audited again.
        """
        from lookalike.files.databases.write import write_database

        return write_database(url, self.release, overwrite=overwrite, progress=progress)

    def __str__(self) -> str:
        made = self.made
        promises = ", ".join(str(promise) for promise in made.promises)
        bound = made.loss_bound if isinstance(made, MadeWhole) else None
        nearness = "" if bound is None else f"{bound.sentence(made.losses['gcp'])}\n"
        rows = f"{made.audit.n_rows:,} rows" + (f" in {counted(self.n_parts, 'part')}" if self.n_parts else "")
        found = self._against_rows
        cost = "" if found is None else f"{found.sentence()}\n"
        return f"{rows} that keep {promises}; loss: {loss_text(made.form, made.losses)}\n{cost}{nearness}{made.audit}"

    def __repr__(self) -> str:
        """One line. A notebook keeps what it shows, so the record map, the seed and the codes must not stand here."""
        return f"<{self.title}: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        said = f"<p>{html.escape(str(self).splitlines()[0])}</p>"
        if self.n_parts:
            return f"{said}{self.audit._repr_html_()}"
        shown = self.frame()
        first = next(iter(shown.values())) if isinstance(shown, dict) else shown
        return f"{said}{first.head(8)._repr_html_()}{self.audit._repr_html_()}"


def publish(
    table: Any,
    *,
    model: ModelLike | Iterable[ModelLike],
    algorithm: Algorithm | str | None = None,
    schema: Schema | str | Path | None = None,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    carry: Iterable[str] = (),
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    person: str | None = None,
    household: str | None = None,
    after: Iterable[Earlier] | Earlier = (),
    series: str | Path | None = None,
    mode: str | None = None,
    destination: str | Path | None = None,
    rows: str = APART,
    keep: str = RANDOM,
    contribution: int | None = None,
    order: str | None = None,
    fold: str | Iterable[str] = (),
    number_known: bool = True,
    rows_are_persons: bool = False,
    adversary: str = READS_RELEASE,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    scheme_out: str | Path | None = None,
    part_rows: int | None = None,
    backend: str | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Publication:
    """Publish a table so that it keeps every promise in `model`; raises rather than return a release that does not.

    `table` is a path (CSV, Parquet, Arrow, Excel), a URL (also of a table in a database), a pandas, Polars or Spark
    data frame, a pyarrow table, or anything that speaks the Arrow PyCapsule interface. Columns that get no role are not
    published. A model is an object (`BetaLikeness(3)`), its text (`"beta-likeness:3"`), or a promise for one column
    (`"occupation=beta-likeness:3"`). Further arguments go to the reader (`delimiter`, `encoding`, `missing` ...).

    `person` names the column that says whose row it is: promises then count distinct persons (`household`: households).
    `rows="one"` publishes one row per person (`keep`: first, last or random), `contribution` at most so many.
    `rows="linked"` publishes whole persons, each with a fresh number that links the rows; `order` names the column that
    a person's rows are ordered by (the order of the table, if left out). `fold` makes columns constant per person, each
    as "column=rule": first, last, least, greatest, most-frequent, any:VALUE, or number for a column of their own with
    the number of rows. By default the attacker may know how many rows a person has; `number_known=False` states that
    nobody does.
    `rows_are_persons` states that rows are different persons although an identifier repeats.

    `after` names earlier releases of the same people, as folders or as pairs of a folder and its original: the release
    is refused unless all promises hold for somebody who reads all of them. `series` names a series that keeps a private
    ledger beside its releases and does so every time; `mode` is how ("checked", "m-invariant", or
    with `apply_scheme` "frozen"). What is not written here at once says with `destination` which folder it will be
    written to.

    `part_rows` publishes about so many records at a time, on this machine or, with `backend="spark"` or a Spark data
    frame, on the executors of a cluster. Parts are written as they are made, so they need `out`, the folder (one that
    all machines see under one name). A release in one piece is written there too if `out` is given; else see `write`.

    `scheme_out` makes cells that do not overlap, and writes them as a scheme once the folder is written, so that later
    tables can be published in the same cells (`apply_scheme`).
    """
    from lookalike.files.releases.describe import check_titles

    check_titles(title=title, recipient=recipient)
    if scheme_out is not None:
        from lookalike.files.schemes import check_scheme_target, render_scheme

        check_scheme_target(scheme_out, overwrite=overwrite or out is None)
    recipe = Recipe.of(
        model=model,
        algorithm=algorithm,
        adversary=adversary,
        seed=seed,
        schema=schema,
        qi=qi,
        sensitive=sensitive,
        carry=carry,
        numeric=numeric,
        categorical=categorical,
        person=person,
        household=household,
        persons=PersonSettings(
            rows=rows,
            keep=keep,
            contribution=contribution,
            order=order,
            fold=fold_texts(fold),
            number_known=number_known,
            rows_are_persons=rows_are_persons,
        ),
        for_scheme=scheme_out is not None,
    )
    named = title or "Anonymised table"
    if backend is not None and backend not in BACKENDS:
        raise RecipeError(unknown_name("back end", backend, BACKENDS))
    goes_to = destination or out
    asked = ask_about_series(after, series, mode, None if goes_to is None else Path(goes_to).absolute().parent)
    if part_rows is not None or backend == SPARK or isinstance(table, Backend) or _is_spark_frame(table):
        if asked is not None:
            raise RecipeError("Releases in parts are not held against others. Publish in one piece, without parts.")
        from lookalike.pipeline.parts.persons import refuse_folding

        refuse_folding(recipe.persons)
        if scheme_out is not None:
            raise RecipeError("A scheme is made of all groups at once. Leave scheme_out out, or publish in one piece.")
        lies_at, recipe, notes, options = _open_backend(table, recipe, backend, part_rows, progress, reading)
        return _publish_in_parts(
            lies_at,
            recipe,
            out,
            title=named,
            recipient=recipient,
            overwrite=overwrite,
            part_rows=part_rows,
            options=options,
            notes=notes,
            progress=progress,
        )
    watch = Stopwatch()
    with watch.step("read"):
        made_later = made_columns(recipe.persons.fold)
        read = read_columns(table, recipe.schema, order=order, made=made_later, progress=progress, **reading)
        refuse_repeated(read, recipe.schema, recipe.persons)
    with watch.step("encode"):
        if asked is not None:
            recipe = asked.choose_method(recipe)
        prepared = prepare(recipe, read, eligible=asked is None or asked.needs_eligible_table)
    publication = publish_whole(prepared, read, asked, goes_to, named, recipient, watch, progress, reading)
    if scheme_out is not None:
        publication = replace(publication, scheme_out=Path(scheme_out))
        # What cannot be written as asked is refused before anything is written.
        render_scheme(scheme_out, publication.scheme())
    if out is not None:
        publication.write(out, overwrite=overwrite, progress=progress)
    return publication


def ask_about_series(
    after: Iterable[Earlier] | Earlier, series: str | Path | None, mode: str | None, parent: Path | None
) -> Asked | None:
    """What is said about other releases of the same people; None: nothing."""
    if isinstance(after, str | Path):
        after = [after]
    listed = list(after)
    if not listed and series is None and mode is None:
        return None
    from lookalike.pipeline.series.publishing import Asked

    return Asked.of(listed, series, mode, parent)


def publish_whole(
    prepared: Prepared,
    read: Table,
    asked: Asked | None,
    goes_to: str | Path | None,
    title: str,
    recipient: str | None,
    watch: Stopwatch,
    progress: Progress,
    reading: dict[str, Any],
) -> Publication:
    """In one piece: made, audited, and held against earlier releases where some are named."""
    step: Step | None = None
    warned: tuple[str, ...] = ()
    names: Sequence[str] | None = None
    if asked is not None:
        from lookalike.pipeline.series.publishing import open_step

        with watch.step("series"):
            step = open_step(asked, prepared, read, reading)
            prepared = step.prepared
        names = None if prepared.data.owners is None else step.names
    else:
        from lookalike.pipeline.series.people import find_names
        from lookalike.pipeline.series.registry import find_known, list_ledgers

        names = find_names(read, prepared.data)
        if ledgers := list_ledgers(None if goes_to is None else Path(goes_to).absolute().parent):
            warned = tuple(find_known(ledgers, read, prepared.data))
    made = run(prepared, progress)
    if step is not None:
        with watch.step("series"):
            step.check(made)
    made = replace(made, seconds={**watch.seconds, **made.seconds}, notes=(*warned, *made.notes))
    return Publication(made, title, recipient, step=step, recognised=names)


def _publish_in_parts(
    backend: Backend,
    recipe: Recipe,
    out: str | Path | None,
    *,
    title: str = "Anonymised table",
    recipient: str | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
    options: Sequence[str] = (),
    notes: Sequence[str] = (),
    fragments: Fragments | None = None,
    progress: Progress = silent,
) -> Publication:
    """Part by part. `notes`: what reading the table had to say; `options`, `fragments`: those of `run_in_parts`."""
    from lookalike.evaluation import report as reports
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR
    from lookalike.files.releases.parts import complete
    from lookalike.files.releases.write import new_release
    from lookalike.pipeline.parts.publish import run_in_parts

    if out is None:
        raise RecipeError("A table that is published in parts is written as it is made. Say where to: out=FOLDER.")
    n_rows = _PART_ROWS if part_rows is None else part_rows
    if n_rows < LEAST_PART:
        raise RecipeError(f"Parts of {n_rows:,} records are too small. Give at least {LEAST_PART:,} (--part-rows).")
    folder = Path(out)
    check_target(folder, marker=DESCRIPTOR, overwrite=overwrite)
    watch = Stopwatch()
    with new_release(folder, overwrite=overwrite, progress=progress) as building:
        made = run_in_parts(
            recipe,
            backend,
            building.folder,
            part_rows=n_rows,
            options=options,
            fragments=fragments,
            progress=progress,
        )
        with watch.step("write"):
            public = reports.Basis.of(made).public()
            complete(building, made.parts, made.bare)
            report = reports.Report.on(public, title, recipient=recipient)
            building.add({reports.AUDIT: reports.audit_json(public), **reports.report_documents(report)})
            files = building.describe(reports.describe_release(made, title))
    seconds, said = {**made.seconds, **watch.seconds}, tuple(dict.fromkeys((*notes, *made.notes)))
    return Publication(replace(made, seconds=seconds, notes=said), title, recipient, folder, tuple(files))


def _open_backend(
    table: Any,
    recipe: Recipe,
    backend: str | None,
    part_rows: int | None,
    progress: Progress,
    reading: dict[str, Any],
) -> tuple[Backend, Recipe, tuple[str, ...], tuple[str, ...]]:
    """Where the table lies, the recipe for it, what reading it had to say, and the options that name the way."""
    if isinstance(table, Backend):
        return table, recipe, (), ("--backend", SPARK)
    if backend == SPARK or _is_spark_frame(table):
        from lookalike.spark import open_table

        return open_table(table, **reading), recipe, (), ("--backend", SPARK)
    from lookalike.files.releases.cells import type_values
    from lookalike.files.releases.plain import plain_frame
    from lookalike.pipeline.backends.local import LocalBackend

    read = read_columns(table, recipe.schema, progress=progress, **reading)
    refuse_repeated(read, recipe.schema, recipe.persons)
    data = Microdata.encode(read, recipe.schema)
    # Identifiers of persons stay with their rows, to be counted; they are not published.
    units = {unit.name: read[unit.name] for unit in (recipe.schema.unit, recipe.schema.person) if unit is not None}
    owners = [
        type_values(column.values, column.type).gather(column.codes).alias(name) for name, column in units.items()
    ]
    lies_at = LocalBackend(plain_frame(data).with_columns(owners), source=read.source)
    return lies_at, replace(recipe, schema=data.schema), tuple(read.notes), ("--part-rows", str(part_rows))


def _is_spark_frame(table: object) -> bool:
    """A data frame of Spark, also over Spark Connect; told by its name, so that nobody loads Spark for it."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"


def synthesize(
    table: Any,
    *,
    epsilon: Number | None = None,
    beta: Number | None = None,
    method: Synthesizer | str | None = None,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    schema: Schema | str | Path | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    carry: Iterable[str] = (),
    person: str | None = None,
    contribution: int | None = None,
    rows_are_persons: bool = False,
    rows: int | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Synthesis:
    """Synthetic records over the columns that have a role, under differential privacy.

    Give `epsilon`, or `beta` for the epsilon that the literature sets beside beta-likeness, ln(1 + beta). `method` is
    the name of a synthesizer ("mst"; "privbayes" by default), with settings if you like ("mst:delta=1e-10"). One that
    has an epsilon already (`MST(1)`, "mst:1") needs no other. Roles make no difference here. `rows` is how many records
    to draw; as many as the table has, if left out.

    `person` names the column that says whose record it is, and `contribution` how many records of a person are learned
    from at most; further ones are left out, drawn at random. Epsilon (with delta) is then that of a person, not of a
    record. `rows_are_persons` states that every record is a different person although that column repeats.
    """
    made_already = method if isinstance(method, Synthesizer) else None
    named = method if isinstance(method, str) else None
    n_given = sum(given is not None for given in (epsilon, beta, made_already))
    if n_given > 1 or (n_given == 0 and ":" not in (named or "")):
        raise RecipeError("Give one of epsilon, beta and method with its own epsilon: how much may one record change?")
    budget = epsilon if beta is None else epsilon_of_beta(beta)
    chosen = made_already or parse_synthesizer(named, {} if budget is None else {"epsilon": budget})
    chosen.prepare()
    settings = PersonSettings(contribution=contribution, rows_are_persons=rows_are_persons)
    given = Schema.of(
        schema,
        qi=qi,
        sensitive=sensitive,
        carry=carry,
        numeric=numeric,
        categorical=categorical,
        person=person,
    )
    read = read_columns(table, given, progress=progress, **reading)
    refuse_repeated(read, given, settings)
    data, most_records, left_out = bound_contribution(Microdata.encode(read, given), settings, seed)
    made = chosen.synthesize(data, Randomness(seed), progress, rows=rows, most_records=most_records)
    untyped = tuple(
        attribute.name
        for attribute in given.published
        if attribute.type is None or (attribute.kind is None and attribute.order is None)
    )
    return Synthesis(made, chosen, (*read.notes, *left_out, *describe_cautions(made, untyped, seed)), untyped)
