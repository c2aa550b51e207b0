"""`inspect`: what a table is like, and what to promise."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.apps.cli.options import (
    JSON,
    cell_options,
    column_options,
    model_option,
    reading_from,
    reading_options,
    schema_from,
)
from lookalike.apps.cli.output import TerminalProgress, note, note_first_use, print_json, print_table
from lookalike.errors import RecipeError, counted, quoted

if TYPE_CHECKING:
    from lookalike.data.schema import Schema
    from lookalike.evaluation.advise import Advice
    from lookalike.evaluation.inspect import ColumnProfile, Inspection

_EACH_ON_A_LINE = 40
"""Tables of more columns are shown with neighbours that are alike on one line."""
_FEWEST_ALIKE = 3
_MOST_LINES = 60
_MOST_NAMED, _MOST_ADVISED = 12, 10


@click.command()
@click.argument("data", type=click.Path())
@column_options
@cell_options
@click.option("--write-schema", type=click.Path(), metavar="FILE", help="Write the suggested schema, to be edited.")
@click.option(
    "--advise",
    is_flag=True,
    help="Also show by trial runs what promises would lose, which column costs most and what would save it.",
)
@click.option("--all", "show_all", is_flag=True, help="Show every column of a wide table on its own line.")
@model_option("Try with this promise (repeatable); without it, with the one that is recommended.")
@reading_options
@JSON
def inspect(
    data: str,
    write_schema: str | None,
    advise: bool,
    show_all: bool,
    models: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Show the columns of DATA, what they most likely are, how identifying they are today, and what to promise."""
    from lookalike.evaluation.advise.advice import advise_on
    from lookalike.evaluation.inspect import inspect as survey
    from lookalike.evaluation.inspect import suggest_schema
    from lookalike.files.tables import read_table
    from lookalike.pipeline.recipe import parse_promises

    if models and not advise:
        raise RecipeError("--model says what to try, and nothing is tried without --advise. Give both, or neither.")
    promises = parse_promises(models)
    said, about_cells = list(_column_flags(options)), list(_cell_flags(options))
    reading, schema = reading_from(options), schema_from(options)
    given = schema if schema.attributes else None
    if advise:
        note_first_use()
    with TerminalProgress() as progress:
        table = read_table(data, progress=progress, **reading)
        found = survey(table, schema=given)
        settled = given or (suggest_schema(table) if write_schema else found.schema)
        asked_about = _find_open_questions(found, settled)
        advice = advise_on(table, settled, found, promises, trials=advise and not asked_about, progress=progress)
    if write_schema:
        target = Path(write_schema)
        if target.exists():
            raise RecipeError(f"{target} exists already. Name another file, or remove it first.")
        target.write_text(settled.to_yaml() if given else _yaml_to_edit(settled), encoding="utf-8")
        note(f"Schema written to {target}. Edit it, then publish with --schema {target}.")
    said = ["--schema", write_schema] if write_schema else said
    reading_flags = [*_reading_flags(reading), *about_cells]
    # Publishing would ask again, so there is no command to publish yet.
    commands = [] if asked_about else _commands_to_publish(data, settled, advice, reading_flags, said)
    if as_json:
        note(*table.notes)
        print_json({**found.to_plain(), "advice": {**advice.to_plain(), "commands": commands}})
        return
    click.echo(f"{counted(found.n_rows, 'row')}, {counted(len(found.columns), 'column')}\n")
    _print_columns(found.columns, show_all)
    for sentence in found.notes:
        click.echo(f"\n{sentence}")
    if not found.quasi:
        return
    _print_risks(found, show_all)
    click.echo(f"\n{advice.text(leverage=False, most=None if show_all else _MOST_ADVISED)}")
    if commands:
        click.echo("\nTo publish it so:")
        for command in commands:
            click.echo(f"  {command}")
    if asked_about:
        click.echo(f"\n{_say_what_is_open(asked_about, advise)}")
    elif not advise:
        click.echo(
            "\nWhat this promise and others would lose, which column costs most, and what a change would save, found "
            "by trial runs: lookalike inspect --advise."
        )


def _find_open_questions(found: Inspection, schema: Schema) -> list[str]:
    """The columns to be published whose texts may be dates, until the user says how these are written."""
    published = {attribute.name for attribute in schema.published}
    return [column.name for column in found.columns if column.question and column.name in published]


def _say_what_is_open(names: Sequence[str], advise: bool) -> str:
    listed = ", ".join(map(quoted, names[:_MOST_ADVISED]))
    more = f" and {len(names) - _MOST_ADVISED:,} more" if len(names) > _MOST_ADVISED else ""
    untried = " No trial run was made, since nothing can be published before." if advise else ""
    return (
        f"To go on, answer what is asked above about {listed}{more}, and run this command again with the answer "
        f"(--date-format COLUMN=FORMAT): it then prints the command to publish.{untried}"
    )


def _print_columns(columns: Sequence[ColumnProfile], show_all: bool) -> None:
    brief = len(columns) > _EACH_ON_A_LINE and not show_all
    alike = list(_join_alike(columns)) if brief else [[column] for column in columns]
    shown = alike[:_MOST_LINES] if brief else alike
    headings = ("column", "type", "kind", "distinct", "missing", "role", "why")
    print_table(headings, (_describe_columns(run, brief) for run in shown))
    left_out = [column for run in alike[len(shown) :] for column in run]
    if left_out:
        roles = [str(column.role or "not published") for column in left_out]
        listed = ", ".join(f"{roles.count(role):,} {role}" for role in dict.fromkeys(roles))
        click.echo(f"\n... and {counted(len(left_out), 'more column')} ({listed}). --all shows every column.")
    elif len(shown) < len(columns):
        click.echo("\nNeighbours that are alike share a line. --all shows every column.")


def _join_alike(columns: Sequence[ColumnProfile]) -> Iterator[list[ColumnProfile]]:
    """Runs of neighbours of the same type and role, for the same reason up to names and numbers; others alone."""
    run: list[ColumnProfile] = []
    for column in columns:
        if run and _kind_of(column) != _kind_of(run[-1]):
            yield from [run] if len(run) >= _FEWEST_ALIKE else ([one] for one in run)
            run = []
        run.append(column)
    yield from [run] if len(run) >= _FEWEST_ALIKE else ([one] for one in run)


def _kind_of(column: ColumnProfile) -> tuple[Any, ...]:
    reason = re.sub(r"\"[^\"]*\"|[\d,.]+", "#", column.role_reason)
    numbered = re.match(r"\D*(?=\d)", column.name)
    return column.type, column.suggested_kind, column.role, reason.replace("values", "value"), numbered and numbered[0]


def _describe_columns(run: Sequence[ColumnProfile], brief: bool) -> tuple[str, ...]:
    """A line of the table: one column, or several that are alike."""
    first, last = run[0], run[-1]
    name = first.name if len(run) == 1 else f"{first.name} ... {last.name} ({len(run):,})"
    missing = _range_of([column.n_missing for column in run])
    return (
        name,
        str(first.type),
        str(first.suggested_kind),
        _range_of([column.n_distinct for column in run]),
        "" if missing == "0" else missing,
        str(first.role or "not published"),
        first.role_reason if not brief else first.role_reason.partition(";")[0],
    )


def _range_of(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _print_risks(found: Inspection, show_all: bool) -> None:
    n_others = found.median_group - 1
    sharing = f"{counted(n_others, 'other')} at most" if n_others else "nobody"
    named = found.quasi if show_all else found.quasi[:_MOST_NAMED]
    more = f" and {len(found.quasi) - len(named):,} more" if len(named) < len(found.quasi) else ""
    click.echo(f"\nHow identifying it is now, by {', '.join(named)}{more}:")
    click.echo(
        f"  {counted(found.n_unique, 'record')} ({found.unique_share:.1%}) stand alone with their combination;"
        f" the smallest group has {found.smallest_group}, and half of all records share theirs with"
        f" {sharing}."
    )
    for size, share in found.share_in_groups_below.items():
        click.echo(f"  {share:6.1%} of the records are in groups of fewer than {size}")
    worst = found.worst_columns if show_all else found.worst_columns[:_MOST_NAMED]
    print_table(
        ("\ncolumn", "\nalone with it", "\nalone without it"),
        ((one.name, f"{one.unique_with:,}", f"{one.unique_without:,}") for one in worst),
    )
    if len(worst) < len(found.worst_columns):
        click.echo(f"... and {counted(len(found.worst_columns) - len(worst), 'more column')} (--all).")


def _commands_to_publish(
    data: str, schema: Schema, advice: Advice, reading: Sequence[str], said: Sequence[str]
) -> list[str]:
    """What to type to publish the table as advised; nothing where nothing can be advised.

    `said`: what the user said of columns, or where it was written. Otherwise roles are given as options, or by a schema
    file where there are very many columns.
    """
    if advice.start is None:
        return []
    commands, columns = [], list(said)
    if not columns and len(schema.published) <= _EACH_ON_A_LINE:
        columns = list(_role_flags(schema))
    elif not columns:
        columns = ["--schema", "schema.yaml"]
        commands.append(shlex.join(["lookalike", "inspect", data, *reading, "--write-schema", "schema.yaml"]))
    options = [*reading, *columns, *(["--rows", "one"] if schema.unit is not None else [])]
    for promise in advice.start.promises:
        options += ["--model", str(promise)]
    return [*commands, shlex.join(["lookalike", "publish", data, *options, "--out", "release"])]


def _yaml_to_edit(schema: Schema) -> str:
    """The suggested schema; carried columns are comments, since most are refused unless nobody outside knows them."""
    from lookalike.data.schema import Role, Schema

    if not schema.carried:
        return schema.to_yaml()
    named = Schema(tuple(attribute for attribute in schema.attributes if attribute.role is not Role.CARRIED))
    lines = Schema(schema.carried).to_yaml().partition("columns:\n")[2].splitlines()
    return "\n".join([named.to_yaml() + _ABOUT_CARRIED, *(f"# {line}" for line in lines), ""])


_ABOUT_CARRIED = """\
# The columns below are not published. Uncomment those that you want beside the sensitive values, published exactly.
# Publishing refuses them if someone who knows their values would find people by them."""


def _role_flags(schema: Schema) -> Iterator[str]:
    # Carried columns are left to the user: most are refused unless nobody outside knows their values.
    for flag, attributes in (("--qi", schema.quasi), ("--sensitive", schema.sensitive)):
        if attributes:
            yield from (flag, ",".join(_quote_name(attribute.name) for attribute in attributes))
    for attribute in (schema.person, schema.household):
        if attribute is not None:
            yield from (f"--{attribute.role}", attribute.name)


def _column_flags(options: Mapping[str, Any]) -> Iterator[str]:
    """The options that say something of columns, as they were given."""
    for name in ("qi", "sensitive", "carry", "numeric", "categorical"):
        if options[name]:
            yield from (f"--{name}", ",".join(map(_quote_name, options[name])))
    for flag, name in (("--person", "person"), ("--household", "household"), ("--schema", "schema_file")):
        if options[name]:
            yield from (flag, options[name])
    for flag, name in (("--round", "rounded"), ("--coarsen", "coarsen")):
        for one in options[name]:
            yield from (flag, one)


def _cell_flags(options: Mapping[str, Any]) -> Iterator[str]:
    """The options that say what cells may show, as they were given."""
    for name, number in dict(options["frequent"]).items():
        yield from ("--frequent", f"{name}={number}")
    if options["longest_set"] is not None:
        yield from ("--longest-set", str(options["longest_set"]))
    if options["keep_identifiers"]:
        yield from ("--keep-identifiers", ",".join(map(_quote_name, options["keep_identifiers"])))
    if options["carry_anyway"]:
        yield from ("--carry-anyway", ",".join(map(_quote_name, options["carry_anyway"])))


def _quote_name(name: str) -> str:
    """As a cell of a CSV line, which is how lists of columns are read."""
    return f'"{name.replace(chr(34), chr(34) * 2)}"' if re.search(r"[\",\s]", name) else name


def _reading_flags(reading: Mapping[str, Any]) -> Iterator[str]:
    """The options that the table was read with."""
    for name, given in reading.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "header":
            yield "--header" if given else "--no-header"
        elif name == "unpack_limit":
            yield from (flag, str(given >> 20))
        elif isinstance(given, Mapping):
            for column, written in given.items():
                yield from (flag, f"{column}={written}")
        elif isinstance(given, str):
            yield from (flag, given)
        else:
            for one in given:
                yield from (flag, str(one))
