"""`reproduce`: the papers' experiments."""

from __future__ import annotations

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import TerminalProgress, note_first_use, print_json, print_table
from lookalike.errors import RecipeError


@click.command()
@click.argument("experiments", nargs=-1)
@click.option("--list", "as_list", is_flag=True, help="List all experiments and end.")
@click.option("--data", type=click.Path(), metavar="DIR", help="A folder with census*.csv; without it, stand-ins.")
@click.option("--full", is_flag=True, help="Records, repetitions and queries as in the papers, where data allow.")
@click.option(
    "--out", type=click.Path(), metavar="DIR", help="Write results, verdicts and figures here (CSV, JSON, SVG)."
)
@JSON
def reproduce(
    experiments: tuple[str, ...], as_list: bool, data: str | None, full: bool, out: str | None, as_json: bool
) -> None:
    """Run EXPERIMENTS of the papers (hg-6a, or hg for all of a paper's, or all) and say what they show.

    \b
    lookalike reproduce hg-6a --out figures
    lookalike reproduce bl gb --data census --full --out figures

    Every release is audited before anything is measured of it. A claim of a paper that does not show is said so.
    """
    from lookalike.apps.papers import EXPERIMENTS
    from lookalike.apps.papers import reproduce as run

    if as_list:
        print_table(
            ("experiment", "paper", "what"), ((", ".join(one.names), one.paper, one.title) for one in EXPERIMENTS)
        )
        return
    if not experiments:
        raise RecipeError("Name an experiment, such as hg-6a; --list names them all.")
    note_first_use()
    with TerminalProgress() as progress:
        done = run(experiments, data=data, full=full, out=out, progress=progress)
    if as_json:
        print_json([{**one.to_plain(), "shows": dict(one.verdicts), "rows": one.results.rows} for one in done])
        return
    for one in done:
        click.echo(str(one))
    if out is not None:
        click.echo(f"Results and figures: {out}")
