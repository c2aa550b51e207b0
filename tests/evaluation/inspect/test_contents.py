"""What values look like: addresses and names of persons, and what is neither."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType
from lookalike.evaluation.inspect.contents import recognise_values


def texts(cells: list[str]) -> Column:
    present = sorted(set(cells))
    codes = np.array([present.index(cell) for cell in cells], dtype=np.int32)
    return Column("x", ValueType.STRING, codes, np.array(present, dtype=object))


@pytest.mark.parametrize(
    "cells",
    [
        ["1 Learned Pl, Durham, NC 27705", "1616 Pinecrest Rd, Durham", "2418 Wrightwood Ave", "12b Station Road"],
        ["Hauptstr. 5", "Am Alten Weg 12a", "Schillerstrasse 7", "Marktplatz 1, 12345 Berlin"],
        ["12 rue de la Paix", "3 bis avenue Foch", "Via Roma 3", "Calle Mayor 15"],
    ],
)
def test_street_addresses(cells: list[str]) -> None:
    assert recognise_values(texts(cells)) == "street addresses"


def test_names_of_persons_that_repeat() -> None:
    first = ["Anna", "Peter", "Maria", "Thomas", "Julia", "Frank", "Petra", "Karl-Heinz", "Brigitte", "Olga", "Ravi"]
    assert recognise_values(texts(first * 9)) == "names of persons"
    full = [f"{given} {family}" for given in first for family in ("Schmidt", "O'Neil", "van Dam")]
    assert recognise_values(texts(full)) == "names of persons"
    turned = [f"{family}, {given}" for given in first for family in ("Schmidt", "Garcia")]
    assert recognise_values(texts(turned)) == "names of persons"


@pytest.mark.parametrize(
    "cells",
    [
        ["London", "Paris", "Berlin", "Madrid", "Rome", "Vienna", "Prague", "Oslo", "Bern", "Bonn", "Dublin", "Athens"],
        ["1 Never Married", "2 Married", "3 Widowed", "4 Divorced"],
        ["inpatient ward a", "emergency dept", "oncology day hosp", "clinical lab"] * 5,
        [
            "sales clerk",
            "nurse",
            "engineer",
            "teacher",
            "cook",
            "driver",
            "farmer",
            "baker",
            "lawyer",
            "clerk",
            "pilot",
        ],
        ["10 minutes a day", "20 times", "3 way", "never"],
        ["Anna", "Peter", "Maria"],
    ],
)
def test_places_jobs_and_answers_are_neither(cells: list[str]) -> None:
    assert recognise_values(texts(cells)) is None


@given(st.lists(st.text(max_size=20), min_size=1, max_size=30))
def test_any_text_can_be_looked_at(cells: list[str]) -> None:
    recognise_values(texts(cells))
