"""Excel workbooks: types as people mean them, sheets by name, and hostile ones refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lookalike.data.microdata import texts_of
from lookalike.errors import DataError, MissingPart, RecipeError, SchemaError
from lookalike.files.tables import compressed, read_table
from tests.files.tables.workbook_files import Day, Formula, write_workbook

ROWS = [
    ["age", "weight", "admitted", "smokes", "diagnosis", "computed"],
    [34, 70.5, Day(45000), True, "flu", Formula("6*7")],
    [35, 71.0, Day(45001), False, "=cold", Formula("6*7")],
    [None, 80.25, None, True, "flu", None],
]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("books") / "stays.xlsx"
    return write_workbook(path, {"Stays": ROWS, "Notes & more": [["about"], ["text"]]})


def test_types_dates_and_stored_values(book: Path) -> None:
    table = read_table(book)
    assert {column.name: str(column.type) for column in table.columns} == {
        "age": "integer",
        "weight": "number",
        "admitted": "date",
        "smokes": "boolean",
        "diagnosis": "string",
        "computed": "integer",
    }
    admitted, computed = table["admitted"], table["computed"]
    assert texts_of(admitted.values, admitted.type) == ["2023-03-15", "2023-03-16"]
    assert computed.values.tolist() == [42]
    assert [column.n_missing for column in table.columns] == [1, 0, 1, 0, 0, 1]
    assert table.notes[0] == 'The sheet "Stays", the first of 2, was read.'


def test_a_sheet_by_name_and_by_place(book: Path) -> None:
    for sheet in ("Notes & more", 2, "2"):
        table = read_table(book, sheet=sheet)
        assert (table.names, table.notes) == (["about"], ())
    with pytest.raises(RecipeError, match='no sheet "Stayz". Did you mean "Stays"'):
        read_table(book, sheet="Stayz")
    plain = book.with_name("t.csv")
    plain.write_text("a\n1\n")
    with pytest.raises(RecipeError, match="no Excel workbook"):
        read_table(plain, sheet=1)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["age", None, "sex"], [1, 2, 3]], r"1 column without a name \(B\).*merged"),
        ([["age", "age"], [1, 2]], "same name"),
        ([[None, None], ["a", "b"], [1, 2]], "first row is empty.*remove empty rows and titles"),
        ([], "first row is empty"),
    ],
)
def test_headers_that_name_nothing(tmp_path: Path, rows: list[list[object]], said: str) -> None:
    path = write_workbook(tmp_path / "t.xlsx", {"Sheet": rows})
    with pytest.raises((DataError, SchemaError), match=said):
        read_table(path)


def test_blank_rows_at_the_end_are_no_records(tmp_path: Path) -> None:
    path = write_workbook(
        tmp_path / "t.xlsx", {"Sheet": [["a"], [1], [None], [2]]}, extra='<row r="9"><c r="A9"/></row>'
    )
    assert read_table(path)["a"].codes.tolist() == [0, 2, 1]


def test_a_cell_far_away_is_refused_before_room_is_made_for_it(tmp_path: Path) -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path = write_workbook(tmp_path / "t.xlsx", {"Sheet": [["a"], [1]]}, extra=far)
    with pytest.raises(DataError, match="reaches over 1,048,576 rows and 16,384 columns"):
        read_table(path)


def test_a_workbook_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_workbook(tmp_path / "t.xlsx", {"Sheet": [["a"], [1]]}, extra=" " * (1 << 20))
    assert read_table(path).n_rows == 1
    monkeypatch.setattr(compressed, "FREE_BYTES", 1 << 16)
    with pytest.raises(DataError, match="times its size"):
        read_table(path)


def test_damaged_workbooks_and_old_ones(tmp_path: Path, book: Path) -> None:
    data = bytearray(book.read_bytes())
    data[60:400] = bytes(340)
    path = tmp_path / "t.xlsx"
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="damaged"):
        read_table(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(DataError, match="damaged"):
        read_table(path)


def test_without_the_library(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingPart, match=r"lookalike\[excel\]"):
        read_table(book)
