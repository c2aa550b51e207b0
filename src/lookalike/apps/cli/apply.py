"""`apply`: publish a further table in the cells of a scheme."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from lookalike.apps.cli.options import (
    CARRY_ANYWAY,
    JSON,
    SAFE_CSV,
    model_option,
    person_options,
    reading_from,
    reading_options,
    refuse_beside_stdout,
    series_options,
)
from lookalike.apps.cli.publish import report_options, run_publish, statement_options
from lookalike.data.adversary import ADVERSARIES


@click.command()
@click.argument("scheme", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--suppress",
    default="0",
    show_default=True,
    metavar="SHARE",
    help="The largest share of records that may be left out, as 0.02: those in cells that do not keep the promise.",
)
@model_option("Promise this instead of what the scheme promises (repeatable).")
@click.option(
    "--adversary",
    type=click.Choice(list(ADVERSARIES)),
    help="The attacker that the promise must withstand; by default as stated in the scheme.",
)
@click.option("--person", metavar="COLUMN", help="The column that identifies persons; promises count persons.")
@click.option("--household", metavar="COLUMN", help="The column that identifies households; promises count households.")
@person_options
@series_options
@CARRY_ANYWAY
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="The release folder to make, also as URL (s3://bucket/release); - prints the published CSV alone.",
)
@click.option("--to", metavar="URL", help="Also write the published tables into a database, after the folder.")
@statement_options
@click.option("--seed", type=int, help="Only to repeat a run: anyone who knows it can undo the shuffling.")
@click.option(
    "--private/--no-private",
    default=None,
    help="Keep the record map in the sibling folder that says PRIVATE; by default where persons have several rows.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier release in that folder.")
@SAFE_CSV
@reading_options
@report_options
@JSON
@click.pass_context
def apply(
    context: click.Context,
    /,
    scheme: str,
    data: str,
    models: tuple[str, ...],
    out: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish the table DATA in the cells of SCHEME, with the promise of the scheme.

    \b
    lookalike publish january.csv ... --scheme-out scheme.yaml --out january
    lookalike apply scheme.yaml february.csv --suppress 0.02 --out february

    The release is audited against DATA like any other. Exit 3: too many cells do not keep the promise.
    """
    from lookalike.data.schema import Schema
    from lookalike.files.schemes import read_scheme

    refuse_beside_stdout(context, out, as_json)
    reading, given = reading_from(options), read_scheme(scheme)
    schema = Schema.of(given.schema, person=options.pop("person"), household=options.pop("household"))

    def make(table: str, *, schema: Schema, **asked: Any) -> Any:
        from lookalike.schemes import apply_scheme

        return apply_scheme(table, replace(given, schema=schema), **asked)

    run_publish(data, out, as_json, schema=schema, model=models, reading=reading, make=make, **options)
