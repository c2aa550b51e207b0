"""Columns before and after, and pairs that may be trusted: constructed tables of which the answer is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.evaluation import charts
from lookalike.evaluation.before_after import (
    BLURRED,
    ESTIMATED,
    EXACT,
    GONE,
    OK,
    BeforeAfter,
    PairTrust,
    compare_before_after,
    draw_shares,
    draw_trust,
    judge,
)
from lookalike.evaluation.fidelity import compare
from tests.audit.making import bucketized, grouped, number_table, random_groups


def trust_of(found: BeforeAfter, one: str, other: str) -> PairTrust:
    return next(pair for pair in found.pairs if {pair.one, pair.other} == {one, other})


def linked_table(n_rows: int = 400) -> la.Publication:
    """Sex decides the diagnosis in nine of ten cases; the place has nothing to do with either."""
    rng = np.random.default_rng(1)
    sex, place = rng.integers(0, 2, n_rows), rng.integers(0, 4, n_rows)
    ill = np.where(rng.random(n_rows) < 0.9, sex, 1 - sex)
    table = pl.DataFrame(
        {
            "sex": np.array(["f", "m"])[sex],
            "place": np.array(["n", "e", "s", "w"])[place],
            "diagnosis": np.array(["flu", "gout"])[ill],
        }
    )
    return la.publish(table, qi=["sex", "place"], sensitive="diagnosis", model="k-anonymity:2", algorithm="mondrian")


@pytest.mark.parametrize(
    ("distance", "without", "word"),
    [(0.0, 0.0, OK), (0.05, 0.01, OK), (0.10, 0.20, OK), (0.10, 0.19, BLURRED), (0.11, 0.5, BLURRED),
     (0.45, 0.5, GONE), (0.44, 0.5, BLURRED), (0.06, 0.0, GONE)],
)  # fmt: skip
def test_words(distance: float, without: float, word: str) -> None:
    assert judge(distance, without) == word
    assert PairTrust("a", "b", distance, without).word == word


def test_an_exact_release_keeps_everything() -> None:
    data = number_table([[age, age // 2] for age in range(12)] * 3, [age % 3 for age in range(12)] * 3)
    found = compare_before_after(data, grouped(data, np.repeat(np.arange(12), 1).tolist() * 3, np.arange(36)))
    assert {column.word for column in found.columns} == {OK}
    assert {pair.word for pair in found.pairs} == {OK}
    assert all(pair.distance == pytest.approx(0, abs=1e-12) for pair in found.pairs)
    assert all(line.original == pytest.approx(line.release) for column in found.columns for line in column.lines)


def test_one_group_for_all_leaves_no_association() -> None:
    """Ages are even over their range, so the column stays; that young people have other values is gone."""
    data = number_table([[age] for age in range(100)], [int(age >= 50) for age in range(100)])
    found = compare_before_after(data, grouped(data, [0] * 100, np.arange(100)))
    (age, value) = found.columns
    assert (age.how, value.how) == (ESTIMATED, EXACT)
    assert (age.word, value.word) == (OK, OK)
    assert value.distance == 0
    (pair,) = found.pairs
    assert pair.word == GONE
    assert pair.without == pytest.approx(0.5)
    assert pair.distance == pytest.approx(0.5, abs=0.02)
    assert pair.kept == pytest.approx(0, abs=0.05)


def test_groups_of_neighbours_keep_what_a_shuffle_loses() -> None:
    data = number_table([[age] for age in range(200)], [int(age >= 100) for age in range(200)])
    near = compare_before_after(data, grouped(data, (np.arange(200) // 10).tolist(), np.arange(200)))
    assert near.pairs[0].word == OK
    mixed = random_groups(np.random.default_rng(1), 200, 20)
    assert compare_before_after(data, grouped(data, mixed, np.arange(200))).pairs[0].word != OK


def test_buckets_have_exact_columns_and_pairs_of_one_side() -> None:
    data = number_table([[age, age % 2] for age in range(60)], [age // 20 for age in range(60)])
    buckets = np.arange(60) % 20
    found = compare_before_after(data, bucketized(data, buckets, np.arange(60), np.arange(60)))
    assert {column.how for column in found.columns} == {EXACT}
    assert trust_of(found, *(domain.name for domain in data.domains.quasi)).distance == 0
    one, other = data.domains.quasi[0].name, data.domains.sensitive[0].name
    assert trust_of(found, one, other).word == GONE, "each bucket has each value once"


def test_a_published_table_says_it_in_all_places() -> None:
    made = linked_table()
    found = compare(made.made.data, made.release)
    assert found.before_after is not None
    assert trust_of(found.before_after, "sex", "diagnosis").word == OK
    plain = found.to_plain()
    assert plain["pairs"][0].keys() == {"columns", "word", "distance", "without_association", "association_kept"}
    assert [column["column"] for column in plain["columns"]] == ["sex", "place", "diagnosis"]
    heat = charts.svg(draw_trust(found.before_after))
    assert heat.count(">ok<") == len(found.before_after.named(OK))
    drawn = charts.svg(draw_shares(found.before_after.columns[0]))
    assert "original" in drawn
    assert "release" in drawn


def test_many_values_are_put_into_bins_and_missing_stays_apart() -> None:
    table = pl.DataFrame(
        {
            "age": [None if age % 10 == 0 else age for age in range(300)],
            "town": [f"t{age % 40}" for age in range(300)],
            "diagnosis": ["flu", "gout", "cold"] * 100,
        }
    )
    made = la.publish(table, qi=["age", "town"], sensitive="diagnosis", model="k-anonymity:3")
    found = compare_before_after(made.made.data, made.release)
    age, town, diagnosis = found.columns
    assert len(age.lines) == 13
    assert age.lines[0].value.startswith("1 to ")
    assert age.lines[-1].value == "missing"
    assert age.lines[-1].original == pytest.approx(0.1)
    assert town.lines[-1].value == "29 other values"
    assert len(diagnosis.lines) == 3
    for column in found.columns:
        assert sum(line.original for line in column.lines) == pytest.approx(1)
        assert sum(line.release for line in column.lines) == pytest.approx(1)
    assert all(0 <= pair.distance <= 1 for pair in found.pairs)


def test_figures_are_rounded_and_words_are_those_of_what_is_printed() -> None:
    found = BeforeAfter((), (PairTrust("a", "b", 0.0549, 0.01),))
    assert found.pairs[0].word == GONE
    assert found.round().pairs[0].distance == 0.05
    assert found.round().pairs[0].word == OK


def test_only_so_many_columns_are_paired() -> None:
    rng = np.random.default_rng(1)
    data = number_table(rng.integers(0, 3, (40, 15)), rng.integers(0, 2, 40))
    found = compare_before_after(data, grouped(data, [0] * 40, np.arange(40)))
    assert len(found.columns) == 16
    assert len(found.pairs) == 12 * 11 / 2
    assert "12 of the 16 columns" in found.notes[0]
    assert any(data.domains.sensitive[0].name == pair.other for pair in found.pairs)
