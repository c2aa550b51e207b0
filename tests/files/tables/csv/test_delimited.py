"""CSV files from bytes to columns: round trips, guesses, strange files, errors with lines."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Table, texts_of
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, RecipeError, SchemaError
from lookalike.files.tables import read_table
from lookalike.files.tables.csv import delimited, encoding
from tests.examples import examples


def read(tmp_path: Path, data: bytes | str, name: str = "table.csv", **given: Any) -> Table:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_table(path, **given)


def rows(table: Table) -> list[tuple[str | None, ...]]:
    """The rows as texts; None: missing."""
    columns = []
    for column in table.columns:
        printed = [*texts_of(column.values, column.type), None]
        columns.append([printed[code] for code in column.codes])
    return list(zip(*columns, strict=True))


def types(table: Table) -> list[str]:
    return [column.type.value for column in table.columns]


def refused(tmp_path: Path, data: bytes | str, error: type[Exception] = DataError, **given: Any) -> str:
    with pytest.raises(error) as caught:
        read(tmp_path, data, **given)
    return str(caught.value)


def test_a_plain_file(tmp_path: Path) -> None:
    table = read(tmp_path, "age,zip,born,ok,x\n30,01234,1990-01-02,true,1.5\n,99999,,false,NA\n")
    assert table.source == "table.csv"
    assert table.names == ["age", "zip", "born", "ok", "x"]
    assert types(table) == ["integer", "string", "date", "boolean", "number"]
    assert rows(table) == [("30", "01234", "1990-01-02", "true", "1.5"), (None, "99999", None, "false", None)]
    assert table.notes == ('Column "x": markers such as NA, ? or - were read as missing.',)


def test_every_guess_that_is_not_plain_is_a_note(tmp_path: Path) -> None:
    table = read(tmp_path, "1; 'a; b'\n2; 'c'\n".encode("utf-16"))
    assert rows(table) == [("1", "a; b"), ("2", "c")]
    assert table.names == ["column_1", "column_2"]
    said = " ".join(table.notes)
    assert all(word in said for word in ("semicolon", "single quotes", "column_1", "space"))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1", "cp437"]
)
def test_encodings_given_are_taken(tmp_path: Path, encoding: str) -> None:
    table = read(tmp_path, "näme;b\nJürgen;1\n".encode(encoding), encoding=encoding)
    assert table.names == ["näme", "b"]
    assert rows(table) == [("Jürgen", "1")]


def test_windows_1252_is_guessed_with_a_note_even_late_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding.TextFile.blocks, "__defaults__", (64,))
    table = read(tmp_path, b"name,n\n" + b"plain,1\n" * 50 + "Jürgen €,2\n".encode("cp1252"))
    assert rows(table)[-1] == ("Jürgen €", "2")
    assert table.notes == ("The file is not UTF-8 (line 52), so it was read as Windows-1252.",)


def test_bytes_of_no_encoding_are_refused(tmp_path: Path) -> None:
    assert "line 2 holds bytes that are not cp1252" in refused(tmp_path, b"a,b\n\x81,1\n")
    assert "line 2 holds bytes that are not utf-8" in refused(tmp_path, b"a,b\n\xfc,1\n", encoding="utf-8")
    assert "not known" in refused(tmp_path, b"a\n", RecipeError, encoding="x-nope")


def test_gzip(tmp_path: Path) -> None:
    assert rows(read(tmp_path, gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")) == [("1", "2")]


def test_a_tsv_is_plain(tmp_path: Path) -> None:
    table = read(tmp_path, "a\tb\n1\tx, y\n", "t.tsv")
    assert rows(table) == [("1", "x, y")]
    assert table.notes == ()


def test_padded_files_like_those_of_old_collections(tmp_path: Path) -> None:
    table = read(tmp_path, "39, State-gov, 77516\n50, ?, 83311\n\n", "t.data", missing=["?"])
    assert rows(table) == [("39", "State-gov", "77516"), ("50", None, "83311")]
    assert types(table) == ["integer", "string", "integer"]


def test_quotes_that_are_inches_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding.TextFile.blocks, "__defaults__", (16,))
    table = read(tmp_path, 'pipe,n\nplain,0\nplain,0\n5" pipe,1\n3" pipe,2\n')
    assert rows(table)[2:] == [('5" pipe', "1"), ('3" pipe', "2")]
    assert "read as text" in table.notes[0]
    assert "line 5 has a quoted field" in refused(tmp_path, 'a,n\n5" pipe,1\nx,2\n3" y,3\n"z",4\n')


def test_names_are_stripped_and_anything_goes_otherwise(tmp_path: Path) -> None:
    table = read(tmp_path, '\ufeff  age , "zip, code" ,Größe,^a.*$,*\n1,2,3,4,5\n')
    assert table.names == ["age", "zip, code", "Größe", "^a.*$", "*"]
    assert rows(table) == [("1", "2", "3", "4", "5")]


def test_bad_names_are_refused(tmp_path: Path) -> None:
    assert '"a"' in refused(tmp_path, "a,b, a\n1,2,3\n", SchemaError)
    assert "place 2" in refused(tmp_path, 'a,"  "\n1,2\n', SchemaError)
    assert "place 2, 3" in refused(tmp_path, "Hospital list 2024,,\nage,sex,zip\n1,2,3\n", SchemaError)
    assert "place 1" in refused(tmp_path, ",column_1,c\n1,2,3\n", SchemaError)


def test_row_numbers_and_last_columns_without_a_name_get_one(tmp_path: Path) -> None:
    """R and pandas write row numbers under an empty header; a comma at the end of lines makes an empty column."""
    table = read(tmp_path, '"","b"\n"1",2\n')
    assert table.names == ["column_1", "b"]
    assert table.notes == ('Column 1 has no name in the header, so it was named "column_1".',)
    table = read(tmp_path, "a,b,c,\n1,2,3,\n")
    assert table.names == ["a", "b", "c", "column_4"]


def test_a_first_line_for_spreadsheets_is_left_out(tmp_path: Path) -> None:
    for text in ("sep=;\na;b\n1;2\n", '\ufeff"sep=;"\r\na;b\r\n1;2\r\n'):
        table = read(tmp_path, text)
        assert table.names == ["a", "b"]
        assert rows(table) == [("1", "2")]
        assert "tells spreadsheets the delimiter" in table.notes[0]
    assert read(tmp_path, "sep=x,b\n1,2\n").names == ["sep=x", "b"]


def test_lines_above_the_header_are_pointed_out(tmp_path: Path) -> None:
    assert "is above the header" in refused(tmp_path, "# export of May\na,b\n1,2\n")
    assert "row names have no header" in refused(tmp_path, "a,b\nx,1,2\ny,1,2\n")
    assert "is above" not in refused(tmp_path, "a,b\n1,2\n1,2\n1,2\n1,2,3\n")


def test_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b,c\n1,x,3\n2,y,4\n", columns=["c", "a"])
    assert table.names == ["a", "c"]
    assert rows(table) == [("1", "3"), ("2", "4")]
    assert read(tmp_path, "a,b\n1,2\n", columns=[]).columns == ()
    said = refused(tmp_path, "age,b\n1,2\n", SchemaError, columns=["agee"])
    assert 'no column "agee"' in said
    assert 'Did you mean "age"' in said
    assert 'no column "z"' in refused(tmp_path, "age,b\n1,2\n", SchemaError, types={"z": ValueType.STRING})
    assert "list of texts" in refused(tmp_path, "age,b\n1,2\n", RecipeError, columns="age")


def test_columns_left_out_are_still_checked(tmp_path: Path) -> None:
    assert "line 3 has 1 field" in refused(tmp_path, "a,b\n1,2\n3\n", columns=["a"])


def test_a_type_asked_for_that_does_not_fit_names_count_and_line_and_no_value(tmp_path: Path) -> None:
    data = 'a,b\n"1\n",x\n\nsecret,y\n3,z\nsecret,w\n'
    said = refused(tmp_path, data, types={"a": ValueType.INTEGER})
    assert "2 values do not fit" in said
    assert "(lines 5, 7)" in said
    assert "secret" not in said
    assert types(read(tmp_path, "a\n1\n2\n", types={"a": ValueType.STRING})) == ["string"]
    assert types(read(tmp_path, "a\n1\n2\n", types={"a": "number"})) == ["number"]
    assert 'no type "int"' in refused(tmp_path, "a\n1\n", SchemaError, types={"a": "int"})


def test_header_given(tmp_path: Path) -> None:
    assert read(tmp_path, "1,2\n3,4\n", header=True).names == ["1", "2"]
    table = read(tmp_path, "a,b\nc,d\n", header=False)
    assert table.names == ["column_1", "column_2"]
    assert table.n_rows == 2
    assert table.notes == ()


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    for data in ("a,b", "a,b\n", "a,b\n\n\n", "\ufeffa,b\r\n"):
        table = read(tmp_path, data)
        assert (table.names, table.n_rows) == (["a", "b"], 0)
        assert types(table) == ["string", "string"]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"  \n", b"\xef\xbb\xbf", b"\xff\xfe", gzip.compress(b"", mtime=0)])
def test_empty_files_are_refused(tmp_path: Path, data: bytes) -> None:
    assert "is empty" in refused(tmp_path, data)


def test_blank_lines(tmp_path: Path) -> None:
    assert rows(read(tmp_path, "a,b\n\n1,2\n\n3,4\n\n\n")) == [("1", "2"), ("3", "4")]
    assert rows(read(tmp_path, "a\n1\n\n3\n\n\n")) == [("1",), (None,), ("3",)]


def test_carriage_returns(tmp_path: Path) -> None:
    assert rows(read(tmp_path, 'a,b\r\n"x\r\ny",2\r\n3,"4"\r\n')) == [("x\r\ny", "2"), ("3", "4")]
    table = read(tmp_path, "a,b\r1,2\r3,4\r")
    assert rows(table) == [("1", "2"), ("3", "4")]


def test_columns_of_one_value_and_of_none(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b,c\n1,,x\n1,,x\n")
    assert [len(column.values) for column in table.columns] == [1, 0, 1]
    assert table["b"].type is ValueType.STRING
    assert table["b"].n_missing == 2


def test_blocks_agree_with_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "a,b,c\n" + "".join(f'{row % 7},"w {row * row % 11}",{row}\n' for row in range(500))
    whole = read(tmp_path, data)
    monkeypatch.setattr(encoding.TextFile.blocks, "__defaults__", (100,))
    monkeypatch.setattr(delimited, "_BUNCH_BYTES", 250)
    shares: list[float] = []
    parts = read(tmp_path, data, progress=lambda step, share, note="": shares.append(share))
    assert rows(parts) == rows(whole)
    assert [column.values.tolist() for column in parts.columns] == [column.values.tolist() for column in whole.columns]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 20


def test_a_reader_that_disagrees_with_the_scan_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    real = pl.read_csv
    monkeypatch.setattr(pl, "read_csv", lambda *args, **kwargs: real(*args, **kwargs).head(1))
    assert "the 2 records from line 2 on could not be split" in refused(tmp_path, "a,b\n1,2\n3,4\n")

    def failing(*args: Any, **kwargs: Any) -> None:
        raise pl.exceptions.ComputeError("secret")

    monkeypatch.setattr(pl, "read_csv", failing)
    said = refused(tmp_path, "a,b\n1,2\n3,4\n")
    assert "could not be split" in said
    assert "secret" not in said


nasty = st.text(
    alphabet=st.one_of(
        st.sampled_from(" \t\"'`,;|\n\r\\#-.0123456789\ufeff\u00a0\u2028éÄ漢😀NA?"),
        st.characters(exclude_categories=("Cs",), exclude_characters="\0"),
    ),
    max_size=8,
)
names = st.lists(
    nasty.map(lambda name: name.replace("\ufeff", "").strip()).filter(bool).filter(lambda name: name.strip() == name),
    min_size=1,
    max_size=4,
    unique=True,
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    head = draw(names)
    return head, draw(st.lists(st.lists(nasty, min_size=len(head), max_size=len(head)), max_size=8))


@settings(max_examples=examples(150))
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|", ":"]),
    st.sampled_from(['"', "'"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([7, 64, 1 << 20]),
)
def test_what_is_written_in_a_known_dialect_is_read_back(
    table: tuple[list[str], list[list[str]]], delimiter: str, quote: str, quoting: int, coding: str, size: int
) -> None:
    head, records = table
    # A plain record, so that no accident (a space after every delimiter) makes another dialect the likelier one.
    records = [["x"] * len(head), *records, ["x"] * len(head)]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quotechar=quote, quoting=quoting).writerows([head, *records])  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding.TextFile.blocks, "__defaults__", (size,))
        patch.setattr(delimited, "_BUNCH_BYTES", size)
        path = Path(folder) / "t.csv"
        path.write_bytes(out.getvalue().encode(coding))
        found = read_table(
            path,
            delimiter=delimiter,
            quote=quote,
            encoding=coding,
            header=True,
            types=dict.fromkeys(head, ValueType.STRING),
        )
    assert found.names == head
    assert rows(found) == [tuple(cell or None for cell in record) for record in records]


words = st.text(alphabet="abc \"'éN", min_size=1, max_size=6)


@settings(max_examples=examples(100))
@given(
    st.lists(st.tuples(st.integers(-(10**6), 10**6), words, st.none() | st.floats(-1e6, 1e6), st.dates()), max_size=20),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_guessed_about_an_ordinary_file_is_right(
    records: list[tuple[Any, ...]], delimiter: str, line_end: str
) -> None:
    records = [(1, "plain", 0.5, "2020-01-01"), *records]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([["age", "a name", "x", "born"], *records])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(out.getvalue().encode())
        found = read_table(path)
    assert types(found) == ["integer", "string", "number", "date"]
    age, name, x, born = found.columns
    assert age.values[age.codes].tolist() == [record[0] for record in records]
    assert name.values[name.codes].tolist() == [record[1] for record in records]
    assert [None if code == len(x.values) else x.values[code] for code in x.codes] == [record[2] for record in records]
    printed = texts_of(born.values, born.type)
    assert [printed[code] for code in born.codes] == [str(record[3]) for record in records]
