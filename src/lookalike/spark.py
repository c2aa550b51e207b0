"""`la.spark`: opens, reads back and audits tables on Spark. `la.publish` publishes them.

import lookalike as la
la.publish(frame, qi=["age", "sex"], sensitive="diagnosis", model="l-diversity:10", out="/shared/release")
la.spark.verify(frame, "/shared/release")
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.audit import Audit
from lookalike.data.date_formats import check_date_format
from lookalike.data.missing_codes import check_missing, list_missing
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.evaluation.counting import Counting, count_whom
from lookalike.files.releases.read import ReleaseFolder
from lookalike.pipeline.backends import THE_TABLE, Backend
from lookalike.pipeline.backends.spark import SparkBackend
from lookalike.pipeline.parts.verify import verify_in_parts
from lookalike.pipeline.recipe import ModelLike, parse_promises
from lookalike.progress import Progress, silent
from lookalike.publication import Publication

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["open_table", "read", "verify"]


def open_table(
    table: DataFrame | Backend | str | Path,
    *,
    missing: Collection[str] | Mapping[str, Collection[object]] = (),
    date_format: Mapping[str, str] | None = None,
    conf: Mapping[str, str] | None = None,
    is_text: bool = False,
    source: str | None = None,
    **reading: Any,
) -> Backend:
    """A table on Spark, for `la.publish` and `verify`: a DataFrame, or a path or catalog name that Spark reads.

    `missing` are texts that mean "nothing" in every column, or such texts by column; `date_format` says by column how
    dates are written in texts and whole numbers. `conf` are settings of the session that is started for a path.
    `is_text`: all columns are texts of a file without types, and are typed by what they look like.
    """
    if isinstance(table, Backend):
        return table
    entries = list_missing(missing)
    formats = {name: check_date_format(format, name) for name, format in (date_format or {}).items()}
    if isinstance(table, str | Path):
        from lookalike.pipeline.backends.spark_sessions import session
        from lookalike.pipeline.backends.spark_sources import read_source

        frame, is_text = read_source(session(dict(conf or {})), str(table), **reading)
        where = source or str(table)
        check_missing(entries, frame.columns, where)
        return SparkBackend(frame, is_text=is_text, missing=entries, date_formats=formats, source=where)
    if not hasattr(table, "sparkSession"):
        raise RecipeError(
            f"Spark reads files, tables of a catalog and its own data frames, and this is a {type(table).__name__} in "
            "memory. Write it to a Parquet file and name that, or leave out the back end (part_rows= publishes in "
            "parts here)."
        )
    if reading:
        raise RecipeError(f"{', '.join(reading)}: this is for files, and a data frame was given. Leave it out.")
    where = source or THE_TABLE
    check_missing(entries, table.columns, where)
    return SparkBackend(table, is_text=is_text, missing=entries, date_formats=formats, source=where)


def verify(
    original: DataFrame | Backend | str | Path,
    release: str | Path | Publication,
    *,
    model: ModelLike | Iterable[ModelLike] = (),
    person: str | None = None,
    household: str | None = None,
    rows_are_persons: bool = False,
    number_known: bool | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Audit:
    """Audit a release in parts again, against the table it was made from: grouped and perturbed releases.

    Without `model` the release is held to what it promises itself. Persons are counted by the column that the release
    names, or by `person` (`household`); `rows_are_persons` and `number_known` are as in `lookalike.verify`.
    """
    folder, given = _folder_of(release), Schema.of(person=person, household=household)
    counting = Counting(rows_are_persons=rows_are_persons, number_known=number_known)
    whom = count_whom(counting, given, ReleaseFolder(folder.resolve()).manifest.persons, in_parts=True)
    return verify_in_parts(
        open_table(original, **reading),
        folder,
        parse_promises(model),
        units=whom.units,
        persons=whom.settings,
        stated=whom.stated,
        progress=progress,
    )


def read(release: Publication | str | Path, spark: Any = None, table: str = "release") -> DataFrame:
    """A published table as a DataFrame."""
    from pyspark.sql import SparkSession

    session = spark or SparkSession.active()
    return session.read.parquet(str((_folder_of(release) / f"{table}.parquet").resolve()))


def _folder_of(release: Publication | str | Path) -> Path:
    folder = release.folder if isinstance(release, Publication) else Path(release)
    if folder is None:
        raise RecipeError("This release was not made in parts. Name the folder that it was written to.")
    return folder
