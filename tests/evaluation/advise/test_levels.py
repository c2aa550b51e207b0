"""Text columns that hold levels: which are recognised, in which order, and what is written into a schema."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Kind, Schema, ValueType
from lookalike.evaluation.advise.levels import find_orders, guess_order


def texts(name: str, values: list[str]) -> Column:
    present = sorted(values)
    return Column(name, ValueType.STRING, np.arange(len(present), dtype=np.int32), np.array(present, dtype=object))


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("education", ["none", "primary", "secondary", "high school", "bachelor", "master", "phd"]),
        ("educ", ["Below_College", "College", "Bachelor", "Master", "Doctor"]),
        ("degree", ["LT HIGH SCHOOL", "HIGH SCHOOL", "JUNIOR COLLEGE", "BACHELOR", "GRADUATE"]),
        ("highest qualification", ["5th-6th", "9th", "HS-grad", "Some-college", "Bachelors", "Doctorate"]),
        ("health", ["poor", "fair", "good", "very good", "excellent"]),
        ("JobSatisfaction", ["Low", "Medium", "High", "Very_High"]),
        ("smoking", ["never", "rarely", "often"]),
        ("age group", ["<20", "20-29", "30-39", "40+"]),
        ("maritl", ["1. Never Married", "2. Married", "10. Widowed"]),
        ("income", ["Under 2,600", "2,600 to 5,200", "5,200 to 10,400", "Over 10,400"]),
    ],
)
def test_levels_are_put_in_their_order(name: str, order: list[str]) -> None:
    shuffled = list(order)
    random.Random(1).shuffle(shuffled)
    assert guess_order(texts(name, shuffled)) == tuple(order)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("city", ["Bonn", "Bern", "Rome"]),
        ("education", ["blue", "green", "red"]),
        ("zip", ["01234", "01235", "99999"]),
        ("job", ["nurse", "teacher", "baker", "master baker"]),
        ("answer", ["yes", "no"]),
        ("month", ["1-2", "1-2 ", "x"]),
    ],
)
def test_other_texts_have_no_order(name: str, values: list[str]) -> None:
    assert guess_order(texts(name, values)) is None


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=20, unique=True))
def test_an_order_has_every_value_once(name: str, values: list[str]) -> None:
    order = guess_order(texts(name, values))
    assert order is None or sorted(order) == sorted(values)


def test_the_snippet_is_a_schema_that_orders_the_column() -> None:
    table = Table((texts("education", ["phd", "primary", "bachelor"]), texts("city", ["a", "b", "c"])))
    (found,) = find_orders(table, Schema.of(qi=["education", "city"]))
    assert "seems to hold levels" in found.sentence
    assert found.lines[1:] == [f"  {line}" for line in found.snippet.splitlines()[2:]]
    import yaml

    (written,) = yaml.safe_load(found.snippet)["columns"]
    assert written["order"] == ["primary", "bachelor", "phd"]
    from lookalike.data.schema import Attribute, Role

    attribute = Attribute(name="education", role=Role.QUASI, order=tuple(written["order"]))
    domain = Microdata.encode(table, Schema((attribute,))).domains.quasi[0]
    assert domain.kind is Kind.ORDERED
    assert domain.texts == ("primary", "bachelor", "phd")
    declared = Schema((attribute,))
    assert find_orders(table, declared) == ()
