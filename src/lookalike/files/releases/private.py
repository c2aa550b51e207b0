"""The private part of a release: the owner's report, and on request which record became which row, and the seed.

It goes to a sibling folder whose name ends in PRIVATE, readable by its owner alone. The report there has what was
scored on the original. With the record map the release can be undone; it is needed to score a release or to audit a
matched one at the level of its assigned graph. The folder keeps the digest of its release: where a fault left one of
an earlier release, it is not taken for this one's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from lookalike.data.release import MatchGraph, RecordMap
from lookalike.errors import DataError, unread_format
from lookalike.files.atomic import check_target, place_folder
from lookalike.files.releases.write import write_parquet
from lookalike.untrusted import check_plain_file

_MARKER = "private.json"
_FORMAT = 1
_INTERNAL = "For internal use only."
_README = f"""{_INTERNAL} DO NOT GIVE THIS FOLDER AWAY.

It belongs to the release of the same name.
"""
_README_REPORT = """
report.html, report.json, report.pdf and audit.json say all that is known about the release: also what attacks guess
right, errors of queries, predictions and other figures that were scored on the original. Together with the release such
figures can reveal a person's values. The release folder has a report and an audit of its own, which may be handed over.
"""
PEOPLE = ("people.parquet", "people.key")
_README_PEOPLE = """
people.parquet says which person, by a digest under the key in people.key, is in which group. A later release of the
same people needs it to be held against this one (lookalike publish --after). Both together undo the release for
somebody who can guess identifiers.
"""
_README_LINKAGE = """
linkage.parquet undoes the release: it says which record of the original became which row. graph.parquet says which
rows each record could be behind, seed.txt repeats the run. Records and rows are numbered from 0, records in the order
of the original. You need them only to measure the release against the original. If you do not, delete them.
"""


def private_folder(folder: Path) -> Path:
    """Where the private part of a release goes."""
    return folder.parent / f"{folder.name} PRIVATE"


def check_private(folder: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, if the private part of the release at `folder` could not be written."""
    check_target(private_folder(Path(folder).absolute()), marker=_MARKER, overwrite=overwrite)


@contextmanager
def private_beside(
    folder: Path,
    record_map: RecordMap | None,
    seed: int | None,
    *,
    documents: Mapping[str, bytes] = MappingProxyType({}),
    overwrite: bool = False,
) -> Iterator[Path]:
    """Write the private part, then let the release at `folder` be written; the private part appears after it.

    So a disk without room for both, or a private folder that is in the way, is noticed before there is a release.
    Without a record map only `documents` (file name: content) are kept. They may be added until the release is written,
    from which the owner's report is made.
    """
    target = private_folder(Path(folder).absolute())
    with place_folder(target, marker=_MARKER, overwrite=overwrite) as building:
        building.chmod(0o700)
        if record_map is not None:
            write_parquet(_map_frame(record_map), building / "linkage.parquet")
            if record_map.graph is not None:
                write_parquet(_graph_frame(record_map.graph), building / "graph.parquet")
            if seed is not None:
                (building / "seed.txt").write_text(f"{seed}\n", encoding="utf-8")
        yield target
        for name, content in documents.items():
            (building / name).write_bytes(content)
        about = [_README, *([_README_REPORT] if set(documents) - set(PEOPLE) else [])]
        about += [
            *([_README_PEOPLE] if set(documents) & set(PEOPLE) else []),
            *([_README_LINKAGE] if record_map else []),
        ]
        (building / "README.txt").write_text("".join(about), encoding="utf-8")
        files = sorted([_MARKER, *(path.name for path in building.iterdir())])
        marker = {"private": _FORMAT, "files": files, "release": _digest(Path(folder))}
        (building / _MARKER).write_text(json.dumps({"lookalike": marker}, indent=2) + "\n", encoding="utf-8")
        # Of each file too: a file may be copied out of the folder that closes it off.
        for path in building.iterdir():
            path.chmod(0o600)


def check_belongs(private: Path, release: Path) -> None:
    """Refuse the private part of another release, as an overwritten one leaves it behind."""
    digest = _read_mark(private, "release")
    if digest is not None and digest != _digest(release):
        raise DataError(
            f"{private} belongs to another release than the one in {release}, perhaps to one that was overwritten. "
            "Publish again with --private."
        )


def _digest(release: Path) -> str | None:
    """Of the tables of a release; None if there are none."""
    tables = sorted(path for path in release.glob("*.parquet") if path.is_file())
    parts = [hashlib.sha256(path.read_bytes()).hexdigest() for path in tables]
    return hashlib.sha256("".join(parts).encode()).hexdigest() if parts else None


def read_graph(folder: Path) -> MatchGraph:
    """The assigned graph from a private folder."""
    if not Path(folder).is_dir():
        raise DataError(f"There is no folder {folder}. Name the PRIVATE folder that lies beside the release.")
    # What a later version wrote in another way is refused; a folder that lost its mark is read as it is.
    found = _read_mark(Path(folder), "private")
    if found not in (None, _FORMAT):
        raise DataError(unread_format(str(folder), found, (_FORMAT,)))
    path = Path(folder) / "graph.parquet"
    try:
        check_plain_file(path)
        frame = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = getattr(error, "strerror", None) or "it is no Parquet file"
        raise DataError(f"Cannot read {path}: {reason}. Name the folder that ends in PRIVATE.") from None
    rows = frame["rows"].explode(empty_as_null=False) if dict(frame.schema) == {"rows": pl.List(pl.Int32)} else None
    if rows is None or frame["rows"].null_count() or rows.null_count():
        raise DataError(f"{path} is not as lookalike writes it. It was changed: name the folder that ends in PRIVATE.")
    starts = np.concatenate([[0], np.cumsum(frame["rows"].list.len().to_numpy())]).astype(np.int64)
    return MatchGraph(starts, rows.to_numpy().astype(np.int32))


def _read_mark(folder: Path, key: str) -> Any:
    """What the folder says of itself; None if it lost its mark."""
    try:
        return json.loads((folder / _MARKER).read_text(encoding="utf-8"))["lookalike"][key]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _map_frame(record_map: RecordMap) -> pl.DataFrame:
    sides = {"rows": record_map.record_of_row}
    if record_map.record_of_quasi_row is not None:
        sides["quasi rows"] = record_map.record_of_quasi_row
    return pl.concat(
        pl.DataFrame(
            {
                "side": pl.Series([side] * len(records), dtype=pl.String),
                "row": np.arange(len(records), dtype=np.int64),
                "record": np.asarray(records, dtype=np.int64),
            }
        )
        for side, records in sides.items()
    )


def _graph_frame(graph: MatchGraph) -> pl.DataFrame:
    """One list a record; a record behind no row has an empty list."""
    lists = [graph.rows[start:end].tolist() for start, end in pairwise(graph.starts)]
    return pl.DataFrame({"rows": pl.Series(lists, dtype=pl.List(pl.Int32))})
