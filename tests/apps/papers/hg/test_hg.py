"""HG's experiments: each measures what its figures show, and each claim's test can hold and can fail."""

from __future__ import annotations

import math

import pytest

from lookalike.apps.papers import hg
from lookalike.apps.papers.claims import Claim, Verdict
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results, Size
from lookalike.apps.papers.hg import diversity, learning, likeness, privacy, queries, scaling
from lookalike.apps.papers.journal import Journal, Row

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


def test_all_experiments_are_listed() -> None:
    names = [name for one in hg.EXPERIMENTS for name in one.names]
    assert len(names) == len(set(names))
    for module in (privacy, diversity, scaling, likeness, queries, learning):
        assert {one.name for one in module.EXPERIMENTS} <= set(names)
