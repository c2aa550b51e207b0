"""Sizes of buckets: the worked examples and counterexamples, and searches against brute force."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.optimal_buckets import all_sizes
from lookalike.algorithms.shared.bucket_sizes import (
    Part,
    Range,
    Sized,
    deal_slots,
    divide_counts,
    loss_of,
    many_sizes,
    rooms,
    smallest_size,
    two_sizes,
)
from lookalike.algorithms.shared.buckets import Asked
from lookalike.kernels.bucketsizes import best_pair
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples


def family(counts: list[int], theta: str) -> list[Fraction]:
    n_rows = sum(counts)
    return [min(Fraction(1), Fraction(theta) * Fraction(count, n_rows) + Fraction(1, 50)) for count in counts]


def tried(counts: list[int], ceilings: list[Fraction], largest: int = 12) -> tuple[np.ndarray, Range]:
    return np.array(counts), Range.between(smallest_size(ceilings, 1), largest, ceilings)


def sizes_of(parts) -> dict[int, int]:  # type: ignore[no-untyped-def]
    found: dict[int, int] = defaultdict(int)
    for part in parts:
        found[part.size] += part.n_buckets
    return dict(found)


def two_sizes_valid(
    counts: np.ndarray, room: Sequence[np.ndarray], n_buckets: Sequence[int], sizes: Sequence[int]
) -> bool:
    """Whether every value finds room, and both sizes can be filled to the last bucket."""
    most = [np.minimum(room[side] * n_buckets[side], counts) for side in (0, 1)]
    enough = all(int(most[side].sum()) >= n_buckets[side] * sizes[side] for side in (0, 1))
    adds_up = sum(number * size for number, size in zip(n_buckets, sizes, strict=True)) == int(counts.sum())
    return bool((most[0] + most[1] >= counts).all()) and enough and adds_up


# -- worked examples ------------------------------------------------------------------------------------------------

WORKED = [
    ([8, 6, 4, 4, 2], "2", 2, 56, {2: 6, 6: 2}, 56, 56),
    ([8, 6, 4, 4, 2], "1.5", 2, 104, {5: 2, 7: 2}, 104, 104),
    ([20, 10, 6, 4], "2", 1, 96, {1: 10, 5: 6}, 96, 82),
    ([30, 12, 9, 6, 3], "1.5", 2, 463, {6: 4, 12: 3}, 463, 400),
]


@pytest.mark.parametrize(("counts", "theta", "smallest", "two", "sizes", "many", "best"), WORKED)
def test_the_worked_settings(
    counts: list[int], theta: str, smallest: int, two: int, sizes: dict[int, int], many: int, best: int
) -> None:
    ceilings = family(counts, theta)
    numbers, sized = tried(counts, ceilings)
    assert sized.sizes[0] == smallest
    found = two_sizes(numbers, sized)
    assert found is not None
    assert loss_of(found.parts) == two
    assert sizes_of(found.parts) == sizes
    assert loss_of(many_sizes(Part(sum(counts), 1, numbers), sized).parts) == many
    solved = all_sizes(numbers, sized)
    assert solved.parts is not None
    assert loss_of(solved.parts) == solved.bound == best


def test_the_first_worked_setting_in_full() -> None:
    counts = [8, 6, 4, 4, 2]
    ceilings = family(counts, "2")
    assert ceilings == [
        Fraction(103, 150), Fraction(13, 25), Fraction(53, 150), Fraction(53, 150), Fraction(14, 75),
    ]  # fmt: skip
    assert max(math.ceil(1 / ceiling) for ceiling in ceilings) == 6
    numbers, sized = tried(counts, ceilings)
    found = two_sizes(numbers, sized)
    assert found is not None
    assert [part.counts.tolist() for part in found.parts] == [[6, 6, 0, 0, 0], [2, 0, 4, 4, 2]]


def test_dealing_runs_on_across_values() -> None:
    slots = deal_slots([Part(8, 4, np.array([2, 2, 2, 4, 4, 4, 6, 8]))])
    buckets = [sorted((slots.value_of_slot[slots.bucket_of_slot == bucket] + 1).tolist()) for bucket in range(4)]
    assert buckets == [
        [1, 3, 4, 5, 6, 7, 8, 8],
        [1, 3, 4, 5, 6, 7, 8, 8],
        [2, 4, 5, 6, 7, 7, 8, 8],
        [2, 4, 5, 6, 7, 7, 8, 8],
    ]


def candidates(n_rows: int, size1: int, size2: int) -> list[tuple[int, int]]:
    return [
        ((n_rows - size2 * large) // size1, large)
        for large in range(n_rows // size2 + 1)
        if (n_rows - size2 * large) % size1 == 0
    ]


def first_found(limits: np.ndarray, counts: np.ndarray, sizes: tuple[int, int]) -> list[tuple[int, int]]:
    """What the search takes of the candidates of one pair of sizes, if any."""
    small, first, _, second, *_ = best_pair(limits, np.array(sizes), counts, 2).tolist()
    return [(first, second)] if small else []


def test_the_candidates_of_a_pair_of_sizes() -> None:
    assert candidates(28, 2, 4) == [(14, 0), (12, 1), (10, 2), (8, 3), (6, 4), (4, 5), (2, 6), (0, 7)]
    assert candidates(27, 2, 4) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "ceilings", "sizes", "answer"),
    [
        # The first candidate that some value accepts fails for another.
        ([6, 2], ["1", "0.26"], (2, 4), (0, 2)),
        # The last of the values' first candidates is not valid either: there is none.
        ([8, 7, 4], ["1123/1900", "1327/1900", "137/380"], (2, 3), None),
    ],
)
def test_counterexamples_to_the_published_search(
    counts: list[int], ceilings: list[str], sizes: tuple[int, int], answer: tuple[int, int] | None
) -> None:
    limits = rooms([Fraction(ceiling) for ceiling in ceilings], sizes)
    numbers = np.array(counts)
    valid = [pair for pair in candidates(sum(counts), *sizes) if two_sizes_valid(numbers, limits, pair, sizes)]
    assert first_found(limits, numbers, sizes) == valid[:1] == ([answer] if answer else [])


def test_room_is_counted_in_exact_numbers() -> None:
    assert math.floor(0.58 * 50) == 28
    assert rooms([Fraction("0.58")], [50])[0, 0] == 29


# -- searches against brute force -----------------------------------------------------------------------------------

shares = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 40)), min_size=1, max_size=5)


def setting(drawn: list[tuple[int, int]]) -> tuple[np.ndarray, list[Fraction]]:
    """Counts, and ceilings at or above the shares."""
    counts = np.array([count for count, _ in drawn])
    n_rows = int(counts.sum())
    return counts, [min(Fraction(1), Fraction(count, n_rows) + Fraction(more, 60)) for count, more in drawn]


@settings(max_examples=examples(2000), deadline=None)
@given(drawn=shares, sizes=st.tuples(st.integers(1, 9), st.integers(1, 5)).map(lambda pair: (pair[0], sum(pair))))
def test_the_first_valid_candidate_is_found(drawn: list[tuple[int, int]], sizes: tuple[int, int]) -> None:
    counts, ceilings = setting(drawn)
    limits = rooms(ceilings, sizes)
    valid = [pair for pair in candidates(int(counts.sum()), *sizes) if two_sizes_valid(counts, limits, pair, sizes)]
    assert first_found(limits, counts, sizes) == valid[:1]


def feasible(counts: np.ndarray, limits: list[np.ndarray], sizes: tuple[int, int], pair: tuple[int, int]) -> bool:
    """Whether records can be dealt to buckets one by one, tried in every way."""
    buckets = [size for size, number in zip(sizes, pair, strict=True) for _ in range(number)]
    room = [limits[0] if size == sizes[0] else limits[1] for size in buckets]

    def fill(bucket: int, left: tuple[int, ...]) -> bool:
        if bucket == len(buckets):
            return not any(left)
        options = [range(min(int(room[bucket][value]), left[value]) + 1) for value in range(len(left))]
        return any(
            sum(taken) == buckets[bucket]
            and fill(bucket + 1, tuple(count - one for count, one in zip(left, taken, strict=True)))
            for taken in itertools.product(*options)
        )

    return fill(0, tuple(counts.tolist()))


@settings(max_examples=examples(120), deadline=None)
@given(
    drawn=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 40)), min_size=1, max_size=3),
    sizes=st.sampled_from([(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]),
)
def test_counting_decides_what_trying_everything_decides(drawn: list[tuple[int, int]], sizes: tuple[int, int]) -> None:
    counts, ceilings = setting(drawn)
    limits = list(rooms(ceilings, sizes))
    for pair in candidates(int(counts.sum()), *sizes):
        assert two_sizes_valid(counts, limits, pair, sizes) == feasible(counts, limits, sizes, pair)


@settings(max_examples=examples(200), deadline=None)
@given(drawn=shares, sizes=st.sampled_from([(1, 3), (2, 3), (2, 5), (3, 7)]))
def test_records_are_divided_within_the_limits(drawn: list[tuple[int, int]], sizes: tuple[int, int]) -> None:
    counts, ceilings = setting(drawn)
    limits = list(rooms(ceilings, sizes))
    for pair in candidates(int(counts.sum()), *sizes):
        if not two_sizes_valid(counts, limits, pair, sizes):
            continue
        split = divide_counts(counts, limits, pair, sizes)
        for part, room, number, size in zip(split, limits, pair, sizes, strict=True):
            assert part.sum() == number * size
            assert (part >= 0).all()
            assert (part <= room * number).all()
            slots = deal_slots([Part(size, number, part)]) if number else None
            for bucket in range(number):
                assert slots is not None
                inside = np.bincount(slots.value_of_slot[slots.bucket_of_slot == bucket], minlength=len(counts))
                assert inside.sum() == size
                assert (inside <= room).all()
        assert (split[0] + split[1] == counts).all()


@pytest.mark.parametrize("name", ["two-size", "multi-size", "optimal-buckets"])
def test_a_value_that_needs_very_large_buckets_gets_them(name: str) -> None:
    """It would be one bucket of the whole table if only sizes up to 1,500 were tried."""
    counts = np.array([1500, 1499, 1000, 1])
    ceilings = [Fraction(1), Fraction(1), Fraction(1), Fraction(1, 2000)]
    algorithm = parse_algorithm(name)
    assert isinstance(algorithm, Sized)
    slots, remarks = algorithm.slots(Asked(counts, ceilings, 1, has_values=True), Randomness(1), silent)
    assert slots.n_buckets > 1
    assert not any("one bucket" in remark for remark in remarks)
