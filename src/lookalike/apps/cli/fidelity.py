"""`fidelity`: what a release kept of its original."""

from __future__ import annotations

from typing import Any

import click

from lookalike.apps.cli.options import JSON, SUPPRESSED, column_options, reading_options, table_from
from lookalike.apps.cli.output import TerminalProgress, note, print_json, print_table


@click.command()
@click.argument("release", type=click.Path())
@click.option("--original", required=True, type=click.Path(), metavar="DATA", help="The table it was made from.")
@column_options
@SUPPRESSED
@click.option("--seed", type=int, default=0, show_default=True, help="What is drawn for the last lines.")
@reading_options
@JSON
def fidelity(release: str, original: str, suppressed: int, seed: int, as_json: bool, **options: Any) -> None:
    """Compare RELEASE (a folder, or a table of another tool) with its original as a table to work with.

    Counts, pairs of columns, correlations, whether a machine can tell the two apart, and how often predictions are
    right that were learnt from each. The figures are about the original: publish them only after a second thought.
    """
    from lookalike.checking import fidelity as compared

    asked = table_from(options)
    with TerminalProgress() as progress:
        found = compared(original, release, suppressed=suppressed, seed=seed, progress=progress, **asked)
    note(*found.notes)
    if as_json:
        print_json(found.to_plain())
        return
    print_table(
        ("", "original", "release", "lost"),
        ((line.what, f"{line.original:.3f}", f"{line.release:.3f}", f"{line.lost:.3f}") for line in found.lines),
    )
