"""The one door: files told by their first bytes, frames of all makes, what is refused, files that change meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.data.microdata import Table
from lookalike.data.schema import ValueType
from lookalike.errors import DataError, SchemaError
from lookalike.files.tables import read_table

FRAME = pl.DataFrame({"age": [30, None, 20], "name": ["x", "y", None], "^a.*$": [1.5, 2.5, 1.5]})


def content(table: Table) -> dict[str, tuple[str, list[Any], list[int]]]:
    return {column.name: (column.type.value, column.values.tolist(), column.codes.tolist()) for column in table.columns}


EXPECTED = {
    "age": ("integer", [20, 30], [1, 2, 0]),
    "name": ("string", ["x", "y"], [0, 1, 2]),
    "^a.*$": ("number", [1.5, 2.5], [0, 1, 0]),
}


def stored(folder: Path, kind: str) -> Path:
    path = folder / f"table.{kind}"
    if kind == "parquet":
        FRAME.write_parquet(path)
    elif kind == "arrow":
        FRAME.write_ipc(path)
    elif kind == "stream":
        FRAME.write_ipc_stream(path)
    else:
        FRAME.write_csv(path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "csv"])
def test_files_are_told_by_their_first_bytes(tmp_path: Path, kind: str) -> None:
    path = stored(tmp_path, kind)
    assert content(read_table(path)) == EXPECTED
    assert content(read_table(str(path))) == EXPECTED
    misnamed = path.rename(tmp_path / "[x]*.dat")  # a name that others take for a pattern
    assert content(read_table(misnamed)) == EXPECTED
    assert read_table(misnamed).source == "[x]*.dat"


class Capsule:
    """Anything that speaks Arrow's stream protocol."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "source", [FRAME, FRAME.lazy(), FRAME.to_arrow(), Capsule(FRAME)], ids=["frame", "lazy", "arrow", "capsule"]
)
def test_frames_of_all_makes(source: Any) -> None:
    assert content(read_table(source)) == EXPECTED
    assert content(read_table(source, columns=["^a.*$"])) == {"^a.*$": EXPECTED["^a.*$"]}
    asked = read_table(source, columns=["age"], types={"age": ValueType.STRING, "name": ValueType.STRING})
    assert content(asked) == {"age": ("string", ["20", "30"], [1, 2, 0])}
    with pytest.raises(SchemaError, match='Did you mean "age"'):
        read_table(source, columns=["aeg"])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_only_what_is_asked_for_must_be_publishable(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"a": [1], "b": [[1, 2]]})
    path = tmp_path / f"t.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path)
    assert read_table(path, columns=["a"]).names == ["a"]
    with pytest.raises(DataError, match=f't.{kind}: column "b" holds values of type List'):
        read_table(path)


def test_a_lazy_frame_is_run_once() -> None:
    n_runs = 0

    def counting(frame: pl.DataFrame) -> pl.DataFrame:
        nonlocal n_runs
        n_runs += 1
        return frame

    lazy = FRAME.lazy().map_batches(counting, schema=FRAME.schema)
    assert content(read_table(lazy)) == EXPECTED
    assert n_runs == 1


def test_a_lazy_frame_that_fails_says_so_in_our_words() -> None:
    failing = pl.LazyFrame({"a": ["secret"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(DataError, match="its query fails") as caught:
        read_table(failing)
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="its query fails"):
        read_table(pl.LazyFrame({"a": [1]}).select("b"))


def test_frames_without_columns_or_with_bad_names_are_refused() -> None:
    with pytest.raises(DataError, match="no columns"):
        read_table(pl.DataFrame())
    with pytest.raises(DataError, match="no columns"):
        read_table(pl.LazyFrame())
    with pytest.raises(SchemaError, match="without a name"):
        read_table(pl.DataFrame({"": [1]}))
    with pytest.raises(SchemaError, match='same name: "a"'):
        read_table(pa.table([[1], [2]], names=["a", "a"]))


def test_frames_without_rows_are_tables() -> None:
    table = read_table(FRAME.clear())
    assert table.n_rows == 0
    assert [column.type.value for column in table.columns] == ["integer", "string", "number"]


@pytest.mark.parametrize("source", [42, {1, 2}, object()])
def test_what_is_no_table_is_refused(source: Any) -> None:
    with pytest.raises(DataError, match=f"cannot be read from a {type(source).__name__}"):
        read_table(source)


def test_folders_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder without a Parquet file. Give one file"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="There is no file"):
        read_table(tmp_path / "nothing.csv")


def test_a_file_one_may_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")

    def denied(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(DataError, match="Permission denied"):
        read_table(path)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_damaged_files_are_refused_in_our_words(tmp_path: Path, kind: str, share: float) -> None:
    path = stored(tmp_path, kind)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(DataError, match="damaged"):
        read_table(path)


def test_other_formats_are_called_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"FEA1....")
    with pytest.raises(DataError, match="Feather file of version 1"):
        read_table(path)
    for name in ("t.parquet", "t.feather", "t.xlsx"):
        path = tmp_path / name
        path.write_bytes(b"a,b\n1,2\n")
        with pytest.raises(DataError, match="does not begin as such a file"):
            read_table(path)
        path.write_bytes(b"")
        with pytest.raises(DataError, match="does not begin as such a file"):
            read_table(path)


def test_progress_is_told_for_typed_files(tmp_path: Path) -> None:
    shares: list[float] = []
    read_table(stored(tmp_path, "parquet"), progress=lambda step, share, note="": shares.append(share))
    assert shares == [0.0, 1 / 3, 2 / 3, 1.0]


def test_the_package_loads_the_frame_library_only_when_it_reads() -> None:
    code = "import sys; from lookalike.files import tables; assert 'polars' not in sys.modules; tables.read_table"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


ROWS = {"age": [30, 31, 32], "sex": ["f", "m", "f"]}


def _truncated(path: Path) -> None:
    with path.open("rb+") as file:
        file.truncate(6)


def _appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"77,m\n")


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"f", b"m"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(other, path)


@pytest.mark.parametrize("change", [_truncated, _appended, _replaced, Path.unlink])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_change_in_the_middle_is_noticed(
    tmp_path: Path, ending: str, change: Callable[[Path], None], capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"people.{ending}"
    frame = pl.DataFrame(ROWS)
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    changed: list[str] = []

    def meanwhile(step: str, share: float, note: str = "") -> None:
        if not changed:
            changed.append(step)
            change(path)

    with pytest.raises(DataError, match="was changed while it was read"):
        read_table(path, progress=meanwhile)
    assert changed
    assert capfd.readouterr().err == ""  # as libraries print it that panic over bytes that are gone


def test_a_file_that_stays_as_it_is_can_be_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pl.DataFrame(ROWS).write_csv(path)
    assert read_table(path, progress=lambda step, share, note="": None).n_rows == 3
    os.utime(path, ns=(1, path.stat().st_mtime_ns))
    assert read_table(path).n_rows == 3


def test_an_argument_that_nobody_knows_is_named_also_for_a_table_read_before() -> None:
    table = la.read_table(pl.DataFrame({"age": [30, 20]}))
    for source in ("nowhere.csv", table):
        with pytest.raises(la.RecipeError, match='no argument "delimeter"'):
            la.publish(source, qi=["age"], model="k-anonymity:2", delimeter=";")
