"""General facts told from what a release gives away about single people."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.shared import judging
from lookalike.attacks.shared.attack import score_guesses
from lookalike.attacks.shared.bayes import NaiveBayes, counts_of
from lookalike.attacks.shared.judging import Strangers, right_about_strangers
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Score, Target
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.planting import coded, people, target_of
from tests.audit.making import bucketized, grouped

FIGURE = "right about people it has not learned from"


def learn(where: Whereabouts) -> NaiveBayes:
    return NaiveBayes.learn(counts_of(where, 0, by_volume=True), 1.0)


def run(target: Target, attack: str = "naive-bayes:volume") -> Finding:
    (finding,) = parse_attack(attack).run(target, Randomness(1), silent)
    return finding


@pytest.mark.parametrize("attack", ["naive-bayes:volume", "learner:trees=20"])
@pytest.mark.parametrize("form", ["grouped", "bucketized", "perturbed"])
def test_what_is_true_of_anybody_is_as_true_of_strangers(form: str, attack: str) -> None:
    if attack.startswith("learner"):
        pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    finding = run(target_of(form, people(rng, 900, determined=True), rng), attack)
    assert finding.score is not None
    assert finding.figures[FIGURE] > 0.5
    assert "Without their rows to learn from" in finding.sentence


def test_what_is_true_of_one_person_alone_is_not() -> None:
    """Every person has their own code, and rows are published one by one: nothing in it is general."""
    rng = np.random.default_rng(2)
    n_rows = 400
    data = coded(np.arange(n_rows)[:, None], rng.integers(0, 4, n_rows))
    for release in (
        grouped(data, np.arange(n_rows), rng.permutation(n_rows)),
        bucketized(data, np.arange(n_rows), rng.permutation(n_rows), rng.permutation(n_rows)),
    ):
        finding = run(Target(release=release, original=data))
        assert finding.score is not None
        assert finding.score.share == 1.0
        assert finding.figures[FIGURE] < 0.4
        assert "is general" not in finding.sentence


def test_everybody_is_asked_about_once() -> None:
    rng = np.random.default_rng(3)
    target = target_of("grouped", people(rng, 300, determined=False), rng)
    guesses = np.arange(300) % 6
    found = right_about_strangers(Whereabouts(target), 0, guesses, learn, Randomness(1))
    assert found is not None
    assert found.unseen.n_guesses == 300
    assert found.seen == score_guesses(guesses, target.original.sensitive[:, 0])


def test_people_listed_in_both_halves_are_left_out() -> None:
    data = coded([[0], [1], [0], [2]], [0, 1, 2, 0])
    target = Target(release=bucketized(data, [0, 0, 1, 1], np.arange(4), np.arange(4)), original=data)
    found = right_about_strangers(Whereabouts(target), 0, np.zeros(4, dtype=int), learn, Randomness(1))
    assert found is not None
    assert found.unseen.n_guesses == 2
    assert found.seen.n_right == 1


def test_where_nobody_can_say(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    data, nothing = people(rng, 60, determined=True), np.zeros(60, dtype=int)
    assert right_about_strangers(Whereabouts(target_of("matched", data, rng)), 0, nothing, learn, Randomness(1)) is None
    one_group = Target(release=grouped(data, np.zeros(60, dtype=int), np.arange(60)), original=data)
    assert right_about_strangers(Whereabouts(one_group), 0, nothing, learn, Randomness(1)) is None
    monkeypatch.setattr(judging, "MOST_RECORDS", 50)
    in_groups = target_of("grouped", data, rng)
    assert right_about_strangers(Whereabouts(in_groups), 0, nothing, learn, Randomness(1)) is None
    assert FIGURE not in run(in_groups).figures


def test_few_people_or_a_clear_difference_prove_nothing_general() -> None:
    assert Strangers(unseen=Score(300, 2000), seen=Score(310, 2000)).as_well
    assert not Strangers(unseen=Score(200, 2000), seen=Score(310, 2000)).as_well
    assert not Strangers(unseen=Score(30, 200), seen=Score(31, 200)).as_well
