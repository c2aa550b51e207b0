"""`query`: counts from a release alone."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import note, print_json, print_table
from lookalike.errors import counted

if TYPE_CHECKING:
    from lookalike.analysis.counts import Estimate


@click.command()
@click.argument("release", type=click.Path())
@click.argument("sql")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="How often intervals should hold the true count.",
)
@JSON
def query(release: str, sql: str, level: float, as_json: bool) -> None:
    """Estimate a count from RELEASE alone, with its error.

    \b
    lookalike query release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 40 AND diagnosis IN ('asthma', 'HIV')"
    lookalike query release 'SELECT COUNT(*), sex WHERE "zip code" IS NOT NULL GROUP BY sex'

    Conditions are joined by AND; OR joins conditions on the same column. Missing values match IS NULL only.
    """
    from lookalike.analysis.counts import Estimate
    from lookalike.analysis.release import open_release

    loaded = open_release(release)
    found = loaded.query(sql, level=level)
    note(*loaded.notes)
    if isinstance(found, Estimate):
        _tell(found, level, as_json)
        return
    if as_json:
        lines = [{name: _to_json(value) for name, value in line.items()} for line in found.iter_rows(named=True)]
        print_json({"level": level, "method": loaded.methods[0], "lines": lines})
        return
    print_table(found.columns, ([_cell(value) for value in line] for line in found.iter_rows()))


def _tell(found: Estimate, level: float, as_json: bool) -> None:
    low, high = found.interval(level)
    if as_json:
        told = {"value": found.value, "error": found.error, "low": low, "high": high, "level": level}
        print_json({**told, "rows": found.n_rows, "method": found.method})
        return
    if found.n_rows == 0:
        note(
            "No row meets the conditions on columns that are published exactly. Values are compared letter by letter; "
            "SELECT diagnosis, COUNT(*) GROUP BY diagnosis lists those of a column."
        )
    over = f"{found.method} over {counted(found.n_rows, 'row')}"
    if found.error == 0:
        click.echo(f"{_number(found.value)}, without error ({over}).")
    else:
        click.echo(
            f"About {_number(found.value)}, with {level * 100:g} % confidence from {_number(low)} to {_number(high)} "
            f"({over})."
        )


def _number(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")


def _cell(value: Any) -> str:
    if value is None:
        return "(missing)"
    if isinstance(value, float):
        return _number(value)
    return str(_to_json(value)).lower() if isinstance(value, bool) else str(_to_json(value))


def _to_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value
