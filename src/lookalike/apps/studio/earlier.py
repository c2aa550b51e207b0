"""Earlier releases of the same people, which the next one is held against: runs of this table, or folders on this
machine. A run is named by its number; where it lies is the studio's business."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.apps.studio.jobs import Jobs
from lookalike.apps.studio.openapi import EarlierRelease
from lookalike.apps.studio.results import release_of
from lookalike.apps.studio.uploads import existing_file
from lookalike.errors import RecipeError


def find_earlier(given: Sequence[EarlierRelease], project: str, jobs: Jobs) -> list[dict[str, Any]]:
    """Where each release lies, with its original if one is named, and what a command calls it."""
    return [_find(one, project, jobs) for one in given]


def _find(one: EarlierRelease, project: str, jobs: Jobs) -> dict[str, Any]:
    if (one.run is None) == (one.folder is None):
        raise RecipeError("An earlier release is a run of this table or a folder on this machine. Name one of the two.")
    if one.run is not None:
        if one.original is not None:
            raise RecipeError("A run of this table was made from this table. Leave the original out.")
        folder = release_of(jobs.job(project, one.run))
        return {"folder": str(folder), "original": None, "name": f"RELEASE-OF-RUN-{one.run}"}
    path = Path(one.folder or "")
    if not path.is_absolute():
        raise RecipeError(f"{path} is not a full path. Write it from the root on, as in /home/me/release.")
    if not path.is_dir():
        raise RecipeError(f"There is no folder {path}. Name the folder of an earlier release.")
    original = None if one.original is None else str(existing_file(one.original))
    return {"folder": str(path), "original": original, "name": str(path) if original is None else f"{path}={original}"}
