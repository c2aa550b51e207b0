"""`synthesize`: from a table to synthetic records under differential privacy."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from lookalike.apps.cli.options import (
    CONTRIBUTION,
    JSON,
    KEEP_IDENTIFIERS,
    ROWS_ARE_PERSONS,
    SAFE_CSV,
    column_options,
    reading_options,
    table_from,
)
from lookalike.apps.cli.output import STDOUT, TerminalProgress, note, peak_megabytes, print_json, send_to_stdout


@click.command()
@click.argument("data", type=click.Path())
@column_options
@KEEP_IDENTIFIERS
@click.option(
    "--algorithm", metavar="NAME[:SETTINGS]", help="privbayes (the default) or mst; as in mst:delta=1e-10,bins=32."
)
@click.option(
    "--epsilon",
    metavar="E",
    help="How much one record (with --contribution: one person) may change: by a factor of e^E at most.",
)
@click.option("--beta", metavar="B", help="Instead of --epsilon: ln(1 + B), as beta-likeness is compared.")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="A .csv or .parquet file to make; - is CSV on standard output.",
)
@click.option("--rows", type=click.IntRange(1), metavar="N", help="How many records; as many as DATA has if not given.")
@click.option("--degree", metavar="K", help="privbayes: the most columns that a column is drawn from; default 10.")
@click.option(
    "--theta", metavar="T", help="privbayes: least average count of a table, in units of its noise; default 4."
)
@click.option(
    "--structure", metavar="SHARE", help="privbayes: the part of epsilon that finds the structure; default 0.3."
)
@click.option("--bins", metavar="N", help="The most parts that a range of numbers or dates is cut into; default 128.")
@click.option(
    "--domains",
    type=click.Choice(["observed", "declared"]),
    help="Whether values that the schema does not declare are read from DATA (the default), or refused.",
)
@CONTRIBUTION
@ROWS_ARE_PERSONS
@click.option("--seed", type=int, help="Only to repeat a run: anyone who knows it can take the noise off.")
@SAFE_CSV
@reading_options
@JSON
def synthesize(data: str, out: str, rows: int | None, seed: int | None, as_json: bool, **options: Any) -> None:
    """Draw synthetic records that resemble DATA, under differential privacy.

    \b
    lookalike synthesize patients.csv --schema schema.yaml --epsilon 1 --out synthetic.csv
    lookalike synthesize patients.csv --qi age,sex --sensitive diagnosis --beta 3 --out synthetic.csv
    lookalike synthesize patients.csv --schema schema.yaml --epsilon 1 --algorithm mst --out synthetic.csv

    This is another promise than the models make: about what any one record can change, not about what is believed of a
    person. Roles make no difference: every column named is drawn anew.
    """
    from lookalike.algorithms import parse_synthesizer
    from lookalike.algorithms.shared.mechanisms import epsilon_of_beta
    from lookalike.files.releases.plain import check_plain_target
    from lookalike.files.urls import local_path
    from lookalike.pipeline.run import Stopwatch
    from lookalike.publication import synthesize as synthesize_table

    algorithm, epsilon, beta = options.pop("algorithm"), options.pop("epsilon"), options.pop("beta")
    if (epsilon is not None) + (beta is not None) + (":" in (algorithm or "")) == 0 or None not in (epsilon, beta):
        raise click.UsageError("Give --epsilon or --beta, one of the two: how much may one record change?")
    asked, safe_csv = table_from(options), options.pop("safe_csv")
    about_persons = {name: options.pop(name) for name in ("contribution", "rows_are_persons")}
    settings = {name: value for name, value in options.items() if value is not None}
    if epsilon is not None or beta is not None:
        settings["epsilon"] = epsilon if beta is None else epsilon_of_beta(beta)
    method = parse_synthesizer(algorithm, settings)
    if out == STDOUT and as_json:
        raise click.UsageError("--json and --out - both write to standard output. Leave out one of them.")
    if out != STDOUT:
        check_plain_target(local_path(out))
    watch = Stopwatch()
    with TerminalProgress() as progress:
        with watch.step("synthesize"):
            made = synthesize_table(
                data, method=method, rows=rows, seed=seed, progress=progress, **asked, **about_persons
            )
        if out == STDOUT:
            with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
                made.write(Path(here) / "records.csv", safe_csv=safe_csv)
                note(*made.notes, *str(made).splitlines())
                send_to_stdout(Path(here) / "records.csv")
            return
        with watch.step("write"):
            made.write(out, safe_csv=safe_csv)
    note(*made.notes)
    if as_json:
        seconds = {step: round(spent, 3) for step, spent in watch.seconds.items()}
        print_json({**made.to_plain(), "seconds": seconds, "peak_mb": peak_megabytes(), "out": out})
        return
    click.echo(str(made))
    click.echo(f"\nRecords:  {Path(out)}")
