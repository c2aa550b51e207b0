"""Orders that do not rise: rows that stand close to each other and come from records that are alike."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lookalike.audit.order import row_order
from lookalike.audit.order.neighbours import classify, pick_rows, shares_of_items, winnings
from lookalike.audit.order.sorting import Shown, arrangement
from lookalike.audit.reading import Reading
from tests.audit.making import bucketized, grouped, matched, mixed_table, mixing_matrix, moved, perturbed
from tests.audit.order.test_order import neighbours

N_ROWS = 400


def verdict(release, data, **unpublished):
    return row_order(Reading(release, data, unpublished))


def outside_in(rank):
    return np.where(rank % 2, 2 * N_ROWS - rank, rank)


def table(seed):
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, N_ROWS, missing=False, n_values=6, n_ages=200)
    return rng, data, rng.integers(0, 5, N_ROWS)


def orders(rng, column):
    """Orders by a column that do not rise, as keys of the records."""
    rank = np.argsort(np.lexsort((rng.permutation(N_ROWS), column)))
    return {
        "outside in": outside_in(rank),
        "up and down": np.where(column % 2, 2 * N_ROWS - rank, rank),
        "chunks": rng.permutation(N_ROWS) // 20 * N_ROWS + rank,
        "seven piles": rank * 7 % N_ROWS,
    }


@pytest.mark.parametrize("kind", ["outside in", "up and down", "chunks", "seven piles"])
def test_orders_by_exact_age_that_do_not_rise(kind):
    rng, data, _ = table(1)
    groups = neighbours(data, 8)
    key = orders(rng, data.quasi[:, 0])[kind]
    found = verdict(grouped(data, groups, np.argsort(key)), data)
    assert found.blocks
    assert 'column "age" of the original' in found.detail


@pytest.mark.parametrize("kind", ["outside in", "up and down"])
def test_a_sort_by_what_is_published_does_not_hide_them(kind):
    rng, data, _ = table(1)
    key = orders(rng, data.quasi[:, 0])[kind]
    found = verdict(grouped(data, neighbours(data, 8), np.lexsort((key, data.sensitive[:, 0]))), data)
    assert found.blocks
    assert 'column "age" of the original' in found.detail


@pytest.mark.parametrize("form", ["grouped", "matched", "points", "values", "perturbed"])
def test_rows_of_one_hospital_stand_together(form):
    """In an order of the hospitals that is not the alphabetical one."""
    rng, data, hospital = table(2)
    key = np.array([1, 3, 0, 4, 2])[hospital]
    groups, buckets = neighbours(data, 4), rng.permutation(N_ROWS) // 5
    around = np.argsort(data.quasi[:, 0], kind="stable")
    slots = [[int(around[(slot + step) % N_ROWS]) for step in range(3)] for slot in np.argsort(around)]
    made = {
        "grouped": lambda order: grouped(data, groups, order),
        "matched": lambda order: matched(data, slots, np.arange(N_ROWS), order)[0],
        "points": lambda order: bucketized(data, buckets, order, rng.permutation(N_ROWS)),
        "values": lambda order: bucketized(data, buckets, rng.permutation(N_ROWS), order),
        "perturbed": lambda order: perturbed(rng, data, [mixing_matrix(6, 1, 6)], order),
    }[form]
    together = np.lexsort((rng.permutation(N_ROWS), key))
    assert verdict(made(together), data, hospital=hospital).blocks
    assert verdict(made(rng.permutation(N_ROWS)), data, hospital=hospital).passed


@pytest.mark.parametrize("below", ["nothing", "published value"])
@pytest.mark.parametrize("said", ["kept first", "original value", "kept in turns"])
def test_the_order_of_perturbed_rows_says_nothing_about_original_values(said, below):
    rng, data, _ = table(3)
    true = data.sensitive[:, 0]
    made = perturbed(rng, data, [mixing_matrix(6, 5, 10)], np.arange(N_ROWS))
    drawn = made.sensitive[:, 0]
    kept = drawn == true
    chance = rng.permutation(N_ROWS)
    key = {
        "kept first": ~kept,
        "original value": np.array([2, 5, 0, 4, 1, 3])[true],
        "kept in turns": (np.argsort(np.lexsort((chance, kept))) // 10) * 7 % 41,
    }[said]
    above = drawn if below == "published value" else np.zeros(N_ROWS)
    wrong, right = np.lexsort((chance, key, above)), np.lexsort((chance, above))
    assert verdict(moved(made, wrong), data).blocks
    assert verdict(moved(made, right), data).passed


@pytest.mark.parametrize("is_ordered", [False, True])
def test_bets_win_nothing_on_average_over_all_orders(is_ordered):
    """What becomes of a stake of 1, averaged over all shuffles within blocks, is 1."""
    shares = np.array([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5], [0, 0, 1], [0.2, 0.8, 0], [0, 1, 0], [0, 0, 1]])
    blocks = np.array([0, 0, 0, 0, 1, 1, 1])
    ends = [
        list(winnings(shares[[*first, *second]], blocks, is_ordered))
        for first in permutations(range(4))
        for second in permutations(range(4, 7))
    ]
    assert np.exp(ends).mean(axis=0) == pytest.approx(np.ones(len(ends[0])))
    assert np.exp(ends).max() > 1.5


def test_a_column_of_few_values_may_be_sorted_by_any_order_of_them():
    rng, data, _ = table(4)
    illness = np.array([2, 5, 0, 4, 1, 3])[data.sensitive[:, 0]]
    order = np.lexsort((rng.permutation(N_ROWS), illness))
    found = verdict(grouped(data, neighbours(data, 8), order), data)
    assert found.passed
    assert "sorted by what is published (illness)" in found.detail


def test_values_that_come_back_are_no_order():
    codes = np.repeat([2, 0, 1, 2], 5)
    assert arrangement([Shown("a", codes)], 20).sorted_by == ()
    assert arrangement([Shown("a", codes[:15])], 15).sorted_by == ("a",)
    many = np.repeat(np.random.default_rng(5).permutation(40), 5)
    assert arrangement([Shown("a", many)], 200).sorted_by == ()


def test_columns_in_a_few_classes():
    ages = np.repeat(np.arange(40), 5)
    (frequent, n_values, ordered), (bins, n_bins, binned) = classify(ages)
    assert (n_values, ordered, n_bins, binned) == (32, False, 16, True)
    assert np.bincount(frequent).tolist() == [5] * 31 + [45]
    assert np.bincount(bins).min() >= 10
    assert (np.diff(bins) >= 0).all()
    assert [n_classes for _, n_classes, _ in classify(np.arange(100))] == [16]
    assert list(classify(np.zeros(5, dtype=np.int64))) == []


def test_items_without_records_have_no_share():
    shares = shares_of_items(np.array([0, 1, 1, 0]), 2, np.array([0, 0, 2, -1]), 3)
    assert shares.tolist() == [[0.5, 0.5], [0, 0], [0, 1]]


def test_long_tables_are_looked_at_in_stretches():
    assert len(pick_rows(50_000)) == 50_000
    rows = pick_rows(1_000_000)
    assert len(rows) == 50_000
    assert rows[0] == 0
    assert rows[-1] == 999_999
    assert np.count_nonzero(np.diff(rows) > 1) == 49
