"""`attacks`: what there is, with parameters."""

from __future__ import annotations

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import print_components


@click.command()
@JSON
def attacks(as_json: bool) -> None:
    """List the attacks that can be made on a release, with their parameters."""
    from lookalike.attacks import describe_attacks

    print_components("attacks", describe_attacks(), as_json)
