"""`models`, `algorithms` and `attacks`: what there is, with parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from lookalike.apps.cli.output import print_json, print_table

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


@click.command()
@_JSON
def models(as_json: bool) -> None:
    """List the promises that can be made, with their parameters."""
    from lookalike.models import describe_models

    _list("models", describe_models(), as_json)


@click.command()
@_JSON
def algorithms(as_json: bool) -> None:
    """List the methods, with their parameters."""
    from lookalike.algorithms import describe_algorithms

    _list("algorithms", describe_algorithms(), as_json)


@click.command()
@_JSON
def attacks(as_json: bool) -> None:
    """List the attacks that can be made on a release, with their parameters."""
    from lookalike.attacks import describe_attacks

    _list("attacks", describe_attacks(), as_json)


def _list(what: str, rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({what: rows})
        return
    for row in rows:
        click.echo(f"{click.style(row['name'], bold=True)}  {row['meaning']}")
        print_table(
            None,
            (
                (
                    f"  {parameter['name']}",
                    "required" if parameter["required"] else f"default {parameter['default'] or 'none'}",
                    parameter["meaning"],
                )
                for parameter in row["parameters"]
            ),
        )
        click.echo()
