"""Comparisons: what is run and what is not, what it is measured by, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.algorithms.mondrian import Mondrian
from lookalike.errors import RecipeError, SchemaError
from tests.evaluation.compare.asking import ALGORITHMS, compared, people
from tests.evaluation.compare.methods import Careless, Crashing


def test_every_pair_is_run_and_measured(executed: list[str]) -> None:
    found = compared()
    assert len(executed) == 6
    assert [run.status for run in found.runs] == ["done"] * 6
    assert [run.algorithm for run in found.runs] == ALGORITHMS * 3
    for run in found.runs:
        assert {"k", "l", "t", "beta", "largest_belief", "attack", "seconds"} <= set(run.figures)
        assert run.meaning
        assert run.adversary in ("reads-release", "knows-method")
        assert run.levels["illness"]["l"] * run.figures["largest_belief"] == pytest.approx(1)
    assert found.runs[2].figures["l"] >= 3
    assert found.runs[4].figures["beta"] <= 3


def test_figures_are_those_of_publishing_and_attacking_alone(tmp_path: Path) -> None:
    run = compared(models="l-diversity:3", algorithms="mondrian").runs[0]
    made = la.publish(
        people(), qi=["height", "town"], sensitive="illness", model="l-diversity:3", algorithm="mondrian", seed=3
    )
    assert {name: run.figures[name] for name in made.losses} == made.losses
    made.write(tmp_path / "release", report="brief")
    alone = la.attack(people(), tmp_path / "release", attacks=["naive-bayes"], seed=3)
    assert run.attacks[0] == alone.to_plain()["attacks"][0]
    reached = {verdict.model: verdict.reached for verdict in made.audit.measured}
    assert run.figures["t"] == float(reached["t-closeness"] or 0)
    assert run.figures["k"] == float(reached["k-anonymity"] or 0)


def test_what_cannot_be_run_says_why(executed: list[str]) -> None:
    found = compared(models=["l-diversity:50", "t-closeness:0.4"], algorithms=["anatomy", "mondrian"])
    impossible, unfit, done = found.runs
    assert (impossible.status, impossible.algorithm) == ("infeasible", "any")
    assert impossible.nearest is not None
    assert impossible.nearest in impossible.reason
    assert (unfit.status, unfit.algorithm) == ("unfit", "anatomy")
    assert "ceilings" in unfit.reason
    assert done.status == "done"
    assert executed == ["illness=t-closeness:0.4, mondrian"]
    said = str(found)
    assert impossible.reason in said
    assert unfit.reason in said
    assert "are not equal" in said
    nearest = compared(models=impossible.nearest, algorithms="mondrian")
    assert nearest.runs[0].status == "done"


def test_a_comparison_comes_back_from_its_plain_form() -> None:
    found = compared(models=["l-diversity:3", "l-diversity:50"], algorithms=["mondrian"])
    again = la.Comparison.from_plain(json.loads(json.dumps(found.to_plain())), found.sensitive)
    assert again.runs == found.runs
    assert (again.rows(), again.remarks()) == (found.rows(), found.remarks())


def test_defaults_suit_the_promise(executed: list[str]) -> None:
    found = compared(models=["t-closeness:0.4", "k-anonymity:4 + l-diversity:2"], algorithms=(), attacks=())
    names = [(run.promise, run.algorithm.partition(":")[0]) for run in found.runs]
    assert [name for promise, name in names if "closeness" in promise] == ["groups", "mondrian", "sabre"]
    together = [name for promise, name in names if promise == "k-anonymity:4 + illness=l-diversity:2"]
    assert together == ["groups", "mondrian", "heterogeneous", "anatomy"]
    assert {run.status for run in found.runs} == {"done"}
    assert all(run.figures["k"] >= 4 for run in found.runs if "k-anonymity" in run.promise)
    assert all("attack" not in run.figures for run in found.runs)


def test_without_a_sensitive_column() -> None:
    found = compared(sensitive=(), models="k-anonymity:2,6", algorithms="mondrian")
    assert (found.x, found.y) == ("gcp", "k")
    assert [run.figures["k"] >= asked for run, asked in zip(found.runs, (2, 6), strict=True)] == [True, True]
    assert "naive-bayes" in found.runs[0].not_made


def test_a_comparison_that_is_asked_to_stop_keeps_what_it_has() -> None:
    found = compared(progress=lambda step, share, note="": step == "compare" and share >= 0.5)
    assert [run.status for run in found.runs] == ["done"] * 3 + ["not run"] * 3
    assert found.to_plain()["complete"] is False


def test_a_release_that_fails_its_audit_is_shown_as_such(tmp_path: Path) -> None:
    found = compared(models="l-diversity:4", algorithms=[Careless(), Mondrian()], folder=tmp_path / "kept")
    failed, done = found.runs
    assert failed.status == "audit failed"
    assert "does not pass its audit" in failed.reason
    assert failed not in found.frontier
    assert done.status == "done"
    assert "AUDIT FAILED" in str(found)
    assert "audit failed" in found.to_csv()


def test_a_fault_ends_one_run_and_tells_no_value(tmp_path: Path) -> None:
    asked = {"models": "l-diversity:2", "algorithms": [Crashing(), Mondrian()], "folder": tmp_path / "kept"}
    crashed, done = compared(**asked).runs
    assert (crashed.status, done.status) == ("fault", "done")
    assert "ValueError" in crashed.reason
    assert "Plughitis" not in str(compared(**asked))
    assert len(list((tmp_path / "kept" / "runs").iterdir())) == 1


def test_the_picture_shows_the_runs(tmp_path: Path) -> None:
    compared(folder=tmp_path / "kept", x="msbs", y="largest-belief")
    drawn = (tmp_path / "kept" / "frontier.svg").read_text()
    assert "mean squared bucket size" in drawn
    assert "highest certainty" in drawn
    assert drawn.count("l-diversity:2") >= 2
    assert "anatomy" in drawn
    found = compared(x="values-changed", models="l-diversity:2", algorithms="mondrian")
    assert found.chart() is None
    assert found.frontier == ()
    assert "No run has figures" in str(found)


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"models": "l-diversty:2"}, RecipeError, "Did you mean"),
        ({"algorithms": ["mondrain"]}, RecipeError, "Did you mean"),
        ({"attacks": ["naive-bays"]}, RecipeError, "Did you mean"),
        ({"models": []}, RecipeError, "at least one"),
        ({"y": "gamma"}, RecipeError, "no axis"),
        ({"jobs": 0}, RecipeError, "1 or more"),
        ({"adversary": "nobody"}, RecipeError, "adversary"),
        ({"models": "town=l-diversity:2"}, SchemaError, "sensitive column"),
        ({"sensitive": ()}, RecipeError, "none is named"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_what_is_refused(
    changed: dict[str, Any], error: type[Exception], said: str, executed: list[str], tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        compared(**changed, folder=tmp_path / "kept")
    assert executed == []
    assert not (tmp_path / "kept").exists()
