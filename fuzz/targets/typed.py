"""Files with types: Parquet, Arrow files and Arrow streams."""

from __future__ import annotations

import io

import polars as pl

from fuzz.clinic import file_of
from fuzz.judging import SECRET, tried
from lookalike.files.tables import read_table

_FRAME = pl.DataFrame(
    {
        "age": [30, None, 41],
        "disease": [SECRET, "flu", ""],
        "born": pl.Series(["1980-01-02", None, "2001-02-03"]).str.to_date(),
        "weight": [61.5, float("nan"), -0.0],
    }
)
_NESTED = pl.DataFrame({"all": [{"a": [SECRET], "b": {"c": [1, 2]}}], "bytes": [b"x"], "none": [None]})


def _written(frame: pl.DataFrame, how: str) -> bytes:
    buffer = io.BytesIO()
    if how == "parquet":
        frame.write_parquet(buffer, compression="uncompressed", statistics=False)
    elif how == "arrow":
        frame.write_ipc(buffer)
    else:
        frame.write_ipc_stream(buffer)
    return buffer.getvalue()


SEEDS = tuple(_written(frame, how) for how in ("parquet", "arrow", "stream") for frame in (_FRAME, _NESTED))
WORDS = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"FEA1", b"PK\x03\x04")


def run(data: bytes) -> None:
    # Names stand somewhere in the file as well: what may be shown is not told apart here.
    path = file_of("table.parquet", data)
    tried(lambda: read_table(path), named=SECRET)
