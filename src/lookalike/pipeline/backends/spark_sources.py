"""A source by name as a Spark data frame: Parquet and CSV files, globs and folders, and tables of a catalog.

Paths are looked at by Spark, not from here, so that they mean the same on every file system and over Spark Connect.
Spark's own words are left out of messages: they may quote records.

Spark reads CSV records with too few or too many cells, an unclosed quote or a header in another order without a word
unless it is asked not to. Here such files are refused: one walk over all files, by the executors, counts what is wrong
in each of them. Quotes are doubled inside quotes, cells may have several lines, a byte order mark is no text.
A file is read by one executor from beginning to end, since only its beginning tells which line ends are quoted: a large
table is better given as several files, or as Parquet, which is only listed.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lookalike.errors import DataError, RecipeError, SchemaError, counted, quoted, unknown_name
from lookalike.files.tables.formats import FORMATS, PARQUET, TEXT
from lookalike.pipeline.backends.spark import condition_of, spark_failures

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession


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
            frame = _read_delimited(spark, source, Dialect(**hints))  # type: ignore[arg-type]
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
    return not (Path(source).exists() or source.casefold().endswith((*PARQUET.endings, *TEXT.plain, *_PACKED)))


def _table(spark: SparkSession, name: str) -> DataFrame:
    known: list[str] = []
    with suppress(*spark_failures()):
        if spark.catalog.tableExists(name):
            return spark.table(name)
    with suppress(*spark_failures()):
        schema = name.rpartition(".")[0].replace("`", "") or None
        known = sorted(table.name for table in spark.catalog.listTables(schema))
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
    with suppress(*spark_failures()):
        return bool(spark.read.format("binaryFile").load(path).columns)
    return False


def _kind(files: Collection[str], source: str) -> str:
    kinds = Counter(map(_kind_of, files))
    if len(kinds) > 1 or not kinds.keys() <= {PARQUET.name, TEXT.name}:
        found = ", ".join(f"{kind}: {n_files:,}" for kind, n_files in kinds.items())
        raise DataError(
            f"{quoted(source)} holds {counted(len(files), 'file')} ({found}). Spark reads Parquet or delimited text "
            "(CSV), one of them at a time. Name the files by a glob, such as data/*.parquet or data/*.csv.gz; convert "
            "those of another format to Parquet, or publish without --backend spark."
        )
    return next(iter(kinds))


def _kind_of(file: str) -> str:
    name = file.casefold()
    if reduce(str.removesuffix, _PACKED, name).endswith(TEXT.plain):
        return TEXT.name
    return next((one.name for one in FORMATS.values() if one is not TEXT and name.endswith(one.endings)), "other")


def _parquet(spark: SparkSession, source: str) -> DataFrame:
    try:
        # All columns of all files: else those of any one file would be taken for the table's.
        return spark.read.option("mergeSchema", True).parquet(source)
    except spark_failures():
        raise DataError(
            f"{quoted(source)}: a file is damaged or no Parquet, or the files' columns do not fit together. Write them "
            "anew with the same types."
        ) from None


_ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-32": "UTF-32",
    "iso8859-1": "ISO-8859-1",
    "ascii": "US-ASCII",
}
_OTHER_DELIMITERS = {";": "a semicolon", "\t": "a tab", "|": "a vertical bar", ",": "a comma"}
_SHORT_OR_LONG, _MANY_LINES, _UNDECODED, _NULS = "misfits", "many_lines", "undecoded", "nuls"
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How the files are written. Nothing is guessed: a guess that is right for one file may be wrong for another."""

    delimiter: str = ","
    quote: str = '"'
    """Empty: nothing is quoted."""
    encoding: str | None = None
    """None: UTF-8, and bytes that are not are refused."""
    header: bool = True

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '\r\n"\0':
            raise RecipeError(f'The delimiter must be one ASCII character such as "," or ";", not {self.delimiter!r}.')
        if len(self.quote) > 1 or (
            self.quote and (not self.quote.isascii() or self.quote in f"\r\n\0{self.delimiter}")
        ):
            raise RecipeError(f"The quote must be one ASCII character that is not the delimiter, not {self.quote!r}.")
        if self.charset is None:
            raise RecipeError(
                f"Spark cannot read the encoding {self.encoding!r}. It can read: "
                f"{', '.join(charset.lower() for charset in _ENCODINGS.values())}. Convert the files to UTF-8."
            )

    @property
    def charset(self) -> str | None:
        """The encoding as Spark spells it; None if it cannot read it."""
        try:
            return _ENCODINGS.get(codecs.lookup(self.encoding or "utf-8").name.removesuffix("-sig"))
        except LookupError:
            return None


def _read_delimited(spark: SparkSession, source: str, dialect: Dialect) -> DataFrame:
    """The files' cells as texts."""
    where = quoted(source)
    raw = _first_record(spark, source, dialect)
    padded = len(raw) > 1 and all(cell.startswith(" ") for cell in raw[1:])
    if padded:
        raw = _first_record(spark, source, dialect, ignoreLeadingWhiteSpace=True)
    if dialect.header:
        names = [cell.strip() for cell in raw]
        _refuse_bad_names(names, dialect, where)
    else:
        raw = names = [f"column_{place}" for place in range(1, len(raw) + 1)]
    reader = _reader(spark, dialect, ignoreLeadingWhiteSpace=padded, header=dialect.header, enforceSchema=False)
    _check(spark, reader, raw, source, dialect)
    return reader.option("mode", "FAILFAST").schema(_texts(raw)).load(source).toDF(*names)


def _reader(spark: SparkSession, dialect: Dialect, **more: Any) -> DataFrameReader:
    return spark.read.format("csv").options(
        sep=dialect.delimiter,
        quote=dialect.quote,
        escape=dialect.quote,
        encoding=dialect.charset,
        multiLine=True,
        maxCharsPerColumn=-1,
        unescapedQuoteHandling="RAISE_ERROR",
        # Else records are not held against the header where few of their columns are asked for.
        columnPruning=False,
        **more,
    )


def _texts(names: Sequence[str]) -> Any:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in names])


def _first_record(spark: SparkSession, source: str, dialect: Dialect, **more: Any) -> list[str]:
    try:
        found = _reader(spark, dialect, mode="PERMISSIVE", **more).load(source).limit(1).collect()
    except spark_failures():
        raise _unreadable(source) from None
    cells = ["" if cell is None else str(cell) for cell in found[0]] if found else []
    if not any(cells):
        raise DataError(f"{quoted(source)} is empty. Give files with a header and rows.")
    return cells


def _refuse_bad_names(names: Sequence[str], dialect: Dialect, where: str) -> None:
    if not all(names):
        raise SchemaError(
            f"{where}: {counted(names.count(''), 'column')} of {len(names)} without a name, or the files' headers "
            "differ. Name every column in every header; if there is none, say so (--no-header)."
        )
    folded = [name.casefold() for name in names]
    doubled = [name for name in names if folded.count(name.casefold()) > 1]
    if doubled:
        raise SchemaError(
            f"{where}: columns have the same name but for upper and lower case, which Spark does not tell apart: "
            f"{', '.join(map(quoted, doubled[:10]))}. Give every column its own name."
        )
    if len(names) == 1:
        others = [noun for mark, noun in _OTHER_DELIMITERS.items() if mark != dialect.delimiter and mark in names[0]]
        if others:
            raise DataError(
                f"{where} has a single column, whose name holds {others[0]}. If that separates the columns, say so "
                "(--delimiter)."
            )


def _check(spark: SparkSession, reader: DataFrameReader, names: Sequence[str], source: str, dialect: Dialect) -> None:
    """Refuse files that Spark would bend: counted in one walk, and told by the first file's name."""
    from pyspark.sql import functions as F

    rest = _unlike(names, "record")
    walked = (
        reader.options(mode="PERMISSIVE", columnNameOfCorruptRecord=rest).schema(_texts([*names, rest])).load(source)
    ).toDF(*(f"c{place}" for place in range(len(names))), "rest")
    cells = F.concat_ws("", *(F.col(f"c{place}") for place in range(len(names))))

    def times(fact: Column) -> Column:
        return F.sum(F.when(fact, 1).otherwise(0))

    try:
        found = (
            walked.groupBy(F.input_file_name().alias("file"))
            .agg(
                times(F.col("rest").isNotNull()).alias(_SHORT_OR_LONG),
                times(F.contains(cells, F.lit("\n"))).alias(_MANY_LINES),
                times(F.contains(cells, F.lit(_REPLACEMENT))).alias(_UNDECODED),
                times(F.contains(cells, F.lit("\0"))).alias(_NULS),
            )
            .collect()
        )
    except spark_failures() as error:
        if "CSV header does not conform to the schema" in str(error) or "Number of column in CSV header" in str(error):
            raise DataError(
                f"{quoted(source)}: the files' headers differ. Give files with the same columns in the same order, "
                "or say that they have no header (--no-header)."
            ) from None
        raise _unreadable(source) from None
    for row in sorted(found, key=lambda row: str(row["file"])):
        _refuse_wrong(row.asDict(), len(names), dialect)
    if dialect.quote:
        _refuse_unclosed(spark, [row["file"] for row in found if row[_MANY_LINES]], dialect)


def _refuse_wrong(found: dict[str, Any], n_columns: int, dialect: Dialect) -> None:
    name = quoted(_name(found["file"]))
    if found[_SHORT_OR_LONG]:
        raise DataError(
            f"{name}: {counted(found[_SHORT_OR_LONG], 'record')} with fewer or more than the "
            f"{counted(n_columns, 'cell')} of the header. Fix them: a cell with a delimiter or a line end in it "
            "is in quotes."
        )
    if found[_NULS]:
        raise DataError(f"{name} holds NUL bytes, so it is no text or not in the encoding it was read with. Name it.")
    if found[_UNDECODED] and dialect.encoding is None:
        raise DataError(
            f"{name}: {counted(found[_UNDECODED], 'record')} with bytes that are not UTF-8. Name the encoding that the "
            "files were written in (--encoding), as iso-8859-1."
        )


def _refuse_unclosed(spark: SparkSession, files: Sequence[str], dialect: Dialect) -> None:
    """A quote that is never closed takes the rest of its file into one cell. Then the quotes are odd in number."""
    from pyspark.sql import functions as F

    if not files:
        return
    line = F.col("value")
    quotes = F.sum(F.length(line) - F.length(F.replace(line, F.lit(dialect.quote), F.lit(""))))
    texts = spark.read.format("text").option("encoding", dialect.charset).load([_escape(file) for file in files])
    for row in texts.groupBy(F.input_file_name().alias("file")).agg(quotes.alias("quotes")).collect():
        if row["quotes"] % 2:
            raise DataError(
                f"{quoted(_name(row['file']))}: a quote is opened and not closed, so that cells run into one. Close "
                "it, or say that nothing is quoted (--quote '')."
            )


def _unreadable(source: str) -> DataError:
    return DataError(
        f"{quoted(source)} cannot be split into records and cells. Look for quotes inside quoted cells that are not "
        "doubled, for damaged files, and for files that are no text; or name delimiter, quote and encoding."
    )


def _unlike(names: Sequence[str], name: str) -> str:
    taken = {other.casefold() for other in names}
    while name in taken:
        name += "_"
    return name


def _name(file: str) -> str:
    return unquote(file.rpartition("/")[2])


def _escape(file: str) -> str:
    """A file's address as Spark tells it, as a path that means this file alone."""
    return "".join(f"\\{sign}" if sign in "*?[]{}\\" else sign for sign in unquote(file))
