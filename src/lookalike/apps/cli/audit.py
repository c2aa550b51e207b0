"""`inspect`, `audit` and `measure`: what a table is like, whether a release keeps its promise, what it lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lookalike.apps.cli.options import column_list, column_options, reading_from, reading_options, schema_from
from lookalike.apps.cli.output import (
    TerminalProgress,
    json_text,
    note,
    note_first_use,
    print_json,
    print_table,
    say_verdict,
)
from lookalike.errors import RecipeError, counted

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
_SUPPRESSED = click.option(
    "--suppressed", type=click.IntRange(min=0), default=0, help="Records that another tool is known to have left out."
)


@click.command()
@click.argument("data", type=click.Path())
@column_options
@click.option("--write-schema", type=click.Path(), metavar="FILE", help="Write the suggested schema, to be edited.")
@click.option("--advise", is_flag=True, help="Also show by trial runs which column costs most and what would save it.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Try with this promise (repeatable); without it, with the one that is recommended.",
)
@reading_options
@_JSON
def inspect(
    data: str, write_schema: str | None, advise: bool, models: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Show the columns of DATA, what they most likely are, how identifying they are today, and what to promise."""
    from lookalike.evaluation.advise import advise as advise_on
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
        found = survey(table, given)
        advice = advise_on(table, given, inspection=found, promises=promises, trials=advise, progress=progress)
    if write_schema:
        target = Path(write_schema)
        if target.exists():
            raise RecipeError(f"{target} exists already. Name another file, or remove it first.")
        target.write_text((schema if schema.attributes else suggest_schema(table)).to_yaml(), encoding="utf-8")
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


@click.command()
@click.argument("original", type=click.Path())
@click.argument("release", type=click.Path())
@column_options
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Hold it to this promise (repeatable); without it, to what the release promises itself.",
)
@click.option("--private", type=click.Path(), metavar="DIR", help="The PRIVATE folder of a matched release.")
@column_list("--ignore", help="Columns of RELEASE without a role that may stay unchecked; the verdict names them.")
@_SUPPRESSED
@reading_options
@_JSON
def audit(
    original: str,
    release: str,
    models: tuple[str, ...],
    private: str | None,
    ignore: tuple[str, ...],
    suppressed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Check RELEASE (a folder, or a table of another tool) against ORIGINAL. Exit 0: it holds; 1: it does not."""
    from lookalike.checking import audit_of, reopen
    from lookalike.pipeline.recipe import parse_promises

    note_first_use()
    reading, schema = reading_from(options), schema_from(options)
    with TerminalProgress() as progress:
        reopened = reopen(
            original, release, schema, suppressed=suppressed, audited=True, ignore=ignore, progress=progress, **reading
        )
        found = audit_of(reopened, parse_promises(models), private, progress)
    note(*reopened.notes)
    say_verdict(json_text(found.to_plain()) if as_json else str(found))
    click.get_current_context().exit(0 if found.passed else 1)


@click.command()
@click.argument("original", type=click.Path())
@click.argument("release", type=click.Path())
@column_options
@_SUPPRESSED
@reading_options
@_JSON
def measure(original: str, release: str, suppressed: int, as_json: bool, **options: Any) -> None:
    """Measure what RELEASE (a folder, or a table of another tool) lost against ORIGINAL."""
    from lookalike.checking import reopen
    from lookalike.pipeline import run as pipeline

    reading, schema = reading_from(options), schema_from(options)
    with TerminalProgress() as progress:
        reopened = reopen(original, release, schema, suppressed=suppressed, progress=progress, **reading)
    losses, by_column = pipeline.measure(reopened.release, reopened.data)
    domains = {domain.name: "declared" if domain.declared else "observed" for domain in reopened.data.domains.quasi}
    note(*reopened.notes)
    if as_json:
        print_json(
            {
                "form": reopened.release.form,
                "rows": reopened.release.n_rows,
                "loss": losses,
                "loss_by_column": by_column,
                "domains": domains,
            }
        )
        return
    print_table(("measure", "value"), ((name, f"{value:,.6g}") for name, value in losses.items()))
    print_table(
        ("\ncolumn", "\nmean loss", "\ndomain"),
        ((name, f"{value:.6f}", domains[name]) for name, value in by_column.items()),
    )
