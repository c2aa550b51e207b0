"""CSV files without cells that a spreadsheet would compute, and back."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import DataError
from lookalike.files.releases.tablefiles import restore_texts, safe_frame, safe_name

texts = st.lists(st.none() | st.text(st.sampled_from("'=+-@\t\r\n0 9.|abc")), max_size=20)


@given(texts)
def test_every_cell_is_given_back(cells: list[str | None]) -> None:
    frame = pl.DataFrame({"=a": pl.Series(cells, dtype=pl.String)})
    safe = safe_frame(frame)
    assert restore_texts(safe).equals(frame, null_equal=True)
    for cell in safe["'=a"].drop_nulls():
        assert cell[:1] not in tuple("=@\t\r\n")
        if cell[:1] in ("+", "-"):
            assert set(cell) <= set("+-0123456789. to|(missing)")


def test_numbers_and_intervals_keep_their_minus() -> None:
    cells = ["-5", "+4.25", "-5 to -2", "-5 to 3|(missing)", "28-39", "-5+cmd|' /C calc'!A0", "-", "-cmd"]
    frame = pl.DataFrame({"n": [-1] * len(cells), "t": cells})
    safe = safe_frame(frame)
    assert safe["n"].to_list() == frame["n"].to_list()
    assert [cell[0] == "'" for cell in safe["t"]] == [False] * 5 + [True] * 3
    assert (safe_name("@x"), safe_name("''=x"), safe_name("'x")) == ("'@x", "'''=x", "'x")


FRAME = pl.DataFrame(
    {
        "=age": [-3, -2, -1, 0, 1, 2, 3, 4],
        "job": ["=cmd()", "+x", "'=y", "-5", "=cmd()", "+x", "'=y", "-5"],
        "diagnosis": ["@sum", "flu", "=1+1", "cold", "@sum", "flu", "=1+1", "cold"],
    }
)


@pytest.fixture(scope="module")
def safe_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("safe") / "release"
    made = la.publish(FRAME, qi=["=age", "job"], sensitive="diagnosis", model="k-anonymity:2")
    made.write(folder, report="brief", safe_csv=True)
    return folder


def test_a_safe_release_is_read_back_and_audited(safe_release: Path) -> None:
    with (safe_release / "release.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][0] == "'=age"
    assert {row[2] for row in rows[1:]} == {"'@sum", "flu", "'=1+1", "cold"}
    assert not any(cell.startswith(("=", "@", "\t", "\r")) for row in rows for cell in row)
    assert set(pl.read_parquet(safe_release / "release.parquet")["diagnosis"]) == set(FRAME["diagnosis"])
    assert la.verify(FRAME, safe_release).passed
    assert "apostrophe" in (safe_release / "README.txt").read_text()


def test_a_safe_release_that_was_changed_is_noticed(safe_release: Path) -> None:
    path = safe_release / "release.csv"
    text = path.read_text()
    path.write_text(text.replace("'@sum", "@summ", 1))
    with pytest.raises(DataError, match="disagree"):
        la.verify(FRAME, safe_release)
    path.write_text(text)


def test_a_safe_release_is_a_valid_data_package(safe_release: Path) -> None:
    from frictionless import Package

    assert Package(str(safe_release / "datapackage.json")).validate().valid
