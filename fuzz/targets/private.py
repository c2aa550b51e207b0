"""The private part of a release: the graph, which an audit of a matched release reads."""

from __future__ import annotations

from fuzz.clinic import private_folder_of_matched, replaced
from fuzz.judging import SECRET, tried
from lookalike.files.releases.private import read_graph

_FILES = ("linkage.parquet", "graph.parquet")
SEEDS = tuple(bytes([place]) + (private_folder_of_matched() / name).read_bytes() for place, name in enumerate(_FILES))
WORDS = (b"PAR1", b"\xff\xff\xff\x7f", b"rows", b"side", b"record", b"row")


def run(data: bytes) -> None:
    folder = private_folder_of_matched()
    with replaced(folder / _FILES[(data[0] if data else 0) % len(_FILES)], data[1:]):
        tried(lambda: read_graph(folder), named=SECRET)
