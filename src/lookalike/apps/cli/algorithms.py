"""`algorithms`: what there is, with parameters."""

from __future__ import annotations

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import print_components


@click.command()
@JSON
def algorithms(as_json: bool) -> None:
    """List the methods, with their parameters."""
    from lookalike.algorithms import describe_algorithms

    print_components("algorithms", describe_algorithms(), as_json)
