"""The library's front door: `publish` a table, look at what came of it, `write` it.

import lookalike as la
la.publish(frame, qi=["age", "sex"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")
"""

from __future__ import annotations

import datetime
import html
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.algorithms.privbayes import PrivBayes, Synthesis, describe_cautions, epsilon_of_beta
from lookalike.audit import Audit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Number
from lookalike.data.release import Release
from lookalike.data.schema import Attribute, Schema
from lookalike.errors import MissingPart, RecipeError, counted, unknown_name
from lookalike.evaluation.advise import Advice
from lookalike.evaluation.advise import advise as advise_on
from lookalike.evaluation.advise.trials import SAMPLE
from lookalike.evaluation.inspect import Inspection
from lookalike.evaluation.inspect import inspect as survey
from lookalike.files.tables import read_columns, read_table
from lookalike.pipeline.backends import BACKENDS, SPARK, Backend, Fragments
from lookalike.pipeline.recipe import ModelLike, Recipe, parse_promises, prepare, read_algorithm
from lookalike.pipeline.run import Made, MadeInParts, MadeWhole, Stopwatch, loss_text, name_domains, run
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.evaluation.evaluate import Evaluation
    from lookalike.evaluation.fidelity import Fidelity
    from lookalike.evaluation.report import Basis, Examples, Report
    from lookalike.files.releases.describe import Manifest


_PART_ROWS, LEAST_PART = 100_000, 1_000
"""Records of a part: about so many, if nothing is said, and never fewer."""
FULL, _BRIEF = _REPORTS = ("full", "brief")
_REPORT_VARIABLE = "LOOKALIKE_REPORT"
SCORES_NEED_FULL = "The brief report scores nothing on the original. Ask for the full one to publish scores."
SCORES_REVEAL = (
    "The report in the release folder has figures that were scored on the original (--publish-scores). They confirm "
    "guesses about people in the table: a reader may become surer of a person's value than is promised, most of all "
    "where there are few records. The promise holds for the table alone."
)


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
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        return self.made.notes

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
            "loss": made.losses,
            "loss_by_column": made.loss_by_column,
            "loss_bound": bound and bound.to_plain(made.losses["gcp"]),
            "domains": name_domains(made.domains),
            "seconds": {step: round(seconds, 3) for step, seconds in made.seconds.items()},
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
            self._kept["evaluation"] = evaluate(self._whole, progress)
        found: Evaluation = self._kept["evaluation"]
        return found

    def fidelity(self, *, seed: int = 0, progress: Progress = silent) -> Fidelity:
        """What distributions, and machines that learn, have left of the original; see `lookalike.fidelity`."""
        from lookalike.evaluation.fidelity import compare

        return compare(self.release, self._whole.data, seed, progress)

    def owners_report(self) -> Report:
        """The report for the owner of the original, as `write` made it; before that, one that scores nothing."""
        report: Report = self._kept["report"] if "report" in self._kept else self._report(self._basis())
        return report

    def write(
        self,
        folder: str | Path,
        *,
        overwrite: bool = False,
        private: bool = False,
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
        `private` also keeps, in the PRIVATE folder, which record became which row, and the seed if one was given.
        `safe_csv` puts an apostrophe before cells of CSV files that a spreadsheet would compute.
        """
        from lookalike.files.releases.describe import DESCRIPTOR
        from lookalike.files.urls import check_destination, is_url, place_of, send

        report = _choose_report(report)
        if publish_scores and report != FULL:
            raise RecipeError(SCORES_NEED_FULL)
        wanted = _Wanted(report == FULL, publish_scores, pdf, safe_csv)
        if not is_url(folder):
            return self._write_owned(Path(folder), wanted, private=private, overwrite=overwrite, progress=progress)
        if private or overwrite:
            raise RecipeError("Behind a URL nothing is replaced, and nothing private is kept. Write to a folder.")
        place = place_of(str(folder))
        check_destination(place)
        with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
            made = Path(here) / "release"
            files = self._write_folder(made, wanted, {}, owned=False, overwrite=False, progress=progress)
            send(made, place, last=DESCRIPTOR)
        return files

    def _write_owned(
        self, folder: Path, wanted: _Wanted, *, private: bool, overwrite: bool, progress: Progress
    ) -> list[str]:
        """The folder and what belongs into the PRIVATE one beside it."""
        from lookalike.files.releases.private import check_private, private_beside

        if not (wanted.full or private):
            return self._write_folder(folder, wanted, {}, owned=False, overwrite=overwrite, progress=progress)
        check_private(folder, overwrite=overwrite)
        owners, written = dict[str, bytes](), list[str]()
        linkage = self._whole.linkage if private else None
        try:
            with private_beside(folder, linkage, self.made.recipe.seed, documents=owners, overwrite=overwrite):
                written = self._write_folder(
                    folder, wanted, owners, owned=wanted.full, overwrite=overwrite, progress=progress
                )
        except RecipeError as error:
            if not written:
                raise
            raise RecipeError(f"The release is written and whole, but its private part is not. {error}") from None
        return written

    def _write_folder(
        self,
        folder: Path,
        wanted: _Wanted,
        owners: dict[str, bytes],
        *,
        owned: bool,
        overwrite: bool,
        progress: Progress,
    ) -> list[str]:
        """Tables, check, documents, descriptor; what only the owner may see goes into `owners`."""
        from lookalike.evaluation.report import AUDIT, audit_json, make_up_examples
        from lookalike.files.releases.write import new_release

        made, basis = self._whole, self._basis()
        evaluation = self.evaluate(progress) if owned or wanted.scores else None
        manifest = self._manifest(safe_csv=wanted.safe_csv)
        with new_release(folder, overwrite=overwrite, progress=progress) as out:
            out.write_tables(made.release, safe_csv=wanted.safe_csv)
            opened = out.check(manifest)
            progress("report", 0.0)
            examples = None
            if wanted.full:
                examples = make_up_examples(opened, made.promises, made.algorithm, made.adversary)
            if owned:
                report = self._kept["report"] = self._report(basis, evaluation, examples)
                owners |= {AUDIT: audit_json(basis), **_documents(report, wanted.pdf)}
                progress("report", 0.5)
            public = basis.public(with_scores=wanted.scores)
            report = self._report(public, evaluation if wanted.scores else None, examples)
            out.add({AUDIT: audit_json(basis.public()), **_documents(report, wanted.pdf)})
            progress("report", 1.0)
            return out.describe(manifest)

    def _basis(self) -> Basis:
        from lookalike.evaluation.report import Basis

        if "basis" not in self._kept:
            self._kept["basis"] = Basis.of(self.made)
        basis: Basis = self._kept["basis"]
        return basis

    def _report(self, basis: Basis, evaluation: Evaluation | None = None, examples: Examples | None = None) -> Report:
        from lookalike.evaluation.report import Report

        return Report.on(basis, self.title, recipient=self.recipient, evaluation=evaluation, examples=examples)

    def _manifest(self, *, safe_csv: bool = False) -> Manifest:
        from lookalike.files.releases.describe import Manifest, state_promise

        made = self.made
        return Manifest(
            title=self.title,
            promises=tuple(state_promise(promise, made.form) for promise in made.promises),
            algorithm=str(made.algorithm),
            adversary=made.adversary,
            created=datetime.date.today(),
            safe_csv=safe_csv,
        )

    def write_tables(self, folder: str | Path, *, safe_csv: bool = False) -> list[str]:
        """Write a new folder as `write` does, without report and audit; returns the names of its files."""
        from lookalike.files.releases.write import write_release

        return write_release(Path(folder), self.release, manifest=self._manifest(safe_csv=safe_csv))

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
        return f"{rows} that keep {promises}; {loss_text(made.form, made.losses)}\n{nearness}{made.audit}"

    def __repr__(self) -> str:
        """One line. A notebook keeps what it shows, so the linkage, the seed and the codes must not stand here."""
        return f"<{self.title}: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        said = f"<p>{html.escape(str(self).splitlines()[0])}</p>"
        if self.n_parts:
            return f"{said}{self.audit._repr_html_()}"
        preview = self.frame()
        first = preview if not isinstance(preview, dict) else next(iter(preview.values()))
        return f"{said}{first.head(8)._repr_html_()}{self.audit._repr_html_()}"


@dataclass(frozen=True)
class _Wanted:
    """What is to be written besides the tables."""

    full: bool
    """The full report: scored for the owner, and with examples."""
    scores: bool
    pdf: bool | None
    safe_csv: bool


def _documents(report: Report, pdf: bool | None) -> dict[str, bytes]:
    """A report as files."""
    from lookalike.evaluation.report import REPORT_PAGE, find_browser, report_documents, to_pdf

    documents = report_documents(report)
    if pdf or (pdf is None and find_browser() is not None):
        try:
            documents["report.pdf"] = to_pdf(documents[REPORT_PAGE].decode())
        except MissingPart:
            if pdf:
                raise
    return documents


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
    adversary: str = READS_RELEASE,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
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

    `part_rows` publishes about so many records at a time, on this machine or, with `backend="spark"` or a Spark data
    frame, on the executors of a cluster. Parts are written as they are made, so they need `out`, the folder (one that
    all machines see under one name). A release in one piece is written there too if `out` is given; else see `write`.
    """
    from lookalike.files.releases.describe import check_titles

    check_titles(title=title, recipient=recipient)
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
    )
    named = title or "Anonymised table"
    if backend is not None and backend not in BACKENDS:
        raise RecipeError(unknown_name("back end", backend, BACKENDS))
    if part_rows is not None or backend == SPARK or isinstance(table, Backend) or _is_spark_frame(table):
        lies_at, recipe, notes, options = _open_backend(table, recipe, backend, part_rows, progress, reading)
        made = publish_in_parts(
            lies_at,
            recipe,
            out,
            title=named,
            recipient=recipient,
            overwrite=overwrite,
            part_rows=part_rows,
            options=options,
            progress=progress,
        )
        return replace(made, made=replace(made.made, notes=tuple(dict.fromkeys((*notes, *made.notes)))))
    watch = Stopwatch()
    with watch.step("read"):
        read = read_columns(table, recipe.schema, progress=progress, **reading)
    with watch.step("encode"):
        prepared = prepare(recipe, read)
    made_whole = run(prepared, progress)
    publication = Publication(replace(made_whole, seconds={**watch.seconds, **made_whole.seconds}), named, recipient)
    if out is not None:
        publication.write(out, overwrite=overwrite, progress=progress)
    return publication


def publish_in_parts(
    backend: Backend,
    recipe: Recipe,
    out: str | Path | None,
    *,
    title: str = "Anonymised table",
    recipient: str | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
    options: Sequence[str] = (),
    fragments: Fragments | None = None,
    progress: Progress = silent,
) -> Publication:
    """Publish a table that lies at a back end, part by part.

    `options`: what the command needs besides to make such a release again, for the report. `fragments`: where to cut,
    to do on one back end what was done on another; else it is decided from the table.
    """
    from lookalike.evaluation.report import AUDIT, Basis, Report, audit_json, report_documents
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR, check_titles
    from lookalike.files.releases.parts import complete
    from lookalike.files.releases.write import new_release
    from lookalike.pipeline.parts.publish import run_in_parts

    if out is None:
        raise RecipeError("A table that is published in parts is written as it is made. Say where to: out=FOLDER.")
    n_rows = _PART_ROWS if part_rows is None else part_rows
    if n_rows < LEAST_PART:
        raise RecipeError(f"Parts of {n_rows:,} records are too small. Give at least {LEAST_PART:,} (--part-rows).")
    check_titles(title=title, recipient=recipient)
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
        publication = Publication(made, title, recipient, folder)
        public = Basis.of(made).public()
        with watch.step("write"):
            complete(building, made.parts, made.bare)
            report = Report.on(public, title, recipient=recipient)
            building.add({AUDIT: audit_json(public), **report_documents(report)})
            files = building.describe(publication._manifest())
    return replace(publication, files=tuple(files), made=replace(made, seconds={**made.seconds, **watch.seconds}))


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
    from lookalike.files.releases.plain import plain_frame
    from lookalike.pipeline.backends.local import LocalBackend

    read = read_columns(table, recipe.schema, progress=progress, **reading)
    data = Microdata.encode(read, recipe.schema)
    lies_at = LocalBackend(plain_frame(data), source=read.source)
    return lies_at, replace(recipe, schema=data.schema), tuple(read.notes), ("--part-rows", str(part_rows))


def _is_spark_frame(table: object) -> bool:
    """A data frame of Spark, also over Spark Connect; told by its name, so that nobody loads Spark for it."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"


def inspect(
    table: Any, *, schema: Schema | str | Path | None = None, progress: Progress = silent, **reading: Any
) -> Inspection:
    """What a table is like before anything is done to it: columns, likely roles, how many records stand alone."""
    return survey(read_table(table, progress=progress, **reading), Schema.of(schema) if schema else None)


def advise(
    table: Any,
    *,
    schema: Schema | str | Path | None = None,
    model: ModelLike | Iterable[ModelLike] = (),
    algorithm: Algorithm | str | None = None,
    trials: bool = True,
    sample: int = SAMPLE,
    progress: Progress = silent,
    **reading: Any,
) -> Advice:
    """What a table can bear, what to promise first, which column costs most and what a change would save.

    Trial runs keep `model`, or else what is recommended, on at most `sample` records. Without `trials` nothing is run.
    """
    return advise_on(
        read_table(table, progress=progress, **reading),
        Schema.of(schema) if schema else None,
        promises=parse_promises(model),
        algorithm=read_algorithm(algorithm),
        trials=trials,
        sample=sample,
        progress=progress,
    )


def _choose_report(report: str | None) -> str:
    """Which report is made: the one asked for, or what LOOKALIKE_REPORT says, else the full one."""
    report = report or os.environ.get(_REPORT_VARIABLE) or FULL
    if report not in _REPORTS:
        raise RecipeError(unknown_name("report", report, _REPORTS))
    return report


def synthesize(
    table: Any,
    *,
    epsilon: Number | None = None,
    beta: Number | None = None,
    method: PrivBayes | None = None,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    schema: Schema | str | Path | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    carry: Iterable[str] = (),
    rows: int | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Synthesis:
    """Synthetic records over the columns that have a role, under differential privacy.

    Give `epsilon`, or `beta` for the epsilon that the literature sets beside beta-likeness, ln(1 + beta), or a `method`
    with settings of its own. Roles make no difference here. `rows` is how many records to draw; as many as the table
    has, if left out.
    """
    chosen = _method(epsilon, beta, method)
    given = Schema.of(schema, qi=qi, sensitive=sensitive, carry=carry, numeric=numeric, categorical=categorical)
    read = read_columns(table, given, progress=progress, **reading)
    data = Microdata.encode(read, given)
    made = chosen.synthesize(data, Randomness(seed), progress, rows=rows)
    untyped = tuple(attribute.name for attribute in given.published if not _is_typed(attribute))
    return Synthesis(made, chosen, (*read.notes, *describe_cautions(made, untyped, seed)), untyped)


def _is_typed(attribute: Attribute) -> bool:
    return attribute.type is not None and (attribute.kind is not None or attribute.order is not None)


def _method(epsilon: Number | None, beta: Number | None, method: PrivBayes | None) -> PrivBayes:
    if sum(given is not None for given in (epsilon, beta, method)) != 1:
        raise RecipeError("Give one of epsilon, beta and method: how much may one record change?")
    if method is not None:
        return method
    if epsilon is not None:
        return PrivBayes(epsilon)
    assert beta is not None
    return PrivBayes(epsilon_of_beta(beta))
