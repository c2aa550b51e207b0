"""Every worked example and printed number about the models themselves, section by section of their specification."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.exposure import counted_exposure
from lookalike.errors import Infeasible
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.shared.exact import exp_of_negative, sign_of
from lookalike.models.t_closeness import TCloseness
from tests.models.building import categories, exposure_of, numbers, weighed


def ceiling(model: BetaLikeness, share: Fraction) -> Fraction:
    """f(share), read from a table in which one value has that share."""
    counts = np.array([share.numerator, share.denominator - share.numerator])
    ceilings = model.requirement(counts, None, 0).ceilings
    assert ceilings is not None
    return ceilings[0]


# Section 1: k-anonymity


def test_1_a_table_smaller_than_k_cannot_be_k_anonymous() -> None:
    KAnonymity(4).check_eligible(np.array([4]), None)
    assert KAnonymity(4).refuses_form("perturbed") == "not applicable: quasi-identifiers are published exactly"


# Section 2: the star of four records


def star() -> tuple[list[tuple[int, ...]], list[set[int]]]:
    fits = [{0, 1, 2, 3}, {0, 1}, {0, 2}, {0, 3}]
    complete = [rows for rows in itertools.permutations(range(4)) if all(map(set.__contains__, fits, rows))]
    return complete, fits


def test_2_the_star_keeps_2_concealment_but_links_with_three_quarters() -> None:
    complete, fits = star()
    assert len(complete) == 4
    times = [[sum(rows[record] == row for rows in complete) for row in range(4)] for record in range(4)]
    concealed = np.array([sum(count > 0 for count in counts) for counts in times])
    exposure = counted_exposure(
        np.repeat(np.arange(4), [len(rows) for rows in fits]),
        None,
        4,
        adversary=READS_RELEASE,
        form="matched",
        column=None,
        prior=np.array([4]),
        concealed=concealed,
    )
    assert KConcealment(2).holds(KConcealment(2).level(exposure))
    assert not KConcealment(3).holds(KConcealment(3).level(exposure))
    # Probabilities about the rows themselves: 2-anonymity would bound them by 1/2.
    beliefs = sorted(Fraction(count, 4) for counts in times for count in counts if count)
    assert beliefs == [Fraction(1, 4)] * 7 + [Fraction(3, 4)] * 3
    linking = AlphaK(alpha="1/2", k=1)
    level = linking.level(weighed(times, [1, 1, 1, 1], form="matched"))
    assert level.value == Fraction(3, 4)
    assert not linking.holds(level)


# Section 3 and 4: (alpha, k) and the l-diversity family


def test_3_simple_l_diversity_is_alpha_of_one_over_l() -> None:
    exposure = exposure_of([[2, 2, 2], [3, 2, 4]])
    simple, alpha = LDiversity("2.25"), AlphaK(alpha="4/9", k=1)
    assert simple.holds(simple.level(exposure))
    assert alpha.holds(alpha.level(exposure))
    assert simple.level(exposure).value == 1 / Fraction(alpha.level(exposure).value)


@pytest.mark.parametrize("n_records", range(4, 30))
@pytest.mark.parametrize("ell", [2, 3, 4])
def test_4_eligible_up_to_the_floor_of_n_over_l(n_records: int, ell: int) -> None:
    most = n_records // ell
    fits = np.array([most, *[1] * (n_records - most)])
    LDiversity(ell).check_eligible(fits, categories(len(fits)))
    over = np.array([most + 1, *[1] * (n_records - most - 1)])
    with pytest.raises(Infeasible):
        LDiversity(ell).check_eligible(over, categories(len(over)))


def test_4_entropy_at_equality_is_decided_by_integers() -> None:
    entropy = LDiversity(3, kind="entropy")
    assert entropy.holds(entropy.level(exposure_of([[7, 7, 7]])))
    # Equal counts but for one record: the float entropy is within 1e-9 of ln 3, and below it.
    nearly = exposure_of([[100_000, 100_000, 100_001]])
    assert not entropy.holds(entropy.level(nearly))
    assert float(entropy.level(nearly).value) == pytest.approx(3, rel=1e-9)
    # Unequal counts can tie as well: entropy of (1/2, 1/4, 1/4) is 1.5 ln 2, so l^2 = 8 has no rational root,
    # but (1/2, 1/8 x 4) has entropy 2 ln 2.
    four = LDiversity(4, kind="entropy")
    assert four.holds(four.level(exposure_of([[4, 1, 1, 1, 1]])))
    assert not LDiversity("4.0000000001", kind="entropy").holds(four.level(exposure_of([[4, 1, 1, 1, 1]])))


def test_4_recursive_diversity_is_strict() -> None:
    exposure = exposure_of([[4, 2, 2]])
    level = LDiversity(2, kind="recursive", c=1).level(exposure)
    assert level.value == 1
    assert not LDiversity(2, kind="recursive", c=1).holds(level)
    assert LDiversity(2, kind="recursive", c="1.001").holds(level)


# Section 5: distances


@pytest.mark.parametrize(
    ("prior", "group", "emd", "kl", "js"),
    [
        ([4, 6], [5, 5], Fraction(1, 10), 0.0290, 0.0073),
        ([1, 99], [3, 97], Fraction(1, 50), 0.0133, 0.0038),
        ([1, 99], [11, 89], Fraction(1, 10), None, None),
    ],
)
def test_5_printed_distances(
    prior: list[int], group: list[int], emd: Fraction, kl: float | None, js: float | None
) -> None:
    exposure = exposure_of([group], prior=prior)
    assert TCloseness("0.5").level(exposure).value == emd
    if kl is not None:
        assert float(TCloseness("0.5", distance="kl").level(exposure).value) == pytest.approx(kl, abs=5e-5)
        assert float(TCloseness("0.5", distance="js").level(exposure).value) == pytest.approx(js, abs=5e-5)


@pytest.mark.parametrize(("salaries", "distance"), [((3, 4, 5), Fraction(3, 8)), ((6, 8, 11), Fraction(1, 6))])
def test_5_nine_salaries(salaries: tuple[int, ...], distance: Fraction) -> None:
    column = numbers(range(3, 12))
    group = [int(salary in salaries) for salary in range(3, 12)]
    exposure = exposure_of([group], column, prior=[1] * 9)
    assert TCloseness("0.5", distance="ordered").level(exposure).value == distance


# Section 6: delta-disclosure


def test_6_delta_disclosure_asks_for_every_value_and_may_allow_certainty() -> None:
    model = DeltaDisclosure(1)
    absent = exposure_of([[5, 0], [4, 1]])
    assert model.level(absent).value == math.inf
    # p = 9/10 >= e^-1: the ceiling of the frequent value is 1.
    requirement = model.requirement(np.array([90, 10]), None, 0)
    assert requirement.ceilings is not None
    assert requirement.ceilings[0] == 1
    model.check_eligible(np.array([1, 999]), categories(2))


# Section 7: beta-likeness


@pytest.mark.parametrize(
    ("beta", "share", "bound"),
    [
        (2, Fraction(2, 19), 0.3158),
        (2, Fraction(3, 19), 0.4493),
        (2, Fraction(4, 19), 0.5386),
        (1, Fraction(1, 6), 0.3333),
        (4, Fraction(48402, 10**6), 0.1950),
        (1, Fraction(1, 5), 0.4),
        (1, Fraction(3, 10), 0.6),
        (1, Fraction(1, 2), 0.846574),
    ],
)
def test_7_enhanced_bounds(beta: int, share: Fraction, bound: float) -> None:
    assert float(ceiling(BetaLikeness(beta), share)) == pytest.approx(bound, abs=5e-5)


def test_7_exact_bounds_are_exact() -> None:
    assert ceiling(BetaLikeness(2), Fraction(2, 19)) == Fraction(6, 19)
    assert ceiling(BetaLikeness(1), Fraction(1, 6)) == Fraction(1, 3)
    assert math.exp(-2) == pytest.approx(0.1353, abs=5e-5)


def test_7_enhanced_bound_rises_and_stays_below_certainty() -> None:
    model = BetaLikeness(2)
    bounds = [ceiling(model, Fraction(number, 200)) for number in range(1, 200)]
    assert bounds == sorted(bounds)
    assert bounds[-1] < 1
    assert ceiling(model, Fraction(1)) == 1


def test_7_leaves_of_the_worked_bucket_tree() -> None:
    # Headache, epilepsy | brain tumors, anemia | angina, heart murmur: leaves take (1,1,2), (1,2,2) and (3,3,4).
    model = BetaLikeness(2)
    kept = exposure_of([[1, 0, 1, 0, 2, 0], [1, 0, 2, 0, 2, 0], [0, 3, 0, 3, 0, 4]])
    assert kept.prior.tolist() == [2, 3, 3, 3, 4, 4]
    assert model.holds(model.level(kept))
    # (3,3,4) is not split into (1,1,2) and (2,2,2), where a headache could have 2/6 > 6/19.
    split = exposure_of([[0, 1, 0, 1, 0, 2], [2, 0, 1, 1, 2, 0], [0, 2, 2, 1, 2, 2]])
    assert split.prior.tolist() == [2, 3, 3, 3, 4, 4]
    assert model.level(split).unit == 1
    assert not model.holds(model.level(split))


# Section 8: F'-privacy


def test_8_standard_family_and_its_uniform_companion() -> None:
    model = FPrivacy(theta=8)
    assert model.base == Fraction(1, 50)
    prior = np.array([1, 4, 45, 50])
    ceilings = model.requirement(prior, None, 0).ceilings
    assert ceilings == (Fraction(1, 10), Fraction(17, 50), 1, 1)
    assert math.ceil(1 / min(ceilings)) == 10
    model.check_eligible(prior, categories(4))


def test_8_l_diversity_is_f_privacy_with_one_ceiling() -> None:
    prior = np.array([5, 5, 5, 5])
    one = FPrivacy(ceilings={"*": "1/4"}).requirement(prior, categories(4), 0)
    assert one.ceilings == LDiversity(4).requirement(prior, categories(4), 0).ceilings
    exposure = exposure_of([[1, 1, 1, 1], [4, 4, 4, 4]])
    assert FPrivacy(ceilings={"*": "1/4"}).level(exposure).value == 1


# Section 9 and 10: perturbation


def test_9_amplification_bounds_every_property() -> None:
    # rho1 = 1/10, rho2 = 1/2: gamma = 5 * (9/10) / (1/2) = 9; ratios of 9 within each row are enough.
    rho = RhoPrivacy("0.1", "0.5")
    gamma = rho.rho2 / rho.rho1 * (1 - rho.rho1) / (1 - rho.rho2)
    assert gamma == 9
    prior = [1, 1, 8, 10]
    rows = [[9, 1, 1, 1], [1, 9, 1, 1], [1, 1, 9, 1], [1, 1, 1, 9]]
    weights = [[weight * number for weight, number in zip(row, prior, strict=True)] for row in rows]
    assert rho.holds(rho.level(weighed(weights, prior)))


def posterior(prior: list[int], rows: list[list[int]]) -> list[list[int]]:
    return [[weight * number for weight, number in zip(row, prior, strict=True)] for row in rows]


def test_10_the_worked_matrix_keeps_the_bound() -> None:
    # p = (0.2, 0.3, 0.5), beta = 1, entries in millionths as printed.
    rows = [[354715, 267219, 133018], [322643, 465563, 133018], [322643, 267219, 733964]]
    model = BetaLikeness(1)
    assert model.holds(model.level(weighed(posterior([2, 3, 5], rows), [2, 3, 5])))


def test_10_a_negative_alpha_breaks_the_bound() -> None:
    # p = (0.9, 0.05, 0.05), beta = 1: X = gamma * C and Y = (1 - X) / 2 with gamma = (21.357, 2.111, 2.111).
    gammas = [21.357, 2.111111, 2.111111]
    scale = 1 / (gammas[0] + 2)
    stay = [gamma * scale for gamma in gammas]
    rows = [
        [round(10**9 * (stay[code] if code == row else (1 - stay[code]) / 2)) for code in range(3)] for row in range(3)
    ]
    exposure = weighed(posterior([18, 1, 1], rows), [18, 1, 1])
    belief = exposure.belief(int(np.flatnonzero((exposure.values == 2) & (exposure.unit_of_entry == 1))[0]))
    assert float(belief) == pytest.approx(0.3456, abs=5e-4)
    model = BetaLikeness(1)
    assert not model.holds(model.level(exposure))
    assert float(belief) / float(ceiling(model, Fraction(1, 20))) == pytest.approx(3.46, abs=0.01)


# Section 11: the multiplicative bounds that a comparison with differential privacy equates


def test_11_epsilon_and_one_plus_beta() -> None:
    low, high = exp_of_negative(Fraction(1386, 1000))
    assert float(1 / high) == pytest.approx(1 + 3, abs=0.005)
    low, high = exp_of_negative(Fraction(1961, 100))
    assert float(1 / low) == pytest.approx(328e6, rel=0.005)


# Errata


def test_erratum_1_who_forbids_what() -> None:
    absent = exposure_of([[0, 3], [5, 2]])
    enhanced, delta = BetaLikeness(2), DeltaDisclosure(3)
    assert enhanced.holds(enhanced.level(exposure_of([[0, 3, 3], [5, 2, 2]])))
    assert not delta.holds(delta.level(absent))
    certain = exposure_of([[1, 0], [8, 1]])
    assert enhanced.level(certain).value == math.inf
    # Near certainty is fine for delta-disclosure if the value is frequent: p = 0.9, q = 0.99.
    near = exposure_of([[99, 1]], prior=[90, 10])
    assert delta.holds(delta.level(near))


def test_erratum_2_beta_is_an_increase() -> None:
    exposure = exposure_of([[3, 7]], prior=[1, 9])
    assert BetaLikeness(2, bound="basic").level(exposure).value == 2


def test_erratum_3_basic_likeness_says_nothing_about_frequent_values() -> None:
    filled = exposure_of([[4, 0], [1, 5]])
    basic, enhanced = BetaLikeness(1, bound="basic"), BetaLikeness(1)
    assert basic.holds(basic.level(filled))
    assert not enhanced.holds(enhanced.level(filled))


def test_erratum_4_equality_is_enough_where_bounds_are_not_strict() -> None:
    exposure = exposure_of([[2, 2, 2], [1, 1, 4]])
    for model in (
        LDiversity("3/2"),
        TCloseness("1/6"),
        BetaLikeness("1/3", bound="basic"),
        FPrivacy(ceilings={"c": "2/3"}),
        AlphaK("2/3", 6),
    ):
        assert model.level(exposure).value == model.asked
        assert model.holds(model.level(exposure))


def test_erratum_5_decimal_text_is_exact() -> None:
    assert 0.1 + 0.2 > 0.3
    exposure = exposure_of([[3, 7]])
    for tenths in (0.3, "0.3", Fraction(3, 10)):
        model = FPrivacy(ceilings={"a": tenths})
        assert model.level(exposure).value == 1
        assert model.holds(model.level(exposure))
    assert not FPrivacy(ceilings={"a": "0.29999999999999998"}).holds(
        FPrivacy(ceilings={"a": "0.29999999999999998"}).level(exposure)
    )


def test_erratum_6_an_interval_without_an_integer() -> None:
    beta = BetaLikeness("1.13", bound="basic").beta
    low, high = 1 / ((1 + beta) * Fraction(1, 3)), 1 / Fraction(2, 3)
    assert (round(float(low), 3), float(high)) == (1.408, 1.5)
    assert math.ceil(low) > high


def test_7_branches_never_tie() -> None:
    # -ln(1/2) = 0.69314718055994530941...: betas next to it take different branches.
    below, above = Fraction("0.6931471805599453094"), Fraction("0.6931471805599453095")
    assert sign_of(below, [(Fraction(1), Fraction(1, 2))]) < 0 < sign_of(above, [(Fraction(1), Fraction(1, 2))])
    assert ceiling(BetaLikeness(below), Fraction(1, 2)) == (1 + below) / 2
    assert ceiling(BetaLikeness(above), Fraction(1, 2)) < (1 + above) / 2
