"""Experiments of FF: what they measure on a tiny stand-in, and that each claim can hold and can fail."""

from __future__ import annotations

from lookalike.apps.papers import ff, find
from lookalike.apps.papers.experiments import Experiment, Results
from tests.apps.papers.measuring import altered, has_figures, made_up, measured, missing

LOSSES = {"Greedy": [0.11, 0.21], "SortGreedy": [0.1, 0.2], "Hungarian": [0.09, 0.19], "Mondrian": [0.12, 0.25]}
MIP = {"MIP": [0.08, 0.18], "Hungarian": [0.09, 0.18]}


def by_k(experiment: Experiment) -> Results:
    assert experiment.name == "ff-k"
    return made_up("k", (2, 3), {"gcp": LOSSES, "small_gcp": MIP})


def test_losses_by_k_are_measured() -> None:
    (experiment,) = find(["ff-k"])
    rows = measured(experiment, most=len(ff.KS) * len(ff.METHODS) + 1)
    has_figures(experiment, rows)
    assert {row["series"] for row in rows} == set(ff.METHODS)
    for series in ff.METHODS:
        losses = [row["gcp"] for row in rows if row["series"] == series and "gcp" in row]
        assert losses == sorted(losses)
        assert 0 < losses[0] < losses[-1] <= 1


def test_the_optimum_of_a_few_records_is_measured_beside_the_others() -> None:
    (experiment,) = find(["ff-n"])
    rows = measured(experiment, most=len(ff.METHODS) + 1)
    has_figures(experiment, rows)
    losses = {row["series"]: row["gcp"] for row in rows}
    assert list(losses)[-1] == "MIP"
    assert all(losses["MIP"] <= loss + 1e-4 for loss in losses.values())
    assert all(row["rows"] == 8 and row["reached_k"] >= 3 for row in rows)


def test_claims_hold_for_losses_in_order() -> None:
    (experiment,) = find(["ff-k"])
    assert missing(experiment, by_k(experiment)) == []
    (experiment,) = find(["ff-n"])
    assert missing(experiment, made_up("rows", (8, 100), {"gcp": {**LOSSES, "MIP": [0.08, 0.18]}})) == []


def test_each_claim_can_fail() -> None:
    (experiment,) = find(["ff-k"])
    holding = by_k(experiment)
    worse = altered(holding, "MIP", "small_gcp", lambda loss, place: loss + 0.01 * place)
    assert missing(experiment, worse) == ["MIP loses no more than Hungarian on any table"]
    worse = altered(holding, "Hungarian", "gcp", lambda loss, _: loss + 0.025)
    assert missing(experiment, worse) == ["Hungarian loses no more than Greedy on average"]
    worse = altered(holding, "SortGreedy", "gcp", lambda loss, _: 2 * loss)
    assert missing(experiment, worse) == ["all three lose no more than Mondrian on average"]


def test_the_optimum_must_be_best_on_every_table_and_not_only_on_average() -> None:
    (experiment,) = find(["ff-n"])
    rows = made_up("rows", (8,), {"gcp": {one: losses[:1] for one, losses in {**LOSSES, "MIP": [0.05]}.items()}}).rows
    again = [{**row, "repetition": 1, "gcp": 0.1 if row["series"] == "MIP" else row["gcp"]} for row in rows]
    assert missing(experiment, Results(rows)) == []
    assert missing(experiment, Results((*rows, *again))) == ["MIP loses no more than Hungarian on any table"]
