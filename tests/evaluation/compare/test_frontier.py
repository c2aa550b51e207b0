"""The frontier against its definition, and which figures are compared at all."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import RecipeError
from lookalike.evaluation.compare.frontier import Axis, axis_of, check_axes, frontier, loss_axes, risk_axes
from lookalike.evaluation.compare.runs import DONE, INFEASIBLE, Run


def run(form: str = "grouped", status: str = DONE, **figures: float) -> Run:
    return Run(promise="p", algorithm="a", adversary="reads-release", status=status, form=form, figures=figures)


@given(
    points=st.lists(st.tuples(st.integers(0, 6), st.one_of(st.integers(0, 6), st.just(math.inf))), max_size=25),
    more=st.booleans(),
)
def test_frontier_is_what_no_other_beats(points: list[tuple[float, float]], more: bool) -> None:
    x, y = Axis("x", ""), Axis("y", "", more_is_better=more)
    runs = [run(x=float(across), y=float(upwards)) for across, upwards in points]
    sign = -1 if more else 1

    def beats(one: Run, other: Run) -> bool:
        pairs = [(one.figures["x"], other.figures["x"]), (sign * one.figures["y"], sign * other.figures["y"])]
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    finite = [one for one in runs if math.isfinite(one.figures["y"])]
    expected = {id(one) for one in finite if not any(beats(other, one) for other in finite)}
    found = frontier(runs, x, y)
    assert {id(one) for one in found} == expected
    assert len(found) == len(expected)
    assert [one.figures["x"] for one in found] == sorted(one.figures["x"] for one in found)


def test_a_loss_is_compared_among_the_forms_it_speaks_of() -> None:
    grouped, bucketized = run(gcp=0.3, msbs=9.0, beta=2.0), run("bucketized", gcp=0.0, msbs=4.0, beta=2.0)
    perturbed = run("perturbed", gcp=0.0, values_changed=0.8, beta=1.0)
    everything = [grouped, bucketized, perturbed]
    assert frontier(everything, loss_axes()["gcp"], risk_axes()["beta"]) == [grouped]
    assert frontier(everything, loss_axes()["msbs"], risk_axes()["beta"]) == [bucketized]
    assert frontier(everything, loss_axes()["values-changed"], risk_axes()["beta"]) == [perturbed]


def test_runs_without_a_release_have_no_place() -> None:
    assert frontier([run(status=INFEASIBLE, gcp=0.0, beta=0.0)], loss_axes()["gcp"], risk_axes()["beta"]) == []


def test_axes_are_chosen_by_what_there_is() -> None:
    assert axis_of(loss_axes(), None, [run("perturbed", values_changed=0.5)]) == "values-changed"
    assert axis_of(risk_axes(), None, [run(k=5.0)]) == "k"
    assert axis_of(loss_axes(), "msbs", []) == "msbs"
    with pytest.raises(RecipeError, match='Did you mean "beta"'):
        check_axes("gcp", "betta")
