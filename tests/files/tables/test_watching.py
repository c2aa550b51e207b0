"""A file that changes while it is read gives no table."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from lookalike.errors import DataError
from lookalike.files.tables import read_table

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
