"""Releases read back over the domains of the original, as an auditor reads them.

A folder of ours is read by its manifest (`folder`); a table of another tool by the columns of the original's schema,
each cell in whatever notation it has (`foreign`). Either way every published value must be one that the original has;
otherwise the release does not belong to the original, and no statement about it would mean anything.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.data.schema import Schema
from lookalike.errors import DataError
from lookalike.files.releases.assembly import Note, suppressed_counted, unheard
from lookalike.files.releases.describe import DESCRIPTOR, PublishedManifest, parse_descriptor
from lookalike.files.releases.folder import read_folder
from lookalike.files.releases.other_tools import read_foreign
from lookalike.files.releases.tablefiles import table_paths
from lookalike.untrusted import read_text


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
    check_readable(path)
    return read_foreign(path, original, suppressed=suppressed, note=note), None


def check_readable(path: Path) -> None:
    """Refuse a folder that is no release and no table of another tool."""
    if path.is_dir() and not _is_parquet_folder(path):
        raise DataError(
            f"{path} is not a release: it has no {DESCRIPTOR}. Name a folder that lookalike wrote, or a CSV or "
            "Parquet file, or a folder of Parquet files."
        )


def _is_parquet_folder(path: Path) -> bool:
    """Whether another tool may have written its table there: Parquet files and no others."""
    files = [file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._"]
    return bool(files) and all(file.suffix in (".parquet", ".parq") for file in files)


def release_folder(path: Path) -> Path | None:
    """The release folder that a path means: itself, or the one that it is a table of, or a part of a table."""
    if path.is_dir() and (path / DESCRIPTOR).exists():
        return path
    if path.is_file() and path.name == DESCRIPTOR:
        return path.parent
    if not path.exists():
        return None
    if path.name in _tables_of(path.parent):
        return path.parent
    # A table in parts is a folder itself, with its parts one step deeper.
    within = path.absolute().parent
    return within.parent if f"{within.name}/{path.name}" in _tables_of(within.parent) else None


def _tables_of(folder: Path) -> set[str]:
    """The tables that a release folder has, with their parts, as paths within it; none if it is no such folder."""
    try:
        text = read_text(folder / DESCRIPTOR)
        manifest = parse_descriptor(text, str(folder))
    except (DataError, OSError, UnicodeDecodeError):
        return set()
    parts = {path for name, listed in manifest.parts.items() for path in table_paths(name, listed)}
    return parts.union(*(table_paths(name, ()) for name in manifest.tables))


def read_schema(folder: Path) -> Schema:
    """The schema that a release folder was published under (quasi-identifiers, sensitive and carried columns)."""
    schema = Schema.load(Path(folder) / "schema.yaml")
    if any("file" in (attribute.taxonomy or {}) for attribute in schema.attributes):
        raise DataError(f"The schema of {folder} names a file outside the release. It was changed: get it again.")
    return schema
