"""Trees trained on tables drawn from releases: what is drawn, planted weak releases, safe ones, and what is missing."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.learner import LearnerAttack, Trees, draw_rows
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.contracts import Finding, Target
from lookalike.data.release import Perturbed, Randomizer
from lookalike.errors import MissingPart, RecipeError
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.planting import FORMS, coded, people, target_of
from tests.audit.making import bucketized, grouped, mixed_table, random_groups, ring


def run(target: Target, seed: int = 1, **parameters: Any) -> Finding:
    pytest.importorskip("sklearn")
    parameters = {"trees": 20, **parameters}
    (finding,) = LearnerAttack(**parameters).run(target, Randomness(seed), silent)
    return finding


@pytest.mark.parametrize("form", ["grouped", "matched"])
def test_drawn_rows_are_published_rows(form: str) -> None:
    rng = np.random.default_rng(3)
    data = mixed_table(rng, 40)
    release: Any = (
        grouped(data, random_groups(rng, 40, 4), rng.permutation(40)) if form == "grouped" else ring(rng, data, 3)[0]
    )
    where = Whereabouts(Target(release=release, original=data))
    quasi, values = draw_rows(where, 0, 1000, 3, Randomness(1))
    assert quasi.shape == (120, 3)
    assert np.bincount(values).tolist() == (3 * data.counts(0)).tolist()
    assert len(draw_rows(where, 0, 50, 3, Randomness(1))[1]) == 50
    assert len(draw_rows(where, 0, 30, 3, Randomness(1))[1]) == 30


def test_rows_of_buckets_get_values_of_their_bucket() -> None:
    data = coded([[0], [0], [1], [1]], [0, 1, 2, 2])
    target = Target(release=bucketized(data, [0, 0, 1, 1], [3, 0, 1, 2], [1, 2, 0, 3]), original=data)
    quasi, values = draw_rows(Whereabouts(target), 0, 4000, 1000, Randomness(1))
    assert len(values) == 4000
    assert set(values[quasi[:, 0] == 1]) == {2}
    first = values[quasi[:, 0] == 0]
    assert set(first) == {0, 1}
    assert abs(np.count_nonzero(first) - 1000) < 6 * 23


def test_the_matrix_is_taken_back_from_what_is_predicted() -> None:
    data = coded([[0], [1]], [0, 1])
    noise = Randomizer(np.array([[3, 1], [1, 3]]), 4)
    release = Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=data.sensitive, carried=data.carried, randomizers=(noise,)
    )
    where = Whereabouts(Target(release=release, original=data))
    trees = Trees(where, 0, lambda quasi: (np.array([0, 1]), np.array([[0.7, 0.3], [0.5, 0.5]])))
    # 0.7 is what 0.9 becomes: 0.9 * 3/4 + 0.1 * 1/4. Both values are as frequent, so likelihoods are twice the shares.
    assert np.allclose(np.exp(trees.log_likelihood(data.quasi)), [[1.8, 0.2], [1, 1]], atol=0.002)


def test_values_that_were_not_trained_on_are_unlikely_but_possible() -> None:
    data = coded([[0], [1], [2]], [0, 1, 2])
    where = Whereabouts(Target(release=grouped(data, [0, 0, 0], np.arange(3)), original=data))
    trees = Trees(where, 0, lambda quasi: (np.array([2]), np.ones((len(quasi), 1))))
    likelihood = np.exp(trees.log_likelihood(data.quasi))
    assert np.allclose(likelihood, [[0.001, 0.001, 2.998]] * 3)


@pytest.mark.parametrize("form", ["grouped", "bucketized", "perturbed"])
def test_beats_honest_guessing_where_a_quasi_identifier_gives_the_value_away(form: str) -> None:
    rng = np.random.default_rng(5)
    assert run(target_of(form, people(rng, 900, determined=True), rng), within="unit").succeeds
    assert run(target_of(form, people(rng, 900, determined=True), rng)).succeeds


def test_beats_what_rows_are_meant_to_say_of_a_person_in_a_matched_release() -> None:
    rng = np.random.default_rng(5)
    finding = run(target_of("matched", people(rng, 900, determined=True), rng))
    assert finding.score is not None
    # So many rows fit a person here that the likeliest value among them gives it away, without any learning.
    assert finding.baselines["likeliest value of the group"] > 2 * finding.baselines["values of the group"]
    assert finding.score.interval[0] > finding.baselines["values of the group"]


def test_boosting_does_too() -> None:
    rng = np.random.default_rng(6)
    target = target_of("bucketized", people(rng, 900, determined=True), rng)
    finding = run(target, kind="boosting", trees=10)
    assert finding.succeeds
    assert "Gradient boosting" in finding.sentence


@pytest.mark.parametrize("within", ["all", "unit"])
@pytest.mark.parametrize("form", FORMS)
def test_does_not_where_values_have_nothing_to_do_with_quasi_identifiers(form: str, within: str) -> None:
    rng = np.random.default_rng(7)
    finding = run(target_of(form, people(rng, 900, determined=False), rng), within=within)
    assert finding.succeeds is False


def test_one_value_needs_no_trees() -> None:
    data = coded([[0], [1], [2], [3]], [0, 0, 0, 0])
    for kind in ("forest", "boosting"):
        finding = run(Target(release=grouped(data, [0, 0, 1, 1], np.arange(4)), original=data), kind=kind)
        assert finding.score is not None
        assert finding.score.share == 1.0
        assert finding.succeeds is False


def test_missing_values_are_values_like_any_other() -> None:
    rng = np.random.default_rng(8)
    values = np.arange(600) % 4
    data = coded(np.column_stack([values - 1, rng.integers(0, 5, 600)]), values)
    assert run(target_of("grouped", data, rng, size=2)).succeeds


def test_same_seed_same_finding() -> None:
    rng = np.random.default_rng(9)
    target = target_of("grouped", people(rng, 300, determined=False), rng)
    one, other = run(target, seed=4), run(target, seed=4)
    assert one.score == other.score
    assert one.figures == other.figures
    assert one.figures["rows trained on"] == 900
    assert run(target, rows=200).figures["rows trained on"] == 200


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    rng = np.random.default_rng(10)
    target = target_of("grouped", people(rng, 60, determined=False), rng)
    with pytest.raises(MissingPart, match=r"pip install 'lookalike\[attacks\]'"):
        LearnerAttack().run(target, Randomness(1), silent)


def test_is_written_as_it_is_read() -> None:
    assert str(parse_attack("learner:boosting,trees=10")) == "learner:kind=boosting,trees=10"
    with pytest.raises(RecipeError, match="trees"):
        parse_attack("learner:trees=0")
