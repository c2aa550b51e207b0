"""Experiments of MA: what they measure on a tiny table, and that each claim can hold and can fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.apps.papers.claims import Verdict
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results
from lookalike.apps.papers.journal import Row
from lookalike.apps.papers.ma import EXPERIMENTS, PAPER
from lookalike.apps.papers.ma.closeness import CLOSENESS, KINDS
from lookalike.apps.papers.ma.data import CRAFT, POSITIVES, QUASI, TECH, binary, positive, table
from lookalike.apps.papers.ma.exact import (
    DIVIDED,
    FULL_PAIR,
    GREEDY,
    HALF_PAIR,
    LIMITS,
    LONG,
    MONDRIAN,
    ONE,
    SIMPLE,
    STRICT,
    TWO,
    divide,
    risk_of_parts,
)
from lookalike.apps.papers.ma.risk import ALONG_CURVE, DEALINGS, RANDOMIZED, name_sampled
from lookalike.apps.papers.ma.risk import GREEDY as BY_L
from lookalike.metrics.shared.group_sizes import group_sizes
from tests.apps.papers.measuring import TINY, has_figures, measured, stand_ins

ELLS, COINS, TS = (2, 4, 6, 10), (0.0, 0.2, 0.4, 0.6, 0.65), (0.2, 0.3, 0.5)


def found(experiment: Experiment, results: Results) -> dict[str, bool | None]:
    """What these results say about each claim."""
    return {claim.says: claim.test(results).holds for claim in experiment.claims if claim.test is not None}


def failing(experiment: Experiment, results: Results) -> list[str]:
    return [says for says, holds in found(experiment, results).items() if holds is not True]


def rows(x: str, points: tuple[float, ...], series: str, **figures: list[float]) -> list[Row]:
    return [
        {x: point, "series": series, "repetition": 0, **{name: values[place] for name, values in figures.items()}}
        for place, point in enumerate(points)
    ]


def changed(results: Results, series: str, **figures: Callable[[float], float]) -> Results:
    """The same with some figures of a series changed."""
    made = []
    for row in results.rows:
        if row["series"] == series:
            row = {**row, **{name: change(row[name]) for name, change in figures.items() if name in row}}
        made.append(row)
    return Results(tuple(made))


def test_each_figure_of_the_paper_has_an_experiment_and_each_claim_a_place_and_words() -> None:
    names = {figure for experiment in EXPERIMENTS for figure in experiment.names}
    assert {f"ma-{number}{letter}" for number in (3, 4, 5) for letter in "abcd"} < names
    claims = [claim for experiment in EXPERIMENTS for claim in experiment.claims]
    assert len(claims) + len(PAPER.claims) == 56
    assert len(PAPER.statements) == 28
    for claim in (*claims, *PAPER.claims):
        assert claim.where
        assert claim.says.endswith(".")
        assert claim.judged[:1].islower() or claim.judged[:2] in ("", "SG")
        # Only what may not fail needs no reason.
        assert claim.why or claim.fails is Verdict.AGAINST
    assert all(claim.why for claim in PAPER.claims)


def planned(experiment: Experiment, most: int) -> list[Row]:
    bench = Bench(stand_ins(), TINY, is_planning=True)
    return [row for _, row in zip(range(most), experiment.measure(bench), strict=False)]


@pytest.mark.parametrize(
    ("experiment", "most"),
    [(BY_L, 10), (CLOSENESS, 8), (RANDOMIZED, 4), (LIMITS, 27), (SIMPLE, 2), (DIVIDED, 4), (MONDRIAN, 16)],
    ids=lambda value: value.name if isinstance(value, Experiment) else "",
)
def test_they_measure_the_points_that_they_plan(experiment: Experiment, most: int) -> None:
    done = measured(experiment, most)
    has_figures(experiment, [row for row in done if "infeasible" not in row])
    points = planned(experiment, most)
    assert [{name: row[name] for name in point} for point, row in zip(points, done, strict=True)] == points
    for claim in experiment.claims:
        assert claim.test is not None
        assert claim.test(Results(tuple(done))).evidence


def test_a_promise_that_the_table_cannot_keep_is_a_row() -> None:
    bench = Bench(stand_ins(), TINY)
    data = table(bench)
    row = bench.row({"l": 400}, lambda: {"made": str(bench.publish(data, binary(data, CRAFT, 400), "anatomy", 0))})
    assert "infeasible" in row


def test_without_adult_census_is_used_and_said() -> None:
    datasets = Datasets()
    data = table(Bench(datasets, TINY))
    assert [domain.name for domain in data.domains.quasi] == list(QUASI)
    assert any(source.stands_in for source in datasets.used.values())
    counts = data.counts(0)
    assert counts[positive(data, CRAFT)[0]] == counts.max()
    assert counts[positive(data, TECH)[0]] < counts.max()


def test_divided_groups_hold_different_values_and_are_hardly_larger_than_l() -> None:
    data = table(Bench(stand_ins(), TINY))
    made, grown, parts = divide(data, "l-diversity:4", RandomGrouping(p="0.65", recode="permute"), seed=3)
    assert made.audit.passed
    sizes = group_sizes(made.release)
    assert sizes.sum() == data.n_rows
    assert sizes.min() >= 4
    assert sizes.mean() < 6
    assert np.array_equal(np.bincount(made.release.sensitive[:, 0]), np.bincount(data.sensitive[:, 0]))
    assert len(parts) == len(grown.order)


def test_dividing_greedy_groups_makes_the_attack_worse() -> None:
    data = table(Bench(stand_ins(), TINY))
    _, grown, parts = divide(data, binary(data, CRAFT), RandomGrouping(p="0", recode="permute"), seed=1)
    divided = risk_of_parts(data, grown, parts, positive(data, CRAFT)[0], 6, 0.0)
    assert divided["risk"] > 2.4883
    assert divided["records_attacked"] > 0


def by_l() -> Results:
    made = rows("l", ELLS, TECH, vulnerable=[0.2, 1, 2, 4], risk=[2, 2.3, 2.52, 2.5])
    made += rows("l", ELLS, CRAFT, vulnerable=[3, 8, 15, 19], risk=[2, 2.3, 2.70, 2.5])
    for series in POSITIVES:
        made += rows("l", ELLS, name_sampled(series, DEALINGS[-1]), risk=[2, 2.4, 2.6, 2.6])
    for series in ALONG_CURVE:
        made += rows("l", ELLS, series, vulnerable=[1, 2, 3, 19])
    return Results(tuple(made))


def test_claims_about_greedy_grouping() -> None:
    holding = by_l()
    assert failing(BY_L, holding) == []
    says = [claim.says for claim in BY_L.claims]
    many = changed(
        changed(holding, TECH, vulnerable=lambda share: 9 + share), CRAFT, vulnerable=lambda share: share + 8
    )
    assert failing(BY_L, many) == says[:2]
    # One order alone does not decide.
    assert found(BY_L, many)[says[1]] is None
    assert found(BY_L, changed(many, [*ALONG_CURVE][1], vulnerable=lambda share: 2 * share))[says[1]] is False
    assert failing(BY_L, changed(holding, TECH, vulnerable=lambda share: 5 - share)) == [says[2]]
    assert failing(BY_L, changed(holding, CRAFT, vulnerable=lambda share: 20 - share)) == [says[3]]
    for wrong in (1.9, 2.8):
        beyond = changed(holding, name_sampled(TECH, DEALINGS[-1]), risk=lambda risk, wrong=wrong: wrong)
        assert failing(BY_L, beyond) == [says[4]]
    assert failing(BY_L, changed(holding, TECH, risk=lambda risk: risk - 0.04)) == [says[5]]
    assert failing(BY_L, changed(holding, CRAFT, risk=lambda risk: risk + 0.04)) == [says[6]]


def test_claims_about_closeness_need_all_readings() -> None:
    made = []
    for series in KINDS:
        made += rows("t", TS, series, vulnerable=[2, 1, 0.5], risk=[1.8] * 3, risk_for_sure=[1.5] * 3)
    holding = Results(tuple(made))
    assert failing(CLOSENESS, holding) == []
    says = [claim.says for claim in CLOSENESS.claims]
    wrong = {
        says[0]: {"vulnerable": lambda share: 2 * share},
        says[1]: {"vulnerable": lambda share: 2.5 - share},
        says[2]: {"risk": lambda risk: 2.2, "risk_for_sure": lambda risk: 2.1},
    }
    for claim, change in wrong.items():
        one = changed(holding, KINDS[0], **change)
        assert found(CLOSENESS, one)[claim] is None
        every_one = holding
        for series in KINDS:
            every_one = changed(every_one, series, **change)
        assert found(CLOSENESS, every_one)[claim] is False
    noisy = holding
    for series in KINDS:
        noisy = changed(noisy, series, risk=lambda risk: 2.2)
    assert found(CLOSENESS, noisy)[says[2]] is None


def by_coin() -> Results:
    extra = [0, 1.25, 1 / 0.6, 2.5, 1 / 0.35]
    figures: dict[str, list[float]] = {"error": [34, 34.2, 34.4, 35, 35.5]}
    tech = rows(
        "p",
        COINS,
        TECH,
        vulnerable=[4, 3, 1, 0, 0],
        risk=[2.4, 1.9, 1.5, 1, 1],
        group_size=[60, 60, 60, 60, 60],
        **figures,
    )
    for row, more in zip(tech, extra, strict=True):
        row["group_size"] += 6 * more
    craft = rows(
        "p",
        COINS,
        CRAFT,
        vulnerable=[9, 6, 3, 1, 0],
        risk=[2.4, 2, 1.6, 1.37, 1],
        group_size=[50, 52, 54, 58, 60],
        **figures,
    )
    return Results((*tech, *craft))


@pytest.mark.parametrize(
    ("series", "change", "claims"),
    [
        (TECH, {"vulnerable": lambda share: 4.0 if share else 0.0}, [0]),
        (CRAFT, {"vulnerable": lambda share: 9.0 if share else 0.0}, [1]),
        (TECH, {"vulnerable": lambda share: share + 0.001}, [2, 3, 12]),
        (CRAFT, {"vulnerable": lambda share: max(share, 0.5)}, [3, 12]),
        (TECH, {"risk": lambda risk: 2.5 if risk == 1.9 else risk}, [4, 5]),
        (TECH, {"risk": lambda risk: risk if risk in (2.4, 1) else 2.0}, [5]),
        (CRAFT, {"risk": lambda risk: 1.5 if risk == 1.37 else risk}, [6]),
        (CRAFT, {"risk": lambda risk: 1.25 if risk == 1.37 else risk}, [6]),
        (TECH, {"risk": lambda risk: max(risk, 1.01)}, [7, 8]),
        (CRAFT, {"risk": lambda risk: max(risk, 1.3)}, [8]),
        (CRAFT, {"group_size": lambda size: size if size == 50 else 80}, [9]),
        (TECH, {"group_size": lambda size: 60 + (size - 60) * 0.65}, [10]),
        (TECH, {"error": lambda error: error if error == 34 else 45}, [11, 12]),
        (CRAFT, {"error": lambda error: error if error == 34 else 38}, [12]),
    ],
)
def test_claims_about_random_grouping(
    series: str, change: dict[str, Callable[[float], float]], claims: list[int]
) -> None:
    holding = by_coin()
    assert failing(RANDOMIZED, holding) == []
    says = [claim.says for claim in RANDOMIZED.claims]
    assert failing(RANDOMIZED, changed(holding, series, **change)) == [says[claim] for claim in claims]


def test_claims_by_arithmetic() -> None:
    made = rows("l", (2, 6), LONG, risk=[2, 2.71]) + rows("l", (2, 6), FULL_PAIR, risk=[1.1, 1.1])
    holding = Results((*made, *rows("l", (2, 6), HALF_PAIR, risk=[1.01, 1.01])))
    assert failing(LIMITS, holding) == []
    says = [claim.says for claim in LIMITS.claims]
    assert failing(LIMITS, changed(holding, LONG, risk=lambda risk: min(risk, 2.6))) == says[:1]
    assert failing(LIMITS, changed(holding, HALF_PAIR, risk=lambda risk: 0.5)) == says[1:]
    # What is measured needs no data: both fail.
    assert failing(LIMITS, Results(tuple(measured(LIMITS)))) == says


def test_claims_about_mondrian() -> None:
    made = rows("l", (2, 3), ONE, risk=[4 / 3, 1.2]) + rows("l", (2, 3), TWO, risk=[4 / 3, 1.2])
    made += rows("l", (2, 3), STRICT, risk=[2, 2]) + rows("l", (2, 3), GREEDY, risk=[2, 2])
    holding = Results(tuple(made))
    assert failing(MONDRIAN, holding) == []
    says = [claim.says for claim in MONDRIAN.claims]
    assert failing(MONDRIAN, changed(holding, TWO, risk=lambda risk: 1.5 * risk)) == says[:3]
    assert failing(MONDRIAN, changed(holding, STRICT, risk=lambda risk: 1)) == [says[1]]
    assert failing(MONDRIAN, changed(holding, STRICT, risk=lambda risk: 3)) == [says[3]]
    # On the tiny tables: a second column reveals a value with certainty, one column never.
    tiny = Results(tuple(measured(MONDRIAN)))
    assert failing(MONDRIAN, tiny) == says
    assert tiny.means("l", "risk", TWO) == pytest.approx({ell: ell for ell in (2, 3, 4, 6)})
    assert tiny.means("l", "risk", ONE) == pytest.approx({ell: ell / (ell - 0.5) for ell in (2, 3, 4, 6)})


@pytest.mark.parametrize(
    ("experiment", "x", "series", "y"),
    [(DIVIDED, "p", POSITIVES, "risk"), (SIMPLE, "l", ("ADULT", "CENSUS"), "risk_for_sure")],
)
def test_claims_about_e(experiment: Experiment, x: str, series: tuple[str, ...], y: str) -> None:
    holding = Results(tuple(row for one in series for row in rows(x, (2, 3), one, **{y: [2, 2.5]})))
    assert failing(experiment, holding) == []
    assert failing(experiment, changed(holding, series[-1], **{y: lambda risk: 3})) == [experiment.claims[0].says]
