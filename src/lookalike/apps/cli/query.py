"""`query`: counts, totals, means and quantiles from a release alone."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import note, print_json, print_table
from lookalike.errors import counted

if TYPE_CHECKING:
    from lookalike.analysis.counts import Estimate
    from lookalike.analysis.measuring import Statistic


@click.command()
@click.argument("release", type=click.Path())
@click.argument("sql")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="How often intervals should hold the true figure.",
)
@click.option(
    "--weight",
    metavar="COLUMN",
    help="Count each record as often as this published column says (sample weights).",
)
@JSON
def query(release: str, sql: str, level: float, weight: str | None, as_json: bool) -> None:
    """Estimate counts, totals, means and quantiles from RELEASE alone, with their errors.

    \b
    lookalike query release "SELECT COUNT(*) WHERE age BETWEEN 30 AND 40 AND diagnosis IN ('asthma', 'gout')"
    lookalike query release 'SELECT COUNT(*), sex WHERE "zip code" IS NOT NULL GROUP BY sex'
    lookalike query release "SELECT sex, AVG(age), QUANTILE(age, 0.9) WHERE diagnosis LIKE 'heart%' GROUP BY sex"

    Figures are COUNT(*), COUNT(column), SUM(column), AVG(column), MEDIAN(column) and QUANTILE(column, 0.9); missing
    values are left out. Conditions are joined by AND; OR joins conditions on the same column. Missing values match
    IS NULL only. A value that no record of the release can have is an error.
    """
    from lookalike.analysis.counts import Estimate
    from lookalike.analysis.measuring import Statistic
    from lookalike.analysis.release import open_release

    loaded = open_release(release)
    found = loaded.query(sql, level=level, weight=weight)
    note(*loaded.notes)
    if isinstance(found, Statistic):
        _tell_statistic(found, as_json)
        return
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


def _tell_statistic(found: Statistic, as_json: bool) -> None:
    from lookalike.analysis.measuring import write_number

    if as_json:
        ends = {name: _to_json(getattr(found, name)) for name in ("value", "low", "high", "least", "most")}
        error = None if math.isnan(found.error) else found.error
        print_json({"name": found.name, **ends, "error": error, "level": found.level, "method": found.method})
        return
    value, low, high = (write_number(one) for one in (found.value, found.low, found.high))
    if found.value is None:
        click.echo(f"No value: no record with one satisfies the conditions ({found.method}).")
    elif found.error == 0:
        click.echo(f"{value}, without error ({found.method}).")
    else:
        click.echo(f"About {value}, with {found.level * 100:g} % confidence from {low} to {high} ({found.method}).")


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
