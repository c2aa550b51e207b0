"""What the sentences of promises name: columns, the attacker, what is counted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.person_settings import Unit
from lookalike.data.wording import Wording
from lookalike.models import parse_model

AGE_SEX_ZIP = ("age", "sex", "zip code")
LIMIT = "can be at most 25 % sure of any value of diagnosis"


@pytest.mark.parametrize(
    ("more", "start"),
    [
        ({}, "Someone who already knows a person's age, sex and zip code can"),
        ({"known": ("age",)}, "Someone who already knows a person's age can"),
        ({"known": ()}, "Someone who already knows a person's quasi-identifiers can"),
        ({"known": tuple("abcdef")}, "Someone who already knows a person's a, b, c, d and 2 more columns can"),
        ({"known": tuple("abcde")}, "Someone who already knows a person's a, b, c, d and e can"),
        ({"also": ("ward",)}, "Someone who already knows a person's age, sex and zip code as well as ward can"),
        ({"unit": Unit()}, "Someone who already knows age, sex and zip code from one row of a person can"),
        (
            {"unit": Unit("household", "all rows")},
            "Someone who already knows age, sex and zip code from all rows of a household can",
        ),
        (
            {"adversary": KNOWS_METHOD},
            "Someone who already knows everybody's age, sex and zip code and how the release was made can",
        ),
        (
            {"form": "matched"},
            "Someone who already knows a person's age, sex and zip code, and which rows the publisher drew that "
            "person's row from, can",
        ),
        (
            {"form": "perturbed"},
            "Someone who finds a person's row by age, sex and zip code and knows how often each value occurs in the "
            "whole table can",
        ),
    ],
)
def test_a_sentence_says_who_knows_what(more: dict[str, object], start: str) -> None:
    wording = Wording(**{"form": "grouped", "known": AGE_SEX_ZIP} | more)  # type: ignore[arg-type]
    said = parse_model("l-diversity:4").promise("diagnosis", wording)
    assert said.startswith(f"{start} be at most 25 % sure of any value of diagnosis")


@pytest.mark.parametrize("name", ["a, b", "x and y", "can be at most 1 % sure of anything", "5", " age", "a\nb", ""])
def test_a_name_that_could_be_read_as_part_of_the_sentence_is_in_quotes(name: str) -> None:
    said = Wording(known=(name, "sex")).sentence(LIMIT)
    assert said.startswith("Someone who already knows a person's \"")
    assert "\n" not in said


def test_columns_that_are_promised_the_same_share_a_sentence() -> None:
    model = parse_model("l-diversity:4")
    promises = [Promise(parse_model("k-anonymity:5")), *(Promise(model, name) for name in ("diagnosis", "job", "pay"))]
    size, values = Wording(form="grouped", known=AGE_SEX_ZIP).tell(promises)
    assert size.endswith("(1 chance in 5 at most).")
    assert values == (
        "Someone who already knows a person's age, sex and zip code can be at most 25 % sure of any value of "
        "diagnosis. The same holds for job and pay, each column by itself."
    )


def test_percentages_never_say_more_than_is_kept() -> None:
    wording = Wording()
    assert wording.percent(Fraction(1, 3)) == "33.34 %"
    assert wording.percent(Fraction(2, 3), at_least=True) == "66.66 %"
    assert wording.number(Fraction(1, 3)) == "1/3"


def test_an_adversary_that_nobody_knows_is_named_as_it_is() -> None:
    wording = Wording(adversary="omniscient", known=AGE_SEX_ZIP)
    assert wording.describe_adversary() == "omniscient"
    assert wording.sentence(LIMIT).startswith("Someone who already knows")


def test_models_outside_of_the_catalogue_bring_their_own_words() -> None:
    texts = {"en": "can be at most {share} sure", "de": "ist hoechstens {share} sicher"}
    assert Wording(language="de").choose(texts, share="25 %") == "ist hoechstens 25 % sicher"
    assert Wording(language="fr").choose(texts, share="25 %") == "can be at most 25 % sure"
