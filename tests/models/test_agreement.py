"""The two faces of a model agree: what a requirement accepts, the level confirms; for rational models also back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.contracts import PrivacyModel
from lookalike.data.microdata import Domain
from lookalike.data.schema import Kind
from lookalike.errors import Infeasible
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.t_closeness import TCloseness
from tests.examples import examples
from tests.models.building import categories, exposure_of, partitions, with_tree
from tests.oracles.group_rule import accepts

TREES = {
    2: [("a", "*"), ("b", "*")],
    3: [("a", "x", "*"), ("b", "x", "*"), ("c", "*")],
    4: [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")],
    5: [("a", "w", "x", "*"), ("b", "w", "x", "*"), ("c", "x", "*"), ("d", "y", "*"), ("e", "*")],
}
thirds = st.fractions(Fraction(1, 20), Fraction(1), max_denominator=20)
factors = st.fractions(Fraction(1, 20), Fraction(4), max_denominator=20)

RATIONAL = {
    "k": st.builds(KAnonymity, st.integers(1, 8)),
    "concealment": st.builds(KConcealment, st.integers(1, 8)),
    "alpha-k": st.builds(AlphaK, thirds, st.integers(1, 6)),
    "alpha-k subset": st.builds(AlphaK, thirds, st.integers(1, 6), subset=st.just("a|b")),
    "distinct": st.builds(LDiversity, st.integers(1, 5), kind=st.just("distinct")),
    "simple": st.builds(LDiversity, st.fractions(1, 5, max_denominator=6)),
    "simple subset": st.builds(LDiversity, st.integers(1, 5), subset=st.just("b")),
    "binary": st.builds(LDiversity, st.integers(1, 5), kind=st.just("binary"), subset=st.just("a")),
    "recursive": st.builds(LDiversity, st.integers(1, 4), kind=st.just("recursive"), c=factors),
    "equal": st.builds(TCloseness, thirds),
    "ordered": st.builds(TCloseness, thirds, distance=st.just("ordered")),
    "hierarchical": st.builds(TCloseness, thirds, distance=st.just("hierarchical")),
    "basic": st.builds(BetaLikeness, factors, bound=st.just("basic")),
    "ratio": st.builds(BetaLikeness, factors, bound=st.just("basic"), negative=factors),
    "relative": st.builds(
        BetaLikeness, factors, bound=st.just("basic"), negative=thirds, negative_form=st.just("relative")
    ),
    "family": st.builds(FPrivacy, theta=factors, base=thirds),
    "named": st.builds(FPrivacy, ceilings=st.fixed_dictionaries({"a": thirds, "*": thirds})),
    # Irrational bounds, but no count of a small table comes within the grid of one.
    "enhanced": st.builds(BetaLikeness, factors),
    "delta": st.builds(DeltaDisclosure, factors),
}
SUFFICIENT = {
    "entropy": st.builds(LDiversity, st.fractions(1, 5, max_denominator=6), kind=st.just("entropy")),
    "kl": st.builds(TCloseness, factors, distance=st.just("kl")),
    "js": st.builds(TCloseness, thirds, distance=st.just("js")),
    "binary of two": st.builds(LDiversity, st.integers(1, 5), kind=st.just("binary"), subset=st.just("a|b")),
    "rho": st.builds(RhoPrivacy, st.sampled_from(["0.1", "0.2", "1/3"]), st.sampled_from(["0.4", "0.5", "0.9"])),
}


def column_for(model: PrivacyModel, n_codes: int) -> Domain:
    distance = getattr(model, "distance", None)
    if distance == "hierarchical":
        return with_tree(TREES[n_codes])
    return categories(n_codes, kind=Kind.ORDERED if distance == "ordered" else Kind.CATEGORICAL)


def both_readings(model: PrivacyModel, groups: list[list[int]]) -> tuple[bool, bool]:
    column = column_for(model, len(groups[0]))
    prior = np.array(groups, dtype=np.int64).sum(axis=0)
    requirement = model.requirement(prior, column, None if model.about_identity else 0)
    accepted = all(accepts(requirement, group, prior.tolist()) for group in groups)
    return accepted, model.holds(model.level(exposure_of(groups, column)))


@pytest.mark.parametrize("name", RATIONAL)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_requirement_and_level_say_the_same(name: str, data: st.DataObject) -> None:
    accepted, held = both_readings(data.draw(RATIONAL[name]), data.draw(partitions()))
    assert accepted == held


@pytest.mark.parametrize("name", SUFFICIENT)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_what_a_requirement_accepts_the_level_confirms(name: str, data: st.DataObject) -> None:
    accepted, held = both_readings(data.draw(SUFFICIENT[name]), data.draw(partitions()))
    assert held or not accepted


@pytest.mark.parametrize("name", {**RATIONAL, **SUFFICIENT})
@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_an_eligible_table_keeps_its_promise_as_one_group(name: str, data: st.DataObject) -> None:
    model = data.draw({**RATIONAL, **SUFFICIENT}[name])
    groups = data.draw(partitions(max_groups=2))
    whole = [[sum(column) for column in zip(*groups, strict=True)]]
    column = column_for(model, len(whole[0]))
    level = model.level(exposure_of(whole, column))
    try:
        model.check_eligible(np.array(whole[0], dtype=np.int64), column)
    except Infeasible:
        assert not model.holds(level)
    else:
        assert model.holds(level)


@pytest.mark.parametrize("name", ["simple", "basic", "enhanced", "equal", "family", "delta", "entropy", "recursive"])
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_promises_survive_the_union_of_groups(name: str, data: st.DataObject) -> None:
    model = data.draw({**RATIONAL, **SUFFICIENT}[name])
    groups = data.draw(partitions())
    column = column_for(model, len(groups[0]))
    if model.holds(model.level(exposure_of(groups, column))):
        prior = [sum(counts) for counts in zip(*groups, strict=True)]
        joined = [[sum(counts) for counts in zip(*groups[:2], strict=True)], *groups[2:]]
        assert model.holds(model.level(exposure_of(joined, column, prior)))
