"""Text packed by bzip2, xz, zstd and zip (gzip: see delimited), and archives of archives."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile

import pyarrow as pa

from fuzz.clinic import file_of
from fuzz.judging import SECRET, tried
from lookalike.files.tables import read_table

_TEXT = f"age,ill\n30,{SECRET}\n41,flu\n".encode()


def _zipped(members: dict[str, bytes], how: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, how)
    return made.getvalue()


SEEDS = (
    bz2.compress(_TEXT),
    lzma.compress(_TEXT),
    lzma.compress(_TEXT, check=lzma.CHECK_NONE),
    pa.compress(_TEXT, codec="zstd", asbytes=True),
    _zipped({"people.csv": _TEXT}, zipfile.ZIP_STORED),
    _zipped({"people.csv": _TEXT}, zipfile.ZIP_DEFLATED),
    _zipped({"people.csv": _TEXT}, zipfile.ZIP_BZIP2),
    _zipped({"people.csv": _TEXT}, zipfile.ZIP_LZMA),
    _zipped({"people.csv.xz": lzma.compress(_TEXT)}, zipfile.ZIP_STORED),
    _zipped({"a/": b"", "__MACOSX/._p.csv": b"x", "a/p.csv": _TEXT}, zipfile.ZIP_STORED),
    bz2.compress(_TEXT) * 2,
    b"",
)
WORDS = (b"BZh9", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06",
         b"\x01\x00", b"\x0c\x00", b"\x0e\x00", b"\x5f\x00", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"../",
         b"\x50\x2a\x4d\x18")  # fmt: skip


def run(data: bytes) -> None:
    path = file_of("table.packed", data)
    tried(lambda: read_table(path), named=SECRET)
