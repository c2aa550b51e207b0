"""Linkage: risks by hand, and estimates of uniqueness on populations whose uniqueness is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from lookalike.attacks import parse_attack
from lookalike.attacks.run import attack_target
from lookalike.attacks.shared.narrowing import narrow_down
from lookalike.attacks.shared.outsiders import count_by_class
from lookalike.attacks.shared.uniques import ClassSizes, estimate_uniques, pitman, snb, zayatz
from lookalike.data.contracts import Target
from lookalike.data.microdata import Table
from lookalike.data.population import encode_population
from lookalike.errors import DataError, RecipeError, Unsupported
from lookalike.files.tables import read_table
from lookalike.models import parse_model
from lookalike.randomness import Randomness
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
    assert figures["marketer risk (whole population)"] == pytest.approx(2 / 6)
    assert figures["share at risk"] == pytest.approx(2 / 6)
    assert finding.n_affected == 2
    assert figures["highest journalist risk (whole population)"] == 1 / 2
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


IN_TABLE, IN_POPULATION = (1, 1, 1, 2, 1, 4), (1, 2, 3, 4, 4, 6)
"""Persons of six classes: ten in the table, 20 in the population."""


def example_a(wider: int = 1) -> Target:
    """The classes as published cells; `wider`: how many neighbouring classes are published as one."""
    classes = np.repeat(np.arange(6), IN_TABLE)
    data = table(10 * classes, np.arange(10) % 2)
    people, _ = encode_population(population(np.repeat(10 * np.arange(6), IN_POPULATION)), data)
    return replace(in_groups(data, classes // wider), population=people)


def population(ages: Any) -> Table:
    return read_table(pl.DataFrame({"q0": np.asarray(ages)}))


def test_three_attackers_with_a_population_table() -> None:
    finding = attacked("linkage:threshold=0.3,population=people.csv", example_a())
    figures = finding.figures
    assert (figures["highest prosecutor risk"], figures["share at risk"], figures["mean prosecutor risk"]) == (
        1,
        0.6,
        0.6,
    )
    assert figures["highest journalist risk (population table)"] == 1
    assert figures["share at journalist risk (population table)"] == 3 / 10
    assert figures["journalist success rate (population table)"] == pytest.approx(13 / 40)
    assert figures["marketer risk (population table)"] == pytest.approx(13 / 40)
    assert figures["unique in the population by the original (population table)"] == 1 / 20
    assert "32.5% of them right (population table)" in finding.sentence


def test_people_between_the_values_of_the_table_are_in_its_cells() -> None:
    target = example_a(wider=2)
    # Classes (1, 1), (1, 2), (1, 4) of 3, 7 and 10 people.
    assert [part.tolist() for part in count_by_class(target)] == [[2, 3, 5], [3, 7, 10]]
    ages = np.concatenate((np.repeat(10 * np.arange(6), IN_POPULATION), [5, 9, 15, 31]))
    people, _ = encode_population(population(ages), target.original)
    assert [part.tolist() for part in count_by_class(replace(target, population=people))] == [[2, 3, 5], [5, 7, 10]]


def test_a_population_without_people_of_the_table_is_refused() -> None:
    target = example_a()
    people, _ = encode_population(population([0, 10, 20, 30, 40, 50, 50]), target.original)
    with pytest.raises(DataError, match="lacks 3 records of the table"):
        attacked("linkage:population=people.csv", replace(target, population=people))


@pytest.mark.parametrize("form", ["bucketized", "perturbed", "matched"])
def test_a_population_table_for_every_form(form: str) -> None:
    rng = np.random.default_rng(3)
    release: Any
    if form == "matched":
        release, _ = matched(FOUR_AND_TWO, [[0, 1], [0, 1], [2, 3], [2, 3], [4], [5]], np.arange(6), np.arange(6))
    elif form == "bucketized":
        release = bucketized(FOUR_AND_TWO, [0, 0, 0, 1, 1, 1], np.arange(6), rng.permutation(6))
    else:
        release = perturbed(rng, FOUR_AND_TWO, [mixing_matrix(2, 3, 4)], np.arange(6))
    people, _ = encode_population(population([1, 1, 1, 1, 2, 3, 8, 8, 9]), FOUR_AND_TWO)
    figures = attacked(
        "linkage:population=x", Target(release=release, original=FOUR_AND_TWO, population=people)
    ).figures
    # 1 1 2 3 8 9: cells 1, 1, 2-3, 2-3, 8, 9 if matched, or all exact.
    expected = (1 / 4 + 1 / 4 + 1 / 1 + 1 / 1 + 1 / 2 + 1) / 6
    if form == "matched":
        assert figures["highest journalist risk (population table)"] == 1
        expected = (1 / 4 + 1 / 4 + 1 / 2 + 1 / 2 + 1 / 2 + 1) / 6
    assert figures["marketer risk (population table)"] == pytest.approx(expected)


def test_without_the_population_its_figures_are_left_out_and_asked_for() -> None:
    finding = attacked("linkage", in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1]))
    assert not any("journalist" in name or "marketer" in name or "population" in name for name in finding.figures)
    assert "Left out: the chance that someone finds the row who only knows" in finding.sentence
    assert "population-size=NUMBER" in finding.sentence


def test_the_size_of_the_population_says_the_same_as_the_fraction() -> None:
    target = in_groups(table(range(60), [0, 1] * 30), np.arange(60) // 7)
    by_size, by_share = (attacked(f"linkage:{how}", target) for how in ("population-size=600", "fraction=0.1"))
    assert by_size.figures == by_share.figures
    assert "random sample of 600 people" in by_size.sentence
    assert 0 < by_size.figures["marketer risk (Ewens-Pitman)"] < by_size.figures["mean prosecutor risk"]
    other = attacked("linkage:fraction=0.1,estimator=mu-argus", target).figures
    assert set(other) - set(by_size.figures) == {name for name in other if "(mu-Argus)" in name}
    assert len({name for name in other if "(mu-Argus)" in name}) == 5


def test_a_fallback_is_named() -> None:
    finding = attacked("linkage:fraction=0.5", in_groups(table(range(4), [0, 1] * 2), [0, 0, 0, 0]))
    assert "Ewens-Pitman could not be fitted, because all are in one class: mu-Argus stands in" in finding.sentence
    assert finding.figures["marketer risk (mu-Argus)"] == finding.figures["highest journalist risk (mu-Argus)"]
    assert not any("Ewens" in name for name in finding.figures)


@pytest.mark.parametrize(
    ("threshold", "at_risk"), [("1/11", 0), ("0.0909", 11), ("0.09", 11), ("1/12", 11), ("0.1", 0)]
)
def test_thresholds_are_exact(threshold: str, at_risk: int) -> None:
    finding = attacked(f"linkage:threshold={threshold}", in_groups(table(range(11), [0, 1] * 5 + [0]), [0] * 11))
    assert finding.n_affected == at_risk
    assert ("classes of 11 are written 1/11" in finding.sentence) == (threshold in ("0.09", "0.0909"))


def test_what_is_said_twice_or_too_small_is_refused() -> None:
    with pytest.raises(RecipeError, match="fraction and population-size say the same"):
        parse_attack("linkage:fraction=0.1,population-size=50")
    with pytest.raises(DataError, match="the table alone has 6 persons"):
        attacked("linkage:population-size=5", in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1]))
    with pytest.raises(Unsupported, match="read by lookalike attack"):
        attacked("linkage:population=people.csv", in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1]))
    named = parse_attack(r"linkage:population=C\:/a\, b|c.csv")
    assert parse_attack(str(named)) == named


def test_what_it_means_for_signing_names_the_estimator() -> None:
    made = attack_target(
        in_groups(FOUR_AND_TWO, [0, 0, 0, 0, 1, 1]), [parse_attack("linkage:fraction=0.5")], Randomness(1)
    )
    assert "only knows that the person is in the population" in made.made[0].consequence.sentence
    assert "at most (Ewens-Pitman)" in made.made[0].consequence.sentence


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
    finding = attacked("linkage:fraction=0.1", in_groups(everybody_unique, np.arange(20) // 4))
    assert "unique in the population by the original, Pitman" not in finding.figures
    assert "left out: unique in the population by the original, Pitman" in finding.sentence
    # Dankar's rule falls back on Zayatz.
    assert finding.figures["unique in the population by the original, Dankar"] == pytest.approx(1)
