"""Experiments of GB: what they measure on a tiny stand-in, and that each claim can hold and can fail."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lookalike.apps.papers import find, gb
from lookalike.apps.papers.experiments import Bench, Results
from tests.apps.papers.measuring import TINY, altered, has_figures, made_up, measured, missing, shown, stand_ins

OPTIMAL = "Optimal (estimated)"


def test_figures_are_found_by_name() -> None:
    names = [f"gb-{number}-{table}" for table in ("occ", "edu") for number in (3, 4, 5, 6, 7)]
    assert {name for experiment in find(["gb"]) for name in experiment.names} == set(names)
    assert all(len(find([name])) == 1 for name in names)


def test_ceilings_and_their_l_are_those_of_the_paper() -> None:
    counts = np.array([8, 6, 4, 4, 2])
    bounds = gb.ceilings(counts, 2)
    assert bounds == [Fraction(103, 150), Fraction(13, 25), Fraction(53, 150), Fraction(53, 150), Fraction(14, 75)]
    assert gb.corresponding_l(bounds) == 6


@pytest.mark.parametrize("name", ["gb-3-occ", "gb-3-edu", "gb-6-edu", "gb-7-edu"])
def test_they_measure(name: str) -> None:
    (experiment,) = find([name])
    rows = measured(experiment, most=12)
    has_figures(experiment, rows)
    assert all(isinstance(holds, bool) for holds in shown(experiment, Results(tuple(rows))).values())


@pytest.mark.parametrize("name", ["gb-4-occ", "gb-5-edu"])
def test_losses_of_all_methods_are_measured(name: str) -> None:
    (experiment,) = find([name])
    rows = measured(experiment, most=4)
    has_figures(experiment, rows)
    assert [row["series"] for row in rows] == [gb.ANATOMY, "TwoSize", "MultiSize", "Optimal"]
    losses = [row["msbs"] for row in rows]
    assert losses[1] >= losses[2] >= losses[3] > 0
    assert "error" not in rows[0]


def test_searches_with_and_without_pruning_see_the_same_numbers() -> None:
    rows = measured(find(["gb-6-occ"])[0], most=4)
    tests = {row["series"]: row.get("tests") for row in rows}
    assert tests["Full-pruning"] < tests["Loss-pruning"] <= tests["No-pruning"]
    assert rows[-1]["programs"] >= 12


def test_more_records_are_drawn_by_the_shares_of_the_table() -> None:
    bench = Bench(stand_ins(), TINY)
    counts = gb.OCC.counts(bench, 500_000, np.random.default_rng(1))
    known = gb.OCC.count_known(bench)
    assert counts.sum() == 500_000
    assert np.allclose(counts / counts.sum(), known / known.sum(), atol=0.002)


def test_claims_about_l() -> None:
    occ, edu = (find([f"gb-3-{table}"])[0] for table in ("occ", "edu"))
    as_reported = made_up("theta", gb.THETAS, {"l": {"needed": [43, 38, 30, 22, 13], "allowed by the table": [13] * 5}})
    assert missing(occ, as_reported) == []
    assert missing(edu, as_reported) == ["l-diversity cannot be kept for any theta"]
    all_violated = altered(as_reported, "needed", "l", lambda ell, _: ell + 1)
    assert missing(occ, all_violated) == ["l-diversity can be kept for theta = 32"]
    assert missing(edu, all_violated) == []
    kept = altered(as_reported, "allowed by the table", "l", lambda ell, place: 30)
    assert "l-diversity cannot be kept for any theta below 32" in missing(occ, kept)
    rising = altered(as_reported, "needed", "l", lambda ell, place: 20 + place)
    assert "l falls as theta grows" in missing(edu, rising)


def test_claims_about_losses_and_errors() -> None:
    experiment = find(["gb-4-occ"])[0]
    holding = made_up(
        "theta",
        (2, 8, 32),
        {
            "msbs": {
                gb.ANATOMY: [42, 30, 13],
                "TwoSize": [12, 6, 2],
                "MultiSize": [11, 5.5, 1.9],
                "Optimal": [10, 5, 1.8],
            },
            "error": {"TwoSize": [10.5, 8, 6], "MultiSize": [9.5, 7.5, 5.5], "Optimal": [9, 7, 5]},
        },
    )
    assert missing(experiment, holding) == []
    close = altered(holding, gb.ANATOMY, "msbs", lambda loss, _: loss / 3)
    assert missing(experiment, close) == ["Anatomy's MSBS is at least twice as large"]
    smaller = altered(holding, gb.ANATOMY, "msbs", lambda loss, _: loss / 10)
    assert "Anatomy's MSBS is larger than all others" in missing(experiment, smaller)
    worse = altered(holding, "MultiSize", "msbs", lambda loss, _: 1.05 * loss + 1)
    assert missing(experiment, worse) == ["TwoSize loses at least as much as MultiSize, MultiSize as Optimal"]
    far = altered(holding, "TwoSize", "msbs", lambda loss, _: 1.3 * loss)
    assert "TwoSize loses at most a quarter more than Optimal" in missing(experiment, far)
    apart = altered(holding, "Optimal", "error", lambda error, _: error - 3)
    assert missing(experiment, apart) == ["MultiSize's error is within 2 points of Optimal's"]
    apart = altered(holding, "TwoSize", "error", lambda error, place: error + 2 * (place == 2))
    assert missing(experiment, apart) == ["TwoSize's error is within 2 points of MultiSize's"]
    large = made_up("theta", (2, 8, 32), {"error": {one: [9, 11, 12.5] for one in ("TwoSize", "MultiSize", "Optimal")}})
    assert "errors are mostly below 10 % and hardly above" in missing(experiment, large)


def test_claims_about_times() -> None:
    experiment = find(["gb-6-occ"])[0]
    times = {
        "No-pruning": [3.0, 9.0, 15.0],
        "Loss-pruning": [0.5, 1.5, 2.5],
        "Full-pruning": [0.1, 0.11, 0.1],
        OPTIMAL: [2.0, 2.0, 2.0],
    }
    holding = made_up("rows", (100_000, 300_000, 500_000), {"seconds": times})
    assert missing(experiment, holding) == []
    slow = altered(holding, OPTIMAL, "seconds", lambda seconds, _: 10 * seconds)
    assert missing(experiment, slow) == ["No-pruning takes longer than Optimal"]
    flat = altered(holding, "Loss-pruning", "seconds", lambda seconds, _: 1.0)
    assert missing(experiment, flat) == ["Loss-pruning's time grows with the records"]
    growing = altered(holding, "Full-pruning", "seconds", lambda seconds, place: seconds * 2**place)
    assert missing(experiment, growing) == ["Full-pruning's time stays within a factor of 2"]
    slowest = altered(holding, "Full-pruning", "seconds", lambda seconds, _: 20.0)
    assert missing(experiment, slowest) == ["Full-pruning takes least"]


def test_claims_about_times_by_the_number_of_values() -> None:
    experiment = find(["gb-7-edu"])[0]
    times = {
        "No-pruning": [0.2, 0.15, 0.1],
        "Loss-pruning": [0.05, 0.06, 0.07],
        "Full-pruning": [0.01, 0.011, 0.012],
        OPTIMAL: [1.0, 3.0, 40.0],
    }
    holding = made_up("gamma", (2, 8, 32), {"seconds": times})
    assert missing(experiment, holding) == []
    linear = altered(holding, OPTIMAL, "seconds", lambda _, place: 4.0**place)
    assert missing(experiment, linear) == ["Optimal's time grows ever faster"]
    falling = altered(holding, OPTIMAL, "seconds", lambda _, place: (16.0, 8.0, 5.0)[place])
    assert missing(experiment, falling) == [
        "Optimal's time grows more than that of the others",
        "Optimal's time grows ever faster",
    ]
    slow = altered(holding, "Full-pruning", "seconds", lambda seconds, _: 100 * seconds)
    assert missing(experiment, slow) == ["Full-pruning takes least"]
    growing = altered(holding, "No-pruning", "seconds", lambda seconds, place: seconds * 2**place)
    assert "No-pruning's time falls" in missing(experiment, growing)


def test_both_tables_have_every_experiment() -> None:
    assert len(gb.EXPERIMENTS) == 8
