"""Several settings in one text, and that no text which means one setting means several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.algorithms import ALGORITHMS
from lookalike.errors import RecipeError
from lookalike.evaluation.compare.runs import alternatives, parse_algorithms
from lookalike.evaluation.compare.sweeps import MOST, settings, split_components, split_promises
from lookalike.models import MODELS, parse_model


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k-anonymity:5", ["k-anonymity:5"]),
        ("l-diversity:2,5,10", ["l-diversity:2", "l-diversity:5", "l-diversity:10"]),
        ("beta-likeness:1..3", ["beta-likeness:1", "beta-likeness:2", "beta-likeness:3"]),
        ("t-closeness:0.1..0.25..0.05", [f"t-closeness:{t}" for t in ("0.1", "0.15", "0.2", "0.25")]),
        ("l-diversity:2,5..6,kind=entropy", [f"l-diversity:{ell},kind=entropy" for ell in (2, 5, 6)]),
        ("alpha-k:alpha=0.5,0.6,k=3,4", [f"alpha-k:alpha={a},k={k}" for a in (0.5, 0.6) for k in (3, 4)]),
        ("illness=l-diversity:2,3", ["illness=l-diversity:2", "illness=l-diversity:3"]),
        ("a=b: c=l-diversity:2,3", ["a=b: c=l-diversity:2", "a=b: c=l-diversity:3"]),
        (r"l-diversity:2,subset=1\..3", [r"l-diversity:2,subset=1\..3"]),
        ("l-diversity:2,2", ["l-diversity:2"]),
        ("nobody:1..3", ["nobody:1..3"]),
    ],
)
def test_sweeps_of_models(text: str, expected: list[str]) -> None:
    assert settings(text, MODELS) == expected


@pytest.mark.parametrize("text", ["l-diversity:5..2", "l-diversity:2..9..0", f"l-diversity:1..{MOST + 5}"])
def test_ranges_that_lead_nowhere_or_too_far(text: str) -> None:
    with pytest.raises(RecipeError, match="leads nowhere|more than"):
        settings(text, MODELS)
    with pytest.raises(RecipeError, match="more than"):
        settings("alpha-k:alpha=0.1..0.9..0.01,k=2..90", MODELS)


@given(
    model=st.sampled_from(
        [
            "k-anonymity:7",
            "l-diversity:2.5,kind=entropy",
            "l-diversity:3,kind=recursive,c=2",
            "t-closeness:1/3",
            "beta-likeness:3,bound=basic",
            "f-privacy:theta=8,base=0.02",
            "rho-privacy:rho1=0.1,rho2=0.3",
        ]
    ),
    column=st.text(st.characters(codec="ascii", exclude_characters="="), max_size=8).map(str.strip),
)
def test_one_setting_stays_one(model: str, column: str) -> None:
    assert [str(parse_model(text)) for text in settings(model, MODELS)] == [str(parse_model(model))]
    if column and column.partition(":")[0].strip() not in MODELS:
        assert settings(f"{column}={model}", MODELS) == [f"{column}={model}"]


def test_promises_that_hold_together() -> None:
    assert split_promises("k-anonymity:5 + l-diversity:3", MODELS) == ["k-anonymity:5", "l-diversity:3"]
    assert split_promises("beta-likeness:1e+1", MODELS) == ["beta-likeness:1e+1"]
    assert split_promises("a+b=l-diversity:2+k-anonymity:3", MODELS) == ["a+b=l-diversity:2", "k-anonymity:3"]
    found = alternatives(["k-anonymity:2,3+l-diversity:2,3", "k-anonymity:2 + l-diversity:2", "t-closeness:0.5"])
    assert [" + ".join(map(str, promises)) for promises in found] == [
        "k-anonymity:2 + l-diversity:2",
        "k-anonymity:2 + l-diversity:3",
        "k-anonymity:3 + l-diversity:2",
        "k-anonymity:3 + l-diversity:3",
        "t-closeness:0.5",
    ]


def test_algorithms_by_commas_sweeps_and_all() -> None:
    assert split_components("mondrian,groups:mode=free,strict,burel", ALGORITHMS) == [
        "mondrian",
        "groups:mode=free,strict",
        "burel",
    ]
    assert [str(one) for one in parse_algorithms(["mondrian:cuts=1,5", "mondrian:cuts=5"])] == [
        "mondrian:cuts=1",
        "mondrian:cuts=5",
    ]
    assert len(parse_algorithms("all")) == len(ALGORITHMS)
    with pytest.raises(RecipeError, match="Did you mean"):
        parse_algorithms(split_components("mondrian,mondrain", ALGORITHMS))


def test_nothing_to_compare() -> None:
    with pytest.raises(RecipeError, match="at least one"):
        alternatives([])
