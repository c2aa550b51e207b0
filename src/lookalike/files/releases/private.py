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
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.control import HeldOut
from lookalike.data.microdata import Table, texts_of
from lookalike.data.person_settings import is_salt
from lookalike.data.release import MatchGraph, RecordMap
from lookalike.errors import DataError, unread_format
from lookalike.files.atomic import check_target, place_folder
from lookalike.files.releases.write import write_parquet
from lookalike.untrusted import check_plain_file

_MARKER, _MAP = "private.json", "linkage.parquet"
_MAP_COLUMNS = {"side": pl.String, "row": pl.Int64, "record": pl.Int64}
_HELD, CONTROL = "held_out.parquet", "control.csv"
_HELD_COLUMNS = {"row": pl.Int64}
_FORMAT = 1
_INTERNAL = "For internal use only."
_README = f"""{_INTERNAL} DO NOT GIVE THIS FOLDER AWAY.

It belongs to the release of the same name.
"""
_README_REPORT = """
report.html, report.json, report.pdf and audit.json say all that is known about the release: also what attacks guess
right, errors of queries, predictions and other figures that were scored on the original. Together with the release such
figures can reveal a person's values. The release folder has a report and its own audit, which may be handed over.
"""
PEOPLE = ("people.parquet", "people.key")
_README_PEOPLE = """
people.parquet says which person, by a digest under the key in people.key, is in which group. A later release of the
same people needs it to be held against this one (lookalike publish --after). Both together undo the release for
someone who can guess identifiers.
"""
_README_LINKAGE = """
linkage.parquet undoes the release: it says which record of the original became which row. graph.parquet says which
rows each record could be behind, seed.txt repeats the run. Records and rows are numbered from 0, records in the order
of the original, without those that were left out to publish fewer rows per person. You need them to measure the release
against the original, and to audit promises about persons who have several rows. If you do neither, delete them.
"""
_README_CONTROL = """
control.csv has the people who were held out of the release, drawn at random, to tell what attacks learn about people in
general from what they learn about the people in it. held_out.parquet numbers their rows in the original, from 0.
Commands that read the original again leave these rows out if they are given this folder (--private).
"""
_README_SALT = """
private.json has the salt by which the published rows of each person were drawn. Together with the order of the original
it may say something about sensitive values, so the release does not say it. An audit of the release needs it.
"""


@dataclass(frozen=True, kw_only=True)
class Private:
    """What the owner keeps of a run, besides documents."""

    record_map: RecordMap | None = None
    seed: int | None = None
    """Kept with the record map."""
    salt: str | None = None
    """By which the rows of each person were drawn; the release does not say it."""
    held_out: HeldOut | None = None
    """People of the original who are not in the release."""


def private_folder(folder: Path) -> Path:
    """Where the private part of a release goes."""
    return folder.parent / f"{folder.name} PRIVATE"


def check_private(folder: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, if the private part of the release at `folder` could not be written."""
    check_target(private_folder(Path(folder).absolute()), marker=_MARKER, overwrite=overwrite)


@contextmanager
def private_beside(
    folder: Path,
    kept: Private,
    *,
    documents: Mapping[str, bytes] = MappingProxyType({}),
    overwrite: bool = False,
) -> Iterator[Path]:
    """Write the private part, then let the release at `folder` be written; the private part appears after it.

    So a disk without room for both, or a private folder that is in the way, is noticed before there is a release.
    `documents` (file name: content) are kept too. They may be added until the release is written,
    from which the owner's report is made.
    """
    target = private_folder(Path(folder).absolute())
    with place_folder(target, marker=_MARKER, overwrite=overwrite) as building:
        building.chmod(0o700)
        record_map = kept.record_map
        if record_map is not None:
            write_parquet(_map_frame(record_map), building / _MAP)
            if record_map.graph is not None:
                write_parquet(_graph_frame(record_map.graph), building / "graph.parquet")
            if kept.seed is not None:
                (building / "seed.txt").write_text(f"{kept.seed}\n", encoding="utf-8")
        if kept.held_out is not None:
            write_parquet(pl.DataFrame({"row": kept.held_out.rows}, schema=_HELD_COLUMNS), building / _HELD)
            _plain_table(kept.held_out.people).write_csv(building / CONTROL)
        yield target
        for name, content in documents.items():
            (building / name).write_bytes(content)
        reports, people = set(documents) - set(PEOPLE), set(documents) & set(PEOPLE)
        said = {
            _README_REPORT: reports,
            _README_PEOPLE: people,
            _README_LINKAGE: record_map,
            _README_CONTROL: kept.held_out,
            _README_SALT: kept.salt,
        }
        about = [_README, *(text for text, there in said.items() if there)]
        (building / "README.txt").write_text("".join(about), encoding="utf-8")
        files = sorted([_MARKER, *(path.name for path in building.iterdir())])
        marker = {"private": _FORMAT, "files": files, "release": _digest(Path(folder))}
        if kept.salt is not None:
            marker["salt"] = kept.salt
        if kept.held_out is not None:
            marker["held_out_of_rows"] = kept.held_out.n_rows
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
    path = Path(folder) / "graph.parquet"
    frame = _read_frame(folder, path)
    rows = frame["rows"].explode(empty_as_null=False) if dict(frame.schema) == {"rows": pl.List(pl.Int32)} else None
    if rows is None or frame["rows"].null_count() or rows.null_count():
        raise _explain_change(path)
    starts = np.concatenate([[0], np.cumsum(frame["rows"].list.len().to_numpy())]).astype(np.int64)
    return MatchGraph(starts, rows.to_numpy().astype(np.int32))


def is_private_folder(folder: Path) -> bool:
    """Whether a folder has the mark of what is beside a release and is never handed over."""
    return _read_mark(Path(folder), "private") is not None


def has_record_map(folder: Path) -> bool:
    """Whether a private folder has the record map; one with the owner's report alone has not."""
    return (Path(folder) / _MAP).exists()


def read_record_map(folder: Path) -> NDArray[np.int64]:
    """The record behind each published row (sensitive value), from a private folder."""
    path = Path(folder) / _MAP
    frame = _read_frame(folder, path)
    if dict(frame.schema) != _MAP_COLUMNS or any(frame[name].null_count() for name in _MAP_COLUMNS):
        raise _explain_change(path)
    rows = frame.filter(pl.col("side") == "rows").sort("row")
    if rows["row"].to_list() != list(range(len(rows))):
        raise _explain_change(path)
    return rows["record"].to_numpy().astype(np.int64)


def read_salt(folder: Path) -> str | None:
    """By what the rows of each person were drawn; None if the private folder does not say it."""
    salt = _read_mark(Path(folder), "salt")
    return salt if isinstance(salt, str) and is_salt(salt) else None


def read_held_out(folder: Path) -> tuple[NDArray[np.int64], int] | None:
    """Rows of the original that are not in the release, and how many rows it had; None if no people are held out."""
    n_rows, path = _read_mark(Path(folder), "held_out_of_rows"), Path(folder) / _HELD
    if not isinstance(n_rows, int) or isinstance(n_rows, bool):
        return None
    frame = _read_frame(folder, path)
    if dict(frame.schema) != _HELD_COLUMNS or frame["row"].null_count():
        raise _explain_change(path)
    rows = frame["row"].to_numpy().astype(np.int64)
    if len(np.unique(rows)) != len(rows) or (len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < n_rows):
        raise _explain_change(path)
    return rows, n_rows


def _plain_table(table: Table) -> pl.DataFrame:
    """A table as text; an empty cell means missing."""
    columns = {}
    for column in table.columns:
        texts = np.array([*texts_of(column.values, column.type), None], dtype=object)
        columns[column.name] = pl.Series(texts[column.codes].tolist(), dtype=pl.String)
    return pl.DataFrame(columns)


def _read_frame(folder: Path, path: Path) -> pl.DataFrame:
    if not Path(folder).is_dir():
        raise DataError(f"There is no folder {folder}. Name the PRIVATE folder that is beside the release.")
    # What a later version wrote in another way is refused; a folder that lost its mark is read as it is.
    found = _read_mark(Path(folder), "private")
    if found not in (None, _FORMAT):
        raise DataError(unread_format(str(folder), found, (_FORMAT,)))
    try:
        check_plain_file(path)
        return pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = getattr(error, "strerror", None) or "it is no Parquet file"
        raise DataError(f"Cannot read {path}: {reason}. Name the folder that ends in PRIVATE.") from None


def _explain_change(path: Path) -> DataError:
    return DataError(f"{path} is not as lookalike writes it. It was changed: name the folder that ends in PRIVATE.")


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
