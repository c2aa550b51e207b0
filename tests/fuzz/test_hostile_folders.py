"""Hostile things that no bytes of one file can say: pipes and links in a release, tables of absurd shape, bombs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lookalike.analysis.release import open_release
from lookalike.data.release import Grouped, MatchGraph, RecordMap
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, LookalikeError, SchemaError
from lookalike.files.releases.alone import read_alone, taxonomy_over
from lookalike.files.releases.describe import DESCRIPTOR
from lookalike.files.releases.private import read_graph
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from lookalike.files.tables import compressed, formats, read_table
from lookalike.files.tables.csv.dialect import Dialect
from lookalike.files.tables.csv.structure import MOST_FIELDS, Records
from tests.files.releases.part_folders import clinic_in_parts
from tests.files.releases.release_forms import MANIFEST, clinic_release, small_clinic, write_private
from tests.reading import read_release

READERS: tuple[Callable[[Path], object], ...] = (
    open_release,
    lambda folder: read_alone(ReleaseFolder(folder)),
    lambda folder: read_release(folder, small_clinic()),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "release"
    write_release(folder, clinic_release(Grouped.form)[1], documents={}, manifest=MANIFEST)
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A release to be changed."""
    return shutil.copytree(written, tmp_path / "release")


@pytest.mark.parametrize("name", [DESCRIPTOR, "release.parquet"])
def test_a_pipe_or_a_device_in_a_release_is_refused(folder: Path, name: str) -> None:
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (folder / name).unlink()
        make(folder / name)
        for read in READERS:
            with pytest.raises(DataError, match="a pipe or a device"):
                read(folder)


@pytest.mark.parametrize("name", ["release.csv", "schema.yaml"])
def test_a_pipe_beside_the_parquet_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(LookalikeError, match="a pipe or a device"):
        read_alone(ReleaseFolder(folder))


def _changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    package = json.loads((folder / DESCRIPTOR).read_text())
    change(package)
    (folder / DESCRIPTOR).write_text(json.dumps(package))


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\0b", "", ["release"], {"a": 1}, 7])
def test_a_table_that_lies_elsewhere_is_not_looked_for(folder: Path, name: Any) -> None:
    _changed(folder, lambda package: package["lookalike"]["tables"][0].update(name=name))
    for read in READERS:
        with pytest.raises(DataError, match="lacks parts of its lookalike block"):
            read(folder)


@pytest.mark.parametrize("number", [1e999, float("nan"), "x", None, [1]])
def test_counts_that_are_no_numbers_are_refused(folder: Path, number: Any) -> None:
    _changed(folder, lambda package: package["lookalike"].update(suppressed=number))
    with pytest.raises(DataError, match="lacks parts of its lookalike block"):
        open_release(folder)


def test_parts_that_a_manifest_only_claims_are_missed(tmp_path: Path) -> None:
    data, _ = clinic_in_parts(tmp_path / "parts", Grouped.form)

    def claim(package: dict[str, Any]) -> None:
        table = package["lookalike"]["tables"][0]
        table["parts"][0]["rows"] += 10**9
        table["rows"] += 10**9

    _changed(tmp_path / "parts", claim)
    with pytest.raises(DataError, match="another number of rows than is listed"):
        read_release(tmp_path / "parts", data)
    _changed(tmp_path / "parts", lambda package: package["lookalike"]["tables"][0].update(parts=10**9))
    with pytest.raises(DataError, match="lacks parts of its lookalike block"):
        read_release(tmp_path / "parts", data)


def test_a_private_folder_that_was_changed_is_refused(tmp_path: Path) -> None:
    rows = np.arange(3, dtype=np.int64)
    graph = MatchGraph(np.arange(4, dtype=np.int64), np.arange(3, dtype=np.int32))
    private = write_private(tmp_path / "release", RecordMap(rows, rows, graph))
    assert read_graph(private).rows.tolist() == [0, 1, 2]
    for frame in (
        pl.DataFrame({"lists": [1]}),
        pl.DataFrame({"rows": ["a"]}),
        pl.DataFrame({"rows": pl.Series([None, [1]], dtype=pl.List(pl.Int32))}),
    ):
        frame.write_parquet(private / "graph.parquet")
        with pytest.raises(DataError, match="graph.parquet is not as lookalike writes it"):
            read_graph(private)


def test_a_line_of_a_million_fields_is_refused() -> None:
    line = b",".join([b"c"] * (MOST_FIELDS + 1)) + b"\n"
    with pytest.raises(DataError, match="rows and columns were exchanged"):
        Records([line], Dialect(delimiter=",", quote='"', header=True), "x.csv")


def test_too_many_columns_are_refused_unless_few_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_COLUMNS", 2)
    frame = pl.DataFrame({"a": [1], "b": [2], "c": [3]})
    assert read_table(frame, columns=["a", "c"]).names == ["a", "c"]
    with pytest.raises(SchemaError, match="has 3 columns, more than the 2"):
        read_table(frame)


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "FREE_BYTES", 1 << 20)
    bomb, honest = tmp_path / "bomb.csv.gz", tmp_path / "honest.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n" + (b"x" * 500 + b",2\n") * 8000))
    honest.write_bytes(gzip.compress(b"a,b\n" + "".join(f"{row},{row * row}\n" for row in range(9000)).encode()))
    with pytest.raises(DataError, match="unpacks to more than 200 times its size"):
        read_table(bomb)
    assert len(read_table(honest)["a"].codes) == 9000


def test_nodes_that_overlap_are_not_listed_without_end() -> None:
    labels = [f"{start * 1000}-{start * 1000 + 10**9}" for start in range(300)]
    with pytest.raises(DataError, match="too many to draw from"):
        taxonomy_over({"intervals": [10**9]}, labels, ValueType.INTEGER, "age", with_missing=False)
