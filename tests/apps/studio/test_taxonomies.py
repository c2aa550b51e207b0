"""Taxonomies as people type them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.apps.studio.taxonomies import (
    MOST_LEVELS,
    MOST_OUTLINED,
    first_outline,
    levels_of,
    read_taxonomy,
    write_taxonomy,
)
from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType
from lookalike.data.taxonomy import build
from lookalike.errors import DataError, SchemaError
from tests.examples import examples


def strings(name: str, *values: str) -> Column:
    found, codes = np.unique(np.array(values, dtype=object), return_inverse=True)
    return Column(name, ValueType.STRING, codes.astype(np.int32), found)


@pytest.mark.parametrize(
    ("form", "text", "spec"),
    [
        ("intervals", "10, 50", {"intervals": [10, 50]}),
        ("intervals", " 0.5;2.5 ", {"intervals": [0.5, 2.5]}),
        ("intervals", "10 50 from 18", {"intervals": [10, 50], "origin": 18}),
        ("prefixes", "3,2", {"prefixes": [3, 2]}),
        ("dates", "Month, year", {"dates": ["month", "year"]}),
        ("tree", "any\n  heart\n    angina\n    murmur\n  head\n    migraine",
         {"tree": {"any": {"heart": ["angina", "murmur"], "head": ["migraine"]}}}),
        ("tree", "any\n\tangina\n\n\thead\n\t\tmigraine", {"tree": {"any": {"angina": None, "head": ["migraine"]}}}),
        ("tree", "any:\n  heart: [angina]\n  head:\n  - migraine",
         {"tree": {"any": {"heart": ["angina"], "head": ["migraine"]}}}),
        ("tree", "any:\n  angina:\n  rare: [1.10, no, 2024-01-01, .nan]",
         {"tree": {"any": {"angina": None, "rare": ["1.10", "no", "2024-01-01", ".nan"]}}}),
    ],
)  # fmt: skip
def test_text_becomes_what_a_schema_writes(form: str, text: str, spec: dict[str, Any]) -> None:
    assert read_taxonomy(form, text) == spec
    assert read_taxonomy(*write_taxonomy(spec)) == spec


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("intervals", "", "as in 10, 50"),
        ("intervals", "ten", "needs numbers"),
        ("prefixes", ", ,", "as in 3, 2"),
        ("shapes", "3", "no taxonomy form"),
        ("tree", "  \n", "empty"),
        ("tree", "any:\n  - [", "not valid YAML at line"),
        ("tree", "any\n  flu\n  flu", "line 3"),
        ("tree", "any: &a [x]\nother: *a\nmore:\n- y", "alias"),
        ("tree", "any:\n- " + "[" * 5000, "levels"),
        ("tree", "\n".join(" " * depth + f"n{depth}" for depth in range(MOST_LEVELS + 5)), "levels"),
    ],
)
def test_text_that_is_no_taxonomy_is_refused_in_words(form: str, text: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        read_taxonomy(form, text)


labels = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), min_size=1, max_size=6)


@settings(max_examples=examples(40))
@given(st.dictionaries(labels, st.lists(labels, min_size=1, max_size=4, unique=True), min_size=1, max_size=4))
def test_every_tree_comes_back_from_its_text(groups: dict[str, list[str]]) -> None:
    spec = {"tree": {"everything there is": groups}}
    form, text = write_taxonomy(spec)
    again = read_taxonomy(form, text)

    def leaves(tree: Any) -> list[tuple[str, str]]:
        below = tree["tree"]["everything there is"]
        if isinstance(below, list):
            return [(one, "") for one in below]
        return [(group, leaf) for group, inner in below.items() for leaf in inner or ()]

    assert leaves(again) == leaves(spec)


def test_no_taxonomy_is_no_text() -> None:
    assert write_taxonomy(None) == ("", "")
    assert write_taxonomy({"file": "groups.csv"}) == ("", "")


def test_a_tree_begins_with_all_values_under_one_root() -> None:
    column = strings("illness", "flu", "angina", "flu: severe", "flu")
    spec = read_taxonomy("tree", first_outline(column))
    tree = build(spec, list(column.values), list(column.values), column="illness", with_missing=False)
    assert tree.labels == ("any illness", "angina", "flu", "flu: severe")
    many = Column("id", ValueType.INTEGER, np.zeros(1, dtype=np.int32), np.arange(MOST_OUTLINED + 1))
    with pytest.raises(DataError, match="too many"):
        first_outline(many)


def test_levels_count_groups_and_their_rows() -> None:
    column = strings("zip", "0211", "0212", "0212", "0344", "")
    levels = levels_of(column, {"prefixes": [2, 1]})
    assert [level["groups"] for level in levels] == [2, 1, 1]
    assert levels[0]["examples"] == [{"label": "02**", "records": 3}, {"label": "03**", "records": 1}]
    assert levels[-1]["examples"][0]["records"] == 5


def test_the_sample_tree_is_shown_as_an_outline() -> None:
    from lookalike.apps.samples import sample_schema
    from lookalike.data.schema import Schema

    spec = Schema.load(sample_schema())["occupation"].taxonomy
    assert spec is not None
    text = write_taxonomy(spec)[1]
    assert text.splitlines()[:3] == ["any occupation", "  not in work", "    preschool child"]
    assert read_taxonomy("tree", text) == yaml.safe_load(yaml.safe_dump(dict(spec)))


def test_values_that_keep_their_names_are_shown_as_a_level() -> None:
    column = strings("town", *["Bern"] * 3, *["Thun"] * 2, "Worb", "Muri")
    assert read_taxonomy("frequent", "2") == {"frequent": 2}
    assert write_taxonomy({"frequent": 2}) == ("frequent", "2")
    (level,) = levels_of(column, {"frequent": 2})
    assert level["groups"] == 3
    assert {one["label"]: one["records"] for one in level["examples"]} == {"Bern": 3, "Thun": 2, "(other)": 2}
