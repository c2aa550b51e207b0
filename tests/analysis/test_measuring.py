"""Totals, means and quantiles: against every world that tiny releases allow, within the certain bounds, and held."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from tests.analysis.release_folders import bucketized

BUCKETS = [0, 0, 0, 1, 1, 2, 2, 2]
AGES = [30, 45, 60, 20, 71, 33, None, 52]
SEXES = ["F", "M", "F", "F", "M", "M", "F", "F"]
PAY = [100, 250, 400, 50, 900, 300, 80, 620]
WEIGHT = [1.0, 2.5, 1.5, 3.0, 1.0, 2.0, 2.0, 4.0]


@pytest.fixture(scope="module")
def dealt(tmp_path_factory: pytest.TempPathFactory) -> la.PublishedRelease:
    folder = tmp_path_factory.mktemp("made") / "out"
    return la.open_release(bucketized(folder, BUCKETS, {"age": AGES, "sex": SEXES}, {"pay": PAY}, {"weight": WEIGHT}))


def worlds() -> list[list[int]]:
    """Every way to deal the values of each bucket to its rows: the row whose values each row has."""
    rows = [[row for row, one in enumerate(BUCKETS) if one == bucket] for bucket in sorted(set(BUCKETS))]
    found = []
    for orders in itertools.product(*map(itertools.permutations, rows)):
        dealt = dict(zip(itertools.chain(*rows), itertools.chain(*orders), strict=True))
        found.append([dealt[row] for row in range(len(BUCKETS))])
    return found


def test_totals_are_means_over_every_world_and_reach_their_ends(dealt: la.PublishedRelease) -> None:
    women = [row for row, sex in enumerate(SEXES) if sex == "F"]
    pay = [sum(PAY[world[row]] for row in women) for world in worlds()]
    found = dealt.total("pay", {"sex": "F"})
    assert found.value == pytest.approx(np.mean(pay))
    assert found.error >= np.std(pay) - 1e-9
    assert (found.least, found.most) == (min(pay), max(pay))
    assert min(pay) <= found.low <= found.value <= found.high <= max(pay)
    # Ages of one table, pay of the other.
    ages = [sum(AGES[row] or 0 for row in range(8) if PAY[world[row]] >= 300) for world in worlds()]
    found = dealt.query("SELECT SUM(age) WHERE pay >= 300")
    assert found.value == pytest.approx(np.mean(ages))
    assert found.error >= np.std(ages) - 1e-9
    assert (found.least, found.most) == (min(ages), max(ages))


def test_weighted_totals_are_means_over_every_world(dealt: la.PublishedRelease) -> None:
    women = [row for row, sex in enumerate(SEXES) if sex == "F"]
    both = [sum(PAY[world[row]] * WEIGHT[world[row]] for row in women) for world in worlds()]
    counts = [sum(WEIGHT[world[row]] for row in women) for world in worlds()]
    found = dealt.total("pay", {"sex": "F"}, weight="weight")
    assert found.value == pytest.approx(np.mean(both))
    assert (found.least, found.most) == (pytest.approx(min(both)), pytest.approx(max(both)))
    assert dealt.query("SELECT COUNT(*) WHERE sex = 'F'", weight="weight").value == pytest.approx(np.mean(counts))
    assert dealt.total("weight", {"sex": "F"}).value == pytest.approx(np.mean(counts))
    mean = dealt.mean("pay", {"sex": "F"}, weight="weight")
    assert mean.value == pytest.approx(np.mean(both) / np.mean(counts))
    # Without a condition on the other table nothing is left open.
    mean = dealt.mean("pay", weight="weight")
    assert mean.value == pytest.approx(np.average(PAY, weights=WEIGHT))
    assert mean.error == 0
    assert mean.low == mean.high


def test_what_one_table_says_is_exact(dealt: la.PublishedRelease) -> None:
    known = sorted(age for age in AGES if age is not None)
    line = dealt.query("SELECT COUNT(age), SUM(age), AVG(age), MEDIAN(age), QUANTILE(age, 0.9)").row(0, named=True)
    assert line["count_age"] == 7
    assert (line["sum_age"], line["avg_age"]) == (sum(known), pytest.approx(np.mean(known)))
    assert (line["median_age"], line["quantile_0.9_age"]) == (known[3], known[6])
    assert all(line[name] == 0 for name in line if name.endswith("_error"))
    by_sex = dealt.mean("age", by="sex")
    assert by_sex.columns == ["sex", "estimate", "error", "low", "high"]
    of_men = [45, 71, 33]
    assert by_sex.filter(pl.col("sex") == "M")["estimate"].to_list() == [pytest.approx(np.mean(of_men))]


def test_medians_lie_where_some_world_has_them(dealt: la.PublishedRelease) -> None:
    women = [row for row, sex in enumerate(SEXES) if sex == "F"]
    found = dealt.quantile("pay", 0.5, {"sex": "F"})
    medians = [sorted(PAY[world[row]] for row in women)[math.ceil(len(women) / 2) - 1] for world in worlds()]
    assert found.least <= min(medians)
    assert max(medians) <= found.most
    assert found.least <= found.low <= found.value <= found.high <= found.most
    assert found.value in PAY


def test_nobody_has_no_mean(dealt: la.PublishedRelease) -> None:
    nobody = {"age": (80, None)}
    assert dealt.total("pay", nobody).value == 0
    for found in (dealt.mean("pay", nobody), dealt.quantile("pay", 0.5, nobody)):
        assert found.value is None
        assert found.low is None
        assert "no value" in str(found)


def test_what_cannot_be_summed_up_is_refused(dealt: la.PublishedRelease) -> None:
    with pytest.raises(la.RecipeError, match="cannot be averaged"):
        dealt.mean("sex")
    with pytest.raises(la.RecipeError, match=r"QUANTILE\(age, 0.99\)"):
        dealt.query("SELECT MAX(age)")
    with pytest.raises(la.RecipeError, match="between 0 and 1"):
        dealt.quantile("age", 1)
    with pytest.raises(la.RecipeError, match="if the release publishes them"):
        dealt.query("SELECT COUNT(*)", weight="wight")
    with pytest.raises(la.RecipeError, match="cannot be a weight"):
        dealt.query("SELECT COUNT(*)", weight="sex")
    with pytest.raises(la.RecipeError, match="as in LIKE '80%'"):
        dealt.query("SELECT COUNT(*) WHERE sex LIKE '%F'")
    with pytest.raises(la.RecipeError, match="LIKE asks about text"):
        dealt.query("SELECT COUNT(*) WHERE age LIKE '3%'")
    assert dealt.query("SELECT COUNT(*) WHERE sex LIKE 'F%'") == dealt.count({"sex": "F"})


def draw_table(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    pay = np.round(rng.gamma(4.0, 20.0, n) + age).astype(int)
    illness = rng.choice(["flu", "gout", "asthma", "cough"], n)
    weight = np.round(rng.uniform(0.5, 3.0, n), 2)
    return pl.DataFrame(
        {"age": age, "sex": rng.choice(["F", "M"], n), "illness": illness, "pay": pay, "weight": weight}
    )


METHODS = [
    ("k-anonymity:5", "mondrian"),
    ("l-diversity:2", "groups"),
    ("l-diversity:2", "heterogeneous"),
    ("beta-likeness:2", "burel"),
    ("l-diversity:2", "anatomy"),
    ("beta-likeness:2", "perturbation"),
]


@pytest.mark.parametrize(("model", "algorithm"), METHODS)
def test_intervals_hold_and_never_leave_what_is_possible(model: str, algorithm: str) -> None:
    """Age is a quasi-identifier, pay is carried; conditions are on either side of a release."""
    table = draw_table(400, 3)
    others = ["pay", "weight"]
    roles: dict[str, Any] = {"qi": ["age", "sex"], "carry": others, "carry_anyway": others}
    if algorithm == "perturbation":
        roles = {"qi": ["age", "sex", *others]}
    made = la.publish(table, sensitive="illness", model=model, algorithm=algorithm, seed=1, **roles)
    release, held = made.open(), []
    for where, rows in (
        ({"sex": "F"}, table.filter(sex="F")),
        ({"illness": ["flu", "gout"]}, table.filter(pl.col("illness").is_in(["flu", "gout"]))),
        ({"age": (30, 60)}, table.filter(pl.col("age").is_between(30, 60))),
        ({"sex": "M", "illness": "asthma"}, table.filter(sex="M", illness="asthma")),
        ({"pay": (None, 110)}, table.filter(pl.col("pay") <= 110)),
    ):
        for column in ("age", "pay"):
            values = np.sort(rows[column].to_numpy())
            middle = float(values[math.ceil(len(values) / 2) - 1])
            weighed = float((rows[column] * rows["weight"]).sum())
            for found, truth in (
                (release.total(column, where), float(values.sum())),
                (release.mean(column, where), float(values.mean())),
                (release.quantile(column, 0.5, where), middle),
                (release.total(column, where, weight="weight"), weighed),
                (release.mean(column, where, weight="weight"), weighed / float(rows["weight"].sum())),
            ):
                assert found.least - 1e-6 <= truth <= found.most + 1e-6, (where, found)
                assert found.least - 1e-6 <= found.low <= found.value <= found.high <= found.most + 1e-6, (where, found)
                held.append(found.low - 1e-6 <= truth <= found.high + 1e-6)
    assert np.mean(held) >= 0.8, (algorithm, np.mean(held))


def test_a_generalised_total_is_the_same_step_by_step(tmp_path: Path) -> None:
    """Two groups of ages 20 to 29 and 40 to 49 in whole: the ends are certain, the rest lies evenly between."""
    table = pl.DataFrame({"age": [20, 22, 27, 29, 40, 41, 48, 49], "illness": ["a", "b", "c", "d"] * 2})
    release = la.publish(
        table, qi="age", sensitive="illness", model="k-anonymity:4", algorithm="mondrian", seed=1
    ).open()
    found = release.total("age")
    assert (found.least, found.most) == (4 * 20 + 4 * 40, 4 * 29 + 4 * 49)
    assert found.value == pytest.approx(4 * 24.5 + 4 * 44.5, rel=0.02)
    assert release.mean("age").value == pytest.approx(found.value / 8)
    median = release.quantile("age")
    assert 20 <= median.least <= median.low <= median.value <= median.high <= median.most <= 29
    frame: Any = release.query("SELECT illness, SUM(age), COUNT(*) GROUP BY illness")
    assert frame["sum_age"].sum() == pytest.approx(found.value, rel=0.05)


def test_dates_have_medians_and_no_totals() -> None:
    table = draw_table(60, 5).with_columns(day=pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(60)))
    release = la.publish(
        table.select("age", "illness", "day"), qi=["age", "day"], sensitive="illness", model="k-anonymity:3", seed=1
    ).open()
    found = release.quantile("day")
    assert table["day"].min() <= found.low <= found.value <= found.high <= table["day"].max()
    with pytest.raises(la.RecipeError, match=r"MEDIAN\(day\)"):
        release.mean("day")
