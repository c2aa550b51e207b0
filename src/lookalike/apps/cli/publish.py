"""`publish`: from a table to a release folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.options import (
    JSON,
    KNOWLEDGE,
    SAFE_CSV,
    SPARK,
    adversary_option,
    backend_options,
    cell_options,
    column_options,
    model_option,
    options_together,
    person_options,
    print_published,
    reading_from,
    reading_options,
    refuse_beside_stdout,
    refuse_misplaced,
    schema_from,
    series_options,
    settings_from,
)
from lookalike.apps.cli.output import STDOUT, TerminalProgress, note, note_first_use, peak_megabytes, print_json
from lookalike.files.tables.formats import list_names

if TYPE_CHECKING:
    from lookalike.publication import Publication

report_options = options_together(
    click.option(
        "--publish-scores",
        is_flag=True,
        help="Put figures that are scored on the original into the report of the release folder, too. They may "
        "reveal more about people than is promised.",
    ),
    click.option(
        "--report",
        type=click.Choice(("full", "brief")),
        default="full",
        envvar="LOOKALIKE_REPORT",
        show_default=True,
        show_envvar=True,
        help="brief: without the owner's report (attacks, queries and predictions, which take time) and examples.",
    ),
    click.option(
        "--pdf/--no-pdf",
        default=None,
        envvar="LOOKALIKE_PDF",
        help="Also print the report as report.pdf; by default if a browser (Chromium, Chrome, Edge) is there.",
    ),
)

statement_options = options_together(
    click.option("--title", metavar="TEXT", help="Title of the report."),
    click.option("--recipient", metavar="TEXT", help="For whom the release is made, as the report says."),
    click.option("--purpose", metavar="TEXT", help="What the release is made for, as page one of the report says."),
    click.option("--legal-basis", metavar="TEXT", help="On what legal basis it is made, for page one."),
    click.option("--review-date", metavar="DATE", help="When to look at it again, as 2027-11-30, for page one."),
    click.option("--contact", metavar="TEXT", help="Whom to ask about it, for page one."),
    click.option(
        "--population",
        metavar="N",
        help="How many people there are of whom those in DATA are a random sample: page one then has the risk for "
        "someone who does not know whether a person is in DATA.",
    ),
    click.option("--date", metavar="DATE", help="The date of the release and its report; by default today's."),
)
"""What the publisher states; a schema may hold it under `report`."""


class _Publish(click.Command):
    """Its help lists formats when it is asked for: guests add theirs."""

    help = property(
        lambda self: self._help.format(formats=list_names()), lambda self, text: setattr(self, "_help", text)
    )


@click.command(cls=_Publish)
@click.argument("data", type=click.Path())
@column_options
@cell_options
@KNOWLEDGE
@click.option(
    "--knowledge-report-only",
    is_flag=True,
    help="With --knowledge: publish also if a promise does not hold for someone who uses the rules, and report it.",
)
@model_option("A promise, as in beta-likeness:3 or occupation=l-diversity:5; repeatable, all must hold.", required=True)
@click.option("--algorithm", metavar="NAME", help="How; without it the best suited is chosen and named.")
@adversary_option("Whom the promise must hold against.")
@person_options
@series_options
@click.option(
    "--ends",
    multiple=True,
    metavar="WHICH",
    help="The ends of ranges: exact, or COLUMN=STEP, as in age=5 (dates 7d, times 1h); repeatable. By default they are "
    "rounded outwards, so that they are nobody's values, at a rise of the loss of at most 2 %.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="The release folder to make, also as URL (s3://bucket/release); - prints the published CSV alone.",
)
@click.option(
    "--to",
    metavar="URL",
    help="Also write the published tables into a database, as in sqlite:///file.db?table=name, after the folder.",
)
@click.option(
    "--scheme-out",
    type=click.Path(),
    metavar="FILE",
    help="Also write the cells as a scheme, in which lookalike apply publishes later tables: scheme.yaml. As "
    "scheme.csv a mapping of values (column, from, to), where no cut depends on another column.",
)
@click.option(
    "--control",
    metavar="FILE|SHARE",
    help="A control group for attacks in the owner's report: a file with people of the same kind who are not in DATA, "
    "or a share such as 0.1 of the persons, drawn at random, left out of the release and kept in the PRIVATE folder.",
)
@statement_options
@click.option("--seed", type=int, help="Only to repeat a run: anyone who knows it can undo the shuffling.")
@click.option(
    "--private/--no-private",
    default=None,
    help="Keep the record map (which record became which row) in the sibling folder that says PRIVATE; by default "
    "where persons have several rows, since an audit needs it then.",
)
@click.option(
    "--overwrite", is_flag=True, help="Replace an earlier release in that folder (and in the database, with --to)."
)
@SAFE_CSV
@reading_options
@report_options
@backend_options
@JSON
@click.pass_context
def publish(
    context: click.Context, /, data: str, models: tuple[str, ...], out: str, as_json: bool, **options: Any
) -> None:
    """Publish the table DATA so that it keeps every promise.

    \b
    lookalike publish patients.csv --qi age,sex,zip --sensitive diagnosis \\
              --model k-anonymity:5 --model beta-likeness:2 --out release

    DATA is a file ({formats}; CSV also compressed), a folder of Parquet files, a URL, or - for standard input.
    """
    refuse_misplaced(context)
    reading, schema = reading_from(options), schema_from(options)
    refuse_beside_stdout(context, out, as_json)
    spark_conf, backend = settings_from(options.pop("spark_conf")), options.pop("backend")
    if backend == SPARK:
        reading["conf"] = spark_conf
    if backend == SPARK or options["part_rows"] is not None:
        options["report"] = "brief"
    run_publish(data, out, as_json, schema=schema, model=models, backend=backend, reading=reading, **options)


def run_publish(
    data: str,
    out: str,
    as_json: bool,
    *,
    overwrite: bool = False,
    private: bool | None = None,
    report: str = "full",
    publish_scores: bool = False,
    pdf: bool | None = None,
    safe_csv: bool = False,
    to: str | None = None,
    reading: dict[str, Any] | None = None,
    make: Callable[..., Publication] | None = None,
    **asked: Any,
) -> None:
    """Make a release by `make` (by default `la.publish`), write it where it belongs, and print the result."""
    from lookalike.data.control import read_share, refuse_without_private
    from lookalike.evaluation.report.folder import FULL, SCORES_REVEAL
    from lookalike.files.schemes import check_scheme_target
    from lookalike.files.urls import is_url
    from lookalike.pipeline.run import Stopwatch
    from lookalike.publication import publish as publish_table

    scheme_out = asked.get("scheme_out")
    if scheme_out is not None:
        check_scheme_target(scheme_out, overwrite=overwrite)
    in_parts = asked.get("part_rows") is not None or asked.get("backend") == SPARK
    holds_out = asked.get("control") is not None and read_share(asked["control"]) is not None
    if holds_out and not in_parts:
        refuse_without_private(out == STDOUT or is_url(out), private)
    is_private = bool(private) or holds_out or asked["schema"].unit is not None
    kept = _check_destinations(
        out, to, report=report, scores=publish_scores, pdf=pdf, private=is_private, over=overwrite
    )
    note_first_use()
    writing, tables = Stopwatch(), tuple[str, ...]()
    with TerminalProgress() as progress:
        where: dict[str, Any] = {"out": out, "overwrite": overwrite} if in_parts else {}
        if asked.get("after") is not None and out != STDOUT and not is_url(out):
            where["destination"] = out
        publication = (make or publish_table)(data, progress=progress, **asked, **where, **(reading or {}))
        files = list(publication.files)
        if not in_parts:
            if progress.stopped:
                progress.pause()
                loss = publication.losses["gcp"]
                click.confirm(
                    f"The search was stopped. The best so far has loss {loss:.4f} (GCP) and passed its audit. "
                    "Write it?",
                    default=True,
                    abort=True,
                    err=True,
                )
            if out == STDOUT:
                progress.pause()
                note(*publication.notes, *str(publication).splitlines())
                print_published(publication, safe_csv=safe_csv)
                return
            with writing.step("write"):
                files = publication.write(
                    out,
                    overwrite=overwrite,
                    private=private,
                    report=report,
                    publish_scores=publish_scores,
                    pdf=pdf,
                    safe_csv=safe_csv,
                    progress=progress,
                )
                tables = () if to is None else _write_to(publication, to, out, overwrite=overwrite, progress=progress)
    if kept is not None and not kept.exists():
        kept = None
    note(*publication.notes, *([SCORES_REVEAL] if publish_scores else []), *_about_map(publication, kept, private))
    if kept is None and report == FULL:
        note("Nothing private is sent to a URL, so there is no owner's report. Publish to a folder to have it.")
    if as_json:
        summary = publication.summary()
        summary["seconds"] |= {step: round(seconds, 3) for step, seconds in writing.seconds.items()}
        private_folder = None if kept is None else str(kept)
        about = {"peak_mb": peak_megabytes(), "out": out, "files": files, "private": private_folder, "tables": tables}
        print_json({**summary, **about, **({} if scheme_out is None else {"scheme": scheme_out})})
        return
    click.echo(str(publication))
    printed = " and report.pdf" if "report.pdf" in files else ""
    click.echo(f"\nRelease:  {out}\nReport:   {out.rstrip('/')}/report.html{printed}")
    if scheme_out is not None:
        click.echo(f"Scheme:   {scheme_out}")
    if tables:
        click.echo(f"Database: {', '.join(tables)}")
    if kept is not None:
        owners = f"{kept}/report.html" if report == FULL else str(kept)
        click.echo(f"Private:  {owners}  (for internal use only: do not hand it over)")


_KEEP_MAP = "To keep it, publish to a folder, and without --no-private."


def _about_map(publication: Publication, kept: Path | None, is_kept: bool | None) -> list[str]:
    """Where the record map is that an audit of persons with several rows needs."""
    if not publication.needs_map:
        return []
    if kept is None or is_kept is False:
        in_parts = publication.n_parts > 0
        return [
            "No record map is kept (which record became which row). So an audit of the folder cannot decide how many "
            "persons a group has where records fit several groups. "
            + ("Parts are made without one: to keep it, publish the table in one piece." if in_parts else _KEEP_MAP)
        ]
    if is_kept is None:
        return [
            f"The record map (which record became which row) is kept in {kept}, since an audit of persons who have "
            "several rows needs it: lookalike audit ... --private DIR. It undoes the release: never hand it over."
        ]
    return []


def _check_destinations(
    out: str, to: str | None, *, report: str, scores: bool, pdf: bool | None, private: bool, over: bool
) -> Path | None:
    """Refuse what could not be written, before any work is done; where the private part goes."""
    from lookalike.errors import RecipeError
    from lookalike.evaluation.report.folder import FULL, SCORES_NEED_FULL
    from lookalike.evaluation.report.pdf import find_browser, needs_browser
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR
    from lookalike.files.releases.private import check_private, private_folder
    from lookalike.files.urls import check_destination, is_url, place_of

    if pdf and find_browser() is None:
        raise needs_browser()
    if scores and report != FULL:
        raise RecipeError(SCORES_NEED_FULL)
    kept = None
    if is_url(out):
        check_destination(place_of(out))
    elif out != STDOUT:
        check_target(Path(out), marker=DESCRIPTOR, overwrite=over)
        if private or report == FULL:
            check_private(Path(out), overwrite=over)
            kept = private_folder(Path(out))
    if to is not None:
        from lookalike.files.databases.write import check_database

        check_database(to, overwrite=over)
    return kept


def _write_to(publication: Any, url: str, out: str, **asked: Any) -> tuple[str, ...]:
    """The tables in the database. If that fails the folder is there all the same, and it must be said."""
    from lookalike.errors import LookalikeError

    try:
        names: tuple[str, ...] = publication.write_to(url, **asked)
    except LookalikeError as error:
        raise type(error)(
            f"{error} The release folder {Path(out)} is complete, and the database is as it was. Do not publish again "
            "for the sake of the database, since two releases of the same people tell more than one: lookalike export."
        ) from None
    return names
