"""`measure`: what a release lost."""

from __future__ import annotations

from typing import Any

import click

from lookalike.apps.cli.options import JSON, SUPPRESSED, column_options, reading_options, table_from
from lookalike.apps.cli.output import TerminalProgress, note, print_json, print_table


@click.command()
@click.argument("original", type=click.Path())
@click.argument("release", type=click.Path())
@column_options
@click.option(
    "--private",
    type=click.Path(),
    metavar="DIR",
    help="The PRIVATE folder; with it sizes of groups are counted by persons.",
)
@SUPPRESSED
@reading_options
@JSON
def measure(original: str, release: str, private: str | None, suppressed: int, as_json: bool, **options: Any) -> None:
    """Measure what RELEASE (a folder, or a table of another tool) lost against ORIGINAL."""
    from lookalike.checking import measure as measure_release

    asked = table_from(options)
    with TerminalProgress() as progress:
        found = measure_release(original, release, private=private, suppressed=suppressed, progress=progress, **asked)
    note(*found.notes)
    if as_json:
        print_json(found.to_plain())
        return
    print_table(("measure", "value"), ((name, f"{value:,.6g}") for name, value in found.items()))
    print_table(
        ("\ncolumn", "\nmean loss", "\ndomain"),
        ((name, f"{value:.6f}", found.domains[name]) for name, value in found.loss_by_column.items()),
    )
