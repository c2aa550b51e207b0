"""The integer program of bucket sizes: against trying everything, its limits, and what it says where it was stopped."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import optimal_buckets
from lookalike.algorithms.optimal_buckets import OptimalBuckets, all_sizes, deal_values
from lookalike.algorithms.shared.bucket_sizes import Part, Range, loss_of, many_sizes, smallest_size, two_sizes
from lookalike.algorithms.shared.buckets import Asked
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.shared.test_bucket_sizes import family, setting
from tests.algorithms.tables import census_data
from tests.examples import examples


def least_loss(counts: np.ndarray, sized: Range) -> int | None:
    """Every number of buckets of every size."""
    n_rows = int(counts.sum())
    best = None
    for numbers in itertools.product(*(range(n_rows // size + 1) for size in sized.sizes.tolist())):
        if int((np.array(numbers) * sized.sizes).sum()) == n_rows:
            parts = deal_values(counts, sized, np.array(numbers))
            if parts is not None and (best is None or loss_of(parts) < best):
                best = loss_of(parts)
    return best


@settings(max_examples=examples(60), deadline=None)
@given(drawn=st.lists(st.tuples(st.integers(1, 5), st.integers(0, 40)), min_size=1, max_size=4))
def test_the_integer_program_is_exhaustive_search(drawn: list[tuple[int, int]]) -> None:
    counts, ceilings = setting(drawn)
    smallest = smallest_size(ceilings, 1)
    sized = Range.between(smallest, smallest + 3, ceilings)
    solved, best = all_sizes(counts, sized), least_loss(counts, sized)
    assert (None if solved.parts is None else loss_of(solved.parts)) == best
    many = many_sizes(Part(int(counts.sum()), 1, counts), sized)
    two = two_sizes(counts, sized)
    if two is not None:
        assert best is not None
        assert best <= loss_of(many.parts) <= loss_of(two.parts)


def test_the_clock_stops_the_integer_program_only_where_seconds_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.optimize

    options: list[dict[str, float]] = []
    solve = scipy.optimize.milp

    def watched(*given: Any, **more: Any) -> Any:
        options.append(dict(more["options"]))
        return solve(*given, **more)

    monkeypatch.setattr(scipy.optimize, "milp", watched)
    counts = np.array([30, 12, 9, 6, 3])
    sized = Range.between(2, 12, family(counts.tolist(), "1.5"))
    all_sizes(counts, sized, nodes=7)
    all_sizes(counts, sized, seconds=9.0)
    assert [{key: some[key] for key in some if key.endswith("limit")} for some in options] == [
        {"node_limit": 7},
        {"time_limit": 9.0},
    ]


@settings(max_examples=examples(30), deadline=None)
@given(drawn=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 40)), min_size=2, max_size=6))
def test_sizes_left_out_by_their_reduced_loss_are_in_no_better_setting(drawn: list[tuple[int, int]]) -> None:
    """The bound and the setting are those of the integer program over all sizes."""
    counts, ceilings = setting(drawn)
    smallest = smallest_size(ceilings, 1)
    sized = Range.between(smallest, int(counts.sum()), ceilings)
    everything = optimal_buckets._by_integers(counts, sized, ((sized.sizes - 1) ** 2).astype(np.float64), 10**6, None)[
        0
    ]
    solved = all_sizes(counts, sized)
    assert (solved.parts is None) == (everything is None)
    if solved.parts is not None and everything is not None:
        assert loss_of(solved.parts) == solved.bound == loss_of(everything)


def test_an_integer_program_is_never_larger_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first node alone can take minutes, which no limit on nodes prevents."""
    sizes_solved = []

    def solving(counts: np.ndarray, tried: Range, *rest: Any) -> Any:
        sizes_solved.append(len(tried.sizes))
        return by_integers(counts, tried, *rest)

    by_integers = optimal_buckets._by_integers
    monkeypatch.setattr(optimal_buckets, "_by_integers", solving)
    counts = np.array([41, 23, 17, 11, 5, 3])
    ceilings = [Fraction(9 * int(count), 5 * 100) for count in counts]
    tried = Range.between(2, 60, ceilings)
    whole = all_sizes(counts, tried)
    monkeypatch.setattr(optimal_buckets, "_MOST_ROOMS", 3 * len(counts))
    part = all_sizes(counts, tried)
    assert sizes_solved[0] > 3 == sizes_solved[1]
    assert whole.parts is not None
    assert part.parts is not None
    assert part.bound <= loss_of(whole.parts) <= loss_of(part.parts)


def test_the_gap_of_the_integer_program_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([30, 12, 9, 6, 3])
    asked = Asked(counts, family(counts.tolist(), "1.5"), 1, has_values=True)
    _, solved = OptimalBuckets(largest=12).slots(asked, Randomness(1), silent)
    assert solved == (
        "Bucket sizes: 1 bucket of 4, 1 bucket of 5, 3 buckets of 6, 3 buckets of 11.",
        "No setting with sizes up to 12 loses less.",
    )
    many = census_data(3000).counts(0)
    hard = Asked(many[many > 0], family(many[many > 0].tolist(), "2"), 1, has_values=True)
    monkeypatch.setattr(optimal_buckets, "_by_integers", lambda *given: (None, 0))
    for method, said in (
        (OptimalBuckets(largest=50, seconds="0.05"), "0.05 seconds"),
        (OptimalBuckets(), "1,000 nodes"),
    ):
        _, stopped = method.slots(hard, Randomness(1), silent)
        assert stopped[0].startswith("Bucket sizes")
        assert f"stopped: after {said} a loss" in stopped[1]
