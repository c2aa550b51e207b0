"""Whether a text file can be held at all, said before an hour is spent on reading it."""

from __future__ import annotations

from pathlib import Path

from lookalike import memory
from lookalike.tables.packed import packing_of

_LOOKED_AT = 1 << 18
_BYTES_PER_CELL = 4


def check_size(path: Path, n_columns: int) -> None:
    """Raise `DataError` if the codes of so many columns would not fit: records counted by the first ones' length."""
    size = path.stat().st_size
    if size <= _LOOKED_AT or packing_of(path) is not None:
        return
    with path.open("rb") as file:
        n_lines = file.read(_LOOKED_AT).count(b"\n")
    n_records = size * n_lines // _LOOKED_AT
    memory.require(
        n_records * n_columns * _BYTES_PER_CELL,
        f"{path.name} has about {n_records:,} records; to read {n_columns:,} of its columns",
        "Name fewer columns, or use a machine with more, or let Spark read it (--backend spark).",
    )
