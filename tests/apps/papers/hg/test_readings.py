"""How HG's sentences are read as tests: each reading holds, fails, and decides nothing on what was not measured."""

from __future__ import annotations

import pytest

from lookalike.apps.papers.claims import Test
from lookalike.apps.papers.experiments import Results
from lookalike.apps.papers.hg.readings import (
    above_elsewhere,
    alike,
    at_most,
    best_at,
    better_in_equal_time,
    falls_by,
    fewer,
    gains,
    grows_no_faster,
    grows_surely,
    hardly_above,
    higher_ratio,
    improves,
    largest,
    more_at,
    no_more_at,
    possible_from,
    ratio_of_ends,
    reaches_time,
    steady_times,
    whichever,
    within,
)
from lookalike.apps.papers.journal import Row


def results(y: str = "y", x: str = "x", **series: list[float] | list[list[float]]) -> Results:
    """Values of each series at 1, 2, 3 ...; a list of lists has repetitions."""
    rows: list[Row] = []
    for name, values in series.items():
        for place, some in enumerate(values, 1):
            for repetition, value in enumerate(some if isinstance(some, list) else [some]):
                rows.append({x: place, "series": name, "repetition": repetition, y: value})
    return Results(tuple(rows))


def merged(*parts: Results) -> Results:
    return Results(tuple(row for part in parts for row in part.rows))


READINGS: list[tuple[Test, Results, Results]] = [
    (
        largest("x", "y", ("a",), ("b",), 3, 4, gain=False),
        results(a=[1, 1], b=[3.5, 2]),
        results(a=[1, 1], b=[5, 2]),
    ),
    (largest("x", "y", ("a",), ("b",), 70, 80, gain=True), results(a=[1], b=[4]), results(a=[1], b=[2])),
    (
        more_at("x", 1, "a", "b", ("y",), "z"),
        merged(results(a=[4], b=[1]), results("z", a=[3], b=[1])),
        merged(results(a=[2], b=[1]), results("z", a=[3], b=[1])),
    ),
    (
        higher_ratio("x", 1, "a", "b", ("y", "z"), 3, 4),
        merged(results(a=[3.5], b=[1]), results("z", a=[1], b=[1])),
        merged(results(a=[5], b=[1]), results("z", a=[3.5], b=[1])),
    ),
    (no_more_at("x", "y", "a", 2, 1, 1.1), results(a=[1, 1.05]), results(a=[1, 1.2])),
    (
        above_elsewhere("x", "a", "y", "z", 2),
        merged(results(a=[1, 3]), results("z", a=[2, 2])),
        merged(results(a=[3, 1]), results("z", a=[2, 2])),
    ),
    (within("x", "y", "a", points=0.5), results(a=[7, 7.4]), results(a=[7, 6.4])),
    (
        alike("x", "y", "z", "a", points=0.5),
        merged(results(a=[7, 7]), results("z", a=[7.4, 6.6])),
        merged(results(a=[7, 7]), results("z", a=[7.4, 6.4])),
    ),
    (
        improves("x", "y", "z", "a", 0.5),
        merged(results(a=[[1, 2]]), results("z", a=[[3, 4]])),
        merged(results(a=[[3, 4]]), results("z", a=[[1, 2]])),
    ),
    (
        grows_surely("x", "y", "a"),
        results(a=[[1, 1.1], [2, 2.1]]),
        results(a=[[2, 2.1], [1, 1.1]]),
    ),
    (fewer("x", "y", ("a",), "b", 0.5), results(a=[1], b=[2]), results(a=[3], b=[2])),
    (
        hardly_above("x", "y", ("a", "b"), "c", 0.5),
        results(a=[2.5, 1], b=[1, 2.4], c=[2, 2]),
        results(a=[2, 2], b=[2, 2.6], c=[2, 2]),
    ),
    (at_most("x", "y", "b", "a"), results(a=[[1, 2]], b=[2]), results(a=[[1, 3]], b=[2])),
    (best_at("x", "y", "a", 2), results(a=[1, 3, 2]), results(a=[3, 1, 2])),
    (gains("x", "y", "a", "b", 1, 1.15), results(a=[1.1, 1], b=[1, 1]), results(a=[1.1, 1.2], b=[1, 1])),
    (falls_by("x", "y", "a", "b", 1, 28, 38), results(a=[67], b=[100]), results(a=[80], b=[100])),
    (possible_from("x", "y", "a", 2), results(a=[0, 12, 6]), results(a=[3, 12, 6])),
    (ratio_of_ends("x", "y", "a", 1.25), results(a=[1, 1.3]), results(a=[1, 1.2])),
    (
        steady_times("x", "a", factor=1.5),
        results("seconds", a=[[1, 1.1], [1.2, 1.3]]),
        results("seconds", a=[[1, 1.1], [2, 2.1]]),
    ),
    (
        grows_no_faster("x", "a", 1.1),
        results("seconds", a=[[1, 1.01], [2, 2.01]]),
        results("seconds", a=[[1, 1.01], [4, 4.1]]),
    ),
    (
        reaches_time("x", "a", "b"),
        merged(results("seconds", a=[1, 2], b=[1.5]), results("gcp", a=[1, 1], b=[2])),
        merged(results("seconds", a=[3, 4], b=[1.5]), results("gcp", a=[1, 1], b=[2])),
    ),
    (
        better_in_equal_time("x", "a", "b"),
        merged(results("seconds", a=[1, 2], b=[1.5]), results("gcp", a=[1, 1], b=[2])),
        merged(results("seconds", a=[1, 2], b=[1.5]), results("gcp", a=[3, 1], b=[2])),
    ),
]


@pytest.mark.parametrize(("test", "good", "bad"), READINGS)
def test_readings_hold_and_fail(test: Test, good: Results, bad: Results) -> None:
    assert test(good).holds is True
    assert test(bad).holds is False
    assert test(good).evidence
    assert test(Results(())).holds is None


@pytest.mark.parametrize(
    ("test", "unclear"),
    [
        (improves("x", "y", "z", "a", 0.5), merged(results(a=[1]), results("z", a=[1.4]))),
        (fewer("x", "y", ("a",), "b", 0.5), results(a=[1, 1], b=[2, 1.3])),
        (grows_surely("x", "y", "a"), results(a=[[1, 2], [1.4, 2.4]])),
        (steady_times("x", "a", factor=1.5), results("seconds", a=[[1, 2], [1.2, 2.2]])),
        (grows_no_faster("x", "a", 1.1), results("seconds", a=[[1, 2], [2, 5]])),
        (best_at("x", "y", "a", 1), results(a=[[1, 3], [2, 3]])),
        (best_at("x", "y", "a", 2), results(a=[[1, 3], [2, 4]])),
        (
            better_in_equal_time("x", "a", "b"),
            merged(results("seconds", a=[3], b=[1]), results("gcp", a=[1], b=[2])),
        ),
    ],
)
def test_readings_that_overlap_decide_nothing(test: Test, unclear: Results) -> None:
    assert test(unclear).holds is None


def test_whichever_detail_is_right_decides_only_where_all_agree() -> None:
    test = whichever({"one": within("x", "y", "a", points=1), "other": within("x", "y", "b", points=1)})
    assert test(results(a=[1, 2], b=[2, 3])).holds is True
    assert test(results(a=[1, 3], b=[2, 5])).holds is False
    assert test(results(a=[1, 2], b=[2, 5])).holds is None
    assert test(results(a=[1, 2])).holds is None
    assert test(results(a=[1, 2], b=[2, 5])).evidence == "one: a 1 2; other: b 2 5"
