"""The other files of a release folder: tables as CSV and Parquet, and the schema. The first byte says which."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fuzz.clinic import PLACES, clinic, folder_of, replaced
from fuzz.judging import SECRET, tried
from lookalike.analysis.release import open_release
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.read import ReleaseFolder
from tests.reading import read_release


@cache
def files() -> tuple[Path, ...]:
    wanted = (".csv", ".parquet", ".yaml")
    return tuple(
        path
        for place in PLACES
        for path in sorted(folder_of(place).rglob("*"))
        if path.is_file() and path.suffix in wanted
    )


SEEDS = tuple(bytes([number]) + path.read_bytes() for number, path in enumerate(files()))
WORDS = (b"PAR1", b"\xff\xff\xff\x7f", b"|(missing)", b"28-39", b" to ", b"\\", b"*", b"nan", b"inf", b"1e999", b'"',
         b"prefixes", b"intervals", b"dates", b"tree", b"&a ", b"*a", b"role: carried",
         b"9999-12-31", b"0001s")  # fmt: skip


def run(data: bytes) -> None:
    path = files()[(data[0] if data else 0) % len(files())]
    folder = path.parent if path.parent.suffix == "" else path.parent.parent
    with replaced(path, data[1:]):
        tried(lambda: open_release(folder), named=SECRET)
        tried(lambda: read_alone(ReleaseFolder(folder)), named=SECRET)
        tried(lambda: read_release(folder, clinic()), named=SECRET)
