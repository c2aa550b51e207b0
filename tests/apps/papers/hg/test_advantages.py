"""How HG's comparisons are read: each reading holds, fails, and decides nothing on what was not measured."""

from __future__ import annotations

import pytest

from lookalike.apps.papers.claims import Test
from lookalike.apps.papers.experiments import Results
from lookalike.apps.papers.hg.advantages import below_exactly_from, gain_goes, loses_less, takes_at_most
from tests.apps.papers.hg.test_readings import results

READINGS: list[tuple[Test, Results, Results]] = [
    (
        loses_less("x", "y", ("a", "b"), "c"),
        results(a=[1, 1], b=[2, 1], c=[2, 2]),
        results(a=[1, 1], b=[3, 1], c=[2, 2]),
    ),
    (
        takes_at_most("x", ("a",), "b", 2),
        results("seconds", a=[[1, 1.1]], b=[[1, 1.1]]),
        results("seconds", a=[[3, 3.1]], b=[[1, 1.1]]),
    ),
    # A gain may go back once in a while: its ends and its ranks count.
    (gain_goes(1, "x", "y", "a", "b"), results(a=[2, 4, 3.9, 8], b=[1] * 4), results(a=[8, 3, 4, 2], b=[1] * 4)),
    (gain_goes(-1, "x", "y", "a", "b"), results(a=[8, 3, 4, 2], b=[1] * 4), results(a=[2, 4, 3.9, 8], b=[1] * 4)),
    (below_exactly_from("x", "y", ("a",), "b", 2), results(a=[3, 1], b=[2, 2]), results(a=[1, 1], b=[2, 2])),
]


@pytest.mark.parametrize(("test", "good", "bad"), READINGS)
def test_readings_hold_and_fail(test: Test, good: Results, bad: Results) -> None:
    assert test(good).holds is True
    assert test(bad).holds is False
    assert test(good).evidence
    assert test(Results(())).holds is None


def test_a_gain_that_grows_only_as_a_ratio_decides_nothing() -> None:
    shrinking = results(a=[8, 4, 3], b=[4, 1, 0.5])
    assert gain_goes(1, "x", "y", "a", "b")(shrinking).holds is None


def test_a_gain_that_hardly_grows_decides_nothing() -> None:
    weak = results(a=[2, 6, 5, 4, 3], b=[1] * 5)
    assert gain_goes(1, "x", "y", "a", "b")(weak).holds is False
    assert gain_goes(1, "x", "y", "a", "b")(results(a=[2, 6, 3, 4, 5], b=[1] * 5)).holds is None


def test_times_that_overlap_decide_nothing() -> None:
    assert takes_at_most("x", ("a",), "b", 2)(results("seconds", a=[[1, 3]], b=[[1, 1.1]])).holds is None


def test_the_evidence_names_where_a_loss_is_more() -> None:
    found = loses_less("x", "y", ("a", "b"), "c")(results(a=[1, 3], b=[3, 3], c=[2, 2]))
    assert found.evidence == "in % of the loss of c: a 50 to 150 % (more at x 2), b 150 % (more everywhere)"
