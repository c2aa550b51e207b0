"""A release as a folder: a Frictionless data package, written all or nothing.

    datapackage.json  schema.yaml  README.txt  release.csv  release.parquet  (qit.*, sat.*, views.sql, matrix-*.csv)

and whatever documents the caller adds. Before the folder appears, CSV and Parquet are read back and must say the same
as the release in every cell; a writer that loses or changes a value cannot go unnoticed. Only a `Release` comes in:
no order of the input, no index, no identifier, no seed and no path can go out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.release import (
    BUCKET,
    Bucketized,
    Cells,
    ExactCells,
    ExtentCells,
    NumberCells,
    Perturbed,
    PublishedTable,
    Randomizer,
    Release,
    Sets,
    take,
)
from lookalike.data.schema import Schema
from lookalike.errors import DataError, RecipeError, quoted
from lookalike.files.atomic import place_folder
from lookalike.files.releases.cells import Field, lay_out, print_cells
from lookalike.files.releases.describe import (
    DESCRIPTOR,
    Manifest,
    Tables,
    descriptor,
    matrix_names,
    matrix_rows,
    named_matrices,
    parse_descriptor,
    public_schema,
    value_keys,
)
from lookalike.files.releases.read import ReleaseFolder, read_matrices
from lookalike.files.releases.readme import VIEWS, readme, views
from lookalike.files.releases.tablefiles import ENDINGS, Parts, blanks_spelled_out, digest_of, safe_frame, table_paths
from lookalike.progress import Progress, silent

README = "README.txt"
SCHEMA = "schema.yaml"


class NewRelease:
    """A release folder that is being written, step by step; it appears once all of it is there (`new_release`).

    write_tables   the tables, or `add_parts` for those that were written in parts
    check          reads every file back and holds it against the release
    add            documents beside the tables
    describe       descriptor, schema, README, views; after it come only documents that it was told of
    """

    def __init__(self, folder: Path, progress: Progress = silent) -> None:
        self.folder = folder
        self._progress = progress
        self._release: Release
        self._fields: Tables = {}
        self._parts: Parts = {}
        self._documents: list[str] = []
        self._to_come: tuple[str, ...] = ()

    def write_tables(self, release: Release, *, safe_csv: bool = False) -> None:
        if release.n_rows == 0:
            raise DataError("The release has no rows. An empty table is not published.")
        tables, fields = release.tables(), {}
        for place, table in enumerate(tables):
            self._progress("write", place / (len(tables) + 1), f"{table.name}.csv, {table.name}.parquet")
            csv, parquet = (self.folder / f"{table.name}.{ending}" for ending in ENDINGS)
            fields[table.name] = write_table(table, csv, parquet, safe_csv=safe_csv)
        self.add_parts(release, fields, {}, safe_csv=safe_csv)

    def add_parts(self, bare: Release, fields: Tables, parts: Parts, *, safe_csv: bool = False) -> None:
        """Tables whose files are there, in parts that were checked; `bare` is their release, which needs no rows."""
        self._release, self._fields, self._parts = bare, fields, parts
        write_matrices(self.folder, bare, safe_csv=safe_csv)

    def check(self, manifest: Manifest) -> ReleaseFolder:
        """Read the tables as their receiver would and hold every cell against the release; the folder as it was read.

        The descriptor is not written yet, so what it will say is handed on.
        """
        release, tables = self._release, len(self._fields)
        self._progress("write", tables / (tables + 1), "reading back")
        opened = ReleaseFolder(self.folder)
        opened.manifest = parse_descriptor(self._descriptor(manifest), str(self.folder / DESCRIPTOR))
        opened.schema = Schema.from_yaml(public_schema(release.domains).to_yaml())
        written = opened.over(release.domains)
        check_same(release, written)
        if isinstance(release, Perturbed) and isinstance(written, Perturbed):
            _check_same_matrices(release.randomizers, written.randomizers)
        return opened

    def add(self, documents: Mapping[str, bytes]) -> None:
        file_names(self._release, self._parts, dict.fromkeys((*self._documents, *documents)))
        for name, content in documents.items():
            (self.folder / name).write_bytes(content)
        self._documents += documents

    def describe(self, manifest: Manifest, to_come: Iterable[str] = ()) -> dict[str, str]:
        """Everything that tells about the tables and documents, also those that are `to_come`.

        Returns the digest of every file that is there.
        """
        release = self._release
        self._to_come = tuple(to_come)
        names = self.names
        texts = {
            SCHEMA: public_schema(release.domains).to_yaml(),
            README: readme(release, manifest, self._fields, names, self._parts),
            DESCRIPTOR: self._descriptor(manifest),
        }
        if isinstance(release, Bucketized):
            texts[VIEWS] = views(self._fields, in_parts=bool(self._parts))
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8", newline="\n")
        written = ReleaseFolder(self.folder).manifest
        if dict(written.tables) != dict(self._fields) or dict(written.parts) != dict(self._parts):
            raise DataError("The list of columns and parts does not read back as it was written. Nothing is published.")
        if isinstance(release, Perturbed):
            _check_same_matrices(release.randomizers, read_matrices(release.domains, written))
        self._progress("write", 1.0)
        return self.digests()

    @property
    def names(self) -> list[str]:
        """Every file of the folder, also those that are described before they are written."""
        return file_names(self._release, self._parts, dict.fromkeys((*self._documents, *self._to_come)))

    def digests(self) -> dict[str, str]:
        """The SHA-256 of every file that is there, by its name."""
        return digests_of(self.folder, self.names)

    def _descriptor(self, manifest: Manifest) -> str:
        return descriptor(self._release, manifest, self._fields, self.names, self._parts)


@contextmanager
def new_release(folder: Path, *, overwrite: bool = False, progress: Progress = silent) -> Iterator[NewRelease]:
    """A release folder to be written, all or nothing: it appears when the block ends, if nothing was raised."""
    with place_folder(folder, marker=DESCRIPTOR, overwrite=overwrite) as building:
        yield NewRelease(building, progress)


def write_release(
    folder: Path,
    release: Release,
    *,
    manifest: Manifest,
    documents: Mapping[str, str] | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> list[str]:
    """Write a release and documents that are known beforehand; the names of the files written."""
    file_names(release, {}, documents or {})
    with new_release(folder, overwrite=overwrite, progress=progress) as out:
        out.write_tables(release, safe_csv=manifest.safe_csv)
        out.check(manifest)
        out.add({name: text.encode() for name, text in (documents or {}).items()})
        out.describe(manifest)
        return out.names


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of those of these files that are in the folder, by name."""
    return {name: digest_of(folder / name) for name in sorted(names) if (folder / name).is_file()}


def file_names(release: Release, parts: Parts, documents: Iterable[str]) -> list[str]:
    """Every file of the folder to be; RecipeError if a document would take another's place."""
    own = [DESCRIPTOR, SCHEMA, README, *matrix_names(release)]
    own += [VIEWS] if isinstance(release, Bucketized) else []
    tables = [table.name for table in release.tables()]
    taken = {*own, *(f"{name}.{ending}" for name in tables for ending in ENDINGS)}
    documents = [*documents]
    for name in documents:
        if name in taken or not name or name.startswith(".") or {"/", "\\", "\0"} & set(name):
            raise RecipeError(f"A document cannot be called {quoted(name)} in a release. Use another plain file name.")
    own += [path for name in tables for path in table_paths(name, parts.get(name, ()))]
    return sorted([*own, *documents])


def frames(release: Release) -> dict[str, pl.DataFrame]:
    """The published tables as data frames: generalised cells as text, plain values with their types."""
    made = {}
    for table in release.tables():
        fields, typed, texts = lay_out_table(table)
        made[table.name] = pl.DataFrame([(typed if field.is_plain else texts)[field.name] for field in fields])
    return made


def hold_release(release: Release, manifest: Manifest) -> ReleaseFolder:
    """A release as a reader of its folder would have it, without a folder: nothing but what the files would say."""
    if release.n_rows == 0:
        raise DataError("The release has no rows. An empty table is not published.")
    laid_out = {table.name: lay_out_table(table) for table in release.tables()}
    fields = {name: listed for name, (listed, _, _) in laid_out.items()}
    held = ReleaseFolder(Path("(not written)"))
    held.hold_tables(
        parse_descriptor(descriptor(release, manifest, fields, file_names(release, {}, ()), {}), "the release"),
        Schema.from_yaml(public_schema(release.domains).to_yaml()),
        {name: typed for name, (_, typed, _) in laid_out.items()},
        {name: blanks_spelled_out(texts, listed) for name, (listed, _, texts) in laid_out.items()},
    )
    return held


def write_table(table: PublishedTable, csv: Path, parquet: Path, *, safe_csv: bool = False) -> tuple[Field, ...]:
    """A table as CSV and as Parquet; its columns."""
    fields, typed, texts = lay_out_table(table)
    write_parquet(typed, parquet)
    write_csv(blanks_spelled_out(texts, fields), csv, safe=safe_csv)
    return fields


def lay_out_table(table: PublishedTable, *, old: bool = False) -> tuple[tuple[Field, ...], pl.DataFrame, pl.DataFrame]:
    """The columns of a table, its typed cells, and its cells as text (`old`: as version 0.1.0 wrote them)."""
    fields: list[Field] = []
    typed: dict[str, pl.Series] = {}
    texts: dict[str, pl.Series] = {}
    attribute_names = [cells.domain.name for cells in table.columns if not isinstance(cells, NumberCells)]
    for cells in table.columns:
        if isinstance(cells, NumberCells):
            while cells.name in attribute_names:
                cells = NumberCells(f"{cells.name}_", cells.numbers, cells.role)
        field, entries, rows = lay_out(cells, old=old)
        printed = print_cells(field, entries)
        fields.append(field)
        typed[field.name] = entries if rows is None else entries.gather(rows)
        texts[field.name] = printed if rows is None else printed.gather(rows)
    return tuple(fields), pl.DataFrame(typed), pl.DataFrame(texts)


def write_csv(frame: pl.DataFrame, path: Path, *, safe: bool = False) -> None:
    """`safe`: without cells that a spreadsheet would compute."""
    if safe:
        frame = safe_frame(frame)
    with errors_of_the_system(), path.open("wb") as file:
        file.write((",".join(_header_cell(name) for name in frame.columns) + "\n").encode("utf-8"))
        frame.write_csv(file, include_header=False, quote_style="necessary", line_terminator="\n", null_value="")


def _header_cell(name: str) -> str:
    """A name as CSV has it. One that begins with a byte order mark must not be taken for the mark of the file."""
    if name.startswith("\ufeff") or set(name) & set(',"\r\n'):
        return '"' + name.replace('"', '""') + '"'
    return name


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    with errors_of_the_system():
        frame.write_parquet(path, compression="zstd")


@contextmanager
def errors_of_the_system() -> Iterator[None]:
    """Polars tells of a full disk in its own text; here it becomes the error that it was."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def write_matrices(folder: Path, release: Release, *, safe_csv: bool) -> None:
    """The matrix of each redrawn column as a file."""
    for domain, randomizer, name in named_matrices(release):
        became, was, weights = matrix_rows(value_keys(domain), randomizer)
        write_csv(pl.DataFrame({"became": became, "was": was, "weight": weights}), folder / name, safe=safe_csv)


def check_same(release: Release, written: Release) -> None:
    """Hold every cell that was read back against the release."""
    for table, again in zip(release.tables(), written.tables(), strict=True):
        for cells, cells_again in zip(table.columns, again.columns, strict=True):
            if not same_cells(cells, cells_again):
                name = cells.name if isinstance(cells, NumberCells) else cells.domain.name
                raise DataError(
                    f"Column {quoted(name)} of {table.name} does not read back as it was written. Nothing is published."
                )


def _check_same_matrices(randomizers: Sequence[Randomizer], written: Sequence[Randomizer]) -> None:
    for randomizer, again in zip(randomizers, written, strict=True):
        if randomizer.total != again.total or not np.array_equal(randomizer.weights, again.weights):
            raise DataError("A matrix does not read back as it was written. Nothing is published.")


def same_cells(first: Cells, second: Cells) -> bool:
    """Whether two columns say the same in every row."""
    if isinstance(first, NumberCells) and isinstance(second, NumberCells):
        if first.role != second.role or first.role != BUCKET:
            return first.role == second.role and np.array_equal(first.numbers, second.numbers)
        # Bucket numbers mean nothing but which is which.
        ranks, others = (np.unique(cells.numbers, return_inverse=True)[1] for cells in (first, second))
        return np.array_equal(ranks, others)
    if isinstance(first, ExactCells) and isinstance(second, ExactCells):
        return np.array_equal(first.codes, second.codes)
    return isinstance(first, ExtentCells) and isinstance(second, ExtentCells) and _same_extents(first, second)


def _same_extents(first: ExtentCells, second: ExtentCells) -> bool:
    if len(first.unit_of_row) != len(second.unit_of_row):
        return False
    pairs = np.unique(np.column_stack([first.unit_of_row, second.unit_of_row]), axis=0)
    one, other = _as_rows(first, pairs[:, 0]), _as_rows(second, pairs[:, 1])
    return len(one) == len(other) and all(
        np.array_equal(part, again, equal_nan=part.dtype.kind == "f") for part, again in zip(one, other, strict=True)
    )


def _as_rows(cells: ExtentCells, units: NDArray[np.int32]) -> list[NDArray[np.generic]]:
    """What the cells of these units hold, as arrays that are equal if and only if the cells are."""
    taken = take(cells.extents, units)
    if isinstance(taken, Sets):
        return [taken.sizes, taken.members]
    empty = taken.highs < taken.lows
    runs = [np.where(empty, 0, taken.lows), np.where(empty, -1, taken.highs)]
    return [*runs, taken.missing, taken.low_points, taken.high_points]
