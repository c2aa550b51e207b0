"""How many of a population are in a class that shows f persons: exact small cases, printed values, large numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, hyp2f1
from scipy.stats import beta

from lookalike.attacks.shared.population import EwensPitman, MuArgus, estimate_population
from tests.attacks.test_linkage import seated


def exact(alpha: Fraction, theta: Fraction, n: int, n_population: int, f: int) -> list[Fraction]:
    """Pr(F = f), Pr(F = f + 1), ... by the chances of one further draw after the other."""
    found = {f: Fraction(1)}
    for drawn in range(n, n_population):
        after: dict[int, Fraction] = {}
        for size, chance in found.items():
            falls = (size - alpha) / (drawn + theta)
            after[size] = after.get(size, Fraction(0)) + chance * (1 - falls)
            after[size + 1] = after.get(size + 1, Fraction(0)) + chance * falls
        found = after
    return [found[size] for size in sorted(found)]


def test_four_of_eight_by_fractions() -> None:
    shares = exact(Fraction(1, 2), Fraction(5), 4, 8, 1)
    assert shares == [Fraction(*pair) for pair in ((52003, 63360), (2261, 15840), (323, 10560), (17, 3168), (7, 12672))]
    assert sum(share / size for size, share in enumerate(shares, 1)) == Fraction(57263, 63360)
    assert EwensPitman(0.5, 5, 4, 4).risks(np.array([1]))[0] == pytest.approx(57263 / 63360, abs=1e-14)
    shares = exact(Fraction(0), Fraction(0), 4, 8, 1)
    assert shares == [Fraction(*pair) for pair in ((3, 7), (2, 7), (6, 35), (3, 35), (1, 35))]
    assert EwensPitman(0.0, 0.0, 4, 4).risks(np.array([1]))[0] == pytest.approx(459 / 700, abs=1e-14)


@pytest.mark.parametrize(("alpha", "theta"), [("1/2", "5"), ("0.7", "2"), ("0", "0"), ("0.3", "-0.2")])
def test_any_size_by_fractions(alpha: str, theta: str) -> None:
    model = EwensPitman(float(Fraction(alpha)), float(Fraction(theta)), 10, 13)
    for f in range(1, 10):
        shares = exact(Fraction(alpha), Fraction(theta), 10, 23, f)
        risk = sum(share / size for size, share in enumerate(shares, f))
        mean = sum(share * size for size, share in enumerate(shares, f))
        assert model.risks(np.array([f]))[0] == pytest.approx(float(risk), rel=1e-12)
        assert model.sizes(np.array([f]))[0] == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize(
    ("alpha", "theta", "risks"),
    [
        (0.5, 5.0, (0.541502, 0.145429, 0.074296)),
        (0.7, 2.0, (0.655202, 0.144541, 0.067791)),
        (0.0, 0.0, (0.243249, 0.076674, 0.042616)),
    ],
)
def test_ten_of_a_hundred(alpha: float, theta: float, risks: tuple[float, ...]) -> None:
    assert EwensPitman(alpha, theta, 10, 90).risks(np.array([1, 2, 3])) == pytest.approx(risks, abs=6e-7)


@pytest.mark.parametrize(
    ("p", "risks"),
    [
        (0.01, (0.046517, 0.009631, 0.004953, 0.002492)),
        (0.1, (0.255843, 0.082684, 0.046368, 0.024235)),
        (0.5, (0.693147, 0.306853, 0.193147, 0.109814)),
        (0.9, (0.948245, 0.465798, 0.307816, 0.183089)),
    ],
)
def test_values_of_mu_argus(p: float, risks: tuple[float, ...]) -> None:
    assert MuArgus(p).risks(np.array([1, 2, 3, 5])) == pytest.approx(risks, abs=6e-7)


@pytest.mark.parametrize("fraction", [0.001, 0.05, 0.4, 0.51, 0.9])
def test_mu_argus_of_large_classes_is_the_hypergeometric_function(fraction: float) -> None:
    for f in (1, 2, 30, 80, 400, 401):
        expected = fraction**f / f * hyp2f1(f, f, f + 1, 1 - fraction) if f < 80 else None
        if expected is None:
            expected = quad(lambda w, f=f: w ** (f - 1) * fraction / (fraction + (1 - fraction) * w), 0, 1)[0]
        assert MuArgus(fraction).risks(np.array([f]))[0] == pytest.approx(expected, rel=1e-5)


def by_integral(model: EwensPitman) -> float:
    """E[1 / F] of f = 1 by the mixing distribution: W is beta, the others binomial (M, W)."""
    n_unseen, mixing = model.n_unseen, beta(1 - model.alpha, model.n_persons - 1 + model.theta + model.alpha)

    def inner(log: float) -> float:
        w = np.exp(log)
        alone = -np.expm1((n_unseen + 1) * np.log1p(-w)) / ((n_unseen + 1) * w)
        return float(alone * mixing.pdf(w) * w)

    return float(sum(quad(inner, low, low + 3, limit=200)[0] for low in range(-240, 0, 3)))


@pytest.mark.parametrize("n_unseen", [10_000, 10**6, 8 * 10**9])
@pytest.mark.parametrize(("alpha", "theta", "n"), [(0.6, 800.0, 1000), (0.9, 20.0, 10_000), (0.0, 1.0, 50)])
def test_large_populations_sum_equals_integral(alpha: float, theta: float, n: int, n_unseen: int) -> None:
    model = EwensPitman(alpha, theta, n, n_unseen)
    assert model.risks(np.array([1]))[0] == pytest.approx(by_integral(model), rel=2e-5)


@pytest.mark.parametrize(("alpha", "theta", "n"), [(0.6, 800.0, 4000), (0.3, 5000.0, 100_000), (0.01, 0.1, 2500)])
def test_every_size_equals_the_whole_sum(alpha: float, theta: float, n: int) -> None:
    numbers = np.arange(50_001.0)
    model, rest = EwensPitman(alpha, theta, n, 50_000), 50_000 - numbers
    for f in (1, 2, 10, 200, 1000, 1001, 2000):
        second = n - f + theta + alpha
        logs = gammaln(numbers + f - alpha) - gammaln(numbers + 1) + gammaln(rest + second) - gammaln(rest + 1)
        weights = np.exp(logs - logs.max())
        expected = (weights / (f + numbers)).sum() / weights.sum()
        assert model.risks(np.array([f]))[0] == pytest.approx(expected, rel=1e-7 if f <= 1000 else 1e-6)


def test_mu_argus_is_ewens_pitman_without_rare_classes() -> None:
    sizes = np.array([1, 2, 5, 40])
    assert EwensPitman(0.0, 0.0, 10**6, 9 * 10**6).risks(sizes) == pytest.approx(MuArgus(0.1).risks(sizes), rel=1e-3)


def test_everybody_of_the_population_is_accounted_for() -> None:
    sizes = np.array([1, 1, 1, 2, 3, 9])
    n, alpha, theta, unseen = int(sizes.sum()), 0.4, 3.0, 500
    in_new_classes = unseen * (theta + alpha * len(sizes)) / (n + theta)
    assert EwensPitman(alpha, theta, n, unseen).sizes(sizes).sum() + in_new_classes == pytest.approx(n + unseen)


@pytest.mark.parametrize("estimator", ["Ewens-Pitman", "mu-Argus"])
def test_risks_fall_with_the_class_and_rise_with_the_fraction(estimator: str) -> None:
    sizes = np.bincount(seated(0.5, 20.0, 600, seed=3)).astype(np.int64)
    found = []
    for n_population in (600, 700, 2000, 60_000):
        posterior, instead = estimate_population(sizes, 600, n_population, estimator)
        assert instead is None
        assert posterior.name == ("whole population" if n_population == 600 else estimator)
        found.append(posterior.risks(np.arange(1, 60)))
        assert (np.diff(found[-1]) < 0).all()
    assert found[0] == pytest.approx(1 / np.arange(1, 60))
    assert all((more > less).all() for more, less in pairwise(found))


def test_a_fit_that_is_not_possible_gives_way_with_a_reason() -> None:
    for sizes, reason in (
        (np.ones(9, dtype=np.int64), "every class has a single person"),
        (np.array([9]), "all are in one class"),
        (None, "the rows form no classes"),
    ):
        posterior, instead = estimate_population(sizes, 9, 90, "Ewens-Pitman")
        assert posterior == MuArgus(0.1)
        assert instead is not None
        assert reason in instead


def test_the_estimate_finds_the_truth_in_populations_with_many_rare_classes() -> None:
    population = seated(0.6, 300.0, 20_000, seed=9)
    drawn = np.random.default_rng(4).permutation(20_000)[:1000]
    sizes = np.bincount(population)
    f = np.bincount(population[drawn], minlength=len(sizes))
    truth = float((1 / sizes[population[drawn]]).mean())
    seen = f[f > 0].astype(np.int64)
    figures = {}
    for name in ("Ewens-Pitman", "mu-Argus"):
        posterior, _ = estimate_population(seen, 1000, 20_000, name)
        figures[name] = float(seen @ posterior.risks(seen)) / 1000
    assert figures["Ewens-Pitman"] == pytest.approx(truth, rel=0.15)
    assert figures["mu-Argus"] < truth / 2
