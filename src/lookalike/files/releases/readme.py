"""README.txt of a release: a letter to the person who receives it.

What the table is, how to read a cell, what is promised and against which attacker, what is not, and how to check. It
repeats
the manifest in words and adds nothing that the manifest does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from lookalike.data.carried_columns import state_carried
from lookalike.data.coarsening import Coarsening
from lookalike.data.person_settings import ONE
from lookalike.data.release import Grouped, Matched, Release, has_open_ends
from lookalike.data.schema import Role, Schema
from lookalike.data.series_modes import describe_mode
from lookalike.data.wording import Wording
from lookalike.errors import counted
from lookalike.files.databases.address import find_free_name, identifier
from lookalike.files.identifiers.values import state_kept
from lookalike.files.releases.advice import advise_reader
from lookalike.files.releases.cells import Encoding, Field
from lookalike.files.releases.describe import DESCRIPTOR, ENCODING_SENTENCES, Manifest, Tables
from lookalike.files.releases.tablefiles import SAFE_CSV_SENTENCE, Parts

VIEWS = "views.sql"

_SCRIPT = """\
-- Views over this release for DuckDB 1.1 or later. Run it inside this folder: duckdb -init views.sql
-- The estimate of a count is SELECT SUM(probability) FROM joined WHERE ...
-- A name gets an underscore where DuckDB would take it for another one.

CREATE OR REPLACE TEMP VIEW qit AS
SELECT * FROM read_parquet('qit.parquet{parts}') AS published({qit});

CREATE OR REPLACE TEMP VIEW sat AS
SELECT * FROM read_parquet('sat.parquet{parts}') AS published({sat});

CREATE OR REPLACE TEMP VIEW bucket_sizes AS
SELECT {bucket}, COUNT(*) AS {size} FROM sat GROUP BY {bucket};

CREATE OR REPLACE TEMP VIEW probabilities AS
SELECT {values}, CAST(COUNT(*) AS DOUBLE) / ANY_VALUE({size}) AS {probability}
FROM sat JOIN bucket_sizes USING ({bucket}) GROUP BY {values};

CREATE OR REPLACE TEMP VIEW joined AS
SELECT * FROM qit JOIN probabilities USING ({bucket});
"""


def views(tables: Tables, *, in_parts: bool = False) -> str:
    """The script for the tables of a bucketized release; in parts, a table is a folder of files."""
    qit, sat = tables["qit"], tables["sat"]
    own: dict[str, str] = {}
    for field in chain(qit, sat):
        if field.encoding is not Encoding.BUCKET:
            # A NUL would end the script.
            own[field.name] = find_free_name(field.name.replace("\0", "_"), own.values())
    bucket, size, probability = (find_free_name(name, own.values()) for name in ("bucket", "size", "probability"))

    def names(fields: Iterable[Field]) -> str:
        chosen = (bucket if field.encoding is Encoding.BUCKET else own[field.name] for field in fields)
        return ", ".join(map(identifier, chosen))

    return _SCRIPT.format(
        parts="/*.parquet" if in_parts else "",
        qit=names(qit),
        sat=names(sat),
        values=names(sat),
        bucket=identifier(bucket),
        size=identifier(size),
        probability=identifier(probability),
    )


_ONE_ROW_EACH = "Each row is one person."
_LINKED_SENTENCES = (
    "Each row is one visit (stay, claim, ...) of a person, and rows with the same person number are of one person. The "
    "visits of a person are numbered in their order. People of a group share the same generalised columns, visit by "
    "visit. Visits beyond those that all people of a group have were left out."
)
_FORM_SENTENCES = {
    "grouped": f"{_ONE_ROW_EACH} People of a group share the same generalised columns.",
    "matched": f"{_ONE_ROW_EACH} Every row has generalised its own columns and fits several people.",
    "bucketized": (
        "Two tables: qit has the plain columns that may be known about a person, sat the sensitive values. They are "
        "joined by the bucket number only: within a bucket nothing says which value belongs to which person. "
        'Counts over both are estimated: lookalike query THIS-FOLDER "SELECT COUNT(*) WHERE ...", in Python '
        'lookalike.open_release(folder).counts("column"), or in DuckDB with views.sql.'
    ),
    "perturbed": (
        f"{_ONE_ROW_EACH} Every sensitive value was kept or drawn anew by the published matrix, so a single one "
        "says little. Do not count them as they are; counts are corrected with the matrix: lookalike query THIS-FOLDER "
        '"SELECT COUNT(*) WHERE ...", or in Python lookalike.open_release(folder).counts("column").'
    ),
}


def readme(
    release: Release,
    manifest: Manifest,
    tables: Tables,
    files: Sequence[str],
    parts: Parts,
    schema: Schema | None = None,
) -> str:
    """The text of README.txt, for the person who receives the release.

    `schema`: all published columns, where `release` was read without some of them.
    """
    attributes = [domain.attribute for domain in release.domains.all] if schema is None else schema.attributes
    lines = [manifest.title, "=" * len(manifest.title), ""]
    if manifest.description:
        lines += [manifest.description, ""]
    is_linked = isinstance(release, Grouped) and release.linked is not None
    lines += ["What this is", "", _LINKED_SENTENCES if is_linked else _describe_rows(release.form, manifest)]
    if manifest.held_out is not None:
        lines.append(
            f"A share of {manifest.held_out} of the people of the original, drawn at random, is not in it: the owner "
            "keeps them apart to test what the release gives away."
        )
    if release.withheld.n_suppressed:
        lines.append(f"{release.withheld.n_suppressed:,} records of the original were left out.")
    if release.withheld.n_dummies:
        by_value = "" if release.withheld.indistinguishable else "; datapackage.json counts them by value"
        lines.append(f"{release.withheld.n_dummies:,} records are made up{by_value}.")
    in_order = "The rows are sorted by person number, and these numbers were drawn at random."
    lines += _in_parts(parts) if parts else [in_order if is_linked else "The rows are in random order."]
    lines += ["", "Columns", ""]
    for name, fields in tables.items():
        lines.append(f"{name}.csv and {name}.parquet")
        lines += [f"  {' '.join(field.name.split())}: {field.role}, {field.encoding}" for field in fields]
    lines += _describe_limits(release)
    lines += _describe_coarsening(release)
    used = {field.encoding for fields in tables.values() for field in fields}
    lines += ["", "How to read a cell", ""]
    lines += [f"  {encoding}: {sentence}" for encoding, sentence in ENCODING_SENTENCES.items() if encoding in used]
    lines += [_ONE_END] if has_open_ends(release) else []
    lines += [*_SPELLING, *_IN_A_SPREADSHEET, *([f"  {SAFE_CSV_SENTENCE}"] if manifest.safe_csv else [])]
    lines += ["", "What is promised", ""]
    lines += [f"  {promise.sentence} ({promise.text})" for promise in manifest.promises] or ["  Nothing."]
    if manifest.persons is not None:
        lines += ["", *(f"  {sentence}" for sentence in manifest.persons.sentences())]
    if (kept := state_kept(attributes)) is not None:
        lines += ["", f"  {kept}"]
    if (stated := state_carried(attributes)) is not None:
        lines += ["", f"  {stated}"]
    if manifest.series is not None:
        lines += ["", f"  {describe_mode(manifest.series)}"]
    known = [field.name for fields in tables.values() for field in fields if field.role == Role.QUASI]
    whom = Wording(adversary=manifest.adversary, known=known).describe_adversary()
    lines += ["", f"  This holds against someone who {whom}.", f"  Made with: {manifest.algorithm}", ""]
    excluded = _NOT_PROMISED if manifest.series is None else _NOT_PROMISED_OF_SERIES
    lines += ["What is not promised", "", *excluded, *advise_reader(release.form, manifest, tables)]
    lines += ["", "How to check", "", *_HOW_TO_CHECK, "", "Files", ""]
    for name in sorted({name.partition("/")[0] for name in files}):
        within = "" if name in files else ", a folder of parts"
        lines.append(f"  {name}: {_FILE_SENTENCES.get(name, _file_sentence(name))}{within}")
    return "\n".join(lines) + "\n"


def _describe_limits(release: Release) -> list[str]:
    """What cells of some columns never show."""
    said = []
    for domain in release.domains.quasi if isinstance(release, Grouped | Matched) else ():
        name, limit = " ".join(domain.name.split()), domain.attribute.longest_set
        if limit and not domain.in_ranges:
            said.append(f"  A cell of {name} that would list more than {limit:,} values is *.")
        if domain.attribute.others and domain.attribute.values is not None:
            said.append(f"  (other) in {name} is any value that schema.yaml does not name.")
    return said


def _describe_coarsening(release: Release) -> list[str]:
    """Which columns were made coarser before they were published, and how their values read."""
    coarse = [
        (domain.name, Coarsening(domain.name, domain.attribute.prepare))
        for domain in release.domains.all
        if domain.attribute.prepare is not None
    ]
    if not coarse:
        return []
    said = [f"  {' '.join(name.split())}: {rule.describe()}." for name, rule in coarse]
    reading = ["", *_BLOCKS] if any(rule.is_of_numbers for _, rule in coarse) else []
    return ["", "Columns that were made coarser before anything else", "", *said, *reading]


def _describe_rows(form: str, manifest: Manifest) -> str:
    stated, said = manifest.persons, _FORM_SENTENCES[form]
    if stated is None or stated.unit == "row" or stated.settings.rows == ONE:
        return said
    return said.replace(_ONE_ROW_EACH, f"A {stated.unit} may have several rows.")


def _in_parts(parts: Parts) -> list[str]:
    first, *others = parts
    rows = {name: sum(part.n_rows for part in listed) for name, listed in parts.items()}
    return [
        *(f"{name} has {counted(rows[name], 'row')} in {counted(len(parts[name]), 'part')}." for name in parts),
        "A table is a folder of parts: all its files together are the table, and every CSV file has the header.",
        "The rows are in random order within each file, and the files are in random order.",
        "",
        f'  pandas:  pandas.read_parquet("{first}.parquet")',
        f'  Polars:  polars.read_parquet("{first}.parquet/*.parquet")',
        f"  DuckDB:  SELECT * FROM '{first}.parquet/*.parquet'",
        f'  Spark:   spark.read.parquet("{first}.parquet")',
        *(f"  and likewise {name}.parquet" for name in others),
    ]


_BLOCKS = [
    "  Their values are ranges: 28..32 is 28 to 32 with both ends, [2.5, 7.5) is 2.5 or more and less than 7.5, >=90",
    "  is 90 or more, <=18 is 18 or less. A single number stands for itself.",
]

_ONE_END = "  A range with one end is open to the other side: <=17 is 17 or less, >=91 is 91 or more."

_SPELLING = [
    "",
    "  Spelling of unusual values: (empty) is a text without characters. Inside sets and spans a backslash stands",
    "  before a bar, a backslash, a space at either end, the word to (spans), and before values that read *,",
    "  (missing) or (empty). In plain columns only values that read (missing) or (empty) have one in front.",
    "  In Parquet: ranges and spans have low, high and missing; sets have values, missing and any.",
]

_IN_A_SPREADSHEET = [
    "",
    "  In a spreadsheet: do not open the CSV files by a double click. Import them, and choose Text as the type of each",
    "  column (Excel: Data, From Text/CSV; LibreOffice: the columns of the import window). Ranges such as 28..39 stay",
    "  as they are in any case. Single values may not: 01234 loses its zero, 1e5 becomes 100000, 1/2 and MAR1 become",
    "  dates, numbers of more than 15 digits are rounded, and what begins with =, +, - or @ may be computed.",
]

_NOT_PROMISED = [
    "  It is not promised that someone who knows more than is said above learns nothing, that two releases about",
    "  the same people can be given to the same reader, or that general facts (such as a disease being frequent in",
    "  a region) cannot be learned. Do not link this table with others to find out about persons.",
]

_NOT_PROMISED_OF_SERIES = [
    "  It is not promised that someone who knows more than is said above learns nothing, that releases about the same",
    "  people which were not checked together with this one can be given to the same reader, or that general facts",
    "  (such as a disease being frequent in a region) cannot be learned. Do not link this table with others to find",
    "  out about persons.",
]

_HOW_TO_CHECK = [
    "  Anyone who holds the original can check the promise again: lookalike audit ORIGINAL THIS-FOLDER",
    "  Everybody can check that the files fit their description: frictionless validate datapackage.json",
]

_FILE_SENTENCES = {
    DESCRIPTOR: "the description for programs (Frictionless data package)",
    "README.txt": "this text",
    "schema.yaml": "roles, kinds and taxonomies of the columns",
    "audit.json": "what was promised and what was reached, for programs",
    "report.html": "the report for readers",
    "report.pdf": "the same on paper",
    "report.json": "the same for programs",
    VIEWS: "views for DuckDB, with the probability of each sensitive value; inside this folder: duckdb -init views.sql",
}


def _file_sentence(name: str) -> str:
    if name.startswith("matrix-"):
        return "how sensitive values were redrawn (weights over the total in datapackage.json)"
    if name.endswith(".csv"):
        return "the table as text"
    return "the table with types" if name.endswith(".parquet") else "see there"
