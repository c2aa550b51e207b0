"""HG's experiments: each measures what its figures show, and each claim can hold and can fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.apps.papers import find, hg, hg_queries
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results, Row, Size
from lookalike.apps.papers.hg_queries import naive_bayes, recode, synthesize
from lookalike.data.microdata import Microdata
from tests.attacks.planting import coded

TINY = Size("tiny", rows=700, most_rows=2000, repetitions=1, queries=40)
QUICK_ONES = ("hg-8c", "hg-9b", "hg-10c", "hg-11a", "hg-11c")


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(Datasets(), TINY)


@pytest.mark.parametrize("name", QUICK_ONES)
def test_experiments_measure_what_they_draw(name: str, bench: Bench) -> None:
    (experiment,) = find([name])
    rows = list(experiment.measure(bench))
    assert {"HG", "groups"} <= {row["series"] for row in rows} or name == "hg-11c"
    for figure in experiment.figures:
        shown = [row for row in rows if row.get(figure.y) is not None]
        assert shown
        assert all(math.isfinite(row[figure.y]) for row in shown)
        assert len({row[figure.x] for row in shown}) > 1
    results = Results(tuple(rows))
    assert all(shape.test(results) in (True, False) for shape in experiment.shapes)


def test_losses_are_those_of_audited_releases(bench: Bench) -> None:
    data = bench.datasets.census(700)
    settings = [(beta, data, f"beta-likeness:{beta},bound=basic") for beta in (2, 4)]
    rows = list(hg.losses(bench, "beta", settings, hg.LIKENESS))
    assert {row["series"] for row in rows} == {"HG", "BuReL", "groups"}
    assert all(row["reached_beta"] <= row["beta"] for row in rows)
    assert all(0 < row["gcp"] < 1 for row in rows)
    impossible = [(60, data, "l-diversity:60")]
    assert not list(hg.losses(bench, "l", impossible, {"NH": "ring"}))


def fabricated(experiment: Experiment, heights: dict[str, float], slope: float) -> Results:
    """Series of the experiment as straight lines, on the points that the figure has."""
    points = {"l": (2, 4, 10), "columns": (2, 8), "beta": (1, 3, 5), "rows": (1000, 5000), "zipf": (0.5, 0.7, 0.9)}
    points |= {"part": (20, 400), "lambda": (1, 3), "selectivity": (0.05, 0.25), "reach": (0.0, 0.1, 1.0)}
    rows: list[Row] = []
    for figure in experiment.figures:
        for series, height in heights.items():
            for place, at in enumerate(points[figure.x]):
                rows.append({figure.x: at, "series": series, "repetition": 0, figure.y: height * (1 + slope * place)})
    return Results(tuple(rows))


ALL = (*hg.EXPERIMENTS, *hg_queries.EXPERIMENTS)


@pytest.mark.parametrize("experiment", ALL, ids=lambda one: one.name)
def test_every_claim_can_fail(experiment: Experiment) -> None:
    """Some straight lines contradict each claim: HG above all others, rising, falling, or flat."""
    series = ("HG", "GR", "SG", "NH", "BuReL", "groups", "PrivBayes", "most frequent value")
    tried = [
        fabricated(experiment, {one: (8.0 if one == top else 2.0) for one in series}, slope)
        for top in ("HG", "BuReL", "NH", "none")
        for slope in (-0.3, 0.0, 0.9)
    ]
    tried += [fabricated(experiment, {**dict.fromkeys(series, 2.0), "HG": 40.0}, 0.9)]
    for shape in experiment.shapes:
        assert not all(shape.test(results) for results in tried), shape.claim


def test_claims_hold_on_results_like_the_papers() -> None:
    (experiment,) = find(["hg-6a"])
    results = fabricated(experiment, {"HG": 0.4, "BuReL": 0.5, "groups": 0.3}, -0.2)
    assert all(shape.test(results) for shape in experiment.shapes)


def test_synthetic_records_have_the_originals_codes(bench: Bench) -> None:
    data = bench.datasets.census(400)
    made = synthesize(data, 3, 0)
    assert made.quasi.shape == data.quasi.shape
    assert made.domains is data.domains
    for column, domain in enumerate(data.domains.quasi):
        assert made.quasi[:, column].max() < domain.n_codes
    assert synthesize(data, 3, 0) is made


def test_codes_go_to_the_nearest_value() -> None:
    mine = coded([[1], [5], [9]], [0, 1, 2]).domains.quasi[0]
    theirs = coded([[2], [4], [30]], [0, 1, 2]).domains.quasi[0]
    assert recode(mine, np.array([0, 1, 2], dtype=np.int32), theirs).tolist() == [0, 1, 1]


def test_naive_bayes_learns_what_there_is_to_learn() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, 400)
    data = coded(np.stack((values, rng.integers(0, 3, 400)), axis=1), values)
    assert naive_bayes(data, data, smoothing=0.0, reach=0.0) == 1.0
    shuffled = Microdata(data.schema, data.domains, data.quasi, rng.permutation(data.sensitive), data.carried)
    assert naive_bayes(shuffled, data, smoothing=1.0, reach=0.0) < 0.6
