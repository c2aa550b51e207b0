"""Cells of other tools' tables, over columns of every kind."""

from __future__ import annotations

from functools import cache

from fuzz.clinic import clinic
from fuzz.judging import tried
from lookalike.files.releases.assemble import DomainIndex
from lookalike.files.releases.other_tools import read_cell, read_value

SEEDS = (
    b"28", b"20-30", b"[20, 30)", b"]20 ; 30]", b">=30", b"30+", b"20 to 30", b"1980-01-05/1981-02-10", b"1980-03",
    b"1980",
    b"{Private, Federal}", b"Private|Local", b"low to high", b"130**", b"13*", b"*", b"?", b"-5--2", b"28-39|(missing)",
    b"[                                                                   x", b"1e999999-inf", b"['a','b']",
)  # fmt: skip
WORDS = (b"[", b"]", b"(", b")", b"{", b"}", b"|", b";", b",", b"..", b" to ", b"-", b"\xe2\x80\x93", b">=", b"<", b"+",
         b"inf", b"nan", b"1e999", b"*", b"(missing)", b" " * 30, b"1980-01-01", b"0000", b"9" * 30, b"low", b"Private",
         b"13001", b"\xd9\xa1", b"T00:00+01:00")  # fmt: skip


@cache
def _indices() -> tuple[DomainIndex, ...]:
    return tuple(map(DomainIndex, clinic().domains.all))


def run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for index in _indices():
        tried(lambda index=index: read_cell(index, text), named=data)
        tried(lambda index=index: read_value(index, text), named=data)
