"""`sample`: plain tables from a release alone."""

from __future__ import annotations

import tempfile

import click

from lookalike.apps.cli.options import SAFE_CSV
from lookalike.apps.cli.output import STDOUT, TerminalProgress, note, send_to_stdout
from lookalike.errors import counted


@click.command()
@click.argument("release", type=click.Path())
@click.option("--worlds", type=click.IntRange(min=1), default=5, show_default=True, help="How many tables to draw.")
@click.option("--seed", type=int, help="Repeat a draw. It gives nothing away: the release is all that is used.")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    help="A .csv or .parquet file, or - for CSV on standard output. With {world} in its name one file each; else one, "
    "with a first column world.",
)
@SAFE_CSV
def sample(release: str, worlds: int, seed: int | None, out: str, safe_csv: bool) -> None:
    """Draw plain tables from RELEASE alone, for tools that want a value in every cell.

    \b
    lookalike sample release --worlds 5 --out worlds.csv
    lookalike sample release --worlds 20 --out 'world-{world}.parquet'

    No row of them is about a person. Do the same with every table, then pool the results: how far they differ tells
    how much the release leaves open.
    """
    from lookalike.analysis.plain import Plain, write_worlds

    with TerminalProgress() as progress:
        progress("reading", 0.0)
        plain = Plain.of(release)
        if out == STDOUT:
            with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
                (path,) = write_worlds(plain, f"{here}/worlds.csv", worlds, seed, progress, safe_csv=safe_csv)
                note(*plain.notes)
                send_to_stdout(path)
            return
        paths = write_worlds(plain, out, worlds, seed, progress, safe_csv=safe_csv)
    note(*plain.notes)
    where = str(paths[0]) if len(paths) == 1 else f"{paths[0]} to {paths[-1]}"
    click.echo(f"{counted(worlds, 'table')} of {counted(plain.n_people, 'row')} in {where}.")
