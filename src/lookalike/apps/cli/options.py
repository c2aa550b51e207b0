"""Options that every command which reads a table takes: columns and their roles, and how the file is written."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from lookalike.apps.cli.output import STDOUT, send_to_stdout
from lookalike.errors import Unsupported

if TYPE_CHECKING:
    from lookalike.data.schema import Schema
    from lookalike.publication import Publication


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

    columns = {name: options.pop(name) for name in ("qi", "sensitive", "carry", "numeric", "categorical")}
    return Schema.of(options.pop("schema_file") or None, **columns)


def reading_from(options: dict[str, Any]) -> dict[str, Any]:
    """The reading options that were given; takes them out of `options`."""
    given = {name: options.pop(name) for name in _READING}
    if given["unpack_limit"] is not None:
        given["unpack_limit"] <<= 20
    if given["delimiter"] in ("\\t", "tab"):
        given["delimiter"] = "\t"
    return {name: value for name, value in given.items() if value not in (None, ())}


_ONE_TABLE = ("grouped", "matched")
_NEEDS_FOLDER = {
    "private": "--private",
    "overwrite": "--overwrite",
    "pdf": "--pdf",
    "publish_scores": "--publish-scores",
    "title": "--title",
    "to": "--to",
}


def refuse_beside_stdout(context: click.Context, out: str, as_json: bool) -> None:
    """With --out - the table alone is on standard output: options about anything else have no place to go."""
    if out != STDOUT:
        return
    if as_json:
        raise click.UsageError("--json and --out - both write to standard output. Leave out one of them.", context)
    for name, flag in _NEEDS_FOLDER.items():
        if context.params.get(name) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{flag} is about a release folder, and --out - makes none. Leave it out.", context)


def check_out(out: str, *, overwrite: bool) -> None:
    """Refuse a destination before any work is done for it."""
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR
    from lookalike.files.urls import is_url, place_of

    if out == STDOUT:
        return
    if is_url(out):
        from lookalike.files.releases.send import check_destination

        check_destination(place_of(out))
        return
    check_target(Path(out), marker=DESCRIPTOR, overwrite=overwrite)


def private_place(out: str, *, report: str, private: bool) -> Path | None:
    """Where the owner's report and the linkage go: beside a folder, if either is asked for."""
    from lookalike.files.releases.private import private_folder
    from lookalike.files.urls import is_url
    from lookalike.publication import FULL

    if out == STDOUT or is_url(out) or not (private or report == FULL):
        return None
    return private_folder(Path(out))


def print_published(publication: Publication, *, safe_csv: bool) -> None:
    """The published table as CSV on standard output; written, read back and compared before the first byte is sent."""
    form = publication.release.form
    if form not in _ONE_TABLE:
        raise Unsupported(
            f"A {form} release is more than one table, and standard output takes one. Give a folder (--out DIR), or an "
            "algorithm that generalises, such as --algorithm groups."
        )
    with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
        folder = Path(here) / "release"
        publication.write_tables(folder, safe_csv=safe_csv)
        send_to_stdout(folder / "release.csv")
