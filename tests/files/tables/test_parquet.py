"""Folders of Parquet files as one table."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import lookalike as la
from lookalike.data.microdata import texts_of
from lookalike.errors import DataError
from lookalike.files.tables import read_table


def written(folder: Path, **frames: pl.DataFrame) -> Path:
    for name, frame in frames.items():
        folder.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(folder / f"{name}.parquet")
    return folder


def test_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = written(tmp_path / "t", b=pl.DataFrame({"a": [3]}), a=pl.DataFrame({"a": [1, 2]}))
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").touch()
    table = read_table(folder)
    assert (table["a"].values.tolist(), table["a"].codes.tolist(), table.source) == ([1, 2, 3], [0, 1, 2], "t")


def test_folders_that_name_columns(tmp_path: Path) -> None:
    for year, city, age in ((2023, "A%20B", 30), (2024, "007", 40), (2024, "__HIVE_DEFAULT_PARTITION__", 50)):
        written(tmp_path / "t" / f"year={year}" / f"city={city}", part=pl.DataFrame({"age": [age]}))
    table = read_table(tmp_path / "t")
    assert [(column.name, str(column.type)) for column in table.columns] == [
        ("age", "integer"),
        ("year", "integer"),
        ("city", "string"),
    ]
    city = table["city"]
    assert (city.values.tolist(), city.n_missing) == (["007", "A B"], 1)
    written(tmp_path / "days" / "day=2024-02-29", part=pl.DataFrame({"age": [1]}))
    day = read_table(tmp_path / "days", columns=["day"])["day"]
    assert texts_of(day.values, day.type) == ["2024-02-29"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (pl.DataFrame({"b": [1]}), "have other columns"),
        (pl.DataFrame({"a": ["x"]}), 'have other types in column "a"'),
    ],
)
def test_files_that_disagree(tmp_path: Path, other: pl.DataFrame, said: str) -> None:
    folder = written(tmp_path / "t", a=pl.DataFrame({"a": [1]}), b=other)
    with pytest.raises(DataError, match=f'"a.parquet" and "b.parquet" {said}'):
        read_table(folder)


def test_folders_that_disagree(tmp_path: Path) -> None:
    written(tmp_path / "t", a=pl.DataFrame({"a": [1]}))
    written(tmp_path / "t" / "year=2024", b=pl.DataFrame({"a": [1]}))
    with pytest.raises(DataError, match="folders of other columns"):
        read_table(tmp_path / "t")
    written(tmp_path / "u" / "a=1", b=pl.DataFrame({"a": [1]}))
    with pytest.raises(DataError, match="in the files and in the names"):
        read_table(tmp_path / "u")


def test_other_files_and_damaged_ones(tmp_path: Path) -> None:
    folder = written(tmp_path / "t", a=pl.DataFrame({"a": [1]}))
    (folder / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="b.parquet in t is damaged"):
        read_table(folder)
    (folder / "b.parquet").rename(folder / "b.csv")
    with pytest.raises(DataError, match='holds "b.csv"'):
        read_table(folder)


def test_a_folder_that_another_tool_published_is_audited(tmp_path: Path) -> None:
    original = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    ranged = pl.DataFrame({"age": ["1-2", "1-2"], "ill": ["a", "b"]})
    others = ranged.with_columns(age=pl.lit("3-4"))
    schema = la.Schema.of(qi=["age"], sensitive=["ill"], carry=[], numeric=["age"], categorical=[])
    folder = written(tmp_path / "t", a=pl.concat([ranged, others]))
    assert la.verify(original, folder, schema=schema, model="k-anonymity:2").passed
    # Which rows are in which file would say more than the rows.
    folder = written(tmp_path / "u", a=ranged, b=others)
    assert not la.verify(original, folder, schema=schema, model="k-anonymity:2").passed
