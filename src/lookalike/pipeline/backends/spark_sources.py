"""A source by name as a Spark data frame: Parquet and CSV files, globs and folders, and tables of a catalog.

Paths are looked at by Spark, not from here, so that they mean the same on every file system and over Spark Connect.
Spark's own words are left out of messages: they may quote records.
Cost: a listing; Parquet is not read, CSV is read once to be checked (see `delimited`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.errors import DataError, RecipeError, counted, quoted, unknown_name
from lookalike.pipeline.backends.spark import condition_of, spark_failures
from lookalike.pipeline.backends.spark_text import Dialect, read_delimited

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARQUET = (".parquet", ".parq")
_DELIMITED = (".csv", ".tsv", ".tab", ".txt")
_PACKED = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")
_LAYERS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
"""Folders that say which of the Parquet files beside them still count."""


def read_source(
    spark: SparkSession,
    source: str,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> tuple[DataFrame, bool]:
    """The table at a path (a file, a glob, a folder) or under a name such as catalog.schema.table.

    And whether its cells are texts, to be typed by what they look like: so it is with CSV files, for which `delimiter`
    (a comma; a tab in .tsv files), `quote`, `encoding` (UTF-8) and `header` (yes) are.
    """
    given = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "header": header}
    hints = {name: value for name, value in given.items() if value is not None}
    if _names_a_table(source):
        frame, is_text = _table(spark, source), False
    else:
        files = _files(spark, source)
        is_text = _kind(files, source) == "CSV"
        if is_text:
            if "delimiter" not in hints and all(".tsv" in file or ".tab" in file for file in files):
                hints["delimiter"] = "\t"
            frame = read_delimited(spark, source, Dialect(**hints))  # type: ignore[arg-type]
        else:
            frame = _parquet(spark, source)
    if hints and not is_text:
        raise RecipeError(f"{', '.join(hints)}: this is for CSV files, and {quoted(source)} is none. Leave it out.")
    return frame, is_text


def _names_a_table(source: str) -> bool:
    """A name of one to three words, unless it ends as a file does or a file of that name is here."""
    part = r"(?:\w+|`[^`]+`)"
    if not re.fullmatch(rf"{part}(?:\.{part}){{0,2}}", source):
        return False
    return not (Path(source).exists() or source.casefold().endswith((*_PARQUET, *_DELIMITED, *_PACKED)))


def _table(spark: SparkSession, name: str) -> DataFrame:
    try:
        if spark.catalog.tableExists(name):
            return spark.table(name)
    except spark_failures():
        pass
    try:
        schema = name.rpartition(".")[0].replace("`", "") or None
        known = sorted(table.name for table in spark.catalog.listTables(schema))
    except spark_failures():
        known = []
    raise DataError(
        f"{unknown_name('table', name, known)} Give a table as catalog.schema.table, or a path: a Parquet or CSV file, "
        "a folder of them, or a glob such as data/*.csv."
    )


def _files(spark: SparkSession, source: str) -> list[str]:
    """The addresses of the files that are meant; a name that begins with a dot or an underscore does not count."""
    if re.search(r"[*?\[\]{}]", source) and Path(source).exists():
        raise DataError(
            f"{quoted(source)} is a file's name, but Spark takes it for a glob. Rename it without *?[]{{}}."
        )
    try:
        listing = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(source).select("path")
        files = [row["path"] for row in listing.collect()]
    except spark_failures() as error:
        if condition_of(error) == "PATH_NOT_FOUND":
            said = f"There is no file, folder or match of a glob {quoted(source)}."
        else:
            said = f"{quoted(source)} cannot be listed by Spark."
        raise DataError(f"{said} Check the path, and that every executor can read it.") from None
    if not files:
        raise DataError(f"{quoted(source)} holds no file with anything in it. Give Parquet or CSV files.")
    for mark, layer in _LAYERS.items():
        if _is_there(spark, f"{source.rstrip('/')}/{mark}"):
            raise DataError(
                f"{quoted(source)} is a {layer} table: not all of its files count, so that deleted rows would come "
                "back. Give its name in the catalog, or a data frame that was read as such a table."
            )
    return files


def _is_there(spark: SparkSession, path: str) -> bool:
    try:
        return bool(spark.read.format("binaryFile").load(path).columns)
    except spark_failures():
        return False


def _kind(files: Collection[str], source: str) -> str:
    kinds = Counter(_kind_of(file) for file in files)
    if len(kinds) > 1 or None in kinds:
        found = ", ".join(f"{kind or 'other'}: {n_files:,}" for kind, n_files in kinds.items())
        raise DataError(
            f"{quoted(source)} holds {counted(len(files), 'file')} of which not all are Parquet or all CSV ({found}). "
            "Name those that are meant by a glob, such as data/*.parquet or data/*.csv.gz."
        )
    return str(next(iter(kinds)))


def _kind_of(file: str) -> str | None:
    name = file.casefold()
    if name.endswith(_PARQUET):
        return "Parquet"
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return "CSV" if name.endswith(_DELIMITED) else None


def _parquet(spark: SparkSession, source: str) -> DataFrame:
    try:
        # All columns of all files: else those of any one file would be taken for the table's.
        return spark.read.option("mergeSchema", True).parquet(source)
    except spark_failures():
        raise DataError(
            f"{quoted(source)}: a file is damaged or no Parquet, or the files' columns do not fit together. Write them "
            "anew with the same types."
        ) from None
