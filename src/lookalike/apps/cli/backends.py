"""`publish --part-rows` and `--backend spark`: the same command where a table is published in parts, here or there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.core import ParameterSource

from lookalike.apps.cli.output import STDOUT
from lookalike.files.databases.address import is_address

_LOCAL, SPARK = _BACKENDS = ("local", "spark")
_NOT_IN_PARTS = {
    "private": "--private keeps which record became which row of one table, and parts are made without such a list",
    "pdf": "--pdf prints the full report, which is not made for parts",
    "safe_csv": "--safe-csv is not known to those who write the parts",
    "to": "--to writes tables that are whole; load the Parquet files of the folder instead",
    "publish_scores": "--publish-scores is about the full report, which is not made for parts",
    "report": "--report full scores attacks, queries and predictions on the original and the release in one memory",
}
_NOT_ON_SPARK = _NOT_IN_PARTS | {
    "sheet": "--sheet is for Excel workbooks, which Spark does not read",
    "unpack_limit": "--unpack-limit is for packed files, which Spark unpacks by itself",
}


def backend_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--backend, --spark-conf, --part-rows; `refuse_misplaced` holds them against the rest."""
    for option in (
        click.option(
            "--part-rows",
            type=click.IntRange(min=1),
            metavar="N",
            help="Publish in parts of about N rows: tables are folders of files. On Spark always.",
        ),
        click.option(
            "--spark-conf",
            multiple=True,
            metavar="KEY=VALUE",
            help="Spark: a setting, as --conf of spark-submit takes it (repeatable).",
        ),
        click.option(
            "--backend",
            type=click.Choice(_BACKENDS),
            default=_LOCAL,
            show_default=True,
            help="Where the work is done. spark: DATA may also be a folder, a glob or a table's name.",
        ),
    ):
        command = option(command)
    return command


def refuse_misplaced(context: click.Context) -> None:
    """Options that mean nothing, or cannot be kept, with the back end that was chosen."""
    given = context.params
    on_spark = given["backend"] == SPARK
    if given["spark_conf"] and not on_spark:
        raise click.UsageError("--spark-conf is for Spark. Add --backend spark, or leave it out.", context)
    if not on_spark and given["part_rows"] is None:
        return
    flag = "--backend spark" if on_spark else "--part-rows"
    if given["out"] == STDOUT or "://" in given["out"]:
        raise click.UsageError(f"With {flag} the release is written to a folder: --out DIR.", context)
    if on_spark and is_address(given["data"]):
        raise click.UsageError("A table of a database is not read by Spark. Leave --backend spark out.", context)
    for name, reason in (_NOT_ON_SPARK if on_spark else _NOT_IN_PARTS).items():
        asked = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if asked and given[name] not in (False, "brief"):
            raise click.UsageError(f"{reason}. Leave it out with {flag}.", context)


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
