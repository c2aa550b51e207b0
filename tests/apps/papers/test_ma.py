"""Experiments of MA: what they measure on a tiny stand-in, and that each claim can hold and can fail."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.apps.papers import find
from lookalike.apps.papers.experiments import Bench, Results
from lookalike.apps.papers.ma import FREQUENT, QUASI, RARE, anatomize, census
from lookalike.attacks.minimality.exact import first_bucket_limit
from lookalike.metrics.shared.group_sizes import group_sizes
from tests.apps.papers.measuring import TINY, altered, has_figures, made_up, measured, missing, shown, stand_ins

BOTH = (RARE, FREQUENT)
COINS = (0.0, 0.2, 0.4, 0.6, 0.65)


def test_figures_are_found_by_name() -> None:
    names = {f"ma-{number}{letter}" for number in (3, 4, 5) for letter in "abcd"}
    assert {name for experiment in find(["ma"]) for name in experiment.names} == names


@pytest.mark.parametrize(("name", "most"), [("ma-3a", 6), ("ma-3c", 1), ("ma-4a", 4), ("ma-5a", 20), ("ma-5b", 10)])
def test_they_measure(name: str, most: int) -> None:
    (experiment,) = find([name])
    rows = measured(experiment, most)
    has_figures(experiment, rows)


def test_every_point_of_the_coin_is_measured_for_both_values() -> None:
    (experiment,) = find(["ma-4c"])
    rows = measured(experiment)
    assert [(row["p"], row["series"]) for row in rows] == [(p, series) for p in COINS for series in BOTH]
    assert all(isinstance(holds, bool) for holds in shown(experiment, Results(tuple(rows))).values())


def test_positive_values_have_about_the_shares_they_are_named_by() -> None:
    data = census(Bench(stand_ins(), TINY))
    assert [domain.name for domain in data.domains.quasi] == list(QUASI)
    rows = measured(find(["ma-3a"])[0], most=2)
    assert [row["series"] for row in rows] == [RARE, FREQUENT]
    # Of a value that is more frequent, more groups must grow.
    assert rows[0]["group_size"] < rows[1]["group_size"]


def test_divided_groups_hold_different_values_and_are_hardly_larger_than_l() -> None:
    data = census(Bench(stand_ins(), TINY))
    made = anatomize(data, "l-diversity:4", RandomGrouping(p="0.65", recode="permute"), seed=3)
    assert made.audit.passed
    assert made.diversity >= 4
    sizes = group_sizes(made.release)
    assert sizes.sum() == data.n_rows
    assert sizes.min() >= 4
    assert sizes.mean() < 6
    assert np.array_equal(np.bincount(made.release.sensitive[:, 0]), np.bincount(data.sensitive[:, 0]))


def test_claims_about_the_attack_by_l() -> None:
    (experiment,) = find(["ma-3a"])
    holding = by_l({RARE: [0.2, 3, 7], FREQUENT: [0.4, 9, 19]}, {RARE: [2, 2.3, 2.5], FREQUENT: [2, 2.4, 2.55]})
    assert missing(experiment, holding) == []
    many = altered(holding, RARE, "vulnerable", lambda share, _: share + 10)
    assert missing(experiment, many) == ["mostly below 10 % of the records are vulnerable"]
    falling = altered(holding, RARE, "vulnerable", lambda share, place: 8 - place)
    assert missing(experiment, falling) == ["the vulnerable records rise with l"]


@pytest.mark.parametrize("risk", [1.9, 2.52, 2.7])
def test_a_risk_beyond_what_is_possible_is_not_shown(risk: float) -> None:
    """The paper's figures at l = 6 are among them."""
    (experiment,) = find(["ma-3b"])
    claim = "l times the largest risk lies between 2 and (l/(l-1))^(l-1)"
    limits = [float(first_bucket_limit(ell)) for ell in (2, 6, 10)]
    holding = by_l({one: [1, 2, 3] for one in BOTH}, dict.fromkeys(BOTH, limits))
    assert shown(experiment, holding)[claim]
    assert not shown(experiment, altered(holding, RARE, "risk", lambda known, at: risk if at == 1 else known))[claim]


def by_l(vulnerable: dict[str, list[float]], risk: dict[str, list[float]]) -> Results:
    shares = made_up("l", (2, 6, 10), {"vulnerable": vulnerable}).rows
    risks = made_up("l", (2, 6, 10), {"risk": risk}).rows
    return Results(tuple({**one, **other, "standard_error": 0.0} for one, other in zip(shares, risks, strict=True)))


def test_claims_about_the_attack_by_t() -> None:
    (experiment,) = find(["ma-3d"])
    rows = [
        {"t": t, "series": "GG", "repetition": 0, "vulnerable": share, "risk": 1.8}
        for t, share in ((0.3, 2.0), (0.4, 1.0), (0.5, 0.5))
    ]
    holding = Results(tuple(rows))
    assert missing(experiment, holding) == []
    many = altered(holding, "GG", "vulnerable", lambda share, _: 2 * share)
    assert missing(experiment, many) == ["about 2 % of the records at most are vulnerable"]
    rising = altered(holding, "GG", "vulnerable", lambda share, place: place / 2)
    assert missing(experiment, rising) == ["vulnerable records rise as t falls"]
    far = altered(holding, "GG", "risk", lambda risk, place: risk + place / 2)
    assert missing(experiment, far) == ["distances are at most 2 t"]


def test_claims_about_the_coin() -> None:
    (experiment,) = find(["ma-4a"])
    holding = made_up(
        "p",
        COINS,
        {
            "vulnerable": {RARE: [5, 3, 1, 0, 0], FREQUENT: [9, 6, 3, 1, 0]},
            "risk": {RARE: [2.4, 2, 1.5, 1, 1], FREQUENT: [2.4, 2, 1.7, 1.37, 1]},
            "group_size": {one: [7, 8, 10, 14, 16] for one in BOTH},
            "error": {one: [34, 35, 37, 39, 40] for one in BOTH},
        },
    )
    assert missing(experiment, holding) == []
    told = altered(holding, FREQUENT, "vulnerable", lambda share, _: share + 1)
    assert missing(experiment, told) == ["nobody is vulnerable at p = 0.65"]
    told = altered(holding, RARE, "vulnerable", lambda share, place: share + (place == 3) / 2)
    assert missing(experiment, told) == ["nobody is vulnerable at p = 0.6, rare value"]
    flat = altered(holding, RARE, "vulnerable", lambda share, _: 0)
    assert missing(experiment, flat) == ["vulnerable records fall as p grows"]
    flat = altered(holding, FREQUENT, "risk", lambda risk, _: 2)
    assert missing(experiment, flat) == ["the largest risk falls as p grows"]
    large = altered(holding, RARE, "group_size", lambda size, place: size * (1 + place))
    assert missing(experiment, large) == ["groups at p = 0.65 are at most 3 times as large as at p = 0"]
    wrong = altered(holding, RARE, "error", lambda error, place: error * (1 + place))
    assert missing(experiment, wrong) == ["errors at p = 0.65 are at most half larger than at p = 0"]


def test_claims_about_errors() -> None:
    (experiment,) = find(["ma-5b"])
    plain, divided = {"RGG": 0.8, "SG": 0.9, "Base": 1.0}, {"RGG(Ana)": 0.7, "SG(Ana)": 0.8, "Base(Ana)": 0.9}
    errors = {series: [60 * factor, 40 * factor] for series, factor in (plain | divided).items()}
    sizes = {"RGG": 18, "SG": 20, "Base": 1000, "RGG(Ana)": 6.2, "SG(Ana)": 8, "Base(Ana)": 6.0}
    correlated = {
        f"{series}, {said}": [60 * factor, 40 * factor]
        for series, factor in {"RGG": 0.5, "RGG(Ana)": 0.4, "Base": 1.0, "Base(Ana)": 0.9}.items()
        for said in ("positive", "negative")
    }
    group_sizes = {series: [size, size] for series, size in sizes.items()}
    holding = made_up("sel", (0.1, 0.5), {"error": errors, "group_size": group_sizes, "correlated_error": correlated})
    assert missing(experiment, holding) == []
    claims = {
        ("RGG", "error", 1.17): "RGG's errors are smaller than SG's, SG's than Base's",
        ("SG(Ana)", "error", 0.8): "the same with groups divided by Anatomy",
        ("Base(Ana)", "error", 1.2): "dividing by Anatomy lowers errors",
        ("SG(Ana)", "group_size", 2.0): "parts are close to l records, SG's below 2 l",
        ("RGG(Ana)", "group_size", 1.3): "parts are close to l records, SG's below 2 l",
    }
    for (series, figure, factor), claim in claims.items():
        changed = altered(holding, series, figure, lambda value, _, factor=factor: factor * value)
        assert missing(experiment, changed) == [claim]
    rising = altered(holding, "Base", "error", lambda error, place: 70)
    assert missing(experiment, rising) == ["errors fall with the selectivity"]
    rising = altered(holding, "RGG, positive", "correlated_error", lambda error, place: 20 + place)
    assert missing(experiment, rising) == ["errors of correlated queries fall with the selectivity"]
    same = holding
    for series in ("RGG, positive", "RGG, negative", "RGG(Ana), positive"):
        same = altered(same, series, "correlated_error", lambda error, _: 2 * error)
    assert missing(experiment, same) == ["of correlated queries RGG often has half of the baseline's error"]
