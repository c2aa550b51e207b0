"""Files that are no tables, or tables that are not read: named, with what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import pickle
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import DataError
from lookalike.files.tables import read_table
from lookalike.files.tables.unread import name_unread
from tests.apps.cli.running import lookalike

FRAME = pd.DataFrame({"age": [30, 41], "sex": ["F", "M"]})


def stata(version: int) -> bytes:
    file = io.BytesIO()
    FRAME.to_stata(file, write_index=False, version=version)
    return file.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def sqlite(tmp_path: Path) -> bytes:
    with sqlite3.connect(tmp_path / "made.db") as connection:
        connection.execute("create table people (age int)")
    connection.close()
    return (tmp_path / "made.db").read_bytes()


def numpy_file() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(6).reshape(2, 3))
    return file.getvalue()


SAS = bytes.fromhex("00" * 12 + "c2ea8160b31411cfbd92080009c7318c181f1011") + bytes(1000)
FILES = [
    ("old.dta", stata(114), "a Stata file", "export delimited"),
    ("new.dta", stata(118), "a Stata file", 'pandas.read_stata("new.dta")'),
    ("x.sas7bdat", SAS, "a SAS file", "proc export"),
    ("x.xpt", b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!000000", "a SAS file", 'pandas.read_sas("x.xpt"'),
    ("x.sav", b"$FL2@(#) SPSS DATA FILE MS Windows" + bytes(200), "an SPSS file", 'OUTFILE="table.csv"'),
    ("x.zsav", b"$FL3@(#) SPSS DATA FILE" + bytes(200), "an SPSS file", "pyreadstat"),
    ("x.por", b"ASCII SPSS PORT FILE".rjust(200) + bytes(200), "an SPSS file", "SAVE TRANSLATE"),
    ("x.rds", gzip.compress(b"X\n\x00\x00\x00\x03\x00\x04\x03\x01" + bytes(50)), "an R data file", "write.csv"),
    ("x.RData", bz2.compress(b"RDX3\nX\n" + bytes(50)), "an R data file", "readRDS"),
    ("x.pkl", pickle.dumps(FRAME), "a Python pickle", "can run any code"),
    ("x.pickle", pickle.dumps([{"age": 1}], protocol=2), "a Python pickle", "can run any code"),
    ("x.json", FRAME.to_json(orient="records").encode(), "a JSON file", "read_json"),
    ("columns.json", FRAME.to_json().encode(), "a JSON file", "read_json"),
    ("x.jsonl", FRAME.to_json(orient="records", lines=True).encode(), "a JSON file", "lines=True"),
    ("indented.json", json.dumps([{"age": 1}], indent=2).encode(), "a JSON file", "read_json"),
    ("packed.json.gz", gzip.compress(b'\xef\xbb\xbf{"age": [1, 2]}'), "a JSON file", "read_json"),
    ("packed.zip", zipped("x.json", b'[{"age": 1}]'), "a JSON file", "read_json"),
    ("x.pdf", b"%PDF-1.7\n" + bytes(100), "a PDF document", "ask for the data"),
    ("x.html", b"\n<!DOCTYPE html>\n<html><body>", "a web page", "login page"),
    ("export.xls", b"<html><body><table><tr><td>age</td></tr></table>", "a web page", "save it as .xlsx"),
    ("table.csv", b"<!-- made by x --><table border=1><tr><td>age", "a web page", "save it as .xlsx"),
    ("x.xml", b'<?xml version="1.0"?><Workbook>', "an XML file", "spreadsheet"),
    ("x.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture", "ask for the data"),
    ("x.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(100), "a picture", "ask for the data"),
    ("x.gif", b"GIF89a" + bytes(100), "a picture", "ask for the data"),
    ("x.tif", b"II*\x00" + bytes(100), "a picture", "ask for the data"),
    ("x.bmp", b"BM\x36\x00\x01\x00" + bytes(4) + b"\x36\x00\x00\x00\x28" + bytes(90), "a picture", "ask for the data"),
    ("x.svg", b"<svg xmlns='http://www.w3.org/2000/svg'>", "a picture", "ask for the data"),
    ("x.ods", zipped("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument file", ".xlsx"),
    ("x.docx", zipped("word/document.xml", b"<w:document/>"), "a Word or PowerPoint document", "ask for the data"),
    ("x.npy", numpy_file(), "a NumPy array", "columns="),
    ("x.h5", b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file", "read_hdf"),
    ("x.duckdb", bytes(8) + b"DUCK" + bytes(100), "a DuckDB database", "duckdb:///x.duckdb?table=NAME"),
    ("x.mdb", b"\x00\x01\x00\x00Standard Jet DB" + bytes(100), "an Access database", "Export"),
    ("x.orc", b"ORC\x11\x00\x00\x0a\x12" + bytes(100), "an ORC file", "Parquet"),
    ("x.avro", b"Obj\x01\x04\x14avro", "an Avro file", "Parquet"),
    ("x.7z", b"7z\xbc\xaf\x27\x1c" + bytes(100), "a 7-Zip archive", "Unpack"),
]


@pytest.mark.parametrize(("name", "content", "what", "remedy"), FILES, ids=[name for name, *_ in FILES])
def test_a_file_that_is_not_read_is_named(name: str, content: bytes, what: str, remedy: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as refusal:
        read_table(path)
    assert str(refusal.value).startswith(f"{name} is {what}")
    assert remedy in str(refusal.value)


def test_a_database_file_is_named_with_its_address(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(sqlite(tmp_path))
    with pytest.raises(
        DataError, match=r"x.db is an SQLite database. Name one of its tables: sqlite:///x.db\?table=NAME"
    ):
        read_table(tmp_path / "x.db")


def test_commands_name_it(tmp_path: Path) -> None:
    (tmp_path / "x.dta").write_bytes(stata(118))
    for command in (
        ["inspect"],
        ["publish", "--qi", "age", "--model", "k-anonymity:2", "--out", str(tmp_path / "out")],
    ):
        done = lookalike(command[0], str(tmp_path / "x.dta"), *command[1:])
        assert done.returncode == 2
        assert "x.dta is a Stata file" in done.stderr


@pytest.mark.parametrize(
    "header",
    [
        "BMI,age",
        "GIF,age",
        "ORC,age",
        "ORCID;age",
        "PK,age",
        "id,{x}",
        "[id],age",
        "{id},age",
        "II,III",
        "age",
        "i,age",
        "%PDF,x",
        "<5,>5",
    ],
)
def test_headers_of_tables_are_no_other_files(header: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    n_columns = 1 + max(header.count(","), header.count(";"))
    sign = ";" if ";" in header else ","
    path.write_text("\n".join([header, *[sign.join(["1"] * n_columns)] * 3]) + "\n")
    assert len(read_table(path).names) == n_columns


names = st.from_regex(r"[A-Za-z][A-Za-z0-9 _.#-]{0,12}", fullmatch=True)


@given(st.lists(names, min_size=1, max_size=4), st.sampled_from([",", ";", "\t", "|"]))
def test_no_header_of_words_is_taken_for_another_file(header: list[str], sign: str) -> None:
    assert name_unread(sign.join(header).encode() + b"\n1") is None
