"""Parameters are exact, named in refusals, and read back as they are written."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.parameters import (
    Choice,
    Exact,
    Whole,
    as_fraction,
    component_text,
    describe,
    escape_name,
    meanings,
    number_text,
    parse_component,
    split,
    unescape,
)
from lookalike.errors import RecipeError
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.models.t_closeness import TCloseness


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
    assert unescape(escape_name(name)) == name
    assert split(escape_name(name), ",") == [escape_name(name)]


def test_every_field_says_what_it_means() -> None:
    assert meanings(KAnonymity) == {"k": "Fewest rows that a person can be narrowed down to."}


@dataclass(frozen=True)
class Sieve:
    """Keeps what is coarse."""

    name: ClassVar[str] = "sieve"

    mesh: Exact = Exact(above=0)
    """How wide its holes are."""
    times: Whole = Whole(low=1, high=9, default=1)
    """How often."""
    shape: Choice = Choice("round", "square", default="round")
    """Of the holes."""


@dataclass(frozen=True)
class Plain:
    """Takes nothing."""

    name: ClassVar[str] = "plain"


TABLE: dict[str, type] = {"sieve": Sieve, "plain": Plain}


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (" 2 ", Fraction(2)),
        ("1/3", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.int64(4), Fraction(4)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
    ],
)
def test_numbers_are_read_as_they_are_written(given_: object, kept: Fraction) -> None:
    assert as_fraction(given_) == kept
    assert type(as_fraction(given_).numerator) is int


@pytest.mark.parametrize(
    "wrong", ["", "x", "nan", "inf", "1/0", "1/-2", "1.5/2", True, None, [], math.nan, "1e999999999"]
)
def test_what_is_no_number_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is the parameter's
        as_fraction(wrong)


@given(st.fractions())
def test_text_of_a_number_reads_back(value: Fraction) -> None:
    assert as_fraction(number_text(value)) == value


@pytest.mark.parametrize("text", ["sieve:0.5", "sieve:0.5,times=3", "sieve:1/3,shape=square", "plain"])
def test_parts_read_back_as_they_are_written(text: str) -> None:
    assert component_text(parse_component(text, "tool", TABLE)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seive:1", 'There is no tool "seive". Did you mean "sieve"?'),
        ("sieve", "sieve needs mesh. Write sieve:mesh=VALUE."),
        ("sieve:1,2", "Only the first value may be bare"),
        ("sieve:1,time=2", 'Did you mean "times"'),
        ("sieve:1,mesh=2", "mesh is given twice"),
        ("sieve:1,times=10", "It must be a whole number at least 1 and at most 9"),
        ("plain:3", "plain takes no parameters"),
        ("sieve:0,2", '"sieve:0,2" has a decimal comma. Write sieve:0.2.'),
        ("sieve:5,2", '"2" has no name'),
    ],
)
def test_slips_are_explained(text: str, said: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        parse_component(text, "tool", TABLE)
    assert said in str(refusal.value)


def test_parts_describe_themselves() -> None:
    row = describe(TABLE)[0]
    assert (row["name"], row["meaning"]) == ("sieve", "Keeps what is coarse.")
    assert [(one["name"], one["default"], one["required"]) for one in row["parameters"]] == [
        ("mesh", None, True),
        ("times", "1", False),
        ("shape", "round", False),
    ]
    assert row["parameters"][1]["meaning"] == "How often."
