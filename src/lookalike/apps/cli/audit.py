"""`audit`: whether a release keeps its promise."""

from __future__ import annotations

from typing import Any

import click

from lookalike.apps.cli.options import (
    JSON,
    KNOWLEDGE,
    SUPPRESSED,
    column_list,
    column_options,
    model_option,
    reading_options,
    table_from,
)
from lookalike.apps.cli.output import TerminalProgress, note, say_verdict
from lookalike.evaluation.plain import json_text


@click.command()
@click.argument("original", type=click.Path())
@click.argument("release", type=click.Path())
@column_options
@model_option("Hold it to this promise (repeatable); without it, to what the release promises itself.")
@click.option(
    "--private",
    type=click.Path(),
    metavar="DIR",
    help="The PRIVATE folder of the release, for matched releases and for persons who have several rows.",
)
@click.option(
    "--rows-are-persons",
    is_flag=True,
    help="State that every row is a different person, although an identifier repeats.",
)
@click.option(
    "--number-of-rows",
    "number_known",
    type=click.Choice(("known", "unknown")),
    callback=lambda context, option, given: None if given is None else given == "known",
    help="Whether an attacker may know how many rows a person has; by default as the release states.",
)
@KNOWLEDGE
@column_list(
    "--knows-carried",
    help="Carried columns that the attacker knows of a person besides the quasi-identifiers; promises are judged on "
    "groups that they split.",
)
@column_list("--ignore", help="Columns of RELEASE without a role that may stay unchecked; the verdict names them.")
@SUPPRESSED
@reading_options
@JSON
def audit(
    original: str,
    release: str,
    models: tuple[str, ...],
    private: str | None,
    rows_are_persons: bool,
    number_known: bool | None,
    ignore: tuple[str, ...],
    knows_carried: tuple[str, ...],
    knowledge: str | None,
    suppressed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Check RELEASE (a folder, or a table of another tool) against ORIGINAL. Exit 0: it holds; 1: it does not."""
    from lookalike.checking import verify

    asked = table_from(options)
    with TerminalProgress() as progress:
        found = verify(
            original,
            release,
            model=models,
            private=private,
            rows_are_persons=rows_are_persons,
            number_known=number_known,
            suppressed=suppressed,
            ignore=ignore,
            knows_carried=knows_carried,
            knowledge=knowledge,
            progress=progress,
            **asked,
        )
    note(*found.notes)
    say_verdict(json_text(found.to_plain()) if as_json else str(found))
    click.get_current_context().exit(0 if found.passed else 1)
