"""Rows sorted by something that is not published are caught in every form; sorts by published columns are not."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from lookalike.audit.order import row_order
from lookalike.audit.order.sorting import (
    Members,
    Shown,
    arrangement,
    fewest_inversions,
    follow_signs,
    inversions,
    match_signs,
    n_arrangements,
)
from lookalike.audit.reading import Reading
from tests.audit.making import bucketized, grouped, matched, mixed_table, mixing_matrix, perturbed
from tests.audit.order.test_order import neighbours

N_ROWS = 400


def verdict(release, data, **unpublished):
    return row_order(Reading(release, data, unpublished))


def table_and_columns(seed):
    """A table, and what each of its columns (and one that is not published) says of every record."""
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, N_ROWS, missing=False, n_values=6, n_ages=200)
    secret = rng.permutation(N_ROWS)
    columns = {
        "age": data.quasi[:, 0],
        "colour": data.quasi[:, 2],
        "illness": data.sensitive[:, 0],
        "bill": data.carried[:, 0],
        "name": secret,
    }
    return rng, data, columns


def sorted_order(rng, column, falling=False):
    order = np.lexsort((rng.permutation(N_ROWS), column))
    return order[::-1] if falling else order


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("column", ["age", "name"])
def test_grouped_rows_sorted_by_an_exact_column(column, falling):
    rng, data, columns = table_and_columns(1)
    groups = neighbours(data, 8)
    release = grouped(data, groups, sorted_order(rng, columns[column], falling))
    found = verdict(release, data, name=columns["name"])
    assert found.blocks
    assert f'column "{column}" of the original' in found.detail
    assert verdict(grouped(data, groups, rng.permutation(N_ROWS)), data, name=columns["name"]).passed


@pytest.mark.parametrize("column", ["age", "name"])
def test_groups_in_random_order_with_sorted_rows(column):
    """Between groups nothing can be seen; within them the values follow the exact column."""
    rng, data, columns = table_and_columns(2)
    groups = rng.permutation(N_ROWS // 8)[neighbours(data, 8)]
    order = np.lexsort((columns[column], groups))
    assert verdict(grouped(data, groups, order), data, name=columns["name"]).blocks
    shuffled = np.lexsort((rng.permutation(N_ROWS), groups))
    assert verdict(grouped(data, groups, shuffled), data, name=columns["name"]).passed


def test_binary_values_within_groups():
    rng = np.random.default_rng(3)
    data = mixed_table(rng, N_ROWS, missing=False, n_values=2, n_ages=200, carried=False)
    order = np.lexsort((data.quasi[:, 0], neighbours(data, 10)))
    assert verdict(grouped(data, neighbours(data, 10), order), data).blocks


def test_a_sort_by_what_is_published_passes():
    rng, data, columns = table_and_columns(4)
    groups = neighbours(data, 8)
    shown = np.lexsort((rng.permutation(N_ROWS), groups))
    by_value = np.lexsort((rng.permutation(N_ROWS), data.sensitive[:, 0], groups))
    for order in (shown, shown[::-1], by_value, sorted_order(rng, data.sensitive[:, 0])):
        found = verdict(grouped(data, groups, order), data)
        assert found.passed, found.detail
        assert "sorted by what is published" in found.detail


def test_a_published_column_does_not_hide_the_order_below_it():
    """Sorted by illness, then by name: cells of equal illness come in the order of names."""
    rng, data, columns = table_and_columns(5)
    order = np.lexsort((columns["name"], data.sensitive[:, 0]))
    assert verdict(grouped(data, neighbours(data, 2), order), data, name=columns["name"]).blocks


@pytest.mark.parametrize("column", ["age", "illness", "name"])
def test_matched_rows_sorted_by_an_exact_column(column):
    rng, data, columns = table_and_columns(6)
    around = np.argsort(data.quasi[:, 0], kind="stable")
    place = np.argsort(around)
    slots = [[int(around[(place[slot] + step) % N_ROWS]) for step in range(3)] for slot in range(N_ROWS)]
    honest = matched(data, slots, np.arange(N_ROWS), rng.permutation(N_ROWS))[0]
    assert verdict(honest, data, name=columns["name"]).passed
    made = matched(data, slots, np.arange(N_ROWS), sorted_order(rng, columns[column]))[0]
    assert verdict(made, data, name=columns["name"]).blocks == (column != "illness")


@pytest.mark.parametrize("column", ["illness", "bill", "name"])
def test_bucketized_points_sorted_by_what_they_hide(column):
    rng, data, columns = table_and_columns(7)
    buckets = rng.permutation(N_ROWS) // 5
    order = sorted_order(rng, columns[column])
    made = bucketized(data, buckets, order, rng.permutation(N_ROWS))
    assert verdict(made, data, name=columns["name"]).blocks
    within = np.lexsort((columns[column], buckets))
    made = bucketized(data, buckets, within, rng.permutation(N_ROWS))
    assert verdict(made, data, name=columns["name"]).blocks


@pytest.mark.parametrize("column", ["age", "name"])
def test_bucketized_values_sorted_by_a_column_of_persons(column):
    rng, data, columns = table_and_columns(8)
    buckets = rng.permutation(N_ROWS) // 5
    for order in (sorted_order(rng, columns[column]), np.lexsort((columns[column], buckets))):
        made = bucketized(data, buckets, rng.permutation(N_ROWS), order)
        assert verdict(made, data, name=columns["name"]).blocks


def test_two_tables_in_the_same_order_below_a_sort_by_what_is_published():
    """Sorted by bucket, pasted side by side: every record is in one line."""
    rng, data, _ = table_and_columns(12)
    buckets = rng.permutation(N_ROWS) // 5
    illness, secret, other = data.sensitive[:, 0], rng.permutation(N_ROWS), rng.permutation(N_ROWS)
    by_bucket, by_illness = np.lexsort((secret, buckets)), np.lexsort((secret, illness))
    leaks = {
        "both by bucket": (by_bucket, by_bucket),
        "values by illness, then as the points": (np.argsort(secret), by_illness),
        "values by bucket, then as the points": (np.argsort(secret), by_bucket),
        "points by bucket, then as the values": (by_bucket, np.argsort(secret)),
    }
    for name, (points, values) in leaks.items():
        found = verdict(bucketized(data, buckets, points, values), data)
        assert found.blocks, name
        assert "order" in found.detail
    honest = (
        (by_bucket, np.lexsort((other, buckets))),
        (np.argsort(secret), np.lexsort((other, illness))),
        (np.lexsort((secret, data.quasi[:, 0])), np.lexsort((other, illness))),
        (np.lexsort((secret, data.quasi[:, 0], buckets)), np.lexsort((other, illness, buckets))),
    )
    for points, values in honest:
        found = verdict(bucketized(data, buckets, points, values), data)
        assert found.passed, found.detail


@pytest.mark.parametrize("column", ["illness", "name"])
def test_perturbed_rows_sorted_by_the_original_value(column):
    rng, data, columns = table_and_columns(9)
    made = perturbed(rng, data, [mixing_matrix(6, 1, 6)], sorted_order(rng, columns[column]))
    assert verdict(made, data, name=columns["name"]).blocks
    made = perturbed(rng, data, [mixing_matrix(6, 1, 6)], sorted_order(rng, columns["age"]))
    assert verdict(made, data, name=columns["name"]).passed


def test_inversions_are_counted_in_full():
    rng = np.random.default_rng(10)
    for _ in range(50):
        keys = rng.integers(0, 7, int(rng.integers(1, 30)))
        wanted = sum(keys[one] > keys[two] for one in range(len(keys)) for two in range(one + 1, len(keys)))
        assert inversions(keys) == wanted


@pytest.mark.parametrize("keys", [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 1, 1, 1, 1]])
def test_the_bound_on_inversions_lies_above_the_exact_chance(keys):
    orders = [inversions(np.array(order)) for order in permutations(keys)]
    ties = np.array(list(Counter(keys).values()))
    for seen in sorted(set(orders)):
        exact = sum(number <= seen for number in orders) / len(orders)
        bound = fewest_inversions(seen, np.array([len(keys)]), ties)
        assert bound >= exact - 1e-12
    assert fewest_inversions(0, np.array([len(keys)]), ties) == pytest.approx(
        sum(number == 0 for number in orders) / len(orders), rel=1e-6
    )


def test_groups_that_match_throughout_are_as_seldom_as_enumerated():
    """One group of four places with two tied records: 2 of the 12 arrangements fit."""
    members = Members(
        np.zeros(4, dtype=np.int64), np.array([0, 1, 1, 2]), np.zeros(4, dtype=np.int64), np.array([1, 0, 1, 2])
    )
    signs = {sign.words: sign.chance for sign in match_signs("it", np.array([0, 0, 1, 2]), members)}
    assert signs["values of whole groups follow it"] == pytest.approx(2 / 12, rel=1e-6)


def test_arrangements_that_a_reader_can_tell_apart():
    assert n_arrangements(np.array([0, 0, 1, 2])) == pytest.approx(math.log(12))
    assert n_arrangements(np.zeros(500, dtype=np.int64)) == pytest.approx(0.0)


def test_blocks_of_a_sorted_table():
    columns = [
        Shown("a", np.array([2, 2, 1, 1])),
        Shown("b", np.array([0, 1, 0, 1])),
        Shown("c", np.array([0, 1, 1, 0])),
    ]
    found = arrangement(columns, 4)
    assert found.sorted_by == ("a", "b")
    assert found.block_of_row.tolist() == [0, 1, 2, 3]
    assert not list(follow_signs("it", np.arange(4), np.arange(4), np.arange(4), found.block_of_row))


def test_columns_that_nobody_publishes_are_read_from_the_original(tmp_path):
    """Sorted by e-mail: the audit finds it, though no role names that column."""
    import polars as pl

    import lookalike as la

    rng = np.random.default_rng(11)
    table = pl.DataFrame(
        {
            "email": [f"p{number:04d}@example.org" for number in rng.permutation(N_ROWS)],
            "age": rng.integers(20, 80, N_ROWS),
            "illness": rng.choice(["cold", "flu", "gout", "none"], N_ROWS),
        }
    )
    ages = pl.format("{}-{}", pl.col("age") // 10 * 10, pl.col("age") // 10 * 10 + 9)
    table.write_csv(tmp_path / "original.csv")
    schema = la.Schema.of(qi=["age"], sensitive=["illness"])
    for order, passes in ((table.sample(fraction=1.0, shuffle=True, seed=1), True), (table.sort("email"), False)):
        order.select(ages.alias("age"), "illness").write_csv(tmp_path / "other.csv")
        audit = la.verify(tmp_path / "original.csv", tmp_path / "other.csv", model="k-anonymity:5", schema=schema)
        assert audit.passed is passes
