"""The library's front door: `publish` a table, look at what came of it, `write` it.

import lookalike as la
la.publish(frame, qi=["age", "sex"], sensitive="diagnosis", model=la.BetaLikeness(2)).write("out")
"""

from __future__ import annotations

import datetime
import html
import os
import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.audit import Audit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm
from lookalike.data.release import Release
from lookalike.data.schema import Schema
from lookalike.errors import MissingPart, RecipeError, unknown_name
from lookalike.evaluation.advise import Advice
from lookalike.evaluation.advise import advise as advise_on
from lookalike.evaluation.advise.trials import SAMPLE
from lookalike.evaluation.inspect import Inspection
from lookalike.evaluation.inspect import inspect as survey
from lookalike.files.tables import read_columns, read_table
from lookalike.pipeline.recipe import ModelLike, Recipe, as_algorithm, as_promises, as_schema
from lookalike.pipeline.run import Outcome, Stopwatch, loss_text, run
from lookalike.progress import Progress, silent

if TYPE_CHECKING:
    from lookalike.evaluation.evaluate import Evaluation
    from lookalike.evaluation.report import Basis, Examples

FULL, BRIEF = REPORTS = ("full", "brief")
REPORT_VARIABLE = "LOOKALIKE_REPORT"
SCORES_NEED_FULL = "The brief report scores nothing on the original. Ask for the full one to publish scores."
SCORES_REVEAL = (
    "The report in the release folder has figures that were scored on the original (--publish-scores). They confirm "
    "guesses about people in the table: a reader may become surer of a person's value than is promised, most of all "
    "where there are few records. The promise holds for the table alone."
)


@dataclass(frozen=True)
class Publication:
    """An audited release in memory, ready to be written."""

    outcome: Outcome
    title: str
    recipient: str | None = None
    """For whom the release is made, as the report says."""
    _evaluated: list[Evaluation] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def release(self) -> Release:
        return self.outcome.release

    @property
    def audit(self) -> Audit:
        return self.outcome.audit

    @property
    def losses(self) -> dict[str, float]:
        return self.outcome.losses

    @property
    def notes(self) -> tuple[str, ...]:
        return self.outcome.notes

    def frame(self) -> Any:
        """The published table as a Polars data frame (a mapping of frames if there are several tables)."""
        from lookalike.files.releases.write import frames

        made = frames(self.release)
        return next(iter(made.values())) if len(made) == 1 else made

    def evaluate(self, progress: Progress = silent) -> Evaluation:
        """Attacks, queries, fidelity and trade-off, as the owner's report rounds them. Done once, then remembered."""
        from lookalike.evaluation.evaluate import evaluate

        if not self._evaluated:
            self._evaluated.append(evaluate(self.outcome, progress))
        return self._evaluated[0]

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
        from lookalike.files.releases.send import check_destination, send
        from lookalike.files.urls import is_url, place_of

        if is_url(folder):
            if private or overwrite:
                raise RecipeError("Behind a URL nothing is replaced, and nothing private is kept. Write to a folder.")
            place = place_of(str(folder))
            check_destination(place)
            with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
                made = Path(here) / "release"
                files = self._write_folder(
                    made,
                    report,
                    publish_scores=publish_scores,
                    owned=False,
                    pdf=pdf,
                    safe_csv=safe_csv,
                    progress=progress,
                )
                send(made, place)
            return files
        return self._write_folder(
            Path(folder),
            report,
            publish_scores=publish_scores,
            private=private,
            overwrite=overwrite,
            pdf=pdf,
            safe_csv=safe_csv,
            progress=progress,
        )

    def _write_folder(
        self,
        folder: Path,
        report: str | None,
        *,
        publish_scores: bool,
        owned: bool = True,
        private: bool = False,
        overwrite: bool = False,
        pdf: bool | None,
        safe_csv: bool,
        progress: Progress,
    ) -> list[str]:
        """The folder and, if it is `owned` by whoever keeps the original, what belongs into the PRIVATE one."""
        from lookalike.evaluation.report import AUDIT, Basis, audit_json, made_up_examples
        from lookalike.files.releases.private import check_private, private_beside
        from lookalike.files.releases.read import ReleaseFolder
        from lookalike.files.releases.write import write_release

        report = report_asked(report)
        if publish_scores and report != FULL:
            raise RecipeError(SCORES_NEED_FULL)
        owned = owned and report == FULL
        if owned or private:
            check_private(folder, overwrite=overwrite)
        outcome = self.outcome
        evaluation = self.evaluate(progress) if owned or publish_scores else None
        basis, owners = Basis.of(outcome), dict[str, bytes]()

        def reports(written: Path) -> dict[str, bytes]:
            progress("report", 0.0)
            examples = None
            if report == FULL:
                examples = made_up_examples(
                    ReleaseFolder(written), outcome.promises, outcome.algorithm, outcome.adversary
                )
            if owned:
                owners[AUDIT] = audit_json(basis)
                owners.update(self._report(basis, evaluation, examples, pdf))
                progress("report", 0.5)
            public = basis.public(with_scores=publish_scores)
            documents = self._report(public, evaluation if publish_scores else None, examples, pdf)
            progress("report", 1.0)
            return documents

        beside: AbstractContextManager[object] = nullcontext()
        if owned or private:
            linkage = outcome.linkage if private else None
            beside = private_beside(folder, linkage, outcome.recipe.seed, documents=owners, overwrite=overwrite)
        written: list[str] = []
        try:
            with beside:
                written = write_release(
                    folder,
                    self.release,
                    documents={AUDIT: audit_json(basis.public()).decode()},
                    further=reports,
                    manifest=replace(_manifest(outcome, self.title), safe_csv=safe_csv),
                    overwrite=overwrite,
                    progress=progress,
                )
        except RecipeError as error:
            if not written:
                raise
            raise RecipeError(f"The release is written and whole, but its private part is not. {error}") from None
        return written

    def _report(
        self, basis: Basis, evaluation: Evaluation | None, examples: Examples | None, pdf: bool | None
    ) -> dict[str, bytes]:
        """A report as files."""
        from lookalike.evaluation.report import REPORT_PAGE, Report, find_browser, report_documents, to_pdf

        made = Report.on(basis, self.title, recipient=self.recipient, evaluation=evaluation, examples=examples)
        documents = report_documents(made)
        if pdf or (pdf is None and find_browser() is not None):
            try:
                documents["report.pdf"] = to_pdf(documents[REPORT_PAGE].decode())
            except MissingPart:
                if pdf:
                    raise
        return documents

    def write_tables(self, folder: str | Path, *, safe_csv: bool = False) -> list[str]:
        """Write a new folder as `write` does, without report and audit; returns the names of its files."""
        from lookalike.files.releases.write import write_release

        manifest = replace(_manifest(self.outcome, self.title), safe_csv=safe_csv)
        return write_release(Path(folder), self.release, documents={}, manifest=manifest)

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
        promises = ", ".join(str(promise) for promise in self.outcome.promises)
        bound = self.outcome.loss_bound
        nearness = "" if bound is None else f"{bound.sentence(self.losses['gcp'])}\n"
        loss = loss_text(self.release.form, self.losses)
        return f"{self.release.n_rows:,} rows that keep {promises}; {loss}\n{nearness}{self.audit}"

    def __repr__(self) -> str:
        """One line. A notebook keeps what it shows, so the linkage, the seed and the codes must not stand here."""
        return f"<{self.title}: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        preview = self.frame()
        first = preview if not isinstance(preview, dict) else next(iter(preview.values()))
        table = first.head(8)._repr_html_()
        return f"<p>{html.escape(str(self).splitlines()[0])}</p>{table}{self.audit._repr_html_()}"


def publish(
    table: Any,
    *,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    model: ModelLike | Iterable[ModelLike],
    algorithm: Algorithm | str | None = None,
    schema: Schema | str | Path | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    carry: Iterable[str] = (),
    adversary: str = READS_RELEASE,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Publication:
    """Publish a table so that it keeps every promise in `model`; raises rather than return a release that does not.

    `table` is a path (CSV, Parquet, Arrow, Excel), a URL (also of a table in a database), a pandas or Polars frame, a
    pyarrow table, or anything that speaks the Arrow PyCapsule interface. Columns that get no role are not published. A
    model is an object (`BetaLikeness(3)`), its text (`"beta-likeness:3"`), or a promise for one column
    (`"occupation=beta-likeness:3"`). Further arguments go to the reader (`delimiter`, `encoding`, `missing` ...).
    """
    from lookalike.files.releases.describe import check_titles

    check_titles(title=title, recipient=recipient)
    watch = Stopwatch()
    given = as_schema(schema, qi, sensitive, carry, numeric, categorical)
    promises = as_promises(model)
    chosen = as_algorithm(algorithm)
    with watch.step("read"):
        read = read_columns(table, given, progress=progress, **reading)
    recipe = Recipe(schema=given, promises=promises, algorithm=chosen, adversary=adversary, seed=seed)
    outcome = run(recipe, read, progress)
    timed = replace(outcome, seconds={**watch.seconds, **outcome.seconds})
    return Publication(timed, title or "Anonymised table", recipient)


def inspect(
    table: Any, *, schema: Schema | str | Path | None = None, progress: Progress = silent, **reading: Any
) -> Inspection:
    """What a table is like before anything is done to it: columns, likely roles, how many records stand alone."""
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    return survey(read_table(table, progress=progress, **reading), loaded)


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
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    return advise_on(
        read_table(table, progress=progress, **reading),
        loaded,
        promises=as_promises(model),
        algorithm=as_algorithm(algorithm),
        trials=trials,
        sample=sample,
        progress=progress,
    )


def report_asked(report: str | None) -> str:
    """Which report is made: the one asked for, or what LOOKALIKE_REPORT says, else the full one."""
    report = report or os.environ.get(REPORT_VARIABLE) or FULL
    if report not in REPORTS:
        raise RecipeError(unknown_name("report", report, REPORTS))
    return report


def _manifest(outcome: Outcome, title: str) -> Any:
    from lookalike.files.releases.describe import Manifest, stated_promise

    return Manifest(
        title=title,
        promises=tuple(
            stated_promise(promise, outcome.release.form, outcome.adversary) for promise in outcome.promises
        ),
        algorithm=str(outcome.algorithm),
        adversary=outcome.adversary,
        created=datetime.date.today(),
    )
