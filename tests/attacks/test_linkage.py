"""Linkage: risks by hand, and estimates of uniqueness on populations whose uniqueness is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lookalike.attacks.linkage import journalist_risks, narrow_down
from lookalike.attacks.shared.uniques import ClassSizes, estimate_uniques, pitman, snb, zayatz
from lookalike.data.contracts import Target
from lookalike.models import parse_model
from tests.attacks.targets import attacked, in_groups, table
from tests.audit.making import bucketized, matched, mixed_table, mixing_matrix, perturbed, ring
from tests.oracles.containment import fit_table

FOUR_AND_TWO = table([1, 1, 2, 3, 8, 9], [0, 1, 0, 1, 0, 1])


def test_risks_of_classes_of_four_and_two() -> None:
    finding = attacked("linkage:threshold=0.3,fraction=1", in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1]))
    figures = finding.figures
    assert finding.column is None
    assert figures["highest prosecutor risk"] == 1 / 2
    assert figures["mean prosecutor risk"] == pytest.approx(2 / 6)
    assert figures["marketer risk"] == pytest.approx(2 / 6)
    assert figures["share at risk"] == pytest.approx(2 / 6)
    assert finding.n_affected == 2
    assert figures["highest journalist risk"] == 1 / 2
    assert figures["unique in the release"] == 0
    assert figures["unique in the original"] == pytest.approx(4 / 6)
    assert "2 of 6 people" in finding.sentence


def test_the_exposure_is_read_by_models_about_identity() -> None:
    finding = attacked("linkage", in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1]))
    assert finding.exposure is not None
    assert parse_model("k-anonymity:2").level(finding.exposure).value == 2


@pytest.mark.parametrize("form", ["bucketized", "perturbed"])
def test_exact_quasi_identifiers_are_found_as_in_the_original(form: str) -> None:
    rng = np.random.default_rng(3)
    order = rng.permutation(6)
    release: Any = (
        bucketized(FOUR_AND_TWO, [0, 0, 0, 1, 1, 1], order, rng.permutation(6))
        if form == "bucketized"
        else perturbed(rng, FOUR_AND_TWO, [mixing_matrix(2, 3, 4)], order)
    )
    finding = attacked("linkage", Target(release=release, original=FOUR_AND_TWO))
    assert finding.figures["unique in the release"] == finding.figures["unique in the original"] == pytest.approx(4 / 6)
    assert finding.figures["highest prosecutor risk"] == 1
    assert "protects values, not identities" in finding.sentence


def test_matched_rows_are_counted_as_brute_force_counts_them() -> None:
    rng = np.random.default_rng(5)
    data = mixed_table(rng, 40)
    release, _ = ring(rng, data, 4)
    fits = fit_table(release, data).sum(axis=1)
    narrowed = narrow_down(Target(release=release, original=data))
    assert dict(zip(*(part.tolist() for part in narrowed), strict=True)) == dict(
        zip(*(part.tolist() for part in np.unique(fits, return_counts=True)), strict=True)
    )
    finding = attacked("linkage", Target(release=release, original=data))
    assert finding.figures["mean prosecutor risk"] == pytest.approx((1 / fits).mean())


def test_a_unique_row_of_a_matched_release_is_found() -> None:
    data = table([1, 2, 9], [0, 1, 0])
    release, _ = matched(data, [[0, 1], [0, 1], [2]], [1, 0, 2], [0, 1, 2])
    figures = attacked("linkage", Target(release=release, original=data)).figures
    assert figures["unique in the release"] == pytest.approx(1 / 3)
    assert figures["mean prosecutor risk"] == pytest.approx(2 / 3)


def test_a_smaller_fraction_lowers_the_journalists_risk_alone() -> None:
    target = in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1])
    whole, part = (attacked(f"linkage:fraction={fraction}", target).figures for fraction in ("1", "0.01"))
    assert part["highest journalist risk"] < whole["highest journalist risk"]
    assert part["highest prosecutor risk"] == whole["highest prosecutor risk"]


@pytest.mark.parametrize("fraction", [0.001, 0.05, 0.4, 0.9])
def test_journalist_risk_is_the_mean_over_classes_that_show_so_many(fraction: float) -> None:
    sizes = np.array([1, 2, 3, 50, 51, 400])
    draws = np.random.default_rng(7)
    for size, risk in zip(sizes, journalist_risks(sizes, fraction), strict=True):
        hidden = draws.negative_binomial(size, fraction, 200_000)
        assert risk == pytest.approx((1 / (size + hidden)).mean(), rel=0.05)


def test_zayatz_by_hand() -> None:
    sample = ClassSizes(np.array([1, 2]), np.array([6, 2]))
    once, one_of_two = 1 / 2, 2 * math.comb(18, 9) / math.comb(20, 10)
    alone = 6 * once / (6 * once + 2 * one_of_two)
    assert zayatz(sample, 0.5) == pytest.approx(6 * alone / 0.5)


def sampled(class_of_person: Any, fraction: float, seed: int) -> ClassSizes:
    n_persons = len(class_of_person)
    drawn = np.random.default_rng(seed).permutation(n_persons)[: round(n_persons * fraction)]
    return ClassSizes.of(np.bincount(class_of_person[drawn]))


def seated(alpha: float, theta: float, n_persons: int, seed: int) -> Any:
    """Classes by the Chinese restaurant with two parameters."""
    rng = np.random.default_rng(seed)
    classes, sizes = np.empty(n_persons, dtype=np.int64), np.zeros(n_persons)
    n_classes = 0
    for person in range(n_persons):
        if rng.random() * (theta + person) < theta + n_classes * alpha:
            chosen, n_classes = n_classes, n_classes + 1
        else:
            chosen = classes[rng.integers(person)]
            while rng.random() < alpha / sizes[chosen]:
                chosen = classes[rng.integers(person)]
        classes[person] = chosen
        sizes[chosen] += 1
    return classes


@pytest.mark.parametrize(("alpha", "theta"), [(0.5, 100.0), (0.8, 50.0), (0.2, 500.0)])
def test_pitman_finds_the_uniques_of_pitman_populations(alpha: float, theta: float) -> None:
    population = seated(alpha, theta, 30_000, seed=1)
    truth = np.count_nonzero(np.bincount(population) == 1)
    for seed in range(3):
        assert pitman(sampled(population, 0.1, seed), 0.1) == pytest.approx(truth, rel=0.35)


@pytest.mark.parametrize(("shape", "p"), [(0.3, 0.05), (1.0, 0.2), (2.0, 0.5)])
def test_snb_finds_the_uniques_of_slid_populations(shape: float, p: float) -> None:
    sizes = 1 + np.random.default_rng(2).negative_binomial(shape, p, 20_000)
    population = np.repeat(np.arange(len(sizes)), sizes)
    truth = np.count_nonzero(sizes == 1)
    for seed in range(3):
        assert snb(sampled(population, 0.3, seed), 0.3) == pytest.approx(truth, rel=0.25)


def test_zayatz_is_fair_on_large_fractions() -> None:
    population = seated(0.5, 100.0, 30_000, seed=4)
    truth = np.count_nonzero(np.bincount(population) == 1)
    assert zayatz(sampled(population, 0.5, 1), 0.5) == pytest.approx(truth, rel=0.25)


def test_the_decision_rule() -> None:
    population = seated(0.5, 100.0, 20_000, seed=5)
    small, large = (estimate_uniques(sampled(population, part, 1), part) for part in (0.05, 0.5))
    assert (small.chosen, small.dankar) == ("pitman", small.pitman)
    assert large.dankar == min(large.zayatz, large.snb)


def test_nothing_to_estimate() -> None:
    assert estimate_uniques(ClassSizes.of(np.array([4, 4, 4])), 0.1).dankar == 0
    assert estimate_uniques(ClassSizes.of(np.array([1, 1, 4])), 1.0).dankar == 2


def test_a_fit_without_a_top_is_not_given() -> None:
    all_different = ClassSizes.of(np.ones(50, dtype=np.int64))
    assert math.isnan(pitman(all_different, 0.1))
    assert math.isnan(snb(all_different, 0.1))
    found = estimate_uniques(all_different, 0.1)
    assert (found.chosen, found.dankar) == ("zayatz", pytest.approx(500))


def test_estimates_that_fail_are_said_and_left_out() -> None:
    everybody_unique = table(range(20), [0, 1] * 10)
    finding = attacked("linkage", in_groups(everybody_unique, np.arange(20) // 4))
    assert "unique in the population by the original, Pitman" not in finding.figures
    assert "left out: unique in the population by the original, Pitman" in finding.sentence
    # Dankar's rule falls back on Zayatz.
    assert finding.figures["unique in the population by the original, Dankar"] == pytest.approx(1)
