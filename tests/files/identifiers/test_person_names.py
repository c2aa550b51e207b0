from __future__ import annotations

import pytest

from lookalike.files.identifiers.person_names import (
    find_full_names,
    find_given_names,
    is_full_name,
    is_given_name,
    spell_plainly,
)

NAMES = [
    "Anna Keller",
    "KELLER, ANNA",
    "Keller, Anna B.",
    "Jürgen Müller",
    "María José García López",
    "Jean-Luc Moreau",
    "Grace Miller",
    "John Q. Public",
    "Ahmed Yilmaz",
]
OTHERS = [
    "May",
    "Grace",
    "Paris",
    "Paris Texas",
    "Charlotte, North Carolina",
    "Virginia Beach City",
    "Santa Clara County",
    "San Jose",
    "Mount Victoria",
    "New Jersey",
    "Never Married",
    "Private",
    "Heart Failure",
    "Type 2 Diabetes",
    "Machine Operator",
    "Self-emp not inc",
    "anna keller",
    "Acme Inc Ltd",
    "Mazda RX4",
    "Grace Hospital",
]


@pytest.mark.parametrize("text", NAMES)
def test_full_names_are_recognised(text: str) -> None:
    assert is_full_name(text)


@pytest.mark.parametrize("text", OTHERS)
def test_places_and_categories_are_no_names(text: str) -> None:
    assert not is_full_name(text)


def test_words_with_two_meanings_are_no_given_names() -> None:
    assert (
        find_given_names(["Anna", "PETER", "Zoë", "May", "Grace", "Paris", "Summer"]).tolist()
        == [True] * 3 + [False] * 4
    )
    assert is_given_name(" Hannah ")


def test_lists_of_texts_are_looked_at_one_by_one() -> None:
    assert find_full_names([*NAMES, *OTHERS]).tolist() == [True] * len(NAMES) + [False] * len(OTHERS)
    assert spell_plainly("Åsa Ødegård") == "Asa degard"
