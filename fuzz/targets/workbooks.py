"""Excel workbooks: a file of the archive that a workbook is, replaced (first byte: which one), or the whole file."""

from __future__ import annotations

import io
import zipfile

from fuzz.clinic import file_of, workplace
from fuzz.judging import SECRET, tried
from lookalike.files.tables import read_table
from tests.files.tables.workbook_files import Day, Formula, write_workbook


def _members() -> dict[str, bytes]:
    rows = [["age", "ill", "since", "sum"], [30, SECRET, Day(45000), Formula("6*7")], [None, "flu", Day(1.5), True]]
    path = write_workbook(workplace() / "honest.xlsx", {"Stays": rows, "More": [["a"], [1]]})
    with zipfile.ZipFile(path) as book:
        return {name: book.read(name) for name in book.namelist()}


_MEMBERS = _members()
_NAMES = (*_MEMBERS, "xl/sharedStrings.xml", "xl/vbaProject.bin", None)
SEEDS = (
    *(bytes([place]) + _MEMBERS[name] for place, name in enumerate(_MEMBERS)),
    bytes([len(_NAMES) - 1]) + (workplace() / "honest.xlsx").read_bytes(),
    bytes([len(_NAMES) - 1]) + b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
    bytes([len(_MEMBERS)]) + b"<sst><si><t>x</t></si></sst>",
)
WORDS = (b"<c ", b' r="A1"', b' r="XFD1048576"', b' t="s"', b' t="b"', b' t="d"', b' t="e"', b' s="999"', b"<v>",
         b"</v>", b"1e999", b"-1", b"NaN", b"#N/A", b"99999999999999999999", b"<row ", b"</row>", b"<is><t>",
         b'<mergeCell ref="A1:B2"/>', b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"&#0;", b"&amp;", b"]]>", b"<f>",
         b'numFmtId="14"', b'formatCode="yyyy"', b'Target="/"', b'Target="../x"', b'date1904="1"', b"\0",
         b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")  # fmt: skip


def run(data: bytes) -> None:
    which = _NAMES[data[0] % len(_NAMES)] if data else None
    path = file_of("table.xlsx", data[1:] if which is None else _with(which, data[1:]))
    # Names stand in there too: what may be shown is not told apart.
    for sheet in (None, 2):
        tried(lambda sheet=sheet: read_table(path, sheet=sheet), named=SECRET)


def _with(replaced: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as book:
        for name, honest in {**_MEMBERS, replaced: content}.items():
            book.writestr(name, content if name == replaced else honest)
    return made.getvalue()
