"""Files of other tools around the same cells: as tools write them, and with something more in them."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.audit.planting.foreign import Row, write
from tests.files.tables.workbook_files import write_workbook

SECRET = "the third row is Anna"
Box = Callable[[Path, list[Row]], Path]


def _parquet(metadata: dict[str, str] | None = None, note: str = "") -> Box:
    def box(folder: Path, rows: list[Row]) -> Path:
        table = pl.DataFrame(rows).to_arrow().replace_schema_metadata(metadata)
        first, *others = table.schema
        noted = pa.schema([first.with_metadata({"note": note}) if note else first, *others], metadata=metadata)
        pq.write_table(table.cast(noted), folder / "other.parquet")
        return folder / "other.parquet"

    return box


def _arrow(metadata: dict[str, str] | None = None) -> Box:
    def box(folder: Path, rows: list[Row]) -> Path:
        table, path = pl.DataFrame(rows).to_arrow().replace_schema_metadata(metadata), folder / "other.arrow"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return path

    return box


def _files(n_files: int) -> Box:
    """The rows of one job after the other, in so many files."""

    def box(folder: Path, rows: list[Row]) -> Path:
        inner = folder / f"in {n_files}"
        inner.mkdir(exist_ok=True)
        for place in range(n_files):
            pl.DataFrame(rows[place::n_files]).write_parquet(inner / f"part-{place}.parquet")
        return inner

    return box


def _zipped(more: str = "", comment: str = "") -> Box:
    def box(folder: Path, rows: list[Row]) -> Path:
        write(folder / "other.csv", rows)
        with zipfile.ZipFile(folder / "other.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(folder / "other.csv", "other.csv")
            if more:
                archive.writestr(more, SECRET)
            archive.comment = comment.encode()
        return folder / "other.zip"

    return box


def _gzipped(name: str = "other.csv") -> Box:
    def box(folder: Path, rows: list[Row]) -> Path:
        write(folder / "other.csv", rows)
        path = folder / "other.csv.gz"
        with path.open("wb") as file, gzip.GzipFile(filename=name, mode="wb", fileobj=file) as packed:
            packed.write((folder / "other.csv").read_bytes())
        return path

    return box


def _workbook(more: dict[str, str] | None = None, *, sheets: int = 1) -> Box:
    def box(folder: Path, rows: list[Row]) -> Path:
        table = [[*rows[0]], *([*row.values()] for row in rows)]
        others = {f"more {place}": [["name"], [SECRET]] for place in range(1, sheets)}
        path = write_workbook(folder / "other.xlsx", {"table": table, **others})
        with zipfile.ZipFile(path, "a") as archive:
            for name, text in (more or {}).items():
                archive.writestr(name, text)
        return path

    return box


def _pandas(folder: Path, rows: list[Row]) -> Path:
    pl.DataFrame(rows).to_pandas().to_parquet(folder / "other.parquet")
    return folder / "other.parquet"


def _pandas_with_categories(folder: Path, rows: list[Row]) -> Path:
    frame = pl.DataFrame(rows).to_pandas()
    frame["illness"] = frame["illness"].astype("category").cat.add_categories([SECRET])
    frame.to_parquet(folder / "other.parquet")
    return folder / "other.parquet"


HONEST_BOXES: dict[str, Box] = {
    "Parquet by Arrow": _parquet(),
    "Parquet by pandas": _pandas,
    "Arrow": _arrow(),
    "a folder of one file": _files(1),
    "zip": _zipped(),
    "gzip": _gzipped(),
    "a workbook": _workbook(),
}
PLANTED_BOXES: dict[str, Box] = {
    "a key that no tool writes in Parquet": _parquet({"hint": SECRET}),
    "a message under a key of pandas": _parquet({"pandas": SECRET}),
    "a message under a key of Arrow": _parquet({"ARROW:schema": SECRET}),
    "metadata of a column": _parquet(note=SECRET),
    "a category that no row has": _pandas_with_categories,
    "metadata in an Arrow file": _arrow({"hint": SECRET}),
    "rows divided over two files": _files(2),
    "a hidden file in an archive": _zipped(".original.csv"),
    "a file of a desktop in an archive": _zipped("__MACOSX/original.csv"),
    "a comment of an archive": _zipped(comment=SECRET),
    "a long name in gzip": _gzipped(SECRET * 9),
    "a sheet more": _workbook(sheets=2),
    "comments in a workbook": _workbook({"xl/comments1.xml": f"<comments>{SECRET}</comments>"}),
    "properties of a workbook": _workbook({"docProps/custom.xml": f"<Properties>{SECRET}</Properties>"}),
}
