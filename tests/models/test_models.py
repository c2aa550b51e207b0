from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.errors import RecipeError
from lookalike.models import MODELS, describe_models, parse_model, parse_promise
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.t_closeness import TCloseness

WRITTEN = [
    ("k-anonymity:10", KAnonymity(10)),
    ("l-diversity:5", LDiversity(5)),
    ("l-diversity:5,kind=entropy", LDiversity(5, kind="entropy")),
    ("l-diversity:3,kind=recursive,c=0.5", LDiversity(3, kind="recursive", c="0.5")),
    ("l-diversity:3,kind=binary,subset=HIV|a\\,b", LDiversity(3, kind="binary", subset=["HIV", "a,b"])),
    ("t-closeness:0.2", TCloseness("0.2")),
    ("t-closeness:1/3,distance=js", TCloseness(Fraction(1, 3), distance="js")),
    ("beta-likeness:3,bound=basic", BetaLikeness(3, bound="basic")),
    ("beta-likeness:3,negative=0.5,negative_form=relative", BetaLikeness(3, "enhanced", "0.5", "relative")),
    ("delta-disclosure:1", DeltaDisclosure("1.0")),
    ("alpha-k:alpha=0.5,k=5", AlphaK(alpha="0.5", k=5)),
    ("f-privacy:theta=8,base=0.02", FPrivacy(theta=8)),
    ("f-privacy:ceilings=*:0.5|HIV\\:2:0.05", FPrivacy(ceilings={"HIV:2": 0.05, "*": "1/2"})),
    ("rho-privacy:rho1=0.1,rho2=0.5", RhoPrivacy("0.1", "0.5")),
]


@pytest.mark.parametrize(("text", "model"), WRITTEN)
def test_text_and_model_are_two_sides(text: str, model: PrivacyModel) -> None:
    assert parse_model(text) == model
    assert str(model) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("l-diversity:l=5", "l-diversity:5"),
        ("l-diversity:ell=5,kind=simple", "l-diversity:5"),
        (" beta-likeness: 3 , bound = enhanced ", "beta-likeness:3"),
        ("delta-disclosure:1.0", "delta-disclosure:1"),
        ("alpha-k:0.5,k=5", "alpha-k:alpha=0.5,k=5"),
        ("f-privacy:8", "f-privacy:theta=8,base=0.02"),
    ],
)
def test_other_spellings_are_understood(text: str, canonical: str) -> None:
    assert str(parse_model(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k-anonimity:3", 'There is no model "k-anonimity". Did you mean "k-anonymity"'),
        ("", 'There is no model "".'),
        ("k-anonymity", "k-anonymity needs k. Write k-anonymity:k=VALUE."),
        ("alpha-k:0.5", "alpha-k needs k."),
        ("beta-likeness:3,bond=basic", 'beta-likeness: There is no parameter "bond". Did you mean "bound"'),
        ("beta-likeness:3,basic", '"basic" has no name'),
        ("beta-likeness:3,beta=4", "beta is given twice"),
        ("f-privacy:theta=8,file=caps.yaml", "2 of them are given"),
        ("t-closeness:0.2,distance=far", 'There is no choice "far"'),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        parse_model(text)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("occupation=beta-likeness:3", Promise(BetaLikeness(3), "occupation")),
        ("main diagnosis=l-diversity:5,kind=entropy", Promise(LDiversity(5, kind="entropy"), "main diagnosis")),
        ("a=b=t-closeness:0.2,distance=js", Promise(TCloseness("0.2", "js"), "a=b")),
        ("k-anonymity=l-diversity:2", Promise(LDiversity(2), "k-anonymity")),
        ("beta-likeness:3,bound=basic", Promise(BetaLikeness(3, "basic"), None)),
        ("l-diversity:2,subset=k-anonymity", Promise(LDiversity(2, subset="k-anonymity"), None)),
        ("time: start=l-diversity:2", Promise(LDiversity(2), "time: start")),
    ],
)
def test_promises_name_their_column(text: str, promise: Promise) -> None:
    assert parse_promise(text) == promise
    assert parse_promise(str(promise)) == promise


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("occupation=beta-likenes:3", 'There is no model "beta-likenes". Did you mean "beta-likeness"'),
        ("occupation", 'There is no model "occupation"'),
        ("occupation=k-anonymity:3", "is about persons, not about a column. Write k-anonymity:3 alone."),
        ("=l-diversity:3", "names no column"),
    ],
)
def test_mistaken_promises_are_named(text: str, message: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        parse_promise(text)
    assert message in str(refusal.value)


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=6)


@given(st.lists(names, min_size=1, max_size=3, unique=True), st.fractions(1, 9, max_denominator=30))
def test_any_names_read_back(values: list[str], ell: Fraction) -> None:
    simple = LDiversity(ell, subset=values)
    assert parse_model(str(simple)) == simple
    capped = FPrivacy(ceilings=dict.fromkeys(values, 1 / ell))
    assert parse_model(str(capped)) == capped


def test_models_are_listed_in_plain_rows() -> None:
    rows = {row["name"]: row for row in describe_models()}
    assert list(rows) == list(MODELS)
    for row in rows.values():
        assert row["meaning"].endswith(".")
        assert row["letter"]
        assert all(parameter["meaning"] for parameter in row["parameters"])
    beta = {parameter["name"]: parameter for parameter in rows["beta-likeness"]["parameters"]}
    assert beta["beta"]["required"]
    assert (beta["bound"]["required"], beta["bound"]["default"]) == (False, "enhanced")
    assert [parameter["name"] for parameter in rows["f-privacy"]["parameters"]] == ["theta", "base", "ceilings", "file"]


def test_an_equals_sign_where_a_colon_should_be_is_pointed_out() -> None:
    with pytest.raises(RecipeError, match="Write k-anonymity:5"):
        parse_promise("k-anonymity=5")
