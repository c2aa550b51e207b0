"""A perturbed release in an analyst's hands: from the folder alone to counts, cross tables and intervals."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.analysis.conditions import AllOf, AnyOf, Except, Range, satisfies
from lookalike.analysis.release import PublishedRelease


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    n_rows = 6000
    sex = rng.choice(["F", "M"], n_rows)
    illness = np.where(
        sex == "F", rng.choice(["flu", "gout", "HIV"], n_rows, p=[0.6, 0.25, 0.15]), rng.choice(["flu", "gout"], n_rows)
    )
    return pl.DataFrame(
        {"age": rng.integers(18, 90, n_rows), "sex": sex, "illness": illness, "ward": rng.integers(1, 4, n_rows)}
    )


@pytest.fixture(scope="module")
def release(original: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> PublishedRelease:
    folder = tmp_path_factory.mktemp("release") / "out"
    made = la.publish(
        original, qi=["age", "sex", "ward"], sensitive="illness", model="beta-likeness:2",
        algorithm="perturbation", seed=3,
    )  # fmt: skip
    made.write(folder, report="brief")
    return la.open_release(folder)


def within(truth: float, low: float, high: float) -> bool:
    """Inside a 95 % interval widened to twice its length: wrong once in 10,000."""
    reach = high - low
    return low - reach / 2 <= truth <= high + reach / 2


def _close(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    figures = ["estimate", "error", "low", "high"]
    return one["illness"].equals(other["illness"]) and np.allclose(one.select(figures), other.select(figures))


def test_counts_of_a_redrawn_column(release: PublishedRelease, original: pl.DataFrame) -> None:
    found = release.counts("illness")
    assert found.columns == ["illness", "published", "estimate", "error", "low", "high"]
    assert found["estimate"].sum() == pytest.approx(len(original))
    assert found["published"].sum() == len(original)
    truth = dict(original["illness"].value_counts().iter_rows())
    for line in found.iter_rows(named=True):
        assert line["error"] > 0
        assert within(truth[line["illness"]], line["low"], line["high"])


def test_counts_under_conditions(release: PublishedRelease, original: pl.DataFrame) -> None:
    found = release.counts("illness", where={"age": (30, 60), "sex": "F", "ward": [1, 2]})
    some = original.filter(pl.col("age").is_between(30, 60), sex="F").filter(pl.col("ward") < 3)
    assert found["estimate"].sum() == pytest.approx(len(some))
    for line in found.iter_rows(named=True):
        assert within(len(some.filter(illness=line["illness"])), line["low"], line["high"])
        assert 0 <= line["low"] <= line["high"] <= len(some)


def test_a_cross_table_is_its_parts(release: PublishedRelease) -> None:
    crossed = release.crosstab("sex", "illness")
    assert crossed.columns[:2] == ["sex", "illness"]
    for sex in ("F", "M"):
        apart = release.counts("illness", where={"sex": sex})
        assert _close(crossed.filter(sex=sex).drop("sex"), apart)
    several = release.crosstab(["sex", "ward"], "illness")
    assert len(several) == 2 * 3 * 3
    assert several["estimate"].sum() == pytest.approx(len(release.tables["release"]))
    assert release.crosstab("illness", "sex").sort("sex", "illness")["estimate"].to_list() == pytest.approx(
        crossed["estimate"].to_list()
    )


def test_exact_columns_are_counted_without_error(release: PublishedRelease, original: pl.DataFrame) -> None:
    found = release.crosstab("sex", "ward")
    truth = original.group_by("sex", "ward").len().sort("sex", "ward")
    assert found["estimate"].to_list() == truth["len"].to_list()
    assert found["error"].to_list() == [0.0] * 6


def test_a_condition_on_the_redrawn_column_is_its_line_of_the_cross_table(release: PublishedRelease) -> None:
    by_sex = release.counts("sex", where={"illness": "HIV"})
    crossed = release.crosstab("sex", "illness").filter(illness="HIV")
    assert by_sex["estimate"].to_list() == pytest.approx(crossed["estimate"].to_list())
    assert by_sex["error"].to_list() == pytest.approx(crossed["error"].to_list())


def test_a_condition_on_the_column_that_is_counted_chooses_lines(release: PublishedRelease) -> None:
    chosen = release.counts("illness", where={"illness": ["flu", "HIV"]})
    assert chosen.equals(release.counts("illness").filter(pl.col("illness") != "gout"))


def test_one_count_agrees_with_the_table_of_counts(release: PublishedRelease, original: pl.DataFrame) -> None:
    where = {"sex": "F", "age": (40, None)}
    table = release.counts("illness", where=where)
    one = release.count({**where, "illness": "HIV"})
    line = table.filter(illness="HIV").row(0, named=True)
    assert one.unclipped == pytest.approx(line["estimate"])
    assert one.error == pytest.approx(line["error"])
    assert one.interval() == pytest.approx((line["low"], line["high"]))
    both = release.count({**where, "illness": ["HIV", "flu"]})
    assert both.unclipped == pytest.approx(table.filter(pl.col("illness") != "gout")["estimate"].sum())
    assert both.error <= one.error + table.filter(illness="flu")["error"][0]
    everybody = release.count(where)
    assert everybody.value == len(original.filter(sex="F").filter(pl.col("age") >= 40))
    assert everybody.error == 0
    assert float(one) == one.value
    assert "reconstruction" in str(one)


def test_a_wider_level_is_a_wider_interval(release: PublishedRelease) -> None:
    one = release.count({"illness": "gout"})
    low, high = one.interval(0.5)
    lower, higher = one.interval(0.99)
    assert lower < low < one.value < high < higher
    assert (release.counts("illness", level=0.5)["low"] >= release.counts("illness", level=0.99)["low"]).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        one.interval(95)


def test_estimates_stay_within_what_is_possible(release: PublishedRelease) -> None:
    few = {"age": (20, 20), "sex": "M"}
    n_rows = release.count(few).n_rows
    for illness in ("flu", "gout", "HIV"):
        one = release.count({**few, "illness": illness})
        assert 0 <= one.interval()[0] <= one.value <= one.interval()[1] <= n_rows
    clipped = release.counts("illness", where=few, clip=True)
    assert (clipped["clipped"] >= 0).all()
    assert clipped["clipped"].sum() == pytest.approx(n_rows)
    assert "estimate" not in clipped.columns


def test_no_row_matches(release: PublishedRelease) -> None:
    assert release.count({"age": (200, None), "illness": "flu"}).value == 0
    assert release.counts("illness", where={"age": (200, None)})["high"].to_list() == [0.0] * 3


def test_the_baseline_ignores_the_rows_own_values(release: PublishedRelease, original: pl.DataFrame) -> None:
    found = release.count({"sex": "M", "illness": "HIV"}, method="baseline")
    shares = release.counts("illness", clip=True)
    share = shares.filter(illness="HIV")["clipped"][0] / len(original)
    assert found.value == pytest.approx(len(original.filter(sex="M")) * share)
    assert np.isnan(found.error)
    assert "not known" in str(found)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda release: release.counts("ilness"), 'There is no column "ilness". Did you mean "illness"'),
        (lambda release: release.count({"agee": 3}), "Did you mean"),
        (lambda release: release.count({"age": "old"}), "holds int64 values"),
        (lambda release: release.count({"age": (1, 2, 3)}), "a range is a pair"),
        (lambda release: release.crosstab("sex", "sex"), "named twice"),
        (lambda release: release.count({"age": 3}, method="guess"), "There is no method"),
    ],
)
def test_wrong_questions_get_an_answer(release: PublishedRelease, ask, answer: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(la.RecipeError, match=answer):
        ask(release)


def test_a_value_that_does_not_occur_is_refused(release: PublishedRelease) -> None:
    with pytest.raises(la.RecipeError, match='"illness" has no value "plague" in this release'):
        release.count({"illness": "plague"})


def test_columns_called_like_the_figures(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "error": rng.integers(0, 3, 400),
            "^.*$": rng.integers(0, 2, 400),
            "estimate": rng.choice(["a", "b", "c"], 400),
        }
    )
    la.publish(
        frame, qi=["error", "^.*$"], sensitive="estimate", model="beta-likeness:1", algorithm="perturbation"
    ).write(tmp_path / "odd", report="brief")
    assert la.open_release(tmp_path / "odd").crosstab(["error", "^.*$"], "estimate").columns == [
        "error", "^.*$", "estimate", "published", "estimate_", "error_", "low", "high",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        [True, False, None],
        [1.5, 2.25, None],
        [datetime.date(2024, 1, 5), datetime.date(1969, 12, 31), None],
        [datetime.datetime(2024, 1, 5, 13, 30), datetime.datetime(2024, 1, 6), None],
        ["(missing)", "(empty)", "a|b"],
        [10**17 + 1, 10**17 + 2, -5],
    ],
    ids=str,
)
def test_values_of_every_type_and_missing_ones(tmp_path: Path, values: list[object]) -> None:
    rng = np.random.default_rng(1)
    column = [values[place] for place in rng.choice(3, 900, p=[0.5, 0.3, 0.2])]
    frame = pl.DataFrame({"x": rng.integers(0, 2, 900), "s": pl.Series(column, strict=False)})
    made = la.publish(frame, qi=["x"], sensitive="s", model="beta-likeness:1", algorithm="perturbation")
    made.write(tmp_path / "typed", report="brief")
    release = la.open_release(tmp_path / "typed")
    found = dict(release.counts("s").select("s", "published").iter_rows())
    assert found == {value: made.frame()["s"].eq_missing(value).sum() for value in values}
    for value in values:
        assert release.count({"s": value}).unclipped == pytest.approx(
            release.counts("s").filter(pl.col("s").eq_missing(value))["estimate"][0]
        )
    assert release.count({"s": values}).value == pytest.approx(900)


def test_what_is_no_release_is_said(tmp_path: Path) -> None:
    with pytest.raises(la.DataError, match="not a release folder"):
        la.open_release(tmp_path)


def test_a_matrix_that_was_changed_is_noticed(tmp_path: Path, original: pl.DataFrame) -> None:
    la.publish(
        original, qi=["age"], sensitive="illness", model="beta-likeness:2", algorithm="perturbation"
    ).write(tmp_path / "out", report="brief")  # fmt: skip
    path = tmp_path / "out" / "datapackage.json"
    package = json.loads(path.read_text())
    package["lookalike"]["matrices"][0]["values"][0] = "plague"
    path.write_text(json.dumps(package))
    with pytest.raises(la.DataError, match="values that its matrix does not have"):
        la.open_release(tmp_path / "out")


def test_conditions() -> None:
    frame = pl.DataFrame({"n": [1, 2, None, 4], "d": [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)]})
    assert satisfies(frame["n"], (2, None)).to_list() == [False, True, False, True]
    assert satisfies(frame["n"], [1, None]).to_list() == [True, False, True, False]
    assert satisfies(frame["n"], {2.0, 4}).to_list() == [False, True, False, True]
    assert satisfies(frame["n"], (1.5, "2.5")).to_list() == [False, True, False, False]
    assert satisfies(frame["d"], ("2024-01-02", datetime.date(2024, 1, 3))).to_list() == [False, True, True, False]


def test_conditions_that_the_plain_notation_cannot_say() -> None:
    whole = pl.Series("n", [1, 2, None, 2**53 + 1])
    assert satisfies(whole, Range(1, 2, low_included=False)).to_list() == [False, True, False, False]
    assert satisfies(whole, Range(1.5, None, low_included=False)).to_list() == [False, True, False, True]
    assert satisfies(whole, Range(None, "1.5", high_included=False)).to_list() == [True, False, False, False]
    assert satisfies(whole, Range(2**53, None, low_included=False)).to_list() == [False, False, False, True]
    assert satisfies(whole, (10**30, None)).to_list() == [False] * 4
    assert satisfies(whole, (-math.inf, 10**30)).to_list() == [True, True, False, True]
    assert satisfies(whole, (None, -math.inf)).to_list() == [False] * 4
    assert satisfies(whole, [10**30, "2.0", 1.5]).to_list() == [False, True, False, False]
    assert satisfies(whole, Except((2, 7))).to_list() == [True, False, False, True]
    assert satisfies(whole, Except(())).to_list() == [True, True, False, True]
    assert satisfies(whole, AnyOf((None, 1, Range(5, None)))).to_list() == [True, False, True, True]
    assert satisfies(whole, AllOf((Range(1, 5), Except((1,))))).to_list() == [False, True, False, False]
    decimal = pl.Series("x", [1.0, 1.5, None])
    assert satisfies(decimal, Range(1, None, low_included=False)).to_list() == [False, True, False]
    assert satisfies(decimal, Range(None, 1.5, high_included=False)).to_list() == [True, False, False]
    day = pl.Series("d", [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)])
    assert satisfies(day, Range("2024-01-01", None, low_included=False)).to_list() == [False, True]
    assert satisfies(pl.Series("b", [True, False, None]), "true").to_list() == [True, False, False]
    for nonsense in ("nan", float("nan"), True):
        with pytest.raises(la.RecipeError, match="is none"):
            satisfies(whole, nonsense)
