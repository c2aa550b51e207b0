"""What to write instead of a text that is no promise."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.contracts import Promise
from lookalike.errors import RecipeError
from lookalike.evaluation.compare.runs import alternatives
from lookalike.models import MODELS, parse_promise
from lookalike.models.shared.model import example_of
from lookalike.models.shared.spelling import find_meant
from lookalike.pipeline.recipe import parse_promises


def refused(text: str) -> str:
    with pytest.raises(RecipeError) as refusal:
        parse_promise(text)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        *(
            (text, "k-anonymity:5")
            for text in ("k=5", "k:5", "k5", "k 5", "k>=5", "k==5", "5-anonymity", "5 anonymity")
        ),
        *((text, "k-anonymity:5") for text in ("kanonymity:5", "k-anonymity=5", "k-anonymity 5", "K-Anonymity:5")),
        *((text, "k-anonymity:5") for text in ("k_anonymity:5", "k-anonymity(5)", "KAnonymity(k=5)", "anonymity: 5")),
        ("diagnosis=k=5", "k-anonymity:5"),
        ("l=3", "l-diversity:3"),
        ("3-diversity", "l-diversity:3"),
        ("L-DIVERSITY:3", "l-diversity:3"),
        ("l-diversity=3,kind=entropy", "l-diversity:3,kind=entropy"),
        ("diagnosis:l-diversity:3", "diagnosis=l-diversity:3"),
        ("diagnosis=l=3", "diagnosis=l-diversity:3"),
        ("t:0.2", "t-closeness:0.2"),
        ("t=20%", "t-closeness:0.2"),
        ("t-closeness:20%", "t-closeness:0.2"),
        ("beta=3", "beta-likeness:3"),
        ("alpha=0.5,k=5", "alpha-k:0.5,k=5"),
    ],
)
def test_the_error_says_what_to_write(text: str, promise: str) -> None:
    assert refused(text).endswith(f"Write {promise}.")
    assert str(parse_promise(promise)).startswith(promise.partition(":")[0])


@pytest.mark.parametrize(
    "text",
    [
        "k-anonymity:5,l-diversity:3",
        "k=5, l=3",
        "k-anonymity:5;l-diversity:3",
        "k-anonymity:5 l-diversity:3",
        "k=5 and l=3",
    ],
)
def test_several_promises_in_one_text_are_told_apart(text: str) -> None:
    said = refused(text)
    assert "--model k-anonymity:5 --model l-diversity:3" in said
    assert 'model=["k-anonymity:5", "l-diversity:3"]' in said
    with pytest.raises(RecipeError, match=r"k-anonymity:5\+l-diversity:3"):
        alternatives([text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k=0", "k is 0. It must be a whole number at least 1."),
        ("5", "names no model"),
        ("epsilon=1", "synthesize --epsilon"),
        ("differential-privacy:1", "synthesize --epsilon"),
        ("kanonymty=3", 'There is no model "kanonymty". Did you mean "k-anonymity"'),
        ("k-map:5", 'There is no model "k-map"'),
    ],
)
def test_what_is_not_clear_is_not_guessed(text: str, message: str) -> None:
    assert message in refused(text)


@pytest.mark.parametrize(
    ("model", "written"),
    [
        ({"k": 5}, 'model="k-anonymity:5"'),
        ({"k": 5, "l": 3}, 'model=["k-anonymity:5", "l-diversity:3"]'),
        (("k-anonymity", 5), 'model="k-anonymity:5"'),
        ([("t", 0.2)], 'model="t-closeness:0.2"'),
        (MODELS["l-diversity"], 'model="l-diversity:'),
        (5, 'model="k-anonymity:10"'),
        (None, 'model="k-anonymity:10"'),
    ],
)
def test_what_is_no_text_says_what_to_write(model: object, written: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        parse_promises(model)  # type: ignore[arg-type]
    assert written in str(refusal.value)


@pytest.mark.parametrize("name", MODELS)
def test_promises_mean_themselves(name: str) -> None:
    text = str(parse_promise(example_of(MODELS[name])))
    assert find_meant(text, MODELS) == [text]


def test_sweeps_are_no_several_promises() -> None:
    swept = [
        "l-diversity:2,5,10",
        "town=t-closeness:0.1..0.3..0.1",
        "alpha-k:0.5,k=2,5",
        "k-anonymity:5+l-diversity:2,3",
    ]
    assert [len(alternatives([text])) for text in swept] == [3, 3, 2, 2]


@given(st.text(max_size=30))
def test_any_text_is_refused_in_words(text: str) -> None:
    with suppress(RecipeError):
        assert isinstance(parse_promise(text), Promise)
