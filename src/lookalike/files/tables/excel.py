"""A sheet of an Excel workbook (.xlsx, .xlsm, .xls) as typed columns.

The first row names the columns. Formulas count by the values that were stored with them; cells with an error are
missing. A workbook is looked at before it is opened: what it unpacks to, and how far apart its cells lie, since readers
make room for the whole rectangle between the first cell and the last.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from lookalike.errors import DataError, MissingPart, RecipeError, SchemaError, counted, quoted, unknown_name
from lookalike.files.tables.compressed import open_archive, refuse_too_much
from lookalike.files.tables.formats import OLD_EXCEL, name_nameless, read_head, refuse_bad_names

_MOST_CELLS = 50_000_000
_PIECE = 1 << 20
_PLACE = re.compile(rb"""\br=["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_LONGEST_PLACE = 20
_EXACT = 1 << 53


def is_workbook(path: Path) -> bool:
    try:
        with path.open("rb") as file, open_archive(file, path) as archive:
            return any(name.startswith("xl/workbook.") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def sheet_names(path: Path) -> list[str]:
    """The sheets of a workbook, hidden ones too; none for any other file."""
    if not read_head(path).startswith(OLD_EXCEL) and not (zipfile.is_zipfile(path) and is_workbook(path)):
        return []
    return list(_fastexcel(path).read_excel(str(path)).sheet_names)


def read_sheet(path: Path, sheet: str | int | None, unpack_limit: int | None) -> tuple[pl.DataFrame, list[str]]:
    """A sheet by name, by place (from 1) or the first one; and what is to be said."""
    excel = _fastexcel(path)
    if zipfile.is_zipfile(path):
        _refuse_bombs(path, unpack_limit)
    damaged = DataError(f"{path.name} is damaged, or a workbook that cannot be read here. Save it as CSV.")
    try:
        book = excel.read_excel(str(path))
        names: list[str] = book.sheet_names
    except (excel.FastExcelError, OSError):
        raise damaged from None
    name, notes = _choose_sheet(path.name, names, sheet)
    try:
        head = book.load_sheet(name, header_row=None, skip_rows=0, n_rows=1, dtypes="string").to_polars()
        header = [str(cell or "").strip() for cell in (head.row(0) if len(head) else ())]
        where = f"{path.name}, sheet {quoted(name)}"
        if header and not header[0] and all(header[1:]):
            header, renamed = name_nameless(header)
            notes = [*notes, *renamed]
        _check_header(header, where)
        frame = book.load_sheet(
            name,
            header_row=None,
            skip_rows=1,
            column_names=header,
            schema_sample_rows=None,
            dtype_coercion="coerce",
        ).to_polars()
    except (excel.FastExcelError, pl.exceptions.PolarsError):
        raise damaged from None
    if len(frame.columns) != len(header):
        raise SchemaError(f"{where}: cells stand to the right of the header. Name every column in the first row.")
    frame = pl.DataFrame([_as_people_mean_it(column) for column in frame.get_columns()])
    return _without_blank_end(frame), notes


def _fastexcel(path: Path) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise MissingPart(
            f"{path.name} is an Excel workbook, which needs fastexcel. Install it: pip install "
            '"lookalike[excel]"; or save the sheet as CSV.'
        ) from None
    return fastexcel


def _choose_sheet(source: str, names: list[str], sheet: str | int | None) -> tuple[str, list[str]]:
    if not names:
        raise DataError(f"{source} has no sheets. Give a workbook with a table.")
    if sheet is None:
        others = f" of {len(names)}" if len(names) > 1 else ""
        return names[0], [f"The sheet {quoted(names[0])}, the first{others}, was read."]
    if isinstance(sheet, str) and sheet in names:
        return sheet, []
    place = int(sheet) if isinstance(sheet, int) or (sheet.isdecimal() and len(sheet) < 6) else 0
    if 1 <= place <= len(names):
        return names[place - 1], []
    raise RecipeError(f"{source}: {unknown_name('sheet', str(sheet), names)}")


def _check_header(header: list[str], where: str) -> None:
    if not any(header):
        raise DataError(f"{where}: the first row is empty. It should name the columns; remove empty rows and titles.")
    if nameless := [_letters(place) for place, name in enumerate(header) if not name]:
        raise SchemaError(
            f"{where}: {counted(len(nameless), 'column')} without a name ({', '.join(nameless[:10])}). Cells of the "
            "first row are empty or merged: give every column a cell with its name."
        )
    refuse_bad_names(header, where)


def _letters(place: int) -> str:
    """
    >>> _letters(0), _letters(25), _letters(26)
    ('A', 'Z', 'AA')
    """
    before, last = divmod(place, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _as_people_mean_it(column: pl.Series) -> pl.Series:
    """Workbooks know one kind of number, and days are times at midnight."""
    if column.dtype.is_float():
        known = column.drop_nulls()
        if len(known) and bool(((known.round() == known) & (known.abs() < _EXACT)).all()):
            return column.cast(pl.Int64)
    if isinstance(column.dtype, pl.Datetime) and bool((column.dt.truncate("1d") == column).all()):
        return column.cast(pl.Date)
    return column


def _without_blank_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows below the table that were touched once and are empty are no records."""
    written = frame.select(written=~pl.all_horizontal(pl.all().is_null()))["written"].arg_true()
    return frame.head(int(written[-1]) + 1 if len(written) else 0)


def _refuse_bombs(path: Path, unpack_limit: int | None) -> None:
    """Read the archive as a reader would, and count: what it says of itself need not be true."""
    packed = path.stat().st_size
    total = 0
    try:
        with path.open("rb") as file, open_archive(file, path) as archive:
            refuse_too_much(sum(member.file_size for member in archive.infolist()), packed, path, unpack_limit)
            for member in archive.infolist():
                is_sheet = "worksheets/" in member.filename
                rows, columns, before = 1, 1, b""
                with archive.open(member) as content:
                    while piece := content.read(_PIECE):
                        total += len(piece)
                        refuse_too_much(total, packed, path, unpack_limit)
                        for letters, row in _PLACE.findall(before + piece) if is_sheet else ():
                            rows, columns = max(rows, int(row)), max(columns, _place(letters))
                        before = piece[-_LONGEST_PLACE:]
                if rows * columns > _MOST_CELLS:
                    raise DataError(
                        f"{path.name}: a sheet reaches over {rows:,} rows and {columns:,} columns, more than is read "
                        "from a workbook. Remove cells that stand far away, or save the sheet as CSV."
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError):
        raise DataError(f"{path.name} is damaged, or asks for a password. Save the sheet as CSV.") from None


def _place(letters: bytes) -> int:
    """
    >>> _place(b"A"), _place(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number
