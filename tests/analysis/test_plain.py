"""Plain tables from release folders: names, types, what they say, and what is refused."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike
from lookalike.analysis.plain import Plain, write_worlds
from lookalike.data.release import Withheld
from lookalike.errors import DataError, RecipeError
from lookalike.files.releases.write import write_release
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path, "grouped")


def written(tmp_path: Path, form: str, **withheld: object) -> Path:
    _, release = clinic_release(form)
    if withheld:
        release = replace(release, withheld=Withheld(**withheld))  # type: ignore[arg-type]
    write_release(tmp_path / form, release, documents={}, manifest=MANIFEST)
    return tmp_path / form


@pytest.mark.parametrize("form", FORMS)
def test_columns_have_the_names_and_types_of_the_original(form: str, tmp_path: Path) -> None:
    worlds = lookalike.sample(written(tmp_path, form), worlds=3, seed=1)
    assert len(worlds) == 3
    for frame in worlds:
        assert frame.schema == {
            "age": pl.Int64,
            "work, class": pl.String,
            "born": pl.Date,
            "pain": pl.String,
            "zip": pl.String,
            "diagnosis": pl.String,
            "smokes": pl.Boolean,
            "weight": pl.Float64,
        }
        assert len(frame) == 12
        assert set(frame["pain"]) <= {"low", "mid", "high"}
        assert datetime.date(1980, 1, 1) <= min(frame["born"]) <= max(frame["born"]) <= datetime.date(1981, 3, 16)
        if form != "perturbed":
            assert sorted(frame["diagnosis"].drop_nulls()) == sorted(["flu", "cold", "gout"] * 3)
    assert not worlds[0].equals(worlds[1])
    assert worlds[0].equals(lookalike.sample(tmp_path / form, worlds=1, seed=1)[0])


@pytest.mark.parametrize("form", ["bucketized", "perturbed"])
def test_an_open_release_draws_the_same(form: str, tmp_path: Path) -> None:
    folder = written(tmp_path, form)
    for one, other in zip(
        lookalike.open_release(folder).sample(worlds=2, seed=4), lookalike.sample(folder, worlds=2, seed=4), strict=True
    ):
        assert one.equals(other)
    assert lookalike.open_release(folder).sample(1)[0].to_pandas().shape == (12, 8)


def test_cells_are_drawn_by_what_is_certain(folder: Path) -> None:
    """The first group has ages from 28 to 41 and four workplaces of which one is missing: one of each for certain."""
    worlds = lookalike.sample(folder, worlds=150, seed=2)
    published = pl.read_csv(folder / "release.csv", infer_schema=False)
    rows = np.flatnonzero((published["age"] == "28..41").to_numpy())
    ages = np.concatenate([frame["age"].gather(rows).to_numpy() for frame in worlds])
    counts = np.bincount(ages - 28)
    assert len(counts) == 14
    assert counts.min() > 0
    assert min(counts[0], counts[-1]) > 0.8 * len(ages) / len(rows)
    jobs = pl.concat([frame["work, class"].gather(rows) for frame in worlds])
    shares = dict(jobs.value_counts().iter_rows())
    assert set(shares) == {"Private", "Federal", "Local", None}
    assert all(abs(count - len(jobs) / 4) < 0.25 * len(jobs) / 4 for count in shares.values())


def test_made_up_records_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    dummies = (np.array([0, 1, 1, 0]), np.array([0, 2]))
    folder = written(tmp_path, "grouped", dummies=dummies, n_dummies=2, indistinguishable=True, n_suppressed=1)
    plain = Plain.of(folder)
    (frame,) = plain.draw(1, seed=1)
    assert len(frame) == plain.n_people == 10
    assert plain.notes[1:] == [
        "2 made-up records are taken away at random.",
        "1 record of the original was left out of the release.",
    ]


def test_one_file_numbers_the_worlds(folder: Path, tmp_path: Path) -> None:
    (path,) = write_worlds(Plain.of(folder), str(tmp_path / "all.csv"), 3, seed=1)
    read = pl.read_csv(path, try_parse_dates=True)
    assert read.columns[0] == "world"
    assert read["world"].to_list() == [1] * 12 + [2] * 12 + [3] * 12
    assert read.schema["born"] == pl.Date
    (path,) = write_worlds(Plain.of(folder), str(tmp_path / "all.parquet"), 3, seed=1)
    assert pl.read_parquet(path).drop("world")[12:24].equals(lookalike.sample(folder, worlds=3, seed=1)[1])


def test_files_for_each_world(folder: Path, tmp_path: Path) -> None:
    paths = write_worlds(Plain.of(folder), str(tmp_path / "w{world}.parquet"), 2, seed=1)
    assert [path.name for path in paths] == ["w1.parquet", "w2.parquet"]
    drawn = lookalike.sample(folder, worlds=2, seed=1)
    assert [pl.read_parquet(path).equals(frame) for path, frame in zip(paths, drawn, strict=True)] == [True, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grouped", "w1.parquet", "w2.parquet"]


def test_what_is_refused(folder: Path, tmp_path: Path) -> None:
    plain = Plain.of(folder)
    (tmp_path / "there.csv").write_text("mine", "utf-8")
    for out, said in (("there.csv", "exists already"), ("x.xlsx", "csv or .parquet"), ("no/x.csv", "no folder")):
        with pytest.raises(RecipeError, match=said):
            write_worlds(plain, str(tmp_path / out), 2)
    assert (tmp_path / "there.csv").read_text("utf-8") == "mine"
    with pytest.raises(RecipeError, match="one world or more"):
        lookalike.sample(folder, worlds=0)
    with pytest.raises(DataError, match="not a release folder"):
        lookalike.sample(tmp_path)
