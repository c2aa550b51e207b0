"""`measure`: what a release lost."""

from __future__ import annotations

from typing import Any

import click

from lookalike.apps.cli.options import (
    JSON,
    SUPPRESSED,
    column_options,
    reading_from,
    reading_options,
    schema_from,
)
from lookalike.apps.cli.output import (
    TerminalProgress,
    note,
    print_json,
    print_table,
)


@click.command()
@click.argument("original", type=click.Path())
@click.argument("release", type=click.Path())
@column_options
@SUPPRESSED
@reading_options
@JSON
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
