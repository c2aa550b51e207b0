"""README.txt, for the person who works with a release: query, sample and pool it, what not to conclude, how to cite it.

It follows from the form and the columns of the release alone. Examples name columns of it, not values.
"""

from __future__ import annotations

from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.data.schema import Role, ValueType
from lookalike.files.releases.describe import Manifest, Tables

_START = [
    "  Any tool reads the tables. lookalike also answers questions with their errors; Python 3.11 or newer, then:",
    "  pip install lookalike",
]

_READ = {
    Grouped.form: [
        "    table = release.to_pandas(bounds=True, groups=True)   # or to_polars: numbers as numbers, with the lowest",
        "                                                          # and highest value that each cell allows",
    ],
    Matched.form: [
        "    table = release.to_pandas(bounds=True)                # or to_polars: numbers as numbers, with the lowest",
        "                                                          # and highest value that each cell allows",
    ],
    Bucketized.form: ['    tables = release.to_pandas()                          # or to_polars: "qit" and "sat"'],
    Perturbed.form: ["    table = release.to_pandas()                           # or to_polars"],
}

_WORLDS = [
    "  For tools that want one value in every cell, draw several plain tables (worlds), do the same with each, and",
    "  pool the results:",
    "    worlds = release.sample(worlds=5)",
    "    pooled = lookalike.pool(estimates, variances)         # one line per world; pooled.interval()",
    "  No row of a world is about a person. One world alone understates errors.",
    "    lookalike sample THIS-FOLDER --worlds 5 --out worlds.csv",
]

_CONCLUDE = {
    Grouped.form: [
        "  - A cell is not a value: do not take the middle of a range for anybody's value. Averages of middles are",
        "    biased.",
        "  - Rows of a group look alike because they were made alike. That is no clustering of people.",
    ],
    Matched.form: [
        "  - A cell is not a value: do not take the middle of a range for anybody's value. Averages of middles are",
        "    biased.",
        "  - A row joins the values of several people. It is no record of one person.",
    ],
    Bucketized.form: [
        "  - Rows of qit and sat with the same bucket number are no pairs: any of them may belong together.",
    ],
    Perturbed.form: [
        "  - Counts of sensitive values in the table are not counts of people: use query, which corrects them.",
    ],
}

_CONCLUDE_ALL = [
    "  - Counts of few people have wide intervals. Report the interval, not the estimate alone.",
    "  - That two columns do not go together here does not mean that they do not in the original: cells and buckets",
    "    blur what goes together. The owner can say which pairs of columns to trust (lookalike fidelity).",
    "  - The release says nothing about a single person, and must not be used to find or to judge one.",
]

_MISSING = [
    "  Missing values: an empty cell stands for rows without a value. A cell that may also hide a missing value ends",
    "  in |(missing), or is * in a column of nodes; to_pandas(bounds=True) marks it in a column that ends in _missing.",
]

_CONTACT = [
    "  Ask the person or office that gave you this folder, about terms of use as well. The release alone gives no",
    "  permission to hand it on. If a row looks like someone you know, tell them.",
]


def advise_reader(form: str, manifest: Manifest, tables: Tables) -> list[str]:
    """The sections of README.txt about using the release."""
    asked = _ask(tables)
    lines = ["", "How to use it", "", *_START, "", "    import lookalike"]
    lines += ['    release = lookalike.open_release("THIS-FOLDER")', *_READ[form]]
    lines += ["", "  Counts, with an interval that holds the true count of the table in about 95 of 100 queries:"]
    lines += [f"    release.query({_quote(question)})" for question in asked]
    lines += [f'    lookalike query THIS-FOLDER "{_escape(asked[0])}"', "", *_WORLDS]
    if form in (Grouped.form, Matched.form):
        lines += ["", *_MISSING]
    lines += ["", "What not to conclude", "", *_CONCLUDE[form], *_CONCLUDE_ALL]
    return [*lines, "", "Contact and terms", "", *_CONTACT, "", "How to cite it", "", *_cite(manifest, form)]


def _ask(tables: Tables) -> list[str]:
    """Questions about its columns."""
    fields = [field for listed in tables.values() for field in listed if not field.is_number]
    sensitive = [field for field in fields if field.role == Role.SENSITIVE] or fields
    counted = _name(sensitive[0].name)
    numbers = (ValueType.INTEGER, ValueType.NUMBER)
    ranges = [field for field in fields if field.role == Role.QUASI and field.is_range and field.type in numbers]
    found = [f"SELECT {counted}, COUNT(*) GROUP BY {counted}"]
    if ranges:
        found.append(f"SELECT {counted}, COUNT(*) WHERE {_name(ranges[0].name)} > 0 GROUP BY {counted}")
    return found


def _name(column: str) -> str:
    """A column as SQL names it, on one line."""
    name = " ".join(column.split())
    return name if name.isidentifier() and name.isascii() else '"' + name.replace('"', '""') + '"'


def _quote(text: str) -> str:
    return f"'{text}'" if '"' in text and "'" not in text else '"' + _escape(text) + '"'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _cite(manifest: Manifest, form: str) -> list[str]:
    return [
        f'  "{" ".join(manifest.title.split())}", anonymised release ({form}), made with lookalike.',
        "  Name the promises above and the date in datapackage.json, and say that figures are estimates from an",
        "  anonymised table.",
    ]
