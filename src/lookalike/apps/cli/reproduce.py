"""`reproduce`: the papers' experiments."""

from __future__ import annotations

import signal
from collections import Counter

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import TerminalProgress, note_first_use, print_json, print_table
from lookalike.errors import RecipeError


@click.command()
@click.argument("experiments", nargs=-1)
@click.option("--list", "as_list", is_flag=True, help="List all experiments and end.")
@click.option(
    "--data", type=click.Path(), metavar="DIR", help="Folder with the papers' tables; default: invented data."
)
@click.option("--full", is_flag=True, help="Records, repetitions and queries as in the papers.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another number measures with other random draws.")
@click.option(
    "--out", type=click.Path(), metavar="DIR", help="Folder for results, verdicts and figures (CSV, JSON, SVG)."
)
@JSON
def reproduce(
    experiments: tuple[str, ...], as_list: bool, data: str | None, full: bool, seed: int, out: str | None, as_json: bool
) -> None:
    """Run EXPERIMENTS of the papers (hg-6a, or hg for all of a paper's, or all) and judge the papers' claims.

    \b
    lookalike reproduce hg-6a --out figures
    lookalike reproduce bl gb --data census --full --out figures

    Every release is audited before anything is measured. Each claim gets one of five verdicts, with the evidence. With
    --out, every point is kept as soon as it is measured: the same command goes on after a stop.
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
    # What was measured is on disk, so there is nothing to clean up: a kernel that takes minutes must not delay the end.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with TerminalProgress() as progress:
        done = run(experiments, data=data, full=full, seed=seed, out=out, progress=progress)
    if as_json:
        print_json([{**one.to_plain(), "rows": one.results.rows} for one in done])
        return
    for one in done:
        click.echo(str(one))
    counts = Counter(str(judged.verdict) for one in done for judged in one.judged)
    click.echo("; ".join(f"{number} {verdict}" for verdict, number in counts.most_common()))
    if out is not None:
        click.echo(f"Results and figures: {out}")
