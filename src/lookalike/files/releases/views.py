"""views.sql: a bucketized release for DuckDB, with the beliefs that its buckets leave.

    qit, sat        the two tables
    bucket_sizes    bucket, size
    beliefs         bucket, the columns of sat, probability: rows with that combination over rows of the bucket
    joined          every row of qit with each combination of its bucket, and the probability of that

SUM(probability) over rows of `joined` is the estimate of a count. Columns are renamed by their place: DuckDB takes Sex
and sex for one name, and the columns of both tables stand side by side in `joined`. Views are temporary, so that they
replace nothing in a database that somebody has open.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from lookalike.files.releases.cells import Encoding, Field
from lookalike.files.releases.describe import Tables

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

CREATE OR REPLACE TEMP VIEW beliefs AS
SELECT {values}, CAST(COUNT(*) AS DOUBLE) / ANY_VALUE({size}) AS {probability}
FROM sat JOIN bucket_sizes USING ({bucket}) GROUP BY {values};

CREATE OR REPLACE TEMP VIEW joined AS
SELECT * FROM qit JOIN beliefs USING ({bucket});
"""


def views(tables: Tables, *, in_parts: bool = False) -> str:
    """The script for the tables of a bucketized release; in parts, a table is a folder of files."""
    qit, sat = tables["qit"], tables["sat"]
    own: dict[str, str] = {}
    for field in chain(qit, sat):
        if field.encoding is not Encoding.BUCKET:
            own[field.name] = _free(field.name, own.values())
    bucket, size, probability = (_free(name, own.values()) for name in ("bucket", "size", "probability"))

    def names(fields: Iterable[Field]) -> str:
        chosen = (bucket if field.encoding is Encoding.BUCKET else own[field.name] for field in fields)
        return ", ".join(map(_identifier, chosen))

    return _SCRIPT.format(
        parts="/*.parquet" if in_parts else "",
        qit=names(qit),
        sat=names(sat),
        values=names(sat),
        bucket=_identifier(bucket),
        size=_identifier(size),
        probability=_identifier(probability),
    )


def _free(name: str, taken: Iterable[str]) -> str:
    folded = {other.casefold() for other in taken}
    # A NUL would end the script.
    name = name.replace("\0", "_")
    while name.casefold() in folded:
        name += "_"
    return name


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
