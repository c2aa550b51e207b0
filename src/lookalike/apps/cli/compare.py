"""`compare`: several promises and algorithms on one table, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.attack import split_attacks
from lookalike.apps.cli.exits import BROKEN, FAULT, INFEASIBLE, USAGE
from lookalike.apps.cli.options import (
    JSON,
    adversary_option,
    cell_options,
    column_options,
    model_option,
    person_options,
    reading_options,
    table_from,
)
from lookalike.apps.cli.output import TerminalProgress, note, note_first_use, print_json, print_table

if TYPE_CHECKING:
    from lookalike.evaluation.compare import Comparison


class _Axis(click.ParamType):  # type: ignore[type-arg]
    """A figure that runs are compared by. The list is read when asked for: metrics and models can be added."""

    name = "axis"

    def __init__(self, family: str) -> None:
        self._family = family

    def _choice(self) -> Any:
        from lookalike.evaluation.compare import frontier

        return click.Choice(list(getattr(frontier, self._family)()))

    def get_metavar(self, *asked: Any, **context: Any) -> Any:
        return self._choice().get_metavar(*asked, **context)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._choice().convert(value, param, ctx)


@click.command()
@click.argument("data", type=click.Path())
@column_options
@cell_options
@model_option(
    "A promise to compare (repeatable); l-diversity:2,5,10 or beta-likeness:1..5 are several, "
    "'k-anonymity:5 + l-diversity:3' are two that must hold together.",
    required=True,
)
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    metavar="NAME",
    help="Compare this one (repeatable, or several separated by commas; all: every one); without it, the few that suit "
    "each promise.",
)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="ATTACK",
    help="Make this attack on every release (repeatable, or several separated by commas; none: no attack); without it, "
    "naive-bayes.",
)
@adversary_option("Whom every promise must hold against.")
@person_options
@click.option("--x", type=_Axis("loss_axes"), help="The loss of the picture; without it, the first that a run has.")
@click.option("--y", type=_Axis("risk_axes"), help="The risk of the picture; without it, the first that a run has.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Runs at once; without it, one for each core.")
@click.option(
    "--out", type=click.Path(), metavar="DIR", help="Keep every run here; those that are here are not made again."
)
@click.option("--seed", type=int, help="Only to repeat a comparison.")
@reading_options
@JSON
def compare(
    data: str,
    models: tuple[str, ...],
    algorithms: tuple[str, ...],
    attacks: tuple[str, ...],
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare promises and algorithms on the table DATA: what each loses, and what it leaves to attackers.

    \b
    lookalike compare patients.csv --qi age,sex,zip --sensitive diagnosis \\
              --model l-diversity:2,5,10 --model beta-likeness:1..5 --out comparison

    Every release is made in memory, audited and attacked; none is written. A star marks the frontier: runs that no
    other beats in both loss and risk.
    """
    from lookalike.algorithms import ALGORITHMS
    from lookalike.evaluation.compare import compare as make
    from lookalike.evaluation.compare.runs import ALL
    from lookalike.evaluation.compare.sweeps import split_components

    asked = table_from(options)
    note_first_use()
    named = [one for given in algorithms for one in split_components(given, (*ALGORITHMS, ALL))]
    if attacks:
        options["attacks"] = [one for given in attacks for one in split_attacks(given) if one != "none"]
    try:
        with TerminalProgress() as progress:
            found = make(
                data,
                models=models,
                algorithms=named,
                folder=out,
                progress=progress,
                **options,
                **asked,
            )
    except KeyboardInterrupt:
        kept = f"kept in {out}; the same command goes on from there" if out else "lost; name a folder (--out) to go on"
        note(f"Stopped. Runs that were finished are {kept}.")
        raise
    note(*found.notes)
    if as_json:
        print_json({**found.to_plain(), "out": out})
    else:
        print_table(found.headings(), found.rows())
        click.echo()
        for sentence in found.remarks():
            click.echo(sentence)
        if out:
            click.echo(f"\nComparison:  {out}")
    click.get_current_context().exit(_code(found))


def _code(found: Comparison) -> int:
    """0 if there is something to choose from and nothing went wrong."""
    status = [run.status for run in found.runs]
    if "audit failed" in status:
        return BROKEN
    if "fault" in status:
        return FAULT
    if "done" in status:
        return 0
    return INFEASIBLE if "infeasible" in status else USAGE
