"""Tables that come from elsewhere, from standard input or a URL, kept for as long as they are read.

Readers walk over a file more than once, and a table need not fit into memory, so what arrives is kept in a folder of
its own that only this user may open, and that is removed whatever happens.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lookalike.errors import DataError, RecipeError
from lookalike.files.urls import Place, is_url, place_of, reached

STANDARD_INPUT = "-"
_PIECE = 1 << 20
_MOST_FILES = 10_000


@contextmanager
def at_hand(source: str | Path) -> Iterator[Path]:
    """The path of a table, which is fetched first if it is - (standard input) or a URL."""
    if source != STANDARD_INPUT and not is_url(source):
        yield Path(source)
        return
    place = place_of(str(source)) if source != STANDARD_INPUT else None
    with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
        # Errors and notes call a table by the name of its file.
        path = Path(folder) / ("standard input" if place is None else place.name)
        if place is None:
            _keep_standard_input(path)
        else:
            _fetch(place, path)
        yield path


def _keep_standard_input(path: Path) -> None:
    stream = sys.stdin
    if stream is None or stream.closed:
        raise RecipeError("There is no standard input to read the table from. Give the path of a file.")
    if stream.isatty():
        raise RecipeError("Standard input is a terminal. Send a table into it: cat table.csv | lookalike ... -")
    with path.open("wb") as file:
        shutil.copyfileobj(stream.buffer, file, _PIECE)
    if path.stat().st_size == 0:
        raise DataError("Standard input is empty. Did the command before the | fail?")


def _fetch(place: Place, target: Path) -> None:
    with reached(place, "read") as (system, source):
        if not system.isdir(source):
            _copy(system, source, target)
            return
        names = system.find(source)
        if len(names) > _MOST_FILES:
            raise DataError(f"{place} holds more than {_MOST_FILES:,} files. Give a folder of one table.")
        root = source.rstrip("/") + "/"
        for name in names:
            within = name.removeprefix(root)
            if within == name or ".." in within.split("/") or within.startswith("/"):
                raise DataError(f"{place} lists a file outside itself. Fetch the files by hand.")
            _copy(system, name, target / within)


def _copy(system: Any, source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with system.open(source, "rb") as stream, target.open("wb") as file:
        shutil.copyfileobj(stream, file, _PIECE)
