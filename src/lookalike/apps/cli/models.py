"""`models`: what there is, with parameters."""

from __future__ import annotations

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import print_components


@click.command()
@JSON
def models(as_json: bool) -> None:
    """List the promises that can be made, with their parameters."""
    from lookalike.models import describe_models

    print_components("models", describe_models(), as_json)
