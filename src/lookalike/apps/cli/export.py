"""`export`: a release that is already there, into a database."""

from __future__ import annotations

from pathlib import Path

import click

from lookalike.apps.cli.output import TerminalProgress
from lookalike.errors import RecipeError


@click.command()
@click.argument("release", type=click.Path())
@click.option("--to", required=True, metavar="URL", help="Where to, as in sqlite:///file.db?table=name.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier release there; no other table is ever replaced.")
def export(release: str, to: str, overwrite: bool) -> None:
    """Write the tables of RELEASE (a folder) into a database, all or nothing.

    \b
    lookalike export release --to 'duckdb:///shared.duckdb?table=stays'
    lookalike export release --to 'env:DATABASE_URL?table=public.stays'
    """
    from lookalike.files.databases.write import write_database
    from lookalike.files.releases.read import release_folder

    folder = release_folder(Path(release))
    if folder is None:
        raise RecipeError(f"{release} is not a release folder of lookalike. Give the folder that publish made.")
    with TerminalProgress() as progress:
        names = write_database(to, folder, overwrite=overwrite, progress=progress)
    click.echo(f"Database: {', '.join(names)}")
