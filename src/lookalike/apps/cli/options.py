"""Options that every command which reads a table takes: columns and their roles, and how the file is written."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from lookalike.apps.cli.output import STDOUT, send_to_stdout
from lookalike.data.adversary import ADVERSARIES, READS_RELEASE
from lookalike.data.person_settings import APART, KEPT, RANDOM, ROWS
from lookalike.data.series_modes import MODES
from lookalike.errors import Unsupported, quoted
from lookalike.files.databases.address import is_address

if TYPE_CHECKING:
    from lookalike.data.schema import Schema
    from lookalike.publication import Publication


Command = Callable[..., Any]
_READING = ("delimiter", "quote", "encoding", "header", "missing", "date_format", "sheet", "unpack_limit")


def _names(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """A,B,"C, with a comma" as three names; the option may also be given more than once."""
    return tuple(name.strip() for text in given for row in csv.reader([text], skipinitialspace=True) for name in row)


def _by_column(given: tuple[str, ...]) -> dict[str, str]:
    """COLUMN=FORMAT, several times, as a mapping."""
    formats = {}
    for text in given:
        name, sign, format = text.rpartition("=")
        if not sign or not name or not format:
            raise click.UsageError(f"--date-format takes COLUMN=FORMAT, as born=DD/MM/YYYY, and not {quoted(text)}.")
        formats[name] = format
    return formats


def column_list(*flags: str, help: str, metavar: str = "A,B") -> Callable[[Command], Command]:
    """An option that takes names of columns."""
    return click.option(*flags, multiple=True, callback=_names, metavar=metavar, help=help)


def options_together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator; help lists them in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


column_options = options_together(
    column_list("--qi", help="Quasi-identifiers: columns that an outsider may know."),
    column_list("--sensitive", help="Columns that must not be learned about a person."),
    column_list("--carry", help="Columns that stay attached to the sensitive value, unprotected."),
    column_list("--numeric", help="Columns whose values are numbers or dates (published as ranges)."),
    column_list("--categorical", help="Columns whose values are codes or names (published as sets)."),
    click.option("--person", metavar="COLUMN", help="The column that identifies persons; promises count persons."),
    click.option(
        "--household", metavar="COLUMN", help="The column that identifies households; promises count households."
    ),
    click.option(
        "--round",
        "rounded",
        multiple=True,
        metavar="COLUMN=STEP",
        help="Publish a sensitive or carried number as the range that rounds to the same multiple of STEP, as "
        "salary=1000 (repeatable).",
    ),
    click.option(
        "--coarsen",
        multiple=True,
        metavar="COLUMN=RULE",
        help="Publish a sensitive or carried column coarser: round:1000, top:90, bottom:18, width:0|18|65 (cuts), "
        "prefix:3, dates:month, groups:North=A|B;South=C, others:merge or level:1 of its taxonomy (repeatable).",
    ),
    click.option("--schema", "schema_file", metavar="FILE", help="A schema file; the options above override it."),
)
"""`schema_from` makes one schema of them."""
reading_options = options_together(
    click.option("--delimiter", metavar="CHAR", help="Delimiter of a CSV; detected if not given."),
    click.option("--quote", metavar="CHAR", help="Quote character of a CSV; detected if not given."),
    click.option("--encoding", metavar="NAME", help="Encoding of a CSV; detected if not given."),
    click.option("--header/--no-header", default=None, help="Whether the first line of a CSV names the columns."),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="Text to treat as missing, in every column, or in one: COLUMN=TEXT (repeatable).",
    ),
    click.option(
        "--date-format",
        multiple=True,
        callback=lambda context, option, given: _by_column(given),
        metavar="COLUMN=FORMAT",
        help="How a column writes dates, as DD/MM/YYYY, MM/DD/YY, DD-Mon-YY, YYYYMMDD, day-first, month-first or text "
        "(repeatable); guessed from the whole column if not given.",
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel workbook, or its number; the first if not given."),
    click.option(
        "--unpack-limit",
        type=click.IntRange(min=1),
        metavar="MB",
        help="Largest size of an unpacked file; the default stops decompression bombs.",
    ),
)
"""`reading_from` makes arguments of readers of them."""


def _counts_by_column(given: tuple[str, ...]) -> dict[str, int]:
    """COLUMN=N, several times, as a mapping."""
    counts = {}
    for text in given:
        name, _, number = text.rpartition("=")
        if not name or not number.strip().isdecimal():
            raise click.UsageError(f"--frequent takes COLUMN=N, as town=20, and not {quoted(text)}.")
        counts[name] = int(number)
    return counts


KEEP_IDENTIFIERS = column_list(
    "--keep-identifiers",
    help="Columns to publish although their values hold e-mail addresses, phone numbers, names of persons or the like: "
    "you state that they identify nobody, and the release says so.",
)
CARRY_ANYWAY = column_list(
    "--carry-anyway",
    help="Carried columns to publish although someone who knows their values would find persons by them: you state "
    "that nobody outside knows these values, and the release says so.",
)
cell_options = options_together(
    click.option(
        "--frequent",
        multiple=True,
        callback=lambda context, option, given: _counts_by_column(given),
        metavar="COLUMN=N",
        help="Values of COLUMN that at least N persons have keep their names, all others become (other) (repeatable).",
    ),
    click.option(
        "--longest-set",
        type=click.IntRange(min=0),
        metavar="N",
        help="Values that a cell lists at most; a cell that would list more becomes *. 0: any number; by default 100.",
    ),
    KEEP_IDENTIFIERS,
    CARRY_ANYWAY,
)
"""What cells may show; `schema_from` puts it into the schema."""
KNOWLEDGE = click.option(
    "--knowledge",
    callback=lambda context, option, given: _find_rules(given),
    metavar="FILE",
    help="Rules that everybody knows, as {who: {sex: male}, never: {diagnosis: childbirth}}: promises must also hold "
    "for someone who uses them. sample: the rules of the bundled hospital.",
)


def _find_rules(given: str | None) -> str | None:
    """The file of rules; of the bundled sample by its name."""
    if given != "sample":
        return given
    from lookalike.apps import samples

    return str(samples.sample_knowledge())


CONTRIBUTION = click.option(
    "--contribution",
    type=click.IntRange(min=1),
    metavar="C",
    help="With --person: use at most C rows per person, by default drawn at random, and leave out the rest.",
)
ROWS_ARE_PERSONS = click.option(
    "--rows-are-persons",
    is_flag=True,
    help="State that every row is a different person, although an identifier repeats. The report repeats this.",
)
person_options = options_together(
    click.option(
        "--rows",
        type=click.Choice(ROWS),
        default=APART,
        show_default=True,
        help="With --person: how the rows of a person are published. apart: without a person number; linked: with a "
        "new number per person, which shows the rows that belong together; one: one row per person.",
    ),
    click.option(
        "--keep",
        type=click.Choice(KEPT),
        default=RANDOM,
        show_default=True,
        help="With --rows one or --contribution: which rows of a person are published.",
    ),
    CONTRIBUTION,
    column_list(
        "--fold",
        metavar="COLUMN=RULE",
        help="With --person: give all rows of a person one value in COLUMN, by a RULE: first, last, least, greatest, "
        "most-frequent, any:VALUE, or number (the number of rows, as a new column). Repeatable.",
    ),
    click.option(
        "--order",
        metavar="COLUMN",
        help="With --person: the column that orders the rows of a person; the order of DATA if not given.",
    ),
    click.option(
        "--number-of-rows",
        "number_known",
        type=click.Choice(("known", "unknown")),
        default="known",
        show_default=True,
        callback=lambda context, option, given: given == "known",
        help="With --person: whether an attacker may know how many rows a person has.",
    ),
    ROWS_ARE_PERSONS,
)
"""How the rows of one person are published."""


series_options = options_together(
    click.option(
        "--after",
        multiple=True,
        metavar="RELEASE",
        help="An earlier release of the same people (repeatable), or RELEASE=ORIGINAL with the table that it was made "
        "from. Publishes only if all promises hold against someone who reads all these releases.",
    ),
    click.option(
        "--series",
        metavar="NAME",
        help="Keep a private ledger of the releases of these people, and check every release together with all earlier "
        "ones.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        help="How a series is protected. checked (default): a release that breaks a promise together with earlier ones "
        "is refused; m-invariant: every person keeps the same set of values; frozen: cells that never change, with "
        "lookalike apply.",
    ),
)
"""What is said about other releases of the same people."""


def model_option(help: str, *, required: bool = False) -> Callable[[Command], Command]:
    return click.option("--model", "models", multiple=True, required=required, metavar="MODEL", help=help)


def adversary_option(help: str) -> Callable[[Command], Command]:
    return click.option(
        "--adversary", type=click.Choice(list(ADVERSARIES)), default=READS_RELEASE, show_default=True, help=help
    )


JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output and nothing else."
)
SUPPRESSED = click.option(
    "--suppressed", type=click.IntRange(min=0), default=0, help="Records that another tool is known to have left out."
)
SAFE_CSV = click.option(
    "--safe-csv", is_flag=True, help="Put an apostrophe before CSV cells that a spreadsheet would compute (=, +, -, @)."
)


def schema_from(options: dict[str, Any]) -> Schema:
    """The schema that the column options describe; takes them out of `options`."""
    from lookalike.data.frequent_values import set_cells
    from lookalike.data.schema import Schema

    named = ("qi", "sensitive", "carry", "numeric", "categorical", "person", "household")
    columns = {name: options.pop(name) for name in named}
    columns["coarsen"] = _coarsening_from(options.pop("rounded"), options.pop("coarsen"))
    of_cells = ("frequent", "longest_set", "keep_identifiers", "carry_anyway")
    cells = {name: options.pop(name) for name in of_cells if name in options}
    return set_cells(Schema.of(options.pop("schema_file") or None, **columns), **cells)


def _coarsening_from(rounded: tuple[str, ...], coarsen: tuple[str, ...]) -> dict[str, dict[str, object]]:
    """COLUMN=STEP and COLUMN=RULE as entries of a schema's prepare, by column."""
    from lookalike.data.coarsening import parse_coarsening

    found: dict[str, dict[str, object]] = {}
    for flag, given in (("--round", rounded), ("--coarsen", coarsen)):
        for text in given:
            # A rule may hold an equals sign, and a column's name may too: the rule begins with a word and a colon.
            name, sign, rule = text.rpartition("=") if flag == "--round" else _split_rule(text)
            if not sign or not name or not rule:
                shown = "salary=1000" if flag == "--round" else "salary=top:90000"
                raise click.UsageError(f"{flag} takes COLUMN and how, as {shown}, and not {quoted(text)}.")
            key, value = parse_coarsening(f"round:{rule}" if flag == "--round" else rule)
            found.setdefault(name, {})[key] = value
    return found


def _split_rule(text: str) -> tuple[str, str, str]:
    from lookalike.data.coarsening import KEYS

    places = [at for key in KEYS if (at := text.find(f"={key}:")) > 0]
    if not places:
        return text.partition("=")
    return text[: min(places)], "=", text[min(places) + 1 :]


def reading_from(options: dict[str, Any]) -> dict[str, Any]:
    """The reading options that were given; takes them out of `options`."""
    given = {name: options.pop(name) for name in _READING}
    if given["unpack_limit"] is not None:
        given["unpack_limit"] <<= 20
    if given["delimiter"] in ("\\t", "tab"):
        given["delimiter"] = "\t"
    return {name: value for name, value in given.items() if value not in (None, (), {})}


def table_from(options: dict[str, Any]) -> dict[str, Any]:
    """Both together: how a table is read, and the schema for it."""
    return {**reading_from(options), "schema": schema_from(options)}


_ONE_TABLE = ("grouped", "matched")
_NEEDS_FOLDER = {
    "private": "--private",
    "overwrite": "--overwrite",
    "pdf": "--pdf",
    "publish_scores": "--publish-scores",
    "series": "--series",
    "title": "--title",
    "to": "--to",
    "scheme_out": "--scheme-out",
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


_LOCAL, SPARK = _BACKENDS = ("local", "spark")
_NOT_IN_PARTS = {
    "knowledge": "--knowledge is held against a release in one piece",
    "private": "--private keeps which record became which row of one table, and parts are made without such a list",
    "pdf": "--pdf prints the full report, which is not made for parts",
    "safe_csv": "--safe-csv is not known to those who write the parts",
    "to": "--to writes tables that are whole; load the Parquet files of the folder instead",
    "publish_scores": "--publish-scores is about the full report, which is not made for parts",
    "scheme_out": "--scheme-out makes a scheme of all groups at once",
    "report": "--report full scores attacks, queries and predictions on the original and the release in one memory",
}
_NOT_ON_SPARK = _NOT_IN_PARTS | {
    "sheet": "--sheet is for Excel workbooks, which Spark does not read",
    "unpack_limit": "--unpack-limit is for packed files, which Spark unpacks by itself",
}


backend_options = options_together(
    click.option(
        "--backend",
        type=click.Choice(_BACKENDS),
        default=_LOCAL,
        show_default=True,
        help="Where the work is done. spark: DATA may also be a folder, a glob or a table's name.",
    ),
    click.option(
        "--spark-conf",
        multiple=True,
        metavar="KEY=VALUE",
        help="Spark: a setting, as --conf of spark-submit takes it (repeatable).",
    ),
    click.option(
        "--part-rows",
        type=click.IntRange(min=1),
        metavar="N",
        help="Publish in parts of about N rows: tables are folders of files. On Spark always.",
    ),
)
"""`refuse_misplaced` holds them against the rest."""


def refuse_misplaced(context: click.Context) -> None:
    """Options that mean nothing, or cannot be kept, with the back end that was chosen."""
    given = context.params
    on_spark = given["backend"] == SPARK
    if given["spark_conf"] and not on_spark:
        raise click.UsageError("--spark-conf is for Spark. Add --backend spark, or leave it out.", context)
    if not on_spark and given["part_rows"] is None:
        return
    flag = "--backend spark" if on_spark else "--part-rows"
    if given["out"] == STDOUT or "://" in given["out"]:
        raise click.UsageError(f"With {flag} the release is written to a folder: --out DIR.", context)
    if on_spark and is_address(given["data"]):
        raise click.UsageError("A table of a database is not read by Spark. Leave --backend spark out.", context)
    for name, reason in (_NOT_ON_SPARK if on_spark else _NOT_IN_PARTS).items():
        asked = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if asked and given[name] not in (False, "brief"):
            raise click.UsageError(f"{reason}. Leave it out with {flag}.", context)


def settings_from(texts: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE, several times, as a mapping; the last one of a key counts."""
    settings = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key.strip().startswith("spark."):
            raise click.UsageError(
                "--spark-conf takes KEY=VALUE with a key of Spark, as spark.executor.memory=4g, and not "
                f"{key.strip() or 'nothing'}."
            )
        settings[key.strip()] = value.strip()
    return settings
