"""Counts from grouped and matched releases, from the folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.apps.samples import hospital
from lookalike.apps.samples.drawing import to_csv

QUASI = ["age", "sex", "zip code"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    path = tmp_path_factory.mktemp("table") / "stays.csv"
    to_csv(hospital(1000), path)
    return pl.read_csv(path, schema_overrides={"zip code": pl.String})


def published(folder: Path, table: pl.DataFrame, **recipe: Any) -> la.PublishedRelease:
    la.publish(table, sensitive="diagnosis", seed=1, **recipe).write(folder, report="brief")
    return la.open_release(folder)


@pytest.fixture(scope="module", params=["groups", "mondrian", "heterogeneous"])
def release(
    request: pytest.FixtureRequest, original: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> la.PublishedRelease:
    folder = tmp_path_factory.mktemp("made") / "release"
    return published(folder, original, qi=QUASI, model="l-diversity:3", algorithm=request.param)


def test_a_cell_counts_by_the_share_that_is_wanted(tmp_path: Path) -> None:
    """One group of ages 20 to 29, three of them with the illness; 25 to 34 asked for: 3 x 5/10."""
    table = pl.DataFrame({"age": [20, 22, 24, 29], "diagnosis": ["flu", "flu", "flu", "gout"]})
    release = published(tmp_path / "out", table, qi=["age"], model="k-anonymity:4")
    found = release.count({"age": (25, 34), "diagnosis": "flu"}, method="uniform")
    assert found.unclipped == pytest.approx(1.5)
    assert found.n_rows == 3
    # Two of four are at the ends for certain, the rest spread by weights: 9 in all, 1 more at the ends.
    weighted = release.count({"age": (25, 34), "diagnosis": "flu"}).unclipped
    inside = 5 * 2 / 10 + 1
    assert weighted == pytest.approx(3 * (1 / 4 + 2 / 4 * inside / 4))


def test_everybody_is_counted(release: la.PublishedRelease) -> None:
    assert release.count({}).value == 1000
    assert release.count({"age": (None, None)}).value == pytest.approx(1000)
    by_sex = release.counts("sex")
    assert by_sex["estimate"].sum() == pytest.approx(1000)


def test_exact_columns_are_exact(release: la.PublishedRelease, original: pl.DataFrame) -> None:
    truth = original["diagnosis"].value_counts()
    table = release.counts("diagnosis")
    assert table["published"].to_list() == table["estimate"].round().to_list() == table["high"].to_list()
    for value, count in truth.iter_rows():
        found = release.count({"diagnosis": value})
        assert found.value == pytest.approx(count)
        assert found.error == pytest.approx(0, abs=1e-6)


def test_cross_tables_are_counts_of_each_cell(release: la.PublishedRelease) -> None:
    table = release.crosstab("sex", "diagnosis", where={"age": (40, 60)})
    assert table.columns == ["sex", "diagnosis", "estimate", "error", "low", "high"]
    for line in table.head(6).iter_rows(named=True):
        alone = release.count({"sex": line["sex"], "diagnosis": line["diagnosis"], "age": (40, 60)})
        assert alone.unclipped == pytest.approx(line["estimate"])
        assert alone.error == pytest.approx(line["error"])
    assert table["estimate"].sum() == pytest.approx(release.count({"age": (40, 60)}).unclipped)


def test_intervals_hold_about_as_often_as_they_say(release: la.PublishedRelease, original: pl.DataFrame) -> None:
    rng = np.random.default_rng(3)
    values = original["diagnosis"].unique(maintain_order=True).to_list()
    held = []
    for turn in range(150):
        low = int(rng.integers(0, 70))
        high, wanted = low + int(rng.integers(10, 40)), rng.choice(values, 8, replace=False).tolist()
        where: dict[str, Any] = {"age": (low, high), "diagnosis": wanted}
        chosen = original.filter(pl.col("age").is_between(low, high) & pl.col("diagnosis").is_in(wanted))
        if turn % 2:
            where["sex"] = "female"
            chosen = chosen.filter(pl.col("sex") == "female")
        least, most = release.count(where).interval()
        held.append(least - 0.5 <= len(chosen) <= most + 0.5)
    assert 0.8 <= np.mean(held) <= 1


def test_weighted_answers_are_nearer_than_uniform_ones(original: pl.DataFrame, tmp_path: Path) -> None:
    """A column in which one value is frequent: cells of few values say which."""
    rng = np.random.default_rng(4)
    table = original.with_columns(pl.Series("country", rng.choice(["fr", "it", "us"], 1000, p=[0.02, 0.03, 0.95])))
    release = published(tmp_path / "out", table, qi=["age", "country"], model="l-diversity:4", algorithm="burel")
    truth = int((table["country"] == "us").sum())
    weighted, uniform = (release.count({"country": "us"}, method=one).value for one in ("weighted", "uniform"))
    assert abs(weighted - truth) < abs(uniform - truth)


def test_questions_in_sql(release: la.PublishedRelease) -> None:
    asked = release.query("SELECT COUNT(*) WHERE age BETWEEN 30 AND 40 AND sex = 'male'")
    assert isinstance(asked, la.Estimate)
    assert asked.unclipped == pytest.approx(release.count({"age": (30, 40), "sex": "male"}).unclipped)
    table = release.query("SELECT sex, COUNT(*) WHERE age < 20 GROUP BY sex")
    assert isinstance(table, pl.DataFrame)
    assert sorted(table["sex"].to_list()) == ["female", "male"]


def test_baselines_take_the_sides_apart(release: la.PublishedRelease) -> None:
    where = {"age": (30, 60), "diagnosis": "influenza"}
    found = release.count(where, method="baseline")
    share = release.count({"diagnosis": "influenza"}).value / 1000
    assert found.unclipped == pytest.approx(release.count({"age": (30, 60)}).unclipped * share)
    assert np.isnan(found.error)


def test_too_many_combinations_are_refused(release: la.PublishedRelease) -> None:
    with pytest.raises(la.RecipeError, match="Cross fewer columns"):
        release.crosstab(["age", "zip code", "sex"], "diagnosis")


def test_carried_columns_are_conditions_too(original: pl.DataFrame, tmp_path: Path) -> None:
    release = published(
        tmp_path / "out",
        original,
        qi=["age"],
        model="l-diversity:3",
        carry="length_of_stay",
        algorithm="mondrian",
        carry_anyway="length_of_stay",
    )
    truth = original.filter(pl.col("length_of_stay") > 10)
    assert release.count({"length_of_stay": (11, None)}).value == pytest.approx(len(truth))
    assert release.count({"length_of_stay": (11, None), "age": (0, 200)}).value == pytest.approx(len(truth))
