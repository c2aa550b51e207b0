"""Coarsening: every value is in the block that it is published as, blocks do not overlap, and say where they end."""

from __future__ import annotations

import datetime
import math
import re
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookalike.data.coarsening import Coarsening, parse_coarsening
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.schema import Kind, Role, Schema
from lookalike.errors import LookalikeError, SchemaError
from lookalike.files.tables import read_columns
from tests.examples import examples


def coarse(values: list[Any], rule: dict[str, Any], **declared: Any) -> tuple[Domain, list[str | None]]:
    """The domain of a coarsened column and what each row reads."""
    frame = pl.DataFrame({"age": list(range(len(values))), "x": values})
    schema = Schema.of(qi=["age"], sensitive="x", coarsen={"x": rule})
    if declared:
        from dataclasses import replace

        schema = schema.replace_attribute(replace(schema["x"], **declared))
    data = Microdata.encode(read_columns(frame, schema), schema)
    domain = data.domains.sensitive[0]
    texts = [*domain.texts[: len(domain.values)], None]
    return domain, [texts[code] for code in data.sensitive[:, 0]]


def inside(label: str, value: Fraction) -> bool:
    """Whether a block holds a number, read from the label alone."""
    if label.startswith("<="):
        return value <= Fraction(label[2:])
    if label.startswith("<"):
        return value < Fraction(label[1:])
    if label.startswith(">="):
        return value >= Fraction(label[2:])
    whole = re.fullmatch(r"\[?(-?\d+)\.\.(-?\d+)\]?", label)
    if whole:
        return Fraction(whole[1]) <= value <= Fraction(whole[2])
    part = re.fullmatch(r"([\[(])(-?[\d.]+), (-?[\d.]+)([\])])", label)
    if part:
        low, high = Fraction(part[2]), Fraction(part[3])
        above = value >= low if part[1] == "[" else value > low
        return above and (value <= high if part[4] == "]" else value < high)
    return value == Fraction(label)


@st.composite
def rules(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        cuts = draw(st.sets(st.integers(-40, 40), min_size=1, max_size=4))
        return {"width": sorted(cuts)}
    rule: dict[str, Any] = {}
    if draw(st.booleans()):
        rule["round"] = draw(st.sampled_from([1, 3, 5, 10, "2.5", "0.7"]))
        rule["by"] = draw(st.sampled_from(["nearest", "floor"]))
        rule["origin"] = draw(st.integers(-3, 3))
    if draw(st.booleans()) or not rule:
        rule["top"] = draw(st.integers(0, 30))
    if draw(st.booleans()):
        rule["bottom"] = draw(st.integers(-30, -1))
    return rule


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), rules())
def test_every_number_lies_in_its_block_and_in_no_other(data: st.DataObject, rule: dict[str, Any]) -> None:
    whole = data.draw(st.booleans())
    number = st.integers(-60, 60) if whole else st.integers(-600, 600).map(lambda tenths: tenths / 10)
    values = data.draw(st.lists(number, min_size=1, max_size=20))
    domain, read = coarse(values, rule)
    for value, label in zip(values, read, strict=True):
        assert label is not None
        holding = [text for text in domain.texts if inside(text, Fraction(str(value)))]
        assert holding == [label]
    # Blocks are in the order of their values, and someone without the original finds the same order.
    ranks = [domain.texts.index(label) for _, label in sorted(zip(values, read, strict=True))]  # type: ignore[type-var]
    assert ranks == sorted(ranks)
    assert Coarsening("x", rule).sort_labels(sorted(domain.texts)) == list(domain.texts)
    assert domain.kind is Kind.ORDERED


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=20),
    st.integers(1, 40),
    st.integers(-5, 5),
    st.sampled_from(["nearest", "floor"]),
)
def test_rounding_joins_what_has_the_same_multiple(values: list[int], step: int, origin: int, by: str) -> None:
    """The multiple of each number, worked out by another formula: halves go up."""
    _, read = coarse(values, {"round": step, "origin": origin, "by": by})
    twice = [2 * (value - origin) + (step if by == "nearest" else 0) for value in values]
    multiples = [number // (2 * step) for number in twice]
    for one, first in zip(multiples, read, strict=True):
        for other, second in zip(multiples, read, strict=True):
            assert (one == other) == (first == second)


def test_spellings_print_as_documented() -> None:
    assert coarse([28, 30, 32, 33], {"round": 5})[1] == ["28..32", "28..32", "28..32", "33..37"]
    assert coarse([30, 34, 35], {"round": 5, "by": "floor"})[1] == ["30..34", "30..34", "35..39"]
    assert coarse([-3, 17, 18, 64, 65, 90], {"width": [0, 18, 65]})[1] == [
        "<0",
        "0..17",
        "18..64",
        "18..64",
        ">=65",
        ">=65",
    ]
    assert coarse([17, 18, 19, 89, 90], {"top": 90, "bottom": 18})[1] == ["<=18", "<=18", "19", "89", ">=90"]
    assert coarse([19999.99, 20500.0], {"round": 1000})[1] == ["[19500, 20500)", "[20500, 21500)"]
    assert coarse(["02134", "02199", "9"], {"prefix": 3})[1] == ["021**", "021**", "9"]
    months = coarse([datetime.date(2024, 3, 1), datetime.date(2024, 3, 31)], {"dates": "month"})
    assert len(set(months[1])) == 1
    names = {"groups": {"North": ["A", "B"]}}
    assert coarse(["A", "B", "C", None], names)[1] == ["North", "North", "C", None]
    assert coarse(["A", "B", "C", None], {**names, "others": "merge"})[1] == ["North", "North", "(other)", None]


def test_missing_stays_missing() -> None:
    domain, read = coarse([1, None, 2], {"round": 10})
    assert read == ["[-5..4]", None, "[-5..4]"]
    assert domain.has_missing


def test_a_level_of_the_taxonomy_keeps_what_is_above_it() -> None:
    tree = {"tree": {"Any": {"Heart": {"Valve": ["murmur"], "Vessel": ["angina", "stroke"]}, "Head": ["migraine"]}}}
    domain, read = coarse(["murmur", "angina", "stroke", "migraine"], {"level": 1}, taxonomy=tree)
    assert read == ["Valve", "Vessel", "Vessel", "Head"]
    assert domain.taxonomy is not None
    assert domain.taxonomy.labels[domain.taxonomy.lowest_common(0, 1)] == "Heart"
    assert coarse(["murmur", "stroke"], {"level": 2}, taxonomy=tree)[1] == ["Heart", "Heart"]
    with pytest.raises(SchemaError, match="is its root"):
        coarse(["murmur"], {"level": 3}, taxonomy=tree)


def test_blocks_of_an_ordered_column_are_stretches_of_its_order() -> None:
    order = ("low", "middle", "high")
    declared = {"kind": Kind.ORDERED, "order": order}
    domain, read = coarse(["low", "middle", "high"], {"groups": {"upper": ["middle", "high"]}}, **declared)
    assert (domain.texts, read) == (("low", "upper"), ["low", "upper", "upper"])
    with pytest.raises(SchemaError, match="not neighbours"):
        coarse(["low", "middle", "high"], {"groups": {"ends": ["low", "high"]}}, **declared)


@pytest.mark.parametrize(
    ("values", "rule", "said"),
    [
        ([1], {}, "must be a mapping"),
        ([1], {"rond": 5}, "round"),
        ([1], {"round": 0}, "above 0"),
        ([1], {"round": "x"}, "must be a number"),
        ([1], {"round": 5, "by": "up"}, "nearest or floor"),
        ([1], {"by": "floor"}, "belongs to round"),
        ([1], {"round": 5, "width": [1]}, "do not go together"),
        ([1], {"width": [5, 1]}, "must rise"),
        ([1], {"width": 5}, "list of cuts"),
        ([1], {"top": 1, "bottom": 2}, "top must be above bottom"),
        ([1], {"dates": "month"}, "needs dates"),
        ([1], {"prefix": 2}, "needs text"),
        ([1], {"prefix": 0}, "1 or more"),
        ([1], {"level": 1}, "needs a taxonomy"),
        (["a"], {"round": 5}, "needs numbers"),
        (["a", "b"], {"groups": {"a": ["b"]}}, "name of a group"),
        (["a"], {"groups": {"x": ["a", "a"]}}, "twice"),
        ([datetime.date(2024, 1, 1)], {"round": 5}, "Use dates: month"),
        ([datetime.date(2024, 1, 1)], {"dates": "fortnight"}, "unit of dates"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(values: list[Any], rule: dict[str, Any], said: str) -> None:
    with pytest.raises(LookalikeError, match=said):
        coarse(values, rule)


@pytest.mark.parametrize("role", [Role.QUASI, Role.IDENTIFIER, Role.PERSON])
def test_only_columns_published_as_they_are_can_be_coarsened(role: Role) -> None:
    from lookalike.data.schema import Attribute

    with pytest.raises(SchemaError, match="only a sensitive or a carried column"):
        Attribute(name="x", role=role, prepare={"round": 5})


def test_a_schema_keeps_it_through_its_file() -> None:
    rule = {"round": 1000, "top": "90000.5"}
    schema = Schema.of(qi=["age"], sensitive=["pay"], coarsen={"pay": rule})
    again = Schema.from_yaml(schema.to_yaml())
    assert again == schema
    assert again["pay"].prepare == rule
    with pytest.raises(SchemaError, match="rond"):
        Schema.from_yaml(schema.to_yaml().replace("round", "rond"))


@given(st.integers(1, 10**6))
def test_command_line_rules_are_those_of_a_schema(step: int) -> None:
    assert parse_coarsening(f"round:{step}") == ("round", step)
    assert parse_coarsening("top:0.50") == ("top", "0.50")
    for wrong in ("round", "round:", "step:5", ""):
        with pytest.raises(SchemaError, match="is written as"):
            parse_coarsening(wrong)


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.integers(0, 4000), min_size=1, max_size=30), st.sampled_from(["week", "month", "quarter", "year"]))
def test_dates_of_one_block_are_one_unit_of_the_calendar(offsets: list[int], unit: str) -> None:
    days = [datetime.date(2015, 1, 1) + datetime.timedelta(days=offset) for offset in offsets]
    keys = {
        "week": lambda day: day - datetime.timedelta(days=day.weekday()),
        "month": lambda day: (day.year, day.month),
        "quarter": lambda day: (day.year, math.ceil(day.month / 3)),
        "year": lambda day: day.year,
    }
    _, read = coarse(days, {"dates": unit})
    assume(len(days) > 1)
    assert len(set(zip(read, map(keys[unit], days), strict=True))) == len(set(read)) == len(set(map(keys[unit], days)))
