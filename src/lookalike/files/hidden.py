"""Hidden folders in which files are built, and what killed runs left of them.

    with hidden_beside(target) as hidden:
        ...                                   build in `hidden`, move it to `target` by a rename

A hidden folder lies beside its target (same file system), is closed to others, and is locked for as long as its process
lives. A process that is killed cannot clean up; the lock goes with it. So the next run knows a leftover from the work
of somebody who is still at it, and removes it. An earlier release that was only set aside is put back first.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lookalike.errors import RecipeError

ASIDE = "old"
"""In a hidden folder: the earlier release, while the new one takes its place."""
_NAMES = "[a-z0-9_]{8}"
"""What `tempfile` puts between prefix and suffix."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def hidden_beside(target: Path) -> Iterator[Path]:
    """A new hidden folder, removed in the end with all that is still in it."""
    clear_leftovers(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    hidden, lock = _locked(target)
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
        lock = _lock(hidden) if _is_mine(hidden) else None
        if lock is None:
            continue
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


def _locked(target: Path) -> tuple[Path, int | None]:
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
    """Held until it is closed or the process ends; None if somebody holds it, or nobody can."""
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
