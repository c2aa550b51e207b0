"""BL's experiments: all measure something, and each claim holds on what the paper reports and fails on the contrary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest

from lookalike.apps.papers import bl, run
from lookalike.apps.papers.bl import attacks, closeness, doubts, guarantees, losses, methods, queries
from lookalike.apps.papers.bl.attacks import MEAN, MOST_FREQUENT, WORST
from lookalike.apps.papers.bl.closeness import NEAR
from lookalike.apps.papers.bl.methods import BUREL, PRINTED, SABRE, TMONDRIAN
from lookalike.apps.papers.bl.queries import BASELINE, PERTURBED
from lookalike.apps.papers.claims import Verdict
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results, Size
from lookalike.apps.papers.journal import Journal, Row
from lookalike.evaluation import charts

NAMES = [
    *(f"bl-{figure}" for figure in ("4a", "4b", "4c", "5a", "5b", "6a", "6b", "7a", "7b", "groups", "dependence")),
    *(f"bl-{number}{letter}" for number in (8, 9) for letter in "abcd"),
    *("bl-table", "bl-table-t", "bl-nb", "bl-definetti", "bl-similarity", "bl-minimality", "bl-theorem3"),
]
BY_NAME = {experiment.name: experiment for experiment in bl.EXPERIMENTS}
TINY = Size("tiny", rows=1200, most_rows=800, repetitions=1, queries=40)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(Datasets(None), TINY)


@pytest.fixture(scope="module")
def measured(bench: Bench) -> Iterator[Callable[[str], Results]]:
    """The results of an experiment at a few points, measured once."""

    @cache
    def results(name: str) -> Results:
        bench.journal = Journal()
        return Results(tuple(BY_NAME[name].measure(bench)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closeness, "TARGETS_T", (0.1,))
        patch.setattr(closeness, "TARGETS_AIL", (0.95,))
        patch.setattr(closeness, "STEPS", 4)
        patch.setattr(guarantees, "_TABLES", 2)
        patch.setattr(guarantees, "_RUNS", 10)
        patch.setattr(doubts, "_TABLES", 2)
        for part in (closeness, losses, queries, attacks, guarantees):
            patch.setattr(part, "BETAS", (1, 4))
        yield results


def test_every_figure_of_the_paper_has_its_name() -> None:
    assert [name for experiment in bl.EXPERIMENTS for name in experiment.names] == NAMES
    assert all(experiment.paper == "BL" for experiment in bl.EXPERIMENTS)


@pytest.mark.parametrize("name", BY_NAME)
def test_every_experiment_measures_something_finite_in_every_series_of_its_claims(
    name: str, measured: Callable[[str], Results]
) -> None:
    experiment, results = BY_NAME[name], measured(name)
    assert set(results.series) >= (set(_held(name).series) if experiment.claims else set())
    for figure in experiment.figures:
        for series in results.series:
            means = results.means(figure.x, figure.y, series)
            assert all(math.isfinite(number) and number >= 0 for number in means.values())
        assert any(results.means(figure.x, figure.y, series) for series in results.series)
        assert {point.series for point in figure.printed} <= set(results.series)
    for claim in experiment.claims:
        assert claim.test is not None
        assert claim.test(results).evidence


@pytest.mark.parametrize("name", BY_NAME)
def test_planning_counts_the_points_that_are_measured(
    name: str, bench: Bench, measured: Callable[[str], Results]
) -> None:
    rows = measured(name).rows
    planned = list(BY_NAME[name].measure(Bench(bench.datasets, TINY, is_planning=True)))
    assert [{key: row[key] for key in plan} for plan, row in zip(planned, rows, strict=True)] == planned


def test_another_run_with_the_same_seed_measures_the_same(bench: Bench, measured: Callable[[str], Results]) -> None:
    again = Bench(bench.datasets, TINY)
    for name in ("bl-8d", "bl-9d", "bl-minimality"):
        again.journal = Journal()
        assert tuple(BY_NAME[name].measure(again)) == measured(name).rows
    other = Bench(bench.datasets, TINY, seed=1)
    assert tuple(BY_NAME["bl-9d"].measure(other)) != measured("bl-9d").rows


def test_every_claim_says_where_and_what_and_why_it_may_fail() -> None:
    claims = [claim for experiment in bl.EXPERIMENTS for claim in experiment.claims]
    assert all(claim.where and claim.says.endswith(".") and claim.why for claim in claims)
    assert all(not claim.judged or claim.judged[0].islower() or claim.judged.startswith("AIL") for claim in claims)
    assert len({(claim.where, claim.says) for claim in claims}) == len(claims)
    # What is judged to speak against the paper whatever its data says so.
    assert all(claim.fails is not Verdict.REPRODUCED for claim in claims)
    assert all(statement.where and statement.says and statement.because for statement in bl.PAPER.statements)
    parts = (bl.PAPER.claimed, bl.PAPER.holds, bl.PAPER.fails, bl.PAPER.instead)
    assert all(part and len(part.split()) <= 70 for part in parts)


def test_our_own_methods_take_no_part() -> None:
    named = [*methods.GENERALIZED.values(), *methods.AS_PRINTED.values(), *methods.CLOSE.values()]
    assert not any(str(method).startswith("groups") for method in named)
    assert "reconstruction" in BY_NAME["bl-4a"].differs


def _rows(x: str, points: list[float], figures: dict[str, dict[str, list[float]]]) -> Results:
    """Made-up results: figures by name and series, point by point."""
    rows: dict[tuple[str, float], Row] = {}
    for figure, by_series in figures.items():
        for series, numbers in by_series.items():
            for at, number in zip(points, numbers, strict=False):
                rows.setdefault((series, at), {x: at, "series": series, "repetition": 0})[figure] = number
    return Results(tuple(rows.values()))


def _methods(burel: list[float], lmondrian: list[float], dmondrian: list[float]) -> dict[str, list[float]]:
    return {BUREL: burel, "LMondrian": lmondrian, "DMondrian": dmondrian}


def _reached(burel: float, sabre: float, tmondrian: float) -> dict[str, dict[str, list[float]]]:
    return {"reached_beta": {BUREL: [burel] * 3, SABRE: [sabre] * 3, TMONDRIAN: [tmondrian] * 3}}


def _errors(perturbation: list[float], baseline: list[float], fewer: float = 0) -> dict[str, dict[str, list[float]]]:
    return {
        "selectivity": {PERTURBED: [0.1, 0.2, 0.3] if perturbation[0] > perturbation[-1] else [0.1, 0.1, 0.1]},
        "error": {PERTURBED: perturbation, BASELINE: baseline},
        "kept_less": {PERTURBED: [0, 0, fewer]},
        "least_kept": {PERTURBED: [0.1, 0.2, 0.3 - fewer / 10]},
    }


QUICK_BUREL = _methods([1, 1, 1], [2, 2, 2], [2, 2, 2])
SLOW_BUREL = _methods([3, 3, 3], [2, 2, 2], [2, 2, 2])
HALF_AND_FALLING = _methods([0.5, 0.4, 0.3], [0.9, 0.8, 0.6], [1.0, 0.9, 0.7]) | {PRINTED: [0.5, 0.4, 0.3]}
MORE_AND_RISING = _methods([0.7, 0.8, 0.9], [0.45, 0.5, 0.6], [0.3, 0.35, 0.4]) | {PRINTED: [0.5, 0.4, 0.6]}
DOWN = _methods([3, 2, 1], [6, 5, 4], [9, 8, 7])
UP = _methods([1, 2, 3], [4, 5, 7], [7, 8, 10])
DOWN_UPSIDE_DOWN = _methods([9, 8.5, 8], [6, 4, 2], [5, 3, 1])
UP_UPSIDE_DOWN = _methods([7, 8, 9], [4, 5, 6], [1, 2, 3])
_AS_PRINTED = {
    "t": {WORST: [0.02, 0.09, 0.13, 0.16, 0.17], MEAN: [0.01, 0.04, 0.04, 0.04, 0.05]},
    "l": {WORST: [19.0, 11.0, 8.7, 7.2, 6.6], MEAN: [20.7, 15.9, 14.2, 13.6, 12.6]},
}
_OTHERWISE = {
    "t": {WORST: [0.5, 0.4, 0.3, 0.2, 0.1], MEAN: [0.5, 0.4, 0.3, 0.2, 0.1]},
    "l": {WORST: [1, 2, 3, 4, 5], MEAN: [1, 2, 3, 4, 5]},
}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # name: axis, results that show all claims, results that show none
    "bl-4a": ("beta", _reached(1, 2, 3), _reached(3, 2, 1)),
    "bl-4b": ("t", _reached(1, 2, 3), _reached(3, 2, 1)),
    "bl-4c": ("loss", _reached(1, 2, 3), _reached(3, 2, 1)),
    "bl-5a": (
        "beta",
        {"ail": HALF_AND_FALLING, "seconds": QUICK_BUREL},
        {"ail": MORE_AND_RISING, "seconds": SLOW_BUREL},
    ),
    "bl-6a": ("columns", {"ail": UP, "seconds": QUICK_BUREL}, {"ail": DOWN_UPSIDE_DOWN, "seconds": SLOW_BUREL}),
    "bl-7a": (
        "rows",
        {"ail": QUICK_BUREL, "seconds": UP},
        {"ail": DOWN_UPSIDE_DOWN | {BUREL: [9, 8, 7]}, "seconds": _methods([9, 8, 7], [5, 4, 3], [5, 4, 3])},
    ),
    "bl-8a": (
        "lambda",
        {"error": _methods([2, 3, 2], [4, 5, 4], [5, 6, 5])},
        {"error": _methods([9, 10, 20], [1, 2, 4], [1, 2, 3])},
    ),
    "bl-8b": ("beta", {"error": DOWN}, {"error": UP_UPSIDE_DOWN}),
    "bl-8c": ("columns", {"error": UP}, {"error": DOWN_UPSIDE_DOWN}),
    "bl-8d": ("theta", {"error": DOWN}, {"error": UP_UPSIDE_DOWN}),
    "bl-9a": ("lambda", _errors([3, 2, 1], [4, 3, 2]), _errors([3, 4, 5], [1, 2, 3])),
    "bl-9b": ("beta", _errors([3, 2, 1], [4, 4.2, 3.9]), _errors([3, 4, 5], [1, 2, 1], fewer=3)),
    "bl-9c": ("columns", _errors([2, 3, 2], [4, 5, 4]), _errors([2, 3, 4], [1, 2, 3])),
    "bl-9d": ("theta", _errors([3, 2, 1], [4, 3, 2]), _errors([3, 4, 5], [1, 2, 3])),
    "bl-table": ("beta", _AS_PRINTED, _OTHERWISE),
    "bl-nb": (
        "beta",
        {
            "right": {BUREL: [5, 4.5, 5.5], PERTURBED: [5, 4.5, 5.5], MOST_FREQUENT: [5, 5, 5]},
            "most_frequent_guessed": {BUREL: [90, 80, 60]},
        },
        {
            "right": {BUREL: [5, 5, 3.5], PERTURBED: [5, 5, 6.5], MOST_FREQUENT: [5, 5, 5]},
            "most_frequent_guessed": {BUREL: [90, 80, 40]},
        },
    ),
    "bl-definetti": ("beta", {"right": {BUREL: [3, 4, 5]}}, {"right": {BUREL: [5, 40, 4]}}),
    "bl-similarity": (
        "beta",
        {"certainty": {"a nervous disease": [50, 60, 70]}},
        {"certainty": {"a nervous disease": [50, 100, 100]}},
    ),
    "bl-minimality": ("table", {"certainty": {PRINTED: [1, 1, 1]}}, {"certainty": {PRINTED: [1, 3, 1]}}),
    "bl-theorem3": (
        "share",
        {"over_bound": {f"as printed, beta = {beta}": [0.8, 0.9, 1] for beta in (1, 2)}},
        {"over_bound": {f"as printed, beta = {beta}": [0.8, 0.9, 1.1] for beta in (1, 2)}},
    ),
}
POINTS: list[float] = [1, 2, 3, 4, 5]


def _held(name: str) -> Results:
    x, held, _ = CASES[name]
    return _rows(x, POINTS, held)


def _claims() -> Iterator[Any]:
    for name, experiment in BY_NAME.items():
        for number, claim in enumerate(experiment.claims):
            yield pytest.param(experiment, number, id=f"{name}: {claim.says}")


@pytest.mark.parametrize(("experiment", "number"), list(_claims()))
def test_every_claim_holds_on_what_the_paper_reports_and_fails_on_the_contrary(
    experiment: Experiment, number: int
) -> None:
    x, held, broken = CASES[experiment.name]
    test = experiment.claims[number].test
    assert test is not None
    assert test(_rows(x, POINTS, held)).holds is True
    assert test(_rows(x, POINTS, broken)).holds is False
    assert not test(Results(())).holds


def test_a_claim_about_all_points_fails_at_one() -> None:
    (below,) = (claim.test for claim in BY_NAME["bl-9d"].claims if "better than Baseline" in claim.says)
    assert below is not None
    assert below(_rows("theta", POINTS, _errors([3, 2, 1], [4, 3, 2]))).holds
    assert not below(_rows("theta", POINTS, _errors([3, 3.5, 1], [4, 3, 2]))).holds


def test_what_is_said_to_be_half_fails_on_both_sides() -> None:
    claims = [claim for claim in BY_NAME["bl-5a"].claims if "half" in claim.says]
    assert len(claims) == 3
    for factor in (0.1, 1.0):
        other = [1.0, 1.0, 1.0]
        mine = [factor] * 3
        found = _rows("beta", POINTS, {"ail": _methods(mine, other, other), "seconds": _methods(mine, other, other)})
        for claim in claims:
            assert claim.test is not None
            assert claim.test(found).holds is False


def test_naive_bayes_may_be_off_by_a_point_above_and_below() -> None:
    for right, holds in ((3.9, False), (4.1, True), (5.9, True), (6.1, False)):
        found = _rows("beta", POINTS, {"right": {BUREL: [5, right], MOST_FREQUENT: [5, 5]}})
        assert attacks.stays_close(BUREL)(found).holds is holds
        assert attacks.stays_close(BUREL, below=False)(found).holds is (right < 6)


def test_a_release_of_one_group_has_no_point_on_a_logarithmic_axis() -> None:
    (figure,) = BY_NAME["bl-4a"].figures
    results = _rows("beta", POINTS, {"reached_beta": {BUREL: [1, 2], TMONDRIAN: [0, 3]}})
    picture = run.draw_figure(figure, run.Reproduced(BY_NAME["bl-4a"], results, (), "tiny", ()))
    told = [text for text in ElementTree.fromstring(charts.svg(picture)).itertext() if "; " in text]
    places = [(text.partition("series: ")[2], text.partition(";")[0]) for text in told]
    assert places == [(BUREL, "beta: 1"), (BUREL, "beta: 2"), (TMONDRIAN, "beta: 2")]


def test_the_claims_of_t_closeness_are_measured_as_they_say(measured: Callable[[str], Results]) -> None:
    at_ours, at_t, at_loss = measured("bl-4a"), measured("bl-4b"), measured("bl-4c")
    for beta in (1, 4):
        ours = next(row for row in at_ours.rows if row["series"] == BUREL and row["beta"] == beta)
        for row in at_ours.rows:
            if row["beta"] == beta and row["series"] in (SABRE, TMONDRIAN):
                assert row["ordered_t"] <= ours["ordered_t"] + 1e-5
            if row["beta"] == beta and row["series"].endswith("equal distance"):
                assert row["reached_t"] <= ours["reached_t"] + 1e-5
    assert all(row["ordered_t"] <= row["t"] for row in at_t.rows if "infeasible" not in row)
    kept = [row for row in at_loss.rows if "infeasible" not in row]
    assert kept
    least = min(row["ail"] for row in kept if row["series"] == BUREL)
    for row in kept:
        assert least <= row["ail"] <= row["loss"] + NEAR
