"""`demo`: the bundled sample, end to end."""

from __future__ import annotations

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.publish import report_options, run_publish


@click.command()
@click.option("--out", default="demo", show_default=True, type=click.Path(), metavar="DIR", help="Where to.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier release in that folder.")
@report_options
@JSON
def demo(out: str, overwrite: bool, as_json: bool, report: str, publish_scores: bool, pdf: bool | None) -> None:
    """Publish the bundled hospital sample, end to end: release, audit, report."""
    from lookalike.apps import samples
    from lookalike.data.schema import Schema

    schema = Schema.load(samples.sample_schema())
    run_publish(
        str(samples.sample_table()),
        out,
        as_json,
        schema=schema,
        model=("k-anonymity:5", "l-diversity:4"),
        overwrite=overwrite,
        title="Hospital stays (sample)",
        report=report,
        publish_scores=publish_scores,
        pdf=pdf,
    )
