"""HG's experiments: each measures what its figures show, and each claim's test can hold and can fail."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from lookalike.apps.papers import hg
from lookalike.apps.papers.claims import Claim, Test, Verdict
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results, Size
from lookalike.apps.papers.hg import diversity, learning, likeness, privacy, queries, scaling
from lookalike.apps.papers.hg.methods import BUREL, DIVERSE, LIKE, NH, TABLE_10, in_parts, losses, measure
from lookalike.apps.papers.hg.privacy import gains_with_dummies
from lookalike.apps.papers.hg.readings import (
    above_elsewhere,
    alike,
    at_most,
    below_exactly_from,
    best_at,
    better_in_equal_time,
    falls_by,
    gains,
    gap_goes,
    grows_no_faster,
    higher_ratio,
    improves,
    largest,
    more_at,
    no_more_at,
    possible_from,
    ratio_of_ends,
    reaches_time,
    steady_times,
    within,
)
from lookalike.apps.papers.hg.synthetic import OMITTED, naive_bayes, recode, synthesize
from lookalike.apps.papers.hg.worlds import Tiny, worst_gain
from lookalike.apps.papers.journal import Journal, Row
from lookalike.data.microdata import Microdata
from tests.attacks.planting import coded

TINY = Size("tiny", rows=300, most_rows=1000, repetitions=1, queries=40)
QUICK_ONES = ("hg-theorem3", "hg-bayes-l", "hg-theorem4", "hg-3a", "hg-9b", "hg-10c", "hg-11c")


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(Datasets(), TINY)


def experiment_of(name: str) -> Experiment:
    return next(one for one in hg.EXPERIMENTS if one.name == name)


@pytest.mark.parametrize("name", QUICK_ONES)
def test_experiments_measure_what_they_draw_and_plan(name: str, bench: Bench) -> None:
    experiment, bench.journal = experiment_of(name), Journal()
    bench.is_planning = True
    planned = list(experiment.measure(bench))
    bench.is_planning = False
    rows = list(experiment.measure(bench))
    assert len(planned) == len(rows)
    assert all(point.items() <= row.items() for point, row in zip(planned, rows, strict=True))
    for figure in experiment.figures:
        shown = [row for row in rows if row.get(figure.y) is not None]
        assert all(math.isfinite(row[figure.y]) for row in shown)
        assert len({row[figure.x] for row in shown}) > 1
    results = Results(tuple(rows))
    assert all(claim.test(results).evidence for claim in experiment.claims if claim.test is not None)


CLAIMS = [(one.name, claim) for one in hg.EXPERIMENTS for claim in one.claims] + [
    ("open", claim) for claim in hg.PAPER.claims
]


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=lambda one: one if isinstance(one, str) else one.says[:40])
def test_claims_say_where_what_and_why(name: str, claim: Claim) -> None:
    assert claim.where
    assert claim.says.endswith(".")
    assert claim.why
    assert not claim.judged or claim.judged[0].islower()
    assert claim.fails in (Verdict.AGAINST, Verdict.OPEN, Verdict.NO_DATA)
    # Without results nothing is reproduced.
    assert claim.test is None or not claim.test(Results(())).holds


def test_no_claim_is_stated_twice() -> None:
    said = [claim.says for _, claim in CLAIMS]
    assert len(said) == len(set(said))
    assert all(one.because and one.says and one.where for one in hg.PAPER.statements)


def test_none_of_our_methods_takes_part_in_a_claim() -> None:
    """Results in which only our own series were measured decide nothing in favour of a claim."""
    for experiment in hg.EXPERIMENTS:
        rows: list[Row] = [
            {figure.x: at, figure.y: float(at), "series": "groups (ours)", "repetition": 0}
            for figure in experiment.figures
            for at in (1, 2, 3)
        ]
        for claim in experiment.claims:
            assert claim.test is None or not claim.test(Results(tuple(rows))).holds, claim.says


def results(y: str = "y", x: str = "x", **series: list[float] | list[list[float]]) -> Results:
    """Values of each series at 1, 2, 3 ...; a list of lists has repetitions."""
    rows: list[Row] = []
    for name, values in series.items():
        for place, some in enumerate(values, 1):
            for repetition, value in enumerate(some if isinstance(some, list) else [some]):
                rows.append({x: place, "series": name, "repetition": repetition, y: value})
    return Results(tuple(rows))


def merged(*parts: Results) -> Results:
    return Results(tuple(row for part in parts for row in part.rows))


READINGS: list[tuple[Test, Results, Results]] = [
    (
        gap_goes(1, "x", "y", "a", "b", slack=0.05),
        results(a=[2, 4, 8], b=[1, 1, 1]),
        results(a=[2, 8, 4], b=[1, 1, 1]),
    ),
    (
        gap_goes(-1, "x", "y", "a", "b", slack=0.1),
        results(a=[8, 4, 2], b=[1, 1, 1]),
        results(a=[2, 4, 8], b=[1, 1, 1]),
    ),
    (
        below_exactly_from("x", "y", ("a",), "b", 2),
        results(a=[3, 1, 1], b=[2, 2, 2]),
        results(a=[1, 1, 1], b=[2, 2, 2]),
    ),
    (
        largest("x", "y", ("a",), ("b",), 3, 4, gain=False),
        results(a=[1, 1], b=[3.5, 2]),
        results(a=[1, 1], b=[5, 2]),
    ),
    (largest("x", "y", ("a",), ("b",), 70, 80, gain=True), results(a=[1], b=[4]), results(a=[1], b=[2])),
    (
        more_at("x", 1, "a", "b", ("y",), "z"),
        merged(results(a=[4], b=[1]), results("z", a=[3], b=[1])),
        merged(results(a=[2], b=[1]), results("z", a=[3], b=[1])),
    ),
    (
        higher_ratio("x", 1, "a", "b", ("y", "z"), 3, 4),
        merged(results(a=[3.5], b=[1]), results("z", a=[1], b=[1])),
        merged(results(a=[5], b=[1]), results("z", a=[3.5], b=[1])),
    ),
    (no_more_at("x", "y", "a", 2, 1, 1.1), results(a=[1, 1.05]), results(a=[1, 1.2])),
    (
        above_elsewhere("x", "a", "y", "z", 2),
        merged(results(a=[1, 3]), results("z", a=[2, 2])),
        merged(results(a=[3, 1]), results("z", a=[2, 2])),
    ),
    (within("x", "y", "a", points=0.5), results(a=[7, 7.4]), results(a=[7, 6.4])),
    (
        alike("x", "y", "z", "a", points=0.5),
        merged(results(a=[7, 7]), results("z", a=[7.4, 6.6])),
        merged(results(a=[7, 7]), results("z", a=[7.4, 6.4])),
    ),
    (
        improves("x", "y", "z", "a"),
        merged(results(a=[[1, 2]]), results("z", a=[[3, 4]])),
        merged(results(a=[[3, 4]]), results("z", a=[[1, 2]])),
    ),
    (at_most("x", "y", "b", "a"), results(a=[[1, 2]], b=[2]), results(a=[[1, 3]], b=[2])),
    (best_at("x", "y", "a", 2), results(a=[1, 3, 2]), results(a=[3, 1, 2])),
    (gains("x", "y", "a", "b", 1, 1.15), results(a=[1.1, 1], b=[1, 1]), results(a=[1.1, 1.2], b=[1, 1])),
    (falls_by("x", "y", "a", "b", 1, 28, 38), results(a=[67], b=[100]), results(a=[80], b=[100])),
    (possible_from("x", "y", "a", 2), results(a=[0, 12, 6]), results(a=[3, 12, 6])),
    (ratio_of_ends("x", "y", "a", 1.25), results(a=[1, 1.3]), results(a=[1, 1.2])),
    (
        steady_times("x", "a", factor=1.5),
        results("seconds", a=[[1, 1.1], [1.2, 1.3]]),
        results("seconds", a=[[1, 1.1], [2, 2.1]]),
    ),
    (
        grows_no_faster("x", "a", 1.1),
        results("seconds", a=[[1, 1.01], [2, 2.01]]),
        results("seconds", a=[[1, 1.01], [4, 4.1]]),
    ),
    (
        reaches_time("x", "a", "b"),
        merged(results("seconds", a=[1, 2], b=[1.5]), results("gcp", a=[1, 1], b=[2])),
        merged(results("seconds", a=[3, 4], b=[1.5]), results("gcp", a=[1, 1], b=[2])),
    ),
    (
        better_in_equal_time("x", "a", "b"),
        merged(results("seconds", a=[1, 2], b=[1.5]), results("gcp", a=[1, 1], b=[2])),
        merged(results("seconds", a=[1, 2], b=[1.5]), results("gcp", a=[3, 1], b=[2])),
    ),
]


@pytest.mark.parametrize(("test", "good", "bad"), READINGS)
def test_readings_hold_and_fail(test: Test, good: Results, bad: Results) -> None:
    assert test(good).holds is True
    assert test(bad).holds is False
    assert test(good).evidence
    assert test(Results(())).holds is False


@pytest.mark.parametrize(
    ("test", "unclear"),
    [
        (improves("x", "y", "z", "a"), merged(results(a=[[1, 3]]), results("z", a=[[2, 4]]))),
        (steady_times("x", "a", factor=1.5), results("seconds", a=[[1, 2], [1.2, 2.2]])),
        (grows_no_faster("x", "a", 1.1), results("seconds", a=[[1, 2], [2, 5]])),
        (best_at("x", "y", "a", 1), results(a=[[1, 3], [2, 3]])),
        (
            better_in_equal_time("x", "a", "b"),
            merged(results("seconds", a=[3], b=[1]), results("gcp", a=[1], b=[2])),
        ),
    ],
)
def test_readings_that_overlap_decide_nothing(test: Test, unclear: Results) -> None:
    assert test(unclear).holds is None


def test_studied_releases_are_measured_without_an_audit_and_others_with_one(bench: Bench) -> None:
    data = bench.datasets.census(300, sizes=TABLE_10)
    bench.journal = Journal()
    rows = list(losses(bench, "l", [(5, data, "l-diversity:5")], {**DIVERSE, NH: "ring"}))
    assert {row["series"]: row["audited"] for row in rows} == {"GR": False, "SG": False, "HG": False, NH: True}
    certainty = {row["series"]: row["certainty"] for row in rows}
    assert certainty[NH] == pytest.approx(20)
    assert min(certainty[series] for series in DIVERSE) > 20
    impossible = list(losses(bench, "l", [(60, data, "l-diversity:60")], {NH: "ring"}))
    assert [bool(row.get("infeasible")) for row in impossible] == [True]


def test_the_beta_that_groups_reach_is_the_audits(bench: Bench) -> None:
    data = bench.datasets.census(300, sizes=TABLE_10)
    made = bench.publish(data, "beta-likeness:3,bound=basic", BUREL, 0)
    assert measure(made)["reached_beta"] == pytest.approx(made.beta)
    published = measure(bench.publish(data, "beta-likeness:3,bound=basic", LIKE["GR"], 0))
    assert published["matches"] > 1


def test_parts_lose_no_record(bench: Bench) -> None:
    data = bench.datasets.census(300, sizes=TABLE_10)
    made = bench.publish(data, "l-diversity:5", in_parts(DIVERSE, 7)["HGp"], 0)
    assert made.release.n_rows == 300
    assert measure(made)["matches"] == 5


def test_the_attacker_who_knows_the_method_learns_from_the_published_draw_alone() -> None:
    points = [0, 1, 3, 7, 8, 20]
    diverse = Tiny("aabbcc", ("aa", "bb", "cc"), Fraction(0))
    assert worst_gain(diverse, points, aligned=False).worst == 2
    aligned = worst_gain(diverse, points, aligned=True)
    assert aligned.worst == aligned.above == 0
    like = Tiny("aaabbc", ("aa", "ab", "bc"), Fraction(1))
    assert worst_gain(like, points, aligned=False).worst > 1
    assert worst_gain(like, points, aligned=True).worst == 1


def test_gains_after_dummies_are_taken_out() -> None:
    """Counts 1, 1 and 3 in buckets of two: equation 7 says 1, a person can see 3/2."""
    assert gains_with_dummies(np.array([1, 1, 3]), 2) == (1, Fraction(3, 2))
    printed, reached = gains_with_dummies(np.array([2, 4]), 2)
    assert printed == reached == 0


def test_synthetic_records_have_the_originals_codes(bench: Bench) -> None:
    data = bench.datasets.census(400)
    made = synthesize(data, 3, 0)
    assert made.quasi.shape == data.quasi.shape
    assert made.domains is data.domains
    for column, domain in enumerate(data.domains.quasi):
        assert made.quasi[:, column].max() < domain.n_codes
    assert synthesize(data, 3, 0) is made
    lacking = synthesize(data, 3, 0, is_lacking=True)
    values = data.domains.sensitive[0].values[lacking.sensitive[:, 0]]
    assert 0 < lacking.n_rows <= data.n_rows
    assert not np.isin(values, OMITTED).any()


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


def test_the_printed_domains_are_declared(bench: Bench) -> None:
    domains = bench.datasets.census(300, sizes=TABLE_10).domains.quasi
    assert [domain.name for domain in domains] == list(TABLE_10)
    age, education = (next(domain for domain in domains if domain.name == name) for name in ("age", "education"))
    assert age.high - age.low == 78
    assert education.high - education.low == 16


def test_all_experiments_are_listed() -> None:
    names = [name for one in hg.EXPERIMENTS for name in one.names]
    assert len(names) == len(set(names))
    for module in (privacy, diversity, scaling, likeness, queries, learning):
        assert {one.name for one in module.EXPERIMENTS} <= set(names)
