"""Whether a table can be held at all, said before an hour is spent on reading it."""

from __future__ import annotations

from pathlib import Path

from lookalike import memory
from lookalike.files.tables.compressed import packing_of

_LOOKED_AT = 1 << 18
_BYTES_PER_CELL = 4


def check_text_size(path: Path, n_columns: int) -> None:
    """Raise `DataError` if so many columns would not fit: records counted by the length of the first ones."""
    size = path.stat().st_size
    if size <= _LOOKED_AT or packing_of(path) is not None:
        return
    with path.open("rb") as file:
        n_lines = file.read(_LOOKED_AT).count(b"\n")
    n_records = size * n_lines // _LOOKED_AT
    _check(f"{path.name} has about {n_records:,} records", n_records, n_columns)


def check_size(where: str, n_records: int, n_columns: int) -> None:
    """Raise `DataError` if the codes of so many columns would not fit. A small Parquet file can have endless rows."""
    _check(f"{where} has {n_records:,} records", n_records, n_columns)


def _check(what: str, n_records: int, n_columns: int) -> None:
    memory.require(
        n_records * n_columns * _BYTES_PER_CELL,
        f"{what}; to read {n_columns:,} of its columns",
        "Name fewer columns, or use a machine with more, or let Spark read it (--backend spark).",
    )
