"""Releases read back over the domains of the original, as an auditor reads them.

A folder of ours is read by its manifest (`ReleaseFolder`); a table of another tool by the columns of the original's
schema, each cell in whatever notation it has (`other_tools`). Either way every published value must be one that the
original has; otherwise the release does not belong to the original, and no statement about it would mean anything.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.release import (
    COUNTERFEITS,
    Bucketized,
    Extents,
    Grouped,
    LinkedRows,
    Matched,
    Perturbed,
    Randomizer,
    Release,
    Withheld,
    take,
)
from lookalike.data.schema import Schema
from lookalike.errors import DataError, SchemaError, explain_change, explain_damage, quoted
from lookalike.files.releases.assemble import (
    DomainIndex,
    assemble_extents,
    count_suppressed,
    group_rows,
    number_groups,
    reject_unknown,
    stack_columns,
)
from lookalike.files.releases.cells import Encoding, Field, parse_cells, plain_unescape, values_of
from lookalike.files.releases.describe import DESCRIPTOR, PublishedManifest, matrix_rows, parse_descriptor, value_keys
from lookalike.files.releases.tablefiles import check_text, part_frame, read_frame, read_typed, table_paths, text_frame
from lookalike.files.tables.formats import PARQUET
from lookalike.files.urls import local_path
from lookalike.memory import TO_READ, check_addresses
from lookalike.untrusted import read_text


def over_original(folder: ReleaseFolder, original: Microdata) -> Release:
    """A release folder over the domains of its original, which tells the values of suppressed records."""
    release = folder.over(original.domains)
    return replace(release, withheld=count_suppressed(original, release))


def check_readable(path: Path) -> None:
    """Refuse a folder that is no release and no table of another tool: Parquet files and no others."""
    if not path.is_dir():
        return
    files = [file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._"]
    if not files or any(file.suffix not in PARQUET.endings for file in files):
        raise DataError(
            f"{path} is not a release: it has no {DESCRIPTOR}. Name a folder that lookalike wrote, or a CSV or "
            "Parquet file, or a folder of Parquet files."
        )


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
        manifest = ReleaseFolder(folder).manifest
    except DataError:
        return set()
    parts = {path for name, listed in manifest.parts.items() for path in table_paths(name, listed)}
    return parts.union(*(table_paths(name, ()) for name in manifest.tables))


class Unwritten(Protocol):
    """A release that may not be written yet, and can be read all the same."""

    def read_folder(self) -> ReleaseFolder:
        """The release as a reader of its folder has it."""


def find_release(path: str | Path | Unwritten) -> ReleaseFolder:
    """The release folder that a path means; DataError if it means none."""
    if hasattr(path, "read_folder"):
        return path.read_folder()
    if not isinstance(path, str | Path):
        raise DataError(
            f"A release cannot be read from a {type(path).__name__}. Give its folder, or what publish gave."
        )
    found = release_folder(local_path(path))
    if found is None:
        raise DataError(f"{path} is not a release folder of lookalike. Name the folder with datapackage.json.")
    return ReleaseFolder(found)


class ReleaseFolder:
    """A release folder. Its description and each of its tables are read once, when they are first asked for."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    @cached_property
    def manifest(self) -> PublishedManifest:
        path = self.path / DESCRIPTOR
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise DataError(f"Cannot read {path}: {reason}.") from None
        return parse_descriptor(text, str(path))

    @cached_property
    def schema(self) -> Schema:
        """The schema that it was published under (quasi-identifiers, sensitive and carried columns)."""
        schema = Schema.load(self.path / "schema.yaml")
        if any("file" in (attribute.taxonomy or {}) for attribute in schema.attributes):
            raise explain_change(f"The schema of {self.path} names a file outside the release")
        return schema

    @cached_property
    def frames(self) -> dict[str, pl.DataFrame]:
        """Its tables with types, from the Parquet files."""
        check_addresses(TO_READ)
        return {
            name: read_frame(self.path, name, fields, self.manifest.parts.get(name, ()))
            for name, fields in self.manifest.tables.items()
        }

    def hold_tables(
        self,
        manifest: PublishedManifest,
        schema: Schema,
        typed: dict[str, pl.DataFrame],
        texts: dict[str, pl.DataFrame],
    ) -> None:
        """What the files would say, for a release that has none."""
        self.manifest, self.schema, self.frames = manifest, schema, typed
        self._columns = {name: self._table(name, text) for name, text in texts.items()}

    @property
    def made_up_of_number(self) -> dict[int, int] | None:
        """By group number, how many rows are made up; None where the release does not say."""
        if COUNTERFEITS not in self.manifest.tables:
            return None
        declared = self._columns[COUNTERFEITS]
        return dict(zip(declared.buckets().tolist(), declared.counts().tolist(), strict=True))

    def check_files(self) -> None:
        """DataError if a CSV file says something else than its Parquet file."""
        self._columns  # noqa: B018

    @cached_property
    def _columns(self) -> dict[str, _PublishedColumns]:
        """Its tables as text: every CSV file, held against its Parquet file."""
        tables, parts = self.manifest.tables, self.manifest.parts
        expected = ("qit", "sat") if self.manifest.form == Bucketized.form else ("release",)
        if COUNTERFEITS in tables:
            expected = (*expected, COUNTERFEITS)
        for name in expected:
            if name not in tables:
                raise explain_damage(f"{self.path} lacks the table {quoted(name)}")
        return {
            name: self._table(name, text_frame(self.path, name, self.frames[name], tables[name], parts.get(name, ())))
            for name in expected
        }

    def _table(self, name: str, text: pl.DataFrame) -> _PublishedColumns:
        return _PublishedColumns(f"{self.path / name}.csv", text, self.manifest.tables[name])

    def over(self, domains: Domains) -> Release:
        manifest = self.manifest
        make = _MAKERS.get(manifest.form)
        if make is None:
            raise DataError(f"{self.path} is a release of form {quoted(manifest.form)}. Known: {', '.join(_MAKERS)}.")
        release = _with_matrices(make(self._columns, domains, withheld_of(manifest, domains)), manifest)
        if isinstance(release, Perturbed):
            _check_matrix_files(self.path, manifest)
        return release

    def parts_over(self, places: Sequence[int], domains: Domains) -> Release:
        """Some parts of a release that was published in parts, over given domains.

        What was withheld is known of the whole only, so parts say nothing of it.
        """
        manifest, tables = self.manifest, {}
        for name, fields in manifest.tables.items():
            frames = [part_frame(self.path, name, fields, manifest.parts[name][place], place) for place in places]
            tables[name] = self._table(name, pl.concat(frames))
        return _with_matrices(_MAKERS[manifest.form](tables, domains, Withheld()), manifest)


def read_again(files: Mapping[str, tuple[Path, Path, Sequence[Field]]], release: Release) -> Release:
    """What the files of a release (CSV, Parquet and columns by table) say, over its own domains.

    For files that no manifest describes yet: what no table shows is taken from the release.
    """
    tables = {
        name: _PublishedColumns(str(csv), check_text(csv, read_typed(parquet, fields), fields), fields)
        for name, (csv, parquet, fields) in files.items()
    }
    again = _MAKERS[release.form](tables, release.domains, release.withheld)
    if isinstance(again, Perturbed) and isinstance(release, Perturbed):
        return replace(again, randomizers=release.randomizers)
    return again


def read_matrix(name: str, manifest: PublishedManifest) -> tuple[pl.Series, Randomizer]:
    """The values of a redrawn column, in the order of its published matrix, and the matrix."""
    texts, randomizer = _matrix(name, manifest)
    (field,) = (field for field in chain(*manifest.tables.values()) if field.name == name)
    try:
        return values_of(texts, field.type).alias(name), randomizer
    except (TypeError, ValueError):
        raise explain_change(f"The matrix of column {quoted(name)} has values of another type") from None


class _PublishedColumns:
    """One table of a release as text."""

    def __init__(self, source: str, frame: pl.DataFrame, fields: Sequence[Field]) -> None:
        self.source = source
        self.frame = frame
        self.fields = {field.name: field for field in fields}

    def _distinct(self, domain: Domain) -> tuple[Field, list[str | None], NDArray[np.int32]]:
        if domain.name not in self.fields:
            raise SchemaError(f"{self.source} has no column {quoted(domain.name)}, which the original's schema names.")
        cells = self.frame[domain.name]
        distinct = cells.unique(maintain_order=True)
        places = pl.Series(np.arange(len(distinct), dtype=np.int32))
        unit_of_row = cells.replace_strict(distinct, places, return_dtype=pl.Int32).to_numpy()
        return self.fields[domain.name], distinct.to_list(), unit_of_row

    def codes(self, domain: Domain) -> Codes:
        field, texts, unit_of_row = self._distinct(domain)
        if field.encoding is not Encoding.EXACT:
            what = f"column {quoted(domain.name)} should hold plain values but is {field.encoding}"
            raise DataError(f"{self.source}: {what}.")
        index = DomainIndex(domain)
        missing = domain.missing_code if domain.has_missing else -1
        codes = [missing if text is None else index.find(plain_unescape(text)) for text in texts]
        reject_unknown(self.source, domain, sum(code < 0 for code in codes))
        return np.asarray(codes, dtype=np.int32)[unit_of_row]

    def stack_codes(self, domains: Sequence[Domain]) -> Codes:
        return stack_columns([self.codes(domain) for domain in domains], len(self.frame))

    def extents(self, domain: Domain) -> tuple[Extents, NDArray[np.int32]]:
        """A column of generalised cells, one unit a distinct cell."""
        field, texts, unit_of_row = self._distinct(domain)
        index = DomainIndex(domain)
        holdings = []
        try:
            for text in texts:
                with suppress(KeyError):
                    holdings.append(parse_cells(field, index, text))
        except ValueError:
            what = f"{self.source}: column {quoted(domain.name)} has a cell that is no {field.encoding}"
            raise explain_change(what) from None
        reject_unknown(self.source, domain, len(texts) - len(holdings))
        return assemble_extents(index, holdings, as_sets=field.encoding is Encoding.SET), unit_of_row

    def buckets(self) -> NDArray[np.int64]:
        return self._numbers(Encoding.BUCKET)

    def counts(self) -> NDArray[np.int64]:
        return self._numbers(Encoding.COUNT)

    @property
    def is_numbered(self) -> bool:
        return any(field.encoding is Encoding.BUCKET for field in self.fields.values())

    def linked(self) -> LinkedRows | None:
        """The numbers of persons and visits, where rows are linked."""
        if not any(field.encoding in (Encoding.PERSON, Encoding.VISIT) for field in self.fields.values()):
            return None
        return LinkedRows(self._numbers(Encoding.PERSON), self._numbers(Encoding.VISIT))

    def _numbers(self, encoding: Encoding) -> NDArray[np.int64]:
        names = [field.name for field in self.fields.values() if field.encoding is encoding]
        numbers = self.frame[names[0]].cast(pl.Int64, strict=False) if len(names) == 1 else pl.Series([None])
        if numbers.null_count():
            raise explain_change(f"{self.source} needs one column of {encoding} numbers")
        return numbers.to_numpy()


Tables = Mapping[str, _PublishedColumns]


def _make_grouped(tables: Tables, domains: Domains, withheld: Withheld) -> Grouped:
    table = tables["release"]
    columns = [table.extents(domain) for domain in domains.quasi]
    sensitive, carried = table.stack_codes(domains.sensitive), table.stack_codes(domains.carried)
    if not table.is_numbered:
        return replace(group_rows(domains, columns, sensitive, carried, withheld), linked=table.linked())
    if COUNTERFEITS not in tables:
        raise explain_damage(f"{table.source} numbers its groups, and there is no table {quoted(COUNTERFEITS)}")
    declared = tables[COUNTERFEITS]
    numbers, listed, counts = table.buckets(), declared.buckets(), declared.counts()
    in_order = np.array_equal(listed, np.arange(len(listed)))
    if not in_order or (counts < 0).any() or not np.array_equal(np.unique(numbers), listed):
        raise explain_change(f"{declared.source} does not list the groups of the release in their order")
    if int(counts.sum()) != withheld.n_dummies:
        raise explain_change(f"{declared.source} has another number of made-up rows than {DESCRIPTOR}")
    return number_groups(domains, columns, sensitive, carried, withheld, numbers, counts)


def _make_matched(tables: Tables, domains: Domains, withheld: Withheld) -> Matched:
    table = tables["release"]
    return Matched(
        domains=domains,
        extents=tuple(take(*table.extents(domain)) for domain in domains.quasi),
        sensitive=table.stack_codes(domains.sensitive),
        carried=table.stack_codes(domains.carried),
        withheld=withheld,
    )


def _make_bucketized(tables: Tables, domains: Domains, withheld: Withheld) -> Bucketized:
    qit, sat = tables["qit"], tables["sat"]
    of_quasi, of_sensitive = qit.buckets(), sat.buckets()
    ranked = np.unique(np.concatenate([of_quasi, of_sensitive]), return_inverse=True)[1].astype(np.int32)
    return Bucketized(
        domains=domains,
        quasi=qit.stack_codes(domains.quasi),
        bucket_of_quasi=ranked[: len(of_quasi)],
        sensitive=sat.stack_codes(domains.sensitive),
        carried=sat.stack_codes(domains.carried),
        bucket_of_sensitive=ranked[len(of_quasi) :],
        withheld=withheld,
    )


def _make_perturbed(tables: Tables, domains: Domains, withheld: Withheld) -> Perturbed:
    table = tables["release"]
    return Perturbed(
        domains=domains,
        quasi=table.stack_codes(domains.quasi),
        sensitive=table.stack_codes(domains.sensitive),
        carried=table.stack_codes(domains.carried),
        randomizers=(),
        withheld=withheld,
    )


_MAKERS: dict[str, Callable[[Tables, Domains, Withheld], Release]] = {
    Grouped.form: _make_grouped,
    Matched.form: _make_matched,
    Bucketized.form: _make_bucketized,
    Perturbed.form: _make_perturbed,
}


def _with_matrices(release: Release, manifest: PublishedManifest) -> Release:
    if not isinstance(release, Perturbed):
        return release
    return replace(release, randomizers=read_matrices(release.domains, manifest))


def read_matrices(domains: Domains, manifest: PublishedManifest) -> tuple[Randomizer, ...]:
    """The published matrix of each sensitive column, in the order of these domains' codes."""
    found = []
    for domain in domains.sensitive:
        values, randomizer = _matrix(domain.name, manifest)
        if set(values) != set(value_keys(domain)):
            raise DataError(f"The matrix of column {quoted(domain.name)} does not fit the values of the original.")
        places = [values.index(key) for key in value_keys(domain)]
        found.append(Randomizer(randomizer.weights[np.ix_(places, places)], randomizer.total))
    return tuple(found)


def _matrix(name: str, manifest: PublishedManifest) -> tuple[list[str | None], Randomizer]:
    """The values of a redrawn column as text, in the order of its published matrix."""
    where = f"The matrix of column {quoted(name)}"
    found = [matrix for matrix in manifest.matrices if matrix.get("column") == name]
    if len(found) != 1:
        raise explain_damage(f"{where} is not in {DESCRIPTOR}")
    try:
        values, rows, total = list(found[0]["values"]), list(found[0]["weights"]), found[0]["total"]
        entries = [weight for row in rows for weight in row]
        square = len(values) == len(rows) == len(set(values)) and all(len(row) == len(values) for row in rows)
    except (KeyError, TypeError, ValueError):
        square = False
    if not square:
        raise explain_change(f"{where} has not one line and one column a value")
    # Sums in Python's integers, which do not wrap around.
    whole = all(isinstance(entry, int) and not isinstance(entry, bool) for entry in (*entries, total))
    sums = [sum(column) for column in zip(*rows, strict=True)] if whole else []
    if not sums or not 0 < total < 1 << 62 or min(entries) < 0 or any(column_sum != total for column_sum in sums):
        raise DataError(f"{where} is no matrix of probabilities: every column must sum to its total.")
    return values, Randomizer(np.array(rows, dtype=np.int64), total)


def _check_matrix_files(folder: Path, manifest: PublishedManifest) -> None:
    """The matrix that analysts read from a file of its own must be the one that the manifest states and is audited."""
    for matrix in manifest.matrices:
        path = folder / Path(str(matrix.get("file"))).name
        if not path.is_file():
            continue
        values, randomizer = _matrix(str(matrix["column"]), manifest)
        became, was, weights = matrix_rows(values, randomizer)
        stated = set(zip(became, was, map(str, weights), strict=True))
        try:
            with path.open(encoding="utf-8", newline="") as file:
                lines = list(csv.reader(file))[1:]
        except (OSError, UnicodeDecodeError, csv.Error):
            lines = []
        if len(lines) != len(stated) or set(map(tuple, lines)) != stated:
            raise explain_change(f"{path} says something else than {DESCRIPTOR}")


def withheld_of(manifest: PublishedManifest, domains: Domains) -> Withheld:
    """What a manifest says was left out and made up, over these domains."""
    dummies = []
    for domain in domains.sensitive:
        counts = manifest.dummies.get(domain.name, {})
        keys = value_keys(domain)
        reject_unknown(DESCRIPTOR, domain, len(counts.keys() - set(keys)))
        dummies.append(np.array([counts.get(key, 0) for key in keys], dtype=np.int64))
    return Withheld(
        dummies=tuple(dummies) if manifest.dummies else (),
        n_suppressed=manifest.n_suppressed,
        n_dummies=manifest.n_dummies,
        indistinguishable=manifest.indistinguishable,
    )
