"""Infeasible promises name the nearest feasible one, and that one is feasible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lookalike.data.contracts import PrivacyModel
from lookalike.data.microdata import Domain
from lookalike.data.schema import Kind
from lookalike.errors import Infeasible, RecipeError
from lookalike.models import parse_model
from lookalike.models.f_privacy import FPrivacy
from tests.examples import examples
from tests.models.building import categories

TEXTS = [
    "k-anonymity:9",
    "k-concealment:9",
    "alpha-k:alpha=0.3,k=7",
    "alpha-k:alpha=1/7,k=3,subset=a",
    "l-diversity:4",
    "l-diversity:2.7",
    "l-diversity:5,subset=b",
    "l-diversity:6,kind=distinct",
    "l-diversity:3.3,kind=entropy",
    "l-diversity:3,kind=entropy",
    "l-diversity:3,kind=recursive,c=0.7",
    "l-diversity:6,kind=recursive,c=3",
    "l-diversity:3,kind=binary,subset=a|b",
    "f-privacy:theta=0.5,base=0.01",
    "f-privacy:theta=1/3,base=0.1",
    "f-privacy:ceilings=a:0.3|b:0.1",
    "f-privacy:ceilings=*:0.25",
]


def nearest_of(model: PrivacyModel, counts: NDArray[np.int64], column: Domain) -> str | None:
    """What a refusal offers; None if there is no refusal."""
    try:
        model.check_eligible(counts, column)
    except Infeasible as refusal:
        return refusal.nearest or "nothing"
    return None


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=examples(40), deadline=None)
@given(prior=st.lists(st.integers(1, 9), min_size=2, max_size=5))
def test_the_nearest_is_eligible_and_different(text: str, prior: list[int]) -> None:
    model = parse_model(text)
    column = categories(len(prior))
    counts = np.array(prior, dtype=np.int64)
    nearest = nearest_of(model, counts, column)
    if nearest is not None:
        assert parse_model(nearest) != model
        assert parse_model(nearest).name == model.name
        assert nearest_of(parse_model(nearest), counts, column) is None


@pytest.mark.parametrize(
    ("text", "prior", "nearest"),
    [
        ("k-anonymity:20", [6, 4], "k-anonymity:10"),
        ("k-concealment:11", [6, 4], "k-concealment:10"),
        ("l-diversity:10", [14, *[1] * 86], "l-diversity:7"),
        ("l-diversity:2.5", [5, 3, 2], "l-diversity:2"),
        ("l-diversity:3.5", [3, 2, 2], "l-diversity:2.333"),
        ("l-diversity:4,kind=distinct", [5, 3, 2], "l-diversity:3,kind=distinct"),
        ("l-diversity:3,kind=entropy", [5, 3, 2], "l-diversity:2.8,kind=entropy"),
        ("l-diversity:2,kind=recursive,c=1", [5, 3, 2], "l-diversity:2,kind=recursive,c=1.001"),
        ("l-diversity:4,kind=recursive,c=3", [5, 3, 2], "l-diversity:3,kind=recursive,c=3"),
        ("l-diversity:4,kind=recursive,c=2", [5, 3, 2], "l-diversity:3,kind=recursive,c=2.501"),
        ("l-diversity:3,kind=binary,subset=b|c", [5, 3, 2], "l-diversity:2,kind=binary,subset=b|c"),
        ("alpha-k:alpha=0.3,k=5", [5, 3, 2], "alpha-k:alpha=0.5,k=5"),
        ("alpha-k:alpha=0.3,k=11,subset=b", [5, 3, 2], "alpha-k:alpha=0.3,k=10,subset=b"),
        ("alpha-k:alpha=0.3,k=2", [2, 1], "alpha-k:alpha=0.667,k=2"),
        ("f-privacy:theta=0.5,base=0.1", [5, 3, 2], "f-privacy:theta=0.5,base=0.25"),
        ("f-privacy:ceilings=a:0.3|c:0.2", [5, 3, 2], "f-privacy:ceilings=a:0.5|c:0.2"),
        ("f-privacy:ceilings=*:0.3", [5, 3, 2], "f-privacy:ceilings=*:0.3|a:0.5"),
    ],
)
def test_the_nearest_is_the_best_in_reach(text: str, prior: list[int], nearest: str) -> None:
    with pytest.raises(Infeasible) as refusal:
        parse_model(text).check_eligible(np.array(prior), categories(len(prior)))
    assert refusal.value.nearest == nearest
    assert f"The nearest that can: {nearest}." in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "t-closeness:0",
        "beta-likeness:0",
        "beta-likeness:0.001,negative=0",
        "delta-disclosure:0.001",
        "f-privacy:theta=1",
    ]
    + ["rho-privacy:rho1=0.5,rho2=0.51", "t-closeness:0,distance=kl", "t-closeness:0,distance=js"],
)
@given(prior=st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any))
def test_some_promises_can_always_be_kept(text: str, prior: list[int]) -> None:
    parse_model(text).check_eligible(np.array(prior), categories(len(prior)))


def test_refusals_count_the_values_they_are_about() -> None:
    with pytest.raises(Infeasible, match='2 values of "diagnosis" a ceiling below'):
        FPrivacy(ceilings={"*": "0.25"}).check_eligible(np.array([5, 3, 2]), categories(3))


@pytest.mark.parametrize("text", ["l-diversity:2", "alpha-k:alpha=0.5,k=2", "beta-likeness:1", "t-closeness:0.5"])
def test_models_of_values_need_a_column(text: str) -> None:
    model: PrivacyModel = parse_model(text)
    with pytest.raises(RecipeError, match="speaks of a sensitive column"):
        model.check_eligible(np.array([3, 3]), None)


def test_ordered_and_hierarchical_need_their_column() -> None:
    plain = categories(3)
    prior = np.array([1, 1, 1])
    with pytest.raises(RecipeError, match="needs a taxonomy"):
        parse_model("t-closeness:0.2,distance=hierarchical").check_eligible(prior, plain)
    ordered = parse_model("t-closeness:0.2,distance=ordered")
    with pytest.raises(RecipeError, match='needs values with an order and column "diagnosis" is categorical'):
        ordered.check_eligible(prior, plain)
    with pytest.raises(RecipeError, match="needs values with an order"):
        ordered.requirement(prior, plain, 0)
    ordered.check_eligible(prior, categories(3, kind=Kind.ORDERED))
