"""Counts from a bucketized folder, against every assignment that its buckets allow and against numbers by hand."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from tests.analysis.release_folders import bucketized, enumerated, records
from tests.examples import examples

SUBSETS_OF_AGE = st.sampled_from([(None, None), (1, 2), [0, None], None, 3, 9])
SUBSETS_OF_ILLNESS = st.sampled_from([["a", "b"], "c", None, [None, "a"], (None, "b"), "plague"])


def _satisfied(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        low, high = wanted
        return value is not None and (low is None or value >= low) and (high is None or value <= high)
    return value in wanted if isinstance(wanted, list) else value == wanted


def _loaded(folder: str, rows: Any) -> la.PublishedRelease:
    buckets, ages, sexes, illnesses, smokes = rows
    path = bucketized(
        Path(folder) / "out", buckets, {"age": ages, "sex": sexes}, {"illness": illnesses}, {"smokes": smokes}
    )
    return la.open_release(path)


def _occurring(wanted: Any, values: Any) -> Any:
    """What is wanted without values that no record has: naming one is an error."""
    if wanted is None or isinstance(wanted, tuple):
        return wanted
    return [value for value in (wanted if isinstance(wanted, list) else [wanted]) if value in values]


@settings(max_examples=examples(60))
@given(rows=records, age=SUBSETS_OF_AGE, illness=SUBSETS_OF_ILLNESS)
def test_a_count_is_the_mean_over_every_assignment(rows: Any, age: Any, illness: Any) -> None:
    buckets, ages, _, illnesses, smokes = rows
    with tempfile.TemporaryDirectory() as folder:
        release = _loaded(folder, rows)
    found = release.count({"age": _occurring(age, ages), "illness": _occurring(illness, illnesses), "smokes": True})
    mean, variance = enumerated(
        buckets,
        ages,
        list(zip(illnesses, smokes, strict=True)),
        lambda known, value: _satisfied(known, age) and _satisfied(value[0], illness) and value[1],
    )
    assert found.unclipped == pytest.approx(float(mean), abs=1e-12)
    # What values may have to do with the rest comes on top.
    assert found.error**2 >= float(variance) - 1e-9
    assert found.n_rows == sum(_satisfied(known, age) for known in ages)


@settings(max_examples=examples(40))
@given(rows=records, age=SUBSETS_OF_AGE)
def test_cells_of_a_cross_table_are_means_over_every_assignment(rows: Any, age: Any) -> None:
    buckets, ages, sexes, illnesses, smokes = rows
    with tempfile.TemporaryDirectory() as folder:
        release = _loaded(folder, rows)
    found = release.crosstab(["smokes", "sex"], "illness", where={"age": _occurring(age, ages)})
    assert found.columns == ["smokes", "sex", "illness", "estimate", "error", "low", "high"]
    assert (found["estimate"] >= 0).all()
    assert found["estimate"].sum() == pytest.approx(sum(_satisfied(known, age) for known in ages))
    assert len(found.unique(["smokes", "sex", "illness"])) == len(found)
    for line in found.iter_rows(named=True):
        mean, variance = enumerated(
            buckets,
            list(zip(ages, sexes, strict=True)),
            list(zip(illnesses, smokes, strict=True)),
            lambda known, value, line=line: (
                _satisfied(known[0], age)
                and (known[1], value[0], value[1]) == (line["sex"], line["illness"], line["smokes"])
            ),
        )
        assert line["estimate"] == pytest.approx(float(mean), abs=1e-12)
        assert line["error"] ** 2 >= float(variance) - 1e-9
        assert 0 <= line["low"] <= line["high"]


def _linked(n_rows: int, size: int, seed: int) -> tuple[list[int], list[int], list[str]]:
    """Buckets at random; the older half mostly has gout."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 80, n_rows)
    is_gout = rng.random(n_rows) < np.where(ages >= 40, 0.8, 0.1)
    buckets = rng.permutation(np.arange(n_rows) // size)
    return buckets.tolist(), ages.tolist(), np.where(is_gout, "gout", "flu").tolist()


def _dealt(buckets: list[int], known: list[bool], wanted: list[bool]) -> float:
    sizes, rows, values = (np.bincount(buckets, weights).astype(float) for weights in (None, known, wanted))
    return float((rows * values / sizes).sum())


def test_errors_hold_what_values_have_to_do_with_the_rest(tmp_path: Path) -> None:
    """Values dealt at random within buckets miss the association; least squares find it, and the interval holds."""
    buckets, ages, illnesses = _linked(2000, 5, 1)
    release = la.open_release(bucketized(tmp_path / "out", buckets, {"age": ages}, {"illness": illnesses}))
    truth = sum(age >= 40 and illness == "gout" for age, illness in zip(ages, illnesses, strict=True))
    found = release.count({"age": (40, None), "illness": "gout"})
    low, high = found.interval()
    dealt = _dealt(buckets, [age >= 40 for age in ages], [illness == "gout" for illness in illnesses])
    assert abs(dealt - truth) > 100
    assert abs(found.value - truth) < 50
    assert low <= truth <= high
    (line,) = release.crosstab((), "illness", where={"age": (40, None)}).filter(pl.col("illness") == "gout").to_dicts()
    assert line["estimate"] == pytest.approx(found.unclipped)
    assert line["error"] == pytest.approx(found.error)


@pytest.mark.parametrize(("n_rows", "seed"), [(60, 2), (400, 3), (2000, 4)])
def test_answers_move_towards_least_squares_by_what_is_no_chance(tmp_path: Path, n_rows: int, seed: int) -> None:
    size = 4
    buckets, ages, illnesses = _linked(n_rows, size, seed)
    release = la.open_release(bucketized(tmp_path / "out", buckets, {"age": ages}, {"illness": illnesses}))
    found = release.count({"age": (40, None), "illness": "gout"})
    numbers = np.array(buckets)
    values = np.array([[illness == "flu", illness == "gout"] for illness in illnesses], dtype=float)
    stock = np.array([values[numbers == bucket].sum(axis=0) for bucket in range(numbers.max() + 1)])
    known = np.array([sum(age >= 40 for age in np.array(ages)[numbers == bucket]) for bucket in range(len(stock))])
    counts = values.sum(axis=0)
    dealt = (known[:, None] * stock / size).sum(axis=0)
    apart = counts * np.linalg.lstsq(stock, known, rcond=None)[0] - dealt
    apart -= counts / n_rows * apart.sum()
    share = known.sum() / n_rows
    inverse = np.linalg.inv(stock.T @ stock)
    noise = counts**2 * np.diag(inverse) * share * (1 - share) * size * (1 - 1 / size) ** 2
    moved = max(0.0, 1 - 1 / (apart**2 / noise).mean()) * apart[1]
    assert found.unclipped == pytest.approx(dealt[1] + moved)
    assert moved > 0
    assert n_rows < 2000 or moved > 0.9 * apart[1]
    chance = (known * (size - known) * stock[:, 1] * stock[:, 0] / (size**2 * (size - 1))).sum()
    assert found.error >= np.sqrt(chance)
    assert dealt[1] <= found.unclipped <= found.interval()[1]


def test_similar_rows_in_a_bucket_leave_answers_where_they_are(tmp_path: Path) -> None:
    """All of a bucket match or none do: dealing is exact, and least squares have nothing to say."""
    rng = np.random.default_rng(1)
    buckets = np.arange(400) // 4
    old = buckets % 2 == 0
    gout = rng.random(400) < np.where(old, 0.8, 0.3)
    known, values = {"old": old.tolist()}, {"illness": np.where(gout, "gout", "flu").tolist()}
    release = la.open_release(bucketized(tmp_path / "out", buckets.tolist(), known, values))
    found = release.count({"old": True, "illness": "gout"})
    assert found.unclipped == (old & gout).sum()
    assert found.interval() == (found.unclipped, found.unclipped)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> la.PublishedRelease:
    """Two buckets of 2 and one of 4."""
    return la.open_release(
        bucketized(
            tmp_path_factory.mktemp("made") / "out",
            [1, 1, 2, 2, 3, 3, 3, 3],
            {"sex": ["M", "M", "F", "F", "M", "F", "F", None], "zip": [54321, 54322, 61234, 61434, 1, 2, 3, 4]},
            {"illness": ["tumour", "indigestion", "cancer", "HIV", "HIV", "HIV", "cancer", None]},
            {"weight": [60.5, None, 70.25, 80.0, 81.0, 82.0, 83.0, 84.0]},
        )
    )


def test_numbers_by_hand(release: la.PublishedRelease) -> None:
    assert release.count({"zip": 54321, "illness": "tumour"}).value == 0.5
    assert release.count({"zip": 54321, "illness": "tumour"}).error == 0.5
    assert release.count({"zip": 54321, "illness": "HIV"}).interval() == (0.0, 0.0)
    # Bucket 2: both are F, one has HIV, for certain. Bucket 3: 2 of 4 are F and 2 of 4 have HIV.
    women = release.count({"sex": "F", "illness": "HIV"})
    assert women.value == 1 + 1
    assert women.error == pytest.approx(math.sqrt(2 * (1 / 2) * (1 / 2) * (2 / 3)))
    assert women.n_rows == 4
    assert release.count({"sex": None, "illness": None}).value == 0.25
    by_sex = release.counts("sex", where={"illness": "HIV"})
    assert by_sex.rows() == [
        ("F", 2.0, pytest.approx(women.error), *map(pytest.approx, women.interval())),
        ("M", 0.5, 0.5, 0.0, 1.0),
        (None, 0.5, 0.5, 0.0, 1.0),
    ]
    assert "buckets over 4 rows" in str(women)
    assert repr(release) == "<Patients 2024: 8 rows in 3 buckets, illness, weight apart by mondrian>"
    assert list(release.tables) == ["qit", "sat"]
    assert release.tables["qit"].columns == ["sex", "zip", "bucket"]


def test_columns_of_one_table_are_counted(release: la.PublishedRelease) -> None:
    assert release.counts("illness").rows() == [
        ("HIV", 3, 3.0, 0.0, 3.0, 3.0),
        ("cancer", 2, 2.0, 0.0, 2.0, 2.0),
        ("indigestion", 1, 1.0, 0.0, 1.0, 1.0),
        ("tumour", 1, 1.0, 0.0, 1.0, 1.0),
        (None, 1, 1.0, 0.0, 1.0, 1.0),
    ]
    assert release.counts("illness", where={"weight": (80, None)}).columns[1] == "published"
    assert release.counts("illness", where={"weight": (80, None), "illness": "HIV"})["estimate"].to_list() == [3.0]
    assert release.crosstab("sex", "zip")["published"].to_list() == [1] * 8
    assert release.count({"illness": "HIV"}).interval() == (3.0, 3.0)
    assert release.count({}).value == 8


def test_nobody_matches(release: la.PublishedRelease) -> None:
    far = (70_000, None)
    assert release.count({"zip": far, "illness": "HIV"}).value == 0
    assert release.count({"sex": "F", "illness": []}).interval() == (0.0, 0.0)
    assert release.counts("illness", where={"zip": far})["high"].to_list() == [0.0] * 5
    assert release.counts("sex", where={"illness": []})["estimate"].to_list() == [0.0] * 3
    assert release.crosstab("sex", "illness", where={"zip": far}).is_empty()


def test_values_that_no_record_can_have_are_refused(release: la.PublishedRelease) -> None:
    with pytest.raises(la.RecipeError, match='"illness" has no value "plague" in this release'):
        release.count({"illness": ["HIV", "plague"]})
    with pytest.raises(la.RecipeError, match='Did you mean "HIV"'):
        release.query("SELECT COUNT(*) WHERE illness <> 'hiv'")
    with pytest.raises(la.RecipeError, match='"zip" lies between'):
        release.count({"zip": 0})
    assert release.count({"zip": (0, 70_000)}).value == release.count({"zip": (None, None)}).value


def test_the_baseline_ignores_buckets(release: la.PublishedRelease) -> None:
    found = release.count({"sex": "F", "illness": "HIV"}, method="baseline")
    assert found.value == 4 * 3 / 8
    assert math.isnan(found.error)
    with pytest.raises(la.RecipeError, match='no method "reconstruction"'):
        release.count({}, method="reconstruction")


def test_clipped_is_the_same_under_another_name(release: la.PublishedRelease) -> None:
    clipped = release.crosstab("sex", "illness", clip=True)
    assert clipped["clipped"].to_list() == release.crosstab("sex", "illness")["estimate"].to_list()


def test_wrong_questions_get_an_answer(release: la.PublishedRelease) -> None:
    with pytest.raises(la.RecipeError, match='Did you mean "illness"'):
        release.counts("ilness")
    with pytest.raises(la.RecipeError, match='There is no column "bucket"'):
        release.count({"bucket": 1})
    with pytest.raises(la.RecipeError, match="named twice"):
        release.crosstab("sex", "sex")
    with pytest.raises(ValueError, match="between 0 and 1"):
        release.counts("sex", where={"illness": "HIV"}, level=95)


def test_strange_names(tmp_path: Path) -> None:
    known = {"^.*$": [1, 2, 1, 2], "bucket": ["x", "y", "y", "y"], "error": [1, 1, 1, 1]}
    folder = bucketized(tmp_path / "out", [7, 7, 8, 8], known, {"*": ["a", "b", "a", "a"], "estimate": [1, 2, 3, 4]})
    release = la.open_release(folder)
    assert release.columns == ["^.*$", "bucket", "error", "*", "estimate"]
    assert release.count({"^.*$": 1, "bucket": ["x", "y"], "*": "a"}).value == 0.5 + 1
    assert release.crosstab(["^.*$", "error"], "estimate").columns == [
        "^.*$", "error", "estimate", "estimate_", "error_", "low", "high",
    ]  # fmt: skip
    sensitive_bucket = bucketized(tmp_path / "other", [0, 0], {"a": [1, 2]}, {"bucket": ["x", "y"]})
    assert la.open_release(sensitive_bucket).count({"a": 1, "bucket": "x"}).value == 0.5


def test_what_was_made_up_or_left_out_is_said(tmp_path: Path) -> None:
    folder = bucketized(tmp_path / "out", [0, 0], {"a": [1, 2]}, {"s": ["x", "y"]})
    assert la.open_release(folder).notes == []
    path = folder / "datapackage.json"
    package = json.loads(path.read_text())
    package["lookalike"]["suppressed"] = 3
    package["lookalike"]["dummies"]["records"] = 1
    path.write_text(json.dumps(package))
    made_up, left_out = la.open_release(folder).notes
    assert "1 record in this release is made up, and included in counts" in made_up
    assert "3 records of the original were left out" in left_out


def test_made_up_records_are_taken_out_of_each_value_in_proportion(tmp_path: Path) -> None:
    """Two of the four records with flu are made up: one person of flu's two in the bucket of each age counts."""
    known, values = {"age": [1, 2, 1, 2]}, {"illness": ["flu", "flu", "flu", "flu"]}
    folder = bucketized(tmp_path / "out", [0, 0, 1, 1], known, values)
    path = folder / "datapackage.json"
    package = json.loads(path.read_text())
    by_value = [{"column": "illness", "counts": [["flu", 2]]}]
    package["lookalike"]["dummies"] |= {"records": 2, "by_value": by_value}
    path.write_text(json.dumps(package))
    release = la.open_release(folder)
    assert "taken out of each value in proportion" in release.notes[0]
    assert release.count({}).value == 2
    assert release.count({"age": 1}).value == 1
    assert release.counts("illness")["estimate"].to_list() == [2.0]
    assert release.count({"age": 1}, method="baseline").value == 1


def test_columns_that_are_not_asked_about_have_no_part_in_an_error(tmp_path: Path) -> None:
    """A carried column with a value for each record would leave too few buckets for each combination of values."""
    buckets, ages, illnesses = _linked(400, 4, 3)
    plain = la.open_release(bucketized(tmp_path / "plain", buckets, {"age": ages}, {"illness": illnesses}))
    number = {"number": list(range(400))}
    carried = la.open_release(bucketized(tmp_path / "carried", buckets, {"age": ages}, {"illness": illnesses}, number))
    where = {"age": (40, None), "illness": "gout"}
    assert carried.count(where) == plain.count(where)
    assert carried.counts("illness", where={"age": 30}).equals(plain.counts("illness", where={"age": 30}))


def test_buckets_that_were_changed_are_noticed(tmp_path: Path) -> None:
    folder = bucketized(tmp_path / "out", [0, 0, 1, 1], {"a": [1, 2, 3, 4]}, {"s": ["x", "y", "x", "y"]})
    sat = pl.read_parquet(folder / "sat.parquet")
    for number, said in ((0, "other sizes in qit"), (None, "needs one column of bucket numbers")):
        changed = sat.with_columns(bucket=pl.lit(number, pl.Int64))
        changed.write_parquet(folder / "sat.parquet")
        with pytest.raises(la.DataError, match="disagree"):
            la.open_release(folder)
        changed.write_csv(folder / "sat.csv")
        with pytest.raises(la.DataError, match=said):
            la.open_release(folder)
