"""Row order: leaks are caught in every form, honest shuffles never."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.audit.order import row_order
from lookalike.audit.order.sorting import permutation_tail as tail
from lookalike.audit.reading import Reading
from tests.audit.making import (
    bucketized,
    grouped,
    matched,
    mixed_table,
    mixing_matrix,
    number_table,
    perturbed,
    random_groups,
    ring,
)


def verdict(release, data):
    return row_order(Reading(release, data))


def neighbours(data, size):
    groups = np.empty(data.n_rows, dtype=np.int64)
    groups[np.lexsort(data.quasi.T)] = np.arange(data.n_rows) // size
    return groups


N_ROWS = 600
LEAKS = {
    "input order": lambda groups: np.arange(N_ROWS),
    "reversed": lambda groups: np.arange(N_ROWS)[::-1],
    "input order within groups": lambda groups: np.argsort(groups, kind="stable"),
    "reversed within groups": lambda groups: N_ROWS - 1 - np.argsort(groups[::-1], kind="stable"),
    "rotated": lambda groups: np.roll(np.arange(N_ROWS), N_ROWS // 3),
    "few rows moved": lambda groups: np.roll(np.arange(N_ROWS), 5),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_grouped_leaks(leak):
    rng = np.random.default_rng(1)
    data = mixed_table(rng, N_ROWS, n_values=8)
    groups = rng.permutation(N_ROWS // 10)[neighbours(data, 10)]
    assert verdict(grouped(data, groups, rng.permutation(N_ROWS)), data).passed
    found = verdict(grouped(data, groups, LEAKS[leak](groups)), data)
    assert not found.passed
    assert "order" in found.detail


@pytest.mark.parametrize("leak", ["input order", "reversed"])
def test_matched_leaks(leak):
    rng = np.random.default_rng(2)
    data = mixed_table(rng, N_ROWS, n_values=8)
    around = np.argsort(data.quasi[:, 0], kind="stable")
    place = np.argsort(around)
    slots = [[int(around[(place[slot] + step) % N_ROWS]) for step in range(3)] for slot in range(N_ROWS)]
    # Slots stay where their first record was; the values come from the second.
    carriers = [slot[1] for slot in slots]
    release, _ = matched(data, slots, carriers, LEAKS[leak](None))
    assert not verdict(release, data).passed
    assert verdict(matched(data, slots, carriers, rng.permutation(N_ROWS))[0], data).passed


def test_bucketized_leaks():
    rng = np.random.default_rng(3)
    data = mixed_table(rng, N_ROWS, n_values=8, n_ages=400)
    buckets = rng.permutation(N_ROWS) // 6
    straight, by_bucket = np.arange(N_ROWS), np.argsort(buckets, kind="stable")
    shuffled, other = rng.permutation(N_ROWS), rng.permutation(N_ROWS)
    assert verdict(bucketized(data, buckets, shuffled, other), data).passed
    for quasi_order, sensitive_order in (
        (straight, other),
        (shuffled, straight),
        (straight[::-1], other),
        (shuffled, straight[::-1]),
        (by_bucket, by_bucket),
        (shuffled, shuffled),
        (shuffled, by_bucket),
    ):
        assert not verdict(bucketized(data, buckets, quasi_order, sensitive_order), data).passed


def test_perturbed_leaks():
    rng = np.random.default_rng(4)
    data = mixed_table(rng, N_ROWS)
    matrix = [mixing_matrix(4, 4, 10)]
    assert verdict(perturbed(rng, data, matrix, rng.permutation(N_ROWS)), data).passed
    for order in (np.arange(N_ROWS), np.arange(N_ROWS)[::-1], np.roll(np.arange(N_ROWS), 200)):
        assert not verdict(perturbed(rng, data, matrix, order), data).passed


def test_a_left_out_row_does_not_hide_the_order():
    from dataclasses import replace

    rng = np.random.default_rng(5)
    data = mixed_table(rng, N_ROWS, n_values=8)
    release = grouped(data, neighbours(data, 10), np.arange(N_ROWS))
    kept = np.delete(np.arange(N_ROWS), [3, 100, 400])
    short = replace(
        release,
        group_of_row=release.group_of_row[kept],
        sensitive=release.sensitive[kept],
        carried=release.carried[kept],
    )
    assert not verdict(short, data).passed


def test_small_tables_cannot_tell():
    data = number_table([[0], [1], [2], [3]], [0, 1, 2, 3])
    found = verdict(grouped(data, [0, 0, 1, 1], [0, 1, 2, 3]), data)
    assert found.status == "could not tell"
    assert found.detail == "too few different rows to tell"


def test_one_value_everywhere_cannot_tell():
    data = number_table([[0]] * 500, [0] * 500)
    assert verdict(grouped(data, [0] * 500, np.arange(500)), data).detail == "too few different rows to tell"


def random_release(rng):
    """A table with more or fewer duplicates, released honestly in one of the forms."""
    n_rows = int(rng.choice([30, 80, 200, 500]))
    data = mixed_table(
        rng,
        n_rows,
        n_values=int(rng.integers(1, 9)),
        n_ages=int(rng.choice([1, 3, 30, 300])),
        carried=bool(rng.integers(2)),
    )
    form = rng.integers(4)
    if form == 0:
        size = int(rng.integers(1, 12))
        groups = neighbours(data, size) if rng.integers(2) else random_groups(rng, n_rows, size)
        return data, grouped(data, groups, rng.permutation(n_rows))
    if form == 1:
        return data, ring(rng, data, int(rng.integers(1, 5)))[0]
    if form == 2:
        buckets = random_groups(rng, n_rows, int(rng.integers(1, 12)))
        return data, bucketized(data, buckets, rng.permutation(n_rows), rng.permutation(n_rows))
    n_codes = data.domains.sensitive[0].n_codes
    matrix = mixing_matrix(n_codes, 2, n_codes + 1) if n_codes > 1 else mixing_matrix(2, 1, 2)
    return data, perturbed(rng, data, [matrix], rng.permutation(n_rows))


@pytest.mark.slow
def test_honest_shuffles_never_fail():
    rng = np.random.default_rng(6)
    for _ in range(400):
        data, release = random_release(rng)
        assert not verdict(release, data).blocks


def test_the_bound_lies_above_what_shuffles_do():
    rng = np.random.default_rng(7)
    codes = rng.zipf(1.6, 80) % 20
    mean = float((np.bincount(codes) ** 2).sum() / 80)
    seen = np.sort([np.count_nonzero(codes == rng.permutation(codes)) for _ in range(20_000)])
    for share in (0.5, 0.1, 0.01, 0.001):
        quantile = seen[int(len(seen) * (1 - share))]
        assert tail(float(quantile), mean) >= share / 2
    assert tail(mean, mean) == 1.0
