"""`attack`: what known attacks achieve on a release."""

from __future__ import annotations

from typing import Any

import click

from lookalike.apps.cli.options import JSON, column_options, reading_from, reading_options, schema_from
from lookalike.apps.cli.output import TerminalProgress, note, note_first_use, print_json, print_table
from lookalike.data.parameters import split
from lookalike.errors import RecipeError


@click.command()
@click.argument("release", type=click.Path())
@click.option("--original", type=click.Path(), metavar="DATA", help="The table that the release was made from.")
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="ATTACK",
    help="Make this one (repeatable, or several parted by commas); without it, all that apply.",
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
    named = [one for given in attacks for one in split_attacks(given)]
    with TerminalProgress() as progress:
        found = make(
            original,
            release,
            attacks=named,
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
        ("attack", "column", "right", "honest", "affected", "promises"),
        (
            (
                attacked.finding.attack,
                attacked.finding.column or "(identity)",
                _share(attacked.finding.score.share) if attacked.finding.score else "",
                _share(max(attacked.finding.baselines.values())) if attacked.finding.baselines else "",
                "" if attacked.finding.n_affected is None else f"{attacked.finding.n_affected:,}",
                "" if not attacked.kept else "kept" if all(kept for _, kept in attacked.kept.values()) else "BROKEN",
            )
            for attacked in found.made
        ),
    )
    click.echo()
    for attacked in found.made:
        click.echo(f"{attacked.finding.attack}: {attacked.finding.sentence}")
    note(*(f"{name} was not made: {reason}" for name, reason in found.not_made.items()))


def split_attacks(text: str) -> list[str]:
    """Attacks parted by commas; a comma between parameters parts nothing.

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


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"
