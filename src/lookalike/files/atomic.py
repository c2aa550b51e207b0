"""Folders that appear whole or not at all.

    with place_folder(target, marker=..., overwrite=...) as building:
        ...                                          write files into `building`

The files are built in a hidden folder beside the target (`hide_beside`), synced, and moved into place by one rename; an
earlier release and the new one change places in one step where the system can do that. Whatever goes wrong before, a
crash, a full disk or Ctrl-C, leaves the target as it was. Only a folder that holds nothing but files of our own making
is ever replaced.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from lookalike.errors import RecipeError, counted
from lookalike.untrusted import load_json, read_text

ASIDE = "old"
"""In a hidden folder: the earlier release, while the new one takes its place."""
_NAMES = "[a-z0-9_]{8}"
"""What `tempfile` puts between prefix and suffix."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def hide_beside(target: Path) -> Iterator[Path]:
    """A new hidden folder, removed in the end with all that is still in it."""
    clear_leftovers(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    hidden, lock = _make_locked(target)
    try:
        yield hidden
    finally:
        _remove(hidden, target)
        if lock is not None:
            os.close(lock)


def clear_leftovers(target: Path) -> None:
    """Remove hidden folders of runs that were killed; put back what they had set aside if the target is not there."""
    target = Path(os.path.realpath(target))
    ours = re.compile(rf"\.{re.escape(target.name)}\.{_NAMES}\.part")
    try:
        found = [target.parent / name for name in os.listdir(target.parent) if ours.fullmatch(name)]
    except OSError:
        return
    for hidden in found:
        if _is_mine(hidden) and (lock := _lock(hidden)) is not None:
            try:
                _remove(hidden, target)
            finally:
                os.close(lock)


def _remove(hidden: Path, target: Path) -> None:
    """Remove a hidden folder, unless it holds the only copy of the earlier release: better left than lost."""
    if (hidden / ASIDE).is_dir() and not os.path.lexists(target):
        try:
            os.rename(hidden / ASIDE, target)
        except OSError:
            return
    shutil.rmtree(hidden, ignore_errors=True)


def cannot_write(where: Path, error: OSError) -> RecipeError:
    """What to say when the disk, or who guards it, says no."""
    if error.errno in _FULL:
        return RecipeError(
            f"There is no room left to write to {where}. Make room, or choose another folder. What was there before is "
            "unchanged."
        )
    reason = error.strerror or "the system refused"
    return RecipeError(f"Cannot write to {where}: {reason}. Choose another folder.")


def _make_locked(target: Path) -> tuple[Path, int | None]:
    """A new folder and its lock; None where folders cannot be locked, and then nobody takes it for a leftover."""
    while True:
        hidden = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
        lock = _lock(hidden)
        # Another run may have taken it for a leftover in the moment before it was locked.
        if hidden.exists():
            return hidden, lock
        if lock is not None:
            os.close(lock)


def _is_mine(hidden: Path) -> bool:
    """Whether it is a folder as we make them: our own, closed to others, and no link to elsewhere."""
    try:
        found = hidden.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o700
    except (OSError, AttributeError):
        return False


def _lock(hidden: Path) -> int | None:
    """Held until it is closed or the process ends; None if someone holds it, or nobody can."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def place_folder(target: Path, *, marker: str, overwrite: bool) -> Iterator[Path]:
    """A folder to write into, which becomes `target` when the block ends without an error.

    `marker` is the JSON file by which a folder of ours is known; its `lookalike.files` lists what belongs to it, in
    sub-folders as folder/file.
    """
    target = Path(os.path.realpath(target))
    check_target(target, marker=marker, overwrite=overwrite)
    try:
        with hide_beside(target) as hidden:
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


@contextmanager
def place_file(target: Path) -> Iterator[Path]:
    """A file to write into, which becomes `target` when the block ends without an error, never in another's place."""
    try:
        with hide_beside(target) as hidden:
            building = hidden / target.name
            yield building
            sync(building)
            try:
                # A link fails where a file has come up in the meantime; a rename would replace it.
                os.link(building, target)
            except OSError:
                refuse_taken(target)
                os.rename(building, target)
    except OSError as error:
        raise cannot_write(target.parent, error) from None


def refuse_taken(target: Path) -> None:
    if os.path.lexists(target):
        raise RecipeError(f"{target} exists already. Choose another name, or remove it first.")


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
    if strange := _count_strange(target, ours):
        raise RecipeError(
            f"{target} holds {counted(strange, 'entry', 'entries')} that lookalike did not write. Move them away, or "
            "choose another name."
        )


def _count_strange(target: Path, ours: set[str]) -> int:
    """Entries that are not ours; a folder in which nothing is ours counts as one and is not looked into."""
    of_ours = {parent.as_posix() for name in ours for parent in PurePosixPath(name).parents} - {"."}

    def count(path: Path) -> int:
        name = path.relative_to(target).as_posix()
        if path == target or (name in of_ours and path.is_dir() and not path.is_symlink()):
            return sum(map(count, path.iterdir()))
        return name not in ours

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
