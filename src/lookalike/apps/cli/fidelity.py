"""`fidelity`: what a release kept of its original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.options import JSON, SUPPRESSED, column_options, reading_options, table_from
from lookalike.apps.cli.output import TerminalProgress, note, print_json, print_table

if TYPE_CHECKING:
    from lookalike.evaluation.before_after import BeforeAfter


@click.command()
@click.argument("release", type=click.Path())
@click.option("--original", required=True, type=click.Path(), metavar="DATA", help="The table it was made from.")
@column_options
@SUPPRESSED
@click.option("--seed", type=int, default=0, show_default=True, help="What is drawn for the last lines.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a heat map of the pairs of columns to this SVG file.",
)
@reading_options
@JSON
def fidelity(
    release: str, original: str, suppressed: int, seed: int, picture: Path | None, as_json: bool, **options: Any
) -> None:
    """Compare RELEASE (a folder, or a table of another tool) with its original as a table to work with.

    Counts, pairs of columns, correlations, whether a machine can tell the two apart, and how often predictions are
    right that were learned from each. Then each column before and after, and for each column and each pair of columns
    whether to trust it: ok, blurred or gone. The figures are about the original: publish them only after a second
    thought.
    """
    from lookalike.checking import fidelity as compared

    asked = table_from(options)
    with TerminalProgress() as progress:
        found = compared(original, release, suppressed=suppressed, seed=seed, progress=progress, **asked)
    note(*found.notes)
    if picture is not None:
        _write_picture(picture, found.before_after)
    if as_json:
        print_json(found.to_plain())
        return
    print_table(
        ("", "original", "release", "lost"),
        ((line.what, f"{line.original:.3f}", f"{line.release:.3f}", f"{line.lost:.3f}") for line in found.lines),
    )
    if found.before_after is not None:
        _print_before_after(found.before_after)


def _print_before_after(found: BeforeAfter) -> None:
    click.echo()
    print_table(
        ("column", "trust", "value", "original", "release"),
        (
            (
                *((column.column, column.word) if at == 0 else ("", "")),
                line.value,
                *_in_percent(line.original, line.release),
            )
            for column in found.columns
            for at, line in enumerate(column.lines)
        ),
    )
    if found.pairs:
        click.echo()
        print_table(
            ("pair of columns", "trust", "records misplaced", "without association"),
            (
                (f"{pair.one}, {pair.other}", pair.word, *_in_percent(pair.distance, pair.without))
                for pair in found.pairs
            ),
        )


def _in_percent(*shares: float) -> tuple[str, ...]:
    return tuple(f"{share:.1%}".replace("%", " %") for share in shares)


def _write_picture(path: Path, found: BeforeAfter | None) -> None:
    from lookalike.evaluation.before_after import draw_trust
    from lookalike.evaluation.charts import write_svg

    if found is None or not found.pairs:
        note("There are no pairs of columns to draw.")
        return
    write_svg(draw_trust(found), path)
