"""Naive Bayes learned from releases: counts worked out by hand, likelihoods gone through one by one, weak and safe."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lookalike.attacks import ATTACKS, parse_attack
from lookalike.attacks.naive_bayes import SMOOTHING, NaiveBayesAttack
from lookalike.attacks.shared import judging
from lookalike.attacks.shared.bayes import NaiveBayes, counts_of, logs_of, take_back
from lookalike.attacks.shared.whereabouts import Whereabouts, honest_guesses, honest_share
from lookalike.data.contracts import Finding, Promise, Target
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Perturbed, Randomizer, Ranges
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.planting import FORMS, coded, people, target_of
from tests.audit.making import (
    bucketized,
    grouped,
    mixed_table,
    mixing_matrix,
    moved,
    number_table,
    perturbed,
    random_groups,
    ring,
    whole_numbers,
)

KINDS = tuple(SMOOTHING)


def counted(target: Target, *, by_volume: bool = False) -> Any:
    return counts_of(Whereabouts(target), 0, by_volume=by_volume)


def log_posterior(learnt: NaiveBayes, quasi: Any) -> Any:
    """[records, values] of each value given the quasi-identifiers, up to a constant a record."""
    return learnt.log_likelihood(quasi) + logs_of(learnt.frequencies / learnt.frequencies.sum())


def run(target: Target, **parameters: str) -> Finding:
    (finding,) = NaiveBayesAttack(**parameters).run(target, Randomness(1), silent)
    return finding


# Two groups of ages 0-1 and 1-3; values a a | b a.
AGES, ILLNESSES, GROUPS = [[0], [1], [1], [3]], [0, 0, 1, 0], [0, 0, 1, 1]


def test_counts_of_ranges_by_hand() -> None:
    data = number_table([[0], [1], [2], [3]], ILLNESSES)
    release = grouped(data, GROUPS, np.arange(4))
    counts = counted(Target(release=release, original=data))
    assert counts.of_value.tolist() == [3, 1]
    assert counts.together[0].tolist() == [[2, 0], [2, 0], [1, 1], [1, 1]]
    by_volume = counted(Target(release=release, original=data), by_volume=True)
    assert by_volume.together[0].tolist() == [[1, 0], [1, 0], [0.5, 0.5], [0.5, 0.5]]


def test_counts_of_sets_by_hand() -> None:
    data = coded(AGES, ILLNESSES)
    target = Target(release=grouped(data, GROUPS, [3, 1, 0, 2]), original=data)
    # Codes 0, 1, 2 are the ages 0, 1, 3; cells {0, 1} and {1, 3}.
    assert counted(target).together[0].tolist() == [[2, 0], [3, 1], [1, 1]]
    assert counted(target, by_volume=True).together[0].tolist() == [[1, 0], [1.5, 0.5], [0.5, 0.5]]


def test_counts_with_missing_values_by_hand() -> None:
    data = number_table([[0], [-1], [1], [2]], ILLNESSES)
    target = Target(release=grouped(data, GROUPS, np.arange(4)), original=data)
    # The first cell holds 0 and missing (code 3), the second 1 and 2.
    assert counted(target).together[0].tolist() == [[2, 0], [1, 1], [1, 1], [2, 0]]
    assert counted(target, by_volume=True).together[0].tolist() == [[1, 0], [0.5, 0.5], [0.5, 0.5], [1, 0]]


def test_counts_of_buckets_by_hand() -> None:
    data = coded(AGES, ILLNESSES)
    target = Target(release=bucketized(data, GROUPS, [2, 0, 1, 3], [3, 2, 1, 0]), original=data)
    for by_volume in (False, True):
        counts = counted(target, by_volume=by_volume)
        assert counts.of_value.tolist() == [3, 1]
        assert counts.together[0].tolist() == [[1, 0], [1.5, 0.5], [0.5, 0.5]]


def test_counts_of_perturbed_values_by_hand() -> None:
    data = coded([[0]] * 6 + [[1]] * 4, [0] * 5 + [1] * 5)
    noise = Randomizer(np.array([[3, 1], [1, 3]]), 4)
    published = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1], dtype=np.int32)[:, None]
    release = Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=published, carried=data.carried, randomizers=(noise,)
    )
    counts = counted(Target(release=release, original=data))
    # (x, y) -> ((3x + y) / 4, (x + 3y) / 4): (4, 2) comes from (5, 1), (0, 4) from (-2, 6).
    assert np.allclose(counts.of_value, [3, 7])
    assert np.allclose(counts.together[0], [[5, 1], [0, 6]])
    assert np.allclose(counts.below[0], [5, 7])


def test_values_that_the_matrix_never_gives_are_impossible() -> None:
    matrix = Randomizer(np.array([[3, 1, 2], [1, 3, 2], [0, 0, 0]]), 4)
    assert np.allclose(take_back(np.array([[60.0, 40.0, 0.0]]), matrix), [[70, 30, 0]])


def codes_in(release: Any, attribute: int, unit: int) -> list[int]:
    extents, domain = release.extents[attribute], release.domains.quasi[attribute]
    if not isinstance(extents, Ranges):
        return extents.members[extents.starts[unit] : extents.starts[unit + 1]].tolist()
    codes = list(range(int(extents.lows[unit]), int(extents.highs[unit]) + 1))
    return codes + [domain.missing_code] * bool(extents.missing[unit])


def score_by_hand(release: Any, quasi: Any, value: int, kind: str) -> float:
    """Logarithm of Pr[v] * prod Pr[t_j | v], row by row."""
    rows = [row for row in range(release.n_rows) if release.sensitive[row, 0] == value]
    if not rows:
        return -math.inf
    product = len(rows) / release.n_rows
    for attribute, domain in enumerate(release.domains.quasi):
        count = 0.0
        for row in rows:
            cell = codes_in(release, attribute, int(release.unit_of_row[row]))
            if quasi[attribute] in cell:
                count += 1 / len(cell) if kind == "volume" else 1
        product *= (count + SMOOTHING[kind]) / (len(rows) + SMOOTHING[kind] * domain.n_codes)
    return math.log(product) if product > 1e-12 else -math.inf


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["grouped", "matched"])
def test_likelihoods_agree_with_going_through_the_rows(form: str, kind: str) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = mixed_table(rng, 14)
        if form == "grouped":
            release: Any = grouped(data, random_groups(rng, 14, 3), rng.permutation(14))
        else:
            release, _ = ring(rng, data, 3)
        target = Target(release=release, original=data)
        learnt = NaiveBayes.learn(counted(target, by_volume=kind == "volume"), SMOOTHING[kind])
        scores = log_posterior(learnt, data.quasi)
        by_hand = [
            [score_by_hand(release, record, value, kind) for value in range(scores.shape[1])] for record in data.quasi
        ]
        assert np.allclose(scores, by_hand)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_beats_honest_guessing_where_a_quasi_identifier_gives_the_value_away(form: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    finding = run(target_of(form, people(rng, 600, determined=True), rng), kind=kind)
    assert finding.succeeds
    assert "clearly does better" in finding.sentence


@pytest.mark.parametrize("within", ["all", "unit"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_does_not_where_values_have_nothing_to_do_with_quasi_identifiers(form: str, kind: str, within: str) -> None:
    rng = np.random.default_rng(6)
    finding = run(target_of(form, people(rng, 1200, determined=False), rng), kind=kind, within=within)
    assert finding.succeeds is False
    assert "does not clearly do better" in finding.sentence


def test_within_the_group_only_its_values_are_guessed() -> None:
    rng = np.random.default_rng(7)
    data = people(rng, 300, determined=False)
    target = target_of("grouped", data, rng)
    where = Whereabouts(target)
    learnt = NaiveBayes.learn(counts_of(where, 0, by_volume=False), 1.0)
    found = judging.judge_records(where, 0, learnt, within="unit", progress=silent)
    honest = where.beliefs(0).toarray()
    assert (honest[np.arange(300), found.guesses] > 0).all()
    joint = honest * np.exp(learnt.log_likelihood(data.quasi))
    assert found.beliefs is not None
    assert np.allclose(found.beliefs, joint / joint.sum(axis=1, keepdims=True))


def test_baselines_of_groups_need_no_search_for_people() -> None:
    rng = np.random.default_rng(8)
    data = mixed_table(rng, 200, missing=False)
    # Groups of ages that do not overlap, so that everybody is found in their own.
    target = Target(release=grouped(data, data.quasi[:, 0] // 6, rng.permutation(200)), original=data)
    beliefs, truth = Whereabouts(target).beliefs(0), data.sensitive[:, 0]
    found = run(target).baselines
    assert found["values of the group"] == pytest.approx(honest_share(beliefs, truth))
    right = np.mean(honest_guesses(beliefs, data.counts(0)) == truth)
    assert found["likeliest value of the group"] == pytest.approx(right)
    searched = run(target, within="unit").baselines
    assert searched == pytest.approx(found)


def test_ties_go_to_the_most_frequent_value() -> None:
    data = coded([[0]] * 3 + [[1]] * 3, [2, 1, 1, 2, 2, 0])
    target = Target(release=grouped(data, [0] * 6, np.arange(6)), original=data)
    for kind in KINDS:
        found = judging.judge_records(
            Whereabouts(target),
            0,
            NaiveBayes.learn(counted(target), SMOOTHING[kind]),
            within="all",
            progress=silent,
        )
        assert found.guesses.tolist() == [2] * 6
    order = np.array([2, 0, 1])
    scores = np.array([[0.5, 0.5 + 1e-12, 0.5], [0.5, 0.6, 0.5], [-np.inf] * 3])
    assert judging.pick_best(scores, order).tolist() == [2, 1, 2]


def test_what_no_value_explains_is_guessed_as_the_most_frequent() -> None:
    data = coded([[0, 0], [0, 0], [1, 1], [0, 1]], [1, 1, 0, 0])
    release = moved(grouped(data, [0, 0, 1, 2], np.arange(4)), [0, 1, 2])
    target = Target(release=release, original=data)
    learnt = NaiveBayes.learn(counted(target), 0.0)
    assert np.isneginf(log_posterior(learnt, data.quasi[3:])).all()
    found = judging.judge_records(Whereabouts(target), 0, learnt, within="all", progress=silent)
    assert found.guesses.tolist() == [1, 1, 0, 1]
    assert found.beliefs is not None
    assert np.allclose(found.beliefs[3], [1 / 3, 2 / 3])


def test_codes_that_the_release_does_not_show_are_likely_by_smoothing_alone() -> None:
    data = coded([[0], [0], [1], [2]], [0, 0, 1, 1])
    target = Target(release=moved(grouped(data, [0, 0, 1, 2], np.arange(4)), [0, 1, 2]), original=data)
    learnt = NaiveBayes.learn(counted(target), 1.0)
    assert np.allclose(np.exp(learnt.log_likelihood(data.quasi[3:])), [[1 / 5, 1 / 4]])


@pytest.mark.parametrize("form", FORMS)
def test_what_a_finding_says(form: str) -> None:
    rng = np.random.default_rng(9)
    target = target_of(form, people(rng, 300, determined=True), rng)
    target = Target(
        release=target.release, original=target.original, promises=(Promise(LDiversity(3), "s"), Promise(KAnonymity(3)))
    )
    finding = run(target, kind="volume")
    assert finding.attack == "naive-bayes:kind=volume"
    assert finding.column == "s"
    assert finding.baselines["most frequent value"] == pytest.approx(1 / 6)
    assert finding.exposure is not None
    assert finding.exposure.n_units == 300
    assert finding.n_affected is not None
    assert 0 < finding.n_affected <= 300
    assert LDiversity(3).level(finding.exposure).value < 3
    assert finding.figures["worth of the evidence"] > 0
    assert 0 < finding.figures["affected by what the evidence is worth"] <= 300
    assert '"s"' in finding.sentence
    assert "16.7 %" in finding.sentence


def test_confidence_without_ground_is_worth_nothing() -> None:
    rng = np.random.default_rng(14)
    safe = target_of("grouped", people(rng, 1200, determined=False), rng)
    target = Target(release=safe.release, original=safe.original, promises=(Promise(LDiversity(3), "s"),))
    finding = run(target, within="unit")
    assert finding.n_affected == 1200
    assert finding.figures["worth of the evidence"] == 0
    assert finding.figures["affected by what the evidence is worth"] == 0


def test_beliefs_by_the_power_of_the_evidence() -> None:
    base, evidence = np.log([[0.5, 0.5], [0.5, 0.5]]), np.array([[np.log(0.8), np.log(0.2)], [-np.inf, -np.inf]])
    assert np.allclose(judging.posteriors(base, evidence, 1.0), [[0.8, 0.2], [0.5, 0.5]])
    assert np.allclose(judging.posteriors(base, evidence, 0.5), [[2 / 3, 1 / 3], [0.5, 0.5]])
    assert np.allclose(judging.posteriors(base, evidence, 0.0), 0.5)


def test_without_a_promise_nothing_is_said_about_it() -> None:
    rng = np.random.default_rng(10)
    finding = run(target_of("grouped", people(rng, 120, determined=False), rng))
    assert finding.n_affected is None
    assert "1/l" not in finding.baselines


def test_large_tables_go_block_by_block_and_keep_no_beliefs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    target = target_of("bucketized", people(rng, 300, determined=True), rng)
    whole = run(target)
    monkeypatch.setattr(judging, "BLOCK", 100)
    monkeypatch.setattr(judging, "EXPOSED", 1000)
    parts = run(target)
    assert parts.score == whole.score
    assert parts.baselines == pytest.approx(whole.baselines)
    assert parts.exposure is None
    assert parts.figures["records without exposure"] == 300


def test_every_sensitive_column_is_guessed() -> None:
    columns = [whole_numbers(name, [0, 1, 0, 1]) for name in ("q", "s", "t")]
    data = Microdata.encode(Table(tuple(columns)), Schema.of(qi=["q"], sensitive=["s", "t"]))
    target = Target(release=grouped(data, [0, 1, 0, 1], np.arange(4)), original=data)
    findings = NaiveBayesAttack().run(target, Randomness(1), silent)
    assert [finding.column for finding in findings] == ["s", "t"]
    assert [finding.score.share for finding in findings if finding.score] == [1.0, 1.0]


def test_a_table_without_sensitive_columns_is_refused() -> None:
    data = Microdata.encode(Table((whole_numbers("q", [0, 1]),)), Schema.of(qi=["q"]))
    target = Target(release=grouped(data, [0, 0], np.arange(2)), original=data)
    assert "no sensitive column" in (NaiveBayesAttack().refuses(target) or "")


def test_missing_values_are_values_like_any_other() -> None:
    rng = np.random.default_rng(12)
    values = np.arange(400) % 4
    data = coded(np.column_stack([values - 1, rng.integers(0, 5, 400)]), values)
    finding = run(target_of("grouped", data, rng, size=2))
    assert finding.score is not None
    assert finding.score.share == 1.0


def test_perturbed_values_within_what_was_published_of_a_person() -> None:
    rng = np.random.default_rng(13)
    data = people(rng, 600, determined=True)
    release = perturbed(rng, data, [mixing_matrix(6, keep=5, total=10)], rng.permutation(600))
    finding = run(Target(release=release, original=data), within="unit")
    assert finding.score is not None
    assert finding.score.share > 0.8


def test_is_written_as_it_is_read() -> None:
    assert ATTACKS["naive-bayes"] is NaiveBayesAttack
    assert str(parse_attack("naive-bayes:classic,within=unit")) == "naive-bayes:kind=classic,within=unit"
    with pytest.raises(RecipeError, match="clasic"):
        parse_attack("naive-bayes:clasic")
