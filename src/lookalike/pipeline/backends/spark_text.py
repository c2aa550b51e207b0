"""CSV files as a Spark data frame of texts, checked before anybody works with them.

Spark reads a record with too few or too many cells, an unclosed quote or a header in another order without a word
unless it is asked not to. Here such files are refused: one walk over all files, by the executors, counts what is wrong
in each of them. Quotes are doubled inside quotes, cells may have several lines, a byte order mark is no text.
A file is read by one executor from beginning to end, since only its beginning tells which line ends are quoted: a large
table is better given as several files, or as Parquet.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.errors import DataError, RecipeError, SchemaError, counted, quoted
from lookalike.pipeline.backends.spark import spark_failures

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

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


def read_delimited(spark: SparkSession, source: str, dialect: Dialect) -> DataFrame:
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
            f"{counted(n_columns, 'cell')} of the header. Mend them: a cell with a delimiter or a line end in it "
            "stands in quotes."
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
    from urllib.parse import unquote

    return unquote(file.rpartition("/")[2])


def _escape(file: str) -> str:
    """A file's address as Spark tells it, as a path that means this file alone."""
    from urllib.parse import unquote

    path = unquote(file)
    return "".join(f"\\{sign}" if sign in "*?[]{}\\" else sign for sign in path)
