"""How the models follow from each other, on random partitions."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookalike.data.contracts import PrivacyModel
from lookalike.data.exposure import Exposure
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.shared.exact import enclosure, sign_of
from lookalike.models.t_closeness import TCloseness
from tests.models.building import exposure_of, partitions

betas = st.fractions(Fraction(1, 10), Fraction(4), max_denominator=10)


def kept(model: PrivacyModel, exposure: Exposure) -> bool:
    return model.holds(model.level(exposure))


@settings(deadline=None)
@given(partitions(), betas)
def test_basic_likeness_from_simple_diversity(groups: list[list[int]], beta: Fraction) -> None:
    exposure = exposure_of(groups)
    shares = [Fraction(int(number), exposure.n_records) for number in exposure.prior]
    low, high = 1 / ((1 + beta) * min(shares)), 1 / max(shares)
    ell = max(math.ceil(low), 1)
    if ell <= high and beta >= max(shares) / min(shares) - 1 and kept(LDiversity(ell), exposure):
        assert kept(BetaLikeness(beta, bound="basic"), exposure)


@settings(deadline=None)
@given(partitions(), betas)
def test_delta_disclosure_implies_enhanced_likeness(groups: list[list[int]], beta: Fraction) -> None:
    exposure = exposure_of(groups)
    top = Fraction(int(exposure.prior.max()), exposure.n_records)
    assume(top < 1)
    # min(beta, -ln p_max), rounded down; then delta = ln(1 + that), rounded down again: a smaller delta implies more.
    least = beta if sign_of(beta, [(Fraction(1), top)]) <= 0 else enclosure(Fraction(0), [(Fraction(-1), top)])[0]
    delta, _ = enclosure(Fraction(0), [(Fraction(1), 1 + least)])
    if kept(DeltaDisclosure(delta), exposure):
        assert kept(BetaLikeness(beta), exposure)


@settings(deadline=None)
@given(partitions(), betas)
def test_enhanced_implies_basic_and_back_for_rare_values(groups: list[list[int]], beta: Fraction) -> None:
    exposure = exposure_of(groups)
    enhanced, basic = BetaLikeness(beta), BetaLikeness(beta, bound="basic")
    if kept(enhanced, exposure):
        assert kept(basic, exposure)
    rare = all(
        sign_of(beta, [(Fraction(1), Fraction(int(number), exposure.n_records))]) <= 0 for number in exposure.prior
    )
    if rare:
        assert kept(enhanced, exposure) == kept(basic, exposure)


@settings(deadline=None)
@given(partitions(), betas)
def test_enhanced_likeness_is_f_privacy_with_its_ceilings(groups: list[list[int]], beta: Fraction) -> None:
    exposure = exposure_of(groups)
    ceilings = BetaLikeness(beta).requirement(exposure.prior, exposure.column, 0).ceilings
    assert ceilings is not None
    names = exposure.column.texts if exposure.column is not None else ()
    capped = FPrivacy(ceilings=dict(zip(names, ceilings, strict=True)))
    assert kept(capped, exposure) == kept(BetaLikeness(beta), exposure)


@settings(deadline=None)
@given(partitions(), st.integers(1, 5))
def test_the_diversity_family_is_ordered(groups: list[list[int]], ell: int) -> None:
    exposure = exposure_of(groups)
    simple, entropy = LDiversity(ell), LDiversity(ell, kind="entropy")
    distinct = LDiversity(ell, kind="distinct")
    if kept(simple, exposure):
        assert kept(entropy, exposure)
    if kept(entropy, exposure):
        assert kept(distinct, exposure)
    assert kept(simple, exposure) == kept(AlphaK(alpha=Fraction(1, ell), k=1), exposure)
    assert kept(simple, exposure) == kept(FPrivacy(ceilings={"*": Fraction(1, ell)}), exposure)


@settings(deadline=None)
@given(partitions())
def test_distances_are_ordered_by_their_inequalities(groups: list[list[int]]) -> None:
    exposure = exposure_of(groups)
    emd = float(TCloseness(1).level(exposure).value)
    kl = float(TCloseness(1, distance="kl").level(exposure).value)
    js = float(TCloseness(1, distance="js").level(exposure).value)
    # Pinsker: total variation <= sqrt(KL nats / 2); and JS <= total variation in bits.
    assert emd <= math.sqrt(kl * math.log(2) / 2) + 1e-9
    assert js <= emd + 1e-9


@settings(deadline=None)
@given(partitions(), betas)
def test_basic_likeness_bounds_every_unlikely_property(groups: list[list[int]], beta: Fraction) -> None:
    exposure = exposure_of(groups)
    rho1 = Fraction(1, 10)
    rho2 = rho1 * (1 + beta)
    if rho2 <= 1 and kept(BetaLikeness(beta, bound="basic"), exposure):
        assert kept(RhoPrivacy(rho1, rho2), exposure)


@settings(deadline=None)
@given(partitions(), betas, betas)
def test_stricter_parameters_keep_no_more(groups: list[list[int]], one: Fraction, other: Fraction) -> None:
    exposure = exposure_of(groups)
    strict, loose = min(one, other), max(one, other)
    for make in (BetaLikeness, DeltaDisclosure, lambda beta: BetaLikeness(beta, bound="basic")):
        if kept(make(strict), exposure):
            assert kept(make(loose), exposure)
