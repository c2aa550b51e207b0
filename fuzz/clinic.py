"""What targets read hostile input beside: a small table, and releases of it in every form, in folders of their own.

The folders lie in a temporary place that is removed at the end; a target may change a file there and puts it back.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.judging import SECRET
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import MatchGraph, RecordMap
from lookalike.data.schema import ValueType
from lookalike.files.releases.write import write_release
from tests.files.releases.part_folders import clinic_in_parts
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release, column, small_clinic, write_private

PARTS = "parts"
PLACES = (*FORMS, PARTS)


@cache
def workplace() -> Path:
    place = Path(tempfile.mkdtemp(prefix="lookalike-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@cache
def clinic() -> Microdata:
    return small_clinic()


@cache
def folder_of(place: str) -> Path:
    """A release of the clinic: of a form, or in parts."""
    folder = workplace() / place
    if place == PARTS:
        clinic_in_parts(folder, FORMS[0])
    else:
        _, release = clinic_release(place)
        write_release(folder, release, manifest=MANIFEST)
    return folder


@cache
def private_folder_of_matched() -> Path:
    rows = np.arange(12, dtype=np.int64)
    graph = MatchGraph(np.arange(0, 26, 2, dtype=np.int64), np.stack([rows, np.roll(rows, 1)], 1).ravel())
    return write_private(workplace() / "kept", RecordMap(rows, rows, graph), 7)


@cache
def people() -> Table:
    """A table whose values are all secret."""
    names = [f"{SECRET}{row % 4}" for row in range(8)]
    return Table(
        (
            column("age", ValueType.INTEGER, [30, 31, 40, None, 52, 30, 61, 47]),
            column("zip", ValueType.STRING, names),
            column("disease", ValueType.STRING, [None, *names[1:]]),
            column("weight", ValueType.NUMBER, [61.5, 70.25, 0.1, 1e300, None, 5e-324, 3.0, 2.0]),
        ),
        "people.csv",
    )


@contextmanager
def replaced(path: Path, data: bytes) -> Iterator[None]:
    """The file with other bytes, for a while."""
    before = path.read_bytes()
    path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(before)


def file_of(name: str, data: bytes) -> Path:
    path = workplace() / name
    path.write_bytes(data)
    return path
