"""Releases read back, as tests need them: a folder of ours, or a table of another tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.files.releases.describe import PublishedManifest
from lookalike.files.releases.other_tools import read_foreign_table
from lookalike.files.releases.read import ReleaseFolder, check_readable, over_original, release_folder


def read_release(
    path: Path, original: Microdata, *, suppressed: int = 0, note: Callable[[str], object] = lambda said: None
) -> tuple[Release, PublishedManifest | None]:
    """A release over the domains of its original, and what its folder says about itself."""
    folder = release_folder(Path(path))
    if folder is not None:
        read = ReleaseFolder(folder)
        return over_original(read, original), read.manifest
    check_readable(Path(path))
    return read_foreign_table(Path(path), original, suppressed=suppressed, note=note)[0], None
