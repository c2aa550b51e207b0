"""BL's experiments: all measure something, their claims can hold and can fail, and what is new in them is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.analysis.counts import estimate_counts
from lookalike.apps.papers import bl, bl_queries, find, run
from lookalike.apps.papers.bl import DEFAULT, NEAR, search_farthest
from lookalike.apps.papers.bl_queries import clip_answers, measure_levels
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results, Row, Size
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import Grouped, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.evaluation import charts
from lookalike.metrics.query_error import RangeWorkload

NAMES = [
    *(f"bl-{figure}" for figure in ("4a", "4b", "4c", "5a", "5b", "6a", "6b", "7a", "7b")),
    *(f"bl-{number}{letter}" for number in (8, 9) for letter in "abcd"),
    "bl-table",
    "bl-nb",
]
BY_NAME = {experiment.name: experiment for experiment in find(["bl"])}
TINY = Size("tiny", rows=1200, most_rows=800, repetitions=1, queries=40)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(Datasets(None), TINY)


@pytest.fixture(scope="module")
def measured(bench: Bench) -> Iterator[Callable[[str], Results]]:
    """The results of an experiment at a few points, measured once."""

    @cache
    def results(name: str) -> Results:
        return Results(tuple(BY_NAME[name].measure(bench)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bl, "TARGETS_T", (0.4,))
        patch.setattr(bl, "TARGETS_AIL", (0.95,))
        patch.setattr(bl, "STEPS", 4)
        for part in (bl, bl_queries):
            patch.setattr(part, "BETAS", (1, 4))
        yield results


def test_every_figure_of_the_paper_has_its_name() -> None:
    assert [name for experiment in find(["BL"]) for name in experiment.names] == NAMES
    assert find(["bl-6b"]) == [BY_NAME["bl-6a"]]


@pytest.mark.parametrize("name", BY_NAME)
def test_every_experiment_measures_something_finite_in_every_series_of_its_claims(
    name: str, measured: Callable[[str], Results]
) -> None:
    experiment, results = BY_NAME[name], measured(name)
    assert "not at hand" in experiment.differs
    assert set(results.series) >= set(_held(name).series)
    for figure in experiment.figures:
        for series in results.series:
            means = results.means(figure.x, figure.y, series)
            assert means
            assert all(math.isfinite(number) and number >= 0 for number in means.values())
    assert all(isinstance(shape.test(results), bool) for shape in experiment.shapes)


def _rows(x: str, figures: dict[str, dict[str, list[float]]]) -> Results:
    """Made-up results: figures by name and series, at 1, 2, 3 ..."""
    rows: dict[tuple[str, int], Row] = {}
    for figure, by_series in figures.items():
        for series, numbers in by_series.items():
            for at, number in enumerate(numbers, start=1):
                rows.setdefault((series, at), {x: at, "series": series, "repetition": 0})[figure] = number
    return Results(tuple(rows.values()))


def _methods(burel: list[float], lmondrian: list[float], dmondrian: list[float]) -> dict[str, list[float]]:
    return {"BUREL": burel, "LMondrian": lmondrian, "DMondrian": dmondrian}


def _reached(burel: float, sabre: float, tmondrian: float) -> dict[str, dict[str, list[float]]]:
    return {"reached_beta": {"BUREL": [burel] * 3, "SABRE": [sabre] * 3, "tMondrian": [tmondrian] * 3}}


def _errors(perturbation: list[float], baseline: list[float]) -> dict[str, dict[str, list[float]]]:
    return {"error": {"perturbation": perturbation, "Baseline": baseline}}


def _levels(t: list[float], ell: list[float], allowed: float) -> dict[str, dict[str, list[float]]]:
    return {
        "t": {"BUREL": t},
        "avg t": {"BUREL": [number / 2 for number in t]},
        "l": {"BUREL": ell},
        "avg l": {"BUREL": [number * 2 for number in ell]},
        "least l allowed": {"BUREL": [allowed] * 3},
    }


QUICK_BUREL = _methods([1, 1, 1], [2, 2, 2], [2, 2, 2])
SLOW_BUREL = _methods([3, 3, 3], [2, 2, 2], [2, 2, 2])
DOWN = _methods([3, 2, 1], [6, 5, 4], [9, 8, 7])
UP = _methods([1, 2, 3], [4, 5, 7], [7, 8, 10])
DOWN_UPSIDE_DOWN = _methods([9, 8, 7], [6, 4, 2], [3, 2, 1])
UP_UPSIDE_DOWN = _methods([7, 8, 9], [4, 5, 6], [1, 2, 3])
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # name: axis, results that show all claims, results that show none
    "bl-4a": ("beta", _reached(1, 2, 3), _reached(3, 2, 1)),
    "bl-4b": ("t", _reached(1, 2, 3), _reached(3, 2, 1)),
    "bl-4c": ("loss", _reached(1, 2, 3), _reached(3, 2, 1)),
    "bl-5a": ("beta", {"ail": DOWN, "seconds": QUICK_BUREL}, {"ail": UP_UPSIDE_DOWN, "seconds": SLOW_BUREL}),
    "bl-6a": ("columns", {"ail": UP, "seconds": QUICK_BUREL}, {"ail": DOWN_UPSIDE_DOWN, "seconds": SLOW_BUREL}),
    "bl-7a": (
        "rows",
        {"ail": QUICK_BUREL | {"DMondrian": [3, 3, 3]}, "seconds": UP},
        {"ail": DOWN_UPSIDE_DOWN, "seconds": _methods([9, 8, 7], [5, 4, 3], [5, 4, 3])},
    ),
    "bl-8a": (
        "lambda",
        {"error": _methods([2, 3, 2], [4, 4, 4], [5, 5, 5])},
        {"error": _methods([2, 3, 4], [1, 1, 1], [5, 5, 5])},
    ),
    "bl-8b": ("beta", {"error": DOWN}, {"error": UP_UPSIDE_DOWN}),
    "bl-8c": ("columns", {"error": UP}, {"error": DOWN_UPSIDE_DOWN}),
    "bl-8d": ("theta", {"error": DOWN}, {"error": UP_UPSIDE_DOWN}),
    "bl-9a": ("lambda", _errors([3, 2, 1], [4, 3, 2]), _errors([3, 4, 5], [1, 2, 3])),
    "bl-9b": ("beta", _errors([3, 2, 1], [4, 4.2, 3.9]), _errors([3, 4, 5], [1, 2, 1])),
    "bl-9c": ("columns", _errors([2, 3, 2], [4, 4, 4]), _errors([2, 3, 4], [1, 1, 1])),
    "bl-9d": ("theta", _errors([3, 2, 1], [4, 3, 2]), _errors([3, 4, 5], [1, 2, 3])),
    "bl-table": ("beta", _levels([1, 2, 3], [9, 8, 7], allowed=6), _levels([3, 2, 1], [7, 8, 9], allowed=10)),
    "bl-nb": (
        "beta",
        {"right": {"BUREL": [5, 5, 5.5], "most frequent value": [5, 5, 5]}},
        {"right": {"BUREL": [5, 5, 6.5], "most frequent value": [5, 5, 5]}},
    ),
}


def _held(name: str) -> Results:
    x, held, _ = CASES[name]
    return _rows(x, held)


def _claims() -> Iterator[Any]:
    for name, experiment in BY_NAME.items():
        for number, shape in enumerate(experiment.shapes):
            yield pytest.param(experiment, number, id=f"{name}: {shape.claim}")


@pytest.mark.parametrize(("experiment", "number"), list(_claims()))
def test_every_claim_holds_on_what_the_paper_reports_and_fails_on_the_contrary(
    experiment: Experiment, number: int
) -> None:
    x, held, broken = CASES[experiment.name]
    test = experiment.shapes[number].test
    assert test(_rows(x, held))
    assert not test(_rows(x, broken))
    assert not test(Results(()))


def test_a_claim_about_all_points_fails_at_one() -> None:
    (below,) = (shape for shape in BY_NAME["bl-9d"].shapes if "Baseline" in shape.claim and "better" in shape.claim)
    assert below.test(_rows("theta", _errors([3, 2, 1], [4, 3, 2])))
    assert not below.test(_rows("theta", _errors([3, 3.5, 1], [4, 3, 2])))


def test_a_release_of_one_group_has_no_point_on_a_logarithmic_axis() -> None:
    (figure,) = BY_NAME["bl-4a"].figures
    results = _rows("beta", {"reached_beta": {"BUREL": [1, 2], "tMondrian": [0, 3]}})
    picture = run.draw_figure(figure, run.Reproduced(BY_NAME["bl-4a"], results, "stand-in", "tiny", ()))
    told = [text for text in ElementTree.fromstring(charts.svg(picture)).itertext() if "; " in text]
    places = [(text.partition("series: ")[2], text.partition(";")[0]) for text in told]
    assert places == [("BUREL", "beta: 1"), ("BUREL", "beta: 2"), ("tMondrian", "beta: 2")]


def test_the_claims_of_t_closeness_are_measured_as_they_say(measured: Callable[[str], Results]) -> None:
    at_ours, at_t, at_loss = measured("bl-4a"), measured("bl-4b"), measured("bl-4c")
    for series in ("SABRE", "tMondrian"):
        assert at_ours.below("beta", "reached_t", series, "BUREL", slack=1e-5)
        assert at_loss.below("loss", "ail", "BUREL", series)
    assert all(row["reached_t"] <= row["t"] for row in at_t.rows)
    assert all(row["ail"] <= row["loss"] + NEAR for row in at_loss.rows)
    assert all(row["ail"] <= row["loss"] for row in at_loss.rows if row["series"] == "BUREL")


@given(st.floats(0.2, 7.9), st.booleans())
def test_halving_finds_the_last_good_parameter(threshold: float, down: bool) -> None:
    near, far = (8.0, 0.1) if down else (0.1, 8.0)

    def good(made: Any) -> bool:
        return bool(made.at >= threshold if down else made.at <= threshold)

    found: Any = search_farthest(lambda at: SimpleNamespace(at=at), good, near, far)  # type: ignore[arg-type, return-value]
    assert good(found)
    assert abs(found.at - threshold) <= 7.9 / 2**bl.STEPS + 1e-5


def test_halving_ends_where_all_is_good_and_gives_up_where_nothing_is() -> None:
    def make(at: float) -> Any:
        return SimpleNamespace(at=at)

    everything: Any = search_farthest(make, lambda made: True, 1.0, 5.0)
    assert everything.at == 5.0
    assert search_farthest(make, lambda made: False, 1.0, 5.0) is None


def test_levels_of_a_release_of_two_groups() -> None:
    """Groups {a, b} and {a, a, a, c} of a table with a 4, b 1, c 1."""
    ages, values = np.array([0, 0, 1, 1, 1, 1], dtype=np.int32), np.array([0, 1, 0, 0, 0, 2], dtype=np.int32)
    table = Table(
        (
            Column("age", ValueType.INTEGER, ages, np.array([30, 40])),
            Column("value", ValueType.STRING, values, np.array(["a", "b", "c"], dtype=object)),
        )
    )
    schema = Schema(
        (
            Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC),
            Attribute(name="value", role=Role.SENSITIVE, kind=Kind.CATEGORICAL),
        )
    )
    data = Microdata.encode(table, schema)
    release = Grouped(
        domains=data.domains,
        extents=(cover(data.domains.quasi[0], data.quasi[:, 0], ages, 2),),
        group_of_row=ages,
        sensitive=data.sensitive,
        carried=data.carried,
    )
    levels = measure_levels(data, release, 4)
    assert levels["groups"] == 2
    # Gains of the groups against 4/6, 1/6, 1/6: b by 1/3; a and c by 1/12 each.
    assert levels["t"] == pytest.approx(1 / 3)
    assert levels["avg t"] == pytest.approx((1 / 3 + 1 / 6) / 2)
    assert levels["ordered t"] == pytest.approx(1 / 6)
    assert levels["l"] == pytest.approx(4 / 3)
    assert levels["avg l"] == pytest.approx((2 + 4 / 3) / 2)


def test_reconstructed_counts_stay_within_what_the_quasi_identifiers_select(bench: Bench) -> None:
    data = bench.datasets.census(1000, DEFAULT)
    made = bench.publish(data, "beta-likeness:2", "perturbation", seed=1)
    asked = bench.draw_queries(RangeWorkload(3, 0.05), data, seed=1, n_queries=200)
    plain, within = estimate_counts(asked.queries, made.release).counts, clip_answers(asked, made).counts
    selected = np.array(
        [
            np.all([mask[query, data.quasi[:, place]] for place, mask in enumerate(asked.queries.quasi)], axis=0).sum()
            for query in range(len(asked.truth))
        ]
    )
    assert (plain < 0).any()
    assert (plain > selected).any()
    assert np.allclose(within, np.clip(plain, 0, selected))
