"""Evaluations: within limits, weaker and stronger promises around the one asked, answers counted rightly."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

import lookalike as la
from lookalike.algorithms.optimal_buckets import OptimalBuckets
from lookalike.apps.samples import hospital, sample_schema
from lookalike.attacks import ATTACKS, parse_attack
from lookalike.attacks.run import attack_target
from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.data.contracts import Promise, Target
from lookalike.errors import MissingPart
from lookalike.evaluation import evaluate as evaluation
from lookalike.evaluation.evaluate import BOUNDS, Answered, answer_queries
from lookalike.evaluation.tradeoff import MOST_RECORDS, some_records, tradeoff
from lookalike.metrics.query_error import QueryError
from lookalike.randomness import Randomness


@pytest.fixture(scope="module")
def made() -> la.Publication:
    return la.publish(hospital(250, seed=5), schema=sample_schema(), model=["k-anonymity:2", "l-diversity:4"])


def around(made: la.Publication, *promises: Promise, seed: int = 1) -> list[tuple[str, float, bool]]:
    outcome = made.made
    found = tradeoff(outcome.data, promises, outcome.algorithm, outcome.adversary, Randomness(seed))
    return [(one.promise, one.belief, one.is_asked) for one in found.settings]


def test_the_number_asked_for_and_those_around_it(made: la.Publication) -> None:
    k, ell = made.made.promises
    found = around(made, k, ell)
    assert [promise for promise, _, _ in found][:3] == ["l-diversity:2", "l-diversity:4", "l-diversity:8"]
    assert [asked for _, _, asked in found][:3] == [False, True, False]
    assert all(belief <= 1 / int(promise.partition(":")[2]) for promise, belief, _ in found)
    identities = around(made, ell, k)
    assert [promise for promise, _, _ in identities] == ["k-anonymity:2", "k-anonymity:4", "k-anonymity:8"]
    assert all(belief <= 1 / int(promise.partition(":")[2]) for promise, belief, _ in identities)


def test_what_cannot_be_kept_is_left_out(made: la.Publication) -> None:
    most = int(made.made.data.counts(0).max())
    largest = made.made.data.n_rows // most
    found = around(made, Promise(la.LDiversity(largest), "diagnosis"))
    assert [promise for promise, _, _ in found][-1] == f"l-diversity:{largest}"


def test_a_part_of_a_large_table_is_enough(made: la.Publication) -> None:
    data = made.made.data
    assert some_records(data, MOST_RECORDS, Randomness(1)) is data
    part = some_records(data, 40, Randomness(1))
    assert part.n_rows == 40
    rows = {tuple(row) for row in data.quasi.tolist()}
    assert all(tuple(row) in rows for row in part.quasi.tolist())


def test_no_long_search_is_repeated() -> None:
    assert str(la.Groups(effort="best").hurry()) == str(la.Groups(effort="fast"))
    assert la.Mondrian().hurry() == la.Mondrian()
    assert OptimalBuckets(seconds=3).hurry() == OptimalBuckets()


def test_large_tables_get_fast_attacks_and_say_so(made: la.Publication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MOST_RECORDS", 100)
    monkeypatch.setattr(WrittenAttack, "most_records", 100)
    found = evaluation.evaluate(made.made)
    made_of = {one.finding.attack.partition(":")[0] for one in found.attacks.made}
    assert made_of <= {name for name, kind in ATTACKS.items() if kind.most_records is None or kind.most_records > 100}
    assert found.fidelity is None
    assert set(found.attacks.not_run) == {"learner", "definetti", "corruption", "composition"}, "those that apply"
    reason = "it takes long on 250 records, and reports make it for up to 100. lookalike attack RELEASE --original DATA"
    assert found.attacks.not_run["learner"] == f"{reason} --attack learner makes it."
    assert "lookalike fidelity" in " ".join(found.left_out)


def test_progress_runs_through_every_part(made: la.Publication) -> None:
    steps: list[str] = []
    found = made.evaluate(lambda step, share, *_: steps.append(step))
    assert made.evaluate() is found
    assert list(dict.fromkeys(steps)) == ["attack", "queries", "comparing", "trade-off"]


def test_answers_are_put_into_the_right_part() -> None:
    relative = np.array([0.0, 0.05, 0.051, 0.3, 0.5, 2.0, 1.0, 0.1])
    error = QueryError(relative, np.array([True] * 6 + [False] * 2), 0)
    line = Answered.of(2, 0.1, error)
    by_hand = [0] * (len(BOUNDS) + 1)
    for one in relative:
        by_hand[next((place for place, bound in enumerate(BOUNDS) if one <= bound), len(BOUNDS))] += 1
    assert line.shares == tuple(count / 8 for count in by_hand)
    assert line.coverage == 0.75
    assert (line.selectivity, line.n_queries) == (0.1, 8)


def test_an_exact_release_answers_exactly() -> None:
    made = la.publish(hospital(80, seed=1), schema=sample_schema(), model="k-anonymity:1", algorithm="mondrian")
    lines = answer_queries(made.made.data, made.release, np.random.default_rng(1))
    assert [(line.columns, line.selectivity) for line in lines] == list(itertools.product((1, 2, 3), (0.1, 0.03, 0.01)))
    for line in lines:
        assert line.coverage == 1
        assert line.median == 0
        assert line.shares[0] == 1


def test_what_needs_scikit_learn_is_left_out_where_it_is_missing(
    made: la.Publication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain installation has none: publishing must not fail for it, and says what was left out."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    found = evaluation.evaluate(made.made)
    assert "scikit-learn" in found.attacks.not_made["learner"]
    assert any("scikit-learn" in sentence for sentence in found.left_out)
    assert {one.finding.attack for one in found.attacks.made} >= {"linkage", "naive-bayes"}
    target = Target(release=made.release, original=made.made.data)
    with pytest.raises(MissingPart, match="scikit-learn"):
        attack_target(target, [parse_attack("learner")], Randomness(1))
