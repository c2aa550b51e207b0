"""Options that every command which reads a table takes: columns and their roles, and how the file is written."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lookalike.data.schema import Schema

Command = Callable[..., Any]
_READING = ("delimiter", "quote", "encoding", "header", "missing", "sheet", "unpack_limit")


def _names(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """A,B,"C, with a comma" as three names; the option may also be given more than once."""
    return tuple(name.strip() for text in given for row in csv.reader([text], skipinitialspace=True) for name in row)


def column_list(*flags: str, help: str) -> Callable[[Command], Command]:
    """An option that takes names of columns."""
    return click.option(*flags, multiple=True, callback=_names, metavar="A,B", help=help)


def column_options(command: Command) -> Command:
    """--qi, --sensitive, --carry, --numeric, --categorical, --schema; handed on as one `schema`."""
    for option in (
        click.option("--schema", "schema_file", metavar="FILE", help="A schema file; the options above override it."),
        column_list("--categorical", help="Columns whose values are codes or names (published as sets)."),
        column_list("--numeric", help="Columns whose values are numbers or dates (published as ranges)."),
        column_list("--carry", help="Columns that stay attached to the sensitive value, unprotected."),
        column_list("--sensitive", help="Columns that must not be learned about a person."),
        column_list("--qi", help="Quasi-identifiers: columns that an outsider may know."),
    ):
        command = option(command)
    return command


def reading_options(command: Command) -> Command:
    """--delimiter, --quote, --encoding, --header, --missing, --sheet, --unpack-limit; handed on as `reading`."""
    for option in (
        click.option(
            "--unpack-limit",
            type=click.IntRange(min=1),
            metavar="MB",
            help="The most that a compressed file may unpack to; by default what tables need, and bombs exceed.",
        ),
        click.option(
            "--sheet", metavar="NAME", help="Sheet of an Excel workbook, or its number; the first if not given."
        ),
        click.option("--missing", multiple=True, metavar="TEXT", help="A cell that means: no value (repeatable)."),
        click.option("--header/--no-header", default=None, help="Whether the first line of a CSV names the columns."),
        click.option("--encoding", metavar="NAME", help="Encoding of a CSV; detected if not given."),
        click.option("--quote", metavar="CHAR", help="Quote character of a CSV; detected if not given."),
        click.option("--delimiter", metavar="CHAR", help="Delimiter of a CSV; detected if not given."),
    ):
        command = option(command)
    return command


SAFE_CSV = click.option(
    "--safe-csv", is_flag=True, help="Put an apostrophe before CSV cells that a spreadsheet would compute (=, +, -, @)."
)


def schema_from(options: dict[str, Any]) -> Schema:
    """The schema that the column options describe; takes them out of `options`."""
    from lookalike.data.schema import Schema

    file = options.pop("schema_file")
    schema = Schema.load(file) if file else Schema(())
    return schema.overridden(
        qi=options.pop("qi"),
        sensitive=options.pop("sensitive"),
        carried=options.pop("carry"),
        numeric=options.pop("numeric"),
        categorical=options.pop("categorical"),
    )


def reading_from(options: dict[str, Any]) -> dict[str, Any]:
    """The reading options that were given; takes them out of `options`."""
    given = {name: options.pop(name) for name in _READING}
    if given["unpack_limit"] is not None:
        given["unpack_limit"] <<= 20
    if given["delimiter"] in ("\\t", "tab"):
        given["delimiter"] = "\t"
    return {name: value for name, value in given.items() if value not in (None, ())}
