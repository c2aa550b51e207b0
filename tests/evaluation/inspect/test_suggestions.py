"""Numbers that are codes, and hierarchies that would suit the values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.evaluation.inspect.suggestions import code_reason, taxonomy_hint


def distinct(name: str, values: Any, type: ValueType) -> Column:
    array = np.array(values, dtype=object if type is ValueType.STRING else None)
    return Column(name, type, np.arange(len(array), dtype=np.int32), array)


def whole(name: str, values: Any) -> Column:
    return distinct(name, list(values), ValueType.INTEGER)


@pytest.mark.parametrize("name", ["Country", "zip code", "marital status", "Work class", "age group", "diagnosis code"])
def test_names_of_categories_make_codes(name: str) -> None:
    assert code_reason(whole(name, range(9))) == "its name speaks of a category"


@pytest.mark.parametrize("name", ["age", "year", "birth year", "number of days", "Education", "children", "income"])
def test_quantities_are_never_codes_however_sparse(name: str) -> None:
    assert code_reason(whole(name, [1, 100, 9000])) == ""


def test_few_values_strewn_over_a_wide_range_make_codes() -> None:
    assert code_reason(whole("x", [101, 250, 999])) == "3 values lie strewn over a range of 899"
    assert code_reason(whole("x", range(30))) == ""
    assert code_reason(whole("x", [0, 1000])) == ""
    assert code_reason(distinct("country", ["a", "b", "c"], ValueType.STRING)) == ""


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        (distinct("zip", [f"021{town:02d}" for town in range(30)], ValueType.STRING), {"prefixes": [3, 2]}),
        (distinct("plz", [f"{town:04d}" for town in range(1200, 1300)], ValueType.STRING), {"prefixes": [2, 1]}),
        (distinct("zip", ["02138", "02139"], ValueType.STRING), None),
        (distinct("city", [f"town{letter}" for letter in "abcdefghijklmn"], ValueType.STRING), None),
        (distinct("post", [*(f"021{town:02d}" for town in range(30)), "12"], ValueType.STRING), None),
        (whole("age", range(100)), {"intervals": [10, 50]}),
        (whole("age", range(20)), None),
        (whole("income", range(0, 90_000, 1000)), {"intervals": [10_000, 50_000]}),
        (whole("country", range(100)), None),
        (distinct("visit", [19_000, 19_010], ValueType.DATE), {"dates": ["week"]}),
        (distinct("visit", [19_000, 19_700], ValueType.DATE), {"dates": ["month", "quarter", "year"]}),
        (distinct("visit", [15_000, 19_000], ValueType.DATE), {"dates": ["month", "year"]}),
        (distinct("birth", [-20_000, 19_000], ValueType.DATE), {"dates": ["year", "decade"]}),
        (distinct("seen", [0, 900 * 86_400_000_000], ValueType.DATETIME), {"dates": ["month", "quarter", "year"]}),
        (distinct("x", [0.5, 1.5], ValueType.NUMBER), None),
        (distinct("x", [], ValueType.STRING), None),
    ],
)
def test_hints(column: Column, hint: Mapping[str, Any] | None) -> None:
    assert taxonomy_hint(column) == hint


_INTEGERS = st.sets(st.integers(-(10**9), 10**9), min_size=1, max_size=60)
_DATES = st.sets(st.integers(-30_000, 30_000), min_size=1, max_size=60)
_CODES = st.sets(st.text("0123456789AB", min_size=5, max_size=5), min_size=1, max_size=60)


@given(
    st.one_of(
        _INTEGERS.map(lambda values: distinct("x", sorted(values), ValueType.INTEGER)),
        _DATES.map(lambda values: distinct("x", sorted(values), ValueType.DATE)),
        _CODES.map(lambda values: distinct("x", sorted(values), ValueType.STRING)),
    )
)
def test_every_hint_builds_a_tree_over_the_values(column: Column) -> None:
    hint = taxonomy_hint(column)
    if hint is None:
        return
    schema = Schema((Attribute(name="x", role=Role.QUASI, taxonomy=hint),))
    tree = Microdata.encode(Table((column,)), schema).domains.quasi[0].taxonomy
    assert tree is not None
    assert tree.n_leaves == len(column.values)
