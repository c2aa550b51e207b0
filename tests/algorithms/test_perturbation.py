"""Perturbation: the printed matrices, the legality fix, exact bounds, true draws, and what a knowing reader gets."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.perturbation import (
    ONE,
    Bounds,
    Perturbation,
    alphas,
    legal_gammas,
    matrix,
    redraw,
    strict_alphas,
)
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Perturbed
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError, Unsupported
from lookalike.models import parse_model
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.l_diversity import LDiversity
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.worlds import tiny_table

HALF = Fraction(1, 2)


def bounds_of(counts, model=None) -> Bounds:  # type: ignore[no-untyped-def]
    prior = np.array(counts, dtype=np.int64)
    return Bounds.of(prior, [(model or BetaLikeness(1)).requirement(prior, None, 0)])


def rounded(numbers, digits=6):  # type: ignore[no-untyped-def]
    return [round(float(number), digits) for number in numbers]


def published(bounds: Bounds, keeps: list[int]) -> np.ndarray:
    randomizer = matrix(bounds, keeps)
    return randomizer.weights / randomizer.total


def largest_posterior(bounds: Bounds, keeps: list[int]) -> Fraction:
    """The highest certainty over its ceiling, by Bayes over the whole matrix."""
    weights = matrix(bounds, keeps).weights
    worst = Fraction(0)
    for row in bounds.values:
        joint = {
            value: int(weights[row, value]) * count for value, count in zip(bounds.values, bounds.counts, strict=True)
        }
        for value, ceiling in zip(bounds.values, bounds.ceilings, strict=True):
            worst = max(worst, Fraction(joint[value], sum(joint.values())) / ceiling)
    return worst


# -- worked examples ------------------------------------------------------------------------------------------------


def test_the_printed_matrix_of_three_values() -> None:
    bounds = bounds_of([200, 300, 500])
    assert rounded(bounds.ceilings) == [0.4, 0.6, 0.846574]
    assert rounded(bounds.gammas()) == [2.666667, 3.5, 5.517783]
    found = alphas(bounds, Fraction(0))
    assert rounded(found) == [0.032072, 0.198344, 0.600946]
    assert published(bounds, bounds.find_keeps(found, "free")).round(6).tolist() == [
        [0.354715, 0.267219, 0.133018],
        [0.322643, 0.465563, 0.133018],
        [0.322643, 0.267219, 0.733964],
    ]


def test_uniform_values_have_one_alpha() -> None:
    bounds = bounds_of([25, 25, 25, 25])
    assert bounds.gammas() == [3] * 4
    assert alphas(bounds, HALF) == [Fraction(1, 3)] * 4
    assert np.linalg.det(published(bounds, bounds.find_keeps(alphas(bounds, HALF), "free"))) == pytest.approx(1 / 27)


@pytest.mark.parametrize(
    ("beta", "least", "most"),
    [(1, 0.0196, 0.0213), (2, 0.038, 0.0435), (3, 0.056, 0.0664), (4, 0.0714, 0.0814), (5, 0.0699, 0.0943)],
)
def test_fifty_values_in_arithmetic_progression(beta: int, least: float, most: float) -> None:
    counts = [10_000 + 10_000 * 23 * place // 49 for place in range(50)]
    found = [float(alpha) for alpha in alphas(bounds_of(counts, BetaLikeness(beta)), HALF)]
    assert least <= min(found) <= max(found) <= most


def test_a_frequent_value_would_make_others_negative_and_break_the_bound() -> None:
    """Without the fix alpha falls below 0 and the certainty in the third value reaches 3.46 times its ceiling."""
    bounds = bounds_of([900, 50, 50])
    gammas = bounds.gammas()
    assert rounded(gammas) == [21.357412, 2.111111, 2.111111]
    m, scale = 3, 1 / (max(gammas) + 2)  # type: ignore[type-var,operator]
    unlawful = [(m * gamma * scale - 1) / (m - 1) for gamma in gammas]  # type: ignore[operator]
    assert rounded(unlawful, 4) == [0.8716, -0.3644, -0.3644]
    keeps = [round(alpha * ONE) for alpha in unlawful]
    assert not bounds.hold(keeps)
    assert float(largest_posterior(bounds, keeps)) == pytest.approx(3.456, abs=1e-3)


def test_the_fix_lowers_the_large_gamma() -> None:
    bounds = bounds_of([900, 50, 50])
    assert rounded(legal_gammas(bounds.gammas(), HALF)) == [2.985816, 2.111111, 2.111111]
    found = alphas(bounds, HALF)
    assert rounded(found) == [0.398293, 0.135135, 0.135135]
    keeps = bounds.find_keeps(found, "free")
    assert float(largest_posterior(bounds, keeps)) == pytest.approx(0.9797, abs=1e-4)
    assert np.linalg.det(published(bounds, keeps)) == pytest.approx(0.04197, abs=1e-5)


def test_without_any_kappa_a_value_says_nothing_and_is_refused() -> None:
    bounds = bounds_of([900, 50, 50])
    assert min(alphas(bounds, Fraction(0))) == 0
    with pytest.raises(Unsupported, match="noise alone"):
        bounds.find_keeps(alphas(bounds, Fraction(0)), "free")


# -- the bounds hold, exactly ----------------------------------------------------------------------------------------

tables = st.lists(st.integers(1, 400), min_size=2, max_size=9)
promises = st.one_of(
    st.sampled_from(["0.05", "0.5", "1", "2", "7"]).map(BetaLikeness),
    st.sampled_from(["0.3", "1", "3"]).map(lambda beta: BetaLikeness(beta, bound="basic")),
    st.sampled_from(["0.5", "2"]).map(lambda beta: BetaLikeness(beta, negative="0.5", negative_form="relative")),
    st.tuples(st.sampled_from(["1.5", "4"]), st.sampled_from(["0", "0.05", "0.3"])).map(
        lambda pair: FPrivacy(theta=pair[0], base=pair[1])
    ),
)


@settings(max_examples=examples(300), deadline=None)
@given(counts=tables, model=promises, kappa=st.sampled_from(["0.01", "0.5", "1"]))
def test_every_posterior_stays_within_its_bounds(counts: list[int], model: BetaLikeness, kappa: str) -> None:
    try:
        bounds = bounds_of(counts, model)
        keeps = bounds.find_keeps(alphas(bounds, Fraction(kappa)), "free")
    except Unsupported:
        return
    assert all(0 < keep < ONE for keep in keeps)
    weights = matrix(bounds, keeps).weights
    assert (weights.sum(axis=0) == len(counts) * ONE).all()
    assert (weights >= 0).all()
    for row in weights:
        joint = [int(weight) * count for weight, count in zip(row, counts, strict=True)]
        for weight, floor, ceiling in zip(joint, bounds.floors, bounds.ceilings, strict=True):
            assert floor <= Fraction(weight, sum(joint)) <= ceiling


@settings(max_examples=examples(200), deadline=None)
@given(counts=tables, keeps=st.data())
def test_the_short_test_agrees_with_bayes_over_the_whole_matrix(counts: list[int], keeps: st.DataObject) -> None:
    try:
        bounds = bounds_of(counts, BetaLikeness("0.7"))
    except Unsupported:
        return
    drawn = [keeps.draw(st.integers(0, ONE - 1)) for _ in counts]
    assert bounds.hold(drawn) == (largest_posterior(bounds, drawn) <= 1)


@settings(max_examples=examples(100), deadline=None)
@given(counts=tables, model=promises)
def test_the_formula_alone_keeps_nearly_all_of_what_it_gives(counts: list[int], model: BetaLikeness) -> None:
    """Ceilings need no lowering beyond the rounding of probabilities; only floors may ask for it."""
    if getattr(model, "negative", None) is not None:
        return
    try:
        bounds = bounds_of(counts, model)
        wanted = alphas(bounds, HALF)
        keeps = bounds.find_keeps(wanted, "free")
    except Unsupported:
        return
    assert all(keep >= alpha * ONE * Fraction(999, 1000) - 2 for keep, alpha in zip(keeps, wanted, strict=True))


# -- what cannot be served -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "model", "reason"),
    [
        ([7], BetaLikeness(1), "two sensitive values"),
        ([5, 0, 0], BetaLikeness(1), "two sensitive values"),
        ([50, 50], BetaLikeness(3, bound="basic"), "nothing to redraw"),
        ([1, 1, 1], LDiversity(3), "no more certainty than its share"),
        ([50, 50], FPrivacy(theta=1, base=0), "no more certainty than its share"),
    ],
)
def test_degenerate_inputs_are_refused(counts: list[int], model: BetaLikeness, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        bounds_of(counts, model)


def test_two_sensitive_columns_are_refused() -> None:
    table = census(60, seed=2)
    first, second = table.names[-2:]
    recipe = Recipe(
        schema=Schema.of(qi=table.names[:2], sensitive=[first, second]),
        promises=(Promise(BetaLikeness(2)),),
        algorithm=Perturbation(),
    )
    with pytest.raises(Unsupported, match="one sensitive column"):
        pipeline.run(prepare(recipe, table))


def test_a_carried_column_is_refused() -> None:
    table = census(60, seed=2)
    recipe = Recipe(
        schema=Schema.of(qi=table.names[:1], sensitive=table.names[-1:], carry=table.names[2:3]),
        promises=(Promise(BetaLikeness(2)),),
        algorithm=Perturbation(),
    )
    with pytest.raises(Unsupported, match="reads what the row carries"):
        pipeline.run(prepare(recipe, table))


@pytest.mark.parametrize("text", ["k-anonymity:2", "t-closeness:0.2", "l-diversity:2,kind=entropy"])
def test_promises_about_more_than_beliefs_in_values_are_refused(text: str) -> None:
    table = census(60, seed=2)
    recipe = Recipe(
        schema=Schema.of(qi=table.names[:2], sensitive=table.names[-1:]),
        promises=(Promise(parse_model(text)),),
        algorithm=Perturbation(),
    )
    with pytest.raises(Unsupported, match="perturbation"):
        pipeline.run(prepare(recipe, table))


@pytest.mark.parametrize("kappa", ["-0.1", "1.5", "much"])
def test_kappa_lies_between_0_and_1(kappa: str) -> None:
    with pytest.raises(RecipeError, match="kappa"):
        parse_algorithm(f"perturbation:kappa={kappa}")


# -- the draws -------------------------------------------------------------------------------------------------------


def test_the_published_column_follows_the_matrix() -> None:
    """Chi-square of every column of the matrix, from 200,000 records of known values; fails once in 10^7."""
    from scipy.stats import chi2

    bounds = bounds_of([120_000, 0, 50_000, 20_000, 10_000], BetaLikeness(2))
    keeps = bounds.find_keeps(alphas(bounds, HALF), "free")
    codes = np.repeat(np.array(bounds.values, dtype=np.int32), bounds.counts)
    drawn = redraw(codes, bounds, keeps, Randomness())
    expected = matrix(bounds, keeps)
    assert (drawn != 1).all()
    for value, count in zip(bounds.values, bounds.counts, strict=True):
        seen = np.bincount(drawn[codes == value], minlength=5)[bounds.values]
        wanted = count * expected.weights[bounds.values, value] / expected.total
        statistic = float(((seen - wanted) ** 2 / wanted).sum())
        assert chi2.sf(statistic, len(bounds.values) - 1) > 1e-7


def test_draws_are_independent_of_each_other_and_of_the_row_order() -> None:
    """Neighbouring records agree as often as independent draws do, in input order and in published order."""
    table = census(40_000, seed=5)
    data = Microdata.encode(table, Schema.of(qi=table.names[:1], sensitive=table.names[-1:]))
    model = BetaLikeness(2)
    requirement = model.requirement(data.counts(0), data.domains.sensitive[0], 0)
    release, linkage = Perturbation(mode="free").anonymize(data, [requirement], Randomness(), silent)
    assert isinstance(release, Perturbed)
    drawn = release.sensitive[np.argsort(linkage.record_of_row), 0]
    assert (drawn != data.sensitive[:, 0]).any()
    for column in (drawn, release.sensitive[:, 0]):
        shares = np.bincount(column) / len(column)
        expected = float((shares**2).sum())
        agreeing = float((column[1:] == column[:-1]).mean())
        assert abs(agreeing - expected) < 6 * np.sqrt(expected / len(column))


def test_the_release_is_audited_whatever_the_kappa() -> None:
    table = census(800, seed=4)
    for text in ("perturbation", "perturbation:kappa=0.1", "perturbation:mode=strict"):
        recipe = Recipe(
            schema=Schema.of(qi=table.names[:3], sensitive=table.names[-1:]),
            promises=(Promise(BetaLikeness(2)), Promise(LDiversity(2))),
            algorithm=parse_algorithm(text),
        )
        outcome = pipeline.run(prepare(recipe, table))
        assert outcome.audit.passed
        assert 0 < outcome.losses["values_changed"] < 1


# -- a reader who knows the exact counts -----------------------------------------------------------------------------


def beliefs_given_counts(counts: tuple[int, ...], weights: np.ndarray) -> dict[int, Fraction]:
    """The highest certainty in each value about one person, over everything that can be published, to a reader for whom
    every order of the values is equally likely: Bayes, exactly."""
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    worlds = sorted(set(permutations(values)))
    worst = dict.fromkeys(range(len(counts)), Fraction(0))
    for others in combinations_with_replacement(range(len(counts)), len(values) - 1):
        for own in range(len(counts)):
            rows = (own, *others)
            likelihoods = dict.fromkeys(range(len(counts)), 0)
            for world in worlds:
                product = 1
                for row, value in zip(rows, world, strict=True):
                    product *= int(weights[row, value])
                likelihoods[world[0]] += product
            for value, likelihood in likelihoods.items():
                worst[value] = max(worst[value], Fraction(likelihood, sum(likelihoods.values())))
    return worst


@pytest.mark.parametrize("counts", [(1, 2), (2, 2), (2, 3), (1, 1, 2), (1, 2, 2)])
def test_knowing_every_count_breaks_free_draws_and_not_strict_ones(counts: tuple[int, ...]) -> None:
    bounds = bounds_of(counts, BetaLikeness("0.5"))
    ratios = {}
    for mode, wanted in (("free", alphas(bounds, HALF)), ("strict", strict_alphas(bounds))):
        randomizer = matrix(bounds, bounds.find_keeps(wanted, mode))
        found = beliefs_given_counts(counts, randomizer.weights)
        ratios[mode] = max(found[value] / bounds.ceilings[value] for value in found)
    assert ratios["strict"] <= 1 < ratios["free"]


def test_the_audit_refuses_free_draws_against_who_knows_the_counts() -> None:
    table = census(500, seed=4)
    data = Microdata.encode(table, Schema.of(qi=table.names[:2], sensitive=table.names[-1:]))
    settled = settle([Promise(BetaLikeness(2))], data)
    requirements = require(settled, data)
    verdicts = {}
    for mode in ("free", "strict"):
        release, _ = Perturbation(mode=mode).anonymize(data, requirements, Randomness(1), silent)
        for adversary in ("reads-release", "knows-method"):
            verdicts[mode, adversary] = pipeline.verify(data, release, settled, adversary=adversary).passed
    assert verdicts == {
        ("free", "reads-release"): True,
        ("free", "knows-method"): False,
        ("strict", "reads-release"): True,
        ("strict", "knows-method"): True,
    }


@pytest.mark.parametrize("counts", [(1, 2), (2, 2), (1, 1, 2)])
def test_the_audit_bounds_what_the_counts_tell(counts: tuple[int, ...]) -> None:
    """The audit's figure is no less than exact Bayes gives, for a matrix with no structure at all."""
    from lookalike.audit.exposures import expose
    from lookalike.data.release import Randomizer
    from lookalike.models.shared.exposures import highest_beliefs

    size = len(counts)
    weights = np.array([[7, 2, 3], [2, 5, 4], [3, 5, 5]], dtype=np.int64)[:size, :size]
    weights[-1] = 12 - weights[:-1].sum(axis=0)
    world = "".join("abc"[value] * count for value, count in enumerate(counts))
    data = tiny_table(world, [1] * len(world))
    release = Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=data.sensitive,
        carried=data.carried,
        randomizers=(Randomizer(weights, 12),),
    )
    bound = highest_beliefs(expose(data, release, 0, adversary="knows-method")).beliefs
    exact = beliefs_given_counts(counts, weights)
    assert all(bound[value] >= belief for value, belief in exact.items())
