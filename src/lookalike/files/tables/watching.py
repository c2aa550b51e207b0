"""Notices a file that somebody changes while it is read.

A table is read in several walks and column after column. Of a file that changes in between, columns could come from
different tables, and a record would get another person's values. So such a reading is thrown away, whatever it gave.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lookalike.errors import DataError


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise `DataError` if the file at `path` is another one after the block, or has other content or size."""
    before = _state(path)
    try:
        yield
    finally:
        if before is not None and _state(path) != before:
            raise DataError(
                f"{path} was changed while it was read. Nothing is made of it. Wait until it is written, and run again."
            ) from None


def _state(path: Path) -> tuple[int, ...] | None:
    """What a file cannot keep when it is written to or replaced; None if there is no regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
