"""Releases read back over the domains of the original, as an auditor reads them.

A folder of ours is read by its manifest (`folder`); a table of another tool by the columns of the original's schema,
each cell in whatever notation it has (`foreign`). Either way every published value must be one that the original has;
otherwise the release does not belong to the original, and no statement about it would mean anything.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lookalike.errors import DataError
from lookalike.microdata import Microdata
from lookalike.packages.assembly import Note, suppressed_counted, unheard
from lookalike.packages.folder import read_folder
from lookalike.packages.foreign import read_foreign
from lookalike.packages.manifest import DESCRIPTOR, PublishedManifest, parse_descriptor
from lookalike.release import Release
from lookalike.schema import Schema


def read_release(
    path: Path, original: Microdata, *, suppressed: int = 0, note: Note = unheard
) -> tuple[Release, PublishedManifest | None]:
    """A release folder of ours, or another tool's table, over the original's domains.

    `suppressed` is how many records another tool left out; our folders say it themselves.
    """
    path = Path(path)
    folder = release_folder(path)
    if folder is not None:
        release, manifest = read_folder(folder, original.domains)
        return replace(release, withheld=suppressed_counted(release, original)), manifest
    if path.is_dir():
        raise DataError(
            f"{path} is not a release: it has no {DESCRIPTOR}. Name a folder that lookalike wrote, or a CSV or "
            "Parquet file."
        )
    return read_foreign(path, original, suppressed=suppressed, note=note), None


def release_folder(path: Path) -> Path | None:
    """The release folder that a path means: itself, or the one that it is a table of."""
    if path.is_dir():
        return path if (path / DESCRIPTOR).exists() else None
    beside = path.parent / DESCRIPTOR
    if not path.is_file() or not beside.exists():
        return None
    if path.name == DESCRIPTOR:
        return path.parent
    try:
        manifest = parse_descriptor(beside.read_text(encoding="utf-8"), str(beside))
    except (DataError, OSError, UnicodeDecodeError):
        return None
    tables = {f"{name}.{ending}" for name in manifest.tables for ending in ("csv", "parquet")}
    return path.parent if path.name in tables else None


def read_schema(folder: Path) -> Schema:
    """The schema that a release folder was published under (quasi-identifiers, sensitive and carried columns)."""
    schema = Schema.load(Path(folder) / "schema.yaml")
    if any("file" in (attribute.taxonomy or {}) for attribute in schema.attributes):
        raise DataError(f"The schema of {folder} names a file outside the release. It was changed: get it again.")
    return schema
