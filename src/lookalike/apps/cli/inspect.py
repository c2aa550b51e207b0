"""`inspect`: what a table is like, and what to promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lookalike.apps.cli.options import (
    JSON,
    cell_options,
    column_options,
    model_option,
    reading_from,
    reading_options,
    schema_from,
)
from lookalike.apps.cli.output import TerminalProgress, note, note_first_use, print_json, print_table
from lookalike.errors import RecipeError, counted


@click.command()
@click.argument("data", type=click.Path())
@column_options
@cell_options
@click.option("--write-schema", type=click.Path(), metavar="FILE", help="Write the suggested schema, to be edited.")
@click.option("--advise", is_flag=True, help="Also show by trial runs which column costs most and what would save it.")
@model_option("Try with this promise (repeatable); without it, with the one that is recommended.")
@reading_options
@JSON
def inspect(
    data: str, write_schema: str | None, advise: bool, models: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Show the columns of DATA, what they most likely are, how identifying they are today, and what to promise."""
    from lookalike.evaluation.advise.advice import advise_on
    from lookalike.evaluation.inspect import inspect as survey
    from lookalike.evaluation.inspect import suggest_schema
    from lookalike.files.tables import read_table
    from lookalike.pipeline.recipe import parse_promises

    if models and not advise:
        raise RecipeError("--model says what to try, and nothing is tried without --advise. Give both, or neither.")
    promises = parse_promises(models)
    reading, schema = reading_from(options), schema_from(options)
    given = schema if schema.attributes else None
    if advise:
        note_first_use()
    with TerminalProgress() as progress:
        table = read_table(data, progress=progress, **reading)
        found = survey(table, schema=given)
        advice = advise_on(table, given, found, promises, trials=advise, progress=progress)
    if write_schema:
        target = Path(write_schema)
        if target.exists():
            raise RecipeError(f"{target} exists already. Name another file, or remove it first.")
        target.write_text((given or suggest_schema(table)).to_yaml(), encoding="utf-8")
        note(f"Schema written to {target}. Edit it, then publish with --schema {target}.")
    if as_json:
        note(*table.notes)
        print_json({**found.to_plain(), "advice": advice.to_plain()})
        return
    click.echo(f"{counted(found.n_rows, 'row')}, {counted(len(found.columns), 'column')}\n")
    print_table(
        ("column", "type", "kind", "distinct", "missing", "role", "why"),
        (
            (
                profile.name,
                str(profile.type),
                str(profile.suggested_kind),
                f"{profile.n_distinct:,}",
                f"{profile.n_missing:,}" if profile.n_missing else "",
                str(profile.role or "not published"),
                profile.role_reason,
            )
            for profile in found.columns
        ),
    )
    for sentence in found.notes:
        click.echo(f"\n{sentence}")
    if not found.quasi or not found.n_rows:
        return
    n_others = found.median_group - 1
    sharing = f"{counted(n_others, 'other')} at most" if n_others else "nobody"
    click.echo(f"\nHow identifying it is now, by {', '.join(found.quasi)}:")
    click.echo(
        f"  {counted(found.n_unique, 'record')} ({found.unique_share:.1%}) stand alone with their combination;"
        f" the smallest group has {found.smallest_group}, and half of all records share theirs with"
        f" {sharing}."
    )
    for size, share in found.share_in_groups_below.items():
        click.echo(f"  {share:6.1%} of the records are in groups of fewer than {size}")
    print_table(
        ("\ncolumn", "\nalone with it", "\nalone without it"),
        ((worst.name, f"{worst.unique_with:,}", f"{worst.unique_without:,}") for worst in found.worst_columns),
    )
    click.echo(f"\n{advice.text(leverage=False)}")
    if not advise:
        click.echo("\nWhich column costs most, and what a change would save: lookalike inspect --advise.")
