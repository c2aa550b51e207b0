"""`publish --backend spark`: the same command where the table is read, cut and written by a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from lookalike.cli.output import STDOUT, TerminalProgress, note, peak_megabytes, print_json
from lookalike.tables.databases.address import is_address

LOCAL, SPARK = BACKENDS = ("local", "spark")
_OF_SPARK = {"spark_conf": "--spark-conf", "part_rows": "--part-rows"}
_NOT_ON_SPARK = {
    "private": "--private would gather which record became which row in one place, and the rows are never in one place",
    "pdf": "--pdf prints the full report, which is not made",
    "safe_csv": "--safe-csv is not known to the executors that write the parts",
    "sheet": "--sheet is for Excel workbooks, which Spark does not read",
    "unpack_limit": "--unpack-limit is for packed files, which Spark unpacks by itself",
    "to": "--to writes tables that one machine holds; load the Parquet files of the folder instead",
    "report": "--report full scores attacks, queries and predictions on the original in one machine's memory",
}


def backend_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--backend, --spark-conf, --part-rows; `refuse_misplaced` holds them against the rest."""
    for option in (
        click.option("--part-rows", type=click.IntRange(min=1), metavar="N", help="Spark: rows a part has, about."),
        click.option(
            "--spark-conf",
            multiple=True,
            metavar="KEY=VALUE",
            help="Spark: a setting, as --conf of spark-submit takes it (repeatable).",
        ),
        click.option(
            "--backend",
            type=click.Choice(BACKENDS),
            default=LOCAL,
            show_default=True,
            help="Where the work is done. spark: DATA may also be a folder, a glob or a table's name.",
        ),
    ):
        command = option(command)
    return command


def refuse_misplaced(context: click.Context) -> None:
    """Options that mean nothing, or cannot be kept, with the back end that was chosen."""
    given = context.params
    if given["backend"] == LOCAL:
        for name, flag in _OF_SPARK.items():
            if given[name]:
                raise click.UsageError(f"{flag} is for Spark. Add --backend spark, or leave it out.", context)
        return
    if given["out"] == STDOUT or "://" in given["out"]:
        raise click.UsageError("With --backend spark the release is written to a folder: --out DIR.", context)
    if is_address(given["data"]):
        raise click.UsageError("A table of a database is not read by Spark. Leave --backend spark out.", context)
    for name, reason in _NOT_ON_SPARK.items():
        asked = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if asked and given[name] not in (False, "brief"):
            raise click.UsageError(f"{reason}. Leave it out with --backend spark.", context)


def settings_from(texts: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE, several times, as a mapping; the last one of a key counts."""
    settings = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key.strip().startswith("spark."):
            raise click.UsageError(
                "--spark-conf takes KEY=VALUE with a key of Spark, as spark.executor.memory=4g, and not "
                f"{key.strip() or 'nothing'}."
            )
        settings[key.strip()] = value.strip()
    return settings


def publish_on_spark(
    data: str,
    schema: Any,
    models: tuple[str, ...],
    out: str,
    as_json: bool,
    *,
    spark_conf: tuple[str, ...],
    reading: dict[str, Any],
    **asked: Any,
) -> None:
    """Read DATA by Spark, publish it there, say what came of it."""
    from lookalike.backends.sessions import session, without_pandas_warning
    from lookalike.backends.sources import read_source
    from lookalike.packages.manifest import DESCRIPTOR
    from lookalike.packages.placing import check_target
    from lookalike.spark import publish

    settings = settings_from(spark_conf)
    check_target(Path(out), marker=DESCRIPTOR, overwrite=asked["overwrite"])
    with TerminalProgress() as progress, without_pandas_warning():
        progress("starting Spark", 0.0)
        spark = session(settings)
        progress("reading", 0.0)
        missing = reading.pop("missing", ())
        frame, is_text = read_source(spark, data, **reading)
        made = publish(
            frame,
            out=out,
            schema=schema,
            model=models,
            missing=missing,
            is_text=is_text,
            source=data,
            progress=progress,
            **{name: value for name, value in asked.items() if value is not None},
        )
    note(*made.notes)
    if as_json:
        print_json(
            {
                "rows": made.n_rows,
                "suppressed": made.n_suppressed,
                "parts": made.n_parts,
                "model": [str(promise) for promise in made.promises],
                "algorithm": str(made.algorithm),
                "adversary": made.adversary,
                "form": made.form,
                "audit": made.audit.to_plain(),
                "loss": made.losses,
                "loss_by_column": made.loss_by_column,
                "domains": {
                    domain.name: "declared" if domain.declared else "observed" for domain in made.domains.quasi
                },
                "seconds": {step: round(seconds, 3) for step, seconds in made.seconds.items()},
                "peak_mb": peak_megabytes(),
                "out": out,
                "files": list(made.files),
            }
        )
        return
    click.echo(str(made))
    click.echo(f"\nRelease:  {Path(out)}\nReport:   {Path(out) / 'report.html'}")
