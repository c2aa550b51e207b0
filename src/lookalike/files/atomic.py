"""Folders that appear whole or not at all.

    with placed(target, marker=..., overwrite=...) as building:
        ...                                          write files into `building`

The files are built in a hidden folder beside the target (`hidden.py`), synced, and moved into place by one rename; an
earlier release and the new one change places in one step where the system can do that. Whatever goes wrong before, a
crash, a full disk or Ctrl-C, leaves the target as it was. Only a folder that holds nothing but files of our own making
is ever replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from lookalike.errors import RecipeError, counted
from lookalike.files.hidden import ASIDE, cannot_write, clear_leftovers, hidden_beside
from lookalike.untrusted import load_json, read_text


@contextmanager
def placed(target: Path, *, marker: str, overwrite: bool) -> Iterator[Path]:
    """A folder to write into, which becomes `target` when the block ends without an error.

    `marker` is the JSON file by which a folder of ours is known; its `lookalike.files` lists what belongs to it, in
    sub-folders as folder/file.
    """
    target = Path(os.path.realpath(target))
    check_target(target, marker=marker, overwrite=overwrite)
    try:
        with hidden_beside(target) as hidden:
            # Inside the closed folder the new one gets the permissions that the user's other folders have.
            building = hidden / "new"
            building.mkdir()
            yield building
            for path in sorted(building.rglob("*"), reverse=True):
                sync(path)
            sync(building)
            check_target(target, marker=marker, overwrite=overwrite)
            _move_in(building, target, hidden / ASIDE)
            sync(target.parent)
    except OSError as error:
        raise cannot_write(target.parent, error) from None


def _move_in(building: Path, target: Path, aside: Path) -> None:
    if not target.exists():
        os.rename(building, target)
    elif not _exchange(building, target):
        # Stopped between these two, the earlier release is put back, by this run or, if it was killed, by the next.
        os.rename(target, aside)
        os.rename(building, target)


def _exchange(first: Path, second: Path) -> bool:
    """Let two folders change places in one step; False where that cannot be done, and nothing was."""
    if sys.platform != "linux":
        return False
    import ctypes

    at_cwd, exchange = -100, 2
    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    return bool(rename(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), exchange) == 0)


def check_target(target: Path, *, marker: str, overwrite: bool) -> None:
    """Refuse a target that exists, unless it may be overwritten and holds nothing but our own files.

    What a killed run left beside it is put right first.
    """
    clear_leftovers(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise RecipeError(f"{target} is a file; a folder is written there. Choose another name.")
    if not overwrite:
        raise RecipeError(f"{target} exists already. Choose another name, or allow overwriting (--overwrite).")
    if not any(target.iterdir()):
        return
    ours = _files_of(target / marker)
    if ours is None:
        raise RecipeError(f"{target} was not written by lookalike, so it is not overwritten. Choose another name.")
    strange = _count_strange(target, ours)
    if strange:
        raise RecipeError(
            f"{target} holds {counted(strange, 'entry', 'entries')} that lookalike did not write. Move them away, or "
            "choose another name."
        )


def _count_strange(target: Path, ours: set[str]) -> int:
    """Entries that are not ours; a folder in which nothing is ours counts as one and is not looked into."""
    of_ours = {parent.as_posix() for name in ours for parent in PurePosixPath(name).parents} - {"."}

    def count(folder: Path) -> int:
        strange = 0
        for path in folder.iterdir():
            name = path.relative_to(target).as_posix()
            if name in of_ours and path.is_dir() and not path.is_symlink():
                strange += count(path)
            else:
                strange += name not in ours
        return strange

    return count(target)


def _files_of(marker: Path) -> set[str] | None:
    try:
        block = load_json(read_text(marker))["lookalike"]
        return {str(name) for name in block["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sync(path: Path) -> None:
    """Ask the disk to keep it. Some file systems cannot sync folders; then the rename has to do."""
    try:
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        if not path.is_dir():
            raise
