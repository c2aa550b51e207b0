"""A release folder made of parts: each written, read back and checked by itself, then put together.

    write_part    anywhere, any number of times, at the same time: a small release becomes files beside the folder
    complete      once, at the end: the files move into the folder, and everything around the tables is written

Anyone who completes the folder never holds a row. A part may be written twice (a task that is retried, or run on two
machines at once): every attempt writes under its own name, and its files are then named by what is in them, so
attempts that say the same replace each other and attempts that differ never do. Attempts lie beside the folder, not
in it: one that comes too late cannot add to a release.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.release import Bucketized, Grouped, Matched, PublishedTable, Release, take
from lookalike.errors import DataError, RecipeError
from lookalike.files.atomic import sync
from lookalike.files.releases.cells import Field
from lookalike.files.releases.read import read_again
from lookalike.files.releases.tablefiles import ENDINGS, Part, Parts, digest_of, digest_of_part, part_path
from lookalike.files.releases.write import NewRelease, check_same, write_table
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class WrittenTable:
    """One table of a part, as files."""

    fields: tuple[Field, ...]
    files: Mapping[str, str]
    """The names of its CSV and its Parquet file among the attempts."""
    part: Part


@dataclass(frozen=True)
class WrittenPart:
    """What is reported about a part that was written: small, and without any row."""

    number: int
    n_rows: int
    tables: Mapping[str, WrittenTable]

    @property
    def digest(self) -> str:
        """Of all its files."""
        return digest_of_part(table.part for table in self.tables.values())


def write_part(folder: Path, number: int, release: Release) -> tuple[WrittenPart, Release]:
    """Write one part of the release that `folder` will hold; what was written, and the part as it reads back.

    CSV and Parquet are read as a receiver would read them and held against the release in every cell. The folder need
    not be there, but what it is in must.
    """
    if release.n_rows == 0:
        raise DataError(f"Part {number} has no rows. Leave it out.")
    attempts = _attempts(folder)
    # Not its parents: once the release is done there is no place for attempts any more.
    attempts.mkdir(exist_ok=True)
    attempt = f"{number:05d}-{secrets.token_hex(8)}"
    tables = {table.name: table for table in release.tables()}
    unfinished = {name: [attempts / f"{name}-{attempt}.{ending}" for ending in ENDINGS] for name in tables}
    try:
        fields = {name: write_table(tables[name], *paths) for name, paths in unfinished.items()}
        written = read_again(
            {name: (csv, parquet, fields[name]) for name, (csv, parquet) in unfinished.items()}, release
        )
        check_same(release, written)
        kept = {name: _keep_files(table, number, fields[name], unfinished[name]) for name, table in tables.items()}
    finally:
        for path in itertools.chain(*unfinished.values()):
            path.unlink(missing_ok=True)
    return WrittenPart(number, release.n_rows, kept), written


def _keep_files(table: PublishedTable, number: int, fields: tuple[Field, ...], paths: Sequence[Path]) -> WrittenTable:
    """Files that were checked, under the names of what is in them."""
    digests, files = {}, {}
    for ending, path in zip(ENDINGS, paths, strict=True):
        digests[ending] = digest_of(path)
        files[ending] = f"{table.name}-{number:05d}-{digests[ending]}.{ending}"
        sync(path)
        os.replace(path, path.with_name(files[ending]))
    return WrittenTable(fields, files, Part(table.n_rows, digests))


def complete(out: NewRelease, parts: Sequence[WrittenPart], bare: Release) -> None:
    """Move the files of all parts into the folder, and let it know them.

    `bare` has no rows: it tells form, domains, matrices and what was withheld from the whole. Files of attempts that
    are not among the parts are removed. Parts are in the order of their digests, which tells nothing that the files
    do not, so neither the order of the work nor that of the original's records shows.
    """
    if not parts:
        raise DataError("The release has no rows. An empty table is not published.")
    if len({part.number for part in parts}) < len(parts):
        raise RecipeError("A part is named twice. Give one attempt of each part.")
    folder, fields = out.folder, {name: table.fields for name, table in parts[0].tables.items()}
    ordered = sorted(parts, key=lambda part: part.digest)
    for part in ordered:
        if {name: table.fields for name, table in part.tables.items()} != fields:
            raise DataError(
                f"Part {part.number} has its columns written in another way than part {parts[0].number}. "
                "Nothing is published."
            )
    for name, ending in itertools.product(fields, ENDINGS):
        (folder / f"{name}.{ending}").mkdir()
        for place, part in enumerate(ordered):
            try:
                written = _attempts(folder) / part.tables[name].files[ending]
                os.rename(written, folder / part_path(name, ending, place))
            except FileNotFoundError:
                raise DataError(
                    f"Part {part.number} was written, but its files are not there. Publish to a folder that every "
                    "machine that works on the release can see. Nothing is published."
                ) from None
    shutil.rmtree(_attempts(folder), ignore_errors=True)
    out.add_parts(bare, fields, {name: tuple(part.tables[name].part for part in ordered) for name in fields})


def _attempts(folder: Path) -> Path:
    """Where parts wait: beside the folder, so that one move within a file system takes each in."""
    return folder.with_name(f"{folder.name}.attempts")


PartsOfRows = Mapping[str, NDArray[np.int64]]
"""By published table, the number of the part that each row is in."""


def mix_parts(release: Release, parts: Parts) -> tuple[Release, PartsOfRows]:
    """The release with its parts dealt into one another, the same way for the same files; and where each row was."""
    if not parts:
        return release, {}
    of_rows = parts_of_rows(parts)
    orders = {name: _order(name, listed, of_rows[name]) for name, listed in parts.items()}
    return _take_rows(release, orders), {name: of_rows[name][order] for name, order in orders.items()}


def parts_of_rows(parts: Parts) -> PartsOfRows:
    """The part of each row, as they are written."""
    return {name: np.repeat(np.arange(len(listed)), [part.n_rows for part in listed]) for name, listed in parts.items()}


def _take_rows(release: Release, orders: Mapping[str, NDArray[np.int64]]) -> Release:
    if isinstance(release, Bucketized):
        qit, sat = orders["qit"], orders["sat"]
        return replace(
            release,
            quasi=release.quasi[qit],
            bucket_of_quasi=release.bucket_of_quasi[qit],
            sensitive=release.sensitive[sat],
            carried=release.carried[sat],
            bucket_of_sensitive=release.bucket_of_sensitive[sat],
        )
    order = orders["release"]
    values: dict[str, Any] = {"sensitive": release.sensitive[order], "carried": release.carried[order]}
    if isinstance(release, Grouped):
        return replace(release, group_of_row=release.group_of_row[order], **values)
    if isinstance(release, Matched):
        return replace(release, extents=tuple(take(extents, order) for extents in release.extents), **values)
    return replace(release, quasi=release.quasi[order], **values)


def _order(table: str, parts: Sequence[Part], part_of_row: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of a table as they come when the next one is taken from a part by lot, in proportion to its rows."""
    # One digest of all: Python prints no number of so many digits as many parts have.
    rng = Randomness(int(digest_of_part(parts), 16)).child(table)
    place_of_row = np.argsort(rng.shuffle(part_of_row), kind="stable")
    return np.argsort(place_of_row)
