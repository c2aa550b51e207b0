"""CSV files, plain and in gzip, read with everything guessed and with types that were asked for."""

from __future__ import annotations

import gzip

from fuzz.clinic import file_of
from fuzz.judging import SECRET, tried
from lookalike.data.schema import ValueType
from lookalike.files.tables import read_table

_PLAIN = (
    "age,born,zip code,disease\n"
    f'30,1980-01-02,{SECRET},"{SECRET}, ""x"""\n'
    "41,1990-12-31,01234,\n"
    f"?,2001-02-03,{SECRET},flu\n"
).encode()
SEEDS = (
    _PLAIN,
    gzip.compress(_PLAIN, mtime=0),
    _PLAIN.decode().encode("utf-16"),
    f"a;b\n1,5;{SECRET}\n2,25;y\n".encode(),
    f"a\tb\r\n1\t{SECRET}\r\n".encode(),
    f"a|b\r1|'{SECRET}'\r".encode(),
    b"when\n2024-01-02T03:04:05.678+02:00\n2024-01-02 03:04Z\n",
    b"caf\xe9,b\nna\xefve,1\n",
    b"a,b\n1e999999,NaN\n-inf,9223372036854775808\n",
    f'a,b\n"never closed,{SECRET}\n'.encode(),
)
WORDS = (b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\0",
         b"1e999999", b"NaN", b"-inf", b"9223372036854775808", b"0001-01-01", b"9999-12-31T23:59:60Z", b"+14:00",
         b"true", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xcc\x81", b" ", SECRET.encode())  # fmt: skip


def run(data: bytes) -> None:
    path = file_of("table.csv", data)
    tables = []
    tried(lambda: tables.append(read_table(path)), named=_header(data))
    if not tables:
        return
    for asked in (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATETIME, ValueType.STRING):
        tried(lambda asked=asked: read_table(path, types={tables[0].names[0]: asked}), named=_header(data))


def _header(data: bytes) -> bytes:
    """Names of columns may be shown; what is on the first line may be one. In other guises it is not looked for."""
    if not data.isascii() or data[:2] == b"\x1f\x8b":
        return SECRET.encode()
    return next((line for line in data.replace(b"\r", b"\n").split(b"\n") if line.strip()), b"")
