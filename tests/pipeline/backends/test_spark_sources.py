"""Sources are read as they are written, on a real cluster, and what is not right about them is refused in words."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lookalike.errors import DataError, LookalikeError, RecipeError, SchemaError
from lookalike.pipeline.backends.spark_sources import Dialect, read_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def written(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return str(folder)


def cells(spark: SparkSession, source: str, **reading: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    frame, _ = read_source(spark, source, **reading)
    return frame.columns, sorted((tuple(row) for row in frame.collect()), key=str)


def test_cells_are_texts_with_quotes_lines_and_marks_as_meant(spark: SparkSession, tmp_path: Path) -> None:
    source = written(
        tmp_path,
        {
            "plain.csv": b'\xef\xbb\xbfage,a.b\n007,"x ""y"", z"\n2,"two\nlines"\n3,\n',
            "lines.csv": b"age,a.b\r\n#4,NA\r\n\r\n5,5 ft\r\n",
            "packed.csv.gz": b"age,a.b\n6,\xc3\xb6\n",
            "_SUCCESS": b"",
            ".hidden.csv": b"other\n1\n",
        },
    )
    names, rows = cells(spark, source)
    assert names == ["age", "a.b"]
    assert rows == sorted(
        [
            ("007", 'x "y", z'),
            ("2", "two\nlines"),
            ("3", None),
            ("#4", "NA"),
            ("5", "5 ft"),
            ("6", "\u00f6"),
        ],
        key=str,
    )


def test_a_dialect_is_taken_as_told(spark: SparkSession, tmp_path: Path) -> None:
    content = "a; 'b c'\n1; 'J\u00f6rg; jr'\n".encode("iso-8859-1")
    source = f"{written(tmp_path, {'one.csv': content})}/*.csv"
    told = {"delimiter": ";", "quote": "'", "encoding": "latin-1"}
    assert cells(spark, source, **told) == (["a", "b c"], [("1", "J\u00f6rg; jr")])
    names, rows = cells(spark, source, **told, header=False)
    assert names == ["column_1", "column_2"]
    assert rows == [("1", "J\u00f6rg; jr"), ("a", "b c")]


SECRET = "Plague"
HOSTILE = {
    "too few cells": ({"x.csv": b"a,b,c\n1,2,3\nPlague,2\n"}, '"x.csv": 1 record with fewer or more than the 3 cells'),
    "too many cells": ({"x.csv": b"a,b\n1,Plague\n1,2,Plague\n"}, "1 record with fewer or more"),
    "unclosed quote": ({"x.csv": b'a,b\n1,"Plague\n2,y\n3,z\n'}, "a quote is opened and not closed"),
    "stray quote": ({"x.csv": b'a,b\n1,"Plague"y\n'}, "quotes inside quoted cells that are not doubled"),
    "other columns": ({"x.csv": b"a,b\n1,2\n", "y.csv": b"b,a\nPlague,2\n"}, "headers differ"),
    "no header in one": ({"x.csv": b"a,b\n1,2\n", "y.csv": b"1,2,3\n"}, "headers differ"),
    "not UTF-8": ({"x.csv": b"a,b\n1,J\xf6rg\n"}, r"bytes that are not UTF-8.*--encoding"),
    "no text": ({"x.csv": b"a,b\n\x001,Plague\n"}, "NUL bytes"),
    "doubled name": ({"x.csv": b"age,Age\nPlague,2\n"}, "same name but for upper and lower case"),
    "nameless column": ({"x.csv": b",b\n1,2\n"}, "1 column of 2 without a name"),
    "other delimiter": ({"x.csv": b"a;b\n1;2\n"}, r"holds a semicolon.*--delimiter"),
    "blank": ({"x.csv": b"\n\n"}, "is empty"),
    "nothing": ({"x.csv": b""}, "no file with anything in it"),
    "mixed": ({"x.csv": b"a\n1\n", "y.parquet": b"PAR1"}, r"CSV: 1.*glob"),
    "another format": ({"x.xlsx": b"PK"}, r"1 file \(Excel: 1\)\. Spark reads Parquet or delimited text.*convert"),
    "no Parquet": ({"y.parquet": b"PAR1 or not"}, "damaged or no Parquet"),
    "Delta": ({"y.parquet": b"PAR1", "_delta_log/0.json": b"{}"}, "Delta table.*deleted rows would come back"),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_hostile_files_are_refused_without_a_word_of_theirs(spark: SparkSession, tmp_path: Path, fault: str) -> None:
    files, message = HOSTILE[fault]
    with pytest.raises((DataError, SchemaError), match=message) as refused:
        read_source(spark, written(tmp_path, files))
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    assert "Exception" not in str(refused.value)


def test_parquet_folders_globs_and_tables(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(30, 1.5, "x"), (-9, 2.0, "-9")], "age int, share double, name string")
    folder = str(tmp_path / "people")
    frame.coalesce(1).write.parquet(folder)
    frame.createOrReplaceTempView("people_of_today")
    for source in (folder, f"{folder}/*.parquet", "people_of_today"):
        assert cells(spark, source)[1] == [(-9, 2.0, "-9"), (30, 1.5, "x")]
    with pytest.raises(RecipeError, match="delimiter: this is for CSV files"):
        read_source(spark, folder, delimiter=";")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere/at/all.parquet", r'There is no file, folder or match of a glob "nowhere/at/all.parquet"\. Check'),
        ("nowhere/*.csv", "There is no file"),
        ("people_of_todoy", r'There is no table "people_of_todoy".*Give a table as catalog\.schema\.table, or a path'),
        ("no.such.table", 'There is no table "no.such.table"'),
        ("ftpx://host/x.csv", "cannot be listed by Spark"),
    ],
)
def test_what_is_not_there_is_refused_with_what_could_be(spark: SparkSession, source: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_source(spark, source)


@pytest.mark.parametrize(
    "wrong", [{"delimiter": ";;"}, {"quote": ","}, {"encoding": "cp037"}, {"encoding": "none"}, {"delimiter": "\n"}]
)
def test_dialects_that_spark_cannot_read_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(LookalikeError, match="must be one ASCII character|cannot read the encoding"):
        Dialect(**wrong)
