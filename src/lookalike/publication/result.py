"""An audited release: what is known about it, and how it is written."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.audit import Audit
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.control import HeldOut, refuse_without_private
from lookalike.data.release import Release
from lookalike.data.statement import UNTITLED, Statement
from lookalike.errors import RecipeError, counted
from lookalike.evaluation.plain import spell_infinity
from lookalike.metrics.shared.losses import explain_suppressed, loss_text
from lookalike.pipeline.run import Made, MadeInParts, MadeWhole, Stopwatch, name_domains
from lookalike.pipeline.schemes import make_scheme
from lookalike.progress import Progress, silent
from lookalike.publication.received import Received

# What evaluates and writes takes longer to load than a small table to publish: it is loaded when it is first needed.
if TYPE_CHECKING:
    import polars

    from lookalike.data.scheme import Scheme
    from lookalike.evaluation.against_rows import AgainstRows
    from lookalike.evaluation.evaluate import Evaluation
    from lookalike.evaluation.fidelity import Fidelity
    from lookalike.evaluation.report import Basis, Report
    from lookalike.files.releases.read import ReleaseFolder
    from lookalike.pipeline.series.publishing import Step


@dataclass(frozen=True)
class Publication(Received):
    """An audited release: whole in memory, ready to be written, or in parts that lie in their folder already."""

    made: Made
    stated: Statement = Statement()
    """What the publisher states on the first page of the report: title, recipient, purpose and the like."""
    removed: tuple[str, ...] | None = None
    """The columns of the table that are not published; None: not known."""
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
    held_out: HeldOut | None = field(default=None, repr=False, compare=False)
    """People of the table who were kept out of it to be a control group; they go to the PRIVATE folder."""
    library: str = "polars"
    """The library of the frames that it hands out: that of the table it was made from."""
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
    def title(self) -> str:
        return self.stated.title or UNTITLED

    @property
    def recipient(self) -> str | None:
        """For whom the release is made, as the report says."""
        return self.stated.recipient

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
        """The result, ready for JSON."""
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
            **({} if self.held_out is None else {"held_out": len(self.held_out.rows)}),
            "loss": spell_infinity(made.losses),
            "loss_by_column": made.loss_by_column,
            "ends": {name: asdict(found) for name, found in made.ends.items()},
            **({"carried": [risk.to_plain() for risk in made.carried]} if made.carried else {}),
            **({"with_rules": [one.to_plain() for one in made.conditioned]} if made.conditioned else {}),
            "loss_bound": bound and bound.to_plain(made.losses["gcp"]),
            **({} if self._against_rows is None else {"loss_against_rows": self._against_rows.to_plain()}),
            "domains": name_domains(made.domains),
            "seconds": {step: round(took, 3) for step, took in {**made.seconds, **self._watch.seconds}.items()},
        }

    def read_folder(self) -> ReleaseFolder:
        """The release as a reader of its folder has it; of one in parts, the folder itself."""
        from lookalike.files.releases.read import find_release
        from lookalike.files.releases.write import hold_release

        if self.n_parts:
            assert self.folder is not None
            return find_release(self.folder)
        if "folder" not in self._kept:
            from lookalike.evaluation.report import describe_release

            manifest = describe_release(self._whole, self.stated, series=self._mode)
            self._kept["folder"] = hold_release(self.release, manifest)
        folder: ReleaseFolder = self._kept["folder"]
        return folder

    def _read_tables(self) -> dict[str, polars.DataFrame]:
        from lookalike.analysis.columns import list_columns
        from lookalike.files.releases.write import frames

        if not self.n_parts:
            return frames(self.release)
        folder = self.read_folder()
        return list_columns(folder.manifest.tables, folder.frames, None)

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
        from lookalike.evaluation.report import Report

        report: Report = self._kept["report"] if "report" in self._kept else Report.on(self._basis, self.stated)
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
        if self.held_out is not None:
            refuse_without_private(elsewhere, private)
        made, owners = self._whole, dict[str, bytes]() if full and not elsewhere else None
        kept = None if elsewhere else reports.choose_private(made, asked=private)
        if self.held_out is not None:
            kept = replace(kept or Private(), held_out=self.held_out)
        people = {} if elsewhere or private is False else self._list_people()
        if people and kept is None:
            kept = Private()
        with (
            self._recorded(Path(folder), overwrite=overwrite),
            reports.open_destination(folder, owners, kept, people=people, overwrite=overwrite) as path,
        ):
            evaluation = self.evaluate(progress) if owners is not None or publish_scores else None
            stated = replace(self.stated, date=self.stated.day)
            manifest = reports.describe_release(made, stated, safe_csv=safe_csv, series=self._mode)
            with new_release(path, overwrite=overwrite, progress=progress) as out:
                with self._watch.step("tables"):
                    out.write_tables(made.release, safe_csv=safe_csv)
                    opened = out.check(manifest)
                progress("report", 0.0)
                examples = drawn = None
                if full:
                    with self._watch.step("examples"):
                        examples = reports.make_up_examples(opened)
                        # Rules are not in the folder, so only the owner's report has people drawn by them.
                        drawn = reports.make_up_examples(opened, made.recipe.knowledge)
                with self._watch.step("report"):
                    basis = self._basis
                    out.add({reports.AUDIT: reports.audit_json(basis.public())})
                    public = basis.public(with_scores=publish_scores)
                    scores = evaluation if publish_scores else None

                    def report_of(digests: Mapping[str, str]) -> Report:
                        return reports.Report.on(public, stated, evaluation=scores, examples=examples, digests=digests)

                    files = reports.add_reports(out, manifest, report_of, pdf)
                    if owners is not None:
                        progress("report", 0.5)
                        reported = self._kept["report"] = reports.Report.on(
                            basis, stated, evaluation=evaluation, examples=drawn, digests=out.digests()
                        )
                        owners |= {reports.AUDIT: reports.audit_json(basis), **reports.report_documents(reported, pdf)}
                progress("report", 1.0)
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

        return Basis.of(self.made, self._mode, removed=self.removed)

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

    def write_tables(self, folder: str | Path, *, safe_csv: bool = False) -> list[str]:
        """Write a new folder as `write` does, without report and audit; returns the names of its files."""
        from lookalike.evaluation.report import describe_release
        from lookalike.files.releases.write import write_release

        if self.step is not None and self.step.ledger is not None:
            raise RecipeError("A release of a series is written with `write`, which enters it in the ledger.")
        if self.held_out is not None:
            raise RecipeError("A release that people were held out of is written with `write`, which keeps them.")
        manifest = describe_release(self._whole, self.stated, safe_csv=safe_csv)
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
        if left_out := explain_suppressed(made.withheld.n_suppressed):
            cost = f"{left_out}\n{cost}"
        return f"{rows} that keep {promises}; loss: {loss_text(made.form, made.losses)}\n{cost}{nearness}{made.audit}"

    def __repr__(self) -> str:
        """One line. A notebook keeps what it shows, so the record map, the seed and the codes must not stand here."""
        return f"<{self.title}: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        said = f"<p>{html.escape(str(self).splitlines()[0])}</p>"
        if self.n_parts:
            return f"{said}{self.audit._repr_html_()}"
        shown = self.to_polars()
        first = next(iter(shown.values())) if isinstance(shown, dict) else shown
        return f"{said}{first.head(8)._repr_html_()}{self.audit._repr_html_()}"
