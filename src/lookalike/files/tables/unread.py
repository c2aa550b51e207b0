"""Files that are often given for tables and are not read: told by their first bytes, and named with what to do.

Without this a Stata file is a text with a NUL byte, a web page saved under the name of a table is a table with odd
columns, and a picture is a table of nothing. Packed files are looked into. Cost: the first bytes of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lookalike.errors import DataError, LookalikeError
from lookalike.untrusted import check_plain_file

_HEAD = 512
_SAS = bytes.fromhex("00" * 12 + "c2ea8160b31411cfbd92080009c7318c181f1011")
_FRAME = "Or give the data frame itself to lookalike in Python."
_NO_TABLE = "lookalike reads tables: ask for the data behind it, as CSV, Excel or Parquet."


@dataclass(frozen=True)
class _Unread:
    """A format that is not read. `fits`: whether a file begins as such a file does."""

    name: str
    fits: Callable[[bytes], bool]
    remedy: str


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _matches(pattern: bytes) -> Callable[[bytes], bool]:
    """The same for text: byte order mark, space and case make no difference."""
    compiled = re.compile(rb"(?:\xef\xbb\xbf)?\s*" + pattern, re.IGNORECASE | re.DOTALL)
    return lambda head: compiled.match(head) is not None


def _is_old_stata(head: bytes) -> bool:
    """Release, byte order, file type, and a zero."""
    return len(head) > 3 and 102 <= head[0] <= 115 and head[1] in (1, 2) and head[2:4] == b"\x01\x00"


def _is_bitmap(head: bytes) -> bool:
    """More than its two letters, with which a header of a CSV file may begin."""
    return head.startswith(b"BM") and head[6:10] == bytes(4) and head[15:18] == bytes(3)


def _is_archive_of(member: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(b"PK\x03\x04") and member in head


_KINDS = (
    _Unread(
        "a Stata file",
        lambda head: head.startswith(b"<stata_dta>") or _is_old_stata(head),
        'In Stata: export delimited using "table.csv". In Python: pandas.read_stata("FILE").to_csv("table.csv", '
        f"index=False). {_FRAME}",
    ),
    _Unread(
        "a SAS file",
        lambda head: head.startswith((_SAS, b"HEADER RECORD*******LIB")),
        'In SAS: proc export data=TABLE outfile="table.csv" dbms=csv; run; In Python: pandas.read_sas("FILE", '
        f'encoding="utf-8").to_csv("table.csv", index=False). {_FRAME}',
    ),
    _Unread(
        "an SPSS file",
        lambda head: head.startswith((b"$FL2", b"$FL3")) or b"SPSS PORT FILE" in head,
        'In SPSS: SAVE TRANSLATE OUTFILE="table.csv" /TYPE=CSV /FIELDNAMES /CELLS=LABELS. In Python, with pyreadstat '
        f'installed: pandas.read_spss("FILE").to_csv("table.csv", index=False). {_FRAME}',
    ),
    _Unread(
        "an R data file",
        lambda head: bool(re.match(rb"RD[AX][2-9]\n|[XAB]\n(?:\x00\x00\x00[\x02\x03]|[23]\n)", head)),
        'In R: write.csv(readRDS("FILE"), "table.csv", row.names = FALSE); for an .RData file load() it first.',
    ),
    _Unread(
        "a Python pickle",
        lambda head: bool(re.match(rb"\x80(?:[\x02\x03]|[\x04\x05]\x95)", head)),
        "A pickle can run any code when it is opened, so lookalike does not. If you made it yourself: "
        'pandas.read_pickle("FILE").to_csv("table.csv", index=False).',
    ),
    _Unread(
        "a JSON file",
        _matches(rb"(?:\{\s*[\"}]|\[\s*[\[{\"\]])"),
        'A list of records becomes a table by pandas.read_json("FILE").to_csv("table.csv", index=False); one record '
        "per line needs lines=True.",
    ),
    _Unread("a PDF document", _begins(b"%PDF-"), _NO_TABLE),
    _Unread(
        "a web page (HTML)",
        _matches(rb"(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body|table|meta)\b"),
        "Some programs export HTML under the name of a workbook: open it in a spreadsheet and save it as .xlsx or CSV. "
        "If it was downloaded, look whether it is a login page instead of the table.",
    ),
    _Unread(
        "an XML file",
        _matches(rb"<\?xml\b"),
        "Open it in the program that wrote it, or in a spreadsheet, and save the table as CSV or .xlsx.",
    ),
    _Unread(
        "a picture",
        lambda head: (
            head.startswith((b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*"))
            or _is_bitmap(head)
            or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")
            or head[4:12] in (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftypavif")
            or _matches(rb"<svg\b")(head)
        ),
        _NO_TABLE,
    ),
    _Unread(
        "an OpenDocument file",
        _is_archive_of(b"mimetypeapplication/vnd.oasis.opendocument"),
        "Open it and save the sheet as .xlsx or CSV.",
    ),
    _Unread("a Word or PowerPoint document", _is_archive_of(b"word/"), _NO_TABLE),
    _Unread(
        "an SQLite database",
        _begins(b"SQLite format 3\x00"),
        "Name one of its tables: sqlite:///FILE?table=NAME (with the whole path: sqlite:////data/FILE?table=NAME).",
    ),
    _Unread(
        "a DuckDB database",
        lambda head: head[8:12] == b"DUCK",
        "Name one of its tables: duckdb:///FILE?table=NAME (with the whole path: duckdb:////data/FILE?table=NAME).",
    ),
    _Unread(
        "an HDF5 file",
        _begins(b"\x89HDF\r\n\x1a\n"),
        'In Python: pandas.read_hdf("FILE").to_csv("table.csv", index=False), for tables that pandas wrote.',
    ),
    _Unread(
        "a NumPy array",
        _begins(b"\x93NUMPY"),
        "An array has no column names. In Python: pandas.DataFrame(numpy.load(FILE), columns=[...]).to_csv(...).",
    ),
    _Unread("an ORC file", _begins(b"ORC"), "Save the table as Parquet or CSV: pandas.read_orc reads it."),
    _Unread("an Avro file", _begins(b"Obj\x01"), "Save the table as Parquet or CSV with the program that wrote it."),
    _Unread(
        "an Access database",
        lambda head: head[4:19] in (b"Standard Jet DB", b"Standard ACE DB"),
        "Export the table from Access as text (CSV) or .xlsx.",
    ),
    _Unread("a 7-Zip archive", _begins(b"7z\xbc\xaf\x27\x1c"), "Unpack it and give the file that holds the table."),
    _Unread("a RAR archive", _begins(b"Rar!\x1a\x07"), "Unpack it and give the file that holds the table."),
)


def name_unread(head: bytes) -> str | None:
    """What a file is that begins with these bytes, and what to do; None if nothing here fits.

    >>> name_unread(b"%PDF-1.7 ...").split(". ")[0], name_unread(b"age,sex\\n30,F\\n")
    ('a PDF document', None)
    """
    found = next((kind for kind in _KINDS if kind.fits(head)), None)
    # What is valid in ORC's first bytes is a word of a header too.
    if found is None or (found.name == "an ORC file" and re.match(rb"ORC[\w ,;\t\"]", head)):
        return None
    return f"{found.name}. {found.remedy}"


def refuse_unread(path: Path) -> None:
    """Raise `DataError` if a file, or what is packed in it, is no table but something that is often taken for one."""
    from lookalike.files.tables.compressed import packing_of, unpack

    check_plain_file(path)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    said = name_unread(head)
    if said is None and packing_of(path) is not None:
        try:
            with path.open("rb") as raw, unpack(raw, path) as read:
                said = name_unread(read(_HEAD))
        except LookalikeError:
            return  # said where it is read
    if said is not None:
        named = re.sub(r"\bFILE\b", lambda _: path.name, said)
        raise DataError(f"{path.name} is {named}")
