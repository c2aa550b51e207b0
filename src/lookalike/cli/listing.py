"""`models` and `algorithms`: what there is, with parameters."""

from __future__ import annotations

import click

from lookalike.cli.output import print_json, print_table

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


@click.command()
@_JSON
def models(as_json: bool) -> None:
    """List the promises that can be made, with their parameters."""
    from lookalike.models import describe_models

    rows = describe_models()
    if as_json:
        print_json({"models": rows})
        return
    for row in rows:
        click.echo(f"{click.style(row['name'], bold=True)}  {row['meaning']}")
        print_table(
            ("  parameter", "default", "meaning"),
            ((f"  {one['name']}", one["default"], one["meaning"]) for one in row["parameters"]),
        )
        click.echo()


@click.command()
@_JSON
def algorithms(as_json: bool) -> None:
    """List the methods, with their parameters."""
    from lookalike.algorithms import describe_algorithms

    rows = describe_algorithms()
    if as_json:
        print_json({"algorithms": rows})
        return
    for row in rows:
        click.echo(f"{click.style(row['name'], bold=True)}  {row['meaning']} ({row['form']}, {row['adversary']})")
        print_table(
            ("  parameter", "default", "meaning"),
            ((f"  {one['name']}", one["default"], one["meaning"]) for one in row["parameters"]),
        )
        click.echo()
