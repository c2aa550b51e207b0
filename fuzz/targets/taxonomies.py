"""Taxonomy files, alone and over the values of a column."""

from __future__ import annotations

from fuzz.clinic import file_of, people
from fuzz.judging import SECRET, tried
from lookalike.data.microdata import texts_of
from lookalike.data.taxonomy import Taxonomy, build, read_paths

SEEDS = (
    b"angina;Heart;*\nmurmur;Heart;*\nmigraine;Head;*\n",
    b'"a, b",c,Any\nd,Any,Any\n',
    "".join(f"{SECRET}{row};some;*\n" for row in range(4)).encode(),
    b"\xef\xbb\xbfa;b\nb;b\n",
)
WORDS = (b";", b",", b"\n", b'"', b"*", b"(missing)", b"\xef\xbb\xbf", b"\r", b"\0")


def run(data: bytes) -> None:
    path = file_of("taxonomy.csv", data)
    column = people()["zip"]
    texts = texts_of(column.values, column.type)
    tried(lambda: Taxonomy.from_paths(read_paths(path)).to_plain(), named=data)
    tried(lambda: build({"file": str(path)}, texts, texts, column="zip", with_missing=True), named=data)
