"""`attack`: what known attacks achieve on a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.options import JSON, column_options, reading_from, reading_options, schema_from
from lookalike.apps.cli.output import TerminalProgress, note, note_first_use, print_json, print_table
from lookalike.data.parameters import split
from lookalike.errors import RecipeError

if TYPE_CHECKING:
    from lookalike.data.contracts import Attack, Residual


@click.command()
@click.argument("release", type=click.Path())
@click.option("--original", type=click.Path(), metavar="DATA", help="The table that the release was made from.")
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="ATTACK",
    help="Make this one (repeatable, or several separated by commas); without it, all that apply.",
)
@click.option(
    "--control",
    type=click.Path(),
    metavar="FILE",
    help="People of the same kind who are not in RELEASE: the same guesses are made about them. People who were held "
    "out by publish --control are found in the PRIVATE folder without it.",
)
@click.option(
    "--split",
    metavar="COLUMNS",
    help='Columns of the two files that linkability joins, as in "age,sex / zip,job".',
)
@click.option(
    "--protocol",
    type=click.Path(),
    metavar="FILE",
    help="Write what was tried, with its seed, to this file; if it is there, make its attacks again and compare.",
)
@click.option(
    "--synthetic",
    is_flag=True,
    help="The rows of RELEASE are made up (lookalike synthesize, or another tool), so nobody has a row in it.",
)
@click.option(
    "--other", "others", multiple=True, type=click.Path(), metavar="RELEASE", help="Another release of the same table."
)
@click.option(
    "--private",
    type=click.Path(),
    metavar="DIR",
    help="The PRIVATE folder, for attacks that assume a leak, and to count persons.",
)
@click.option("--seed", type=int, help="Repeat a run.")
@column_options
@reading_options
@JSON
def attack(
    release: str,
    original: str | None,
    attacks: tuple[str, ...],
    control: str | None,
    split: str | None,
    protocol: str | None,
    synthetic: bool,
    others: tuple[str, ...],
    private: str | None,
    seed: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what known attacks achieve on RELEASE (a folder, or a table of another tool).

    The original tells which quasi-identifiers an attacker may know, and which guesses are right. Nothing that is
    printed names a record or its values.
    """
    from lookalike.checking import attack as make

    if original is None:
        raise RecipeError(
            "An attack needs the table that the release was made from, to score guesses: --original DATA."
        )
    note_first_use()
    schema = schema_from(options)
    named = _with_split([one for given in attacks for one in split_attacks(given)], split)
    with TerminalProgress() as progress:
        found = make(
            original,
            release,
            attacks=named,
            control=control,
            protocol=protocol,
            synthetic=synthetic,
            others=others,
            private=private,
            schema=schema if schema.attributes else None,
            seed=seed,
            progress=progress,
            **reading_from(options),
        )
    if as_json:
        print_json(found.to_plain())
        return
    print_table(
        ("attack", "column", "right", "baseline", "control", "residual", "affected", "for signing"),
        (
            (
                attacked.finding.attack,
                attacked.finding.column or "(identity)",
                _share(attacked.finding.score.share) if attacked.finding.score else "",
                _share(max(attacked.finding.baselines.values())) if attacked.finding.baselines else "",
                *_control_cells(attacked.finding.residual),
                "" if attacked.finding.n_affected is None else f"{attacked.finding.n_affected:,}",
                attacked.consequence.word.upper() if attacked.consequence.is_failure else attacked.consequence.word,
            )
            for attacked in found.made
        ),
    )
    click.echo()
    for attacked in found.made:
        click.echo(f"{attacked.finding.attack}: {attacked.finding.sentence}")
        click.echo(f"  {attacked.consequence}")
    note(*found.notes)
    note(*found.list_not_made())


def split_attacks(text: str) -> list[str]:
    """Attacks separated by commas; a comma between parameters parts nothing.

    >>> split_attacks("linkage,corruption:known=5,repeats=2")
    ['linkage', 'corruption:known=5,repeats=2']
    """
    from lookalike.attacks import ATTACKS

    found: list[str] = []
    for part in split(text, ","):
        begins = part.strip().partition(":")[0] in ATTACKS or "=" not in part
        if begins or not found:
            found.append(part.strip())
        else:
            found[-1] += f",{part}"
    return found


def _with_split(attacks: list[str], split: str | None) -> list[str | Attack]:
    """The attacks asked for, linkability with the columns of its two files."""
    if split is None:
        return [*attacks]
    files = [[name.strip() for name in part.split(",") if name.strip()] for part in split.split("/")]
    if not 1 <= len(files) <= 2 or not all(files):
        raise RecipeError(f'"{split}" does not name the columns of two files. Write --split "age,sex / zip,job".')
    from lookalike.attacks.linkability import Linkability

    asked = Linkability(first=files[0], second=files[1] if len(files) == 2 else None)
    others = [one for one in attacks if one != Linkability.name]
    if any(one.startswith(f"{Linkability.name}:") for one in others):
        raise RecipeError("Give the columns of linkability by --split or as its parameters, not both.")
    return [*others, asked]


def _control_cells(found: Residual | None) -> tuple[str, str]:
    """What is right about the control group, and the residual with its interval."""
    if found is None or found.control_share is None:
        return "", ""
    if not found.is_large_enough:
        return "too few", ""
    if found.residual is None or found.low is None or found.high is None:
        return _share(found.control_share), "undefined"
    return _share(found.control_share), f"{_share(found.residual)} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"
