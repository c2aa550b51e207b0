from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from lookalike.data.parameters import escaped_name, meanings, split, unescaped
from lookalike.errors import RecipeError
from lookalike.models import AlphaK, BetaLikeness, KAnonymity, LDiversity, TCloseness


def test_parameters_are_exact_whatever_they_are_given_as() -> None:
    assert TCloseness(0.1) == TCloseness("0.1") == TCloseness(Fraction(1, 10)) == TCloseness("1/10")
    assert TCloseness(0.1).t == Fraction(1, 10)
    assert KAnonymity("10").k == 10
    assert len({TCloseness(0.1), TCloseness("0.1")}) == 1


def test_models_are_values() -> None:
    model = BetaLikeness(3, bound="basic")
    assert replace(model, beta=2) == BetaLikeness(2, bound="basic")
    assert pickle.loads(pickle.dumps(model)) == model == copy.deepcopy(model)
    with pytest.raises(FrozenInstanceError):
        model.beta = 4
    with pytest.raises(TypeError):
        TCloseness()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(0), "k-anonymity: k is 0. It must be a whole number at least 1."),
        (lambda: KAnonymity("2.5"), "k-anonymity: k is 2.5. It must be a whole number at least 1."),
        (lambda: KAnonymity("many"), 'k-anonymity: k is "many". It must be a whole number at least 1.'),
        (lambda: TCloseness(-1), "t-closeness: t is -1. It must be a number at least 0."),
        (lambda: AlphaK(alpha=0, k=2), "alpha-k: alpha is 0. It must be a number above 0 and at most 1."),
        (lambda: AlphaK(alpha="1.01", k=2), "alpha-k: alpha is 1.01. It must be a number above 0 and at most 1."),
        (lambda: BetaLikeness(float("nan")), 'beta-likeness: beta is "nan". It must be a number at least 0.'),
        (lambda: LDiversity(True), 'l-diversity: ell is "True". It must be a number at least 1.'),
    ],
)
def test_refusals_name_the_parameter_the_value_and_the_range(make: object, message: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        make()  # type: ignore[operator]
    assert str(refusal.value) == message


def test_unknown_choices_name_the_nearest() -> None:
    with pytest.raises(RecipeError, match='l-diversity: kind: There is no choice "entropi". Did you mean "entropy"?'):
        LDiversity(3, kind="entropi")


def test_subsets_are_sets_of_names() -> None:
    assert AlphaK(0.5, 2, subset="b|a") == AlphaK(0.5, 2, subset=["a", "b"])
    assert AlphaK(0.5, 2, subset=["a|b"]).subset == ("a|b",)
    for wrong in ("", "a||b", "a|a", []):
        with pytest.raises(RecipeError, match="each value once"):
            AlphaK(0.5, 2, subset=wrong)


@pytest.mark.parametrize("name", ["a,b", "a|b", "a:b", "back\\slash", "a\\,b", "plain", "a=b"])
def test_escapes_are_undone(name: str) -> None:
    assert unescaped(escaped_name(name)) == name
    assert split(escaped_name(name), ",") == [escaped_name(name)]


def test_every_field_says_what_it_means() -> None:
    assert meanings(KAnonymity) == {"k": "Fewest rows that a person can be narrowed down to."}
