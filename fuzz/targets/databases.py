"""Databases: SQLite files (first byte even), and addresses of tables (odd), which are taken apart but not followed."""

from __future__ import annotations

import re
import sqlite3

from fuzz.clinic import file_of, workplace
from fuzz.judging import SECRET, Fault, tried
from lookalike.files.databases.address import is_address, parse_address, without_passwords
from lookalike.files.tables import read_table


def _honest() -> bytes:
    path = workplace() / "honest.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 512")
    database.execute("CREATE TABLE people (age INTEGER, ill TEXT, born DATE, weight REAL, alive BOOLEAN)")
    rows = [(30, SECRET, "1980-01-02", 61.5, 1), (None, "flu", "later", "heavy", 7)]
    database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    database.execute("CREATE VIEW seen AS SELECT age, ill FROM people")
    database.commit()
    database.close()
    return path.read_bytes()


SEEDS = (
    b"\0" + _honest(),
    b"\1sqlite:///file.db?table=people",
    b"\1duckdb:////data/x.duckdb?table=main.people",
    f"\1postgresql://ann:{SECRET}@host:5432/db?table=public.people&sslmode=require".encode(),
    f"\1env:PLACE?table=people&password={SECRET}".encode(),
)
WORDS = (b"?table=", b"&", b"%00", b"%", b'"', b'""', b".", b"//", b"@", b":", b"[::1]", b"password=", b"env:", b"#",
         b"\xff\xff\xff\xff", b"CREATE TABLE ", b"CREATE VIEW ", b"WITHOUT ROWID", b"people",
         b"\xe2\x80\xae")  # fmt: skip


def run(data: bytes) -> None:
    if data[:1] and data[0] % 2:
        _take_apart(data[1:].decode("utf-8", "surrogateescape"))
        return
    path = file_of("people.db", data[1:])
    for table in ("people", "seen"):
        tried(lambda table=table: read_table(f"sqlite:///{path}?table={table}"), named=SECRET)


def _take_apart(text: str) -> None:
    if not is_address(text):
        return
    addresses = []
    # A password may stand in the address alone: whoever reads the message must not get it.
    tried(lambda: addresses.append(parse_address(text, {"PLACE": f"postgresql://ann:{SECRET}@host/db"})))
    shown = without_passwords(text)
    if re.search(rf"\w://[^\s:/?#]*:{SECRET}@", shown):
        raise Fault("a password in a message", "address.py")
    if any(SECRET in str(address) and SECRET not in str(address.table) for address in addresses):
        raise Fault("a password in an address", "address.py")
