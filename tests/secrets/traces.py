"""What a published file may not hold, looked for in its bytes and in whatever is packed inside them."""

from __future__ import annotations

import getpass
import io
import re
import socket
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

_LEAST = 5
"""Shorter names (of a user, a machine) are in files for other reasons."""


def traces(files: Iterable[Path], *, seed: int, words: Iterable[str | Path] = ()) -> list[str]:
    """What was found, each as file: trace. `words` are planted: values, paths, names."""
    wanted = {str(word) for word in words} | {getpass.getuser(), socket.gethostname()}
    wanted = {word for word in wanted if len(word) >= _LEAST} | {str(Path.cwd()), str(Path.home()) + "/"}
    needles = {word: word.encode() for word in wanted}
    needles |= {"seed": str(seed).encode(), "seed in hex": f"{seed:x}".encode(), "seed in HEX": f"{seed:X}".encode()}
    needles |= {f"seed in bytes, {order}": seed.to_bytes(8, order) for order in ("little", "big")}
    found = []
    for path in files:
        assert path.is_file()
        for content in _contents(path.read_bytes()):
            found += [f"{path.name}: {name}" for name, needle in needles.items() if needle in content]
            found += [f"{path.name}: the time {one.decode()}" for one in _TIMES.findall(content)]
    return found


def _of_these_days() -> bytes:
    """Seconds since 1970, as numbers begin this fortnight."""
    return str(int(time.time()))[:4].encode()


_TIMES = re.compile(
    rb"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d|(?<![\d.,])" + _of_these_days() + rb"\d{6}(?:\d{3}){0,3}(?![\d])"
    rb"|D:20\d{6}(?!000000)\d{6}"
)


def _contents(content: bytes) -> Iterator[bytes]:
    """The bytes of a file, and those that are compressed inside it."""
    yield content
    if content.startswith(b"PAR1"):
        file = pq.ParquetFile(io.BytesIO(content))
        yield pl.read_parquet(io.BytesIO(content)).write_json().encode()
        yield str(file.metadata.to_dict()).encode()
        yield str(pq.read_schema(io.BytesIO(content)).metadata).encode()
    elif content.startswith(b"%PDF"):
        for packed in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
            try:
                yield zlib.decompressobj().decompress(packed)
            except zlib.error:
                continue
    elif content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as zipped:
            for entry in zipped.infolist():
                assert entry.date_time == (1980, 1, 1, 0, 0, 0)
                yield from _contents(zipped.read(entry))


def check_parquet(path: Path) -> None:
    """Metadata name the library and the types; statistics and dictionaries tell nothing that the cells do not."""
    file = pq.ParquetFile(path)
    assert re.fullmatch(r"Polars (\(\w+\) )?version [\d.]+( \(build \w+\))?", file.metadata.created_by)
    assert set(file.metadata.metadata or {}) <= {b"ARROW:schema"}
    schema = file.schema_arrow
    assert all(field.metadata is None and not pa.types.is_dictionary(field.type) for field in schema)
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        for place in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(place)
            cells = _leaf(table, column.path_in_schema)
            known = {cell for cell in cells.to_pylist() if cell is not None}
            statistics = column.statistics
            if statistics is not None and statistics.has_min_max:
                assert {statistics.min, statistics.max} <= known, f"{path.name}: statistics of {column.path_in_schema}"
            if column.physical_type == "BYTE_ARRAY":
                packed = pq.ParquetFile(path, read_dictionary=[column.path_in_schema]).read_row_group(group)
                for chunk in _leaf(packed, column.path_in_schema).chunks:
                    if pa.types.is_dictionary(chunk.type):
                        assert set(chunk.dictionary.to_pylist()) - {None} <= known, f"{path.name}: a dictionary"


def _leaf(table: Any, path: str) -> Any:
    """The cells of a leaf column, whatever it is nested in."""
    name, *below = path.split(".")
    cells = table.column(name)
    for part in below:
        if part in ("list", "element", "item"):
            cells = pa.chunked_array([chunk.flatten() for chunk in cells.chunks]) if part == "list" else cells
        else:
            cells = pa.chunked_array([chunk.flatten()[chunk.type.get_field_index(part)] for chunk in cells.chunks])
    return cells
