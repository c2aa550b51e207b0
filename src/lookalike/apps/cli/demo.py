"""`demo`: the bundled sample, end to end."""

from __future__ import annotations

from typing import Any

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.publish import report_options, run_publish


@click.command()
@click.option("--out", default="demo", show_default=True, type=click.Path(), metavar="DIR", help="Output folder.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier release in that folder.")
@report_options
@JSON
def demo(out: str, as_json: bool, **options: Any) -> None:
    """Publish the bundled hospital sample as the quickstart does: release, audit, report."""
    from lookalike.apps import samples
    from lookalike.data.schema import Schema

    run_publish(
        str(samples.sample_table()),
        out,
        as_json,
        schema=Schema.of(qi=("age", "sex", "zip code"), sensitive="diagnosis"),
        model=("k-anonymity:5", "beta-likeness:3"),
        title="Hospital stays (sample)",
        purpose="Demonstration: the patients are invented",
        **options,
    )
