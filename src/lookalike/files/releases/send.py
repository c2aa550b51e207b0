"""A release folder sent to a URL: complete and audited here first, then copied, its descriptor last.

Places behind URLs know no rename, so a copy that breaks off leaves files behind. They are taken away where that can be
done; where it cannot, the descriptor is not among them, and without it a folder is no release to any reader.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from lookalike.errors import DataError, RecipeError
from lookalike.files.releases.describe import DESCRIPTOR
from lookalike.files.urls import Place, reach_place

_WITH_FOLDERS = ("file", "memory", "hdfs", "sftp")
_READ_ONLY = ("http", "https")


def check_destination(place: Place) -> None:
    """Refuse a place that is taken or cannot be written, before any work is done."""
    if place.protocol in _READ_ONLY:
        raise RecipeError(f"A release cannot be sent to {place.protocol} URLs. Write it to a folder and upload that.")
    with reach_place(place, "write") as (system, target):
        if system.exists(target) and (system.isfile(target) or system.find(target)):
            raise RecipeError(f"There is something at {place} already. Choose another name, or remove it first.")


def send(folder: Path, place: Place) -> None:
    """Copy every file of a release folder; all of it arrives, or nothing that looks like a release."""
    check_destination(place)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    files.sort(key=lambda path: path == folder / DESCRIPTOR)
    with reach_place(place, "write") as (system, target):
        sent: list[str] = []
        try:
            for path in files:
                name = f"{target.rstrip('/')}/{path.relative_to(folder).as_posix()}"
                if place.protocol in _WITH_FOLDERS:
                    system.makedirs(name.rpartition("/")[0], exist_ok=True)
                sent.append(name)
                system.put_file(str(path), name)
                if system.size(name) != path.stat().st_size:
                    raise DataError(f"{path.name} did not arrive whole at {place}. Nothing is published there.")
        except BaseException:
            for name in reversed(sent):
                with contextlib.suppress(Exception):
                    system.rm_file(name)
            raise
